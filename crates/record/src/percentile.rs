//! The percentiles of every output: one row here is one column there.

use blocklab_stats::Histogram;

use crate::{Latency, Statistic, Unknown};

/// A percentile of a latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// For people: `p99.9`.
    pub title: &'static str,
    /// In names of fields and columns: `p999`.
    pub name: &'static str,
    /// The share of the operations that take no longer, 0 to 1.
    pub share: f64,
    /// Whether the terminal, which has no room for all, shows it, and comparisons judge it.
    pub brief: bool,
    /// The field in which a Record keeps it next to the histogram, where it does.
    kept: Option<Statistic>,
}

/// A percentile by the values of its fields.
const fn row(
    title: &'static str,
    name: &'static str,
    share: f64,
    brief: bool,
    kept: Option<Statistic>,
) -> Percentile {
    Percentile {
        title,
        name,
        share,
        brief,
        kept,
    }
}

/// All of them, ascending. Tables, JSON, pages and exports derive from these rows.
pub const PERCENTILES: [Percentile; 7] = [
    row("p50", "p50", 0.5, true, Some(Statistic::P50)),
    row("p75", "p75", 0.75, false, None),
    row("p90", "p90", 0.9, false, Some(Statistic::P90)),
    row("p95", "p95", 0.95, false, None),
    row("p99", "p99", 0.99, true, Some(Statistic::P99)),
    row("p99.9", "p999", 0.999, true, Some(Statistic::P999)),
    row("p99.99", "p9999", 0.9999, false, Some(Statistic::P9999)),
];

impl Percentile {
    /// The percentiles that short tables show.
    pub fn brief() -> impl Iterator<Item = &'static Self> {
        PERCENTILES.iter().filter(|percentile| percentile.brief)
    }

    /// The percentiles that a Record keeps in a field, with the statistic that may be unknown.
    pub fn kept() -> impl DoubleEndedIterator<Item = (&'static Self, Statistic)> {
        PERCENTILES
            .iter()
            .filter_map(|percentile| Some((percentile, percentile.kept?)))
    }
}

impl Unknown {
    /// Whether the quantile of a share (0 to 1) is known; one between two of those that are kept
    /// is, where both are.
    pub fn knows(self, share: f64) -> bool {
        let below = Percentile::kept()
            .rev()
            .find(|(kept, _)| kept.share <= share);
        let above = Percentile::kept().find(|(kept, _)| kept.share >= share);
        let mut around = below.into_iter().chain(above);
        around.all(|(_, statistic)| !self.has(statistic))
    }
}

impl Latency {
    /// A percentile: as it is kept, or from the histogram. `None` where it is not known, or where
    /// the histogram that holds it cannot be read.
    pub fn percentile(&self, percentile: &Percentile) -> Option<u64> {
        if !self.unknown.knows(percentile.share) {
            return None;
        }
        match percentile.kept {
            Some(Statistic::P50) => Some(self.p50_ns),
            Some(Statistic::P90) => Some(self.p90_ns),
            Some(Statistic::P99) => Some(self.p99_ns),
            Some(Statistic::P999) => Some(self.p999_ns),
            Some(Statistic::P9999) => Some(self.p9999_ns),
            _ => {
                let histogram = self.histogram().ok()?;
                // A damaged record may have a least above its greatest.
                let least = self.min_ns.min(self.max_ns);
                Some(
                    histogram
                        .quantile(percentile.share)
                        .clamp(least, self.max_ns),
                )
            }
        }
    }
}

/// The value of every percentile of [`PERCENTILES`], in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles([u64; PERCENTILES.len()]);

impl Percentiles {
    /// The percentiles of a histogram. The middle of a bucket may lie outside the exact extremes, so
    /// it is clamped to them. 0 without values.
    pub fn new(histogram: &Histogram, min: u64, max: u64) -> Self {
        if histogram.count() == 0 {
            return Self::each(|_| 0);
        }
        let mut quantiles = histogram
            .quantiles(&PERCENTILES.map(|percentile| percentile.share))
            .into_iter();
        Self::each(|_| quantiles.next().expect("one a percentile").clamp(min, max))
    }

    /// Calls `value` for each, in their order.
    pub fn each(mut value: impl FnMut(&'static Percentile) -> u64) -> Self {
        let mut all = [0; PERCENTILES.len()];
        for (ns, percentile) in all.iter_mut().zip(&PERCENTILES) {
            *ns = value(percentile);
        }
        Self(all)
    }

    /// The value of one, by its name in fields: `p999`.
    ///
    /// # Panics
    /// On a name that is not in [`PERCENTILES`].
    pub fn at(&self, name: &str) -> u64 {
        let mut all = self.iter();
        let found = all.find(|(percentile, _)| percentile.name == name);
        found.expect("a percentile of the table").1
    }

    /// Each with its value, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Percentile, u64)> {
        PERCENTILES.iter().zip(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_titles_follow_from_the_share() {
        for it in PERCENTILES {
            let percent = (it.share * 1e6).round() / 1e4;
            assert_eq!(it.title, format!("p{percent}"));
            assert_eq!(it.name, it.title.replace('.', ""));
        }
        assert!(PERCENTILES.is_sorted_by(|a, b| a.share < b.share));
    }

    #[test]
    fn kept_percentiles_are_those_of_the_histogram() {
        let mut histogram = Histogram::new();
        (1..=100_000).for_each(|ns| histogram.record(ns));
        let latency = Latency::new(&histogram, 1, 100_000, 5e9, 3.3e14);
        let all = Percentiles::new(&histogram, 1, 100_000);
        for (it, ns) in all.iter() {
            assert_eq!(latency.percentile(it), Some(ns), "{}", it.title);
        }
        assert!((94_000..96_000).contains(&all.at("p95")), "{all:?}");
    }

    #[test]
    fn one_between_two_unknown_ones_is_not_known() {
        let unknown = Unknown::from_iter([Statistic::P99]);
        let known = PERCENTILES.map(|percentile| unknown.knows(percentile.share));
        assert_eq!(known, [true, true, true, false, false, true, true]);
        let mut latency = Latency::new(&Histogram::from_counts(vec![0, 9]), 1, 1, 9.0, 9.0);
        latency.unknown = unknown;
        let found = PERCENTILES.map(|percentile| latency.percentile(&percentile).is_some());
        assert_eq!(found, known);
    }
}
