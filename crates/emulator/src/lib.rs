//! In: a device as plain data, a place for its bytes, and requests of other programs.
//! Out: replies at the model's moments, and what those programs did, for the Record.
//! Never: a catalog, a judgement, words for people.
//!
//! ```text
//!   client ──▶ nbd ──▶ Volume ──admit──▶ instance (the device model, shared by its volumes)
//!                        │ ──write/read─▶ data: pages and what is not yet durable
//!                        ▼ ticket, due at a moment
//!            InFlight ──(wait)──▶ settle ──▶ reply        observed: counters, lateness
//! ```
//!
//! The model computes when a request completes; the thread of a connection waits until then. A front
//! end uses nothing but `Volume` and `InFlight`. Injected faults and changed rates come from
//! [`control`].

mod backing;
mod durability;
mod failure;
mod faults;
mod in_flight;
mod instance;
mod measurement;
mod memory;
mod observed;
mod pages;
mod real_time;
mod schedule;
mod sleep_plan;
mod stripes;
mod volume;
mod wait;

pub mod control;
pub mod fuse;
pub mod nbd;

pub use backing::{Backing, Extent, FileError, open_file};
pub use failure::Failure;
pub use instance::Instance;
pub use measurement::{Sampler, ServiceFacts};
pub use memory::MemoryLimit;
pub use observed::{FailureCounter, Observed, OperationCounter};
pub use real_time::{divide_buckets, forgive_stalls};
pub use sleep_plan::Spin;
pub use volume::{Volume, VolumeSetup};

use durability::Loss;
use faults::{Fault, FaultKind};
use in_flight::{InFlight, Pending};
use schedule::Schedule;
use sleep_plan::SleepPlan;
use volume::{Settled, Ticket};
use wait::Waker;
