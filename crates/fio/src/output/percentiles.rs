//! In: a histogram and the percentiles that a job asks for. Out: their values as fio rounds them.
//!
//! fio chooses the rank and rounds the value otherwise than `blocklab_stats` does for our own figures.

use blocklab_stats::Histogram;

/// (per cent, nanoseconds): the middle of the bucket that holds the value of that rank, as fio
/// rounds it: half a bucket above its lowest value.
pub(super) fn percentiles(histogram: &Histogram, wanted: &[f64]) -> Vec<(f64, u64)> {
    let total = histogram.count();
    let mut buckets = histogram.edges();
    let (mut seen, mut value) = (0u64, 0);
    let mut found = Vec::with_capacity(wanted.len());
    for percent in wanted {
        let rank = percent / 100.0 * total as f64;
        while (seen as f64) < rank || seen == 0 {
            let Some((low, high, count)) = buckets.next() else {
                break;
            };
            seen = seen.saturating_add(count);
            value = middle(low, high);
        }
        found.push((*percent, value));
    }
    found
}

/// The value that is reported for a bucket, half a bucket above its lowest value.
pub(super) const fn middle(low: u64, high: u64) -> u64 {
    low + (high - low).div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_middles_are_those_of_fio() {
        let mut histogram = Histogram::new();
        for value in [13_320, 13_400, 45_000, 78_000] {
            histogram.record(value);
        }
        let found = percentiles(&histogram, &[0.0, 50.0, 75.0, 99.99]);
        assert_eq!(
            found,
            [
                (0.0, 13_376),
                (50.0, 13_376),
                (75.0, 44_800),
                (99.99, 78_336)
            ]
        );
        assert_eq!(percentiles(&Histogram::new(), &[50.0]), [(50.0, 0)]);
    }
}
