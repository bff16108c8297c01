//! In: a device as plain data, a place for its bytes, and requests of other programs.
//! Out: replies when the model says so, and what those programs did, for the Record.
//! Never: a catalog, a judgement, words for people.
//!
//! ```text
//!   client ──▶ nbd ──▶ Volume ──admit──▶ instance (the device model, shared by its volumes)
//!                        │ ──write/read─▶ data: pages and what is not yet durable
//!                        ▼ ticket, due at a moment
//!            Schedule ──(wait)──▶ settle ──▶ reply        observed: counters, lateness
//! ```
//!
//! The model says when; the thread of a connection waits. A front end uses nothing but [`Volume`],
//! [`Schedule`] and [`Alarm`]. What is done to a volume on purpose comes from [`control`].

mod alarm;
mod backing;
mod durability;
mod failure;
mod faults;
mod instance;
mod measurement;
mod memory;
mod observed;
mod pages;
mod real_time;
mod schedule;
mod stripes;
mod volume;
mod wait;

pub mod control;
pub mod fuse;
pub mod nbd;

pub use alarm::{Alarm, Spin};
pub use backing::{Backing, FileError, open_file};
pub use durability::Loss;
pub use failure::Failure;
pub use faults::{Fault, Harm};
pub use instance::Instance;
pub use measurement::{Sampler, ServiceFacts};
pub use memory::MemoryLimit;
pub use observed::{FailureCounter, LatencyCounter, Observed, OperationCounter};
pub use real_time::forgive_stalls;
pub use schedule::Schedule;
pub use volume::{Settled, Ticket, Volume, VolumeSetup};
pub use wait::Bell;
