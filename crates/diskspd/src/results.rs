//! The figures of a record, as DiskSpd counts them: by thread and target, read and written.

use blocklab_record::{JobResult, Latency, Measurement, Record};
use blocklab_stats::Histogram;
use blocklab_workload::Direction;

use super::plan::{Pair, Span};

/// The share of one processor's time in per cent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// In programs.
    pub user: f64,
    /// In the kernel.
    pub kernel: f64,
    /// Doing nothing.
    pub idle: f64,
}

impl Usage {
    /// All that is not idle.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.user + self.kernel
    }
}

/// A processor and what it did while a time span was measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Processor {
    /// Its number.
    pub id: u32,
    /// Its core.
    pub core: u32,
    /// Its socket.
    pub socket: u32,
    /// Its memory node.
    pub node: u32,
    /// What it did.
    pub usage: Usage,
}

/// What was done in an interval of `-D`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bucket {
    /// When it ended, in nanoseconds since the measured time began.
    pub end_ns: u64,
    /// How long it was, in nanoseconds.
    pub length_ns: u64,
    /// Reads and writes, by job in the order of the case.
    pub jobs: Vec<[Served; 2]>,
}

/// Operations of one direction that completed in an interval, and how long they took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Served {
    /// How many.
    pub ios: u64,
    /// Their latencies added up, in nanoseconds.
    pub sum_ns: f64,
    /// The squares of them added up.
    pub sum_squares: f64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

impl Served {
    fn merge(&mut self, other: &Self) {
        self.min_ns = match (self.ios, other.ios) {
            (_, 0) => self.min_ns,
            (0, _) => other.min_ns,
            _ => self.min_ns.min(other.min_ns),
        };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.ios += other.ios;
        self.sum_ns += other.sum_ns;
        self.sum_squares += other.sum_squares;
    }

    /// MinRate, most, mean and standard deviation in milliseconds; zeros without operations.
    pub(super) fn latency_ms(&self) -> [f64; 4] {
        let number = self.ios.max(1) as f64;
        let mean = self.sum_ns / number;
        let variance = (self.sum_squares / number - mean * mean).max(0.0);
        let all = [
            self.min_ns as f64,
            self.max_ns as f64,
            mean,
            variance.sqrt(),
        ];
        all.map(|ns| ns / 1e6)
    }
}

/// Operations a second in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rate {
    /// Nanoseconds since the measured time began.
    pub end_ns: u64,
    pub read: f64,
    pub write: f64,
    /// Of reads and of writes.
    pub served: [Served; 2],
}

/// The machine, as far as no record tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct System {
    /// Its name.
    pub computer: String,
    /// The command line, as it was typed.
    pub command_line: String,
    /// By time span: its processors; none in virtual time.
    pub processors: Vec<Vec<Processor>>,
    /// By time span: its intervals, where they were asked for.
    pub buckets: Vec<Vec<Bucket>>,
}

/// Operations of one direction, or of both.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tally {
    pub ios: u64,
    pub bytes: u64,
    sum_ns: f64,
    sum_squares: f64,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    histogram: Histogram,
}

impl Tally {
    fn add(&mut self, ios: u64, bytes: u64, latency: &Latency) {
        self.ios += ios;
        self.bytes += bytes;
        self.sum_ns += latency.mean_ns * ios as f64;
        let second = latency.stddev_ns.powi(2) + latency.mean_ns.powi(2);
        self.sum_squares += second * ios as f64;
        if ios > 0 {
            self.min_ns = Some(self.min_ns.unwrap_or(u64::MAX).min(latency.min_ns));
            self.max_ns = Some(self.max_ns.unwrap_or(0).max(latency.max_ns));
        }
        // A damaged text shows in the record's own findings.
        if let Ok(histogram) = latency.histogram() {
            self.histogram.merge(&histogram);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.sum_ns += other.sum_ns;
        self.sum_squares += other.sum_squares;
        self.min_ns = [self.min_ns, other.min_ns].into_iter().flatten().min();
        self.max_ns = self.max_ns.max(other.max_ns);
        self.histogram.merge(&other.histogram);
    }

    /// Milliseconds; nothing without operations.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.ios > 0).then(|| self.sum_ns / self.ios as f64 / 1e6)
    }

    /// Milliseconds; nothing without operations.
    pub fn deviation_ms(&self) -> Option<f64> {
        let mean = self.mean_ms()? * 1e6;
        let variance = self.sum_squares / self.ios as f64 - mean * mean;
        Some(variance.max(0.0).sqrt() / 1e6)
    }

    /// Milliseconds, for a share from 0 (the least) to 1 (the most).
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let (least, most) = (self.min_ns?, self.max_ns?);
        // Less than one operation lies beyond it: it is the slowest one, whose time is known
        // better than its bucket. The margin takes up the rounding of the share.
        let is_slowest = (1.0 - share) * (self.ios as f64) < 1.0 - 1e-6;
        let ns = match share {
            ..=0.0 => least,
            _ if is_slowest => most,
            _ => self.histogram.quantile(share).clamp(least, most),
        };
        Some(ns as f64 / 1e6)
    }
}

/// Reads and writes of a thread on a target, or of many.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Both {
    pub read: Tally,
    pub write: Tally,
}

impl Both {
    pub fn total(&self) -> Tally {
        let mut total = self.read.clone();
        total.merge(&self.write);
        total
    }

    pub fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
    }
}

/// A row of the tables.
pub(super) struct Row<'a> {
    pub pair: &'a Pair,
    pub both: Both,
    pub file_size: u64,
    /// Of this thread on this target.
    pub rates: Vec<Rate>,
}

/// A time span's results.
pub(super) struct Outcome<'a> {
    pub seconds: f64,
    pub threads: u32,
    pub rows: Vec<Row<'a>>,
    pub sum: Both,
    pub rates: Vec<Rate>,
}

/// Nothing of a time span that was not reached.
pub(super) fn outcome<'a>(
    record: &Record,
    span: &'a Span,
    buckets: &[Bucket],
) -> Option<Outcome<'a>> {
    let measurement = record.measurements.iter().find(|m| m.case == span.case)?;
    let rows: Vec<Row<'_>> = span
        .pairs
        .iter()
        .map(|pair| Row {
            rates: rates(measurement, buckets, |job| pair.jobs.contains(&job.name)),
            ..row(record, measurement, pair)
        })
        .collect();
    let mut sum = Both::default();
    rows.iter().for_each(|row| sum.merge(&row.both));
    let elapsed = measurement.jobs.iter().map(|job| job.elapsed_ns).max();
    Some(Outcome {
        seconds: elapsed.unwrap_or(0) as f64 / 1e9,
        threads: span.threads,
        rows,
        sum,
        rates: rates(measurement, buckets, |_| true),
    })
}

/// What some jobs did in each interval.
fn rates(
    measurement: &Measurement,
    buckets: &[Bucket],
    of: impl Fn(&JobResult) -> bool,
) -> Vec<Rate> {
    let rate = |bucket: &Bucket| {
        let jobs = measurement.jobs.iter().zip(&bucket.jobs);
        let own = jobs.filter(|(job, _)| of(job));
        let mut served = [Served::default(); 2];
        for (_, ways) in own {
            let both = served.iter_mut().zip(ways);
            both.for_each(|(sum, way)| sum.merge(way));
        }
        let [read, write] = served.map(|way| way.ios as f64 * 1e9 / bucket.length_ns.max(1) as f64);
        Rate {
            end_ns: bucket.end_ns,
            read,
            write,
            served,
        }
    };
    buckets.iter().map(rate).collect()
}

fn row<'a>(record: &Record, measurement: &Measurement, pair: &'a Pair) -> Row<'a> {
    let mut both = Both::default();
    let own = |job: &&JobResult| pair.jobs.contains(&job.name);
    for job in measurement.jobs.iter().filter(own) {
        for (name, direction) in &job.directions {
            let tally = match name {
                Direction::Read => &mut both.read,
                Direction::Write => &mut both.write,
                _ => continue,
            };
            tally.add(direction.ios, direction.bytes, &direction.service);
        }
    }
    let target = record.targets.iter().find(|facts| facts.path == pair.path);
    let only = (record.targets.len() == 1).then(|| &record.targets[0]);
    let size = target.or(only).map_or(0, |facts| facts.size_bytes.0);
    let file_size = match (pair.file_size, size) {
        (0, size) => size,
        (made, 0) => made,
        (made, size) => made.min(size),
    };
    Row {
        pair,
        both,
        file_size,
        rates: Vec::new(),
    }
}

/// Standard deviation of operations a second over the intervals; nothing without any.
pub(super) fn deviation(rates: &[Rate], ios: fn(&Rate) -> f64) -> Option<f64> {
    let number = rates.len() as f64;
    let mean = rates.iter().map(ios).sum::<f64>() / number;
    let squares: f64 = rates.iter().map(|rate| (ios(rate) - mean).powi(2)).sum();
    (!rates.is_empty()).then(|| (squares / number).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows 3-nines to 9-nines of 1,000 operations ended below `max`, at the edge of its bucket:
    /// 15.794 beside 15.836. Where less than one operation lies beyond a percentile, it is the
    /// slowest one.
    #[test]
    fn a_percentile_beyond_which_nothing_lies_is_the_maximum() {
        let mut histogram = Histogram::default();
        (0..1000).for_each(|_| histogram.record(15_800_000));
        let tally = Tally {
            ios: 1000,
            min_ns: Some(15_700_000),
            max_ns: Some(15_836_000),
            histogram,
            ..Tally::default()
        };
        for share in [0.9999, 0.999_999_999, 1.0] {
            assert_eq!(tally.quantile_ms(share), Some(15.836), "{share}");
        }
        // One operation of a thousand is slower than this.
        let below = tally.quantile_ms(0.999);
        assert!(below < Some(15.836), "{below:?}");
    }

    /// One interval deviates by nothing from its mean: a parser of the text expects the number 0.00
    /// and found `N/A`.
    #[test]
    fn one_interval_has_a_deviation_of_zero() {
        let rate = Rate {
            read: 900.0,
            ..Rate::default()
        };
        assert_eq!(deviation(&[rate], |rate| rate.read), Some(0.0));
        assert_eq!(deviation(&[], |rate| rate.read), None);
    }
}
