//! In: Records with their summaries and findings; what they are compared with: another Record, an
//! address, published figures, a condition, the runs before it.
//! Out: comparisons, judgements of limits, tables of studies, the answers of gates, histories.
//! Never: runs something, does I/O, prints.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod compare;
pub mod expect;
pub mod gate;
pub mod history;
pub mod scaling;
pub mod study;

#[cfg(test)]
mod testing;
