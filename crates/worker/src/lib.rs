//! In: the jobs of a workload; the time, and the completions up to it.
//! Out: the next action; counters, histograms, logs.
//! Never: a clock, a kernel, a thread.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod bounds;
mod counter;
mod depth_search;
mod direction_pacers;
mod flows;
mod flush;
mod in_flight;
mod io_priority;
mod issue_rules;
mod issue_times;
mod key_steps;
mod latency;
mod log;
mod missed;
mod overlaps;
mod pace;
mod recorder;
mod replay_cursor;
mod shares;
mod sized_ramp;
mod submit_times;
mod trimmer;
mod verifier;
mod worker;
mod written_places;

pub use bounds::{Stopper, Window};
pub use io_priority::PriorityTable;
pub use issue_times::IssueTimes;
pub use latency::{LatencyHistogram, latency_sum};
pub use log::{JobLog, LogEntry, LogSpan};
pub use recorder::{DirectionCounters, Failure, KeptMiscompare, Progress, Recorder, RecorderSpec};
pub use shares::{Allowance, Shares};
pub use worker::{Action, JobParts, Parts, Shared, Worker, has_schedule};
