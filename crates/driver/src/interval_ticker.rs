//! In: the counters of all recorders. Out: the slices that an observer requests, job by job, with the
//! ramp.

use blocklab_record::{IntervalData, LatencySum, Served};
use blocklab_units::Nanos;
use blocklab_worker::{DirectionCounters, latency_sum};
use blocklab_workload::{Direction, Job};

use super::event::{Event, Observer};
use super::workers::{WorkerStatus, members_of};

/// The sum of some counters at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counted {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) service: LatencySum,
}

impl Counted {
    pub(crate) fn sum(by_thread: &[&DirectionCounters]) -> Self {
        Self {
            ios: by_thread.iter().map(|counters| counters.ios.get()).sum(),
            bytes: by_thread.iter().map(|counters| counters.bytes.get()).sum(),
            service: latency_sum(by_thread.iter().map(|counters| &counters.service)),
        }
    }
}

/// The sum of all recorders of one direction of a job at one moment.
#[derive(Debug, Clone, Default)]
struct JobTotals {
    all: Counted,
    /// The longest service latency of the measured time alone, in nanoseconds; 0 as long as nothing has
    /// ended in it.
    longest: u64,
    /// The longest of the ramp, and how many operations ended in it.
    ramp_longest: u64,
    ramp_ios: u64,
}

impl JobTotals {
    /// The counters, with or without what ended during the ramp.
    fn new(members: &[WorkerStatus], job: usize, warm: bool, direction: Direction) -> Self {
        let (mut all, mut ramp) = (Vec::new(), Vec::new());
        for member in members_of(members, job) {
            all.extend(member.recorder.all_counters(direction));
            if let Some(recorder) = member.recorder.warm().filter(|_| warm) {
                ramp.extend(recorder.counters(direction));
            }
        }
        let measured = longest(&all);
        all.extend(&ramp);
        Self {
            all: Counted::sum(&all),
            longest: measured,
            ramp_longest: longest(&ramp),
            ramp_ios: ramp.iter().map(|counters| counters.ios.get()).sum(),
        }
    }

    /// A latency that no operation since `earlier` exceeds. That of the ramp counts only if operations
    /// of the ramp have ended since then.
    fn longest_since(&self, earlier: &Self) -> u64 {
        if self.ramp_ios > earlier.ramp_ios {
            self.longest.max(self.ramp_longest)
        } else {
            self.longest
        }
    }

    /// What was served between two moments.
    fn since(&self, earlier: &Self) -> Served {
        let (now, before) = (&self.all, &earlier.all);
        let (lowest, highest) = now
            .service
            .histogram
            .since(&before.service.histogram)
            .bounds();
        Served {
            ios: now.ios.saturating_sub(before.ios),
            bytes: now.bytes.saturating_sub(before.bytes),
            sum_ns: (now.service.sum - before.service.sum).max(0.0),
            sum_squares: (now.service.sum_squares - before.service.sum_squares).max(0.0),
            min_ns: lowest,
            // The end of the highest bucket lies up to a bucket above the longest latency.
            max_ns: highest.min(self.longest_since(earlier)),
        }
    }
}

fn longest(by_thread: &[&DirectionCounters]) -> u64 {
    by_thread
        .iter()
        .map(|counters| counters.longest())
        .max()
        .unwrap_or(0)
}

/// Cuts the slices that an observer requests.
pub(crate) struct IntervalTicker {
    every: Nanos,
    start: Nanos,
    begun: Nanos,
    number: u32,
    /// The totals of reads and writes of each job when the last slice ended.
    before: Vec<[JobTotals; 2]>,
    /// Whether each job is in a pool. Those are Vdbench's, which shows its warm-up in every interval;
    /// the other tools do not.
    pooled: Vec<bool>,
}

/// A shorter rest at the end is not a slice, unless it is the only one.
const SHORTEST: Nanos = Nanos::from_millis(10);

impl IntervalTicker {
    /// `None` if the observer requests no slices.
    pub(crate) fn new(observer: &dyn Observer, start: Nanos, jobs: &[Job]) -> Option<Self> {
        let every = observer
            .interval_length()
            .filter(|every| *every > Nanos::ZERO)?;
        Some(Self {
            every,
            start,
            begun: start,
            number: 0,
            before: vec![Default::default(); jobs.len()],
            pooled: jobs.iter().map(|job| job.pool.is_some()).collect(),
        })
    }

    /// When the next slice ends.
    pub(crate) fn boundary(&self) -> Nanos {
        self.start + Nanos(self.every.0 * u64::from(self.number + 1))
    }

    /// Passes on every slice that has ended.
    pub(crate) fn cut_due(
        &mut self,
        members: &[WorkerStatus],
        now: Nanos,
        observer: &mut dyn Observer,
    ) {
        while now >= self.boundary() {
            self.cut(members, self.boundary(), observer);
        }
    }

    /// Passes on the rest.
    pub(crate) fn finish(
        &mut self,
        members: &[WorkerStatus],
        now: Nanos,
        last: Nanos,
        observer: &mut dyn Observer,
    ) {
        let end = now.min(last);
        self.cut_due(members, end, observer);
        let long_enough = end.since(self.begun) >= SHORTEST || self.number == 0;
        if long_enough && end > self.begun {
            self.cut(members, end, observer);
        }
    }

    /// Ends a slice at `end` and passes it on.
    fn cut(&mut self, members: &[WorkerStatus], end: Nanos, observer: &mut dyn Observer) {
        let directions = [Direction::Read, Direction::Write];
        let totals: Vec<[JobTotals; 2]> = (0..self.before.len())
            .map(|job| {
                let warm = self.pooled[job];
                directions.map(|direction| JobTotals::new(members, job, warm, direction))
            })
            .collect();
        let jobs = totals
            .iter()
            .zip(&self.before)
            .map(|(now, before)| [0, 1].map(|direction| now[direction].since(&before[direction])));
        self.number += 1;
        let slice = IntervalData {
            number: self.number,
            end: end.since(self.start),
            length: end.since(self.begun),
            jobs: jobs.collect(),
        };
        self.before = totals;
        self.begun = end;
        observer.event(Event::Slice(&slice));
    }
}
