//! In: options and environment variables that name directories; signals; the work of a command; text.
//! Out: the user's store, guard and catalog; text on a terminal; an exit code.
//! Never: knows what a run contains.

pub mod clock;
mod killed;
pub mod place;
mod reading;
mod signals;
pub mod status;
pub mod supervisor;
pub mod terminal;

pub use place::chance;
pub use reading::ShownReading;
pub use signals::{end_by_interrupt, listen};
