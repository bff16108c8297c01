//! In: a plan for many hosts, and something that carries messages between them.
//! Out: one load that all hosts begin together, their runs, and how each host ended.
//! Never: opens a network connection itself, or judges figures.
//!
//! ```text
//!   blocklab fleet run ──stdin──▶ rank 0 ─ coordinator ◀──messages──▶ member on every host ─▶ runner
//!          ▲  launcher              │                                        │
//!          └────── lines ◀──stdout──┘                                        └─▶ the host's own store
//! ```
//!
//! Coordinator and offsets are state machines without a clock or a network, and are tested without
//! either. The rank program (`crates/rank`, built only with its feature) carries the messages by MPI.

mod clock;
mod collect;
mod coordinator;
mod foreign;
mod launch;
mod launching;
mod live;
mod member;
mod message;
mod offset;
mod plan;
mod rank;
mod watch;

pub use collect::collect;
pub use foreign::ForeignTools;
pub use launch::{Launcher, Unreachable, machine, probe, program};
pub use launching::Launching;
pub use message::Line;
pub use plan::{FleetPlan, ForeignLoad, HostTask, Load, VERSION};
pub use rank::{Envelope, Kind, Wire, host_name, serve};
pub use watch::Outcome;
