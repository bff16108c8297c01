//! In: a Record.
//! Out: summaries (passes made one figure, with certainty) and Findings with evidence.
//! Never: runs something, does I/O, prints.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod assess;
mod assessment;
pub mod consistency;
pub mod fleet;
mod held;
pub mod hit;
mod obstacle;
mod requested;
mod rows;
mod rules;
pub mod shares;
pub mod statement;
pub mod sweeps;
pub mod view;
mod what;

#[cfg(test)]
mod testing;

pub use assess::assess;
pub use assessment::{
    Assessment, CaseRate, Confidence, Estimate, Evidence, Finding, OVERFLOW_NS, OnlyJob,
    ResponseNs, Row, RowDirection, Severity,
};
pub use held::{NEAR, holding, is_held};
pub use obstacle::{Obstacle, obstacle};
pub use rows::{best_output, by_case, case_rates};
pub use rules::drop_needless_guesses;
pub use rules::episode::undisturbed;
pub use what::without_engine;
