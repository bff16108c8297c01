//! In: a write to mark, or a read to compare. Out: the marked buffer, or the miscompares. Workers
//! call this without knowing whether headers or keys identify a write.
//!
//! ```text
//!   fill ─▶ write ─▶ read ─▶ compare with the expected block ─▶ miscompares
//! ```

use std::sync::Arc;

use crate::block_header::{BlockHeaders, ExpectedBlock, Generation};
use crate::key_map::KeyMap;
use crate::miscompare::Miscompare;

/// How a read is compared with what was written.
pub enum DataCheck {
    /// By headers, and by the writes that a worker remembers.
    Headers(BlockHeaders),
    /// By the keys of a storage, which outlive the worker.
    Keys(Arc<KeyMap>),
}

impl DataCheck {
    /// Whether [`Self::fill`] overwrites the whole buffer.
    pub const fn replaces_content(&self) -> bool {
        matches!(self, Self::Keys(_))
    }

    /// Marks the filled buffer of a write with its target, offset and generation. `micros` is the
    /// time of the write, in microseconds since 1970.
    pub fn fill(
        &mut self,
        buffer: &mut [u8],
        target: u32,
        offset: u64,
        generation: u64,
        micros: u64,
    ) {
        match self {
            Self::Headers(headers) => headers.fill(buffer, target, offset, generation),
            Self::Keys(keys) => keys.fill(buffer, offset, micros),
        }
    }

    /// Compares a read with the expected block. By headers it finds at most one miscompare.
    pub fn compare(
        &mut self,
        read: &[u8],
        expected: ExpectedBlock,
        micros: u64,
    ) -> Vec<Miscompare> {
        match self {
            Self::Headers(headers) => headers.check(read, expected).err().into_iter().collect(),
            Self::Keys(keys) => keys
                .compare(read, expected.offset, micros)
                .into_iter()
                .map(Miscompare::from)
                .collect(),
        }
    }
}

impl ExpectedBlock {
    /// A block whose writer is not known, so that only its header and checksum can be checked.
    pub const fn any(target: u32, offset: u64) -> Self {
        Self {
            target,
            offset,
            generation: Generation::Any,
        }
    }
}
