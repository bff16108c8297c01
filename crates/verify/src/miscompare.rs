//! What is wrong with data that was read, in the terms of the report: the output of this crate.

use std::fmt;

use crate::sector::{SECTOR, WrongKind, WrongSector};

/// Data that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miscompare {
    /// Its first byte in its target.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
    /// What is wrong.
    pub kind: MiscompareKind,
}

/// What is wrong with a block, or an interval of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MiscompareKind {
    /// No header: never written, lost, or torn.
    #[error("no header")]
    NoHeader,
    /// The header is damaged.
    #[error("a damaged header")]
    DamagedHeader,
    /// The header of another place, with this offset: a misdirected write or read.
    #[error("the header of offset {0}")]
    OtherPlace(u64),
    /// The header of another write: the expected one was lost.
    #[error("write {found} of its thread where {expected} belongs")]
    OtherWrite {
        /// Number of the write that was found.
        found: u64,
        /// Number of the write that should be there.
        expected: u64,
    },
    /// The header of a run with another seed: a stale block of an earlier run.
    #[error("a block of seed {found:#x} where one of seed {expected:#x} belongs")]
    OtherSeed {
        /// 32 bits of the seed in its header.
        found: u32,
        /// 32 bits of the seed of this run.
        expected: u32,
    },
    /// The data is not that of its header.
    #[error("data that does not match its checksum")]
    Checksum,
    /// Sectors do not match the key of their block.
    #[error("{0}")]
    Sectors(Box<WrongBlock>),
    /// The data is not the pattern.
    #[error("byte {at} of the interval is {found:#04x} where {expected:#04x} belongs")]
    Pattern {
        /// The first wrong byte, counted from the start of the interval.
        at: u32,
        /// What was read.
        found: u8,
        /// What was written.
        expected: u8,
    },
}

/// The last operation on a block that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Good {
    /// Microseconds since 1970; 0 if there was none.
    pub micros: u64,
    /// Number of its run.
    pub run: u16,
    /// Whether it was a write.
    pub wrote: bool,
}

/// A block that came back wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongBlock {
    /// Name of the storage.
    pub name: String,
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
    /// The key that it should have.
    pub expected_key: u8,
    /// The other key that it may have: that of a write in flight when an earlier run was killed.
    pub or_key: Option<u8>,
    /// The wrong sectors, in order.
    pub sectors: Vec<WrongSector>,
    /// Its last good operation and the name of that run, if they are recorded.
    pub good: Option<(Good, String)>,
    /// The run that found it.
    pub run: String,
    /// When it was found: microseconds since 1970.
    pub micros: u64,
}

impl fmt::Display for WrongBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.len as usize / SECTOR;
        write!(
            f,
            "block at {:#x} of {}: {} of {all} sectors are wrong",
            self.offset,
            self.name,
            self.sectors.len()
        )?;
        let Some(first) = self.sectors.first() else {
            return Ok(());
        };
        write!(f, "; the first, at {:#x}: {}", first.offset, first.kind)?;
        write!(f, "; key {} expected", self.expected_key)?;
        if let Some(or) = self.or_key {
            write!(f, " or {or}")?;
        }
        if first.has_header() {
            write!(f, ", {} found", first.found_key)?;
        }
        Ok(())
    }
}

impl WrongSector {
    /// Whether it has a valid header.
    pub const fn has_header(&self) -> bool {
        !matches!(self.kind, WrongKind::Empty | WrongKind::Damaged)
    }
}

impl From<WrongBlock> for Miscompare {
    fn from(block: WrongBlock) -> Self {
        Self {
            offset: block.offset,
            len: block.len,
            kind: MiscompareKind::Sectors(Box::new(block)),
        }
    }
}
