//! Sums up the passes of a case in one row: rates and latencies with their confidence intervals,
//! percentiles from merged histograms, and counts of failures.

use std::collections::{BTreeMap, HashMap};

use blocklab_catalog::unit_price::{Delivered, Output};
use blocklab_record::{
    DirectionResult, ErrorCount, JobResult, Latency, Measurement, Percentiles, Record, Statistic,
    Unknown,
};
use blocklab_stats::{Histogram, Interval, Summary, confidence, median_confidence};
use blocklab_workload::{Aggregate, Direction};

use crate::what::{only_job, what};
use crate::{CaseRate, Estimate, ResponseNs, Row, RowDirection};

const LEVEL: f64 = 0.95;

/// A row and how many of its histograms could not be read.
pub(crate) struct Summed {
    pub(crate) row: Row,
    pub(crate) damaged: u32,
}

/// The passes of each case, in the order in which cases first appear; without pass 0, which was run to be
/// thrown away.
pub fn by_case(measurements: &[Measurement]) -> Vec<Vec<&Measurement>> {
    let mut groups: Vec<Vec<&Measurement>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for measurement in measurements.iter().filter(|m| m.pass > 0) {
        let place = *places.entry(&measurement.case).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(measurement);
    }
    for group in &mut groups {
        group.sort_by_key(|measurement| measurement.pass);
    }
    groups
}

/// All cases of a record, summed up, in the order in which they first appear.
pub(crate) fn summed(record: &Record) -> Vec<Summed> {
    let aggregate = Aggregate::named(&record.requested.aggregate);
    let groups = by_case(&record.measurements).into_iter();
    groups.map(|group| row(&group, aggregate)).collect()
}

/// The rates of each case in operations a second, one for each direction that completed an operation:
/// those of its [`Row`]. Without the latencies, whose histograms take most of the time of a row.
pub fn case_rates(record: &Record) -> Vec<(&str, Vec<Estimate>)> {
    let aggregate = Aggregate::named(&record.requested.aggregate);
    let mut cases = Vec::new();
    for passes in by_case(&record.measurements) {
        let counted: Vec<&Measurement> = passes.iter().copied().filter(|m| moved(m)).collect();
        let best = best_of(&counted);
        let rates = Direction::ALL.into_iter().filter_map(|which| {
            let each_iops = per_second(&parts(&counted, which), |result| result.ios);
            let moves = each_iops.iter().any(|iops| *iops > 0.0);
            moves.then(|| rate(&each_iops, aggregate, best))
        });
        cases.push((&*passes[0].case, rates.collect()));
    }
    cases
}

/// Sums up all passes of one case. Passes without a single completed operation count for
/// nothing but their errors.
pub(crate) fn row(passes: &[&Measurement], aggregate: Aggregate) -> Summed {
    let counted: Vec<&Measurement> = passes.iter().copied().filter(|m| moved(m)).collect();
    let best = best_of(&counted);
    let mut damaged = 0;
    let directions = Direction::ALL
        .into_iter()
        .filter_map(|which| {
            let parts = parts(&counted, which);
            direction(which, &parts, aggregate, best, &mut damaged)
        })
        .collect();
    let jobs: Vec<&JobResult> = passes.iter().flat_map(|pass| &pass.jobs).collect();
    let cpu: u64 = passes.iter().map(|m| m.cpu.user_ns + m.cpu.system_ns).sum();
    let done: u64 = jobs.iter().map(|job| job.accounting.completed).sum();
    let row = Row {
        case: passes[0].case.clone(),
        settings: passes[0].settings.clone(),
        what: what(&passes[0].jobs),
        only_job: only_job(&passes[0].jobs),
        directions,
        errors: jobs.iter().map(|job| failures(job)).sum(),
        cpu_ns_per_io: cpu as f64 / done.max(1) as f64,
    };
    Summed { row, damaged }
}

fn moved(measurement: &Measurement) -> bool {
    let mut directions = measurement.jobs.iter().flat_map(|j| j.directions.values());
    directions.any(|direction| direction.ios > 0)
}

fn failures(job: &JobResult) -> u64 {
    let kinds: u64 = job.errors.iter().map(|error| error.count).sum();
    kinds.max(job.accounting.failed)
}

/// The pass with the highest throughput: in bytes, and among equals in operations.
fn best_of(passes: &[&Measurement]) -> usize {
    let speeds: Vec<(f64, f64)> = passes
        .iter()
        .map(|pass| {
            let bytes_per_s = pass.jobs.iter().map(JobResult::bytes_per_s).sum();
            (bytes_per_s, pass.jobs.iter().map(JobResult::iops).sum())
        })
        .collect();
    // `max_by` gives the last of equal passes: in reverse, that is the first of them.
    (0..speeds.len())
        .rev()
        .max_by(|a, b| {
            let ((bytes, iops), (other_bytes, other_iops)) = (speeds[*a], speeds[*b]);
            bytes
                .total_cmp(&other_bytes)
                .then(iops.total_cmp(&other_iops))
        })
        .unwrap_or(0)
}

/// One direction of one pass: each job's elapsed time and result.
type Part<'a> = Vec<(u64, &'a DirectionResult)>;

/// For each pass, the jobs that have results of a direction, each with the time that it took. All directions
/// of a job are over the same time, also what is written and read back after it, as their rates are added.
fn parts<'a>(passes: &[&'a Measurement], which: Direction) -> Vec<Part<'a>> {
    passes
        .iter()
        .map(|m| {
            m.jobs
                .iter()
                .filter_map(|job| Some((job.elapsed_ns, &**job.directions.get(&which)?)))
                .collect()
        })
        .collect()
}

/// Sums up one direction of a case; `None` if it completed no operation. `best` is the index of the
/// pass that counts if the best one does, and `damaged` counts histograms that cannot be read.
fn direction(
    which: Direction,
    parts: &[Part<'_>],
    aggregate: Aggregate,
    best: usize,
    damaged: &mut u32,
) -> Option<RowDirection> {
    let results: Vec<_> = parts.iter().flatten().map(|(_, result)| *result).collect();
    let ios: u64 = results.iter().map(|result| result.ios).sum();
    if ios == 0 {
        return None;
    }
    let each_iops = per_second(parts, |result| result.ios);
    let each_bytes_per_s = per_second(parts, |result| result.bytes);
    let service = Merged::from_all(results.iter().map(|result| &result.service), damaged);
    let unknown = results
        .iter()
        .map(|result| result.service.unknown)
        .fold(Unknown::default(), Unknown::union);
    let responses = results.iter().filter_map(|result| result.response.as_ref());
    let response = Merged::from_all(responses, damaged);
    Some(RowDirection {
        direction: which,
        iops: rate(&each_iops, aggregate, best),
        bytes_per_s: rate(&each_bytes_per_s, aggregate, best),
        each_iops,
        each_bytes_per_s,
        mean_ns: estimate(parts.iter().map(|part| mean_ns(part)), aggregate, best),
        service_ns: service.percentiles(),
        // A part without the figure makes that of the whole unknown; a row shows 0 for it.
        min_ns: if unknown.has(Statistic::Min) {
            0
        } else {
            service.min
        },
        max_ns: if unknown.has(Statistic::Max) {
            0
        } else {
            service.max
        },
        response_ns: (response.count > 0).then(|| ResponseNs {
            percentiles: response.percentiles(),
            max: response.max,
        }),
        response_curve: response.curve(),
        response_bins: response.histogram.edges().collect(),
        ios,
        unknown,
        curve: service.curve(),
        bins: service.histogram.edges().collect(),
    })
}

/// The sum of the jobs' rates in each pass; 0 in one without an operation of the direction.
fn per_second(parts: &[Part<'_>], what: fn(&DirectionResult) -> u64) -> Vec<f64> {
    parts
        .iter()
        .map(|part| {
            part.iter()
                .map(|(elapsed, result)| what(result) as f64 * 1e9 / (*elapsed).max(1) as f64)
                // `sum` of no floats is -0.0, which a reader of JSON would see.
                .fold(0.0, |sum, rate| sum + rate)
        })
        .collect()
}

/// A rate of a case from those of its passes.
fn rate(each: &[f64], aggregate: Aggregate, best: usize) -> Estimate {
    estimate(each.iter().copied().map(Some), aggregate, best)
}

/// Mean latency of a pass; `None` without an operation, or if a job does not know its mean.
fn mean_ns(part: &Part<'_>) -> Option<f64> {
    let (mut ios, mut sum_ns) = (0, 0.0);
    for (_, result) in part {
        if result.ios > 0 && result.service.unknown.has(Statistic::Mean) {
            return None;
        }
        ios += result.ios;
        sum_ns += result.ios as f64 * result.service.mean_ns;
    }
    (ios > 0).then(|| sum_ns / ios as f64)
}

/// Latencies of jobs and passes as one.
struct Merged {
    histogram: Histogram,
    count: u64,
    min: u64,
    max: u64,
}

impl Merged {
    /// Merges the latencies of jobs and passes; `damaged` counts histograms that cannot be read.
    fn from_all<'a>(latencies: impl Iterator<Item = &'a Latency>, damaged: &mut u32) -> Self {
        let mut merged = Self {
            histogram: Histogram::new(),
            count: 0,
            min: u64::MAX,
            max: 0,
        };
        for latency in latencies.filter(|latency| latency.count > 0) {
            merged.min = merged.min.min(latency.min_ns);
            // An unknown maximum is no bound for the quantiles.
            let max = if latency.unknown.has(Statistic::Max) {
                u64::MAX
            } else {
                latency.max_ns
            };
            merged.max = merged.max.max(max);
            match latency.histogram() {
                Ok(histogram) => merged.histogram.merge(&histogram),
                Err(_) => *damaged += 1,
            }
        }
        // Without a value, both are 0.
        merged.min = merged.min.min(merged.max);
        merged.count = merged.histogram.count();
        merged
    }

    /// The percentiles of the histograms that could be read.
    fn percentiles(&self) -> Percentiles {
        Percentiles::new(&self.histogram, self.min, self.max)
    }

    fn curve(&self) -> Vec<(f64, u64)> {
        self.histogram
            .curve()
            .map(|(share, ns)| (share, ns.clamp(self.min, self.max)))
            .collect()
    }
}

/// One figure from the passes; a pass may have no value. Rates and latencies are never negative,
/// so the interval is cut at 0.
///
/// The median of fewer than six passes has no interval from order statistics. It then gets
/// Student's interval of the mean, stretched where needed so that it holds the median.
fn estimate(
    values: impl Iterator<Item = Option<f64>>,
    aggregate: Aggregate,
    best: usize,
) -> Estimate {
    let values: Vec<Option<f64>> = values.collect();
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let Some(summary) = Summary::new(&known) else {
        return Estimate::default();
    };
    let (value, interval) = match aggregate {
        Aggregate::Mean => (summary.mean, confidence(&known, LEVEL)),
        Aggregate::Median => {
            let interval = median_confidence(&known, LEVEL)
                .or_else(|| Some(stretched_to(confidence(&known, LEVEL)?, summary.median)));
            (summary.median, interval)
        }
        Aggregate::Best => {
            let chosen = values.get(best).copied().flatten();
            (chosen.unwrap_or(summary.max), None)
        }
    };
    Estimate {
        value,
        low: interval.map(|interval| interval.low.max(0.0)),
        high: interval.map(|interval| interval.high),
        min: summary.min,
        max: summary.max,
        cv_percent: summary.cv() * 100.0,
        passes: u32::try_from(summary.count).unwrap_or(u32::MAX),
    }
}

/// The interval, stretched as far as it takes to hold a value.
fn stretched_to(interval: Interval, value: f64) -> Interval {
    Interval {
        low: interval.low.min(value),
        high: interval.high.max(value),
    }
}

/// Counts of failed operations by kind and direction, over all passes of a case.
pub(crate) fn failures_by_kind<'a>(passes: &[&'a Measurement]) -> Vec<Failures<'a>> {
    let mut kinds = BTreeMap::new();
    let jobs = passes.iter().flat_map(|measurement| &measurement.jobs);
    for first in jobs.flat_map(|job| &job.errors) {
        let key = (first.kind.to_string(), first.direction.name());
        let entry = kinds.entry(key).or_insert(Failures { count: 0, first });
        entry.count += first.count;
    }
    kinds.into_values().collect()
}

/// Failures of one kind in one direction.
pub(crate) struct Failures<'a> {
    pub(crate) count: u64,
    /// The errors of the first pass that had any.
    pub(crate) first: &'a ErrorCount,
}

/// What the best cases of a run deliver; `origin` is what kind of figures they are.
pub fn best_output(rows: &[Row], origin: &str) -> Output {
    Output {
        iops: most(rows, origin, |rate| rate.iops),
        bytes_per_s: most(rows, origin, |rate| rate.bytes_per_s),
    }
}

/// The highest of a figure among the rates of all cases, and which case has it.
fn most(rows: &[Row], origin: &str, figure: fn(&CaseRate<'_>) -> f64) -> Option<Delivered> {
    let rates = rows.iter().filter_map(Row::rate);
    let (case, value) = rates
        .map(|rate| (rate.case, figure(&rate)))
        .filter(|(_, value)| *value > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let by = format!("{origin}: {case}");
    Some(Delivered { value, by })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess;
    use crate::testing::{Sketch, record};

    fn read(sketch: Sketch, aggregate: &str) -> RowDirection {
        let mut record = record(&[sketch]);
        record.requested.aggregate = aggregate.to_owned();
        assess(&record).rows.remove(0).directions.remove(0)
    }

    fn passes(iops: &[f64]) -> Sketch {
        Sketch::of_rates(iops)
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 1e-3,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn the_aggregate_is_the_plans() {
        for (aggregate, expected) in [("mean", 1200.0), ("median", 1100.0), ("best", 1500.0)] {
            let direction = read(passes(&[1000.0, 1500.0, 1100.0]), aggregate);
            near(direction.iops.value, expected);
            near(direction.bytes_per_s.value, expected * 4096.0);
            assert_eq!(direction.iops.passes, 3);
        }
    }

    #[test]
    fn the_interval_is_students_and_best_has_none() {
        let mean = read(passes(&[1000.0, 1020.0, 1040.0]), "mean").iops;
        near(mean.low.unwrap(), 970.32);
        near(mean.high.unwrap(), 1069.68);
        assert_eq!(read(passes(&[1000.0, 1020.0]), "best").iops.low, None);
        assert_eq!(read(passes(&[1000.0]), "mean").iops.high, None);
    }

    #[test]
    fn the_rates_alone_are_those_of_the_rows() {
        for aggregate in ["mean", "median", "best"] {
            let write = Sketch {
                direction: "write",
                iops: vec![500.0, 0.0, 700.0],
                ..Sketch::named("write")
            };
            let mut record = record(&[passes(&[1000.0, 1500.0, 1100.0]), write]);
            record.requested.aggregate = aggregate.to_owned();
            let rows = assess(&record).rows;
            let of_rows: Vec<(&str, Vec<Estimate>)> = (rows.iter())
                .map(|row| {
                    let rates = row.directions.iter().map(|direction| direction.iops);
                    (&*row.case, rates.collect())
                })
                .collect();
            assert_eq!(case_rates(&record), of_rows);
        }
    }

    #[test]
    fn two_passes_far_apart_do_not_reach_below_zero() {
        assert_eq!(read(passes(&[100.0, 1000.0]), "mean").iops.low, Some(0.0));
    }

    #[test]
    fn six_passes_give_the_median_a_range_of_its_own() {
        let iops = [1000.0, 1010.0, 1020.0, 1030.0, 1040.0, 1050.0];
        let median = read(passes(&iops), "median").iops;
        near(median.value, 1025.0);
        near(median.low.unwrap(), 1000.0);
        near(median.high.unwrap(), 1050.0);
    }

    #[test]
    fn best_takes_every_figure_from_the_same_pass() {
        let direction = read(passes(&[1000.0, 2000.0, 500.0]), "best");
        // 32 in flight at 2,000 a second: 16 ms, though another pass was slower still.
        near(direction.mean_ns.value, 16e6);
    }

    #[test]
    fn the_best_case_is_what_a_run_delivers() {
        let fast = Sketch {
            iops: vec![206_250.0; 3],
            ..Sketch::named("fast")
        };
        let record = record(&[fast, Sketch::named("slow")]);
        let output = best_output(&assess(&record).rows, "measured");
        let iops = output.iops.expect("a rate");
        assert_eq!((iops.value, &*iops.by), (206_250.0, "measured: fast"));
    }

    /// A served volume of 125 MiB/s "reached 304 MB/s", and was priced by it: mkfs had trimmed it.
    #[test]
    fn trimmed_bytes_are_no_throughput() {
        let mut record = record(&[passes(&[1000.0])]);
        let directions = &mut record.measurements[0].jobs[0].directions;
        let read = directions[&Direction::Read].clone();
        directions.insert(Direction::Trim, read);
        let both = assess(&record).rows[0]
            .rate()
            .map(|rate| (rate.iops, rate.bytes_per_s));
        assert_eq!(both, Some((2000.0, 1000.0 * 4096.0)));
        record.measurements[0].jobs[0]
            .directions
            .remove(&Direction::Read);
        let output = best_output(&assess(&record).rows, "measured");
        let alone = output.bytes_per_s.expect("a throughput");
        near(alone.value, 1000.0 * 4096.0);
    }

    #[test]
    fn histograms_of_all_passes_are_one() {
        let direction = read(passes(&[1000.0, 1000.0, 1000.0]), "mean");
        assert_eq!(direction.ios, 30_000);
        let counted: u64 = direction.bins.iter().map(|(_, _, count)| count).sum();
        assert_eq!(counted, 30_000);
        assert_eq!(direction.curve.last().unwrap().0, 1.0);
        assert!(direction.service_ns.at("p50") >= direction.min_ns);
        assert!(direction.service_ns.at("p9999") <= direction.max_ns);
    }

    #[test]
    fn a_pass_that_moved_nothing_does_not_drag_the_mean() {
        let mut record = record(&[passes(&[1000.0, 1000.0])]);
        record.measurements[1].jobs[0].directions.clear();
        let row = &assess(&record).rows[0];
        near(row.directions[0].iops.value, 1000.0);
        assert_eq!(row.directions[0].iops.passes, 1);
    }

    /// The story: the JSON of a case with one trim in five passes had a least rate of -0.0.
    #[test]
    fn a_pass_without_a_direction_has_a_rate_of_zero() {
        let mut record = record(&[passes(&[1000.0, 1000.0])]);
        let directions = &mut record.measurements[0].jobs[0].directions;
        let read = directions[&Direction::Read].clone();
        directions.insert(Direction::Trim, read);
        let trims = &assess(&record).rows[0].directions[1].iops;
        assert!(trims.max > 0.0);
        assert_eq!(trims.min.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn jobs_side_by_side_add_up() {
        let mut record = record(&[passes(&[1000.0])]);
        let mut second = record.measurements[0].jobs[0].clone();
        second.name = "second".to_owned();
        record.measurements[0].jobs.push(second);
        near(assess(&record).rows[0].directions[0].iops.value, 2000.0);
    }
}
