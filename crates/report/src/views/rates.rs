//! In: a table of rates. Out: its Document.

use blocklab_trace::rates::{RateInterval, RateTable};
use blocklab_units::{plural, rate, trimmed};

use super::trace::{moment, throughput};
use crate::document::{Column, Document, Entry, Part};
use crate::words::shown::fixed;

/// The most rows of the profile.
const SLOTS: usize = 24;
const SECOND: f64 = 1e9;

/// The document of a table of rates.
pub fn rates(name: &str, rates: &RateTable) -> Document {
    let heading = format!(
        "{name}: {} of {} s",
        plural(rates.intervals.len(), "interval"),
        trimmed(rates.interval_ns as f64 / SECOND, 1)
    );
    let inside = "How operations came within an interval is not in a table of rates. In recordings \
                  of four servers, the busiest second had 5 to 16 times the rate of the busiest \
                  minute.";
    let parts = vec![
        Part::Heading(heading),
        Part::Entries(Entry::pairs(&facts(rates), 0)),
        Part::Prose(inside.to_owned()),
        profile(rates),
        Part::lines("About the table", &rates.remarks),
    ];
    Document {
        name: name.to_owned(),
        parts,
    }
}

/// The mean of a figure over the intervals that have it.
fn mean(intervals: &[RateInterval], figure: fn(&RateInterval) -> Option<f64>) -> Option<f64> {
    let known: Vec<f64> = intervals.iter().filter_map(figure).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// The largest value of a figure, and when its interval begins, in nanoseconds.
fn peak(table: &RateTable, figure: fn(&RateInterval) -> Option<f64>) -> Option<(f64, u64)> {
    let known = table
        .intervals
        .iter()
        .filter_map(|interval| Some((figure(interval)?, interval.from_ns)));
    // Of equal ones the first, as for the lowest balance.
    known.rev().max_by(|one, other| one.0.total_cmp(&other.0))
}

/// Mean and peak of each figure, and the lowest balance, by name.
fn facts(table: &RateTable) -> Vec<(&'static str, String)> {
    let shown = |figure: fn(&RateInterval) -> Option<f64>, text: fn(f64) -> String| {
        let (mean, peak) = (mean(&table.intervals, figure), peak(table, figure));
        mean.zip(peak).map(|(mean, (most, from))| {
            format!(
                "{} in the mean, {} in the busiest interval, from {}",
                text(mean),
                text(most),
                moment(table.begins_ns, from)
            )
        })
    };
    let mut facts = vec![
        ("IOPS", shown(|interval| interval.iops, rate)),
        ("reads", shown(|interval| interval.read_iops, rate)),
        ("writes", shown(|interval| interval.write_iops, rate)),
        ("MiB/s", shown(RateInterval::bytes_per_s, throughput)),
    ];
    let lowest = table
        .intervals
        .iter()
        .filter_map(|interval| Some((interval.balance_percent?, interval.from_ns)))
        .min_by(|one, other| one.0.total_cmp(&other.0));
    facts.push((
        "balance",
        lowest.map(|(left, from)| {
            let at = moment(table.begins_ns, from);
            format!("{} % at the lowest, at {at}", fixed(left, 1))
        }),
    ));
    let known = facts.into_iter();
    known
        .filter_map(|(name, text)| Some((name, text?)))
        .collect()
}

/// The course of the rates in at most [`SLOTS`] rows.
fn profile(rates: &RateTable) -> Part {
    let slot = rates.intervals.len().div_ceil(SLOTS).max(1);
    let text =
        |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), text);
    let rows = rates.intervals.chunks(slot).map(|part| {
        let most = part.iter().filter_map(|interval| interval.iops);
        let left = part.iter().filter_map(|interval| interval.balance_percent);
        vec![
            moment(
                rates.begins_ns,
                part.first().map_or(0, |first| first.from_ns),
            ),
            text(mean(part, |interval| interval.iops), rate),
            text(most.reduce(f64::max), rate),
            text(mean(part, RateInterval::bytes_per_s), throughput),
            text(left.reduce(f64::min), |left| fixed(left, 1)),
        ]
    });
    let titles = ["IOPS", "BUSIEST INTERVAL", "MiB/s", "BALANCE %"];
    Part::table_section("Over time", Column::named("FROM", titles), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: of two hours with the same rate, the second was the busiest.
    #[test]
    fn of_equal_intervals_the_first_is_the_busiest() {
        let intervals = [0, 3600, 7200].map(|second| RateInterval {
            from_ns: second * 1_000_000_000,
            iops: Some(if second == 0 { 1.0 } else { 2.0 }),
            ..RateInterval::default()
        });
        let table = RateTable {
            intervals: intervals.to_vec(),
            ..RateTable::default()
        };
        let peak = peak(&table, |interval| interval.iops);
        assert_eq!(peak, Some((2.0, 3_600_000_000_000)));
    }
}
