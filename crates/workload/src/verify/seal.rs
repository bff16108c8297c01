//! What fills a write, and what checks a read.
//!
//! ```text
//!   interval:  [ data … | header | digest | … data ]
//!                        ^ offset (usually 0)
//!   header:    magic 4 | kind 1 | digest length 1 | 0 2 | interval 4 | target 4
//!              offset 8 | generation 8 | run 8 | header check 4                   = 44 bytes
//! ```
//!
//! Numbers are little endian. The header check is a CRC-32C of the header before it, so that a
//! torn header is told from one of another write. The digest covers the interval without header
//! and digest.

use std::sync::Arc;

use super::{Checksum, PatternPart, Verify};

/// Bytes of a header without its digest.
pub const HEADER_LEN: usize = 44;

const MAGIC: [u8; 4] = *b"BLv1";

/// What the next write carries, or a read should find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Index of the target in the job's list.
    pub target: u32,
    /// First byte of the operation.
    pub offset: u64,
    /// Which write of its thread it is.
    pub generation: Generation,
}

/// Which write a read should find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// This one.
    Exactly(u64),
    /// This one or a later one.
    AtLeast(u64),
    /// Any: an earlier run wrote it.
    Any,
    /// None: the range was trimmed and reads as zeros.
    Zeros,
}

/// Data that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// First byte of the interval in its target.
    pub offset: u64,
    /// Bytes of the interval.
    pub len: u32,
    /// What is wrong with it.
    pub kind: FlawKind,
}

/// What is wrong with an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlawKind {
    /// No header: never written, lost, or torn.
    #[error("no header")]
    NoHeader,
    /// The header is damaged.
    #[error("a damaged header")]
    DamagedHeader,
    /// The header of another place: a misdirected write or read.
    #[error("the header of offset {found}")]
    OtherPlace {
        /// The offset that it tells.
        found: u64,
    },
    /// The header of another write: a lost one.
    #[error("write {found} of its thread where {expected} belongs")]
    OtherWrite {
        /// Which one it is.
        found: u64,
        /// Which one it should be.
        expected: u64,
    },
    /// The data is not that of its header.
    #[error("data that does not match its checksum")]
    Checksum,
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

/// Seals writes and checks reads of one thread.
#[derive(Debug, Clone)]
pub struct Seal {
    checksum: Checksum,
    interval: Option<usize>,
    header_at: usize,
    pattern: Option<Arc<[PatternPart]>>,
    /// Tells headers of this root seed from those of others in a dump; it is not compared.
    run: u64,
    /// The pattern of one interval.
    period: Vec<u8>,
}

impl Seal {
    /// As a job asks for it; `run` stands in each header.
    #[must_use]
    pub fn new(verify: &Verify, run: u64) -> Self {
        Self {
            checksum: verify.checksum,
            interval: verify.interval.map(|bytes| bytes.0 as usize),
            header_at: verify.offset.0 as usize,
            pattern: verify.pattern.clone(),
            run,
            period: Vec::new(),
        }
    }

    /// Makes a filled buffer recognisable. `generation` counts the writes of the thread.
    pub fn seal(&mut self, buffer: &mut [u8], target: u32, offset: u64, generation: u64) {
        let interval = self.interval.unwrap_or(buffer.len()).max(1);
        let mut at = offset;
        for piece in buffer.chunks_mut(interval) {
            self.fill(piece, at);
            if self.has_room(piece.len()) {
                self.put_header(piece, target, at, generation);
            }
            at += piece.len() as u64;
        }
    }

    /// Looks for what [`Seal::seal`] left.
    ///
    /// # Errors
    /// The first [`Flaw`].
    pub fn check(&mut self, buffer: &[u8], mark: Mark) -> Result<(), Flaw> {
        let interval = self.interval.unwrap_or(buffer.len()).max(1);
        let mut at = mark.offset;
        for piece in buffer.chunks(interval) {
            self.check_one(piece, at, mark).map_err(|kind| Flaw {
                offset: at,
                len: piece.len() as u32,
                kind,
            })?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// A last piece of a block that is too short for a header carries none.
    fn has_room(&self, len: usize) -> bool {
        self.checksum.has_header() && self.header_at + HEADER_LEN + self.checksum.len() <= len
    }

    fn fill(&mut self, piece: &mut [u8], offset: u64) {
        if self.pattern.is_none() {
            return;
        }
        self.set_period(offset);
        for part in piece.chunks_mut(self.period.len()) {
            part.copy_from_slice(&self.period[..part.len()]);
        }
    }

    fn set_period(&mut self, offset: u64) {
        self.period.clear();
        for part in self.pattern.iter().flat_map(|parts| parts.iter()) {
            match part {
                PatternPart::Bytes(bytes) => self.period.extend_from_slice(bytes),
                PatternPart::Offset => self.period.extend_from_slice(&offset.to_le_bytes()),
            }
        }
    }

    fn put_header(&self, piece: &mut [u8], target: u32, offset: u64, generation: u64) {
        let interval = piece.len() as u32;
        let (before, rest) = piece.split_at_mut(self.header_at);
        let (header, rest) = rest.split_at_mut(HEADER_LEN);
        let (digest_place, after) = rest.split_at_mut(self.checksum.len());
        let digest = self.checksum.of(before, after);
        digest_place.copy_from_slice(&digest[..digest_place.len()]);
        header[..4].copy_from_slice(&MAGIC);
        header[4] = self.checksum as u8;
        header[5] = digest_place.len() as u8;
        header[6..8].fill(0);
        header[8..12].copy_from_slice(&interval.to_le_bytes());
        header[12..16].copy_from_slice(&target.to_le_bytes());
        header[16..24].copy_from_slice(&offset.to_le_bytes());
        header[24..32].copy_from_slice(&generation.to_le_bytes());
        header[32..40].copy_from_slice(&self.run.to_le_bytes());
        let check = crc32c::crc32c(&header[..40]);
        header[40..].copy_from_slice(&check.to_le_bytes());
    }

    fn check_one(&mut self, piece: &[u8], offset: u64, mark: Mark) -> Result<(), FlawKind> {
        if mark.generation == Generation::Zeros {
            return same(piece, 0, std::iter::repeat(&0));
        }
        if self.checksum == Checksum::Null {
            return Ok(());
        }
        if !self.has_room(piece.len()) {
            return self.check_pattern(piece, 0, offset);
        }
        let (before, rest) = piece.split_at(self.header_at);
        let (header, rest) = rest.split_at(HEADER_LEN);
        let (digest_place, after) = rest.split_at(self.checksum.len());
        self.check_header(header, offset, mark.generation)?;
        match self.checksum {
            Checksum::Header => Ok(()),
            Checksum::PatternHeader => {
                self.check_pattern(before, 0, offset)?;
                self.check_pattern(after, piece.len() - after.len(), offset)
            }
            checksum => {
                let digest = checksum.of(before, after);
                match digest[..digest_place.len()] == *digest_place {
                    true => Ok(()),
                    false => Err(FlawKind::Checksum),
                }
            }
        }
    }

    fn check_header(&self, header: &[u8], at: u64, want: Generation) -> Result<(), FlawKind> {
        if header[..4] != MAGIC {
            return Err(FlawKind::NoHeader);
        }
        let number = |from: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&header[from..from + 8]);
            u64::from_le_bytes(bytes)
        };
        let sound = crc32c::crc32c(&header[..40]).to_le_bytes() == header[40..44]
            && header[4] == self.checksum as u8;
        if !sound {
            return Err(FlawKind::DamagedHeader);
        }
        let (found_at, found) = (number(16), number(24));
        if found_at != at {
            return Err(FlawKind::OtherPlace { found: found_at });
        }
        match want {
            Generation::Exactly(expected) if found != expected => {
                Err(FlawKind::OtherWrite { found, expected })
            }
            Generation::AtLeast(expected) if found < expected => {
                Err(FlawKind::OtherWrite { found, expected })
            }
            _ => Ok(()),
        }
    }

    /// `from` is where in its interval the piece begins.
    fn check_pattern(&mut self, piece: &[u8], from: usize, offset: u64) -> Result<(), FlawKind> {
        if self.pattern.is_none() {
            return Ok(());
        }
        self.set_period(offset);
        let whole = self.period.iter().cycle().skip(from % self.period.len());
        same(piece, from, whole)
    }
}

fn same<'a>(
    piece: &[u8],
    from: usize,
    expected: impl Iterator<Item = &'a u8>,
) -> Result<(), FlawKind> {
    let differs = piece
        .iter()
        .zip(expected)
        .enumerate()
        .find(|(_, (found, expected))| found != expected);
    match differs {
        None => Ok(()),
        Some((at, (found, expected))) => Err(FlawKind::Pattern {
            at: (from + at) as u32,
            found: *found,
            expected: *expected,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_units::Bytes;
    use proptest::prelude::*;

    fn seal(checksum: Checksum, interval: Option<u64>, offset: u64) -> Seal {
        let verify = Verify {
            interval: interval.map(Bytes),
            offset: Bytes(offset),
            pattern: Some(Arc::from(vec![
                PatternPart::Bytes(vec![0xab, 0xcd]),
                PatternPart::Offset,
            ])),
            ..Verify::new(checksum)
        };
        Seal::new(&verify, 42)
    }

    fn mark(generation: Generation) -> Mark {
        Mark {
            target: 0,
            offset: 8192,
            generation,
        }
    }

    const KINDS: [Checksum; 7] = [
        Checksum::Crc32c,
        Checksum::Xxhash,
        Checksum::Sha512,
        Checksum::Crc7,
        Checksum::Header,
        Checksum::Pattern,
        Checksum::PatternHeader,
    ];

    #[test]
    fn what_was_sealed_is_recognised() {
        for checksum in KINDS {
            for (interval, offset) in [(None, 0), (Some(512), 0), (Some(1024), 100)] {
                let mut seal = seal(checksum, interval, offset);
                let mut block = vec![7; 4096];
                seal.seal(&mut block, 0, 8192, 3);
                let exactly = mark(Generation::Exactly(3));
                assert_eq!(seal.check(&block, exactly), Ok(()), "{checksum:?}");
            }
        }
    }

    #[test]
    fn other_places_and_writes_are_told_apart() {
        let mut seal = seal(Checksum::Crc32c, Some(1024), 0);
        let mut block = vec![7; 4096];
        seal.seal(&mut block, 0, 8192, 3);
        let kind = |seal: &mut Seal, mark| seal.check(&block, mark).map_err(|flaw| flaw.kind);
        let expected = 4;
        let lost = Err(FlawKind::OtherWrite { found: 3, expected });
        assert_eq!(kind(&mut seal, mark(Generation::Exactly(4))), lost);
        assert_eq!(kind(&mut seal, mark(Generation::AtLeast(2))), Ok(()));
        let elsewhere = Mark {
            offset: 0,
            ..mark(Generation::Any)
        };
        let found = 8192;
        assert_eq!(
            kind(&mut seal, elsewhere),
            Err(FlawKind::OtherPlace { found })
        );
        let never = seal.check(&[0; 4096], mark(Generation::Any));
        assert_eq!(never.map_err(|flaw| flaw.kind), Err(FlawKind::NoHeader));
        assert_eq!(seal.check(&[0; 4096], mark(Generation::Zeros)), Ok(()));
    }

    proptest! {
        /// One flipped bit anywhere is found, and told of the interval that it is in.
        #[test]
        fn a_flipped_bit_is_found(byte in 0usize..4096, bit in 0u8..8) {
            for checksum in [Checksum::Crc32c, Checksum::Xxhash, Checksum::PatternHeader] {
                let mut seal = seal(checksum, Some(1024), 0);
                let mut block = vec![7; 4096];
                seal.seal(&mut block, 0, 8192, 3);
                block[byte] ^= 1 << bit;
                let flaw = seal.check(&block, mark(Generation::Exactly(3))).unwrap_err();
                prop_assert_eq!(flaw.offset, 8192 + (byte as u64) / 1024 * 1024);
            }
        }

        /// Whatever was read, checking it is no panic.
        #[test]
        fn any_bytes_can_be_checked(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
            for checksum in KINDS {
                let _ = seal(checksum, Some(512), 0).check(&bytes, mark(Generation::Any));
            }
        }
    }
}
