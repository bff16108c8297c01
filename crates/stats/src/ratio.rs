//! In: two samples, as the rates of two runs. Out: how many times one is the other, with a
//! confidence interval: the statistic of every comparison.

use crate::student::{critical, within};
use crate::summary::{Interval, Summary};

/// The ratio of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Geometric mean of the first sample over that of the second.
    pub value: f64,
    /// Where the true ratio lies, at the requested level.
    pub interval: Interval,
    /// Standard error of its logarithm.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub freedom: u32,
}

impl Ratio {
    /// The ratio of this logarithm, with the interval at `level` that Student's t gives it.
    pub fn new(log: f64, error: f64, freedom: u32, level: f64) -> Self {
        let half = if error > 0.0 {
            critical(level, freedom) * error
        } else {
            0.0
        };
        Self {
            value: log.exp(),
            interval: Interval {
                low: (log - half).exp(),
                high: (log + half).exp(),
            },
            error,
            freedom,
        }
    }

    /// How probable a ratio at least as far above `limit` is, if the true one is there; 1 where this
    /// one does not lie above.
    pub fn chance_above(&self, limit: f64) -> f64 {
        self.chance(self.value.ln() - limit.ln())
    }

    /// How probable a ratio at least as far below `limit` is, if the true one is there; 1 where this
    /// one does not lie below.
    pub fn chance_below(&self, limit: f64) -> f64 {
        self.chance(limit.ln() - self.value.ln())
    }

    /// Probability of a logarithm that is at least `beyond` above the true one.
    fn chance(&self, beyond: f64) -> f64 {
        if beyond <= 0.0 {
            1.0
        } else if self.error > 0.0 {
            (1.0 - within(beyond / self.error, self.freedom)) / 2.0
        } else {
            0.0
        }
    }
}

/// The ratio of two samples of positive values, with its confidence interval.
///
/// Welch's interval for the difference of the means of the logarithms, mapped back by exp. Logs
/// are chosen over Fieller's interval of the ratio of means because performance scatters in per
/// cent, because the answer for a/b is the inverse of that for b/a, and because it is always
/// finite. For scatter of a few per cent the two agree to a few hundredths of a per cent. The
/// degrees of freedom are rounded down, so rounding never makes the interval too narrow.
///
/// `None` with fewer than two values on a side, or with a value that is not above 0.
pub fn ratio(over: &[f64], under: &[f64], level: f64) -> Option<Ratio> {
    let (over, under) = (logs(over)?, logs(under)?);
    let difference = over.mean - under.mean;
    let (a, b) = (error_squared(&over), error_squared(&under));
    let error = (a + b).sqrt();
    Some(Ratio::new(difference, error, welch(&over, &under), level))
}

/// The logarithms of positive values; `None` with fewer than two, or where one is not above 0.
pub(crate) fn logs(values: &[f64]) -> Option<Summary> {
    let sound = values.len() >= 2 && values.iter().all(|v| *v > 0.0 && v.is_finite());
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    Summary::new(&logs).filter(|_| sound)
}

/// Square of the standard error of the mean.
fn error_squared(summary: &Summary) -> f64 {
    summary.stddev.powi(2) / summary.count as f64
}

/// Welch and Satterthwaite's degrees of freedom, rounded down.
fn welch(one: &Summary, other: &Summary) -> u32 {
    let (a, b) = (error_squared(one), error_squared(other));
    let weighted = a.powi(2) / (one.count - 1) as f64 + b.powi(2) / (other.count - 1) as f64;
    rounded_down((a + b).powi(2) / weighted)
}

/// Whole degrees of freedom, at least one. Those that are a whole number, as where one side has no
/// scatter, must not lose one to a rounding error.
pub(crate) fn rounded_down(freedom: f64) -> u32 {
    (freedom * (1.0 + 1e-9)).max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_fast_and_certain() {
        let found = ratio(&[200.0, 202.0, 198.0], &[100.0, 101.0, 99.0], 0.95).unwrap();
        assert!((found.value - 2.0).abs() < 1e-3, "{found:?}");
        assert!(found.interval.low > 1.94 && found.interval.high < 2.06);
    }

    #[test]
    fn the_other_way_round_is_the_inverse() {
        let (a, b) = ([3.0, 3.3, 3.1], [2.0, 2.5, 2.2, 2.1]);
        let (there, back) = (ratio(&a, &b, 0.95).unwrap(), ratio(&b, &a, 0.95).unwrap());
        assert!((there.value * back.value - 1.0).abs() < 1e-12);
        assert!((there.interval.low * back.interval.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn scatter_on_both_sides_leaves_it_open() {
        let found = ratio(&[90.0, 110.0, 130.0], &[80.0, 120.0, 100.0], 0.95).unwrap();
        assert!(found.interval.low < 1.0 && found.interval.high > 1.0);
    }

    /// The end of an interval of 95 % is where chance has 2.5 %, and nothing scatters beyond equal.
    #[test]
    fn the_interval_ends_where_chance_has_its_share() {
        let found = ratio(&[90.0, 110.0, 130.0], &[80.0, 120.0, 100.0], 0.95).unwrap();
        for chance in [
            found.chance_above(found.interval.low),
            found.chance_below(found.interval.high),
        ] {
            assert!((chance - 0.025).abs() < 1e-9, "{chance}");
        }
        assert_eq!(found.chance_below(found.value * 0.9), 1.0);
        let exact = ratio(&[4.0, 4.0], &[2.0, 2.0], 0.95).unwrap();
        assert_eq!(
            [exact.chance_above(1.9), exact.chance_above(2.1)],
            [0.0, 1.0]
        );
    }

    /// The story: eight passes against a side without scatter have seven degrees of freedom, and had six
    /// for one in twelve scatters, so that their interval was 3 % too wide.
    #[test]
    fn a_side_without_scatter_leaves_the_freedom_of_the_other() {
        for scatter in 1..40 {
            let passes = [0, 1, 2, 0, 1, 2, 0, 1];
            let over = passes.map(|pass| 100.0 + f64::from(scatter * pass));
            let found = ratio(&over, &[5.0; 8], 0.95).unwrap();
            assert_eq!(found.freedom, 7, "scatter {scatter}");
        }
    }

    #[test]
    fn what_has_no_ratio() {
        assert_eq!(ratio(&[1.0], &[1.0, 2.0], 0.95), None);
        assert_eq!(ratio(&[1.0, 0.0], &[1.0, 2.0], 0.95), None);
        let equal = ratio(&[4.0, 4.0], &[2.0, 2.0], 0.95).unwrap();
        assert!((equal.interval.low - 2.0).abs() < 1e-12 && equal.interval.low == equal.value);
    }
}
