//! What logs tell of each slice of time, all jobs together.

use super::rows::Way;
use crate::record::nanos;
use blocklab_record::{Interval, IntervalDirection, Statistic};

/// More slices of a second would be no measurement but a damaged text.
const MOST_SLICES: usize = 1 << 20;

/// A stretch of time in ms, and a value of it.
pub(super) type Span = (f64, f64, f64);

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    ios: f64,
    bytes: f64,
    /// Latencies in ns by operations, and how many operations they are of.
    ns: f64,
    timed: f64,
}

/// By second: reads, writes, trims.
#[derive(Debug, Default)]
pub(super) struct Series(Vec<[Sums; 3]>);

impl Series {
    fn at(&mut self, second: usize, way: usize) -> Option<&mut Sums> {
        if second >= MOST_SLICES {
            return None;
        }
        if self.0.len() <= second {
            self.0.resize(second + 1, [Sums::default(); 3]);
        }
        Some(&mut self.0[second][way])
    }

    /// Adds operations; `ns`: what a value of them is in ns, if it is a latency.
    pub fn add_operations(&mut self, at: usize, way: &Way, begin_ms: f64, ns: Option<f64>) {
        for (second, [ios, bytes, values]) in &way.seconds {
            let second = (*second as f64 - begin_ms / 1e3).max(0.0);
            let Some(sums) = self.at(second as usize, at) else {
                return;
            };
            sums.ios += ios;
            sums.bytes += bytes;
            if let Some(unit) = ns {
                sums.ns += values * unit;
                sums.timed += ios;
            }
        }
    }

    /// Adds windows of operations and KiB a second, and latencies with their end in ms, mean in ns
    /// and weight.
    pub fn add_windows(&mut self, at: usize, rates: &[Span], moved: &[Span], latencies: &[Span]) {
        for (second, seconds, iops) in rates.iter().flat_map(by_second) {
            if let Some(sums) = self.at(second, at) {
                sums.ios += iops * seconds;
            }
        }
        for (second, seconds, kib) in moved.iter().flat_map(by_second) {
            if let Some(sums) = self.at(second, at) {
                sums.bytes += kib * 1024.0 * seconds;
            }
        }
        for (end_ms, ns, weight) in latencies {
            // A window belongs to the second in which it ends; the end of a second is its own.
            let second = ((end_ms - 1.0) / 1e3).max(0.0) as usize;
            if let Some(sums) = self.at(second, at) {
                sums.ns += ns * weight;
                sums.timed += weight;
            }
        }
    }

    /// Slices of a second up to the end of the longest job.
    pub fn intervals(&self, seconds: f64) -> Vec<Interval> {
        let seconds_of_log = self.0.iter().enumerate();
        let intervals = seconds_of_log.map_while(|(at, [read, write, trim])| {
            let begin = at as f64;
            let length = (seconds - begin).min(1.0);
            (length > 0.0).then(|| Interval {
                end_ns: nanos(begin + length),
                length_ns: nanos(length),
                read: read.direction(),
                write: write.direction(),
                trim: trim.direction(),
                ..Interval::default()
            })
        });
        intervals.collect()
    }
}

/// Its seconds, with the share of each.
fn by_second((from, to, value): &Span) -> impl Iterator<Item = (usize, f64, f64)> {
    let (from, to) = (from / 1e3, to / 1e3);
    let last = (to.ceil() as usize).min(MOST_SLICES);
    (from as usize..last).map(move |second| {
        let share = to.min(second as f64 + 1.0) - from.max(second as f64);
        (second, share.max(0.0), *value)
    })
}

impl Sums {
    fn direction(&self) -> IntervalDirection {
        let is_timed = self.timed > 0.0;
        let always = [Statistic::P50, Statistic::P99, Statistic::Max];
        let more = (!is_timed && self.ios > 0.0).then_some(Statistic::Mean);
        IntervalDirection {
            ios: self.ios.round() as u64,
            bytes: self.bytes.round() as u64,
            mean_ns: if is_timed {
                (self.ns / self.timed) as u64
            } else {
                0
            },
            unknown: always.into_iter().chain(more).collect(),
            ..IntervalDirection::default()
        }
    }
}
