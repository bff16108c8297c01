//! One-second slices of what the recorders count.

use blocklab_record::{Interval, IntervalDirection};
use blocklab_stats::Histogram;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Job};

use super::roster::Member;
use crate::recorder::SpectrumSum;

/// Length of the intervals of a series: a second, and in a run of more than an hour so many whole
/// seconds that there are at most 3,600 of them. A Record of a simulated day stays small.
pub(crate) fn interval(jobs: &[Job]) -> Nanos {
    let planned = jobs
        .iter()
        .filter_map(|job| Some(job.ramp.0 + job.stop.runtime?.0))
        .max();
    let seconds = planned
        .unwrap_or(0)
        .div_ceil(SECOND.0)
        .div_ceil(MOST)
        .max(1);
    Nanos(SECOND.0 * seconds)
}

const SECOND: Nanos = Nanos::from_secs(1);
const MOST: u64 = 3600;

/// Cuts the counters of all recorders into slices.
pub(crate) struct Slices {
    start: Nanos,
    ramp_end: Nanos,
    pub(crate) begun: Nanos,
    before: [DirectionSum; 3],
    cpu_before: u64,
}

/// What all recorders of a direction held at one moment.
struct DirectionSum {
    ios: u64,
    bytes: u64,
    sum: f64,
    histogram: Histogram,
}

impl DirectionSum {
    fn empty() -> Self {
        Self {
            ios: 0,
            bytes: 0,
            sum: 0.0,
            histogram: Histogram::new(),
        }
    }

    fn of(members: &[Member], direction: Direction) -> Self {
        let tallies = || members.iter().filter_map(|m| m.recorder.tally(direction));
        if tallies().next().is_none() {
            return Self::empty();
        }
        let spectrum = SpectrumSum::of(tallies().map(|tally| &tally.service));
        Self {
            ios: tallies().map(|tally| tally.ios.get()).sum(),
            bytes: tallies().map(|tally| tally.bytes.get()).sum(),
            sum: spectrum.sum,
            histogram: spectrum.histogram,
        }
    }

    fn since(&self, earlier: &Self) -> IntervalDirection {
        let histogram = self.histogram.since(&earlier.histogram);
        let count = histogram.count();
        let quantiles = histogram.quantiles(&[0.5, 0.99]);
        let highest = histogram.counts().iter().rposition(|count| *count > 0);
        IntervalDirection {
            ios: self.ios - earlier.ios,
            bytes: self.bytes - earlier.bytes,
            mean_ns: ((self.sum - earlier.sum).max(0.0) / count.max(1) as f64) as u64,
            p50_ns: quantiles[0],
            p99_ns: quantiles[1],
            max_ns: highest.map_or(0, Histogram::highest),
            ..IntervalDirection::default()
        }
    }
}

impl Slices {
    pub(crate) fn new(start: Nanos, ramp: Nanos, cpu: u64) -> Self {
        Self {
            start,
            ramp_end: start.saturating_add(ramp),
            begun: start,
            before: [
                DirectionSum::empty(),
                DirectionSum::empty(),
                DirectionSum::empty(),
            ],
            cpu_before: cpu,
        }
    }

    /// When the current slice is to be closed. The end of the ramp closes one, so that no slice
    /// holds time of which the operations were not counted.
    pub(crate) fn boundary(&self, length: Nanos) -> Nanos {
        let end = self.begun.saturating_add(length);
        if self.begun < self.ramp_end {
            end.min(self.ramp_end)
        } else {
            end
        }
    }

    /// Closes the current slice. `cpu` is the processor time of this process so far.
    pub(crate) fn slice(
        &mut self,
        members: &[Member],
        now: Nanos,
        cpu: u64,
        uring_workers: u32,
    ) -> Interval {
        let directions = [Direction::Read, Direction::Write, Direction::Trim];
        let sums = directions.map(|direction| DirectionSum::of(members, direction));
        let [read, write, trim] = [0, 1, 2].map(|index| sums[index].since(&self.before[index]));
        let interval = Interval {
            end_ns: now.since(self.start).0,
            length_ns: now.since(self.begun).0,
            // The look comes a moment after the boundary.
            ramp: self.begun < self.ramp_end,
            read,
            write,
            trim,
            cpu_ns: cpu - self.cpu_before,
            uring_workers,
        };
        self.before = sums;
        self.cpu_before = cpu;
        self.begun = now;
        interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_workload::Stop;

    #[test]
    fn long_runs_have_longer_slices() {
        let of = |seconds| {
            let stop = Stop {
                runtime: Some(Nanos::from_secs(seconds)),
                ..Stop::default()
            };
            interval(&[Job {
                stop,
                ..Job::new("slices")
            }])
        };
        assert_eq!(of(2), Nanos::from_secs(1));
        assert_eq!(of(3600), Nanos::from_secs(1));
        assert_eq!(of(3601), Nanos::from_secs(2));
        assert_eq!(of(86_400), Nanos::from_secs(24));
    }
}
