//! Recorded operations as a load: each with its moment, and the file that they can be read from again.
//!
//! A file of its own: the operations are not settings, and the JSON of a plan leaves them out.

use blocklab_units::Nanos;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Direction;

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
    /// What each operation follows; empty: operations come at their moments, whatever completes.
    #[serde(skip)]
    pub dependencies: Vec<Dependency>,
    /// The file that they come from.
    pub source: Option<TraceFile>,
    /// What was changed in the operations to make them fit the target.
    #[serde(skip)]
    pub adapted: Adapted,
}

/// When operations are issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayPace {
    /// At their recorded times, whatever is in flight.
    Open,
    /// After the completions that they followed in the recording, with the same delay.
    Dependent,
    /// In their order, each as soon as there is room in flight.
    Fast,
}

/// Where operations go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayPlace {
    /// At their recorded offsets; a target that is too small is refused.
    AsRecorded,
    /// Modulo the size of the target.
    Wrap,
    /// Multiplied by the ratio of the sizes.
    Scale,
    /// Extents of 1 MiB that are used are put next to each other.
    Compact,
}

/// An operation that waits for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dependency {
    /// How many operations before it is the one that it waits for; 0: it waits for none and comes at
    /// its moment.
    pub back: u32,
    /// How long after the completion of that one it comes.
    pub think_ns: u32,
}

/// How many operations of a trace are not what they were, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Adapted {
    /// Left out.
    pub dropped: u64,
    /// Moved, because the trace reaches beyond its target or was to be put together.
    pub folded: u64,
    /// Begin or end elsewhere, because the target takes whole blocks.
    pub rounded: u64,
    /// Bytes that rounding added.
    pub rounded_bytes: u64,
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

impl Replayed {
    /// An operation on the job's first target.
    pub const fn new(at: Nanos, direction: Direction, offset: u64, len: u32) -> Self {
        Self {
            at,
            target: 0,
            direction,
            len,
            offset,
        }
    }
}
