//! The one way from a write that can be recognised to what was wrong with a read.
//!
//! ```text
//!   fill ─▶ write ─▶ read ─▶ compare with the expected block ─▶ miscompares
//! ```

use std::sync::Arc;

use crate::block_header::{BlockHeaders, ExpectedBlock, Generation};
use crate::key_map::KeyMap;
use crate::miscompare::Miscompare;

/// How written data is recognised.
pub enum DataCheck {
    /// Verify by headers, and by the writes that a worker remembers.
    Headers(BlockHeaders),
    /// Verify by the keys of a storage, which outlive the worker.
    Keys(Arc<KeyMap>),
}

impl DataCheck {
    /// Whether a write keeps nothing of what was in its buffer.
    pub const fn replaces_content(&self) -> bool {
        matches!(self, Self::Keys(_))
    }

    /// Makes the filled buffer of a write recognisable: that of this target, offset and generation,
    /// at so many microseconds since 1970.
    pub fn fill(
        &mut self,
        buffer: &mut [u8],
        (target, offset): (u32, u64),
        generation: u64,
        micros: u64,
    ) {
        match self {
            Self::Headers(headers) => headers.fill(buffer, target, offset, generation),
            Self::Keys(keys) => keys.fill(buffer, offset, micros),
        }
    }

    /// What was read and is not the expected block: at most one miscompare by headers.
    pub fn compare(
        &mut self,
        read: &[u8],
        expected: ExpectedBlock,
        micros: u64,
    ) -> Vec<Miscompare> {
        match self {
            Self::Headers(headers) => headers.check(read, expected).err().into_iter().collect(),
            Self::Keys(keys) => {
                let wrong = keys.compare(read, expected.offset, micros);
                wrong.into_iter().map(Miscompare::from).collect()
            }
        }
    }
}

impl ExpectedBlock {
    /// Whatever belongs there, whoever wrote it.
    pub const fn any(target: u32, offset: u64) -> Self {
        Self {
            target,
            offset,
            generation: Generation::Any,
        }
    }
}
