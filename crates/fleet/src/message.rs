//! What the coordinator and the hosts tell each other, and what the launcher learns of it.
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
//! Both sides say `Alive` each second, so that silence means something.

use blocklab_record::{HostClock, Interval, Measurement, Record, Served};
use serde::{Deserialize, Serialize};

use crate::plan::FleetPlan;

/// From the coordinator to a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToHost {
    /// What to do: a plan with this host alone.
    Task(Box<FleetPlan>),
    /// All hosts may: open and lay out the targets.
    Prepare,
    /// Answer at once from now on.
    Spin,
    /// Which clock reading is wanted.
    Ping(u32),
    /// The moments for answers are over.
    Rest,
    /// Begin at this moment of the host's monotonic clock.
    Start(i64),
    /// End what is under way and report what there is.
    Stop,
    /// All is told.
    Leave,
    /// The coordinator is there.
    Alive,
}

/// From a host to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromHost {
    /// It is there.
    Hello(Hello),
    /// Its targets may be used; else why not.
    Checked(Result<(), String>),
    /// Everything is laid out.
    Ready,
    /// Its clocks, at the ping of this number.
    Pong {
        /// Which ping.
        number: u32,
        /// Nanoseconds of its monotonic clock.
        monotonic_ns: i64,
        /// Nanoseconds since 1970 by its time of day.
        unix_ns: i64,
    },
    /// Its run is over, and was told before.
    Ended(Ended),
    /// It is there.
    Alive,
}

/// How the run of a host ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// With a run, which is on its way in a line.
    Run,
    /// With none, and why.
    Nothing(String),
}

/// A host introduces itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its name in the plan.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// The form of loads that it reads.
    pub plan_format: u32,
}

/// What rank 0 writes for the launcher, one JSON value a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Line {
    /// All hosts are there.
    Connected,
    /// A host refuses, or has another version: nothing was written anywhere.
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
    /// These are not ready, and have not moved for some seconds.
    Waiting(Vec<String>),
    /// A host is ready.
    Ready(String),
    /// All begin at a moment that was given to each by its own clock.
    Started {
        /// Between the first host's order and that moment.
        in_ns: u64,
    },
    /// A host begins a measurement.
    Begins {
        /// The host.
        host: String,
        /// Name of the case.
        case: String,
        /// From 1.
        pass: u32,
        /// From 0.
        step: usize,
        /// The number of steps.
        steps: usize,
    },
    /// What a host has just done.
    Frame {
        /// The host.
        host: String,
        /// Since the start of its measurement.
        elapsed_ns: u64,
        /// Its figures.
        interval: Box<Interval>,
    },
    /// What a host did in one interval, job by job, of a load that is followed.
    Slice {
        /// The host.
        host: String,
        /// Name of the case.
        case: String,
        /// From 1.
        number: u32,
        /// When it ended, since the start of its measurement.
        end_ns: u64,
        /// How long it was.
        length_ns: u64,
        /// Reads and writes of each of its jobs.
        jobs: Vec<[Served; 2]>,
    },
    /// A measurement of a load that is followed has ended.
    Measured {
        /// The host.
        host: String,
        /// What it came to.
        measurement: Box<Measurement>,
    },
    /// The run of a host.
    Run {
        /// The host.
        host: String,
        /// What it left.
        record: Box<Record>,
    },
    /// A host has no run to tell.
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
        /// Why that is so.
        why: String,
    },
    /// What is known of the clock of a host.
    Clock {
        /// The host.
        host: String,
        /// Against that of the first.
        clock: HostClock,
    },
    /// Rank 0 is there.
    Alive,
    /// Everything is told.
    End,
}

impl Line {
    /// The text of the message, without the end of the line.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("lines are plain data")
    }
}
