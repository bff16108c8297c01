//! The settings of what a job records beyond its figures, and of a replay of recorded operations, as
//! plain data.

use blocklab_units::Nanos;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Direction;

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

/// Operations given one by one instead of a pattern, a mix and sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// In the order in which they are issued. They are not in the JSON: they are read again from
    /// `source`.
    #[serde(skip)]
    pub operations: Vec<Replayed>,
    /// Each operation waits for its time; otherwise it is issued as soon as the depth allows.
    pub keeps_time: bool,
    /// The file that they come from.
    pub source: Option<TraceFile>,
}

/// The file of a trace when it was read, and the changes that were applied to its operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// Its path.
    pub path: String,
    /// The [`TraceFile::checksum`] of its bytes.
    pub sha256: String,
    /// The changes.
    pub changes: TraceChanges,
}

impl TraceFile {
    /// The SHA-256 of the bytes of a file, in hexadecimal digits.
    pub fn checksum(bytes: &[u8]) -> String {
        let digest = Sha256::digest(bytes);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// How the operations of a trace are changed before they are replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceChanges {
    /// Directions that are left out.
    pub skip: Vec<Direction>,
    /// Offsets are divided by this, at least 1.
    pub scale: u64,
    /// Offsets are rounded down to multiples of this power of two; 0: not at all.
    pub align: u64,
    /// Speed of the replay in per cent of the trace's own; at least 1.
    pub speed_percent: u64,
    /// All operations go to one target.
    pub to_one_target: bool,
}

impl Replay {
    /// Whether there is an operation in this direction.
    pub fn goes(&self, direction: Direction) -> bool {
        let mut operations = self.operations.iter();
        operations.any(|operation| operation.direction == direction)
    }
}

/// One operation of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// When it is issued, since the job's beginning.
    pub at: Nanos,
    /// Index of the target in the job's list.
    pub target: u32,
    /// What it does; a sync is an fsync and has no bytes.
    pub direction: Direction,
    /// Bytes, at most the largest block of the job.
    pub len: u32,
    /// First byte.
    pub offset: u64,
}
