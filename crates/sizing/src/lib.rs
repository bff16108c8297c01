//! In: a recorded load, operation by operation; the devices that might carry it.
//! Out: how long its operations would wait for each limit of a device, in closed form; and what the model
//! of the device does with every one of them.
//! Never: a price, an address, a file.
//!
//! ```text
//!   operations ──▶ Gates (a rate each)                   ──▶ the longest wait for each limit
//!        ├───────▶ Envelope (one for a way to count)     ──▶ the longest wait for any rate and bucket
//!        │              └─ Arrivals, for a picture       ──▶ the most in any window, beside what devices let pass
//!        ├───────▶ Demand                                ──▶ the least rates that are enough
//!        └───────▶ Replay (one for each device)          ──▶ waits, who held them, from when to when
//!   rates of intervals ─▶ play_rates (even, in bursts)   ──▶ the same, as two figures
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod arrivals;
mod bounds;
mod demand;
mod envelope;
mod rates;
mod replay;

pub use arrivals::{Arrivals, Quantity, Window, passes};
pub use bounds::{Bound, Bounds, Gates, Worst};
pub use demand::{Demand, Rates};
pub use envelope::Envelope;
pub use rates::{ASSUMED_BYTES, BalanceCheck, DISPERSION, RatesOutcome, operations_in, play_rates};
pub use replay::{Episode, Held, Outcome, Replay};
