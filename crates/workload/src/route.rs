//! In: the offsets of a pattern. Out: the same with the refinements that few jobs need: runs, a
//! moving window, alignments and a position for each direction. Apart from `place`, so that most
//! jobs do not pay for them.

use blocklab_random::Stream;

use crate::{Direction, Extent, Invalid, Job, MovingWindow, Places, Runs};

/// The refined offsets of one thread's operations on one target.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    extent: Extent,
    align: Option<[u64; 3]>,
    /// Smallest size by direction.
    units: [u64; 3],
    runs: Option<Runs>,
    /// Operations of the run that are still to come.
    left: u32,
    /// Offset of the last operation, of each direction if each has its own position.
    last: [u64; 3],
    /// Where the next operation of its run begins, likewise.
    next: [u64; 3],
    window: Option<Walk>,
    /// Sequential position of each direction, if each has its own.
    positions: Option<[u64; 3]>,
    /// Random share of each direction in per cent, if the pattern has none or each has its own.
    random_percent: Option<[u8; 3]>,
}

/// Position of a moving window.
#[derive(Debug, Clone, Copy)]
struct Walk {
    rule: MovingWindow,
    /// Its offset in the region.
    base: u64,
    /// Bytes to transfer before it moves on.
    left: u64,
}

impl Route {
    /// Whether a job needs it.
    pub(crate) const fn is_requested(job: &Job) -> bool {
        job.align.is_some()
            || job.runs.is_some()
            || job.window.is_some()
            || job.per_direction_position
            || job.random_percent.is_some()
    }

    /// Refines `places`, which were made for the extent that [`Route::inner`] gives.
    pub(crate) fn new(job: &Job, places: &Places, extent: Extent) -> Self {
        Self {
            positions: job.per_direction_position.then(|| [places.position(); 3]),
            random_percent: job.random_percent,
            extent,
            units: job.sizes.all().map(|mix| mix.smallest().0),
            align: job.align.map(|align| align.map(|bytes| bytes.0)),
            runs: job.runs,
            left: 0,
            last: [0; 3],
            next: [0; 3],
            window: job.window.map(|rule| Walk {
                rule,
                base: 0,
                left: rule.bytes.0,
            }),
        }
    }

    /// The part of an extent in which the pattern draws its offsets: all of it, or a window.
    ///
    /// # Errors
    /// [`Invalid`] when the window is longer than the region.
    pub(crate) fn inner(job: &Job, extent: Extent) -> Result<Extent, Invalid> {
        let Some(window) = job.window else {
            return Ok(extent);
        };
        if window.range.0 > extent.len {
            return Err(Invalid {
                field: "window_range",
                message: format!(
                    "a window of {} bytes is longer than the region of {} bytes",
                    window.range.0, extent.len
                ),
            });
        }
        let len = window.range.0;
        Ok(Extent { len, ..extent })
    }

    /// Whether the next operation must have the direction of the last one.
    pub(crate) fn keeps_direction(&self) -> bool {
        self.left > 0 && self.runs.is_some_and(|runs| runs.one_way)
    }

    /// The next offset and length for an operation of `len` bytes.
    pub(crate) fn next(
        &mut self,
        places: &mut Places,
        direction: Direction,
        len: u64,
        chance: &mut Stream,
    ) -> (u64, u64) {
        self.move_window(places, direction, len, chance);
        let base = self.window.map_or(0, |walk| walk.base);
        let (offset, len) = match self.follow_on(direction, len, base) {
            Some(offset) => (offset, len),
            None => {
                self.left = self.runs.map_or(0, |runs| runs.length - 1);
                let (offset, len) = self.draw(places, direction, len, chance);
                (base + offset, len)
            }
        };
        let step = self.runs.and_then(|runs| runs.step);
        let own = self.own(direction);
        self.last[own] = offset;
        self.next[own] = offset + step.map_or(len, |step| step.0);
        let follows = self.runs.map_or(0, |runs| runs.follow_percent);
        if self.left == 0 && follows > 0 {
            self.left = u32::from(chance.below(100) < u64::from(follows));
        }
        (offset, len)
    }

    /// Moves `places` to the position of this direction.
    pub(crate) fn go_to(&self, places: &mut Places, direction: Direction) {
        if let Some(positions) = &self.positions {
            places.go_to(positions[direction as usize]);
        }
    }

    /// Begins a new pass.
    pub(crate) fn begin_again(&mut self) {
        self.positions = self.positions.map(|_| [0; 3]);
    }

    /// Offset and length of the next operation of at most `len` bytes.
    fn draw(
        &mut self,
        places: &mut Places,
        direction: Direction,
        len: u64,
        chance: &mut Stream,
    ) -> (u64, u64) {
        let which = direction as usize;
        self.go_to(places, direction);
        if let Some(percent) = self.random_percent {
            places.set_random_percent(percent[which]);
        }
        let (offset, len) = places.fit(len, self.units[which], chance, |_| len);
        if let Some(positions) = &mut self.positions {
            positions[which] = places.position();
        }
        match self.align {
            Some(align) if !places.is_sequential() => {
                let begin = self.extent.offset;
                (begin + (offset - begin) / align[which] * align[which], len)
            }
            _ => (offset, len),
        }
    }

    /// The index of what this direction has for itself, or shares with the others.
    fn own(&self, direction: Direction) -> usize {
        self.positions.map_or(0, |_| direction as usize)
    }

    /// The offset of the next operation of a run, if the run goes on and there is room.
    fn follow_on(&mut self, direction: Direction, len: u64, base: u64) -> Option<u64> {
        let runs = self.runs.filter(|_| self.left > 0)?;
        let range = self
            .window
            .map_or(self.extent.len, |walk| walk.rule.range.0);
        let begin = self.extent.offset + base;
        let from = if runs.same { self.last } else { self.next };
        // A direction that had no operation yet, or none in this window, begins with it.
        let offset = from[self.own(direction)].max(begin);
        self.left -= 1;
        (offset + len <= begin + range).then_some(offset)
    }

    /// Moves the window on once its bytes are done, before an operation of `len` bytes.
    fn move_window(
        &mut self,
        places: &mut Places,
        direction: Direction,
        len: u64,
        chance: &mut Stream,
    ) {
        let Some(walk) = &mut self.window else { return };
        let end = self.extent.len;
        let range = walk.rule.range.0;
        let positions = self.positions;
        let at = positions.map_or(places.position(), |all| all[direction as usize]);
        // Only a sequential job works in a window that the end of the region cuts short.
        let is_over = walk.base + range > end && walk.base + at + len > end;
        if walk.left == 0 || is_over {
            walk.base += range + walk.rule.skip.0;
            let needs = if places.is_gapless() { len } else { range };
            if walk.base + needs > end {
                walk.base = 0;
            }
            walk.left = walk.rule.bytes.0;
            self.left = 0;
            places.begin_again(chance);
            self.positions = self.positions.map(|_| [0; 3]);
        }
        walk.left = walk.left.saturating_sub(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockSizes, Mix, Pattern, Requests, SizeDraw, SizeMix};
    use blocklab_units::Bytes;
    use std::collections::{BTreeMap, HashSet};

    fn offsets(job: &Job, size: u64, n: usize) -> Vec<u64> {
        let mut requests = Requests::new(job, 7, 0, &[size]).unwrap();
        (0..n).map(|_| requests.next_request().offset).collect()
    }

    fn random() -> Job {
        Job::new("route")
    }

    fn sequential() -> Job {
        Job {
            pattern: Pattern::Sequential,
            ..random()
        }
    }

    #[test]
    fn a_run_follows_each_random_offset() {
        let mut job = random();
        let run = |same| Runs {
            length: 4,
            same,
            ..Runs::default()
        };
        job.runs = Some(run(false));
        for run in offsets(&job, 1 << 30, 400).chunks(4) {
            let steps = run.windows(2).all(|pair| pair[1] == pair[0] + 4096);
            assert!(steps, "{run:?}");
        }
        job.runs = Some(run(true));
        let offsets = offsets(&job, 1 << 30, 400);
        assert!(
            offsets
                .chunks(4)
                .all(|run| run.iter().all(|offset| *offset == run[0]))
        );
        assert!(offsets.iter().collect::<HashSet<_>>().len() > 90);
    }

    #[test]
    fn runs_by_chance_keep_their_step_and_their_way() {
        let mut job = random();
        job.mix = Mix::reads(50);
        job.runs = Some(Runs {
            follow_percent: 75,
            step: Some(Bytes(8192)),
            one_way: true,
            ..Runs::default()
        });
        let mut requests = Requests::new(&job, 7, 0, &[1 << 40]).unwrap();
        let stream: Vec<_> = (0..40_000).map(|_| requests.next_request()).collect();
        let pairs = || stream.windows(2);
        let follows = |pair: &[crate::Request]| pair[1].offset == pair[0].offset + 8192;
        let following = pairs().filter(|pair| follows(pair)).count();
        assert!((29_500..30_500).contains(&following), "{following}");
        let turns = pairs().filter(|pair| follows(pair) && pair[0].direction != pair[1].direction);
        assert_eq!(turns.count(), 0);
        let reads = stream
            .iter()
            .filter(|request| request.direction == Direction::Read);
        let reads = reads.count();
        assert!((18_500..21_500).contains(&reads), "{reads}");
    }

    #[test]
    fn a_window_moves_on_over_the_skipped_part_and_begins_again() {
        let mut job = sequential();
        let kib = |kib: u64| Bytes(kib << 10);
        job.window = Some(MovingWindow {
            bytes: kib(8),
            range: kib(16),
            skip: kib(16),
        });
        // Two blocks a window, a window every 32 KiB, and room for three of them.
        let blocks: Vec<u64> = offsets(&job, 96 << 10, 8).iter().map(|o| o >> 12).collect();
        assert_eq!(blocks, [0, 1, 8, 9, 16, 17, 0, 1]);
        job.pattern = Pattern::RANDOM;
        let inside = offsets(&job, 96 << 10, 600);
        assert!(inside.iter().all(|offset| offset % (32 << 10) < (16 << 10)));
    }

    /// The last window of a region was left out where the region's end cuts it, by jobs that would
    /// work on its beginning in order, too.
    #[test]
    fn a_window_that_the_end_cuts_is_worked_on_as_far_as_it_goes() {
        let mut job = sequential();
        job.window = Some(MovingWindow {
            bytes: Bytes(12 << 10),
            range: Bytes(16 << 10),
            skip: Bytes(16 << 10),
        });
        let blocks = |size: u64| -> Vec<u64> {
            let offsets = offsets(&job, size << 10, 9);
            offsets.iter().map(|offset| offset >> 12).collect()
        };
        assert_eq!(blocks(72), [0, 1, 2, 8, 9, 10, 16, 17, 0]);
        assert_eq!(blocks(66), [0, 1, 2, 8, 9, 10, 0, 1, 2]);
        assert_eq!(blocks(64), [0, 1, 2, 8, 9, 10, 0, 1, 2]);
    }

    #[test]
    fn alignments_hold_by_direction() {
        let mut job = random();
        job.mix = Mix::reads(50);
        job.align = Some([Bytes(512), Bytes(65536), Bytes(512)]);
        let mut requests = Requests::new(&job, 7, 0, &[64 << 20]).unwrap();
        let mut below_a_block = 0;
        for _ in 0..2000 {
            let request = requests.next_request();
            assert!(request.offset + 4096 <= 64 << 20);
            match request.direction {
                Direction::Write => assert!(request.offset.is_multiple_of(65536)),
                _ => {
                    assert!(request.offset.is_multiple_of(512));
                    below_a_block += u32::from(!request.offset.is_multiple_of(4096));
                }
            }
        }
        assert!(below_a_block > 700, "reads overlap: {below_a_block}");
    }

    #[test]
    fn directions_advance_independently() {
        let mut job = sequential();
        job.per_direction_position = true;
        job.mix = Mix::reads(50);
        let mut requests = Requests::new(&job, 7, 0, &[1 << 20]).unwrap();
        let mut next = [0, 0];
        for _ in 0..100 {
            let request = requests.next_request();
            let which = request.direction as usize;
            assert_eq!(request.offset, next[which]);
            next[which] += 4096;
        }
    }

    /// Of `percentage_random=100,0`, writes went to random places as the reads did: one share held for
    /// all directions.
    #[test]
    fn reads_may_be_random_and_writes_sequential() {
        let mut job = random();
        job.pattern = Pattern::PercentRandom(100);
        job.random_percent = Some([100, 0, 0]);
        job.per_direction_position = true;
        job.mix = Mix::reads(50);
        let mut requests = Requests::new(&job, 7, 0, &[1 << 30]).unwrap();
        let (mut next_write, mut last_read, mut following) = (0, 0, 0);
        for _ in 0..10_000 {
            let request = requests.next_request();
            if request.direction == Direction::Write {
                assert_eq!(request.offset, next_write);
                next_write += 4096;
            } else {
                following += u32::from(request.offset == last_read + 4096);
                last_read = request.offset;
            }
        }
        assert!(following < 5, "{following} reads follow another");
    }

    /// Of `rw=randrw:4`, a read went on where a write had ended, and a write where a read had.
    #[test]
    fn each_direction_continues_a_run_where_it_ended_itself() {
        let mut job = random();
        job.mix = Mix::reads(50);
        job.runs = Some(Runs {
            length: 4,
            ..Runs::default()
        });
        job.per_direction_position = true;
        let mut requests = Requests::new(&job, 7, 0, &[1 << 40]).unwrap();
        let (mut next, mut following) = ([0; 3], [0; 3]);
        for _ in 0..10_000 {
            let request = requests.next_request();
            let which = request.direction as usize;
            following[which] += u32::from(request.offset == next[which]);
            next[which] = request.offset + 4096;
        }
        // Three of four operations.
        for following in &following[..2] {
            assert!((3500..4000).contains(following), "{following} of 5,000");
        }
    }

    /// Of `percentage_random=50` with `random_distribution=zipf:2`, the random half was even.
    #[test]
    fn the_random_share_of_a_skewed_pattern_is_skewed() {
        let mut job = random();
        job.pattern = Pattern::Zipf { theta: 2.0 };
        job.random_percent = Some([50; 3]);
        let mut requests = Requests::new(&job, 7, 0, &[1 << 30]).unwrap();
        let (mut last, mut following, mut hits) = (0, 0, BTreeMap::new());
        for _ in 0..10_000 {
            let offset = requests.next_request().offset;
            if offset == last + 4096 {
                following += 1;
            } else {
                *hits.entry(offset).or_insert(0) += 1;
            }
            last = offset;
        }
        assert!((4800..5200).contains(&following), "{following} in a row");
        // The first of 262,144 ranks has 61 %.
        let most = hits.into_values().max().unwrap();
        assert!((2800..3300).contains(&most), "{most} hits of one block");
    }

    #[test]
    fn sizes_between_two_ends() {
        let mut job = random();
        job.sizes = BlockSizes {
            read: SizeMix(vec![(Bytes(512), 1), (Bytes(2048), 1)]),
            ..BlockSizes::fixed(Bytes(512))
        };
        let mut seen = |draw| {
            job.size_draw = draw;
            let mut requests = Requests::new(&job, 7, 0, &[1 << 20]).unwrap();
            let lens: HashSet<u32> = (0..20_000).map(|_| requests.next_request().len).collect();
            assert_eq!(
                (lens.iter().min(), lens.iter().max()),
                (Some(&512), Some(&2048))
            );
            lens.len()
        };
        assert_eq!(seen(SizeDraw::Multiples), 4);
        assert_eq!(seen(SizeDraw::AnyByte), 2048 - 512 + 1);
    }
}
