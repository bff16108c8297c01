//! What other programs did to a volume that was served to them, in place of the load that another
//! measurement requests.

use std::collections::BTreeMap;

use blocklab_device::LimitName;
use blocklab_workload::Direction;
use serde::{Deserialize, Serialize};

use crate::Latency;

/// The load of other programs on a served volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedLoad {
    /// By direction; only those that occurred.
    pub directions: BTreeMap<Direction, ObservedDirection>,
    /// From the first arrival to the last reply.
    pub active_ns: u64,
    /// Operations in flight on average over that time (Little's law: all latencies together,
    /// divided by the time).
    pub in_flight_mean: f64,
    /// Operations by how many others were in flight when they came: none, 1, 2-3, 4-7, 8-15, 16-31,
    /// 32 and more.
    pub arrivals_by_depth: [u64; 7],
    /// The time in which at least one operation waited for a limit, by limit; those for which one
    /// did. Several can hold back at once.
    pub waited: Vec<WaitedFor>,
    /// What was in the burst buckets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub balances: Vec<BurstBalance>,
    /// How much later than computed by the model replies were sent: what the machine added.
    /// `None`: there was no operation.
    pub lateness: Option<Latency>,
    /// Clients that connected, over the time of the run.
    pub clients: u64,
    /// The divisor of the burst buckets' capacities, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// What was done to the volume on purpose, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ControlEvent>,
}

/// Something that was done on purpose to a volume while it was served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlEvent {
    /// Since the start of the run.
    pub at_ns: u64,
    /// What.
    pub action: ControlAction,
    /// The command, as it can be given again.
    pub command: String,
    /// When it was over, since the start of the run, where it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<u64>,
    /// Operations that it hit. A power cut counts the pages of 4 KiB that came back changed, a bit
    /// flip counts the bits.
    pub hits: u64,
}

/// What can be done to a served volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlAction {
    /// Its provisioned rates were changed.
    Set,
    /// Its burst buckets were drained or filled.
    Credits,
    /// Operations failed.
    Error,
    /// Operations took longer.
    Latency,
    /// Nothing was answered.
    Stall,
    /// It was taken away.
    Detach,
    /// It came back.
    Attach,
    /// What was not flushed was lost.
    PowerCut,
    /// Its instance was stopped.
    Stop,
    /// Bits of it were changed.
    Bitflip,
    /// Faults were ended.
    Clear,
}

impl ControlAction {
    /// Whether it harms: everything but a change of rates or credits and the way back.
    pub const fn is_fault(self) -> bool {
        !matches!(self, Self::Set | Self::Credits | Self::Attach | Self::Clear)
    }
}

/// One direction of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ObservedDirection {
    /// Operations that began where the one before them had ended, in per cent.
    pub sequential_percent: f64,
    /// Operations by size, smallest first; only sizes that occurred.
    pub sizes: Vec<SizeCount>,
}

/// Operations of about one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeCount {
    /// At most this many bytes, and more than half of that (or any fewer, of 512); the last class,
    /// of 64 MiB, holds what is longer, too.
    pub up_to_bytes: u64,
    /// How many.
    pub ios: u64,
}

/// A limit that held operations back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitedFor {
    /// Which one.
    #[serde(flatten)]
    pub limit: LimitName,
    /// The time in which at least one operation waited for it.
    pub waited_ns: u64,
}

/// A burst bucket over the run, in operations or bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstBalance {
    /// Whose, and which.
    pub name: String,
    /// At the start.
    pub at_start: f64,
    /// At the end.
    pub at_end: f64,
    /// The least that was seen, once a second.
    pub least: f64,
}
