//! In: the finished program, and the tree it was made from.
//! Out: what tests of the whole house need: a place to run it, a run made by hand, how near the
//! device model comes to what was published, and what must hold of a parser whatever it reads.
//! Never: a part of the product.

pub mod accuracy;
pub mod calibrated;
pub mod corpus;
pub mod fuzz;
pub mod imports;
mod lab;
pub mod rack;
#[path = "../../crates/store/tests/sample/mod.rs"]
pub mod sample;
pub mod shown;

pub use lab::{Lab, Printed, fio, fio_is_there, good, json, python, root, send, strace_is_there};
