//! The settings of what a job records beyond its figures, as plain data.

use blocklab_units::Nanos;
use serde::{Deserialize, Serialize};

/// Figures that a job records in addition to those of every job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Count how many operations were in flight at each issue, and how many each submission and each
    /// wait handled. It costs an operation one more counter.
    pub depths: bool,
    /// Interval of samples of each direction's bandwidth. They cost an operation nothing.
    pub bandwidth_every: Option<Nanos>,
    /// Interval of samples of each direction's operations per second.
    pub iops_every: Option<Nanos>,
}

impl Measure {
    /// Everything, sampled twice a second.
    pub const ALL: Self = Self {
        depths: true,
        bandwidth_every: Some(Nanos::from_millis(500)),
        iops_every: Some(Nanos::from_millis(500)),
    };
}

/// What a job keeps of its operations one by one, or in short spans. It lies in memory until the
/// end: some 56 bytes an operation for `entries`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Every operation.
    pub entries: bool,
    /// Sums and extremes over spans of this length.
    pub average: Option<Nanos>,
    /// A histogram for each span of this length: of the service latency, or of the part that follows
    /// the submitting call where that is measured by itself.
    pub histogram: Option<Nanos>,
}
