//! The checksums that written data can carry, each in the form in which fio's headers hold it.

use crc::{CRC_7_MMC, CRC_16_ARC, CRC_32_CKSUM, CRC_64_REDIS, Crc, Table};
use sha2::Digest;
use xxhash_rust::xxh32::Xxh32;

/// How written data is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// CRC-7 as SD cards use it.
    Crc7,
    /// CRC-16 of ARC.
    Crc16,
    /// CRC-32 of POSIX `cksum`, not inverted at the end.
    Crc32,
    /// CRC-32C of iSCSI, not inverted at the end; an instruction of the processor.
    Crc32c,
    /// CRC-64 of Jones, as Redis uses it.
    Crc64,
    /// XXH32 of seed 1.
    Xxhash,
    /// MD5.
    Md5,
    /// SHA-1, its five words in little endian.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// The header alone: which write it was, and nothing of the data after it.
    Header,
    /// No header; the pattern itself is compared.
    Pattern,
    /// A header, and the pattern is compared.
    PatternHeader,
    /// Data is written and read back, but nothing is compared.
    Null,
}

/// Longest room of a digest in bytes.
pub const LONGEST: usize = 128;

const CRC7: Crc<u8> = Crc::<u8>::new(&CRC_7_MMC);
const CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
const CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_CKSUM);
const CRC64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

impl Checksum {
    /// Whether data carries a header.
    #[must_use]
    pub const fn has_header(self) -> bool {
        !matches!(self, Self::Pattern | Self::Null)
    }

    /// Bytes of its digest.
    #[must_use]
    pub const fn len(self) -> usize {
        match self {
            Self::Header | Self::Pattern | Self::PatternHeader | Self::Null => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::Xxhash => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha3_256 => 32,
            Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 => 64,
        }
    }

    /// Bytes behind the header that are its own; the digest stands at their beginning.
    #[must_use]
    pub const fn room(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
            other => other.len(),
        }
    }

    /// What a header calls it.
    pub(super) const fn code(self) -> u16 {
        match self {
            Self::Header => 1,
            Self::Md5 => 2,
            Self::Crc64 => 3,
            Self::Crc32 => 4,
            Self::Crc32c => 5,
            Self::Crc16 => 7,
            Self::Crc7 => 8,
            Self::Sha256 => 9,
            Self::Sha512 => 10,
            Self::Sha3_224 => 11,
            Self::Sha3_256 => 12,
            Self::Sha3_384 => 13,
            Self::Sha3_512 => 14,
            Self::Xxhash => 15,
            Self::Sha1 => 16,
            Self::Pattern => 17,
            Self::PatternHeader => 18,
            Self::Null => 19,
        }
    }

    /// Whether others' headers hold this digest in a form that says nothing of the data: fio 3.33
    /// leaves there what its own reckoning had in store.
    pub(super) const fn is_private(self) -> bool {
        matches!(self, Self::Sha256 | Self::Sha512)
    }

    /// Whether it has no digest.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The digest of pieces one after the other; [`Checksum::len`] bytes of it count.
    #[must_use]
    pub fn of(self, pieces: &[&[u8]]) -> [u8; LONGEST] {
        let mut digest = [0; LONGEST];
        let mut put = |bytes: &[u8]| digest[..bytes.len()].copy_from_slice(bytes);
        match self {
            Self::Header | Self::Pattern | Self::PatternHeader | Self::Null => {}
            Self::Crc7 => {
                let mut crc = CRC7.digest();
                pieces.iter().for_each(|piece| crc.update(piece));
                put(&[crc.finalize()]);
            }
            Self::Crc16 => {
                let mut crc = CRC16.digest();
                pieces.iter().for_each(|piece| crc.update(piece));
                put(&crc.finalize().to_le_bytes());
            }
            Self::Crc64 => {
                let mut crc = CRC64.digest();
                pieces.iter().for_each(|piece| crc.update(piece));
                put(&crc.finalize().to_le_bytes());
            }
            Self::Crc32 => {
                let mut crc = CRC32.digest();
                pieces.iter().for_each(|piece| crc.update(piece));
                put(&(!crc.finalize()).to_le_bytes());
            }
            Self::Crc32c => {
                let crc = |crc, piece: &&[u8]| crc32c::crc32c_append(crc, piece);
                put(&(!pieces.iter().fold(0, crc)).to_le_bytes());
            }
            Self::Xxhash => {
                let mut hash = Xxh32::new(1);
                pieces.iter().for_each(|piece| hash.update(piece));
                put(&hash.digest().to_le_bytes());
            }
            Self::Md5 => put(&hashed::<md5::Md5>(pieces)),
            Self::Sha1 => {
                let mut words = hashed::<sha1::Sha1>(pieces);
                words.chunks_mut(4).for_each(<[u8]>::reverse);
                put(&words);
            }
            Self::Sha256 => put(&hashed::<sha2::Sha256>(pieces)),
            Self::Sha512 => put(&hashed::<sha2::Sha512>(pieces)),
            Self::Sha3_224 => put(&hashed::<sha3::Sha3_224>(pieces)),
            Self::Sha3_256 => put(&hashed::<sha3::Sha3_256>(pieces)),
            Self::Sha3_384 => put(&hashed::<sha3::Sha3_384>(pieces)),
            Self::Sha3_512 => put(&hashed::<sha3::Sha3_512>(pieces)),
        }
        digest
    }
}

fn hashed<D: Digest>(pieces: &[&[u8]]) -> Vec<u8> {
    let mut digest = D::new();
    pieces.iter().for_each(|piece| digest.update(piece));
    digest.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(checksum: Checksum, expected: &str) {
        let digest = checksum.of(&[b"1234", b"56789"]);
        let hex: String = digest[..checksum.len()]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hex, expected);
    }

    /// The published check values of `123456789`; those of numbers stand here in little endian,
    /// and those of CRC-32 and CRC-32C without the inversion at the end.
    #[test]
    fn digests_are_those_of_the_standards() {
        check(Checksum::Crc7, "75");
        check(Checksum::Crc16, "3dbb");
        check(Checksum::Crc32, "7f89a189");
        check(Checksum::Crc32c, "7c6df91c");
        check(Checksum::Crc64, "cad9b8c414d9c6e9");
        check(Checksum::Xxhash, "8c9161f2");
        check(Checksum::Md5, "25f9e794323b453885f5181f1b624d0b");
        check(Checksum::Sha1, "1dbcc3f773048e809967df2a4cc3cc654134aea7");
        check(
            Checksum::Sha256,
            "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
        );
    }

    #[test]
    fn every_digest_has_its_length_and_sees_one_bit() {
        use Checksum::{
            Crc7, Crc16, Crc32, Crc32c, Crc64, Md5, Sha1, Sha3_224, Sha3_256, Sha3_384, Sha3_512,
            Sha256, Sha512, Xxhash,
        };
        for checksum in [
            Crc7, Crc16, Crc32, Crc32c, Crc64, Xxhash, Md5, Sha1, Sha256, Sha512, Sha3_224,
            Sha3_256, Sha3_384, Sha3_512,
        ] {
            let whole = checksum.of(&[b"storage", b"bench"]);
            assert!(whole[checksum.len()..].iter().all(|byte| *byte == 0));
            assert_ne!(whole, checksum.of(&[b"storage", b"bencH"]), "{checksum:?}");
            assert_ne!(whole, checksum.of(&[b"sTorage", b"bench"]), "{checksum:?}");
        }
    }
}
