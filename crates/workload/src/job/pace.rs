//! The settings of when operations begin, as plain data: rates, arrivals, shares, pauses, the search
//! for a depth.

use blocklab_units::Nanos;
use serde::{Deserialize, Serialize};

/// Operations or bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Operations per second.
    Iops(f64),
    /// Bytes per second.
    Bytes(f64),
}

/// When operations begin. Rates hold for the whole job: its threads share them evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// The next begins when one ends: the depth is always full.
    Closed,
    /// As closed, but never faster than this; lost time is not made up for.
    Capped(Rate),
    /// Arrivals at even distances, regardless of the target. Latency counts from the arrival.
    OpenFixed(Rate),
    /// Arrivals as a Poisson process of this mean rate. Latency counts from the arrival.
    OpenPoisson(Rate),
    /// Reads, writes and trims (in this order) each have a schedule of their own, whatever the target
    /// does; a direction without a rate is always due. If the direction that the mix draws is not
    /// due, another one that is due goes first. Latency counts from the arrival.
    ByDirection {
        /// Arrivals a second of each direction, by all threads of the job.
        rates: [Option<Rate>; 3],
        /// Arrivals as Poisson processes instead of at even distances.
        poisson: bool,
    },
}

/// Rates below which a job fails.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinRate {
    /// Rates of reads, writes and trims, for all threads of the job together.
    pub rates: [Option<Rate>; 3],
    /// Length of each span over which the rates are judged, when an operation completes.
    pub cycle: Nanos,
    /// The first span begins with the first completion after this time.
    pub settle: Nanos,
}

/// Shares of several jobs: those with the same `group` issue operations in proportion to their
/// weights, as long as they all run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The group.
    pub group: u32,
    /// Share of this job, at least 1.
    pub weight: u32,
    /// How long a job that is ahead waits before it checks again.
    pub pause: Nanos,
}

/// A search for the depth that a latency allows: the depth begins at 1, doubles while enough
/// operations are quick, and is then narrowed down, up to the job's own depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// Service latency that counts as quick.
    pub limit: Nanos,
    /// Time over which each depth is judged.
    pub window: Nanos,
    /// Share of the operations that must be quick, in per cent.
    pub percentile: f64,
    /// Continue at the depth that was found; otherwise the job ends after one more window, the only
    /// one that is its result (see [`super::Job::last_window`]).
    pub go_on: bool,
}

/// A pause of `pause` after every `every` operations of a thread. It begins when all operations
/// in flight have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// Length of a pause.
    pub pause: Nanos,
    /// Operations between two pauses, at least 1.
    pub every: u32,
}

/// How pauses are spent, and what else causes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkStyle {
    /// The first part of each pause keeps the processor busy instead of sleeping.
    pub spin: Nanos,
    /// Operations count for a pause when they complete, not when they are issued.
    pub on_completion: bool,
    /// A pause also follows after this time of work, however few operations there were.
    pub work: Option<Nanos>,
    /// A pause shifts the schedule of the rates: operations that were due in it are not made up for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shifts_schedule: bool,
}
