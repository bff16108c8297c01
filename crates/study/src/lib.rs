//! In: a Plan, and the targets that it is run on.
//! Out: one Record of all its cases and passes, whole at every moment.
//! Never: a judgement; a write to what it did not make or was not allowed to touch.

mod abreast;
mod conduct;
mod error;
mod ledger;
mod modelled;
mod observer;
mod place;
mod scratch;
mod site;

pub use blocklab_host::guard::Guard;
pub use conduct::{Assignment, Part, conduct, conduct_all};
pub use error::Error;
pub use ledger::Ledger;
pub use observer::Observer;
