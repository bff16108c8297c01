//! The model against published studies: every measured cell, repeated in virtual time as a
//! user would: the built-in study on its `sim:` addresses.

mod elsewhere;
mod errors;
mod page;
mod published;
mod repeat;

pub use elsewhere::{Elsewhere, FigureKind, elsewhere};
pub use errors::Errors;
pub use page::page;
pub use published::{Kind, Study};
pub use repeat::{Cell, Outcome, repeat, repeat_all, simulate};
