//! In: a plan for many hosts; messages between them, by whatever carries these.
//! Out: one load that all hosts begin at once, their runs, and what became of each host.
//! Never: a network of its own; an opinion on the figures.
//!
//! ```text
//!   blocklab fleet run ──stdin──▶ rank 0 ─ coordinator ◀──messages──▶ member on every host ─▶ runner
//!          ▲  launcher              │                                        │
//!          └────── lines ◀──stdout──┘                                        └─▶ the host's own store
//! ```
//!
//! Coordinator and offsets are state machines without a clock or a network, and are tested without
//! both. What carries the messages is the rank program's affair (`crates/rank`, which only its own feature builds).

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

pub use clock::Now;
pub use collect::collect;
pub use coordinator::{Coordinator, Order};
pub use foreign::ForeignTools;
pub use launch::{Launcher, Unreachable, machine, probe, program};
pub use launching::Launching;
pub use message::{Ended, FromHost, Hello, Line, ToHost};
pub use offset::{Pings, Sample};
pub use plan::{FleetPlan, ForeignLoad, HostTask, Load, VERSION};
pub use rank::{Envelope, Kind, Wire, host_name, serve};
pub use watch::{HostEnd, Outcome, Watch};
