//! A miscompare: data that came back different from what was written.

use std::fmt;

use crate::sector::{SECTOR, WrongKind, WrongSector};

/// Data that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miscompare {
    /// First byte of it in its target.
    pub offset: u64,
    /// Bytes of it.
    pub len: u32,
    /// What is wrong with it.
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
    /// The header of another write: a lost one.
    #[error("write {found} of its thread where {expected} belongs")]
    OtherWrite {
        /// Which one it is.
        found: u64,
        /// Which one it should be.
        expected: u64,
    },
    /// The header of a run with another seed: a stale block of an earlier run.
    #[error("a block of seed {found:#x} where one of seed {expected:#x} belongs")]
    OtherSeed {
        /// 32 bits of the seed that wrote it.
        found: u32,
        /// The same of this run.
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
        /// Where in the interval.
        at: u32,
        /// What was read.
        found: u8,
        /// What was written.
        expected: u8,
    },
}

/// The last operation of a block that went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Good {
    /// Microseconds since 1970; 0: none was.
    pub micros: u64,
    /// Number of its run.
    pub run: u16,
    /// It was a write.
    pub wrote: bool,
}

/// A block that came back wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongBlock {
    /// Name of the storage.
    pub name: String,
    /// First byte of it.
    pub offset: u64,
    /// Bytes of it.
    pub len: u32,
    /// The key that belongs there.
    pub expected_key: u8,
    /// The other key that may be there, of a write that was in flight.
    pub or_key: Option<u8>,
    /// The wrong sectors, in their order.
    pub sectors: Vec<WrongSector>,
    /// Its last good operation and the run of it, where they are kept.
    pub good: Option<(Good, String)>,
    /// The run that found it.
    pub run: String,
    /// When: microseconds since 1970.
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
    /// Whether it has a header of ours.
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
