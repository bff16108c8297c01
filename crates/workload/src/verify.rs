//! The settings by which a job verifies its data, as plain data: the languages fill them, `worker`
//! and `verify` follow them.

use std::sync::Arc;

use blocklab_units::{Bytes, with_defaults};
use serde::{Deserialize, Serialize};

with_defaults! {
    /// How a job checks that reads return what was written.
    ///
    /// Writes get a header in each interval, which identifies the write. A job that only reads checks
    /// all its reads; a job that writes reads its data back, at the time that `when` gives.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Verify {
        /// What identifies and protects the data.
        pub checksum: Checksum = Checksum::Crc32c,
        /// Bytes that a header covers; `None`: a block. Blocks are multiples of it.
        pub interval: Option<Bytes> = None,
        /// Offset of the header in its interval.
        pub offset: Bytes = Bytes::ZERO,
        /// What fills a block; `None`: the content of the job.
        pub pattern: Option<Arc<[PatternPart]>> = None,
        /// The pattern begins again after this many bytes of a block, with the offset of that place;
        /// `None`: one pattern for the whole block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern_interval: Option<Bytes> = None,
        /// Whether a block may hold any write of its place, because several jobs share their blocks.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub any_write: bool = false,
        /// Whether data of an earlier run must have the seed of this run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub same_seed: bool = false,
        /// When the data is read back.
        pub when: When = When::AfterWrites,
        /// Bytes after which a thread reads back what it wrote of them, and then goes on; `None`:
        /// only at the end.
        pub pass: Option<Bytes> = None,
        /// The first miscompare ends the job. Otherwise all are counted.
        pub fatal: bool = false,
        /// If the runtime ends the writes, data that was not read back by then is left unchecked.
        pub in_time: bool = false,
        /// Number of miscompares whose bytes are saved.
        pub keep: u32 = 0,
        /// Check only this many writes of each thread, the first ones.
        pub first: Option<u64> = None,
        /// Trimmed ranges must read as zeros.
        pub trimmed_zero: bool = false,
        /// Trim a part of the data before it is read back.
        pub trims: Option<Trims> = None,
    }
}

impl Verify {
    /// The usual settings: read back when all is written.
    pub fn new(checksum: Checksum) -> Self {
        Self {
            checksum,
            ..Self::default()
        }
    }
}

/// Which of its writes a job trims while it goes on writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trims {
    /// Share of the writes that are chosen for a trim, in per cent.
    pub percent: u8,
    /// It trims each time this many writes wait to be read back; at least 1.
    pub every: u64,
    /// Number of chosen writes that it then trims, the oldest first; at least 1.
    pub batch: u64,
}

/// When a job that writes reads back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Never: another job or another run does.
    Never,
    /// When all writes are done.
    AfterWrites,
    /// After every `every` writes the oldest `batch` of them, and the rest at the end.
    Backlog {
        /// At least 1.
        every: u64,
        /// At least 1.
        batch: u64,
    },
    /// The job does not write, but reads what an earlier run of it with the same seed wrote.
    Only,
    /// The job does not write, but reads the places where it would have written, whoever wrote there.
    OnlyPlaces,
}

impl When {
    /// Whether the job does not write.
    pub const fn is_only(self) -> bool {
        matches!(self, Self::Only | Self::OnlyPlaces)
    }
}

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternPart {
    /// These bytes.
    Bytes(#[serde(with = "crate::kept::hex")] Vec<u8>),
    /// The offset of the block, or of the stretch in which the pattern began anew, in its target: eight
    /// bytes, little endian.
    Offset,
}

/// Bytes of a header without its digest.
pub const HEADER_LEN: usize = 40;

/// What identifies and protects written data; the number is its code in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u16)]
pub enum Checksum {
    /// CRC-7 of SD cards.
    Crc7 = 8,
    /// CRC-16 of ARC.
    Crc16 = 7,
    /// CRC-32 of POSIX `cksum`, not inverted at the end.
    Crc32 = 4,
    /// CRC-32C of iSCSI, not inverted at the end; an instruction of the processor.
    Crc32c = 5,
    /// CRC-64 of Jones, which Redis uses.
    Crc64 = 3,
    /// XXH32 of seed 1.
    Xxhash = 15,
    /// MD5.
    Md5 = 2,
    /// SHA-1, its five words in little endian.
    Sha1 = 16,
    /// SHA-256.
    Sha256 = 9,
    /// SHA-512.
    Sha512 = 10,
    /// SHA3-224.
    Sha3_224 = 11,
    /// SHA3-256.
    Sha3_256 = 12,
    /// SHA3-384.
    Sha3_384 = 13,
    /// SHA3-512.
    Sha3_512 = 14,
    /// The header alone, which identifies the write and does not protect the data.
    Header = 1,
    /// A header, and the pattern is compared.
    PatternHeader = 17,
    /// No header; the pattern itself is compared.
    Pattern = 18,
    /// Data is written and read back, but nothing is compared.
    Null = 19,
}

impl Checksum {
    /// Whether data carries a header.
    pub const fn has_header(self) -> bool {
        !matches!(self, Self::Pattern | Self::Null)
    }

    /// Bytes of its digest.
    pub const fn digest_len(self) -> usize {
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

    /// Bytes that it takes after the header; the digest is at their beginning. fio reserves twice its
    /// length for some.
    pub const fn room(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
            other => other.digest_len(),
        }
    }

    /// Whether only our own headers hold a usable digest: fio 3.33 writes bytes of its internal state
    /// instead, which do not depend on the data.
    pub const fn is_private(self) -> bool {
        matches!(self, Self::Sha256 | Self::Sha512)
    }
}

/// How the keys of a storage are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlan {
    /// Name of the storage; its first eight bytes are in every sector.
    pub name: String,
    /// Bytes that share one key: a multiple of 512.
    pub block: u64,
    /// Share of the data that is zeros, so that it compresses.
    pub compress_percent: u8,
    /// Whether the last good operation of each block is recorded, at 16 bytes a block.
    pub times: bool,
}
