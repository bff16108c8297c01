//! What is told of a block that came back wrong.

use std::fmt;

use super::sector::{SECTOR, WrongSector};

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
        if first.is_told() {
            write!(f, ", {} found", first.found_key)?;
        }
        Ok(())
    }
}

impl WrongSector {
    /// Whether it tells who wrote it.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        use super::sector::WrongKind::{Damaged, Empty};
        !matches!(self.kind, Empty | Damaged)
    }
}
