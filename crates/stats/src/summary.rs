//! In: a sample. Out: its mean, median and scatter, and confidence intervals of the first two. All
//! other statistics of this crate are built on these.

use crate::student::critical;

/// A range that holds the true value with a stated probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A sample in a few figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many values.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// The middle one, or the mean of the two middle ones.
    pub median: f64,
    /// Sample standard deviation (divided by n - 1); 0 for one value.
    pub stddev: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Summary {
    /// The summary of finite values; `None` without any.
    pub fn new(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let count = sorted.len();
        let mean = mean(values);
        // Two passes: the squares of differences lose no digits to a large mean.
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            count,
            mean,
            median: middle(&sorted),
            stddev: (squares / (count.max(2) - 1) as f64).sqrt(),
            min,
            max,
        })
    }

    /// Standard deviation over mean, as a share (0.1 is 10 %); 0 where the mean is 0.
    pub fn cv(&self) -> f64 {
        if self.mean == 0.0 {
            return 0.0;
        }
        self.stddev / self.mean.abs()
    }
}

/// Confidence interval of the mean by Student's t: exact for normally distributed values, and close
/// for others of little skew. `None` with fewer than two values, which have no scatter.
pub fn confidence(values: &[f64], level: f64) -> Option<Interval> {
    let summary = Summary::new(values).filter(|summary| summary.count >= 2)?;
    let freedom = u32::try_from(summary.count - 1).unwrap_or(u32::MAX);
    let error = summary.stddev / (summary.count as f64).sqrt();
    let half = critical(level, freedom) * error;
    Some(Interval {
        low: summary.mean - half,
        high: summary.mean + half,
    })
}

/// Confidence interval of the median from order statistics: between the k-th smallest and the
/// k-th largest value, for the largest k that keeps the level. It assumes no distribution.
///
/// The interval misses when fewer than k of n fair coins fall on one side, so it holds with
/// probability 1 - 2 · P(Bin(n, 1/2) < k), which is at least `level`. `None` where even the whole
/// range does not reach the level: below six values for 95 %, below eight for 99 %.
pub fn median_confidence(values: &[f64], level: f64) -> Option<Interval> {
    let sorted = sorted(values);
    let count = sorted.len();
    // P(Bin(n, 1/2) = k) as a logarithm: from 1,075 values on, the first of them, 2^-n, is 0 as an `f64`,
    // and so would be all that are computed from it.
    let mut log2_equal = -(count as f64);
    // P(Bin(n, 1/2) < k).
    let mut less = 0.0;
    let mut k = 0;
    while k < count / 2 && 1.0 - 2.0 * (less + log2_equal.exp2()) >= level {
        less += log2_equal.exp2();
        log2_equal += ((count - k) as f64 / (k + 1) as f64).log2();
        k += 1;
    }
    (k > 0).then(|| Interval {
        low: sorted[k - 1],
        high: sorted[count - k],
    })
}

/// Arithmetic mean; 0 without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The middle one, or the mean of the two middle ones; 0 without values.
pub fn median(values: &[f64]) -> f64 {
    middle(&sorted(values))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median of sorted values; 0 without any.
fn middle(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-3,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn a_sample_in_figures() {
        let summary = Summary::new(&[4.0, 2.0, 9.0]).unwrap();
        assert_eq!((summary.min, summary.median, summary.max), (2.0, 4.0, 9.0));
        near(summary.mean, 5.0);
        near(summary.stddev, 3.6056);
        near(summary.cv(), 0.7211);
        assert_eq!(Summary::new(&[1.0, 3.0, 5.0, 100.0]).unwrap().median, 4.0);
        assert_eq!(Summary::new(&[7.0]).unwrap().stddev, 0.0);
        assert_eq!(Summary::new(&[]), None);
    }

    #[test]
    fn a_large_mean_does_not_drown_the_scatter() {
        let summary = Summary::new(&[1e12, 1e12 + 1.0, 1e12 + 2.0]).unwrap();
        near(summary.stddev, 1.0);
    }

    /// Three passes at 100, 102, 104: sd 2, t = 4.303, half = 4.303 · 2 / sqrt 3 = 4.968.
    #[test]
    fn the_mean_has_a_t_interval() {
        let interval = confidence(&[100.0, 102.0, 104.0], 0.95).unwrap();
        near(interval.low, 97.0317);
        near(interval.high, 106.9683);
        assert_eq!(confidence(&[100.0], 0.95), None);
    }

    #[test]
    fn the_median_has_an_interval_from_six_values_on() {
        let values = |n: usize| (1..=n).map(|v| v as f64).collect::<Vec<_>>();
        let check = |n, level, expected: Option<(f64, f64)>| {
            let found = median_confidence(&values(n), level).map(|i| (i.low, i.high));
            assert_eq!(found, expected, "{n} values at {level}");
        };
        check(0, 0.95, None);
        check(5, 0.95, None);
        check(6, 0.95, Some((1.0, 6.0)));
        // The printed tables give the second and eighth of nine, the sixth and fifteenth of 20.
        check(9, 0.95, Some((2.0, 8.0)));
        check(20, 0.95, Some((6.0, 15.0)));
        check(7, 0.99, None);
        check(8, 0.99, Some((1.0, 8.0)));
    }

    /// The story: the median of 2,000 passes had the two middle ones as its interval, since the
    /// probability from which all others are computed is 0 as an `f64`.
    #[test]
    fn the_median_of_many_values_has_an_interval() {
        for (count, low, high) in [
            (1074_u32, 505.0, 570.0),
            (1075, 505.0, 571.0),
            (2000, 956.0, 1045.0),
        ] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let expected = Some(Interval { low, high });
            assert_eq!(median_confidence(&values, 0.95), expected, "{count} values");
        }
    }
}
