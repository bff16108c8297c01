//! In: one value a round. Out: whether the last rounds count as steady state, by SNIA's rule or by
//! the slope, and the figures that decided it.

use crate::summary::mean;
use crate::trend::fit;

/// Rounds in the window of the SNIA rule.
pub const SNIA_ROUNDS: usize = 5;

/// Whether a window of rounds counts as steady, and the figures that decided it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Mean of the window, in the unit of the values.
    pub mean: f64,
    /// Largest minus smallest, in per cent of the mean; infinite where the mean is not above 0.
    pub range_percent: f64,
    /// Slope of the least-squares line, without its sign, in per cent of the mean: over the whole
    /// window for [`snia`], per round for [`slope`]. Infinite where the mean is not above 0.
    pub slope_percent: f64,
    /// The values have settled.
    pub steady: bool,
}

/// SNIA's rule of the Performance Test Specification: over the last five rounds, the values lie
/// within 20 % of their mean from the smallest to the largest, and the least-squares line changes
/// by at most 10 % of the mean from the first round of the window to the last (four steps).
///
/// `None` before there are five rounds.
pub fn snia(values: &[f64]) -> Option<Verdict> {
    let window = values.last_chunk::<SNIA_ROUNDS>()?;
    let mut verdict = judge(window, (SNIA_ROUNDS - 1) as f64);
    verdict.steady = verdict.range_percent <= 20.0 && verdict.slope_percent <= 10.0;
    Some(verdict)
}

/// The slope rule: the least-squares line over all `values` changes by at most `limit_percent` of
/// their mean per round. `None` below three rounds: a line through two always fits.
pub fn slope(values: &[f64], limit_percent: f64) -> Option<Verdict> {
    if values.len() < 3 {
        return None;
    }
    let mut verdict = judge(values, 1.0);
    verdict.steady = verdict.slope_percent <= limit_percent;
    Some(verdict)
}

/// The figures of a window whose slope is taken over `steps` rounds; the caller's rule decides.
fn judge(window: &[f64], steps: f64) -> Verdict {
    let mean = mean(window);
    let highest = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = window.iter().copied().fold(f64::INFINITY, f64::min);
    let slope = fit(window).map_or(0.0, |line| line.slope);
    Verdict {
        mean,
        range_percent: percent_of(mean, highest - lowest),
        slope_percent: percent_of(mean, slope.abs() * steps),
        steady: false,
    }
}

fn percent_of(mean: f64, part: f64) -> f64 {
    if mean > 0.0 {
        part / mean * 100.0
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], range: f64, slope: f64, steady: bool) {
        let verdict = snia(values).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(verdict.range_percent, range), "{verdict:?}");
        assert!(close(verdict.slope_percent, slope), "{verdict:?}");
        assert_eq!(verdict.steady, steady, "{verdict:?}");
    }

    #[test]
    fn the_snia_rule_on_written_out_rounds() {
        check(&[100.0; 5], 0.0, 0.0, true);
        // Exactly at the limit of the range; then past it.
        check(&[100.0, 110.0, 90.0, 110.0, 90.0], 20.0, 8.0, true);
        check(&[110.0, 90.0, 100.0, 90.0, 110.0], 20.0, 0.0, true);
        check(&[111.0, 90.0, 98.0, 90.0, 111.0], 21.0, 0.0, false);
        // A line: 2.5 a round is 10 % over the window, at the limit; 3 a round is past it.
        check(&[95.0, 97.5, 100.0, 102.5, 105.0], 10.0, 10.0, true);
        check(&[106.0, 103.0, 100.0, 97.0, 94.0], 12.0, 12.0, false);
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        check(&[9000.0, 1.0, 50.0, 50.0, 50.0, 50.0, 50.0], 0.0, 0.0, true);
        assert_eq!(snia(&[50.0; 4]), None);
    }

    #[test]
    fn nothing_at_all_is_not_steady() {
        assert!(!snia(&[0.0; 5]).unwrap().steady);
    }

    #[test]
    fn the_slope_rule_is_per_round() {
        let verdict = slope(&[99.0, 100.0, 101.0], 1.0).unwrap();
        assert!((verdict.slope_percent - 1.0).abs() < 1e-9 && verdict.steady);
        assert!(!slope(&[98.0, 100.0, 102.0], 1.0).unwrap().steady);
        assert_eq!(slope(&[1.0, 1.0], 1.0), None);
    }
}
