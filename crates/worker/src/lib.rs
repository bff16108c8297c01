//! In: a workload's jobs; the moment, and what came back by it.
//! Out: what to do next; counters, histograms, logs.
//! Never: a clock, a kernel, a thread.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod bounds;
mod favours;
mod flush;
mod lanes;
mod ledger;
mod load;
mod log;
mod missed;
mod outstanding;
mod pace;
mod pool;
mod recorder;
mod restraint;
mod script;
mod seek;
mod shares;
mod trimmer;
mod validator;
mod verifier;
mod worker;

pub use bounds::{Stopper, Window};
pub use favours::PriorityTable;
pub use load::{Driven, Load};
pub use log::{JobLog, LogEntry, LogSpan};
pub use outstanding::Outstanding;
pub use pool::LaneParts;
pub use recorder::{Failure, Recorder, SpectrumSum, Tally, Wanted};
pub use shares::{Allowance, Shares};
pub use verifier::Progress;
pub use worker::{Action, Parts, Shared, Worker, has_schedule};
