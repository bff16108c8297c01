use blocklab_units::Nanos;

use super::Direction;

/// What a job keeps of its operations one by one, or in short spans. It lies in memory until the
/// end: some 56 bytes an operation for `entries`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Log {
    /// Every operation.
    pub entries: bool,
    /// Sums and extremes over spans of this length.
    pub average: Option<Nanos>,
    /// A histogram for each span of this length: of the service latency, or of what of it follows
    /// the submitting call where that is measured by itself.
    pub histogram: Option<Nanos>,
}

/// Operations given one by one instead of a pattern, a mix and sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replay {
    /// In the order in which they are issued.
    pub operations: Vec<Replayed>,
    /// Each waits for its moment; otherwise each goes as soon as the depth allows.
    pub keeps_time: bool,
}

impl Replay {
    /// Whether some operation goes this way.
    #[must_use]
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
