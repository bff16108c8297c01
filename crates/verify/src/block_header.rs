//! In: a write, or a read and the block that is expected. Out: the write with headers and pattern
//! in its buffer, or the miscompare. This is the layout of fio's headers:
//!
//! ```text
//!   interval:  [ header | digest | data … ]           header_at = 0
//!              [ data … | header | digest | data … ]  header and digest are swapped with the data
//!                                                     at header_at
//!   header:    magic 2 | kind 2 | interval 4 | mark 8 | offset 8 | run 4 | target 4
//!              thread 2 | number 2 | header check 4                            = 40 bytes
//! ```
//!
//! Numbers are little endian. This is the header of fio 3.33, so that either program can check what
//! the other wrote. Where fio keeps the seed of its content, the mark holds `BL`, 16 bits of the
//! root seed, and the low 32 bits of the write's number in its thread; fio has 16 bits for that, in
//! the number. The run is 32 bits of the root seed, by which blocks of another seed are recognised.
//! The header check is a CRC-32C of the header before it, so that a torn header differs from one of
//! another write. The digest covers the interval without header and digest, before the swap.

use std::sync::Arc;

use blocklab_workload::{Checksum, HEADER_LEN, PatternPart, Verify};

use crate::digest::{LONGEST, digest};
use crate::miscompare::{Miscompare, MiscompareKind};

/// The number with which a header begins.
pub const MAGIC: u16 = 0xacca;

/// The upper 16 bits of our own marks.
const OURS: u64 = u16::from_le_bytes(*b"BL") as u64;
const OURS_AT: u32 = 48;
const SEED_AT: u32 = 32;

/// What the next write carries, or a read should find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedBlock {
    /// Index of the target in the job's list.
    pub target: u32,
    /// First byte of the operation.
    pub offset: u64,
    /// The number of the write in its thread.
    pub generation: Generation,
}

/// Which write a read should find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// This one.
    Exactly(u64),
    /// This one or a later one.
    AtLeast(u64),
    /// This one, if an earlier run of blocklab wrote it.
    Earlier(u64),
    /// This one or a later one, if an earlier run of blocklab wrote it: one with a ramp, in which it
    /// made an unknown number of writes.
    EarlierAtLeast(u64),
    /// Any: an earlier run wrote it.
    Any,
    /// None: the range was trimmed and reads as zeros.
    Zeros,
}

/// Puts headers into the writes of one thread and checks its reads.
#[derive(Debug, Clone)]
pub struct BlockHeaders {
    checksum: Checksum,
    interval: Option<usize>,
    header_at: usize,
    pattern: Option<Arc<[PatternPart]>>,
    /// Bytes after which the pattern begins anew.
    pattern_interval: Option<usize>,
    /// Accepts a block of any write.
    any_write: bool,
    /// Blocks of an earlier run must have this root seed too.
    same_seed: bool,
    /// The root seed.
    run: u64,
    /// One repetition of the pattern.
    period: Vec<u8>,
}

impl BlockHeaders {
    /// The headers of a job; `run` is part of each.
    pub fn new(verify: &Verify, run: u64) -> Self {
        Self {
            checksum: verify.checksum,
            interval: verify.interval.map(|bytes| bytes.0 as usize),
            header_at: verify.offset.0 as usize,
            pattern: verify.pattern.clone(),
            pattern_interval: verify.pattern_interval.map(|bytes| bytes.0.max(1) as usize),
            any_write: verify.any_write,
            same_seed: verify.same_seed,
            run,
            period: Vec::new(),
        }
    }

    /// Puts pattern and headers into a filled buffer. `generation` counts the writes of the thread.
    pub fn fill(&mut self, buffer: &mut [u8], target: u32, offset: u64, generation: u64) {
        let interval = self.interval.unwrap_or(buffer.len()).max(1);
        // As in fio, the pattern goes through the whole block, whatever interval the headers have.
        self.fill_pattern(buffer, offset);
        let mut at = offset;
        for piece in buffer.chunks_mut(interval) {
            if self.has_room(piece.len()) {
                self.put_header(piece, target, at, generation);
            }
            at += piece.len() as u64;
        }
    }

    /// Compares a read with what [`BlockHeaders::fill`] wrote.
    ///
    /// # Errors
    /// The first [`Miscompare`].
    pub fn check(&mut self, buffer: &[u8], expected: ExpectedBlock) -> Result<(), Miscompare> {
        let interval = self.interval.unwrap_or(buffer.len()).max(1);
        let mut at = expected.offset;
        for piece in buffer.chunks(interval) {
            self.check_one(piece, at, expected)
                .map_err(|kind| Miscompare {
                    offset: at,
                    len: piece.len() as u32,
                    kind,
                })?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Whether a header fits: the last piece of a block may be too short and then has none.
    fn has_room(&self, len: usize) -> bool {
        self.checksum.has_header() && self.header_at + self.head_len() <= len
    }

    const fn head_len(&self) -> usize {
        HEADER_LEN + self.checksum.room()
    }

    /// The data without header and digest, in the order of the digest, and where each piece of it
    /// belongs in the interval.
    fn data<'b>(&self, piece: &'b [u8]) -> [(&'b [u8], usize); 3] {
        let (at, head) = (self.header_at, self.head_len());
        let rest = (&piece[at + head..], at + head);
        if at >= head {
            [(&piece[head..at], head), (&piece[..head], at), rest]
        } else {
            // Header and digest would overlap their own place at the front, so there is no swap.
            [(&piece[..at], 0), (&[], 0), rest]
        }
    }

    fn digest(&self, piece: &[u8]) -> [u8; LONGEST] {
        let data = self.data(piece);
        // At the front of the interval the other two pieces are empty.
        if self.header_at == 0 {
            return digest(self.checksum, &[data[2].0]);
        }
        digest(self.checksum, &data.map(|(data, _)| data))
    }

    /// Fills the data of a block with the job's pattern; a job without one leaves it as it is.
    fn fill_pattern(&mut self, block: &mut [u8], offset: u64) {
        if self.pattern.is_none() {
            return;
        }
        let interval = self.pattern_interval.unwrap_or(block.len()).max(1);
        for (stretch, number) in block.chunks_mut(interval).zip(0..) {
            self.set_period(offset + number * interval as u64);
            for part in stretch.chunks_mut(self.period.len()) {
                part.copy_from_slice(&self.period[..part.len()]);
            }
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

    /// Writes the header and the checksum of a piece, whose data is there already.
    fn put_header(&self, piece: &mut [u8], target: u32, offset: u64, generation: u64) {
        let (at, head) = (self.header_at, self.head_len());
        // fio swaps a header that is not at the front with the data at the front. The header is written
        // below, so only the data is moved. Below `head` the two overlap, and nothing is moved.
        if at >= head {
            piece.copy_within(at..at + head, 0);
        }
        let digest = self.digest(piece);
        let interval = piece.len() as u32;
        let (header, digest_place) = piece[at..at + head].split_at_mut(HEADER_LEN);
        digest_place.copy_from_slice(&digest[..digest_place.len()]);
        let seed = u64::from(self.run as u16);
        let mark = OURS << OURS_AT | seed << SEED_AT | u64::from(generation as u32);
        header[..2].copy_from_slice(&MAGIC.to_le_bytes());
        header[2..4].copy_from_slice(&(self.checksum as u16).to_le_bytes());
        header[4..8].copy_from_slice(&interval.to_le_bytes());
        header[8..16].copy_from_slice(&mark.to_le_bytes());
        header[16..24].copy_from_slice(&offset.to_le_bytes());
        header[24..28].copy_from_slice(&(self.run as u32).to_le_bytes());
        header[28..32].copy_from_slice(&target.to_le_bytes());
        header[32..34].copy_from_slice(&1u16.to_le_bytes());
        let number = generation.wrapping_sub(1) as u16;
        header[34..36].copy_from_slice(&number.to_le_bytes());
        let check = header_check(&header[..36]);
        header[36..].copy_from_slice(&check);
    }

    /// Checks header, digest and pattern of one interval.
    fn check_one(
        &mut self,
        piece: &[u8],
        offset: u64,
        expected: ExpectedBlock,
    ) -> Result<(), MiscompareKind> {
        if expected.generation == Generation::Zeros {
            return must_equal(piece, 0, std::iter::repeat(&0));
        }
        if self.checksum == Checksum::Null {
            return Ok(());
        }
        let begin = (offset - expected.offset) as usize;
        if !self.has_room(piece.len()) {
            return self.check_pattern(piece, 0, begin, expected.offset);
        }
        let head = &piece[self.header_at..self.header_at + self.head_len()];
        let (header, digest_place) = head.split_at(HEADER_LEN);
        // The header before the data: that it is one of another write says more than a wrong checksum.
        let is_ours = self.check_header(header, offset, expected.generation)?;
        match self.checksum {
            Checksum::Header => Ok(()),
            checksum if checksum.is_private() && !is_ours => Ok(()),
            Checksum::PatternHeader => {
                let mut pieces = self.data(piece).into_iter();
                pieces.try_for_each(|(data, from)| {
                    self.check_pattern(data, from, begin, expected.offset)
                })
            }
            checksum => {
                let len = checksum.digest_len();
                if self.digest(piece)[..len] == digest_place[..len] {
                    Ok(())
                } else {
                    Err(MiscompareKind::Checksum)
                }
            }
        }
    }

    /// Checks everything in a header but the digest. `Ok` says whether we wrote it; fio may have.
    fn check_header(
        &self,
        header: &[u8],
        at: u64,
        want: Generation,
    ) -> Result<bool, MiscompareKind> {
        if header[..2] != MAGIC.to_le_bytes() {
            return Err(MiscompareKind::NoHeader);
        }
        let sound = header_check(&header[..36]) == header[36..40]
            && header[2..4] == (self.checksum as u16).to_le_bytes();
        if !sound {
            return Err(MiscompareKind::DamagedHeader);
        }
        // The check value holds, so from here on the header is whole, but may be that of another block
        // or write.
        let (found_at, mark) = (number(header, 16), number(header, 8));
        if found_at != at {
            return Err(MiscompareKind::OtherPlace(found_at));
        }
        let is_ours = mark >> OURS_AT == OURS;
        // fio counts writes from 0, we from 1.
        let found = if is_ours {
            u64::from(mark as u32)
        } else {
            u64::from(u16::from_le_bytes([header[34], header[35]])) + 1
        };
        if is_ours && self.compares_seeds(want) {
            let found = number(header, 24) as u32;
            let expected = self.run as u32;
            if found != expected {
                return Err(MiscompareKind::OtherSeed { found, expected });
            }
        }
        // The mark has the low 32 bits of the number. A header of fio does not show which of our writes
        // it stands for: it is another write wherever one of this run is expected.
        let is_other_write = match want {
            _ if self.any_write => false,
            Generation::Exactly(expected) => !is_ours || found as u32 != expected as u32,
            Generation::AtLeast(expected) => !is_ours || is_before(found, expected),
            Generation::Earlier(expected) => is_ours && found as u32 != expected as u32,
            Generation::EarlierAtLeast(expected) => is_ours && is_before(found, expected),
            Generation::Any | Generation::Zeros => false,
        };
        match want {
            Generation::Exactly(expected)
            | Generation::AtLeast(expected)
            | Generation::Earlier(expected)
            | Generation::EarlierAtLeast(expected)
                if is_other_write =>
            {
                Err(MiscompareKind::OtherWrite { found, expected })
            }
            _ => Ok(is_ours),
        }
    }

    /// Whether a header must have the root seed of this run: if this run wrote it itself, or if the
    /// job asks for it.
    const fn compares_seeds(&self, want: Generation) -> bool {
        let is_own = matches!(want, Generation::Exactly(_) | Generation::AtLeast(_));
        self.same_seed || is_own && !self.any_write
    }

    /// Compares a piece of the data of the block at `offset` with the job's pattern; a job without one has
    /// nothing to compare. The piece is `from` bytes behind the begin of its interval, and that
    /// `interval_at` bytes behind the begin of the block.
    fn check_pattern(
        &mut self,
        piece: &[u8],
        from: usize,
        interval_at: usize,
        offset: u64,
    ) -> Result<(), MiscompareKind> {
        if self.pattern.is_none() || piece.is_empty() {
            return Ok(());
        }
        let interval = self.pattern_interval.unwrap_or(usize::MAX);
        let (mut at, mut rest) = (interval_at + from, piece);
        while !rest.is_empty() {
            let begin = at / interval * interval;
            let (stretch, behind) = rest.split_at(rest.len().min(interval - (at - begin)));
            self.set_period(offset + begin as u64);
            // The piece may begin in the middle of a pattern interval, and of a repetition in it.
            let skipped = (at - begin) % self.period.len();
            let expected = self.period.iter().cycle().skip(skipped);
            must_equal(stretch, at - interval_at, expected)?;
            (at, rest) = (at + stretch.len(), behind);
        }
        Ok(())
    }
}

/// Whether a write came before another one, by the 32 bits that a header has for its number. They
/// wrap after four thousand million writes of a thread.
const fn is_before(found: u64, expected: u64) -> bool {
    let ahead = (found as u32).wrapping_sub(expected as u32).cast_signed();
    ahead.is_negative()
}

/// Eight bytes, little endian.
fn number(header: &[u8], from: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[from..from + 8]);
    u64::from_le_bytes(bytes)
}

/// CRC-32C without the inversion at the end.
fn header_check(header: &[u8]) -> [u8; 4] {
    (!crc32c::crc32c(header)).to_le_bytes()
}

/// Compares bytes, which begin at `from` of a block, with the beginning of `expected`, which is endless.
/// The first that differs is the miscompare.
fn must_equal<'a>(
    piece: &[u8],
    from: usize,
    expected: impl Iterator<Item = &'a u8>,
) -> Result<(), MiscompareKind> {
    let differs = piece
        .iter()
        .zip(expected)
        .enumerate()
        .find(|(_, (found, expected))| found != expected);
    match differs {
        None => Ok(()),
        Some((at, (found, expected))) => Err(MiscompareKind::Pattern {
            // The length of an operation is a `u32`.
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

    fn made(checksum: Checksum, interval: Option<u64>, offset: u64) -> BlockHeaders {
        let verify = Verify {
            interval: interval.map(Bytes),
            offset: Bytes(offset),
            pattern: Some(Arc::from(vec![
                PatternPart::Bytes(vec![0xab, 0xcd]),
                PatternPart::Offset,
            ])),
            ..Verify::new(checksum)
        };
        BlockHeaders::new(&verify, 42)
    }

    fn mark(generation: Generation) -> ExpectedBlock {
        ExpectedBlock {
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
            for (interval, offset) in [
                (None, 0),
                (Some(512), 0),
                (Some(1024), 100),
                (Some(1024), 512),
            ] {
                let mut headers = made(checksum, interval, offset);
                let mut block = vec![7; 4096];
                headers.fill(&mut block, 0, 8192, 3);
                let exactly = mark(Generation::Exactly(3));
                assert_eq!(headers.check(&block, exactly), Ok(()), "{checksum:?}");
            }
        }
    }

    #[test]
    fn other_offsets_and_writes_are_distinguished() {
        let mut headers = made(Checksum::Crc32c, Some(1024), 0);
        let mut block = vec![7; 4096];
        headers.fill(&mut block, 0, 8192, 3);
        let kind = |headers: &mut BlockHeaders, mark| {
            headers.check(&block, mark).map_err(|flaw| flaw.kind)
        };
        let expected = 4;
        let lost = Err(MiscompareKind::OtherWrite { found: 3, expected });
        assert_eq!(kind(&mut headers, mark(Generation::Exactly(4))), lost);
        assert_eq!(kind(&mut headers, mark(Generation::AtLeast(2))), Ok(()));
        let other = ExpectedBlock {
            offset: 0,
            ..mark(Generation::Any)
        };
        let found = 8192;
        assert_eq!(
            kind(&mut headers, other),
            Err(MiscompareKind::OtherPlace(found))
        );
        assert_eq!(kind(&mut headers, mark(Generation::Earlier(3))), Ok(()));
        let (found, expected) = (3, 2);
        let other = Err(MiscompareKind::OtherWrite { found, expected });
        assert_eq!(kind(&mut headers, mark(Generation::Earlier(2))), other);
        assert_eq!(
            kind(&mut headers, mark(Generation::EarlierAtLeast(2))),
            Ok(())
        );
        assert_eq!(
            kind(&mut headers, mark(Generation::EarlierAtLeast(4))),
            lost
        );
        let never = headers.check(&[0; 4096], mark(Generation::Any));
        assert_eq!(
            never.map_err(|flaw| flaw.kind),
            Err(MiscompareKind::NoHeader)
        );
        assert_eq!(headers.check(&[0; 4096], mark(Generation::Zeros)), Ok(()));
    }

    /// `verify_pattern_interval` was unknown: a block of 4 KiB held its own offset eight times, and
    /// none of its sectors their own.
    #[test]
    fn each_stretch_of_a_pattern_carries_its_own_offset() {
        for checksum in [Checksum::Pattern, Checksum::PatternHeader, Checksum::Crc32c] {
            let verify = Verify {
                pattern: Some(Arc::from(vec![PatternPart::Offset])),
                pattern_interval: Some(Bytes(512)),
                ..Verify::new(checksum)
            };
            let mut headers = BlockHeaders::new(&verify, 42);
            let mut block = vec![7; 4096];
            headers.fill(&mut block, 0, 8192, 3);
            assert_eq!(headers.check(&block, mark(Generation::Any)), Ok(()));
            assert_eq!(block[1024..1032], (8192u64 + 1024).to_le_bytes());
            block[3000] ^= 1;
            assert!(headers.check(&block, mark(Generation::Any)).is_err());
        }
    }

    /// Each interval of a block had the pattern from its first byte on, and its own offset for `%o`, so
    /// that a job with `verify_interval` called what fio 3.33 had written damaged, and the other way
    /// around. In fio the pattern goes through the whole block, with the offset of that.
    #[test]
    fn the_pattern_goes_through_a_block_of_several_intervals() {
        for checksum in [Checksum::Pattern, Checksum::PatternHeader, Checksum::Crc32c] {
            let mut headers = made(checksum, Some(512), 0);
            let mut block = vec![7; 4096];
            headers.fill(&mut block, 0, 8192, 3);
            let period = [0xab, 0xcd].into_iter().chain(8192u64.to_le_bytes());
            let expected: Vec<u8> = period.cycle().take(block.len()).collect();
            assert_eq!(block[700..1024], expected[700..1024], "{checksum:?}");
            assert_eq!(headers.check(&block, mark(Generation::Any)), Ok(()));
        }
        let mut headers = made(Checksum::PatternHeader, Some(512), 0);
        let mut block = vec![7; 4096];
        headers.fill(&mut block, 0, 8192, 3);
        block[700] ^= 1;
        let flaw = headers.check(&block, mark(Generation::Any)).unwrap_err();
        let is_there = matches!(flaw.kind, MiscompareKind::Pattern { at, .. } if at == 700 - 512);
        assert!(is_there && flaw.offset == 8192 + 512, "{flaw:?}");
    }

    #[test]
    fn several_jobs_may_write_the_same_blocks() {
        let verify = Verify {
            any_write: true,
            ..Verify::new(Checksum::Crc32c)
        };
        let mut block = vec![7; 4096];
        BlockHeaders::new(&verify, 1).fill(&mut block, 0, 8192, 3);
        let mut other = BlockHeaders::new(&verify, 2);
        assert_eq!(other.check(&block, mark(Generation::Exactly(9))), Ok(()));
        block[4000] ^= 1;
        let flaw = other.check(&block, mark(Generation::Exactly(9)));
        assert_eq!(
            flaw.map_err(|flaw| flaw.kind),
            Err(MiscompareKind::Checksum)
        );
    }

    /// The story: sequential writes of any seed had the same headers, so a file of an earlier run passed
    /// for what the last one had written.
    #[test]
    fn what_another_seed_wrote_is_told_apart() {
        let headers = |same_seed, run| {
            let verify = Verify {
                same_seed,
                any_write: same_seed,
                ..Verify::new(Checksum::Crc32c)
            };
            BlockHeaders::new(&verify, run)
        };
        let mut block = vec![7; 4096];
        headers(false, 1).fill(&mut block, 0, 8192, 3);
        let other = Err(MiscompareKind::OtherSeed {
            found: 1,
            expected: 2,
        });
        let check = |mut headers: BlockHeaders, generation| {
            let checked = headers.check(&block, mark(generation));
            checked.map_err(|flaw| flaw.kind)
        };
        for own in [Generation::Exactly(3), Generation::AtLeast(3)] {
            assert_eq!(check(headers(false, 2), own), other, "{own:?}");
        }
        for earlier in [Generation::Earlier(3), Generation::Any] {
            assert_eq!(check(headers(false, 2), earlier), Ok(()), "{earlier:?}");
            assert_eq!(check(headers(true, 2), earlier), other, "{earlier:?}");
            assert_eq!(check(headers(true, 1), earlier), Ok(()), "{earlier:?}");
        }
    }

    #[test]
    fn the_numbers_of_writes_begin_anew() {
        const ROUND: u64 = 1 << 32;
        assert!(is_before(3, 4) && !is_before(4, 4) && !is_before(5, 4));
        assert!(is_before(ROUND - 1, ROUND + 1) && !is_before(ROUND + 1, ROUND - 1));
        let mut headers = made(Checksum::Crc32c, None, 0);
        let mut block = vec![7; 4096];
        headers.fill(&mut block, 0, 8192, ROUND + 5);
        let exactly = mark(Generation::Exactly(ROUND + 5));
        assert_eq!(headers.check(&block, exactly), Ok(()));
    }

    proptest! {
        /// One flipped bit anywhere is found, and reported with the interval that it is in.
        #[test]
        fn a_flipped_bit_is_found(byte in 0usize..4096, bit in 0u8..8) {
            for checksum in [Checksum::Crc32c, Checksum::Xxhash, Checksum::PatternHeader] {
                let mut headers = made(checksum, Some(1024), 0);
                let mut block = vec![7; 4096];
                headers.fill(&mut block, 0, 8192, 3);
                block[byte] ^= 1 << bit;
                let flaw = headers.check(&block, mark(Generation::Exactly(3))).unwrap_err();
                prop_assert_eq!(flaw.offset, 8192 + (byte as u64) / 1024 * 1024);
            }
        }

        /// Whatever was read, checking it is no panic.
        #[test]
        fn any_bytes_can_be_checked(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
            for checksum in KINDS {
                let _ = made(checksum, Some(512), 0).check(&bytes, mark(Generation::Any));
            }
        }
    }
}
