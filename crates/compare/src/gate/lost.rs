//! In: how many times its baseline each load is, with its error. Out: whether each lost more than it
//! may. Apart from its two callers because a comparison and a history are judged by the same rule.

use blocklab_stats::Ratio;

use super::Answer;
use crate::compare::{LEVEL_PERCENT, Quantity};
use crate::history::holm;

/// The chance of a 95 % interval to lie wholly on the worse side of the truth: what each load is
/// allowed at the bound, and all loads together at "nothing was lost".
const ERROR: f64 = (1.0 - LEVEL_PERCENT / 100.0) / 2.0;

/// A load beside its baseline.
pub(super) struct Change {
    /// What is judged of it.
    pub(super) quantity: Quantity,
    /// That over the baseline's.
    pub(super) ratio: Ratio,
    /// What the baseline is: `the baseline`, `5 earlier runs`.
    pub(super) of: String,
}

/// Whether each load lost more than `percent`, with the figures.
///
/// A loss is shown if the whole interval lies beyond what is allowed, and Holm's rule over all loads
/// excludes that nothing was lost. Without the second, a build in which nothing changed would fail
/// often: of many loads that scatter much, one lies beyond by chance. Holm's rule on what is allowed
/// would do, too, but of eight loads it would find half of the losses of twice that; those are much
/// further from nothing, so here they are found about as often as in a load by itself.
///
/// To pass, every load has to, so that needs no such care.
pub(super) fn verdicts(changes: &[Change], percent: f64) -> Vec<(Answer, String)> {
    let chances: Vec<f64> = changes.iter().map(|change| change.chance_of(1.0)).collect();
    let all = changes.len();
    let excluded = holm(&chances, ERROR).into_iter();
    let verdicts = changes
        .iter()
        .zip(excluded)
        .map(|(change, is_excluded)| change.verdict(percent, is_excluded, all));
    verdicts.collect()
}

impl Change {
    fn verdict(&self, percent: f64, is_excluded: bool, all: usize) -> (Answer, String) {
        let limit = bound(self.quantity, percent);
        let Ratio {
            value, interval, ..
        } = self.ratio;
        let (beyond, within) = if self.quantity.is_latency() {
            (interval.low > limit, interval.high <= limit)
        } else {
            (interval.high < limit, interval.low >= limit)
        };
        let answer = match (beyond, within) {
            (true, _) if is_excluded => Answer::Fail,
            (_, true) => Answer::Pass,
            _ => Answer::Undecided,
        };
        let why = format!(
            "{} {value:.3} of {}, {:.3} to {:.3}; allowed {limit:.3}",
            self.quantity.label(),
            self.of,
            interval.low,
            interval.high
        );
        if beyond && !is_excluded {
            let chance = format!("but one of {all} loads can lie there by chance");
            return (answer, format!("{why}, {chance}"));
        }
        (answer, why)
    }

    /// The chance of so great a loss, if the true ratio is `limit`.
    fn chance_of(&self, limit: f64) -> f64 {
        if self.quantity.is_latency() {
            self.ratio.chance_above(limit)
        } else {
            self.ratio.chance_below(limit)
        }
    }

    /// How narrow either side of the interval has to become to decide it, in logarithms, and at
    /// which level in per cent: for the bound, and if it lies beyond, for Holm's rule at its
    /// strictest.
    pub(super) fn deciding(&self, percent: f64, all: usize) -> Vec<(f64, f64)> {
        let log = self.ratio.value.ln();
        let limit = bound(self.quantity, percent).ln();
        let mut deciding = vec![((log - limit).abs(), LEVEL_PERCENT)];
        if (log < limit) != self.quantity.is_latency() {
            let strictest = 100.0 - (100.0 - LEVEL_PERCENT) / all as f64;
            deciding.push((log.abs(), strictest));
        }
        deciding
    }
}

/// The ratio at which more than the allowed share is lost. What cannot be distinguished at all is no
/// loss.
pub(super) fn bound(of: Quantity, percent: f64) -> f64 {
    let share = (percent / 100.0).max(of.resolution());
    if of.is_latency() {
        1.0 + share
    } else {
        1.0 - share
    }
}
