//! Failed verifications, in fio's own messages: scripts search the standard error for them.

use blocklab_verify::{MAGIC, Miscompare, MiscompareKind};

/// What was read, and of what.
#[derive(Debug, Clone, Copy)]
pub struct Flawed<'a> {
    /// `verify`, as given.
    pub verify: &'a str,
    /// The file.
    pub file: &'a str,
    /// What is wrong, and where.
    pub flaw: &'a Miscompare,
    /// First byte of the block that was read.
    pub offset: u64,
    /// The block, where it was kept.
    pub bytes: &'a [u8],
}

impl Flawed<'_> {
    /// The message for standard error, of one or several lines.
    pub fn words(&self) -> String {
        let Miscompare { offset, len, kind } = self.flaw;
        let block = self.bytes.len().max(*len as usize);
        let place = format!(
            "at file {} offset {offset}, length {len} (requested block: offset={}, length={block})",
            self.file, self.offset
        );
        // Without what follows the method's name, as in `pattern:0xff`.
        let verify = self.verify.split(':').next().unwrap_or_default();
        match kind {
            MiscompareKind::NoHeader => {
                format!(
                    "verify: bad magic header {:x}, wanted {MAGIC:x} {place}",
                    self.magic()
                )
            }
            MiscompareKind::DamagedHeader => format!("verify: bad header crc {place}"),
            MiscompareKind::OtherPlace(found) => {
                format!("verify: bad header offset {found}, wanted {offset} {place}")
            }
            MiscompareKind::OtherWrite { found, expected } => {
                format!("verify: bad header numberio {found}, wanted {expected} {place}")
            }
            MiscompareKind::OtherSeed { found, expected } => {
                format!("verify: bad header rand_seed {found}, wanted {expected} {place}")
            }
            MiscompareKind::Checksum | MiscompareKind::Sectors(_) => {
                format!("{verify}: verify failed {place}")
            }
            MiscompareKind::Pattern {
                at,
                found,
                expected,
            } => format!(
                "fio: got pattern '{found:02x}', wanted '{expected:02x}'. Bad bits {}\n\
                 fio: bad pattern block offset {at}\n{verify}: verify failed {place}",
                (found ^ expected).count_ones()
            ),
        }
    }

    /// The bytes where the header should begin.
    fn magic(&self) -> u16 {
        let from = self.flaw.offset.saturating_sub(self.offset) as usize;
        let bytes = self.bytes.get(from..from + 2).unwrap_or(&[0, 0]);
        u16::from_le_bytes([bytes[0], bytes[1]])
    }

    /// The name of the file that `verify_dump` leaves.
    pub fn dump(&self) -> String {
        format!("{}.{}.received", self.file, self.flaw.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: MiscompareKind, begin: &str) {
        let flaw = Miscompare {
            offset: 4096,
            len: 512,
            kind,
        };
        let bytes = [b'X'; 4096];
        let flawed = Flawed {
            verify: "crc32c",
            file: "a.0.0",
            flaw: &flaw,
            offset: 4096,
            bytes: &bytes,
        };
        let words = flawed.words();
        assert!(words.starts_with(begin), "{words}");
        let place = "at file a.0.0 offset 4096, length 512 (requested block: offset=4096, \
                     length=4096)";
        assert!(words.ends_with(place), "{words}");
    }

    #[test]
    fn scripts_find_their_words() {
        check(MiscompareKind::Checksum, "crc32c: verify failed at file");
        check(
            MiscompareKind::NoHeader,
            "verify: bad magic header 5858, wanted",
        );
        let expected = 4;
        check(
            MiscompareKind::OtherWrite { found: 3, expected },
            "verify: bad header numberio 3, wanted 4 at file",
        );
        check(
            MiscompareKind::OtherSeed {
                found: 1,
                expected: 4,
            },
            "verify: bad header rand_seed 1, wanted 4 at file",
        );
        let pattern = MiscompareKind::Pattern {
            at: 904,
            found: 0x58,
            expected: 0xab,
        };
        check(pattern, "fio: got pattern '58', wanted 'ab'. Bad bits 6\n");
    }
}
