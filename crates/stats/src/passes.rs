//! In: the scatter of two samples, and the precision that their ratio should have. Out: the number
//! of passes that reaches it: the inverse of `ratio`, for the plan of a comparison.

use crate::ratio::{logs, rounded_down};
use crate::student::critical;

/// More passes than this are not practical, so no answer goes beyond them.
const MOST: u32 = 1000;

/// How many values each side needs for the interval of [`crate::ratio`] to be at most `half` wide
/// either way, in logarithms, if the scatter does not change.
///
/// `scatter` holds the variance of the logarithms of each side ([`log_variance`]). It is itself an
/// estimate, and from few passes a rough one, so the answer is a plan and not a promise. `None`:
/// more than 1,000, or `half` is not above 0.
///
/// With the variance of the values of one side, and 0 for the other, it answers the same for Student's
/// interval of a mean ([`crate::confidence`]), with `half` in the unit of the values.
pub fn passes_for(scatter: [f64; 2], half: f64, level: f64) -> Option<u32> {
    if half.is_nan() || half <= 0.0 || half_width(scatter, MOST, level) > half {
        return None;
    }
    // The half width falls with every pass, so bisection finds the first number that is enough.
    let (mut low, mut high) = (1, MOST);
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if half_width(scatter, middle, level) <= half {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Variance of the logarithms of positive values; `None` with fewer than two values, or where one
/// is not above 0.
pub fn log_variance(values: &[f64]) -> Option<f64> {
    Some(logs(values)?.stddev.powi(2))
}

/// Half of Welch's interval with `passes` values on each side.
fn half_width([a, b]: [f64; 2], passes: u32, level: f64) -> f64 {
    let sum = a + b;
    if sum <= 0.0 {
        return 0.0;
    }
    let freedom = f64::from(passes - 1) * sum.powi(2) / (a.powi(2) + b.powi(2));
    critical(level, rounded_down(freedom)) * (sum / f64::from(passes)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio;

    /// A plan of up to 1,000 passes is one; with more, there is none. For that many, the half width is
    /// about 1.9615 · sqrt(2 v / n).
    #[test]
    fn nobody_plans_more_than_a_thousand_passes() {
        let scatter = [0.01; 2];
        let half = |passes: f64| 1.9615 * f64::sqrt(2.0 * 0.01 / passes);
        let planned = passes_for(scatter, half(980.0), 0.95).expect("a plan");
        assert!((960..=1000).contains(&planned), "{planned}");
        assert_eq!(passes_for(scatter, half(1020.0), 0.95), None);
    }

    /// Four passes a side with a variance of v have the half width 2.447 · sqrt(v / 2).
    #[test]
    fn the_printed_table_says_how_many_are_enough() {
        let variance = 0.0004;
        let half = 2.447 * f64::sqrt(variance / 2.0);
        let scatter = [variance; 2];
        assert_eq!(passes_for(scatter, half * 1.001, 0.95), Some(4));
        assert_eq!(passes_for(scatter, half * 0.999, 0.95), Some(5));
        assert_eq!(passes_for(scatter, 1e-6, 0.95), None);
        assert_eq!(passes_for(scatter, 0.0, 0.95), None);
        assert_eq!(passes_for(scatter, f64::NAN, 0.95), None);
        assert_eq!(passes_for([0.0; 2], 0.01, 0.95), Some(2));
    }

    /// The story: of four passes against a fixed bound, for which t is 3.182, one in fourteen scatters was
    /// given that of three, 4.303.
    #[test]
    fn a_bound_leaves_the_freedom_of_the_passes() {
        for variance in (1..40).map(|thousandths| f64::from(thousandths) * 0.001) {
            let t = half_width([variance, 0.0], 4, 0.95) / (variance / 4.0).sqrt();
            assert!((t - 3.182).abs() < 1e-3, "{t} for {variance}");
        }
    }

    /// With the number of passes that was planned, and the same scatter, the interval is as narrow
    /// as was requested; with one pass less it is not.
    #[test]
    fn the_plan_and_the_interval_agree() {
        let side = |passes: u32| -> Vec<f64> {
            let up = |n| if n % 2 == 0 { 0.1f64 } else { -0.1 };
            (0..passes).map(|n| 100.0 * up(n).exp()).collect()
        };
        let half = |passes| {
            let found = ratio(&side(passes), &side(passes), 0.95).expect("two passes or more");
            found.interval.high.ln()
        };
        // For an even number the variance is 0.01 · n / (n - 1).
        let variance = log_variance(&side(40)).expect("forty values");
        let planned = passes_for([variance; 2], half(40) * 1.001, 0.95);
        assert_eq!(planned, Some(40));
        assert_eq!(log_variance(&[1.0]), None);
        assert_eq!(log_variance(&[1.0, 0.0]), None);
    }
}
