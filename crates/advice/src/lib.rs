//! In: a need (capacity, IOPS, throughput, p99), what a machine must have, and the catalog.
//! Out: the configurations that meet it, the cheapest first; what was refused, by reason; what ten per
//! cent more of each part of the need would cost.
//! Never: the name of a vendor or of a type; I/O; a rule of its own for what is enough: limits are
//! judged by the closed form of the device model, finalists by the Records of simulations that the
//! caller runs.
//!
//! ```text
//!   question ──▶ Market ──▶ machines by price ┐
//!                  │                          ├─▶ pairs by price ──▶ finalists ──▶ simulated ──▶ Advice
//!                  └──────▶ volumes by price  ┘        │
//!                                                      └─▶ refused, by reason
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod advice;
mod candidate;
mod finalist;
mod front;
mod impossible;
mod market;
mod migration;
mod need;
mod offer;
mod question;
mod refused;
mod search;

pub use advice::{Advice, Choice, Chosen, More, advise};
pub use candidate::Candidate;
pub use finalist::{Bound, Course, Finalist, Premise, Simulated, Start, Verdict};
pub use front::Point;
pub use impossible::{Impossible, Nearest};
pub use market::Market;
pub use migration::{Change, Figure, Migration, Move, migration, promised};
pub use need::{LARGE, Margin, Need, NotANeed, Wanted};
pub use offer::{Fitting, Offered, offers};
pub use question::{Contradiction, Question, Seller, unknown_architectures};
pub use refused::{Reason, Refused};
