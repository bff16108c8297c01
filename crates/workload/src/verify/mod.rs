//! Data that can be recognised when it is read back.

mod checksum;
mod journal;
mod keys;
mod seal;
mod sector;
mod wrong;

use std::sync::Arc;

use blocklab_units::Bytes;

pub use checksum::Checksum;
pub use journal::{JournalFault, JournalWriter, LAST_KEY, MapState, Pending, SavedKeys};
pub use keys::{KeyMap, KeyPlan, Settled, Taken, Wrongs, saved_name};
pub use seal::{Flaw, FlawKind, Generation, HEADER_LEN, MAGIC, Mark, Seal};
pub use sector::{SECTOR, Sectors, WrongKind, WrongSector};
pub use wrong::{Good, WrongBlock};

/// How a job makes sure that what it wrote is what comes back.
///
/// Writes are sealed, with a header in each interval that tells which write it was. Reads of a job
/// that does not write are checked as they come; a job that writes reads everything back when its
/// writes are done, as it asks for in `when`.
#[derive(Debug, Clone, PartialEq)]
pub struct Verify {
    /// How data is recognised.
    pub checksum: Checksum,
    /// Bytes that a header covers; `None`: a block. Blocks are whole multiples of it.
    pub interval: Option<Bytes>,
    /// Where in its interval the header stands.
    pub offset: Bytes,
    /// What fills an interval; `None`: the content of the job.
    pub pattern: Option<Arc<[PatternPart]>>,
    /// When it is read back.
    pub when: When,
    /// Bytes moved by a thread after which it reads back what it wrote of them, and then goes on;
    /// nothing: only at the end.
    pub pass: Option<Bytes>,
    /// The first flaw ends the job. Otherwise all of them are counted.
    pub fatal: bool,
    /// Where the time ends the writes, what was not read back by then never is.
    pub in_time: bool,
    /// Keep the bytes of so many flawed blocks.
    pub keep: u32,
    /// Check only what the first so many writes of each thread left.
    pub first: Option<u64>,
    /// Ranges that were trimmed must read as zeros.
    pub trimmed_zero: bool,
    /// Trim a part of what was written before it is read back.
    pub trims: Option<Trims>,
}

impl Verify {
    /// With the usual settings: read back when all is written.
    #[must_use]
    pub const fn new(checksum: Checksum) -> Self {
        Self {
            checksum,
            interval: None,
            offset: Bytes::ZERO,
            pattern: None,
            when: When::AfterWrites,
            pass: None,
            fatal: false,
            in_time: false,
            keep: 0,
            first: None,
            trimmed_zero: false,
            trims: None,
        }
    }
}

/// What a job trims of what it wrote, while it goes on writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trims {
    /// Share of the writes that are chosen for it, in per cent.
    pub percent: u8,
    /// Each time that so many writes wait to be read back; at least 1.
    pub every: u64,
    /// So many of the chosen ones, the oldest first; at least 1.
    pub batch: u64,
}

/// When a job that writes reads back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Not at all: another job or another run does.
    Never,
    /// When all is written.
    AfterWrites,
    /// After every `every` writes the oldest `batch` of them, and the rest at the end.
    Backlog {
        /// At least 1.
        every: u64,
        /// At least 1.
        batch: u64,
    },
    /// Nothing is written: what an earlier run of the same job with the same seed wrote is read.
    Only,
    /// Nothing is written: what any job wrote is read where this one would have written.
    OnlyPlaces,
}

impl When {
    /// Whether nothing is written.
    #[must_use]
    pub const fn is_only(self) -> bool {
        matches!(self, Self::Only | Self::OnlyPlaces)
    }
}

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The offset of the interval in its target: eight bytes, little endian.
    Offset,
}
