//! In: arguments that name places, signals, a run to supervise, words and colours.
//! Out: a store, a guard and a catalog as the user has them; text on a terminal; an exit code.
//! Never: what is run.

mod killed;
pub mod place;
mod signals;
pub mod status;
pub mod supervisor;
pub mod terminal;

pub use place::chance;
pub use signals::listen;
