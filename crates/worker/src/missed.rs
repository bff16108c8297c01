//! In: operations that were due under a rate and never issued, because of a stall or because the job
//! ended first. Out: their response latencies.
//!
//! Without them, the percentiles of a device that stalls would look good: one operation waits
//! through the stall, and a thousand that were due meanwhile are never counted ("coordinated
//! omission"). Each one therefore counts with the time that it had waited when the schedule gave it
//! up, which is a lower bound of its latency.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Mix};

use crate::recorder::Recorder;

/// Evenly spaced moments at which operations were due.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Missed {
    pub(crate) first: f64,
    pub(crate) gap: f64,
    pub(crate) count: u64,
}

impl Missed {
    /// A share of them, over the same time.
    const fn spread(self, count: u64, gap: f64) -> Self {
        Self { count, gap, ..self }
    }

    /// Records them in the response latency of a direction, as operations that are given up now.
    pub(crate) fn record(self, direction: Direction, now: Nanos, recorder: &Recorder) {
        let counters = recorder.counters(direction);
        if let Some(response) = counters.and_then(|counters| counters.response.as_ref())
            && self.count > 0
        {
            // The first one has waited longest. By rounding, the last may be due just after now.
            let longest = now.0 as f64 - self.first;
            let shortest = longest - self.gap * (self.count - 1) as f64;
            response.record_steps(shortest.max(0.0), self.gap, self.count);
        }
    }
}

/// Assigns missed operations to directions in the proportion of the job's mix.
#[derive(Debug)]
pub(crate) struct Misses {
    mix: Mix,
    total: u64,
}

impl Misses {
    pub(crate) const fn new(mix: Mix) -> Self {
        Self { mix, total: 0 }
    }

    /// Counts operations that are given up now.
    #[cold]
    pub(crate) fn count(&mut self, missed: Missed, now: Nanos, recorder: &Recorder) {
        recorder.overdue.add(missed.count);
        let before = self.shares();
        self.total += missed.count;
        let after = self.shares();
        for direction in Direction::MOVING {
            let index = direction as usize;
            let count = after[index] - before[index];
            let gap = missed.gap * missed.count as f64 / count.max(1) as f64;
            missed.spread(count, gap).record(direction, now, recorder);
        }
    }

    /// All operations that were missed so far, by direction. The shares are differences of rounded
    /// sums, so that they add up to the total.
    fn shares(&self) -> [u64; 3] {
        let read = self.share(self.mix.read);
        let write = self.share(self.mix.read + self.mix.write) - read;
        [read, write, self.total - read - write]
    }

    fn share(&self, percent: u8) -> u64 {
        (u128::from(self.total) * u128::from(percent) / 100) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::latency_sum;
    use crate::recorder::RecorderSpec;

    #[test]
    fn missed_operations_are_shared_by_the_mix() {
        let recorder = Recorder::new(RecorderSpec {
            directions: [true; 4],
            response: true,
            ..RecorderSpec::default()
        });
        let mut misses = Misses::new(Mix {
            read: 70,
            write: 30,
            trim: 0,
        });
        let missed = Missed {
            first: 1e6,
            gap: 1e6,
            count: 1,
        };
        for _ in 0..1000 {
            misses.count(missed, Nanos::from_millis(3), &recorder);
        }
        let response = |direction| {
            let counters = recorder.counters(direction).expect("a counters");
            latency_sum(counters.response.iter()).to_latency()
        };
        let (read, write) = (response(Direction::Read), response(Direction::Write));
        assert_eq!((read.count, write.count), (700, 300));
        assert_eq!((read.min_ns, read.max_ns), (2_000_000, 2_000_000));
        assert_eq!(recorder.overdue.get(), 1000);
    }

    /// The same as one by one, without a loop over what may be a billion operations.
    #[test]
    fn many_at_equal_distances_are_recorded_at_once() {
        let wanted = || RecorderSpec {
            directions: [true; 4],
            response: true,
            ..RecorderSpec::default()
        };
        let (whole, single) = (Recorder::new(wanted()), Recorder::new(wanted()));
        let response = |recorder: &Recorder| {
            let counters = recorder.counters(Direction::Read).expect("a counters");
            latency_sum(counters.response.iter()).to_latency()
        };
        let histogram = |recorder: &Recorder, work: &dyn Fn(&crate::latency::LatencyHistogram)| {
            work(
                recorder
                    .counters(Direction::Read)
                    .unwrap()
                    .response
                    .as_ref()
                    .unwrap(),
            );
        };
        histogram(&whole, &|all| {
            all.record_steps(20_000_000.0, 123_457.0, 16_000)
        });
        histogram(&single, &|all| {
            for step in 0..16_000 {
                all.record(20_000_000 + 123_457 * step);
            }
        });
        let (whole, single) = (response(&whole), response(&single));
        assert_eq!(whole.histogram().unwrap(), single.histogram().unwrap());
        assert_eq!((whole.min_ns, whole.max_ns), (single.min_ns, single.max_ns));
        assert!((whole.mean_ns / single.mean_ns - 1.0).abs() < 1e-9);
        assert!((whole.stddev_ns / single.stddev_ns - 1.0).abs() < 1e-9);
    }
}
