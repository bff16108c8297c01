//! The answer to a command on the control socket.

use blocklab_device::CreditBalance;
use serde::{Deserialize, Serialize};

/// The answer to one command: one JSON object on a line.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The format of this object.
    pub control_format: u32,
    /// Why nothing was done, and what would work; or on which volume it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Since the start of the run.
    pub at_s: f64,
    /// The volumes that were selected, as they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<VolumeState>,
    /// After a power cut, the number of 4 KiB pages that differ from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_pages: Option<u64>,
    /// Where bits were flipped: volume, and offset of the byte.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flipped: Vec<(String, u64)>,
}

/// The format that this build writes.
pub(super) const CONTROL_FORMAT: u32 = 2;

/// A volume as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeState {
    /// Its name.
    pub name: String,
    /// What clients see.
    pub size_bytes: u64,
    /// Whether clients can use it; not while it is detached.
    pub attached: bool,
    /// Requests without a reply.
    pub in_flight: u32,
    /// Reads that are done.
    pub reads: u64,
    /// Writes that are done.
    pub writes: u64,
    /// Operations that failed.
    pub failed: u64,
    /// What is left in its burst buckets and in its instance's.
    pub balances: Vec<CreditBalance>,
    /// The faults that last or are still to come.
    pub faults: Vec<FaultState>,
}

/// A fault that lasts or is still to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultState {
    /// By which `fault clear` ends it.
    pub number: u64,
    /// The command that it comes from.
    pub command: String,
    /// Its first moment, since the start of the run.
    pub from_s: f64,
    /// The first moment after it; `None`: it lasts until it is ended.
    pub until_s: Option<f64>,
    /// Operations that it has hit.
    pub hits: u64,
}
