//! IntervalSeries at a rhythm that the tap asks for, job by job, the ramp included.

use blocklab_stats::Histogram;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Job};

use super::Tap;
use super::workers::WorkerStatus;
use blocklab_worker::{DirectionCounters, LatencySum};

/// What one direction of a job did in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DirectionInterval {
    /// Completed operations.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Service latencies added up, in nanoseconds.
    pub sum_ns: f64,
    /// Their squares added up.
    pub sum_squares: f64,
    /// The shortest, to the lower edge of its histogram bucket (at most 1/64 less).
    pub min_ns: u64,
    /// The longest, to the upper edge of its histogram bucket (at most 1/64 more), and never above
    /// the longest of the run so far, which is known exactly.
    pub max_ns: u64,
}

/// A stretch of a run, job by job.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalData {
    /// From 1.
    pub number: u32,
    /// When it ended, since the start of the run.
    pub end: Nanos,
    /// How long it was.
    pub length: Nanos,
    /// Reads and writes of each job, in the order of the workload.
    pub jobs: Vec<[DirectionInterval; 2]>,
}

/// What all recorders of one direction of a job held at one moment.
#[derive(Debug, Clone)]
struct Held {
    ios: u64,
    bytes: u64,
    sum: f64,
    sum_squares: f64,
    /// The longest of the measured time alone; 0 as long as nothing has ended in it.
    longest: u64,
    /// The longest of the ramp, and what ended in it.
    ramp_longest: u64,
    ramp_ios: u64,
    histogram: Histogram,
}

impl Held {
    fn nothing() -> Self {
        Self {
            ios: 0,
            bytes: 0,
            sum: 0.0,
            sum_squares: 0.0,
            longest: 0,
            ramp_longest: 0,
            ramp_ios: 0,
            histogram: Histogram::new(),
        }
    }

    /// With what ended during the ramp, or without.
    fn of(members: &[WorkerStatus], job: usize, warm: bool, direction: Direction) -> Self {
        let mine = || members.iter().filter(move |member| member.job == job);
        let measured = || mine().filter_map(move |member| member.recorder.tally(direction));
        let ramps = mine().filter_map(|member| member.recorder.warm().filter(|_| warm));
        let ramp: Vec<&DirectionCounters> =
            ramps.filter_map(|ramp| ramp.tally(direction)).collect();
        let tallies = || measured().chain(ramp.iter().copied());
        if tallies().next().is_none() {
            return Self::nothing();
        }
        let histogram = LatencySum::of(tallies().map(|tally| &tally.service));
        Self {
            ios: tallies().map(|tally| tally.ios.get()).sum(),
            bytes: tallies().map(|tally| tally.bytes.get()).sum(),
            sum: histogram.sum,
            sum_squares: histogram.sum_squares,
            longest: measured()
                .map(DirectionCounters::longest)
                .max()
                .unwrap_or(0),
            ramp_longest: ramp.iter().map(|tally| tally.longest()).max().unwrap_or(0),
            ramp_ios: ramp.iter().map(|tally| tally.ios.get()).sum(),
            histogram: histogram.histogram,
        }
    }

    /// No operation since `earlier` took longer: that of the ramp counts while it goes on.
    fn bound(&self, earlier: &Self) -> u64 {
        match self.ramp_ios > earlier.ramp_ios {
            true => self.longest.max(self.ramp_longest),
            false => self.longest,
        }
    }

    fn since(&self, earlier: &Self) -> DirectionInterval {
        let fresh = self.histogram.since(&earlier.histogram);
        let lowest = fresh.counts().iter().position(|count| *count > 0);
        let highest = fresh.counts().iter().rposition(|count| *count > 0);
        DirectionInterval {
            ios: self.ios.saturating_sub(earlier.ios),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            sum_ns: (self.sum - earlier.sum).max(0.0),
            sum_squares: (self.sum_squares - earlier.sum_squares).max(0.0),
            min_ns: lowest.map_or(0, Histogram::lowest),
            max_ns: highest
                .map_or(0, Histogram::highest)
                .min(self.bound(earlier)),
        }
    }
}

/// Cuts slices for a tap that asked for them.
pub(crate) struct IntervalTicker {
    every: Nanos,
    start: Nanos,
    begun: Nanos,
    number: u32,
    before: Vec<[Held; 2]>,
    /// By job: whether it is in a pool. Vdbench, whose jobs those are, shows its warm-up in every
    /// interval; the other tools do not.
    pooled: Vec<bool>,
}

/// A shorter rest at the end is no slice, unless it is all there is.
const SHORTEST: Nanos = Nanos::from_millis(10);

impl IntervalTicker {
    /// Nothing where the tap asks for no slices.
    pub(crate) fn of(tap: &dyn Tap, start: Nanos, jobs: &[Job]) -> Option<Self> {
        let every = tap.interval_length().filter(|every| *every > Nanos::ZERO)?;
        Some(Self {
            every,
            start,
            begun: start,
            number: 0,
            before: vec![[Held::nothing(), Held::nothing()]; jobs.len()],
            pooled: jobs.iter().map(|job| job.pool.is_some()).collect(),
        })
    }

    /// When the next slice ends.
    pub(crate) fn boundary(&self) -> Nanos {
        self.start + Nanos(self.every.0 * u64::from(self.number + 1))
    }

    /// Tells of every slice that has ended.
    pub(crate) fn look(&mut self, members: &[WorkerStatus], now: Nanos, tap: &mut dyn Tap) {
        while now >= self.boundary() {
            self.cut(members, self.boundary(), tap);
        }
    }

    /// Tells of the rest.
    pub(crate) fn finish(
        &mut self,
        members: &[WorkerStatus],
        now: Nanos,
        last: Nanos,
        tap: &mut dyn Tap,
    ) {
        let end = now.min(last);
        self.look(members, end, tap);
        let long_enough = end.since(self.begun) >= SHORTEST || self.number == 0;
        if long_enough && end > self.begun {
            self.cut(members, end, tap);
        }
    }

    fn cut(&mut self, members: &[WorkerStatus], end: Nanos, tap: &mut dyn Tap) {
        let directions = [Direction::Read, Direction::Write];
        let held: Vec<[Held; 2]> = (0..self.before.len())
            .map(|job| {
                let warm = self.pooled[job];
                directions.map(|direction| Held::of(members, job, warm, direction))
            })
            .collect();
        let jobs = held.iter().zip(&self.before);
        let jobs = jobs.map(|(now, before)| [0, 1].map(|way| now[way].since(&before[way])));
        self.number += 1;
        let slice = IntervalData {
            number: self.number,
            end: end.since(self.start),
            length: end.since(self.begun),
            jobs: jobs.collect(),
        };
        self.before = held;
        self.begun = end;
        tap.slice(&slice);
    }
}
