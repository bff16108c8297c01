//! In: text in the encodings and forms that tools write.
//! Out: plain text, trees of XML elements, with places for mistakes.
//! Never: a particular tool; I/O.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod encoding;
mod mistake;
pub mod xml_tree;

pub use mistake::Mistake;
