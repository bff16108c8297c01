//! In: the counters of all recorders. Out: the series of a run: the counters cut into slices of time.

use blocklab_record::{Interval, IntervalDirection};
use blocklab_units::Nanos;
use blocklab_worker::Window;
use blocklab_workload::{Direction, Job};

use super::interval_ticker::Counted;
use super::usage::Used;
use super::workers::WorkerStatus;

/// Length of the intervals of a series: a second. A run of more than an hour has at most 3,600 of
/// them, each of whole seconds, so that the Record of a simulated day stays small; one of less than
/// ten seconds has the longest of a few lengths that gives ten.
pub(crate) fn interval(jobs: &[Job]) -> Nanos {
    let planned = jobs
        .iter()
        .filter_map(|job| Some(job.ramp.0 + job.stop.runtime?.0))
        .max();
    let seconds = planned
        .unwrap_or(0)
        .div_ceil(SECOND.0)
        .div_ceil(MAX_INTERVALS)
        .max(1);
    match planned {
        Some(planned) if seconds == 1 && can_be_fine(jobs) => fine_interval(planned),
        _ => Nanos(SECOND.0 * seconds),
    }
}

/// The shortest slice once a run has lasted that long: a second in its first hour, and then in
/// proportion to its time. A load without a runtime may last for days of virtual time, and would
/// fill gigabytes of its Record by the second.
pub(crate) fn shortest_after(elapsed: Nanos) -> Nanos {
    Nanos(elapsed.0 / SECOND.0 / MAX_INTERVALS * SECOND.0)
}

/// Whether slices may be shorter than a second: adding up many threads takes time, and a steady
/// state is shown by the second.
fn can_be_fine(jobs: &[Job]) -> bool {
    let threads: u32 = jobs.iter().map(|job| job.threads).sum();
    threads <= 64 && jobs.iter().all(|job| job.stop.steady.is_none())
}

/// The interval of a run of at most an hour: the longest that cuts it into ten.
fn fine_interval(planned: u64) -> Nanos {
    let lengths = [1000, 500, 200].map(Nanos::from_millis);
    let enough = lengths.into_iter().find(|length| planned / length.0 >= 10);
    enough.unwrap_or(Nanos::from_millis(100))
}

const SECOND: Nanos = Nanos::from_secs(1);
const MAX_INTERVALS: u64 = 3600;

/// Cuts the counters of all recorders into slices.
pub(crate) struct IntervalSeries {
    start: Nanos,
    /// The start of the measured time.
    pub(crate) ramp_end: Nanos,
    /// When the last job should end.
    deadline: Nanos,
    /// When the current slice began.
    pub(crate) begun: Nanos,
    /// The counters of reads, writes and trims at that moment.
    before: [Counted; 3],
    /// Whether `before` was counted in the ramp.
    before_in_ramp: bool,
    /// Whether a search for a depth preceded the measured time.
    searched: bool,
    /// Processor time in ns at that moment.
    cpu_before: u64,
}

impl IntervalSeries {
    /// `cpu_ns`: processor time that was used before `start`.
    pub(crate) fn new(start: Nanos, windows: &[Window], cpu_ns: u64) -> Self {
        let mut series = Self {
            start,
            ramp_end: Nanos::MAX,
            deadline: Nanos::MAX,
            begun: start,
            before: Default::default(),
            before_in_ramp: false,
            searched: false,
            cpu_before: cpu_ns,
        };
        series.set_bounds(windows);
        series
    }

    /// The measured time begins with the first job whose ramp is over: its slices add up to the
    /// totals of all jobs, also where their ramps differ.
    pub(crate) fn set_bounds(&mut self, windows: &[Window]) {
        let measured = windows.iter().map(|window| window.measure_from).min();
        let deadline = windows.iter().map(|window| window.deadline).max();
        let ramp_end = measured.unwrap_or(self.start);
        // The measured time begins anew in this slice, with the last window of a search for a depth: the
        // slice is no longer measured. The search counts from zero after a ramp; until one of its slices is
        // closed, `before` is that of the ramp.
        if self.ramp_end < ramp_end && self.begun < ramp_end && ramp_end < Nanos::MAX {
            if self.before_in_ramp {
                self.before = Default::default();
            }
            self.searched = true;
            self.before_in_ramp = true;
        }
        self.ramp_end = ramp_end;
        self.deadline = deadline.unwrap_or(Nanos::MAX);
    }

    /// When the current slice ends. The end of the ramp ends one, so that a slice is either in the ramp
    /// or measured. A slice that would end less than half its length before or after the jobs do ends
    /// half a length after them, so that it has their last completions, too: a slice of a few operations in
    /// a millisecond would show no rate.
    pub(crate) fn boundary(&self, length: Nanos) -> Nanos {
        let end = self.begun.saturating_add(length);
        let half = Nanos(length.0 / 2);
        let latest = self.deadline.saturating_add(half);
        if self.begun < self.ramp_end {
            end.min(self.ramp_end)
        } else if end.saturating_add(half) >= self.deadline && end <= latest {
            latest
        } else {
            end
        }
    }

    /// Closes the current slice.
    pub(crate) fn slice(&mut self, members: &[WorkerStatus], now: Nanos, used: Used) -> Interval {
        let ramp = self.begun < self.ramp_end;
        // This runs a moment after the boundary, and what ended in between counts.
        let now = if ramp { now.min(self.ramp_end) } else { now };
        // The measured time has recorders of its own, which begin at zero. It may also begin in a slice
        // that is closed already: a worker reports the end of a ramp by bytes a moment after it.
        if ramp != self.before_in_ramp {
            self.before = Default::default();
            self.before_in_ramp = ramp;
        }
        let sums = Direction::MOVING.map(|direction| {
            let mut counters = Vec::new();
            for recorder in members.iter().map(|member| &*member.recorder) {
                if ramp {
                    counters.extend(recorder.counters_before(direction));
                } else if self.searched {
                    counters.extend(recorder.counters(direction));
                } else {
                    counters.extend(recorder.all_counters(direction));
                }
            }
            Counted::sum(&counters)
        });
        let [read, write, trim] =
            [0, 1, 2].map(|index| interval_direction(&sums[index], &self.before[index]));
        let interval = Interval {
            end_ns: now.since(self.start).0,
            length_ns: now.since(self.begun).0,
            ramp,
            read,
            write,
            trim,
            cpu_ns: used.cpu_ns - self.cpu_before,
            uring_workers: used.uring_workers,
        };
        self.before = sums;
        self.cpu_before = used.cpu_ns;
        self.begun = now;
        interval
    }
}

/// What one direction did between two moments.
fn interval_direction(now: &Counted, earlier: &Counted) -> IntervalDirection {
    // Most jobs have one direction, and empty histograms cost as much as full ones.
    if now.ios == earlier.ios && now.service.sum == earlier.service.sum {
        return IntervalDirection::default();
    }
    let (ios, bytes) = (now.ios - earlier.ios, now.bytes - earlier.bytes);
    IntervalDirection::between(ios, bytes, &now.service, &earlier.service)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use blocklab_worker::{Recorder, RecorderSpec};
    use blocklab_workload::{Direction, Stop};

    /// The story: a worker that ended its ramp by bytes just before the end of a second, and was heard
    /// just after it, left the ramp's operations to be taken from those of the measured time.
    #[test]
    fn a_ramp_that_is_known_late_to_be_over_takes_nothing_from_the_measured_time() {
        let recorder = Arc::new(Recorder::new(RecorderSpec {
            directions: [true, false, false, false],
            ramp: true,
            ..RecorderSpec::default()
        }));
        let members = [WorkerStatus::new(0, Arc::clone(&recorder), &Arc::default())];
        let window = Window::for_job(&Job::new("ramp"), Nanos::ZERO).measured_from(Nanos::MAX);
        let mut series = IntervalSeries::new(Nanos::ZERO, &[window], 0);
        let used = Used::default();
        let reads = |recorder: &Recorder, ios| {
            let counters = recorder.counters(Direction::Read);
            counters.expect("reads are counted").ios.add(ios);
        };
        reads(recorder.warm().expect("a ramp"), 50);
        let ramp = series.slice(&members, SECOND, used);
        assert_eq!((ramp.ramp, ramp.read.ios), (true, 50));
        series.set_bounds(&[window.measured_from(Nanos::from_millis(999))]);
        reads(&recorder, 7);
        let measured = series.slice(&members, Nanos::from_secs(2), used);
        assert_eq!((measured.ramp, measured.read.ios), (false, 7));
    }

    #[test]
    fn long_runs_have_longer_slices_and_short_ones_shorter() {
        let slice = |seconds| {
            let stop = Stop::after(Nanos::from_secs(seconds));
            interval(&[Job {
                stop,
                ..Job::new("slices")
            }])
        };
        assert_eq!(slice(1), Nanos::from_millis(100));
        assert_eq!(slice(2), Nanos::from_millis(200));
        assert_eq!(slice(5), Nanos::from_millis(500));
        assert_eq!(slice(10), Nanos::from_secs(1));
        assert_eq!(slice(3600), Nanos::from_secs(1));
        assert_eq!(slice(3601), Nanos::from_secs(2));
        assert_eq!(slice(86_400), Nanos::from_secs(24));
        // What is planned never grows: its slices are long enough from the beginning.
        for seconds in [1, 3600, 3601, 7201, 86_400] {
            assert!(slice(seconds) >= shortest_after(Nanos::from_secs(seconds - 1)));
        }
    }
}
