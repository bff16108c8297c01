//! The settings that end a job or fail it, as plain data: steady state, stop rules, flushes and
//! errors.

use blocklab_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The quantity that must become steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadyVariable {
    /// Operations per second, all directions.
    Iops,
    /// Bytes per second, all directions.
    Bandwidth,
    /// Mean service latency.
    Latency,
}

/// When a run counts as steady. Judged once a round over the last `rounds` rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steady {
    /// SNIA PTS: over five rounds, max - min <= 20 % of the mean and the least-squares slope
    /// over the window <= 10 % of the mean.
    Snia {
        /// Watched quantity.
        variable: SteadyVariable,
        /// Length of a round.
        round: Nanos,
    },
    /// The least-squares slope over the window, per round, is at most this.
    Slope {
        /// Watched quantity.
        variable: SteadyVariable,
        /// Length of a round.
        round: Nanos,
        /// Rounds in the window, at least 3.
        rounds: u32,
        /// Largest slope per round.
        limit: Limit,
    },
    /// No round of the window deviates from their mean by more than this.
    Deviation {
        /// Watched quantity.
        variable: SteadyVariable,
        /// Length of a round.
        round: Nanos,
        /// Rounds in the window, at least 1.
        rounds: u32,
        /// Largest deviation.
        limit: Limit,
    },
}

/// How much a quantity may change and still count as steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// A limit in per cent of the mean.
    Percent(f64),
    /// In the unit of the quantity: operations or bytes a second, nanoseconds.
    Absolute(f64),
}

impl Limit {
    /// Whether `change` is within the limit, for values with this mean.
    pub fn holds(self, change: f64, mean: f64) -> bool {
        match self {
            Self::Percent(limit) => mean > 0.0 && change.abs() * 100.0 / mean <= limit,
            Self::Absolute(limit) => change.abs() <= limit,
        }
    }
}

/// A ramp that ends when this many bytes have been transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizedRamp {
    /// Bytes of all threads together.
    pub bytes: Bytes,
    /// Jobs with the same group count them together; `None`: this job alone.
    pub group: Option<u32>,
}

/// When a job ends: whichever comes first. At least one must be given.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Measured time, after the ramp.
    pub runtime: Option<Nanos>,
    /// Bytes transferred by each thread.
    pub bytes: Option<Bytes>,
    /// Operations issued by each thread after the ramp, without flushes. In a job that only reads and
    /// verifies, those of the ramp count, too: there is not more to read.
    pub ios: Option<u64>,
    /// Passes over the region by each thread.
    pub loops: Option<u32>,
    /// The steady state; `runtime` then limits the wait for it.
    pub steady: Option<Steady>,
    /// Measured time before the first round: it is measured and not judged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steady_after: Nanos,
}

impl Stop {
    /// After this measured time alone.
    pub fn after(runtime: Nanos) -> Self {
        Self {
            runtime: Some(runtime),
            ..Self::default()
        }
    }

    /// After these bytes of each thread alone.
    pub fn after_bytes(bytes: Bytes) -> Self {
        Self {
            bytes: Some(bytes),
            ..Self::default()
        }
    }

    /// After this number of operations of each thread alone.
    pub fn after_ios(ios: u64) -> Self {
        Self {
            ios: Some(ios),
            ..Self::default()
        }
    }
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

/// Flushes among the writes of a thread; 0 is never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flush {
    /// Number of writes after which an fsync follows.
    pub fsync_every: u32,
    /// Number of writes after which an fdatasync follows.
    pub fdatasync_every: u32,
    /// Whether a flush after a write is repeated after each read up to the next write, as fio does.
    pub after_reads: bool,
    /// An fsync when the thread ends, inside the measured time.
    pub at_end: bool,
    /// Number of writes to a file after which a sync_file_range covers them, from their first byte
    /// to their last, if another write follows.
    pub range_every: u32,
    /// Its SYNC_FILE_RANGE_* flags: 1 waits for writes in flight, 2 starts writing, 4 waits for
    /// those.
    pub range_flags: u32,
}

/// What a failed operation means for its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorPolicy {
    /// The job ends at its first failure.
    Stop,
    /// Failures are counted and the job goes on; 1,000 in a row still end it.
    Continue,
    /// Failures of these kinds are counted and the job goes on, as with `Continue`, if the medium is
    /// the cause (EIO, EILSEQ) or less was transferred than requested; any other ends the job.
    ContinueOn {
        /// Reads that fail.
        read: bool,
        /// Writes, trims and flushes that fail.
        write: bool,
        /// Data that is not what was written.
        verify: bool,
    },
}

/// What the end of a job means for the other jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndsOthers {
    /// Nothing.
    #[default]
    Never,
    /// They end when it fails.
    OnError,
    /// They end too.
    Always,
}
