//! In: arguments and variables that name places; signals; a run to supervise; text with colours.
//! Out: the user's store, guard and catalog; text on a terminal; an exit code.
//! Never: the content of a run.

mod killed;
pub mod place;
mod signals;
pub mod status;
pub mod supervisor;
pub mod terminal;

pub use place::chance;
pub use signals::listen;
