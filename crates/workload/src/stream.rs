//! In: a job, a seed and a thread. Out: its endless stream of requests: target, direction, size and
//! offset. This is the hot path of every load: a job with one direction, size and target takes a
//! short cut, and refinements are one call away.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use blocklab_random::Stream;

use crate::route::Route;
use crate::skew::threshold;
use crate::targets::Targets;
use crate::{Direction, Extent, Invalid, Job, Places, SizeDraw, SizeMix, Spread};

/// The largest map of one target, for blocks of several sizes that hit everything once: 4 GiB.
const MOST_PIECES: u64 = 1 << 35;

/// One operation of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Index of the target in the job's list.
    pub target: u32,
    /// Read, write or trim.
    pub direction: Direction,
    /// Bytes.
    pub len: u32,
    /// First byte.
    pub offset: u64,
}

/// The endless stream of requests of one thread of a job.
///
/// Offsets, directions and sizes come from separate random streams, so that a different mix does not
/// change the offsets.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Requests {
    // The fields of every request come first, so that they share cache lines.
    only: Option<Only>,
    places: Vec<Places>,
    targets: Targets,
    mix: Directions,
    sizes: [Sizes; 3],
    where_to: Stream,
    which_way: Stream,
    how_big: Stream,
    refined: Option<Box<Refined>>,
}

/// What most jobs need: one direction, one size, one target.
#[derive(Debug, Clone, Copy)]
struct Only {
    target: u32,
    direction: Direction,
    len: u32,
}

impl Only {
    /// `None` if direction, size or target have to be drawn.
    fn new(mix: Directions, sizes: &[Sizes; 3], targets: &Targets) -> Option<Self> {
        let Directions::Only(direction) = mix else {
            return None;
        };
        match (sizes.get(direction as usize)?, targets.only()?) {
            (Sizes::Fixed(len), target) => Some(Self {
                target: target as u32,
                direction,
                len: *len,
            }),
            _ => None,
        }
    }
}

/// What only few jobs need.
#[derive(Debug, Clone)]
struct Refined {
    /// The route over the places of each target; empty if nothing refines them.
    routes: Vec<Route>,
    /// Every piece is hit once, and operations are cut before a taken piece.
    in_pieces: bool,
    /// Operations are cut to a multiple of this, by direction: the smallest size that it has.
    units: [u64; 3],
    trim_first: bool,
    /// The write whose range is being trimmed.
    pending: Option<Request>,
    /// The direction of the last request.
    last: Direction,
}

impl Refined {
    /// The direction of the next request, if it is already decided.
    #[inline]
    fn decided(&self) -> Option<Direction> {
        if let Some(pending) = self.pending {
            return Some(pending.direction);
        }
        match &self.routes[..] {
            [route] if route.keeps_direction() => Some(self.last),
            _ => None,
        }
    }
}

/// The sequential positions that all threads of a job advance, one for each target.
#[derive(Debug, Clone)]
pub struct Positions(Vec<Arc<AtomicU64>>);

impl Positions {
    /// Positions at the start of this many targets.
    pub fn new(targets: usize) -> Self {
        Self((0..targets).map(|_| Arc::default()).collect())
    }
}

impl Requests {
    /// The stream of thread `thread` over targets of these sizes in bytes.
    ///
    /// # Errors
    /// [`Invalid`] when the job's region does not fit a target.
    pub fn new(job: &Job, seed: u64, thread: u32, targets: &[u64]) -> Result<Self, Invalid> {
        let index = u64::from(thread);
        let mut where_to = job.chance(seed, "offsets", index);
        let room = job.least_room().0;
        let (grain, smallest, block) = blocks(job);
        let start = match job.region.spread {
            Spread::Staggered => f64::from(thread) / f64::from(job.threads),
            _ => 0.0,
        };
        let extents = targets
            .iter()
            .map(|size| Extent::for_thread(job.region, *size, thread, job.threads, room))
            .collect::<Result<Vec<_>, Invalid>>()?;
        let (mut places, mut routes) = (Vec::new(), Vec::new());
        for extent in &extents {
            let inner = Route::inner(job, *extent)?;
            check_pieces(job, inner)?;
            let made = Places::new(
                &job.pattern,
                inner,
                grain,
                smallest,
                block,
                start,
                &mut where_to,
            )
            .centered(job.center);
            if Route::is_requested(job) {
                routes.push(Route::new(job, &made, *extent));
            }
            places.push(made);
        }
        let in_pieces = job.piece().is_some();
        let refined = !routes.is_empty() || job.trim_first || in_pieces;
        let lengths = extents.iter().map(|extent| extent.len).collect();
        let targets = Targets::new(job, thread, lengths, job.chance(seed, "targets", index));
        let mix = Directions::new(job.mix);
        let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim]
            .map(|mix| Sizes::new(mix, job.size_draw));
        let only = if refined {
            None
        } else {
            Only::new(mix, &sizes, &targets)
        };
        Ok(Self {
            only,
            places,
            targets,
            mix,
            sizes,
            where_to,
            which_way: job.chance(seed, "directions", index),
            how_big: job.chance(seed, "sizes", index),
            refined: refined.then(|| {
                Box::new(Refined {
                    routes,
                    in_pieces,
                    units: job.sizes.all().map(|mix| mix.smallest().0),
                    trim_first: job.trim_first,
                    pending: None,
                    last: Direction::Read,
                })
            }),
        })
    }

    /// Uses these positions instead of its own, and so shares them with other threads that do the
    /// same. Only sequential patterns have one.
    pub fn share(&mut self, positions: &Positions) {
        let sequential = self
            .places
            .iter_mut()
            .filter(|places| places.is_sequential());
        for (places, position) in sequential.zip(&positions.0) {
            places.share(Arc::clone(position));
        }
    }

    /// The direction of the next request.
    #[inline(always)]
    pub fn direction(&mut self) -> Direction {
        match self.refined.as_ref().and_then(|refined| refined.decided()) {
            Some(direction) => direction,
            None => self.mix.draw(&mut self.which_way),
        }
    }

    /// The next request.
    #[inline]
    pub fn next_request(&mut self) -> Request {
        if let Some(only) = self.only {
            let places = &mut self.places[only.target as usize];
            return Request {
                target: only.target,
                direction: only.direction,
                len: only.len,
                offset: places.next(u64::from(only.len), &mut self.where_to),
            };
        }
        let direction = self.direction();
        self.request(direction)
    }

    /// The next request, in this direction.
    #[inline(always)]
    pub fn request(&mut self, direction: Direction) -> Request {
        if self.refined.is_some() {
            return self.refined_request(direction);
        }
        let (target, len) = self.target_and_len(direction);
        let sizes = &self.sizes[direction as usize];
        let (places, chance) = (&mut self.places[target], &mut self.where_to);
        let bytes = u64::from(len);
        let (offset, bytes) = match sizes {
            Sizes::Fixed(_) => (places.next(bytes, chance), bytes),
            _ => places.next_of_sizes(bytes, chance, |room| {
                sizes.draw_within(room, len, &mut self.how_big).into()
            }),
        };
        Request {
            target: target as u32,
            direction,
            // Never longer than what was drawn, which has 32 bits.
            len: bytes as u32,
            offset,
        }
    }

    /// Target and length of the next request.
    #[inline(always)]
    fn target_and_len(&mut self, direction: Direction) -> (usize, u32) {
        let len = self.sizes[direction as usize].draw(&mut self.how_big);
        let mut target = self.targets.next(len);
        if self.targets.finishes() && self.places[target].is_covered() {
            target = self.uncovered(target, direction);
        }
        let sizes = &self.sizes[direction as usize];
        match self.places[target].room() {
            Some(room) if room < u64::from(len) => {
                (target, sizes.draw_within(room, len, &mut self.how_big))
            }
            _ => (target, len),
        }
    }

    /// Target and length of the next request of a refined job.
    fn refined_target_and_len(&mut self, direction: Direction) -> (usize, u32) {
        let len = self.sizes[direction as usize].draw(&mut self.how_big);
        match &self.refined {
            Some(refined) if refined.routes.is_empty() && refined.in_pieces => {
                // The length may still be cut, so the target cannot count it; its places show when it
                // is covered.
                let target = self.targets.next(0);
                (self.uncovered(target, direction), len)
            }
            Some(refined) if refined.routes.is_empty() => self.target_and_len(direction),
            _ if self.targets.are_few() => {
                let target = self.targets.next(len);
                (self.uncovered(target, direction), len)
            }
            _ => (self.targets.next(len), len),
        }
    }

    /// This target, or the next one that the pass has not covered. If it has covered all, this one in
    /// a new pass.
    fn uncovered(&mut self, target: usize, direction: Direction) -> usize {
        if self.targets.are_few() {
            return self.uncovered_of_few(target, direction);
        }
        let count = self.places.len();
        let mut others = (0..count).map(|step| (target + step) % count);
        if let Some(open) = others.find(|target| !self.places[*target].is_covered()) {
            if open != target {
                self.targets.turn_to(open);
            }
            return open;
        }
        for places in &mut self.places {
            places.begin_again(&mut self.where_to);
        }
        target
    }

    /// This target, or the next open one that the pass has not covered, for a job that works on few
    /// targets at a time. If the pass has covered all, the first target of a new pass.
    #[inline(never)]
    fn uncovered_of_few(&mut self, target: usize, direction: Direction) -> usize {
        let mut named = Some(target);
        while let Some(target) = named {
            if !self.is_covered(target, direction) {
                return target;
            }
            named = self.targets.after(target);
        }
        for places in &mut self.places {
            places.begin_again(&mut self.where_to);
        }
        let refined = self.refined.iter_mut();
        let routes = refined.flat_map(|refined| &mut refined.routes);
        routes.for_each(Route::begin_again);
        self.targets.begin_again();
        // Only targets that take turns by bytes need a length.
        self.targets.next(0)
    }

    /// Whether the pass has covered a target, or this direction of it.
    fn is_covered(&mut self, target: usize, direction: Direction) -> bool {
        let places = &mut self.places[target];
        let refined = self.refined.as_ref();
        if let Some(route) = refined.and_then(|refined| refined.routes.get(target)) {
            route.go_to(places, direction);
        }
        places.is_covered()
    }

    /// The next request where settings refine the pattern; one that was set aside comes first.
    #[inline(never)]
    fn refined_request(&mut self, direction: Direction) -> Request {
        let pending = self
            .refined
            .as_mut()
            .and_then(|refined| refined.pending.take());
        if let Some(pending) = pending {
            return pending;
        }
        let (target, len) = self.refined_target_and_len(direction);
        let bytes = u64::from(len);
        let Some(refined) = &mut self.refined else {
            unreachable!("only called where something is refined");
        };
        refined.last = direction;
        let (places, chance) = (&mut self.places[target], &mut self.where_to);
        let (offset, bytes) = match refined.routes.get_mut(target) {
            Some(route) => route.next(places, direction, bytes, chance),
            None => {
                let (sizes, unit) = (
                    &self.sizes[direction as usize],
                    refined.units[direction as usize],
                );
                places.fit(bytes, unit, chance, |room| {
                    sizes.draw_within(room, len, &mut self.how_big).into()
                })
            }
        };
        let request = Request {
            target: target as u32,
            direction,
            // Never longer than what was drawn, which has 32 bits.
            len: bytes as u32,
            offset,
        };
        if !(refined.trim_first && direction == Direction::Write) {
            return request;
        }
        refined.pending = Some(request);
        Request {
            direction: Direction::Trim,
            ..request
        }
    }
}

/// Distance between two possible random offsets, and the smallest and the largest block.
fn blocks(job: &Job) -> (u64, u64, u64) {
    let (smallest, largest) = job.occurring_blocks();
    if !job.pattern.every_block_once() {
        return (grain(job, smallest.0), smallest.0, largest.0);
    }
    match job.piece() {
        Some(piece) => (piece.0, piece.0, largest.0),
        // A block that is hit once must not overlap any other block.
        None => (largest.0.max(grain(job, smallest.0)), largest.0, largest.0),
    }
}

/// Refuses an extent with more pieces than a map of them may have.
fn check_pieces(job: &Job, extent: Extent) -> Result<(), Invalid> {
    match job.piece() {
        Some(piece) if extent.len / piece.0 > MOST_PIECES => Err(Invalid {
            field: "pattern",
            message: format!(
                "hitting each of {} bytes once needs a map of more than {MOST_PIECES} blocks of {} \
                 bytes: a larger smallest block, or blocks of one size, need less",
                extent.len, piece.0
            ),
        }),
        _ => Ok(()),
    }
}

/// The smallest alignment of the directions that the job uses; without one, its smallest block.
fn grain(job: &Job, smallest: u64) -> u64 {
    let Some(align) = job.align else {
        return smallest;
    };
    let shares = [job.mix.read, job.mix.write, job.mix.trim];
    let used = align.iter().zip(shares).filter(|(_, share)| *share > 0);
    used.map(|(align, _)| align.0).min().unwrap_or(smallest)
}

/// How directions are drawn; a single one costs no draw.
#[derive(Debug, Clone, Copy)]
enum Directions {
    Only(Direction),
    Mixed { read_below: u64, write_below: u64 },
}

impl Directions {
    fn new(mix: crate::Mix) -> Self {
        match (mix.read, mix.write, mix.trim) {
            (100, ..) => Self::Only(Direction::Read),
            (_, 100, _) => Self::Only(Direction::Write),
            (_, _, 100) => Self::Only(Direction::Trim),
            (read, write, _) => Self::Mixed {
                read_below: threshold(read),
                write_below: threshold(read + write),
            },
        }
    }

    /// The direction of the next request.
    #[inline(always)]
    fn draw(self, chance: &mut Stream) -> Direction {
        match self {
            Self::Only(direction) => direction,
            Self::Mixed {
                read_below,
                write_below,
            } => match chance.next_u64() {
                pick if pick < read_below => Direction::Read,
                pick if pick < write_below || write_below == u64::MAX => Direction::Write,
                _ => Direction::Trim,
            },
        }
    }
}

/// How sizes are drawn; a single one costs no draw.
#[derive(Debug, Clone)]
enum Sizes {
    Fixed(u32),
    Weighted {
        /// Each size after the sum of the weights up to it.
        steps: Vec<(u64, u32)>,
        total: u64,
    },
    /// Multiples of the smallest.
    Multiples {
        smallest: u32,
        largest: u32,
    },
    AnyByte {
        smallest: u32,
        largest: u32,
    },
}

impl Sizes {
    fn new(mix: &SizeMix, draw: SizeDraw) -> Self {
        if let [(size, _)] = mix.0[..] {
            return Self::Fixed(size.0 as u32);
        }
        let (smallest, largest) = (mix.smallest().0 as u32, mix.largest().0 as u32);
        match draw {
            SizeDraw::Listed => {}
            SizeDraw::Multiples => return Self::Multiples { smallest, largest },
            SizeDraw::AnyByte => return Self::AnyByte { smallest, largest },
        }
        let mut total = 0;
        let mut steps = Vec::with_capacity(mix.0.len());
        for (size, weight) in &mix.0 {
            total += u64::from(*weight);
            steps.push((total, size.0 as u32));
        }
        Self::Weighted { steps, total }
    }

    #[inline(always)]
    fn draw(&self, chance: &mut Stream) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            _ => self.draw_one(chance),
        }
    }

    /// A size that fits into the room, if one is found, else the one that was drawn: fio draws again
    /// where an operation would reach beyond the end of its file.
    #[cold]
    fn draw_within(&self, room: u64, drawn: u32, chance: &mut Stream) -> u32 {
        if u64::from(self.smallest()) > room {
            return drawn;
        }
        // If no small size comes up in that many draws, the rest of the region is left out.
        (0..1000)
            .map(|_| self.draw(chance))
            .find(|len| u64::from(*len) <= room)
            .unwrap_or(drawn)
    }

    fn smallest(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Weighted { steps, .. } => {
                let sizes = steps.iter().map(|(_, size)| *size);
                sizes.min().unwrap_or(u32::MAX)
            }
            Self::Multiples { smallest, .. } | Self::AnyByte { smallest, .. } => *smallest,
        }
    }

    /// The only size, one by its weight, or any in a range: multiples of the smallest, or of any
    /// length.
    fn draw_one(&self, chance: &mut Stream) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Weighted { steps, total } => {
                let pick = chance.below(*total);
                let step = steps.iter().find(|(end, _)| pick < *end);
                step.map_or(0, |(_, size)| *size)
            }
            Self::Multiples { smallest, largest } => {
                let (smallest, largest) = (u64::from(*smallest), u64::from(*largest));
                let steps = chance.below(largest) / smallest + 1;
                (steps * smallest).min(largest) as u32
            }
            Self::AnyByte { smallest, largest } => {
                smallest + chance.below(u64::from(largest - smallest) + 1) as u32
            }
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
