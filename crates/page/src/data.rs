//! The data of the charts of a run: compact, in columns, at the resolution of a screen.

use std::collections::BTreeMap;

use blocklab_findings::{Estimate, Row, RowDirection};
use blocklab_record::{Interval, IntervalDirection, Measurement, Record, Statistic};
use maud::PreEscaped;
use serde::{Serialize, Serializer};

use super::charts::{self, six_figures};
use super::limits::Drawn;
use super::side::Side;
use super::sweeps;
use blocklab_report::fields;
use blocklab_report::words::facts;

/// The most points of all curves and histograms of a page together. With [`SERIES_SLICES`] it keeps
/// the pages of the built-in studies below 2 MB: a point takes about 20 bytes.
const CURVE_POINTS: usize = 40_000;
/// The most slices of all series of a page together; one with reads and writes takes about 80
/// bytes.
const SERIES_SLICES: usize = 5_000;
/// The table row of a distribution takes about as many bytes as this many points.
const POINTS_OF_A_ROW: usize = 55;
/// The fewest points with which a curve still has a shape, however many cases there are.
const LEAST_POINTS: usize = 11;

/// The data of the charts of bars, latency and time, and the limits that they draw.
pub fn json(sides: &[Side<'_>], limits: Vec<Drawn>) -> PreEscaped<String> {
    let all: Vec<&Record> = sides.iter().map(|side| side.record).collect();
    let errors = sides
        .iter()
        .map(|side| side.assessment.quantile_error_percent);
    let page = fields! {
        records: sides.iter().map(|side| record(side, sides)).collect::<Vec<_>>(),
        limits: limits,
        // Printed below charts that are exported as pictures.
        cite: facts::cite(&all),
        quantile_error_percent: errors.flatten().reduce(f64::max),
    };
    charts::embedded(&page)
}

/// The data of a run. `sides`: all runs of the page, which share the room.
fn record(side: &Side<'_>, sides: &[Side<'_>]) -> impl Serialize + use<> {
    let all = sides.iter().flat_map(|side| side.assessment.directions());
    let distributions: usize = all
        .map(|(_, direction)| 1 + usize::from(!direction.response_bins.is_empty()))
        .sum();
    // All distributions of the page share the points that their table rows leave. Each has two
    // charts, a curve and a histogram.
    let points = CURVE_POINTS.saturating_sub(POINTS_OF_A_ROW * distributions);
    let most_points = points / (2 * distributions.max(1));
    let intervals: usize = sides.iter().map(|side| interval_count(side.record)).sum();
    // How many intervals are drawn as one slice; the same for the whole page, so that series
    // compare.
    let merged = intervals.div_ceil(SERIES_SLICES).max(1);
    let rows = side.assessment.directions().map(|(row, direction)| {
        fields! {
            // Only where it is a point of a sweep.
            #[serde(flatten)]
            swept: sweeps::has(side, &row.case)
                .then(|| fields! { is_swept: true, place: sweeps::place(side, direction) }),
            #[serde(flatten)]
            row: row_data(row, direction, most_points.max(LEAST_POINTS)),
        }
    });
    let passes = side.record.measurements.iter();
    fields! {
        id: side.record.id.clone(),
        label: side.label.clone(),
        // `mean of 3 passes`
        aggregate: facts::aggregate(side.record, &side.assessment.rows),
        rows: rows.collect::<Vec<_>>(),
        // Intervals of each slice.
        merged: merged,
        passes: passes.map(|read| pass(read, merged)).collect::<Vec<_>>(),
    }
}

/// Intervals of all passes.
fn interval_count(record: &Record) -> usize {
    record.measurements.iter().map(|m| m.series.len()).sum()
}

/// The data of a direction of a case.
fn row_data(row: &Row, row_direction: &RowDirection, most_points: usize) -> impl Serialize + use<> {
    fields! {
        case: row.case.clone(),
        // Rows of a family share a colour.
        family: family(&row.case, row_direction.direction.name()),
        label: facts::label(row, row_direction),
        direction: row_direction.direction,
        what: row.what.clone(),
        iops: estimate(&row_direction.iops, &row_direction.each_iops, UNSCALED),
        mbps: estimate(&row_direction.bytes_per_s, &row_direction.each_bytes_per_s, BYTES_TO_MB),
        p50: facts::known_service_ns(row_direction, "p50"),
        p99: facts::known_service_ns(row_direction, "p99"),
        #[serde(flatten)]
        service: distribution(row_direction.ios, &row_direction.curve, &row_direction.bins, most_points),
        response: response(row_direction, most_points),
    }
}

/// The response time; `None` without one. If no operation waited, it is the word `same`, since its
/// curve is that of the service time.
fn response(
    direction: &RowDirection,
    most_points: usize,
) -> Option<Response<impl Serialize + use<>>> {
    if direction.response_bins.is_empty() {
        return None;
    }
    if direction.response_bins == direction.bins && direction.response_curve == direction.curve {
        return Some(Response::Same("same"));
    }
    let ios = direction
        .response_bins
        .iter()
        .map(|(_, _, count)| count)
        .sum();
    let own = distribution(
        ios,
        &direction.response_curve,
        &direction.response_bins,
        most_points,
    );
    Some(Response::Own(own))
}

#[derive(Serialize)]
#[serde(untagged)]
enum Response<T> {
    Same(&'static str),
    Own(T),
}

/// A distribution of latencies: a curve of percentiles and a histogram, thinned to `most_points` each.
/// `points`: the share of operations that took at most this long, and ns; `counts`: of each bin the
/// lowest ns, the highest ns, and the operations in it.
fn distribution(
    ios: u64,
    points: &[(f64, u64)],
    counts: &[(u64, u64, u64)],
    most_points: usize,
) -> impl Serialize + use<> {
    fields! {
        ios: ios,
        // `[share above, ns, share above, ns, …]`
        curve: curve(points, most_points),
        // `[lowest ns, highest ns, count, …]`
        bins: bins(counts, most_points),
    }
}

/// The name of a case without its direction: `seq1m-q8` for `seq1m-q8-read`.
fn family(case: &str, direction: &str) -> String {
    let parts: Vec<_> = case.split('-').filter(|part| *part != direction).collect();
    parts.join("-")
}

/// Factors from the unit of a figure to that of the charts.
const UNSCALED: f64 = 1.0;
const BYTES_TO_MB: f64 = 1e-6;

/// A figure with its confidence interval and its passes, all times `scale`; `cv` is in per cent of the
/// figure and has no scale.
fn estimate(estimate: &Estimate, each: &[f64], scale: f64) -> impl Serialize + use<> {
    let scaled = |value: f64| six_figures(value * scale);
    fields! {
        value: scaled(estimate.value),
        low: estimate.low.map(scaled),
        high: estimate.high.map(scaled),
        cv: six_figures(estimate.cv_percent),
        // Each pass that counts, in order.
        each: each.iter().copied().map(scaled).collect::<Vec<_>>(),
    }
}

/// A number that is written without `.0` if it is whole, which saves a tenth of a large page.
struct Figure(f64);

impl Figure {
    fn new(value: f64) -> Self {
        Self(six_figures(value))
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Up to this value every whole number has an exact `f64`.
        const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
        if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

/// About `most_points` points of a share of the operations and its latency, evenly thinned; the first
/// and the last one stay. The share above is written: near 1, six figures of the other would be equal.
fn curve(points: &[(f64, u64)], most_points: usize) -> Vec<Figure> {
    let step = points.len().div_ceil(most_points).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points
        .iter()
        .enumerate()
        .filter(|(index, _)| index % step == 0 || *index == last);
    let figures =
        kept.flat_map(|(_, (share, ns))| [Figure::new((1.0 - share).max(0.0)), Figure(*ns as f64)]);
    figures.collect()
}

/// At most `most_points` bins. Neighbours are joined, so that counts stay exact.
fn bins(bins: &[(u64, u64, u64)], most_points: usize) -> Vec<u64> {
    let step = bins.len().div_ceil(most_points).max(1);
    bins.chunks(step)
        .flat_map(|joined| {
            let count = joined.iter().map(|(_, _, count)| count).sum();
            let ((lowest, ..), (_, highest, _)) = (joined[0], joined[joined.len() - 1]);
            [lowest, highest, count]
        })
        .collect()
}

/// The series of a pass, `merged` intervals to a slice.
fn pass(measurement: &Measurement, merged: usize) -> impl Serialize + use<> {
    let series = without_remainder(&measurement.series);
    let slices = slices(series, merged);
    let ramp = series.iter().filter(|i| i.ramp).map(|i| i.end_ns);
    let seconds = |ns: u64| Figure::new(ns as f64 / 1e9);
    let cpu = slices
        .iter()
        .map(|slice| Figure::new(rate(slice, |i| i.cpu_ns) / 1e9 * 100.0));
    let named = facts::DIRECTIONS.into_iter().enumerate();
    let directions = named.filter_map(|(index, name)| {
        // A direction that never moved has no series.
        let moved = move |interval: &Interval| facts::directions(interval)[index];
        let occurs = series.iter().any(|interval| moved(interval).ios > 0);
        occurs.then(|| (name, series_of(&slices, moved)))
    });
    fields! {
        case: measurement.case.clone(),
        pass: measurement.pass,
        // Since the run's start, in seconds.
        started: seconds(measurement.started_ns),
        // Ends of the slices in seconds.
        end: slices.iter().map(|slice| seconds(slice[slice.len() - 1].end_ns)).collect::<Vec<_>>(),
        // Seconds of ramp at the beginning.
        ramp: seconds(ramp.max().unwrap_or(0)),
        // In per cent of one processor.
        cpu: cpu.collect::<Vec<_>>(),
        directions: directions.collect::<BTreeMap<_, _>>(),
    }
}

/// The intervals without a short last one in which nothing moved: the moment between the last
/// operation and the end of the pass, which would look like a fall to zero.
fn without_remainder(series: &[Interval]) -> &[Interval] {
    let longest = series.iter().map(|interval| interval.length_ns).max();
    match series.split_last() {
        Some((last, rest))
            if facts::directions(last).iter().all(|moved| moved.ios == 0)
                && last.length_ns < longest.unwrap_or(0) / 20 =>
        {
            rest
        }
        _ => series,
    }
}

/// The intervals, `merged` of them to a slice. A short slice at the end belongs to the one before it:
/// the last operation of a pass, 2 ms after the last full interval, would be drawn as 500 IOPS.
fn slices(series: &[Interval], merged: usize) -> Vec<&[Interval]> {
    let length = |slice: &[Interval]| slice.iter().map(|interval| interval.length_ns).sum::<u64>();
    let mut slices: Vec<&[Interval]> = series.chunks(merged).collect();
    if let [.., before, last] = slices.as_slice()
        && length(last) < length(before) / 4
        && !before.iter().all(|interval| interval.ramp)
    {
        slices.truncate(slices.len() - 2);
        slices.push(&series[slices.len() * merged..]);
    }
    slices
}

/// The series of a direction. A slice has the rate over all of its intervals, and the worst of
/// their percentiles, which cannot be averaged.
fn series_of<F>(slices: &[&[Interval]], direction_of: F) -> impl Serialize + use<F>
where
    F: Fn(&Interval) -> IntervalDirection,
{
    let iops = slices
        .iter()
        .map(|slice| Figure::new(rate(slice, |i| direction_of(i).ios)));
    // Another program may have counted operations of several sizes, and not their bytes.
    let mbps = slices.iter().map(|slice| {
        let mut moved = slice.iter().map(&direction_of);
        let is_known = moved.all(|moved| moved.ios == 0 || !moved.unknown.has(Statistic::Bytes));
        is_known.then(|| Figure::new(rate(slice, |i| direction_of(i).bytes) / 1e6))
    });
    let worst = |statistic, what: fn(IntervalDirection) -> u64| -> Vec<Option<u64>> {
        let of_slices = slices.iter().map(|slice| {
            let served = slice.iter().map(&direction_of);
            let known = served.filter(|served| served.ios > 0 && !served.unknown.has(statistic));
            known.map(what).max()
        });
        of_slices.collect()
    };
    fields! {
        iops: iops.collect::<Vec<_>>(),
        mbps: mbps.collect::<Vec<_>>(),
        // Nothing in a slice without operations.
        p50: worst(Statistic::P50, |served| served.p50_ns),
        p99: worst(Statistic::P99, |served| served.p99_ns),
    }
}

/// A sum over the intervals of a slice, per second.
fn rate(slice: &[Interval], what: impl Fn(&Interval) -> u64) -> f64 {
    let sum: u64 = slice.iter().map(what).sum();
    let length: u64 = slice.iter().map(|interval| interval.length_ns).sum();
    sum as f64 * 1e9 / length.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_bins_lose_no_operation() {
        let all = [(1, 1, 5), (2, 2, 7), (4, 5, 9)];
        assert_eq!(bins(&all, 10), [1, 1, 5, 2, 2, 7, 4, 5, 9]);
        assert_eq!(bins(&all, 2), [1, 2, 12, 4, 5, 9]);
    }

    #[test]
    fn a_thinned_curve_keeps_its_end() {
        let points = [(0.25, 10), (0.5, 20), (0.75, 30), (1.0, 40)];
        let written = serde_json::to_string(&curve(&points, 2)).expect("figures");
        assert_eq!(written, "[0.75,10,0.25,30,0,40]");
    }

    #[test]
    fn an_empty_moment_at_the_end_is_no_fall_to_zero() {
        let slice = |length_ns, ios| {
            let mut interval = Interval {
                length_ns,
                ..Interval::default()
            };
            interval.read.ios = ios;
            interval
        };
        let second = 1_000_000_000;
        let left = |series: &[Interval]| without_remainder(series).len();
        assert_eq!(left(&[slice(second, 9), slice(50_000, 0)]), 1);
        assert_eq!(left(&[slice(second, 9), slice(50_000, 1)]), 2);
        assert_eq!(
            left(&[slice(second, 9), slice(second, 0)]),
            2,
            "a real stall"
        );
        assert_eq!(left(&[]), 0);
    }

    /// The story: a pass of 125 MiB/s ended with one operation 1.5 ms after its last full interval,
    /// and the chart of IOPS ended in a spike of 666, above every limit that was drawn.
    #[test]
    fn a_short_slice_at_the_end_is_no_spike() {
        let slice = |length_ns, ramp, ios| {
            let mut interval = Interval {
                length_ns,
                ramp,
                ..Interval::default()
            };
            interval.read.ios = ios;
            interval
        };
        let rates = |series: &[Interval], merged| -> Vec<f64> {
            let slices = slices(series, merged);
            slices
                .iter()
                .map(|slice| rate(slice, |i| i.read.ios).round())
                .collect()
        };
        let full = slice(100_000_000, false, 12);
        let short = slice(1_500_000, false, 1);
        assert_eq!(rates(&[full, full, short], 1), [120.0, 128.0]);
        assert_eq!(rates(&[full, full, full, full, short], 2), [120.0, 124.0]);
        let half = slice(50_000_000, false, 6);
        assert_eq!(rates(&[full, full, half], 1), [120.0, 120.0, 120.0]);
        let ramp = slice(100_000_000, true, 60);
        assert_eq!(
            rates(&[ramp, short], 1),
            [600.0, 667.0],
            "not into the ramp"
        );
        assert_eq!(rates(&[short], 1), [667.0]);
        assert!(rates(&[], 1).is_empty());
    }

    /// The story: DiskSpd counts the operations of each second, and of several sizes not their bytes. The
    /// page of such a run drew a throughput of 0.
    #[test]
    fn bytes_that_nobody_counted_are_no_throughput_of_zero() {
        let mut counted = Interval {
            length_ns: 1_000_000_000,
            ..Interval::default()
        };
        counted.read.ios = 9;
        counted.read.bytes = 9_000_000;
        let mut bare = counted;
        bare.read.bytes = 0;
        bare.read.unknown = [Statistic::Bytes].into_iter().collect();
        let written = series_of(&[&[counted], &[bare]], |interval| interval.read);
        let written = serde_json::to_value(written).expect("a series");
        assert_eq!(written["iops"], serde_json::json!([9, 9]));
        assert_eq!(written["mbps"], serde_json::json!([9, null]));
    }

    #[test]
    fn a_family_is_a_case_without_its_direction() {
        assert_eq!(family("seq1m-q8-read", "read"), "seq1m-q8");
        assert_eq!(family("oltp", "write"), "oltp");
    }
}
