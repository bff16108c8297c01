use blocklab_units::Bytes;

/// What an operation does to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Direction {
    /// Data from the target.
    Read = 0,
    /// Data to the target.
    Write = 1,
    /// Space given back: discard, hole punching.
    Trim = 2,
    /// A flush: fsync or fdatasync.
    Sync = 3,
}

impl Direction {
    /// All four, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Sync];

    /// `read`, `write`, `trim`, `sync`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["read", "write", "trim", "sync"][self as usize]
    }
}
/// Shares of the directions in per cent; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// Reads.
    pub read: u8,
    /// Writes.
    pub write: u8,
    /// Trims.
    pub trim: u8,
}

impl Mix {
    /// Reads only.
    pub const READ: Self = Self {
        read: 100,
        write: 0,
        trim: 0,
    };
    /// Writes only.
    pub const WRITE: Self = Self {
        read: 0,
        write: 100,
        trim: 0,
    };
    /// Trims only.
    pub const TRIM: Self = Self {
        read: 0,
        write: 0,
        trim: 100,
    };
}

/// Block sizes with their weights (any positive numbers); one entry is a fixed size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeMix(pub Vec<(Bytes, u32)>);

impl SizeMix {
    /// One size, always.
    #[must_use]
    pub fn fixed(size: Bytes) -> Self {
        Self(vec![(size, 1)])
    }

    /// The largest size; zero where there is none.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.0
            .iter()
            .map(|(size, _)| *size)
            .max()
            .unwrap_or_default()
    }

    /// The smallest size; zero where there is none.
    #[must_use]
    pub fn smallest(&self) -> Bytes {
        self.0
            .iter()
            .map(|(size, _)| *size)
            .min()
            .unwrap_or_default()
    }
}

/// How a size is drawn from a [`SizeMix`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizeDraw {
    /// One of the list, by weight.
    #[default]
    Listed,
    /// Uniformly up to the largest of the list, rounded up to a multiple of the smallest, or to the
    /// largest where that is nearer. Weights do not matter.
    Multiples,
    /// Uniformly from the smallest to the largest of the list, any number of bytes.
    AnyByte,
}

/// Block sizes by direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSizes {
    /// Of reads.
    pub read: SizeMix,
    /// Of writes.
    pub write: SizeMix,
    /// Of trims.
    pub trim: SizeMix,
}

impl BlockSizes {
    /// The same fixed size for all directions.
    #[must_use]
    pub fn fixed(size: Bytes) -> Self {
        let mix = SizeMix::fixed(size);
        Self {
            read: mix.clone(),
            write: mix.clone(),
            trim: mix,
        }
    }

    /// The largest of all.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.read
            .largest()
            .max(self.write.largest())
            .max(self.trim.largest())
    }

    /// The smallest of all.
    #[must_use]
    pub fn smallest(&self) -> Bytes {
        self.read
            .smallest()
            .min(self.write.smallest())
            .min(self.trim.smallest())
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Zeros: many devices and file systems store them for free.
    Zero,
    /// Random bytes, made once a buffer; a counter in each 4 KiB keeps every block unique.
    Random,
    /// Random bytes, made once a buffer: each write from it has the same content.
    Same,
    /// Freshly random bytes for every write.
    Fresh,
    /// Each write is a part of one buffer of this size, which begins at a random multiple of 512
    /// bytes in it. The buffer holds random bytes, or those of [`crate::Job::fill`] again and
    /// again.
    Window {
        /// Bytes.
        size: Bytes,
    },
    /// A given entropy, made anew for every write.
    Shaped {
        /// Share of every block that compresses away, in per cent.
        compress_percent: u8,
        /// Share of the blocks that repeat an earlier one, in per cent.
        dedupe_percent: u8,
    },
    /// As [`Content::Shaped`], but it is the writes that repeat: each is new as a whole, or the
    /// last one that was.
    Repeating {
        /// Share of every block that compresses away, in per cent.
        compress_percent: u8,
        /// Share of the writes that repeat the last new one, in per cent.
        repeat_percent: u8,
    },
}
