//! In: a pattern and the part of a target for one thread. Out: the offset of each operation. The
//! inlined path holds the frequent patterns; all others are one call away.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use blocklab_random::{Permutation, Stream, Zipf};

use crate::gaps::Gaps;
use crate::preconditioning::Preconditioning;
use crate::skew::{Skew, at_share, threshold};
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
    /// It has room for at least one `block`; slices are multiples of it.
    ///
    /// # Errors
    /// [`Invalid`] when the part is smaller than a block or ends beyond the target.
    pub fn for_thread(
        region: Region,
        size: u64,
        thread: u32,
        threads: u32,
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
                // An offset that cannot be counted lies beyond every target, and is refused below.
                let before = step.0.saturating_mul(thread.into());
                extent.offset = extent.offset.saturating_add(before);
                let rest = size.saturating_sub(extent.offset);
                extent.len = region.size.map_or(rest, |wanted| wanted.0);
            }
            Spread::Same | Spread::Staggered | Spread::Shared => {}
        }
        extent.check(size, block).map(|()| extent)
    }

    /// Where an operation of `len` bytes begins in it: at the cursor, or at 0 where it would reach
    /// beyond the end.
    #[inline]
    const fn wrapped(self, cursor: u64, len: u64) -> u64 {
        if cursor + len > self.len { 0 } else { cursor }
    }

    /// Checks that a region lies within a target of `size` bytes and holds a block.
    fn check(self, size: u64, block: u64) -> Result<(), Invalid> {
        let end = self.offset.checked_add(self.len);
        let problem = if self.len < block {
            format!("holds no whole block of {block} bytes")
        } else if end.is_none_or(|end| end > size) {
            format!("ends beyond the target of {size} bytes")
        } else {
            return Ok(());
        };
        Err(Invalid {
            field: "size",
            message: format!(
                "the region of {} bytes at offset {} {problem}",
                self.len, self.offset
            ),
        })
    }
}

/// The offsets of one thread's operations on one target.
#[derive(Debug, Clone)]
pub struct Places {
    extent: Extent,
    /// Random offsets are multiples of this: the smallest block.
    grain: u64,
    /// Number of possible random offsets.
    grains: u64,
    cursor: u64,
    law: Law,
}

/// Longer strides would leave what can be counted. No target is as long, so each of them begins again at
/// the start of its extent, as this one does.
const LONGEST_STRIDE: u64 = 1 << 62;

#[derive(Debug, Clone)]
enum Law {
    Sequential,
    /// The position that all threads of a job advance.
    Together(Arc<AtomicU64>),
    /// The steps that all threads of a job take in turn, `stride` bytes apart.
    TogetherBy {
        steps: Arc<AtomicU64>,
        stride: u64,
    },
    Strided(u64),
    Backward(u64),
    Uniform,
    Once(Permutation),
    /// Every piece once, by operations of several sizes that are cut before a taken piece.
    Pieces(Gaps),
    /// By `law` in this share of the draws, else the next one in a row.
    PercentRandom {
        random_below: u64,
        law: Box<Law>,
    },
    /// By rank: `order` maps a rank to a grain, and `shift` moves the first rank to a given grain.
    Ranked {
        skew: Skew,
        order: Permutation,
        shift: u64,
    },
    /// Around a grain.
    Around(Skew),
    Zones(Vec<ZoneEdge>),
    /// Numbers of blocks; each round begins after the one before if it `moves_on`.
    Listed {
        blocks: Vec<u64>,
        moves_on: bool,
        /// How many blocks were hit so far.
        hits: u64,
    },
    Preconditioning(Box<Preconditioning>),
}

/// Accumulated shares from 0 to 1.
#[derive(Debug, Clone, Copy)]
struct ZoneEdge {
    access_end: f64,
    space_start: f64,
    space_end: f64,
}

impl Places {
    /// Random offsets are multiples of `grain`; `smallest` and `block` are the smallest and the
    /// largest block; `start` is the share (0 to 1) of the extent at which a sequential thread
    /// begins. If a pattern hits every block once and has blocks of several sizes, each grain is hit
    /// once.
    pub fn new(
        pattern: &Pattern,
        extent: Extent,
        grain: u64,
        smallest: u64,
        block: u64,
        start: f64,
        chance: &mut Stream,
    ) -> Self {
        let in_pieces = pattern.every_block_once() && smallest < block;
        // An offset at every multiple of the grain after which the smallest block still fits.
        let grains = (extent.len - smallest) / grain + 1;
        let cursor = ((extent.len as f64 * start) as u64) / grain * grain;
        let law = if in_pieces {
            Law::Pieces(Gaps::new(grains))
        } else {
            Law::new(pattern, grains, chance)
        };
        Self {
            extent,
            grain,
            grains,
            cursor,
            law,
        }
    }

    /// Puts the most frequent block of a skewed pattern at this share of the extent.
    #[must_use]
    pub(crate) fn centered(mut self, center: Option<f64>) -> Self {
        let Some(center) = center else { return self };
        let grains = self.grains;
        let wanted = (center * grains as f64) as u64;
        match &mut self.law {
            Law::Ranked { order, shift, .. } => {
                *shift = wanted + grains - Permutation::position(order, 0);
            }
            Law::Around(Skew::Normal { middle, .. }) => *middle = center,
            _ => {}
        }
        self
    }

    /// The next offset for an operation of `len` bytes, inside the extent.
    #[inline(always)]
    pub fn next(&mut self, len: u64, chance: &mut Stream) -> u64 {
        match &mut self.law {
            Law::Sequential => self.sequential(len, len),
            Law::Uniform => {
                let index = chance.below(self.grains);
                self.place(index, len)
            }
            Law::Once(order) => {
                let index = match order.next() {
                    Some(index) => index,
                    None => self.new_order(chance),
                };
                self.place(index, len)
            }
            _ => self.next_by_other_law(len, chance),
        }
    }

    /// As [`Places::next`], for an operation of one of several sizes: its offset and its length. Where
    /// it would reach beyond the end of the extent, `shorter` gives the size that it gets in the room
    /// up to there.
    #[inline]
    pub(crate) fn next_of_sizes(
        &mut self,
        len: u64,
        chance: &mut Stream,
        shorter: impl FnOnce(u64) -> u64,
    ) -> (u64, u64) {
        let index = match &self.law {
            Law::Uniform => chance.below(self.grains),
            law @ (Law::Ranked { .. } | Law::Around(_) | Law::Zones(_)) => {
                law.draw(self.grains, chance)
            }
            _ => return (self.next(len, chance), len),
        };
        let room = self.extent.len - index * self.grain;
        let len = if room < len { shorter(room) } else { len };
        (self.place(index, len), len)
    }

    /// As [`Places::next_of_sizes`], for an operation that may be cut. The length is cut to a multiple
    /// of `unit`, the smallest size of its direction, and not below it, so that a piece may be hit
    /// again if less than a unit was free.
    pub(crate) fn fit(
        &mut self,
        len: u64,
        unit: u64,
        chance: &mut Stream,
        shorter: impl FnOnce(u64) -> u64,
    ) -> (u64, u64) {
        let Law::Pieces(gaps) = &mut self.law else {
            return self.next_of_sizes(len, chance, shorter);
        };
        if gaps.are_closed() {
            *gaps = Gaps::new(self.grains);
        }
        let first = gaps.first_free(chance.below(self.grains));
        let first = first.expect("a new pass leaves all pieces free");
        let begin = first * self.grain;
        // At multiples of their unit, blocks of one direction do not overlap, except at the end of an
        // extent that is not a multiple: no shorter block was requested, so the last whole one is hit
        // again.
        let last = (self.extent.len / unit).saturating_sub(1);
        let aligned = if unit <= self.grain {
            begin
        } else {
            (begin / unit).min(last) * unit
        };
        let room = (self.extent.len - aligned) / self.grain * self.grain;
        let len = if room < len { shorter(room) } else { len };
        let taken = gaps.take(first, len.div_ceil(self.grain));
        let (_, count) = taken.expect("the first is free");
        let free = count * self.grain;
        if unit <= self.grain {
            return (self.extent.offset + begin, len.min(free));
        }
        let cut = len.min((free / unit).max(1) * unit).min(room);
        gaps.take_all(aligned / self.grain, cut.div_ceil(self.grain));
        (self.extent.offset + aligned, cut)
    }

    /// Whether the pass has covered the extent, for patterns that go to each place once.
    pub(crate) fn is_covered(&self) -> bool {
        match &self.law {
            Law::Pieces(gaps) => gaps.are_closed(),
            Law::Once(order) => order.is_over(),
            Law::Sequential => self.cursor + self.grain > self.extent.len,
            _ => false,
        }
    }

    #[cold]
    fn new_order(&mut self, chance: &mut Stream) -> u64 {
        let mut order = Permutation::new(self.grains, chance);
        let first = order.next().unwrap_or(0);
        self.law = Law::Once(order);
        first
    }

    /// The offset of the grain with this number, for an operation of `len` bytes.
    #[inline(always)]
    fn place(&self, index: u64, len: u64) -> u64 {
        let (drawn, last) = (index * self.grain, self.extent.len - len);
        // Only with mixed sizes can a random offset be too near the end.
        let begin = if drawn > last {
            last / self.grain * self.grain
        } else {
            drawn
        };
        self.extent.offset + begin
    }

    /// The offset by any law that `next` does not handle itself, kept out of line so that those stay
    /// fast.
    #[inline(never)]
    fn next_by_other_law(&mut self, len: u64, chance: &mut Stream) -> u64 {
        let index = match &mut self.law {
            Law::Together(position) => {
                let extent = self.extent;
                let before = position
                    .fetch_update(Relaxed, Relaxed, |cursor| {
                        Some(extent.wrapped(cursor, len) + len)
                    })
                    .expect("every position has a next one");
                return extent.offset + extent.wrapped(before, len);
            }
            Law::TogetherBy { steps, stride } => {
                let all = (self.extent.len - len) / *stride + 1;
                let step = steps.fetch_add(1, Relaxed) % all;
                return self.extent.offset + step * *stride;
            }
            Law::Strided(stride) => {
                let stride = *stride;
                return self.sequential(len, stride);
            }
            Law::Backward(back) => {
                let back = *back;
                return self.backward(len, back);
            }
            Law::Pieces(_) => return self.fit(len, len, chance, |_| len).0,
            Law::PercentRandom { random_below, law } => {
                if chance.next_u64() >= *random_below {
                    return self.sequential(len, len);
                }
                let index = law.draw(self.grains, chance);
                self.cursor = index * self.grain + len;
                index
            }
            Law::Listed {
                blocks,
                moves_on,
                hits,
            } => {
                let length = blocks.len() as u64;
                let (round, place) = (*hits / length, *hits % length);
                *hits += 1;
                let base = if *moves_on { round * length } else { 0 };
                base.wrapping_add(blocks[place as usize]) % self.grains
            }
            Law::Preconditioning(writes) => writes.next(chance),
            other => other.draw(self.grains, chance),
        };
        self.place(index, len)
    }

    /// Lets all threads that share this position advance it together.
    pub(crate) fn share(&mut self, position: Arc<AtomicU64>) {
        self.law = match self.law {
            Law::Strided(stride) => Law::TogetherBy {
                steps: position,
                stride,
            },
            _ => Law::Together(position),
        };
    }

    /// Bytes up to the end of the region, for a thread that goes through it without gaps.
    #[inline]
    pub(crate) const fn room(&self) -> Option<u64> {
        match self.law {
            Law::Sequential if self.cursor < self.extent.len => Some(self.extent.len - self.cursor),
            _ => None,
        }
    }

    pub(crate) const fn position(&self) -> u64 {
        self.cursor
    }

    /// Changes how many of the next operations, in per cent, are at an offset that the pattern draws; the
    /// others are in a row.
    pub(crate) fn set_random_percent(&mut self, percent: u8) {
        if !matches!(self.law, Law::PercentRandom { .. }) {
            let law = Box::new(std::mem::replace(&mut self.law, Law::Uniform));
            let random_below = 0;
            self.law = Law::PercentRandom { random_below, law };
        }
        if let Law::PercentRandom { random_below, .. } = &mut self.law {
            *random_below = threshold(percent);
        }
    }

    pub(crate) const fn go_to(&mut self, position: u64) {
        self.cursor = position;
    }

    /// Whether each operation begins where the one before it ended.
    pub(crate) const fn is_gapless(&self) -> bool {
        matches!(self.law, Law::Sequential)
    }

    pub(crate) const fn is_sequential(&self) -> bool {
        matches!(
            self.law,
            Law::Sequential
                | Law::Together(_)
                | Law::TogetherBy { .. }
                | Law::Strided(_)
                | Law::Backward(_)
        )
    }

    /// Begins a new pass.
    pub(crate) fn begin_again(&mut self, chance: &mut Stream) {
        self.cursor = 0;
        match &mut self.law {
            Law::Once(order) => *order = Permutation::new(self.grains, chance),
            Law::Pieces(gaps) => *gaps = Gaps::new(self.grains),
            Law::Preconditioning(writes) => writes.begin_again(chance),
            _ => {}
        }
    }

    /// The next offset in a row; it begins again where `len` bytes would not fit. `step` is the
    /// distance to the one after it.
    #[inline]
    fn sequential(&mut self, len: u64, step: u64) -> u64 {
        let begin = self.extent.wrapped(self.cursor, len);
        self.cursor = begin + step;
        self.extent.offset + begin
    }

    /// The offset `back` bytes before the end of the last operation, which is in `cursor`.
    fn backward(&mut self, len: u64, back: u64) -> u64 {
        let wanted = match self.cursor {
            // The first operation is at the start of the extent.
            0 => 0,
            cursor => cursor
                .checked_sub(back)
                .unwrap_or_else(|| self.extent.len.saturating_sub(back)),
        };
        let begin = wanted.min(self.extent.len - len);
        self.cursor = begin + len;
        self.extent.offset + begin
    }
}

impl Law {
    fn new(pattern: &Pattern, grains: u64, chance: &mut Stream) -> Self {
        match pattern {
            Pattern::Sequential => Self::Sequential,
            Pattern::Strided { stride } => Self::Strided(stride.0.min(LONGEST_STRIDE)),
            Pattern::Backward { back } => Self::Backward(back.0),
            Pattern::Random {
                every_block_once: false,
            } => Self::Uniform,
            Pattern::Random {
                every_block_once: true,
            } => Self::Once(Permutation::new(grains, chance)),
            Pattern::PercentRandom(percent) => Self::PercentRandom {
                random_below: threshold(*percent),
                law: Box::new(Self::Uniform),
            },
            Pattern::Zipf { theta } => {
                let zipf = Zipf::new(grains, *theta);
                Self::ranked(Skew::Zipf(zipf), grains, chance)
            }
            Pattern::Pareto { h } => Self::ranked(Skew::pareto(*h), grains, chance),
            Pattern::Normal { deviation_percent } => Self::Around(Skew::Normal {
                deviation: deviation_percent / 100.0,
                middle: 0.5,
            }),
            Pattern::Zones(zones) => Self::Zones(edges(zones)),
            Pattern::Listed { blocks, moves_on } => Self::Listed {
                blocks: blocks.clone(),
                moves_on: *moves_on,
                hits: 0,
            },
            Pattern::Preconditioning {
                over_provisioning,
                regions,
            } => {
                let writes = Preconditioning::new(grains, *over_provisioning, *regions, chance);
                Self::Preconditioning(Box::new(writes))
            }
        }
    }

    fn ranked(skew: Skew, grains: u64, chance: &mut Stream) -> Self {
        Self::Ranked {
            skew,
            order: Permutation::new(grains, chance),
            shift: 0,
        }
    }

    /// Draws the index of a grain by a law that remembers nothing.
    fn draw(&self, grains: u64, chance: &mut Stream) -> u64 {
        match self {
            Self::Ranked { skew, order, shift } => {
                (order.position(skew.draw(grains, chance)) + shift) % grains
            }
            Self::Around(skew) => skew.draw(grains, chance),
            Self::Zones(edges) => {
                let pick = chance.unit();
                // Rounding may leave the last edge a little below 1.
                let zone = edges
                    .iter()
                    .find(|zone| pick < zone.access_end)
                    .or(edges.last())
                    .expect("a checked job has at least one zone");
                let width = zone.space_end - zone.space_start;
                at_share(zone.space_start + chance.unit() * width, grains)
            }
            _ => chance.below(grains),
        }
    }
}

/// Where the shares of the zones end, added up.
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
#[path = "place_tests.rs"]
mod tests;
