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
    /// As closed, but never faster than this; what is missed is not made up for.
    Capped(Rate),
    /// Arrivals at even distances, regardless of the target. Latency counts from the arrival.
    OpenFixed(Rate),
    /// Arrivals as a Poisson process of this mean rate. Latency counts from the arrival.
    OpenPoisson(Rate),
    /// Reads, writes and trims (in this order) each keep a schedule of their own, regardless of the
    /// target does; one without a rate is never waited for. Where the direction that the mix draws
    /// is not due, another one that is goes first. Latency counts from the arrival.
    ByDirection {
        /// Arrivals a second of each direction, by all threads of the job.
        rates: [Option<Rate>; 3],
        /// Arrivals as Poisson processes instead of at even distances.
        poisson: bool,
    },
}

/// Rates below which a job counts as failed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinRate {
    /// Rates of reads, writes and trims, for all threads of the job together.
    pub rates: [Option<Rate>; 3],
    /// They must hold over each span of this length, judged when an operation completes.
    pub cycle: Nanos,
    /// The first span begins when an operation completes after so long.
    pub settle: Nanos,
}

/// Shares of what several jobs do: those with the same `group` move operations in proportion to
/// their weights, as long as they all run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Which jobs belong together.
    pub group: u32,
    /// Share of this job, at least 1.
    pub weight: u32,
    /// How long a job that is ahead waits before it looks again.
    pub pause: Nanos,
}

/// A search for the depth that a latency allows: the depth begins at 1, doubles while enough
/// operations are quick, and is then narrowed down, up to the job's own depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// Service latency that counts as quick.
    pub limit: Nanos,
    /// A depth is judged over so long.
    pub window: Nanos,
    /// Share of the operations that must be quick, in per cent.
    pub percentile: f64,
    /// Go on at the depth that was found; otherwise the job ends there.
    pub go_on: bool,
}

/// A pause of `pause` after every `every` operations of a thread. It begins when all operations
/// in flight have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// How long.
    pub pause: Nanos,
    /// After how many operations, at least 1.
    pub every: u32,
}

/// How pauses are spent, and what else calls for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkStyle {
    /// The first part of each pause burns the processor instead of sleeping.
    pub spin: Nanos,
    /// Operations count for a pause when they complete, not when they are issued.
    pub on_completion: bool,
    /// A pause follows after so much time of work as well, however few operations there were.
    pub work: Option<Nanos>,
    /// A pause holds the schedule of the rates up: what was due in it is not made up for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shifts_schedule: bool,
}
