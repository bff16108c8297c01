//! How data is verified when it is read back.

use std::sync::Arc;

use blocklab_units::{Bytes, with_defaults};
use serde::{Deserialize, Serialize};

with_defaults! {
    /// How a job makes sure that what it wrote is what comes back.
    ///
    /// Writes get a header in each interval, which identifies the write. Reads of a job
    /// that does not write are checked as they come; a job that writes reads everything back when its
    /// writes are done, by its `when`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Verify {
        /// How data is recognised.
        pub checksum: Checksum = Checksum::Crc32c,
        /// Bytes that a header covers; `None`: a block. Blocks are whole multiples of it.
        pub interval: Option<Bytes> = None,
        /// Where in its interval the header stands.
        pub offset: Bytes = Bytes::ZERO,
        /// What fills an interval; `None`: the content of the job.
        #[serde(with = "crate::kept::shared")]
        pub pattern: Option<Arc<[PatternPart]>> = None,
        /// The pattern begins anew after so many bytes of an interval, with the offset of that place;
        /// nothing: it is one of the whole interval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern_interval: Option<Bytes> = None,
        /// Whether a block may hold any write of its place: several jobs share their blocks.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub any_write: bool = false,
        /// Whether what an earlier run wrote must have had the seed of this run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub same_seed: bool = false,
        /// When it is read back.
        pub when: When = When::AfterWrites,
        /// Bytes moved by a thread after which it reads back what it wrote of them, and then goes on;
        /// nothing: only at the end.
        pub pass: Option<Bytes> = None,
        /// The first flaw ends the job. Otherwise all of them are counted.
        pub fatal: bool = false,
        /// Where the time ends the writes, what was not read back by then never is.
        pub in_time: bool = false,
        /// Keep the bytes of so many flawed blocks.
        pub keep: u32 = 0,
        /// Check only what the first so many writes of each thread left.
        pub first: Option<u64> = None,
        /// Ranges that were trimmed must read as zeros.
        pub trimmed_zero: bool = false,
        /// Trim a part of what was written before it is read back.
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

/// What a job trims of what it wrote, while it goes on writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trims {
    /// Share of the writes that are chosen for it, in per cent.
    pub percent: u8,
    /// Each time that so many writes wait to be read back; at least 1.
    pub every: u64,
    /// This many of the chosen ones, the oldest first; at least 1.
    pub batch: u64,
}

/// When a job that writes reads back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Not at all: another job or another run does.
    Never,
    /// When all is written.
    AfterWrites,
    /// After every `every` writes the oldest `batch` of them, and the rest at the end.
    Backlog {
        /// At least 1.
        every: u64,
        /// At least 1.
        batch: u64,
    },
    /// Nothing is written: what an earlier run of the same job with the same seed wrote is read.
    Only,
    /// Nothing is written: what any job wrote is read where this one would have written.
    OnlyPlaces,
}

impl When {
    /// Whether nothing is written.
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
    /// The offset of the interval in its target: eight bytes, little endian.
    Offset,
}

/// Bytes of a header without its digest.
pub const HEADER_LEN: usize = 40;

/// How written data is recognised; the number is what a header calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u16)]
pub enum Checksum {
    /// CRC-7 as SD cards use it.
    Crc7 = 8,
    /// CRC-16 of ARC.
    Crc16 = 7,
    /// CRC-32 of POSIX `cksum`, not inverted at the end.
    Crc32 = 4,
    /// CRC-32C of iSCSI, not inverted at the end; an instruction of the processor.
    Crc32c = 5,
    /// CRC-64 of Jones, as Redis uses it.
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
    /// The header alone: which write it was, and nothing of the data after it.
    Header = 1,
    /// No header; the pattern itself is compared.
    Pattern = 17,
    /// A header, and the pattern is compared.
    PatternHeader = 18,
    /// Data is written and read back, but nothing is compared.
    Null = 19,
}

impl Checksum {
    /// Whether data carries a header.
    pub const fn has_header(self) -> bool {
        !matches!(self, Self::Pattern | Self::Null)
    }

    /// Bytes of its digest.
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
    pub const fn room(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
            other => other.len(),
        }
    }

    /// Whether it has no digest.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether others' headers hold this digest in a form that does not depend on the data: fio 3.33
    /// leaves there what its own reckoning had in store.
    pub const fn is_private(self) -> bool {
        matches!(self, Self::Sha256 | Self::Sha512)
    }
}

/// How the keys of a storage are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlan {
    /// Name of the storage; its first eight bytes stand in every sector.
    pub name: String,
    /// Bytes that share one key: a multiple of 512.
    pub block: u64,
    /// Share of the data that is zeros, so that it compresses.
    pub compress_percent: u8,
    /// Whether the last good operation of each block is remembered: 16 bytes a block.
    pub times: bool,
}
