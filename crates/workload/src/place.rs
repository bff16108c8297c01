use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use blocklab_random::{Permutation, Stream, Zipf};

use crate::gaps::Gaps;
use crate::preconditioning::Preconditioning;
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
    /// It holds at least one `block`; slices are whole multiples of it.
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
            Spread::Same | Spread::Staggered | Spread::Shared => {}
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
    /// The position that all threads of a job advance.
    Together(Arc<AtomicU64>),
    /// The distance between the threads of a job, which take the steps in turn.
    TogetherBy(Arc<AtomicU64>, u64),
    Strided(u64),
    Backward(u64),
    Uniform,
    Once(Permutation),
    /// Every piece once, by operations of several sizes that are cut where a taken one follows.
    Pieces(Gaps),
    PercentRandom(u64),
    /// With how far its order is moved on.
    Zipf(Zipf, Permutation, u64),
    Pareto(f64, Permutation, u64),
    /// With the middle, as a share of the extent.
    Normal(f64, f64),
    Zones(Vec<ZoneEdge>),
    /// Blocks by number, whether they move on, and how many were hit.
    Listed(Vec<u64>, bool, u64),
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
    /// `grain` is the distance of possible random beginnings, `smallest` and `block` are the
    /// smallest and the largest block; `start` is the share (0 to 1) of the extent at which a
    /// sequential thread begins. What must be hit once are the grains, where blocks of several
    /// sizes are to do it.
    pub fn new(
        pattern: &Pattern,
        extent: Extent,
        (grain, smallest, block): (u64, u64, u64),
        start: f64,
        chance: &mut Stream,
    ) -> Self {
        let in_pieces = pattern.every_block_once() && smallest < block;
        // A beginning at every multiple of the grain from which a smallest block still fits.
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

    /// Lays what a skewed pattern hits most at this share of the extent.
    #[must_use]
    pub(crate) fn centered(mut self, center: Option<f64>) -> Self {
        let Some(center) = center else { return self };
        let grains = self.grains;
        let wanted = (center * grains as f64) as u64;
        match &mut self.law {
            Law::Zipf(_, order, shift) | Law::Pareto(_, order, shift) => {
                *shift = wanted + grains - Permutation::position(order, 0);
            }
            Law::Normal(_, middle) => *middle = center,
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
            _ => self.next_of_rare(len, chance),
        }
    }

    /// As [`Places::next`], for an operation that may be made shorter: its offset and its length.
    /// It is cut to a multiple of `unit`, the smallest size of its direction, but not below it: a
    /// piece may then be hit again by a block that is longer than what was left for it.
    pub(crate) fn fit(&mut self, len: u64, unit: u64, chance: &mut Stream) -> (u64, u64) {
        let Law::Pieces(gaps) = &mut self.law else {
            return (self.next(len, chance), len);
        };
        if gaps.are_closed() {
            *gaps = Gaps::new(self.grains);
        }
        let from = chance.below(self.grains);
        let taken = gaps.take(from, len.div_ceil(self.grain));
        let (first, count) = taken.expect("a new pass leaves all pieces free");
        let begin = first * self.grain;
        let free = count * self.grain;
        if unit <= self.grain {
            return (self.extent.offset + begin, len.min(free));
        }
        // At multiples of their unit no two blocks of a direction lie on each other, but where the end
        // is cut: the last whole one is hit again then, since a shorter one was not requested.
        let last = (self.extent.len / unit).saturating_sub(1);
        let begin = (begin / unit).min(last) * unit;
        let len = len.min((free / unit).max(1) * unit);
        let len = len.min((self.extent.len - begin) / self.grain * self.grain);
        gaps.take_all(begin / self.grain, len.div_ceil(self.grain));
        (self.extent.offset + begin, len)
    }

    /// Whether a pass is through with it, where it goes to each place once.
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

    /// Where the grain of this number begins, for an operation of `len` bytes.
    #[inline(always)]
    fn place(&self, index: u64, len: u64) -> u64 {
        let (begin, last) = (index * self.grain, self.extent.len - len);
        // Only with mixed sizes can a random beginning lie too near the end.
        let begin = if begin > last {
            last / self.grain * self.grain
        } else {
            begin
        };
        self.extent.offset + begin
    }

    #[inline(never)]
    fn next_of_rare(&mut self, len: u64, chance: &mut Stream) -> u64 {
        let index = match &mut self.law {
            Law::Together(position) => {
                let begin = position.fetch_add(len, Relaxed) % self.extent.len;
                let room = begin + len <= self.extent.len;
                return self.extent.offset + if room { begin } else { 0 };
            }
            Law::TogetherBy(steps, stride) => {
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
            Law::Pieces(_) => return self.fit(len, len, chance).0,
            Law::PercentRandom(threshold) => {
                if chance.next_u64() >= *threshold {
                    return self.sequential(len, len);
                }
                let index = chance.below(self.grains);
                self.cursor = index * self.grain + len;
                index
            }
            Law::Listed(blocks, moves_on, hit) => {
                let length = blocks.len() as u64;
                let (round, place) = (*hit / length, *hit % length);
                *hit += 1;
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
            Law::Strided(stride) => Law::TogetherBy(position, stride),
            _ => Law::Together(position),
        };
    }

    /// Bytes up to the end of the region, of a thread that goes through it without gaps.
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
                | Law::TogetherBy(..)
                | Law::Strided(_)
                | Law::Backward(_)
        )
    }

    /// A new pass from the beginning.
    pub(crate) fn begin_again(&mut self, chance: &mut Stream) {
        self.cursor = 0;
        match &mut self.law {
            Law::Once(order) => *order = Permutation::new(self.grains, chance),
            Law::Pieces(gaps) => *gaps = Gaps::new(self.grains),
            Law::Preconditioning(writes) => writes.begin_again(chance),
            _ => {}
        }
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

    /// `cursor` is the end of the operation before.
    fn backward(&mut self, len: u64, back: u64) -> u64 {
        let is_first = self.cursor == 0;
        let from_end = || self.extent.len.saturating_sub(back);
        let begin = match self.cursor.checked_sub(back) {
            _ if is_first => 0,
            Some(begin) => begin,
            None => from_end(),
        };
        let begin = begin.min(self.extent.len - len);
        self.cursor = begin + len;
        self.extent.offset + begin
    }
}

impl Law {
    fn new(pattern: &Pattern, grains: u64, chance: &mut Stream) -> Self {
        match pattern {
            Pattern::Sequential => Self::Sequential,
            Pattern::Strided { stride } => Self::Strided(stride.0),
            Pattern::Backward { back } => Self::Backward(back.0),
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
                let order = Permutation::new(grains, chance);
                Self::Zipf(Zipf::new(grains, *theta), order, 0)
            }
            Pattern::Pareto { h } => Self::Pareto(
                libm::log(*h) / libm::log(1.0 - h),
                Permutation::new(grains, chance),
                0,
            ),
            Pattern::Normal { deviation_percent } => Self::Normal(deviation_percent / 100.0, 0.5),
            Pattern::Zones(zones) => Self::Zones(edges(zones)),
            Pattern::Listed { blocks, moves_on } => Self::Listed(blocks.clone(), *moves_on, 0),
            Pattern::Preconditioning {
                over_provisioning,
                regions,
            } => {
                let writes = Preconditioning::new(grains, *over_provisioning, *regions, chance);
                Self::Preconditioning(Box::new(writes))
            }
        }
    }

    fn draw(&self, grains: u64, chance: &mut Stream) -> u64 {
        let at = |share: f64| ((share * grains as f64) as u64).min(grains - 1);
        match self {
            Self::Zipf(zipf, order, shift) => (order.position(zipf.draw(chance)) + shift) % grains,
            Self::Pareto(power, order, shift) => {
                let rank = at(libm::pow(chance.unit(), *power));
                (order.position(rank) + shift) % grains
            }
            Self::Normal(deviation, middle) => at(around(*middle, *deviation, chance)),
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

/// A share of the whole around this middle; beyond an end it goes on at the other one, unless the
/// middle is that of the whole: then it is drawn again.
pub(crate) fn around(middle: f64, deviation: f64, chance: &mut Stream) -> f64 {
    loop {
        let share = middle + deviation * chance.normal();
        if (0.0..1.0).contains(&share) {
            return share;
        }
        if middle != 0.5 {
            return share.rem_euclid(1.0);
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
#[path = "place_tests.rs"]
mod tests;
