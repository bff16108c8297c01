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
    /// When the first one was due, in ns of the clock of the run.
    pub(crate) first: f64,
    /// From one to the next, in ns.
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

    /// All operations that were missed so far, by direction. Writes and trims divide what the reads
    /// leave: so the counts add up to the total, and none falls when the total grows.
    fn shares(&self) -> [u64; 3] {
        let Mix { read, write, trim } = self.mix;
        let reads = share(self.total, read, 100);
        let rest = self.total - reads;
        let writes = share(rest, write, write + trim);
        [reads, writes, rest - writes]
    }
}

/// The whole operations of `count` that belong to `part` of `whole`; none where `whole` is 0.
fn share(count: u64, part: u8, whole: u8) -> u64 {
    (u128::from(count) * u128::from(part) / u128::from(whole.max(1))) as u64
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
        let mut misses = Misses::new(Mix::reads(70));
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

    /// The story: of a mix of reads, writes and trims, the writes were the difference of two rounded
    /// sums. With 2, 3 and 95 per cent they fell from 2 at 49 operations to 1 at 50, and the step from
    /// one to the other wrapped around to 2^64 - 1 missed writes.
    #[test]
    fn the_share_of_a_direction_never_falls() {
        let mut misses = Misses::new(Mix {
            read: 2,
            write: 3,
            trim: 95,
        });
        let mut before = misses.shares();
        for total in 1..=1000 {
            misses.total = total;
            let shares = misses.shares();
            let grows = shares.iter().zip(&before).all(|(now, old)| now >= old);
            assert!(grows, "{total}: {before:?}, {shares:?}");
            assert_eq!(shares.iter().sum::<u64>(), total);
            before = shares;
        }
        assert_eq!(before, [20, 30, 950]);
    }

    /// The story: of 100,000 operations a second for 15 minutes, most of which a gp3 never began, the sum of
    /// the response latencies outgrew 64 bits, and their mean was 13 s instead of 436 s.
    #[test]
    fn latencies_that_outgrow_64_bits_together_have_their_mean() {
        let recorder = Recorder::new(RecorderSpec {
            directions: [true; 4],
            response: true,
            ..RecorderSpec::default()
        });
        let missed = Missed {
            first: 0.0,
            gap: 1e4,
            count: 90_000_000,
        };
        missed.record(Direction::Read, Nanos::from_secs(900), &recorder);
        let counters = recorder.counters(Direction::Read).expect("counters");
        let response = latency_sum(counters.response.iter()).to_latency();
        assert!(
            (response.mean_ns / 450e9 - 1.0).abs() < 1e-6,
            "{response:?}"
        );
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
