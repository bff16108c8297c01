//! In: one root seed, and a purpose.
//! Out: reproducible streams of chance, the same on every machine.
//! Never: the operating system's entropy, the platform's floating-point library.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod permutation;
mod stream;
mod zipf;

pub use permutation::Permutation;
pub use stream::Stream;
pub use zipf::Zipf;
