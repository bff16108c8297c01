//! The checksums that written data can carry.

use crc::{CRC_7_MMC, CRC_16_IBM_SDLC, CRC_64_XZ, Crc, Table};
use sha2::Digest;

/// How written data is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// CRC-7 as SD cards use it.
    Crc7,
    /// CRC-16 of HDLC.
    Crc16,
    /// CRC-32 of Ethernet and zip.
    Crc32,
    /// CRC-32C of iSCSI and Btrfs; an instruction of the processor.
    Crc32c,
    /// CRC-64 of xz.
    Crc64,
    /// XXH3, 64 bits.
    Xxhash,
    /// MD5.
    Md5,
    /// SHA-1.
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
    /// Headers are written and read back, but nothing is compared.
    Null,
}

/// Longest digest in bytes.
pub(super) const LONGEST: usize = 64;

const CRC7: Crc<u8> = Crc::<u8>::new(&CRC_7_MMC);
const CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_IBM_SDLC);
const CRC64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_XZ);

impl Checksum {
    /// Whether data carries a header.
    #[must_use]
    pub const fn has_header(self) -> bool {
        !matches!(self, Self::Pattern)
    }

    /// Bytes of its digest.
    #[must_use]
    pub const fn len(self) -> usize {
        match self {
            Self::Header | Self::Pattern | Self::PatternHeader | Self::Null => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64 | Self::Xxhash => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha3_256 => 32,
            Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 => 64,
        }
    }

    /// Whether it has no digest.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The digest of two pieces one after the other; [`Checksum::len`] bytes of it count.
    pub(super) fn of(self, first: &[u8], second: &[u8]) -> [u8; LONGEST] {
        let mut digest = [0; LONGEST];
        let mut put = |bytes: &[u8]| digest[..bytes.len()].copy_from_slice(bytes);
        match self {
            Self::Header | Self::Pattern | Self::PatternHeader | Self::Null => {}
            Self::Crc7 => {
                let mut crc = CRC7.digest();
                crc.update(first);
                crc.update(second);
                put(&[crc.finalize()]);
            }
            Self::Crc16 => {
                let mut crc = CRC16.digest();
                crc.update(first);
                crc.update(second);
                put(&crc.finalize().to_le_bytes());
            }
            Self::Crc64 => {
                let mut crc = CRC64.digest();
                crc.update(first);
                crc.update(second);
                put(&crc.finalize().to_le_bytes());
            }
            Self::Crc32 => {
                let mut crc = crc32fast::Hasher::new();
                crc.update(first);
                crc.update(second);
                put(&crc.finalize().to_le_bytes());
            }
            Self::Crc32c => {
                let crc = crc32c::crc32c_append(crc32c::crc32c(first), second);
                put(&crc.to_le_bytes());
            }
            Self::Xxhash => {
                let seed = xxhash_rust::xxh3::xxh3_64(first);
                let hash = xxhash_rust::xxh3::xxh3_64_with_seed(second, seed);
                put(&hash.to_le_bytes());
            }
            Self::Md5 => put(&hashed::<md5::Md5>(first, second)),
            Self::Sha1 => put(&hashed::<sha1::Sha1>(first, second)),
            Self::Sha256 => put(&hashed::<sha2::Sha256>(first, second)),
            Self::Sha512 => put(&hashed::<sha2::Sha512>(first, second)),
            Self::Sha3_224 => put(&hashed::<sha3::Sha3_224>(first, second)),
            Self::Sha3_256 => put(&hashed::<sha3::Sha3_256>(first, second)),
            Self::Sha3_384 => put(&hashed::<sha3::Sha3_384>(first, second)),
            Self::Sha3_512 => put(&hashed::<sha3::Sha3_512>(first, second)),
        }
        digest
    }
}

fn hashed<D: Digest>(first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut digest = D::new();
    digest.update(first);
    digest.update(second);
    digest.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(checksum: Checksum, expected: &str) {
        let digest = checksum.of(b"1234", b"56789");
        let hex: String = digest[..checksum.len()]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hex, expected);
    }

    /// The published check values of `123456789`; those of numbers stand here in little endian.
    #[test]
    fn digests_are_those_of_the_standards() {
        check(Checksum::Crc7, "75");
        check(Checksum::Crc16, "6e90");
        check(Checksum::Crc32, "2639f4cb");
        check(Checksum::Crc32c, "839206e3");
        check(Checksum::Crc64, "fa3919dfbbc95d99");
        check(Checksum::Md5, "25f9e794323b453885f5181f1b624d0b");
        check(Checksum::Sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441");
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
            let whole = checksum.of(b"storage", b"bench");
            assert!(whole[checksum.len()..].iter().all(|byte| *byte == 0));
            assert_ne!(whole, checksum.of(b"storage", b"bencH"), "{checksum:?}");
            assert_ne!(whole, checksum.of(b"sTorage", b"bench"), "{checksum:?}");
        }
    }
}
