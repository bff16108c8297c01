//! The figures of a record, as DiskSpd counts them: by thread and target, read and written.

use blocklab_record::{DirectionResult, JobResult, Measurement, Record, Served};
use blocklab_stats::Histogram;
use blocklab_workload::Direction;

use super::plan::{Pair, Prepared};
use super::spec::{Profile, TimeSpan};

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
    /// The share of time that is not idle.
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

/// Operations a second in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rate {
    /// Nanoseconds since the measured time began.
    pub end_ns: u64,
    pub read: f64,
    pub write: f64,
    /// Counts of reads and of writes.
    pub served: [Served; 2],
}

/// What no record holds of the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct System {
    /// Its name.
    pub computer: String,
    /// The command line, as it was typed.
    pub command_line: String,
    /// The processors of each time span; none in virtual time.
    pub processors: Vec<Vec<Processor>>,
    /// The intervals of each time span, where they were requested.
    pub buckets: Vec<Vec<Bucket>>,
}

/// Operations of one direction, or of both.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DirectionTotals {
    pub served: Served,
    histogram: Histogram,
}

impl DirectionTotals {
    fn new(direction: &DirectionResult) -> Self {
        let (ios, latency) = (direction.ios as f64, &direction.service);
        let mean_square = latency.stddev_ns.powi(2) + latency.mean_ns.powi(2);
        Self {
            served: Served {
                ios: direction.ios,
                bytes: direction.bytes,
                sum_ns: latency.mean_ns * ios,
                sum_squares: mean_square * ios,
                min_ns: latency.min_ns,
                max_ns: latency.max_ns,
            },
            // A damaged text shows in the record's own findings.
            histogram: latency.histogram().unwrap_or_default(),
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.served = self.served.plus(other.served);
        self.histogram.merge(&other.histogram);
    }

    pub const fn ios(&self) -> u64 {
        self.served.ios
    }

    /// Mean and standard deviation in milliseconds; `None` without operations.
    pub fn moments_ms(&self) -> [Option<f64>; 2] {
        let moments = [self.served.mean_ms(), self.served.stddev_ms()];
        moments.map(|ms| (self.ios() > 0).then_some(ms))
    }

    /// Milliseconds, for a share from 0 (the least) to 1 (the most); `None` without operations.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let (least, most) = (self.served.min_ns, self.served.max_ns);
        // If less than one operation is beyond the share, its percentile is the slowest operation, whose
        // time is known better than its bucket. The margin allows for the rounding of the share.
        let is_slowest = (1.0 - share) * (self.ios() as f64) < 1.0 - 1e-6;
        let ns = match share {
            ..=0.0 => least,
            _ if is_slowest => most,
            _ => self.histogram.quantile(share).clamp(least, most),
        };
        (self.ios() > 0).then_some(ns as f64 / 1e6)
    }
}

/// Reads and writes of a thread on a target, or of many.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ReadWrite {
    pub read: DirectionTotals,
    pub write: DirectionTotals,
}

impl ReadWrite {
    pub fn total(&self) -> DirectionTotals {
        let mut total = self.read.clone();
        total.merge(&self.write);
        total
    }

    pub fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
    }
}

/// A row of the tables: a thread on a target.
pub(super) struct Row<'a> {
    pub pair: &'a Pair,
    /// The target as the profile calls it.
    pub path: &'a str,
    pub both: ReadWrite,
    pub file_size: u64,
    /// Figures of this thread on this target.
    pub rates: Vec<Rate>,
}

/// A time span's results.
pub(super) struct Outcome<'a> {
    pub requested: &'a TimeSpan,
    pub seconds: f64,
    pub threads: u32,
    pub rows: Vec<Row<'a>>,
    pub sum: ReadWrite,
    pub rates: Vec<Rate>,
    pub processors: &'a [Processor],
}

/// The results by time span; `None` for one that was not reached.
pub(super) fn outcomes<'a>(
    record: &'a Record,
    profile: &'a Profile,
    prepared: &'a Prepared,
    system: &'a System,
) -> impl Iterator<Item = Option<Outcome<'a>>> {
    let spans = prepared.spans.iter().zip(&profile.timespans).enumerate();
    spans.map(move |(index, (span, requested))| {
        let measurement = record.measurements.iter().find(|m| m.case == span.case)?;
        let buckets = system.buckets.get(index).map_or(&[][..], Vec::as_slice);
        let rows: Vec<Row<'_>> = span
            .pairs
            .iter()
            .map(|pair| row(record, measurement, buckets, requested, pair))
            .collect();
        let mut sum = ReadWrite::default();
        rows.iter().for_each(|row| sum.merge(&row.both));
        let elapsed = measurement.jobs.iter().map(|job| job.elapsed_ns).max();
        Some(Outcome {
            requested,
            seconds: elapsed.unwrap_or(0) as f64 / 1e9,
            threads: span.threads,
            rows,
            sum,
            rates: rates(measurement, buckets, |_| true),
            processors: system.processors.get(index).map_or(&[], Vec::as_slice),
        })
    })
}

/// The rates of the jobs that `picks` accepts, in each interval.
fn rates(
    measurement: &Measurement,
    buckets: &[Bucket],
    picks: impl Fn(&JobResult) -> bool,
) -> Vec<Rate> {
    buckets
        .iter()
        .map(|bucket| {
            let jobs = measurement.jobs.iter().zip(&bucket.jobs);
            let own = jobs.filter(|(job, _)| picks(job));
            let mut served = [Served::default(); 2];
            for (_, directions) in own {
                let both = served.iter_mut().zip(directions);
                both.for_each(|(sum, more)| *sum = sum.plus(*more));
            }
            let [read, write] =
                served.map(|sum| sum.ios as f64 * 1e9 / bucket.length_ns.max(1) as f64);
            Rate {
                end_ns: bucket.end_ns,
                read,
                write,
                served,
            }
        })
        .collect()
}

/// The row of a thread on a target: what the jobs did of this pair.
fn row<'a>(
    record: &Record,
    measurement: &Measurement,
    buckets: &[Bucket],
    requested: &'a TimeSpan,
    pair: &'a Pair,
) -> Row<'a> {
    let mut both = ReadWrite::default();
    for job in &measurement.jobs {
        if !pair.jobs.contains(&job.name) {
            continue;
        }
        for (name, direction) in &job.directions {
            match name {
                Direction::Read => both.read.merge(&DirectionTotals::new(direction)),
                Direction::Write => both.write.merge(&DirectionTotals::new(direction)),
                _ => {}
            }
        }
    }
    let target = record.targets.iter().find(|facts| facts.path == pair.path);
    // Where no target of the record has this path, the only one that there is must be meant.
    let only = (record.targets.len() == 1).then(|| &record.targets[0]);
    let size = target.or(only).map_or(0, |facts| facts.size_bytes.0);
    Row {
        pair,
        path: requested
            .targets
            .get(pair.target)
            .map_or("", |target| &target.path),
        both,
        // 0: the profile makes no file, or the record has no such target.
        file_size: match (pair.file_size, size) {
            (0, size) => size,
            (made, 0) => made,
            (made, size) => made.min(size),
        },
        rates: rates(measurement, buckets, |job| pair.jobs.contains(&job.name)),
    }
}

/// The different values of something, among processors.
pub(super) fn distinct<T: Ord>(processors: &[Processor], what: fn(&Processor) -> T) -> Vec<T> {
    let mut values: Vec<_> = processors.iter().map(what).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The mean over all processors.
pub(super) fn average(processors: &[Processor]) -> Usage {
    let number = processors.len().max(1) as f64;
    let each = processors.iter().map(|cpu| cpu.usage);
    Usage {
        user: each.clone().map(|usage| usage.user).sum::<f64>() / number,
        kernel: each.clone().map(|usage| usage.kernel).sum::<f64>() / number,
        idle: each.map(|usage| usage.idle).sum::<f64>() / number,
    }
}

/// Standard deviation of operations a second over the intervals; `None` without any.
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
    /// 15.794 against 15.836. Where less than one operation lies beyond a percentile, it is the
    /// slowest one.
    #[test]
    fn a_percentile_beyond_which_nothing_lies_is_the_maximum() {
        let mut histogram = Histogram::default();
        (0..1000).for_each(|_| histogram.record(15_800_000));
        let direction = DirectionTotals {
            served: Served {
                ios: 1000,
                min_ns: 15_700_000,
                max_ns: 15_836_000,
                ..Served::default()
            },
            histogram,
        };
        for share in [0.9999, 0.999_999_999, 1.0] {
            assert_eq!(direction.quantile_ms(share), Some(15.836), "{share}");
        }
        // One operation of a thousand is slower than this.
        let below = direction.quantile_ms(0.999);
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
