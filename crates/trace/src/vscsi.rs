//! In: a binary trace of VMware's vscsiStats, such as those of CloudPhysics. Out: its operations.
//!
//! ```text
//!   version 1   0 u32 number   4 u32 bytes   8 u32 segments  12 u16 command  14 u16 version
//!              16 u64 block   24 u64 microseconds
//!   version 2   0 u16 command  2 u16 version  4 u32 number    8 u32 bytes    12 u32 segments
//!              16 u64 block   24 u64 microseconds  32 u64 microseconds that it took
//! ```

use std::io::BufRead;

use blocklab_units::{Nanos, SECTOR, agreeing, plural};
use blocklab_workload::Direction;

use crate::bytes::fill;
use crate::operation::{Raw, RawSource, Split};
use crate::{Clock, TraceError};

/// The version of a record, which is the high byte of its field.
const fn version(field: u16) -> u16 {
    field >> 8
}

/// The version of vscsiStats whose records a file begins with; `None`: it has none. There is no magic
/// number, so the first two records must both look right, unless the file ends before the second.
pub(crate) fn detect(bytes: &[u8]) -> Option<u16> {
    // Version, offset of the command in a record, and size of a record.
    for (wanted, command_at, size) in [(1, 12, 32), (2, 0, 40)] {
        let is_record = |begin: usize| {
            let fields = bytes.get(begin + command_at..begin + command_at + 4)?;
            let command = u16::from_le_bytes([fields[0], fields[1]]);
            let found = u16::from_le_bytes([fields[2], fields[3]]);
            Some(version(found) == wanted && (1..=0xff).contains(&command))
        };
        if is_record(0) == Some(true) && is_record(size) != Some(false) {
            return Some(wanted);
        }
    }
    None
}

/// Reads a trace of vscsiStats.
pub struct Vscsi<R> {
    input: R,
    version: u16,
    /// The byte where the next record begins.
    place: usize,
    /// Number of commands that are no reads, writes or flushes.
    others: u64,
    /// Whether the last record was truncated.
    cut: bool,
    /// One name: a trace is of one disk, which it does not name.
    targets: Vec<String>,
}

impl<R: BufRead> Vscsi<R> {
    /// Reads a trace of this version.
    pub(crate) fn new(input: R, version: u16) -> Split<Self> {
        Split::new(Self {
            input,
            version,
            place: 0,
            others: 0,
            cut: false,
            targets: vec!["disk".to_owned()],
        })
    }
}

impl<R: BufRead> RawSource for Vscsi<R> {
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        let size = if self.version == 1 { 32 } else { 40 };
        loop {
            let mut record = [0_u8; 40];
            let read = fill(&mut self.input, &mut record[..size])?;
            if read < size {
                self.cut = read > 0;
                return Ok(None);
            }
            let place = self.place;
            self.place += size;
            let wrong = |why| TraceError::Byte(place, why);
            let u16_at = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
            let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| record[at + i]));
            let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| record[at + i]));
            let (command, found, len) = match self.version {
                1 => (u16_at(12), u16_at(14), u32_at(4)),
                _ => (u16_at(0), u16_at(2), u32_at(8)),
            };
            if version(found) != self.version {
                let why = format!("no record of version {} begins here", self.version);
                return Err(wrong(why));
            }
            // SCSI commands of 6, 10, 12 and 16 bytes; SYNCHRONIZE CACHE of 10 and 16 bytes. UNMAP is
            // left out: the ranges that it trims are in its data, which the trace does not have.
            let direction = match command {
                0x08 | 0x28 | 0xa8 | 0x88 => Direction::Read,
                0x0a | 0x2a | 0xaa | 0x8a => Direction::Write,
                0x35 | 0x91 => Direction::Sync,
                _ => {
                    self.others += 1;
                    continue;
                }
            };
            let beyond = |what: &str| wrong(format!("the {what} is beyond any device"));
            let raw = Raw {
                at: Nanos(u64_at(24).checked_mul(1000).ok_or_else(|| beyond("time"))?),
                took: (self.version == 2).then(|| Nanos(u64_at(32).saturating_mul(1000))),
                direction,
                offset: u64_at(16)
                    .checked_mul(SECTOR)
                    .ok_or_else(|| beyond("block"))?,
                len: len.into(),
                target: 0,
            };
            return raw.checked().map(Some).map_err(wrong);
        }
    }

    fn targets(&self) -> &[String] {
        &self.targets
    }

    fn clock(&self) -> Clock {
        Clock::Unknown
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.others > 0 {
            remarks.push(format!(
                "{} other than reads, writes and flushes {} left out",
                plural(self.others as usize, "command"),
                agreeing(self.others as usize, "is", "are")
            ));
        }
        if self.cut {
            remarks.push("the last record is cut off and left out".to_owned());
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::testing::{all, fault};

    /// A record of version 2: a command on block 3, after a microsecond.
    fn record(command: u16, len: u32) -> Vec<u8> {
        let mut record = command.to_le_bytes().to_vec();
        record.extend(0x0200_u16.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(len.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(3_u64.to_le_bytes());
        record.extend(1_u64.to_le_bytes());
        record.extend(77_u64.to_le_bytes());
        record
    }

    /// The story: a command UNMAP of 24 bytes was a trim of them at its block. The bytes are the length of
    /// a list, and the block is none.
    #[test]
    fn an_unmap_has_no_place() {
        let records = [record(0x42, 24), record(0x28, 512)].concat();
        let mut source = Vscsi::new(records.as_slice(), 2);
        let found: Vec<_> = all(&mut source).iter().map(|op| op.direction).collect();
        assert_eq!(found, [Direction::Read]);
        assert_eq!(source.remarks().len(), 1);
    }

    /// The story: an error had the byte of the next record.
    #[test]
    fn an_impossible_operation_is_reported_with_its_own_byte() {
        let records = [record(0x28, 512), record(0x28, 0)].concat();
        let error = fault(&mut Vscsi::new(records.as_slice(), 2));
        assert!(error.starts_with("byte 40: 0 bytes"), "{error}");
    }

    #[test]
    fn both_versions_are_read() {
        let mut first = Vec::new();
        for (at, command) in [(5_u64, 0x28_u16), (9, 0x2a), (10, 0x12)] {
            first.extend(1_u32.to_le_bytes());
            first.extend(4096_u32.to_le_bytes());
            first.extend(1_u32.to_le_bytes());
            first.extend(command.to_le_bytes());
            first.extend(0x0100_u16.to_le_bytes());
            first.extend(8_u64.to_le_bytes());
            first.extend(at.to_le_bytes());
        }
        assert_eq!(detect(&first), Some(1));
        let mut source = Vscsi::new(first.as_slice(), 1);
        let got = all(&mut source);
        assert_eq!(got.len(), 2);
        assert_eq!(
            (got[1].at, got[1].direction),
            (Nanos(9000), Direction::Write)
        );
        assert_eq!(
            source.remarks(),
            ["1 command other than reads, writes and flushes is left out"]
        );
        let second = [record(0x8a, 512), record(0x8a, 512)].concat();
        assert_eq!(detect(&second), Some(2));
        // A file with one record was refused as neither a text nor a trace.
        assert_eq!(detect(&second[..40]), Some(2));
        let got = all(&mut Vscsi::new(second.as_slice(), 2));
        assert_eq!((got[0].took, got[0].offset), (Some(Nanos(77_000)), 1536));
    }
}
