//! In: Records.
//! Out: summaries (passes made one figure, with certainty) and Findings with evidence.
//! Never: runs something, does I/O, prints.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod assess;
mod assessment;
pub mod compare;
pub mod consistency;
pub mod expect;
pub mod gate;
mod held;
mod requested;
mod rows;
mod rules;
mod shares;
pub mod study;
pub mod sweeps;
mod view;
mod what;

#[cfg(test)]
mod testing;

pub use assess::assess;
pub use assessment::{
    Assessment, Confidence, Estimate, Evidence, Finding, OnlyJob, ResponseNs, Row, RowDirection,
    Severity,
};
pub use rows::best_output;
