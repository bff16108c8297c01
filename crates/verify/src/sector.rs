//! In: the offset, key and storage of a sector. Out: its 512 bytes, or what is wrong with those that
//! were read.
//!
//! ```text
//!    0  offset of the sector on its storage   8
//!    8  when it was written                   8   microseconds since 1970
//!   16  key, 1 to 126                         1   which write of its block it is
//!   17  exclusive or of 0…16 and 24…31        1
//!   18  zeros                                 6
//!   24  name of the storage                   8   truncated, or padded with blanks
//!   32  data                                480   noise from offset, key and name; then zeros, if
//!                                                 the data should be compressible
//! ```
//!
//! Numbers are big endian. Every byte but the time follows from offset, key and name, so a sector
//! can be compared without a copy of what was written.

use crate::saved_keys::number;

/// Bytes of a sector, which has an offset and a key of its own.
pub const SECTOR: usize = 512;

const HEAD: usize = 32;
const DATA: usize = SECTOR - HEAD;

/// Writes and compares the sectors of one storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sectors {
    name: [u8; 8],
    noise: usize,
}

/// A sector that is not the expected one, with the header that was found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongSector {
    /// Where it was read, in bytes from the beginning of the storage.
    pub offset: u64,
    /// What is wrong with it.
    pub kind: WrongKind,
    /// The offset in its header.
    pub found_offset: u64,
    /// The key in its header.
    pub found_key: u8,
    /// The name in its header.
    pub found_name: [u8; 8],
    /// The time of the write in its header: microseconds since 1970.
    pub found_micros: u64,
}

/// What is wrong with a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongKind {
    /// Only zeros: a write never arrived, or something erased it.
    #[error("only zeros")]
    Empty,
    /// No header that this program wrote.
    #[error("no valid sector header")]
    Damaged,
    /// Written for another storage.
    #[error("written for another storage")]
    OtherStorage,
    /// Written for another place of this storage.
    #[error("written for another place")]
    OtherPlace,
    /// An earlier write of this place: a later one was lost.
    #[error("another write of this place")]
    Stale,
    /// The right header, but from this byte of the sector on other data than was written.
    #[error("changed data from byte {0} on")]
    Data(usize),
}

impl Sectors {
    /// Sectors of the storage of this name; `compress_percent` of their data are zeros.
    pub fn new(name: &str, compress_percent: u8) -> Self {
        let mut bytes = [b' '; 8];
        for (place, byte) in bytes.iter_mut().zip(name.bytes()) {
            *place = byte;
        }
        let noise = DATA * usize::from(100 - compress_percent.min(100)) / 100;
        Self {
            name: bytes,
            noise: noise.next_multiple_of(8).min(DATA),
        }
    }

    /// Fills the whole sectors of a block that will be written at `offset`.
    pub fn write(&self, block: &mut [u8], offset: u64, key: u8, micros: u64) {
        let mut at = offset;
        for sector in block.chunks_exact_mut(SECTOR) {
            sector[..8].copy_from_slice(&at.to_be_bytes());
            sector[8..16].copy_from_slice(&micros.to_be_bytes());
            sector[16] = key;
            sector[18..24].fill(0);
            sector[24..HEAD].copy_from_slice(&self.name);
            sector[17] = check(sector);
            let mut noise = self.noise_of(at, key);
            let (noisy, quiet) = sector[HEAD..].split_at_mut(self.noise);
            for word in noisy.chunks_exact_mut(8) {
                word.copy_from_slice(&noise.next());
            }
            quiet.fill(0);
            at += SECTOR as u64;
        }
    }

    /// All sectors that differ from what [`Sectors::write`] wrote.
    pub fn wrong(&self, block: &[u8], offset: u64, key: u8) -> Vec<WrongSector> {
        block
            .chunks_exact(SECTOR)
            .zip((offset..).step_by(SECTOR))
            .filter_map(|(sector, at)| self.wrong_one(sector, at, key))
            .collect()
    }

    /// Whether the sector is what [`Sectors::write`] wrote.
    pub fn is_right(&self, sector: &[u8], offset: u64, key: u8) -> bool {
        self.wrong_one(sector, offset, key).is_none()
    }

    /// What is wrong with a sector; `None`: it is as it was written.
    fn wrong_one(&self, sector: &[u8], offset: u64, key: u8) -> Option<WrongSector> {
        let kind = self.verdict(sector, offset, key)?;
        let mut found_name = [0; 8];
        found_name.copy_from_slice(&sector[24..HEAD]);
        Some(WrongSector {
            offset,
            kind,
            found_offset: number(sector, 0),
            found_key: sector[16],
            found_name,
            found_micros: number(sector, 8),
        })
    }

    /// The first kind of damage that a sector shows; `None`: none.
    fn verdict(&self, sector: &[u8], offset: u64, key: u8) -> Option<WrongKind> {
        // A damaged head says nothing else. After this check its fields can be trusted.
        if sector[17] != check(sector)
            || sector[18..24] != [0; 6]
            || !(1..=126).contains(&sector[16])
        {
            let empty = sector.iter().all(|byte| *byte == 0);
            return Some(if empty {
                WrongKind::Empty
            } else {
                WrongKind::Damaged
            });
        }
        if sector[24..HEAD] != self.name {
            return Some(WrongKind::OtherStorage);
        }
        if number(sector, 0) != offset {
            return Some(WrongKind::OtherPlace);
        }
        if sector[16] != key {
            return Some(WrongKind::Stale);
        }
        self.first_change(&sector[HEAD..], offset, key)
            .map(|at| WrongKind::Data(HEAD + at))
    }

    /// The first byte of the data that is not as it was written.
    fn first_change(&self, data: &[u8], offset: u64, key: u8) -> Option<usize> {
        let mut noise = self.noise_of(offset, key);
        let (noisy, quiet) = data.split_at(self.noise);
        for (index, word) in noisy.chunks_exact(8).enumerate() {
            let expected = noise.next();
            if word != expected {
                let differs = word.iter().zip(expected).position(|(a, b)| *a != b);
                return Some(index * 8 + differs.unwrap_or(0));
            }
        }
        let changed = quiet.iter().position(|byte| *byte != 0)?;
        Some(self.noise + changed)
    }

    fn noise_of(&self, offset: u64, key: u8) -> Noise {
        let name = u64::from_be_bytes(self.name);
        Noise(offset ^ u64::from(key).rotate_right(8) ^ name.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Knuth's linear congruential sequence with its weak low bits folded away. It costs a nanosecond a
/// word, and no compressor makes it smaller.
struct Noise(u64);

impl Noise {
    #[inline]
    const fn next(&mut self) -> [u8; 8] {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ (self.0 >> 33)).to_be_bytes()
    }
}

fn check(sector: &[u8]) -> u8 {
    let covered = sector[..17].iter().chain(&sector[24..HEAD]);
    // The start value is not 0, so that a sector of zeros has no valid header.
    covered.fold(0xa5, |sum, byte| sum ^ byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINE: &str = "sd1";

    fn block(key: u8) -> Vec<u8> {
        let mut block = vec![0x55; 4096];
        Sectors::new(MINE, 0).write(&mut block, 8192, key, 77);
        block
    }

    #[track_caller]
    fn check(block: &[u8], offset: u64, key: u8, expected: &[WrongKind]) {
        let kinds: Vec<WrongKind> = Sectors::new(MINE, 0)
            .wrong(block, offset, key)
            .iter()
            .map(|sector| sector.kind)
            .collect();
        assert_eq!(kinds, expected);
    }

    #[test]
    fn what_was_written_is_right_and_all_else_is_named() {
        use WrongKind::{Damaged, Data, Empty, OtherPlace, OtherStorage, Stale};
        check(&block(3), 8192, 3, &[]);
        check(&block(3), 8192, 4, &[Stale; 8]);
        check(&block(3), 4096, 3, &[OtherPlace; 8]);
        check(&[0; 1024], 8192, 3, &[Empty; 2]);
        check(&[7; 512], 8192, 3, &[Damaged]);
        let mut foreign = vec![0; 512];
        Sectors::new("sd2", 0).write(&mut foreign, 8192, 3, 77);
        check(&foreign, 8192, 3, &[OtherStorage]);
        let mut changed = block(3);
        changed[512 + 100] ^= 1;
        check(&changed, 8192, 3, &[Data(100)]);
    }

    #[test]
    fn a_wrong_sector_tells_what_stands_in_it() {
        let sector = Sectors::new(MINE, 0).wrong(&block(3), 8192, 4)[1];
        assert_eq!((sector.offset, sector.found_offset), (8704, 8704));
        assert_eq!((sector.found_key, sector.found_micros), (3, 77));
        assert_eq!(&sector.found_name, b"sd1     ");
    }

    #[test]
    fn data_that_is_to_compress_ends_in_zeros() {
        let half = Sectors::new(MINE, 50);
        let mut block = vec![0x55; 512];
        half.write(&mut block, 0, 1, 0);
        assert!(block[32 + 240..].iter().all(|byte| *byte == 0));
        assert!(half.is_right(&block, 0, 1));
        block[511] = 1;
        assert!(!half.is_right(&block, 0, 1));
    }

    proptest! {
        /// One flipped bit anywhere but in the time is found.
        #[test]
        fn a_flipped_bit_is_found(byte in 0usize..512, bit in 0u8..8) {
            let mut block = block(3);
            block[byte] ^= 1 << bit;
            let right = Sectors::new(MINE, 0).is_right(&block[..512], 8192, 3);
            prop_assert!(!right);
        }
    }
}
