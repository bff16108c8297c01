//! The settings of single operations, as plain data: direction, size and content.

use std::fmt;

use blocklab_units::Bytes;
use serde::{Deserialize, Serialize};

/// What an operation does to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Those that move or free data, in the same order.
    pub const MOVING: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// `read`, `write`, `trim`, `sync`.
    pub const fn name(self) -> &'static str {
        ["read", "write", "trim", "sync"][self as usize]
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Shares of the directions in per cent; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    pub const READ: Self = Self::reads(100);
    /// Writes only.
    pub const WRITE: Self = Self::reads(0);
    /// Trims only.
    pub const TRIM: Self = Self {
        read: 0,
        write: 0,
        trim: 100,
    };

    /// `read` per cent reads; the rest writes.
    pub const fn reads(read: u8) -> Self {
        Self {
            read,
            write: 100 - read,
            trim: 0,
        }
    }

    /// The directions that occur, each with its share.
    pub fn shares(self) -> impl Iterator<Item = (Direction, u8)> {
        let shares = [self.read, self.write, self.trim];
        let all = Direction::ALL.into_iter().zip(shares);
        all.filter(|(_, share)| *share > 0)
    }
}

/// `read`, `70 % read, 30 % write`.
impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (direction, share)) in self.shares().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            match share {
                100 => write!(f, "{direction}")?,
                _ => write!(f, "{comma}{share} % {direction}")?,
            }
        }
        Ok(())
    }
}

/// Block sizes with their weights (any positive numbers); one entry is a fixed size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeMix(pub Vec<(Bytes, u32)>);

impl SizeMix {
    /// One size, always.
    pub fn fixed(size: Bytes) -> Self {
        Self(vec![(size, 1)])
    }

    /// The largest size; 0 without sizes.
    pub fn largest(&self) -> Bytes {
        self.sizes().max().unwrap_or_default()
    }

    /// The smallest size; 0 without sizes.
    pub fn smallest(&self) -> Bytes {
        self.sizes().min().unwrap_or_default()
    }

    /// The largest size that divides all of them; 0 without sizes.
    pub fn divisor(&self) -> Bytes {
        let divisor = self.sizes().fold(0, |mut divisor, size| {
            let mut rest = size.0;
            while rest > 0 {
                (divisor, rest) = (rest, divisor % rest);
            }
            divisor
        });
        Bytes(divisor)
    }

    fn sizes(&self) -> impl Iterator<Item = Bytes> {
        self.0.iter().map(|(size, _)| *size)
    }
}

/// `4 KiB`, or with weights `4 KiB 60 %, 64 KiB 40 %`.
impl fmt::Display for SizeMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(size, _)] = self.0[..] {
            return f.write_str(&size.exact());
        }
        let total: f64 = self.0.iter().map(|(_, weight)| f64::from(*weight)).sum();
        for (place, (size, weight)) in self.0.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            let share = f64::from(*weight) * 100.0 / total;
            write!(f, "{comma}{} {share:.0} %", size.exact())?;
        }
        Ok(())
    }
}

/// How a size is drawn from a [`SizeMix`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockSizes {
    /// Sizes of reads.
    pub read: SizeMix,
    /// Sizes of writes.
    pub write: SizeMix,
    /// Sizes of trims.
    pub trim: SizeMix,
}

impl BlockSizes {
    /// The same fixed size for all directions.
    pub fn fixed(size: Bytes) -> Self {
        Self::same(SizeMix::fixed(size))
    }

    /// The same sizes for all directions.
    pub fn same(mix: SizeMix) -> Self {
        Self {
            read: mix.clone(),
            write: mix.clone(),
            trim: mix,
        }
    }

    /// The sizes of a direction; a flush has none.
    pub fn for_direction(&self, direction: Direction) -> Option<&SizeMix> {
        match direction {
            Direction::Read => Some(&self.read),
            Direction::Write => Some(&self.write),
            Direction::Trim => Some(&self.trim),
            Direction::Sync => None,
        }
    }

    /// The sizes that all directions of a mix have in common; `None` if they differ.
    pub fn common(&self, mix: Mix) -> Option<&SizeMix> {
        let mut used = mix
            .shares()
            .filter_map(|(direction, _)| self.for_direction(direction));
        let first = used.next()?;
        used.all(|sizes| sizes == first).then_some(first)
    }

    /// `4 KiB`, or if the directions of a mix differ `read 4 KiB, write 64 KiB`.
    pub fn text(&self, mix: Mix) -> String {
        if let Some(sizes) = self.common(mix) {
            return sizes.to_string();
        }
        let texts: Vec<_> = mix
            .shares()
            .filter_map(|(direction, _)| {
                let sizes = self.for_direction(direction)?;
                Some(format!("{direction} {sizes}"))
            })
            .collect();
        texts.join(", ")
    }

    /// The sizes of reads, writes and trims.
    pub(crate) const fn all(&self) -> [&SizeMix; 3] {
        [&self.read, &self.write, &self.trim]
    }

    /// The largest of all.
    pub fn largest(&self) -> Bytes {
        self.largest_moved().max(self.trim.largest())
    }

    /// The largest that needs a buffer, which trims do not.
    pub fn largest_moved(&self) -> Bytes {
        self.read.largest().max(self.write.largest())
    }

    /// The smallest of all.
    pub fn smallest(&self) -> Bytes {
        let smallest = self.all().map(SizeMix::smallest);
        smallest.into_iter().min().unwrap_or_default()
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Zeros, which many devices and file systems do not store.
    Zero,
    /// Random bytes, made once a buffer; a counter in each 4 KiB keeps every block unique.
    Random,
    /// Random bytes, made once a buffer: all writes from one buffer have the same content.
    Same,
    /// New random bytes for every write.
    Fresh,
    /// Each write is a part of one buffer of this size, which begins at a random multiple of 512
    /// bytes in it. The buffer holds random bytes, or those of [`crate::Job::fill`] again and
    /// again.
    Window {
        /// Size of the buffer.
        size: Bytes,
    },
    /// Data of a given entropy, made anew for every write.
    Shaped {
        /// Share of every block that compresses away, in per cent: zeros, or [`crate::Job::fill`].
        compress_percent: u8,
        /// Share of the blocks that repeat an earlier one, in per cent.
        dedupe_percent: u8,
    },
    /// As [`Content::Shaped`], but whole writes repeat: each is new, or the same as the last new one.
    Repeating {
        /// Share of every block that compresses away, in per cent: zeros, or [`crate::Job::fill`].
        compress_percent: u8,
        /// Share of the writes that repeat the last new one, in per cent.
        repeat_percent: u8,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_and_sizes_have_short_texts() {
        let mix = |read, write, trim| Mix { read, write, trim };
        assert_eq!(Mix::READ.to_string(), "read");
        assert_eq!(mix(70, 30, 0).to_string(), "70 % read, 30 % write");
        let mut sizes = BlockSizes::fixed(Bytes(4096));
        assert_eq!(sizes.text(mix(50, 50, 0)), "4 KiB");
        sizes.write = SizeMix(vec![(Bytes(4096), 3), (Bytes(65536), 1)]);
        assert_eq!(sizes.text(Mix::READ), "4 KiB");
        assert_eq!(
            sizes.text(mix(50, 50, 0)),
            "read 4 KiB, write 4 KiB 75 %, 64 KiB 25 %"
        );
    }
}
