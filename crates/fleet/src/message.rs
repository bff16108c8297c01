//! The messages between the coordinator and the hosts, and those for the launcher.
//!
//! ```text
//!   coordinator                          host
//!        ◀───────────── Hello ────────────┤ version
//!        ├──────────── Task ─────────────▶│ looks at its targets, changes nothing
//!        ◀──────────── Checked ───────────┤
//!        ├──────────── Prepare ──────────▶│ once all are permitted
//!        ◀──────────── Ready ─────────────┤ laid out, threads not started
//!        ├── Spin, Ping… ──▶ ◀── Pong… ───┤ one host after the other
//!        ├──────────── Start ────────────▶│ a moment by the host's own clock
//!        ◀──────── Line: Begins, Frame ───┤ passed on as they are
//!        ◀──────── Line: Run · Ended ─────┤
//!        ├── Spin, Ping… ──▶ ◀── Pong… ───┤ the clocks again
//!        ├──────────── Leave ────────────▶│
//! ```
//!
//! Both sides send `Alive` each second, so that silence shows that the other one is gone.

use blocklab_record::{HostClock, Interval, IntervalData, Measurement, Record};
use serde::{Deserialize, Serialize};

use crate::plan::FleetPlan;

/// A message from the coordinator to a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToHost {
    /// The host's task: the plan with this host alone.
    Task(Box<FleetPlan>),
    /// All hosts have passed their checks: open and lay out the targets.
    Prepare,
    /// Pings follow: do not sleep while waiting for messages.
    Spin,
    /// Answer with the time; the number of the ping, from 1.
    Ping(u32),
    /// No more pings.
    Rest,
    /// Begin at this moment of the host's monotonic clock, in ns.
    Start(i64),
    /// End the run and report what was measured.
    Stop,
    /// Everything is done: end the process.
    Leave,
    /// A sign of life.
    Alive,
}

/// A message from a host to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromHost {
    /// The first message.
    Hello(Hello),
    /// Whether its targets may be used, or why not.
    Checked(Result<(), String>),
    /// Everything is laid out.
    Ready,
    /// The answer to a ping.
    Pong {
        /// The number of the ping.
        number: u32,
        /// Its monotonic clock.
        monotonic_ns: i64,
        /// Its time of day, since 1970.
        unix_ns: i64,
    },
    /// Its part is over. Its run, or why there is none, was sent before, in a [`Line`].
    Ended {
        /// Whether there is a run.
        has_run: bool,
    },
    /// A sign of life.
    Alive,
}

/// The first message of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its name in the plan.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// The version of the load's format that it reads.
    pub plan_format: u32,
}

/// A message of rank 0 to the launcher: one JSON value on a line of its standard output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Line {
    /// All hosts are connected.
    Connected,
    /// A host refuses its task or has another version, so nothing was written on any host.
    Refused {
        /// The host.
        host: String,
        /// Why.
        why: String,
    },
    /// All hosts have checked their targets.
    Checked,
    /// A host lays out a file.
    LayingOut {
        /// The host.
        host: String,
        /// The file.
        path: String,
        /// Bytes written.
        done: u64,
        /// Its size.
        total: u64,
    },
    /// These hosts are not ready and have made no progress for some seconds.
    Waiting(Vec<String>),
    /// A host is ready.
    Ready(String),
    /// The start was set for all hosts.
    Started,
    /// A host begins a measurement.
    Begins {
        /// The host.
        host: String,
        /// Name of the case.
        case: String,
        /// Number of the pass, from 1.
        pass: u32,
    },
    /// The figures of a host in the last interval.
    Frame {
        /// The host.
        host: String,
        /// Since the start of its measurement.
        elapsed_ns: u64,
        /// Its figures.
        interval: Box<Interval>,
    },
    /// The figures of a host in one interval, job by job; only for a load that is followed.
    Slice {
        /// The host.
        host: String,
        /// Reads and writes of each of its jobs.
        interval: IntervalData,
    },
    /// A measurement has ended; only for a load that is followed.
    Measured {
        /// The host.
        host: String,
        /// Its results.
        measurement: Box<Measurement>,
    },
    /// The run of a host has ended.
    Run {
        /// The host.
        host: String,
        /// Its results.
        record: Box<Record>,
    },
    /// The run of a host has ended without results.
    NoRun {
        /// The host.
        host: String,
        /// Why.
        why: String,
    },
    /// A host is lost.
    Lost {
        /// The host.
        host: String,
        /// Why.
        why: String,
    },
    /// The clock of a host was compared.
    Clock {
        /// The host.
        host: String,
        /// Its difference from the clock of the first host.
        clock: HostClock,
    },
    /// A sign of life of rank 0.
    Alive,
    /// This is the last message.
    End,
}

impl Line {
    /// The text of the message, without the end of the line.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("lines are plain data")
    }
}
