//! In: when operations of a recorded load were due and issued, and what was changed in them. Out: how
//! far a replay was what was recorded, as a Record keeps it.

use blocklab_workload::Adapted;
use serde::{Deserialize, Serialize};

use crate::Latency;

/// How far a replay was what was recorded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Operations that were to be replayed.
    pub due: u64,
    /// Operations that were issued.
    pub issued: u64,
    /// Issued after an operation that was due later.
    pub reordered: u64,
    /// Issued while an operation on some of the same bytes was in flight, where one of both writes:
    /// nothing says which of them came first.
    pub conflicts: u64,
    /// What was changed in the operations to make them fit the target.
    #[serde(flatten)]
    pub adapted: Adapted,
    /// Moments; `None` where operations had none, but were issued as soon as there was room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Box<Timing>>,
}

/// When operations were issued, against when they were due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// From the moment at which an operation was due to its issue.
    pub late: Latency,
    /// How late the last operation was issued.
    pub drift_ns: u64,
    /// When the last operation was due, since the beginning.
    pub span_ns: u64,
    /// Issued later than due because as many were in flight as may be.
    pub waited_for_room: u64,
    /// Length of the spans in which operations are counted: a second, or more where there would be
    /// more than 100,000 of them.
    pub rate_span_ns: u64,
    /// Mean difference of the rates that were due and issued in a span.
    pub rate_error_mean_iops: f64,
    /// The largest one.
    pub rate_error_max_iops: f64,
    /// Operations that were issued in another span than they were due in, of 100.
    pub rate_error_percent: f64,
}

impl Timing {
    /// The drift by how long the replay was to take, in per cent.
    pub fn drift_percent(&self) -> f64 {
        100.0 * self.drift_ns as f64 / self.span_ns.max(1) as f64
    }
}
