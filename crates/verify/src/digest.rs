//! In: written data. Out: its checksum, in the form in which fio's headers hold it.

use blocklab_workload::Checksum;
use crc::{CRC_7_MMC, CRC_16_ARC, CRC_32_CKSUM, CRC_64_REDIS, Crc, Table};
use sha2::Digest;
use xxhash_rust::xxh32::Xxh32;

/// Longest room of a digest in bytes.
pub(crate) const LONGEST: usize = 128;

const CRC7: Crc<u8> = Crc::<u8>::new(&CRC_7_MMC);
const CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
const CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_CKSUM);
const CRC64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// The digest of the pieces in order; its first [`Checksum::digest_len`] bytes count.
pub(crate) fn digest(checksum: Checksum, pieces: &[&[u8]]) -> [u8; LONGEST] {
    macro_rules! crc {
        ($table:ident) => {{
            let mut crc = $table.digest();
            pieces.iter().for_each(|piece| crc.update(piece));
            crc.finalize()
        }};
    }
    match checksum {
        Checksum::Header | Checksum::Pattern | Checksum::PatternHeader | Checksum::Null => {
            [0; LONGEST]
        }
        Checksum::Crc7 => padded(&[crc!(CRC7)]),
        Checksum::Crc16 => padded(&crc!(CRC16).to_le_bytes()),
        Checksum::Crc64 => padded(&crc!(CRC64).to_le_bytes()),
        // fio leaves out the inversion at the end of both CRCs of 32 bits.
        Checksum::Crc32 => padded(&(!crc!(CRC32)).to_le_bytes()),
        Checksum::Crc32c => {
            let crc = pieces
                .iter()
                .fold(0, |crc, piece| crc32c::crc32c_append(crc, piece));
            padded(&(!crc).to_le_bytes())
        }
        Checksum::Xxhash => {
            let mut hash = Xxh32::new(1);
            pieces.iter().for_each(|piece| hash.update(piece));
            padded(&hash.digest().to_le_bytes())
        }
        Checksum::Md5 => padded(&hashed::<md5::Md5>(pieces)),
        Checksum::Sha1 => {
            // fio stores the five words of SHA-1 in the byte order of a little-endian machine.
            let mut words = hashed::<sha1::Sha1>(pieces);
            words.chunks_mut(4).for_each(<[u8]>::reverse);
            padded(&words)
        }
        Checksum::Sha256 => padded(&hashed::<sha2::Sha256>(pieces)),
        Checksum::Sha512 => padded(&hashed::<sha2::Sha512>(pieces)),
        Checksum::Sha3_224 => padded(&hashed::<sha3::Sha3_224>(pieces)),
        Checksum::Sha3_256 => padded(&hashed::<sha3::Sha3_256>(pieces)),
        Checksum::Sha3_384 => padded(&hashed::<sha3::Sha3_384>(pieces)),
        Checksum::Sha3_512 => padded(&hashed::<sha3::Sha3_512>(pieces)),
    }
}

fn padded(bytes: &[u8]) -> [u8; LONGEST] {
    let mut digest = [0; LONGEST];
    digest[..bytes.len()].copy_from_slice(bytes);
    digest
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
        let digest = digest(checksum, &[b"1234", b"56789"]);
        let hex: String = digest[..checksum.digest_len()]
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
            let whole = digest(checksum, &[b"storage", b"bench"]);
            assert!(whole[checksum.digest_len()..].iter().all(|byte| *byte == 0));
            assert_ne!(
                whole,
                digest(checksum, &[b"storage", b"bencH"]),
                "{checksum:?}"
            );
            assert_ne!(
                whole,
                digest(checksum, &[b"sTorage", b"bench"]),
                "{checksum:?}"
            );
        }
    }
}
