//! In: values in the order in which they were measured. Out: the line through them, a drift, or a
//! sudden step: the three ways in which a series is not of one level.

use crate::student::within;
use crate::summary::mean;

/// A least-squares line through values at 0, 1, 2, ….
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Value at 0.
    pub intercept: f64,
    /// Change from one value to the next.
    pub slope: f64,
    /// Standard error of the slope; 0 for two values or a perfect line.
    pub slope_error: f64,
}

/// Fits a line; `None` with fewer than two values.
pub fn fit(values: &[f64]) -> Option<Line> {
    let count = values.len();
    if count < 2 {
        return None;
    }
    let (middle, level) = ((count - 1) as f64 / 2.0, mean(values));
    let points = (0..count).map(|x| x as f64).zip(values.iter().copied());
    let (mut spread, mut joint) = (0.0, 0.0);
    for (x, y) in points.clone() {
        spread += (x - middle).powi(2);
        joint += (x - middle) * (y - level);
    }
    let slope = joint / spread;
    let intercept = level - slope * middle;
    let rest: f64 = points
        .map(|(x, y)| (y - intercept - slope * x).powi(2))
        .sum();
    // A line through two points leaves nothing, so the divisor only has to be above 0.
    let freedom = count.saturating_sub(2).max(1) as f64;
    Some(Line {
        intercept,
        slope,
        slope_error: (rest / freedom / spread).sqrt(),
    })
}

/// A monotone change over a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// The last level over the first: 0.8 is a fall by a fifth.
    pub last_over_first: f64,
    /// Probability that independent normal values without a trend show at least this slope.
    pub chance: f64,
}

impl Drift {
    /// The change in per cent of the first level: a fall is negative and never reaches -100.
    pub fn change_percent(&self) -> f64 {
        (self.last_over_first - 1.0) * 100.0
    }
}

/// Looks for a drift: the least-squares slope with its t-test (n - 2 degrees of freedom). Its size
/// comes from the line through the logarithms, which stays above 0: by a line through the values
/// themselves, a steep fall could exceed 100 %.
///
/// Chosen over Mann-Kendall because passes are few: with three or four values the rank test cannot
/// reach 5 % at all (2/3! and 2/4!), and with five only for a perfect order. The price is the
/// assumption of independent, roughly normal values; average neighbours of an autocorrelated
/// series into blocks first. `None` below three values, where one is not above 0, or where the two
/// lines disagree on the direction.
pub fn drift(values: &[f64]) -> Option<Drift> {
    let sound = values.iter().all(|value| *value > 0.0 && value.is_finite());
    if values.len() < 3 || !sound {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (line, by_share) = (fit(values)?, fit(&logs)?.slope);
    if line.slope * by_share < 0.0 {
        return None;
    }
    let freedom = u32::try_from(values.len() - 2).unwrap_or(u32::MAX);
    let chance = if line.slope == 0.0 {
        1.0
    } else if line.slope_error > 0.0 {
        1.0 - within(line.slope / line.slope_error, freedom)
    } else {
        0.0
    };
    Some(Drift {
        last_over_first: (by_share * (values.len() - 1) as f64).exp(),
        chance,
    })
}

/// A sudden change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Index of the first value on the new level.
    pub at: usize,
    /// Mean before it.
    pub before: f64,
    /// Mean from it on.
    pub after: f64,
    /// Share of the scatter (sum of squares) that the two levels explain. A straight line reaches
    /// 0.75 and noise far less, so a value above 0.85 is a step.
    pub explained: f64,
}

/// The split of the values into two levels that explains most of their scatter, with at least
/// `shortest` values on both sides: least squares with one change point. `None` where there are
/// too few values or no scatter. Linear in the number of values.
pub fn largest_step(values: &[f64], shortest: usize) -> Option<Step> {
    let (count, shortest) = (values.len(), shortest.max(1));
    let level = mean(values);
    let scatter: f64 = values.iter().map(|value| (value - level).powi(2)).sum();
    // Rounding alone leaves about 1e-16 of every value.
    if count < 2 * shortest || scatter <= (level * 1e-9).powi(2) * count as f64 {
        return None;
    }
    let total: f64 = values.iter().map(|value| value - level).sum();
    let (mut sum, mut best) = (0.0, None::<Step>);
    for (at, value) in (1..count).zip(values) {
        sum += value - level;
        if at < shortest || count - at < shortest {
            continue;
        }
        let (left, right) = (sum / at as f64, (total - sum) / (count - at) as f64);
        let between = left * left * at as f64 + right * right * (count - at) as f64;
        let explained = (between / scatter).min(1.0);
        if best.is_none_or(|step| explained > step.explained) {
            best = Some(Step {
                at,
                before: level + left,
                after: level + right,
                explained,
            });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again() {
        let line = fit(&[1.0, 3.0, 5.0, 7.0]).unwrap();
        assert!((line.slope - 2.0).abs() < 1e-12 && (line.intercept - 1.0).abs() < 1e-12);
        assert!(line.slope_error < 1e-12);
        assert_eq!(fit(&[1.0]), None);
    }

    /// Computed by hand: slope 4 / 5, rest 1.8 / 2, error sqrt(0.9 / 5), so t = 1.886 with 2 degrees of
    /// freedom, and 1 - t / sqrt(2 + t^2) = 0.2.
    #[test]
    fn the_test_of_the_slope_by_hand() {
        let line = fit(&[1.0, 3.0, 2.0, 4.0]).unwrap();
        assert!((line.slope - 0.8).abs() < 1e-12);
        assert!((line.slope_error - 0.424_264).abs() < 1e-6, "{line:?}");
        let drift = drift(&[1.0, 3.0, 2.0, 4.0]).unwrap();
        // The logarithms: slope (3 ln 4 + ln 2 - ln 3) / 10.
        assert!((drift.last_over_first.ln() - 3.0 * 0.375_341).abs() < 1e-5);
        assert!((drift.chance - 0.2).abs() < 1e-9, "{drift:?}");
    }

    #[test]
    fn a_fall_is_a_drift_and_scatter_is_none() {
        let fall = drift(&[100.0, 96.0, 91.0, 86.0, 80.5]).unwrap();
        assert!(fall.chance < 0.001);
        assert!((fall.change_percent() + 19.5).abs() < 1.0, "{fall:?}");
        assert!(drift(&[100.0, 91.0, 99.0, 92.0, 98.0]).unwrap().chance > 0.5);
        assert_eq!(drift(&[5.0; 4]).unwrap().chance, 1.0);
        assert_eq!(drift(&[5.0; 2]), None);
        assert_eq!(drift(&[0.0; 9]), None);
    }

    /// The story: the slope was reported as a share of the mean in a sentence with "from the
    /// first to the last", so a fall could be one of 154 % and +145 % was reported as +84 %.
    #[test]
    fn a_change_is_relative_to_where_it_began() {
        let percent = |values: &[f64]| drift(values).unwrap().change_percent();
        let rise = percent(&[1207.0, 2059.0, 2953.0]);
        assert!((rise - 144.7).abs() < 0.1, "{rise}");
        for steep in [[1000.0, 20.0, 10.0], [1000.0, 999.0, 1e-6], [9.0, 1.0, 0.1]] {
            let fall = percent(&steep);
            assert!(
                (-100.0..-90.0).contains(&fall),
                "{steep:?} fell by {fall} %"
            );
        }
    }

    #[test]
    fn the_end_of_a_burst_is_a_step() {
        let mut values = vec![3000.0; 12];
        values[7..].fill(300.0);
        let step = largest_step(&values, 3).unwrap();
        assert_eq!(
            (step.at, step.before.round(), step.after.round()),
            (7, 3000.0, 300.0)
        );
        assert!(step.explained > 0.999);
    }

    #[test]
    fn a_line_and_a_flat_run_are_no_step() {
        let line: Vec<f64> = (0..100).map(f64::from).collect();
        let step = largest_step(&line, 3).unwrap();
        assert!((step.explained - 0.75).abs() < 0.01, "{step:?}");
        assert_eq!(largest_step(&[7.0; 20], 3), None);
        assert_eq!(largest_step(&[7.0, 8.0, 1.0], 2), None);
    }
}
