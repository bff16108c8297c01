//! The model against published studies: every measured cell, repeated in virtual time on the road
//! that a user has (a study in the native format, conducted on a `sim:` address).

mod errors;
mod page;
mod published;
mod repeat;

pub use errors::Errors;
pub use page::page;
pub use published::{Cell, STUDIES, Study, System};
pub use repeat::{Compared, Outcome, repeat, repeat_all, simulate};
