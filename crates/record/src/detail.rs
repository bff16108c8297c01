//! Figures of a job that are kept only where they were requested.

use blocklab_stats::Summary;
use serde::{Deserialize, Serialize};

use crate::Latency;

/// What the threads of a job used of the processors, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Running time of all threads together, each from its first operation to its last.
    pub running_ns: u64,
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel, on behalf of the threads themselves; kernel workers are not in it.
    pub system_ns: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
}

impl std::ops::Add for ThreadUse {
    type Output = Self;

    /// What two groups of threads used together.
    fn add(self, more: Self) -> Self {
        Self {
            running_ns: self.running_ns + more.running_ns,
            user_ns: self.user_ns + more.user_ns,
            system_ns: self.system_ns + more.system_ns,
            voluntary_switches: self.voluntary_switches + more.voluntary_switches,
            involuntary_switches: self.involuntary_switches + more.involuntary_switches,
            minor_faults: self.minor_faults + more.minor_faults,
            major_faults: self.major_faults + more.major_faults,
        }
    }
}

/// Samples of a quantity over equal spans of time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Samples {
    /// How many.
    pub count: u64,
    /// Smallest; 0 without samples, as the others.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the samples as a part of all (divided by count - 1).
    pub stddev: f64,
}

impl Samples {
    /// The samples of these values.
    pub fn new(values: &[f64]) -> Self {
        Summary::new(values).map_or_else(Self::default, |all| Self {
            count: all.count as u64,
            min: all.min,
            max: all.max,
            mean: all.mean,
            stddev: all.stddev,
        })
    }
}

/// One direction of a job, beyond what is always kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DirectionDetail {
    /// From the return of the submitting call to the completion. `None` for synchronous engines,
    /// whose submitting call is the operation.
    pub completion: Option<Latency>,
    /// Bytes per second, sampled.
    pub bytes_per_s: Samples,
    /// Operations per second, sampled.
    pub iops: Samples,
    /// By I/O priority, where some operations had one of their own: the thread's first, then in
    /// the order of the job; only those that occurred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_priority: Vec<ByPriority>,
}

/// The operations of one priority.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByPriority {
    /// 1 real time, 2 best effort, 3 idle; 0: none was set.
    pub class: u8,
    /// 0 (first) to 7 (last) within the class.
    pub level: u8,
    /// Submission to completion.
    pub service: Latency,
    /// As [`DirectionDetail::completion`].
    pub completion: Option<Latency>,
}

/// What a job did, beyond what is always kept.
///
/// ```text
///   in flight   1    2-3   4-7   8-15   16-31   32-63   64 and more
///   a call      0    1-4   5-8   9-16   17-32   33-64   65 and more
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Depths {
    /// Operations by how many were in flight with them when they were issued, in the classes of
    /// the first line.
    pub in_flight: [u64; 7],
    /// Submitting calls by how many operations they handed over, in the classes of the second
    /// line.
    pub submitted: [u64; 7],
    /// Waits by how many completions they brought, in the same classes.
    pub completed: [u64; 7],
}

/// One round that a steady state was judged by, all directions together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyRound {
    /// Operations a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Mean service latency.
    pub latency_ns: f64,
}

/// Blocks that were read and compared with what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Verified {
    /// When the first thread had written all and began to read back, since the beginning of the
    /// measured time; `None` for a job that only reads.
    pub began_ns: Option<u64>,
    /// Blocks compared.
    pub blocks: u64,
    /// The blocks that differ.
    #[serde(alias = "flawed")]
    pub miscompared: u64,
    /// Writes that a job which only reads back takes to be done by an earlier run; it issued none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub assumed_writes: u64,
    /// Their bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub assumed_bytes: u64,
}

const fn is_zero(count: &u64) -> bool {
    *count == 0
}
