//! A stretch of time in which a load gets one rate. The sheet of an address and the endurance of burst
//! credits are both lists of them.

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
