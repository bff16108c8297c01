use blocklab_random::{Permutation, Stream, Zipf};

use crate::{Invalid, Pattern, Region, Spread};

/// A stretch of a target, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub len: u64,
}

impl Extent {
    /// The part of a target of `size` bytes on which thread `thread` of `threads` works.
    /// `block` is the largest block; slices are whole multiples of it.
    ///
    /// # Errors
    /// [`Invalid`] when the part holds no whole block.
    pub fn of(
        region: Region,
        size: u64,
        (thread, threads): (u32, u32),
        block: u64,
    ) -> Result<Self, Invalid> {
        let rest = size.saturating_sub(region.offset.0);
        let len = region.size.map_or(rest, |wanted| wanted.0);
        let mut extent = Self {
            offset: region.offset.0,
            len,
        };
        match region.spread {
            Spread::Sliced => {
                extent.len = len / u64::from(threads) / block * block;
                extent.offset += extent.len * u64::from(thread);
            }
            Spread::Increment(step) => {
                extent.offset += step.0 * u64::from(thread);
                let rest = size.saturating_sub(extent.offset);
                extent.len = region.size.map_or(rest, |wanted| wanted.0);
            }
            Spread::Same | Spread::Staggered => {}
        }
        extent.check(size, block).map(|()| extent)
    }

    fn check(self, size: u64, block: u64) -> Result<(), Invalid> {
        let wrong = |message| {
            Err(Invalid {
                field: "size",
                message,
            })
        };
        if self.len < block {
            return wrong(format!(
                "the region of {} bytes at offset {} holds no whole block of {block} bytes",
                self.len, self.offset
            ));
        }
        if self
            .offset
            .checked_add(self.len)
            .is_none_or(|end| end > size)
        {
            return wrong(format!(
                "the region of {} bytes at offset {} ends beyond the target of {size} bytes",
                self.len, self.offset
            ));
        }
        Ok(())
    }
}

/// Where the operations of one thread on one target go.
#[derive(Debug, Clone)]
pub struct Places {
    extent: Extent,
    /// Distance between two possible random beginnings: the smallest block.
    grain: u64,
    /// Number of possible random beginnings.
    grains: u64,
    cursor: u64,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Sequential,
    Strided(u64),
    Uniform,
    Once(Permutation),
    PercentRandom(u64),
    Zipf(Zipf, Permutation),
    Pareto(f64, Permutation),
    Normal(f64),
    Zones(Vec<ZoneEdge>),
}

/// Accumulated shares from 0 to 1.
#[derive(Debug, Clone, Copy)]
struct ZoneEdge {
    access_end: f64,
    space_start: f64,
    space_end: f64,
}

impl Places {
    /// `grain` is the smallest block, `block` the largest; `start` the share (0 to 1) of the
    /// extent at which a sequential thread begins.
    #[must_use]
    pub fn new(
        pattern: &Pattern,
        extent: Extent,
        (grain, block): (u64, u64),
        start: f64,
        chance: &mut Stream,
    ) -> Self {
        let once = matches!(
            pattern,
            Pattern::Random {
                every_block_once: true
            }
        );
        // A block that is visited once must not overlap another one, whatever its size.
        let grain = if once { block } else { grain };
        let grains = extent.len / grain;
        let cursor = ((extent.len as f64 * start) as u64) / grain * grain;
        let law = Law::new(pattern, grains, chance);
        Self {
            extent,
            grain,
            grains,
            cursor,
            law,
        }
    }

    /// The next offset for an operation of `len` bytes, inside the extent.
    #[inline]
    pub fn next(&mut self, len: u64, chance: &mut Stream) -> u64 {
        let index = match &mut self.law {
            Law::Sequential => return self.sequential(len, len),
            Law::Uniform => chance.below(self.grains),
            Law::Strided(stride) => {
                let stride = *stride;
                return self.sequential(len, stride);
            }
            Law::PercentRandom(threshold) => {
                if chance.next_u64() >= *threshold {
                    return self.sequential(len, len);
                }
                let index = chance.below(self.grains);
                self.cursor = index * self.grain + len;
                index
            }
            Law::Once(order) => order.next().unwrap_or_else(|| {
                *order = Permutation::new(self.grains, chance);
                order.next().unwrap_or(0)
            }),
            other => other.draw(self.grains, chance),
        };
        let last = self.extent.len - len;
        // Only with mixed sizes can a random beginning lie too near the end.
        self.extent.offset + (index * self.grain).min(last / self.grain * self.grain)
    }

    #[inline]
    fn sequential(&mut self, len: u64, step: u64) -> u64 {
        let mut begin = self.cursor;
        if begin + len > self.extent.len {
            begin = 0;
        }
        self.cursor = begin + step;
        self.extent.offset + begin
    }
}

impl Law {
    fn new(pattern: &Pattern, grains: u64, chance: &mut Stream) -> Self {
        match pattern {
            Pattern::Sequential => Self::Sequential,
            Pattern::Strided { stride } => Self::Strided(stride.0),
            Pattern::Random {
                every_block_once: false,
            } => Self::Uniform,
            Pattern::Random {
                every_block_once: true,
            } => Self::Once(Permutation::new(grains, chance)),
            Pattern::PercentRandom(100) => Self::PercentRandom(u64::MAX),
            Pattern::PercentRandom(percent) => {
                Self::PercentRandom(u64::MAX / 100 * u64::from(*percent))
            }
            Pattern::Zipf { theta } => {
                Self::Zipf(Zipf::new(grains, *theta), Permutation::new(grains, chance))
            }
            Pattern::Pareto { h } => Self::Pareto(
                libm::log(*h) / libm::log(1.0 - h),
                Permutation::new(grains, chance),
            ),
            Pattern::Normal { deviation_percent } => Self::Normal(deviation_percent / 100.0),
            Pattern::Zones(zones) => Self::Zones(edges(zones)),
        }
    }

    fn draw(&self, grains: u64, chance: &mut Stream) -> u64 {
        let at = |share: f64| ((share * grains as f64) as u64).min(grains - 1);
        match self {
            Self::Zipf(zipf, order) => order.position(zipf.draw(chance)),
            Self::Pareto(power, order) => order.position(at(libm::pow(chance.unit(), *power))),
            Self::Normal(deviation) => loop {
                let share = 0.5 + deviation * chance.normal();
                if (0.0..1.0).contains(&share) {
                    return at(share);
                }
            },
            Self::Zones(edges) => {
                let pick = chance.unit();
                let zone = edges.iter().find(|zone| pick < zone.access_end);
                let zone = zone
                    .or(edges.last())
                    .expect("a checked job has at least one zone");
                at(zone.space_start + chance.unit() * (zone.space_end - zone.space_start))
            }
            _ => chance.below(grains),
        }
    }
}

fn edges(zones: &[crate::Zone]) -> Vec<ZoneEdge> {
    let (mut access, mut space) = (0.0, 0.0);
    zones
        .iter()
        .map(|zone| {
            access += zone.access_percent / 100.0;
            let start = space;
            space += zone.space_percent / 100.0;
            ZoneEdge {
                access_end: access,
                space_start: start,
                space_end: space,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Zone;
    use blocklab_units::Bytes;

    const EXTENT: Extent = Extent {
        offset: 1 << 20,
        len: 1000 * 4096,
    };

    fn offsets(pattern: &Pattern, n: usize) -> Vec<u64> {
        let mut chance = Stream::new(1, "places", 0);
        let mut places = Places::new(pattern, EXTENT, (4096, 4096), 0.0, &mut chance);
        (0..n)
            .map(|_| (places.next(4096, &mut chance) - EXTENT.offset) / 4096)
            .collect()
    }

    #[test]
    fn sequential_wraps_at_the_end() {
        let blocks = offsets(&Pattern::Sequential, 1001);
        assert_eq!(blocks[..3], [0, 1, 2]);
        assert_eq!(blocks[999..], [999, 0]);
    }

    #[test]
    fn strided_leaves_gaps() {
        let blocks = offsets(
            &Pattern::Strided {
                stride: Bytes(16384),
            },
            252,
        );
        assert_eq!(blocks[..3], [0, 4, 8]);
        assert_eq!(blocks[249..], [996, 0, 4]);
    }

    #[test]
    fn once_visits_every_block_each_pass() {
        let blocks = offsets(
            &Pattern::Random {
                every_block_once: true,
            },
            2000,
        );
        for pass in blocks.chunks(1000) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            assert!(pass.into_iter().eq(0..1000));
        }
        assert_ne!(
            blocks[..1000],
            blocks[1000..],
            "each pass has its own order"
        );
    }

    #[test]
    fn percent_random_jumps_as_often_as_asked() {
        let blocks = offsets(&Pattern::PercentRandom(30), 20_000);
        let jumps = blocks
            .windows(2)
            .filter(|w| w[1] != (w[0] + 1) % 1000)
            .count();
        assert!((5600..6400).contains(&jumps), "{jumps}");
    }

    #[test]
    fn the_hot_fifth_gets_four_fifths() {
        let blocks = offsets(&Pattern::Pareto { h: 0.2 }, 50_000);
        let mut hits = vec![0u32; 1000];
        blocks.iter().for_each(|block| hits[*block as usize] += 1);
        hits.sort_unstable_by(|a, b| b.cmp(a));
        let hot: u32 = hits[..200].iter().sum();
        assert!((39_000..41_500).contains(&hot), "{hot}");
    }

    #[test]
    fn zones_get_their_shares() {
        let zones = vec![
            Zone {
                access_percent: 95.0,
                space_percent: 5.0,
            },
            Zone {
                access_percent: 5.0,
                space_percent: 95.0,
            },
        ];
        let blocks = offsets(&Pattern::Zones(zones), 20_000);
        let hot = blocks.iter().filter(|block| **block < 50).count();
        assert!((18_800..19_200).contains(&hot), "{hot}");
    }

    #[test]
    fn normal_lies_around_the_middle() {
        let blocks = offsets(
            &Pattern::Normal {
                deviation_percent: 10.0,
            },
            20_000,
        );
        let near = blocks
            .iter()
            .filter(|block| block.abs_diff(500) < 100)
            .count();
        assert!(
            (13_300..14_000).contains(&near),
            "68.3 % within one deviation: {near}"
        );
    }

    #[test]
    fn every_law_stays_inside_with_mixed_sizes() {
        for pattern in [
            Pattern::Sequential,
            Pattern::Random {
                every_block_once: false,
            },
            Pattern::Random {
                every_block_once: true,
            },
            Pattern::PercentRandom(50),
            Pattern::Zipf { theta: 1.1 },
            Pattern::Normal {
                deviation_percent: 50.0,
            },
        ] {
            let mut chance = Stream::new(9, "mixed", 0);
            let extent = Extent {
                offset: 512,
                len: 100_000,
            };
            let mut places = Places::new(&pattern, extent, (512, 65536), 0.4, &mut chance);
            for turn in 0..10_000 {
                let len = if turn % 3 == 0 { 65536 } else { 512 };
                let offset = places.next(len, &mut chance);
                assert!(offset >= 512 && offset + len <= 100_512, "{pattern:?}");
                assert!(offset.is_multiple_of(512), "{pattern:?}");
            }
        }
    }

    #[test]
    fn slices_and_increments_share_the_target() {
        let part = |spread, size, thread| {
            let region = Region {
                offset: Bytes(0),
                size,
                spread,
            };
            Extent::of(region, 1 << 20, (thread, 4), 4096)
        };
        assert_eq!(
            part(Spread::Sliced, None, 3),
            Ok(Extent {
                offset: 3 << 18,
                len: 1 << 18
            })
        );
        let step = Spread::Increment(Bytes(4096));
        assert_eq!(
            part(step, Some(Bytes(8192)), 2),
            Ok(Extent {
                offset: 8192,
                len: 8192
            })
        );
        assert!(
            part(Spread::Same, Some(Bytes(2 << 20)), 0).is_err(),
            "beyond the end"
        );
        assert!(
            part(Spread::Same, Some(Bytes(512)), 0).is_err(),
            "less than a block"
        );
    }
}
