//! What the charts are drawn from: compact, in columns, at the resolution of a screen.

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

/// Points of all curves and histograms of a page together, and of all series. Both keep the pages of
/// the built-in studies below 2 MB: a point costs about 20 bytes, a slice of a series with reads and
/// writes about 80. What every pass has in addition (its name, a dot in a chart) still adds up.
const CURVE_POINTS: usize = 40_000;
const SERIES_SLICES: usize = 5_000;
/// This many of the points each row leaves to its line in the tables.
const POINTS_OF_A_ROW: usize = 55;
/// Each of hundreds of cases still has a shape.
const LEAST_POINTS: usize = 11;

/// What the charts of latency and time are drawn from.
pub fn json(sides: &[Side<'_>], limits: Vec<Drawn>) -> PreEscaped<String> {
    let all: Vec<&Record> = sides.iter().map(|side| side.record).collect();
    let errors = sides
        .iter()
        .map(|side| side.assessment.quantile_error_percent);
    let page = fields! {
        records: sides.iter().map(|side| record(side, sides)).collect::<Vec<_>>(),
        limits: limits,
        // Below pictures that leave the page.
        cite: facts::cite(&all),
        quantile_error_percent: errors.flatten().reduce(f64::max),
    };
    charts::embedded(&page)
}

fn record(side: &Side<'_>, sides: &[Side<'_>]) -> impl Serialize + use<> {
    let all = sides.iter().flat_map(|side| side.assessment.directions());
    let distributions: usize = all
        .map(|(_, it)| 1 + usize::from(!it.response_bins.is_empty()))
        .sum();
    let points = CURVE_POINTS.saturating_sub(POINTS_OF_A_ROW * distributions);
    let room = points / (2 * distributions.max(1));
    let slices: usize = sides.iter().map(|side| slices(side.record)).sum();
    let merged = slices.div_ceil(SERIES_SLICES).max(1);
    let rows = side.assessment.directions().map(|(row, it)| {
        fields! {
            // Only where it is a point of a sweep.
            #[serde(flatten)]
            swept: sweeps::has(side, &row.case)
                .then(|| fields! { is_swept: true, place: sweeps::place(side, it) }),
            #[serde(flatten)]
            row: row_data(row, it, room.max(LEAST_POINTS)),
        }
    });
    let passes = side.record.measurements.iter();
    fields! {
        id: side.record.id.clone(),
        label: side.label.clone(),
        // `mean of 3 passes`
        aggregate: facts::aggregate(side.record, &side.assessment.rows),
        rows: rows.collect::<Vec<_>>(),
        // Intervals in a slice.
        merged: merged,
        passes: passes.map(|read| pass(read, merged)).collect::<Vec<_>>(),
    }
}

fn slices(record: &Record) -> usize {
    record.measurements.iter().map(|m| m.series.len()).sum()
}

fn row_data(row: &Row, of: &RowDirection, room: usize) -> impl Serialize + use<> {
    fields! {
        case: row.case.clone(),
        // Rows of a family share a colour.
        family: family(&row.case, of.direction.name()),
        label: facts::label(row, of),
        direction: of.direction,
        what: row.what.clone(),
        iops: estimate(&of.iops, &of.each_iops, 1.0),
        mbps: estimate(&of.bytes_per_s, &of.each_bytes_per_s, 1e-6),
        p50: of.knows(0.5).then(|| of.service_ns.at("p50")),
        p99: of.knows(0.99).then(|| of.service_ns.at("p99")),
        #[serde(flatten)]
        service: distribution(of.ios, &of.curve, &of.bins, room),
        response: response(of, room),
    }
}

/// Nothing without one; `same` where no operation waited, so that its curve need not be written
/// twice.
fn response(of: &RowDirection, room: usize) -> Option<Response<impl Serialize + use<>>> {
    if of.response_bins.is_empty() {
        return None;
    }
    if of.response_bins == of.bins && of.response_curve == of.curve {
        return Some(Response::Same("same"));
    }
    let ios = of.response_bins.iter().map(|(_, _, count)| count).sum();
    let own = distribution(ios, &of.response_curve, &of.response_bins, room);
    Some(Response::Own(own))
}

#[derive(Serialize)]
#[serde(untagged)]
enum Response<T> {
    Same(&'static str),
    Own(T),
}

fn distribution(
    ios: u64,
    points: &[(f64, u64)],
    counts: &[(u64, u64, u64)],
    room: usize,
) -> impl Serialize + use<> {
    fields! {
        ios: ios,
        // `[share above, ns, share above, ns, …]`
        curve: curve(points, room),
        // `[lowest ns, highest ns, count, …]`
        bins: bins(counts, room),
    }
}

/// The case without the word for the direction: `seq1m-q8` of `seq1m-q8-read`.
fn family(case: &str, direction: &str) -> String {
    let parts: Vec<_> = case.split('-').filter(|part| *part != direction).collect();
    parts.join("-")
}

fn estimate(of: &Estimate, each: &[f64], scale: f64) -> impl Serialize + use<> {
    let scaled = |value: f64| six_figures(value * scale);
    fields! {
        value: scaled(of.value),
        low: of.low.map(scaled),
        high: of.high.map(scaled),
        cv: six_figures(of.cv_percent),
        // Each pass that counts, in order.
        each: each.iter().copied().map(scaled).collect::<Vec<_>>(),
    }
}

/// A figure without `.0` behind a whole number: that is a tenth of a large page.
struct Figure(f64);

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
        if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

/// At most `room` points, evenly thinned; the first and the last stay.
fn curve(points: &[(f64, u64)], room: usize) -> Vec<Figure> {
    let step = points.len().div_ceil(room).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points
        .iter()
        .enumerate()
        .filter(|(index, _)| index % step == 0 || *index == last);
    let figures = kept.flat_map(|(_, (share, ns))| {
        let above = six_figures((1.0 - share).max(0.0));
        [Figure(above), Figure(*ns as f64)]
    });
    figures.collect()
}

/// At most `room` bins: neighbours are joined, so counts stay exact.
fn bins(bins: &[(u64, u64, u64)], room: usize) -> Vec<u64> {
    let step = bins.len().div_ceil(room).max(1);
    bins.chunks(step)
        .flat_map(|joined| {
            let count = joined.iter().map(|(_, _, count)| count).sum();
            [joined[0].0, joined[joined.len() - 1].1, count]
        })
        .collect()
}

fn pass(measurement: &Measurement, merged: usize) -> impl Serialize + use<> {
    let series = without_remainder(&measurement.series);
    let slices: Vec<&[Interval]> = series.chunks(merged).collect();
    let ramp = series.iter().filter(|i| i.ramp).map(|i| i.end_ns);
    let seconds = |ns: u64| Figure(six_figures(ns as f64 / 1e9));
    let cpu = slices
        .iter()
        .map(|slice| Figure(six_figures(rate(slice, |i| i.cpu_ns) / 1e9 * 100.0)));
    let named = facts::DIRECTIONS.into_iter().enumerate();
    let directions = named.filter_map(|(index, name)| {
        let of = move |interval: &Interval| facts::directions(interval)[index];
        let occurs = series.iter().any(|interval| of(interval).ios > 0);
        occurs.then(|| (name, series_of(&slices, of)))
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

/// The series without the moment between the last operation and the end, in which nothing could
/// happen: drawn, it would be a fall to zero.
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

/// Rates are those of the whole slice; of the percentiles, a slice shows its worst interval.
fn series_of<F>(slices: &[&[Interval]], of: F) -> impl Serialize + use<F>
where
    F: Fn(&Interval) -> IntervalDirection,
{
    let rates = |what: fn(IntervalDirection) -> u64, scale: f64| -> Vec<Figure> {
        let of_slice =
            |slice: &&[Interval]| Figure(six_figures(rate(slice, |i| what(of(i))) / scale));
        slices.iter().map(of_slice).collect()
    };
    let worst = |statistic, what: fn(IntervalDirection) -> u64| -> Vec<Option<u64>> {
        let of_slices = slices.iter().map(|slice| {
            let served = slice.iter().map(&of);
            let known = served.filter(|served| served.ios > 0 && !served.unknown.has(statistic));
            known.map(what).max()
        });
        of_slices.collect()
    };
    fields! {
        iops: rates(|served| served.ios, 1.0),
        mbps: rates(|served| served.bytes, 1e6),
        // Nothing in a slice without operations.
        p50: worst(Statistic::P50, |served| served.p50_ns),
        p99: worst(Statistic::P99, |served| served.p99_ns),
    }
}

/// Per second.
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

    #[test]
    fn a_family_is_a_case_without_its_direction() {
        assert_eq!(family("seq1m-q8-read", "read"), "seq1m-q8");
        assert_eq!(family("oltp", "write"), "oltp");
    }
}
