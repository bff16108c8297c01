//! The operations of each second in all logs together.

use super::rows::DirectionRows;
use crate::record::nanos;
use blocklab_record::{Interval, IntervalDirection, Statistic};

/// More slices of a second would be no measurement but a damaged text.
const MOST_SLICES: usize = 1 << 20;

/// A stretch of time, and a value that holds for all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub from_ms: f64,
    pub to_ms: f64,
    pub value: f64,
}

/// The mean latency of a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowLatency {
    pub end_ms: f64,
    pub mean_ns: f64,
    /// The operations of the window.
    pub ios: f64,
}

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
    /// The sums of a direction in a second; `None` beyond [`MOST_SLICES`].
    fn sums(&mut self, second: usize, direction: usize) -> Option<&mut Sums> {
        if second >= MOST_SLICES {
            return None;
        }
        if self.0.len() <= second {
            self.0.resize(second + 1, [Sums::default(); 3]);
        }
        Some(&mut self.0[second][direction])
    }

    /// Adds the operations of a direction. `start`: when their log's clock began, in seconds of the run.
    /// `unit_ns`: how many ns the unit of their values is, if the values are latencies.
    pub fn add_operations(
        &mut self,
        direction: usize,
        rows: &DirectionRows,
        start: f64,
        unit_ns: Option<f64>,
    ) {
        for (second, logged) in &rows.seconds {
            let second = (*second as f64 + start) as usize;
            let Some(sums) = self.sums(second, direction) else {
                return;
            };
            sums.ios += logged.ios;
            sums.bytes += logged.bytes;
            if let Some(unit) = unit_ns {
                sums.ns += logged.values * unit;
                sums.timed += logged.ios;
            }
        }
    }

    /// Adds the windows of a direction: rates in operations a second, bandwidths in KiB a second, and
    /// latencies.
    pub fn add_windows(
        &mut self,
        direction: usize,
        rates: &[Span],
        bandwidths: &[Span],
        latencies: &[WindowLatency],
    ) {
        for (second, ios) in rates.iter().flat_map(Span::by_second) {
            if let Some(sums) = self.sums(second, direction) {
                sums.ios += ios;
            }
        }
        for (second, kib) in bandwidths.iter().flat_map(Span::by_second) {
            if let Some(sums) = self.sums(second, direction) {
                sums.bytes += kib * 1024.0;
            }
        }
        for latency in latencies {
            // A window belongs to the second in which it ends; the end of a second is its own.
            let second = ((latency.end_ms - 1.0) / 1e3).max(0.0) as usize;
            if let Some(sums) = self.sums(second, direction) {
                sums.ns += latency.mean_ns * latency.ios;
                sums.timed += latency.ios;
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

impl Span {
    /// The seconds that it touches, each with the amount that its value, a rate a second, gives there.
    fn by_second(&self) -> impl Iterator<Item = (usize, f64)> {
        let (from, to, rate) = (self.from_ms / 1e3, self.to_ms / 1e3, self.value);
        let last = (to.ceil() as usize).min(MOST_SLICES);
        (from as usize..last).map(move |second| {
            let seconds = to.min(second as f64 + 1.0) - from.max(second as f64);
            (second, rate * seconds.max(0.0))
        })
    }
}

impl Sums {
    /// These sums of a second as an interval has them.
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
