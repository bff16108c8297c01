//! In: operations of one direction in two stretches of a run. Out: those of both together, with
//! their mean and deviation.
//!
//! A file of its own: intervals and totals add up their latencies by the same sums.

use blocklab_units::Nanos;
use serde::{Deserialize, Serialize};

/// One interval of a run, job by job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct IntervalData {
    /// From 1.
    pub number: u32,
    /// When it ended, since the start of the run.
    pub end: Nanos,
    /// How long it was.
    pub length: Nanos,
    /// Reads and writes of each job, in the order of the workload.
    pub jobs: Vec<[Served; 2]>,
}

/// Operations of one direction in a stretch of a run, and how long they took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Served {
    /// Completed operations.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Service latencies added up, in nanoseconds.
    pub sum_ns: f64,
    /// Their squares added up.
    pub sum_squares: f64,
    /// The shortest; in an interval the lower edge of its histogram bucket (at most 1/64 less).
    pub min_ns: u64,
    /// The longest; in an interval the upper edge of its histogram bucket (at most 1/64 more), and
    /// never above the longest of the run so far, which is known exactly.
    pub max_ns: u64,
}

impl Served {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            ios: self.ios + other.ios,
            bytes: self.bytes + other.bytes,
            sum_ns: self.sum_ns + other.sum_ns,
            sum_squares: self.sum_squares + other.sum_squares,
            min_ns: match (self.ios, other.ios) {
                (_, 0) => self.min_ns,
                (0, _) => other.min_ns,
                _ => self.min_ns.min(other.min_ns),
            },
            max_ns: self.max_ns.max(other.max_ns),
        }
    }

    /// Mean latency in milliseconds; 0 without operations.
    pub fn mean_ms(&self) -> f64 {
        self.sum_ns / self.ios.max(1) as f64 / 1e6
    }

    /// Its standard deviation in milliseconds; 0 without operations.
    pub fn stddev_ms(&self) -> f64 {
        let number = self.ios.max(1) as f64;
        let mean = self.sum_ns / number;
        (self.sum_squares / number - mean * mean).max(0.0).sqrt() / 1e6
    }

    /// The longest latency in milliseconds.
    pub const fn max_ms(&self) -> f64 {
        self.max_ns as f64 / 1e6
    }
}
