//! Which volume serves an offset.
//!
//! ```text
//!   joined    │ 0 0 0 0 0 │ 1 1 1 │ 2 2 2 2 2 │       one behind the other
//!   striped   │ 0 │ 1 │ 2 │ 0 │ 1 │ 2 │ 0 │ 1 │       block by block
//! ```
//!
//! Striped, an operation over several blocks is divided, and done when its last part is.

use blocklab_units::Bytes;

use crate::{DeviceSpec, Io, Layout};

/// A [`Layout`] at work.
#[derive(Debug, Clone)]
pub(crate) enum Map {
    One,
    Joined { ends: Box<[u64]> },
    Striped { block: u64, volumes: u64 },
}

/// The beginning of an operation on one volume, and what is left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub volume: usize,
    pub part: Io,
    pub rest: Option<Io>,
}

impl Map {
    pub(crate) fn new(spec: &DeviceSpec) -> Self {
        if spec.volumes.len() == 1 {
            return Self::One;
        }
        match spec.layout {
            Layout::Joined => {
                let sizes = spec.volumes.iter().map(|volume| volume.capacity.0);
                let ends = sizes.scan(0, |end, size| {
                    *end += size;
                    Some(*end)
                });
                Self::Joined {
                    ends: ends.collect(),
                }
            }
            Layout::Striped { block } => Self::Striped {
                block: block.0,
                volumes: spec.volumes.len() as u64,
            },
        }
    }

    /// First byte and length of a volume, where it has a place of its own.
    pub(crate) fn span(&self, volume: usize, capacity: Bytes) -> Option<(u64, Bytes)> {
        match self {
            Self::One if volume == 0 => Some((0, capacity)),
            Self::Joined { ends } => {
                let end = *ends.get(volume)?;
                let begin = volume.checked_sub(1).map_or(0, |before| ends[before]);
                Some((begin, Bytes(end - begin)))
            }
            _ => None,
        }
    }

    /// The first part of an operation.
    #[inline]
    pub(crate) fn cut(&self, io: Io) -> Cut {
        match self {
            Self::One => Cut {
                volume: 0,
                part: io,
                rest: None,
            },
            Self::Joined { ends } => {
                let before = ends.partition_point(|end| *end <= io.offset);
                let volume = before.min(ends.len() - 1);
                let begin = volume.checked_sub(1).map_or(0, |before| ends[before]);
                divide(io, volume, io.offset - begin, ends[volume] - io.offset)
            }
            Self::Striped { block, volumes } => {
                let (number, within) = (io.offset / block, io.offset % block);
                let (row, volume) = (number / volumes, number % volumes);
                divide(io, volume as usize, row * block + within, block - within)
            }
        }
    }
}

/// At most `room` bytes of it go to `volume`, where they lie at `offset`.
#[inline]
fn divide(io: Io, volume: usize, offset: u64, room: u64) -> Cut {
    debug_assert!(room > 0 || io.len == 0, "a part without bytes has no end");
    let len = u64::from(io.len).min(room) as u32;
    let rest = (len < io.len).then(|| Io {
        offset: io.offset + u64::from(len),
        len: io.len - len,
        ..io
    });
    Cut {
        volume,
        part: Io { offset, len, ..io },
        rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    /// Parts as (volume, offset on it, length).
    #[track_caller]
    fn check(map: &Map, offset: u64, len: u32, parts: &[(usize, u64, u32)]) {
        let mut left = Some(Io {
            direction: Direction::Read,
            offset,
            len,
        });
        let mut got = Vec::new();
        while let Some(io) = left {
            let cut = map.cut(io);
            got.push((cut.volume, cut.part.offset, cut.part.len));
            left = cut.rest;
        }
        assert_eq!(got, parts);
    }

    #[test]
    fn block_by_block() {
        let map = Map::Striped {
            block: 256,
            volumes: 3,
        };
        check(&map, 0, 100, &[(0, 0, 100)]);
        check(&map, 256, 256, &[(1, 0, 256)]);
        check(&map, 768, 10, &[(0, 256, 10)]);
        check(
            &map,
            500,
            600,
            &[(1, 244, 12), (2, 0, 256), (0, 256, 256), (1, 256, 76)],
        );
    }

    #[test]
    fn one_behind_the_other() {
        let map = Map::Joined {
            ends: [1000, 1500, 4000].into(),
        };
        check(&map, 0, 100, &[(0, 0, 100)]);
        check(&map, 1000, 500, &[(1, 0, 500)]);
        check(&map, 900, 1000, &[(0, 900, 100), (1, 0, 500), (2, 0, 400)]);
        assert_eq!(map.span(1, Bytes(0)), Some((1000, Bytes(500))));
        assert_eq!(map.span(3, Bytes(0)), None);
    }

    #[test]
    fn a_flush_at_the_end_belongs_to_the_last() {
        let map = Map::Joined {
            ends: [1000, 1500].into(),
        };
        check(&map, 1500, 0, &[(1, 500, 0)]);
    }
}
