//! A stretch of time in which a load gets one rate. The sheet of an address and the endurance of burst
//! credits are both lists of them.

use blocklab_device::{Binding, Limit, LimitKind, Phase};
use serde::Serialize;

/// A stretch of time at one rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stretch {
    /// Seconds from the start of the load on a rested device.
    pub begins_s: f64,
    /// Operations a second.
    pub iops: f64,
    /// 2^20 bytes a second.
    pub mib_per_s: f64,
    /// Which limit binds.
    pub binding: String,
    /// How that is known: `documented`, `measured`, `assumed` or `given`.
    pub evidence: &'static str,
}

impl Stretch {
    /// A phase of a prediction, whose binding limit is one of these.
    pub(crate) fn new(phase: &Phase, limits: &[Limit]) -> Self {
        let known = limits.iter().find(|limit| match &phase.binding {
            Binding::Limit(name) => limit.name == *name,
            Binding::Latency => matches!(limit.name.kind, LimitKind::Latency { .. }),
        });
        Self {
            evidence: known.map_or("assumed", |limit| limit.origin.how()),
            begins_s: phase.begins.as_secs_f64(),
            iops: phase.iops,
            mib_per_s: phase.bytes_per_s / 1_048_576.0,
            binding: phase.binding.to_string(),
        }
    }
}
