//! In: the ratio of each load to its baseline, with its error. Out: whether each lost more than is
//! allowed. A comparison of two runs and one with a history are judged by this same rule.

use blocklab_stats::Ratio;

use super::Answer;
use crate::compare::{LEVEL_PERCENT, Quantity};
use crate::history::holm;

/// The probability with which a 95 % interval lies wholly on the worse side of the truth. A load at
/// the bound fails with this probability; so does any of the loads together if nothing was lost.
const ERROR: f64 = (1.0 - LEVEL_PERCENT / 100.0) / 2.0;

/// The change of a load against its baseline.
pub(super) struct Change {
    /// The figure that is judged.
    pub(super) quantity: Quantity,
    /// The figure over that of the baseline.
    pub(super) ratio: Ratio,
    /// What the baseline is called: `the baseline`, `5 earlier runs`.
    pub(super) baseline: String,
}

/// Whether each load lost more than `percent`, with the figures.
///
/// A loss is shown if two things hold: the whole interval lies beyond what is allowed, and Holm's
/// rule over all loads excludes that the load lost nothing. Without the second, a build in which
/// nothing changed would often fail, since one of many loads with much scatter lies beyond by
/// chance.
///
/// Holm's rule could test against the allowed loss instead of against none. Over eight loads that
/// would find only half of the losses of twice the allowed size. Such losses are far from none, so
/// the rule used here finds them about as often as for a single load.
///
/// A pass needs no such correction: the check passes only if every load does.
pub(super) fn verdicts(changes: &[Change], percent: f64) -> Vec<(Answer, String)> {
    let p_values: Vec<f64> = changes.iter().map(Change::p_value).collect();
    let all = changes.len();
    let excluded = holm(&p_values, ERROR).into_iter();
    let verdicts = changes
        .iter()
        .zip(excluded)
        .map(|(change, is_excluded)| change.verdict(percent, is_excluded, all));
    verdicts.collect()
}

impl Change {
    /// `is_excluded`: Holm's rule excludes that nothing was lost. `all`: the number of loads.
    fn verdict(&self, percent: f64, is_excluded: bool, all: usize) -> (Answer, String) {
        let limit = bound(self.quantity, percent);
        let interval = self.ratio.interval;
        let (beyond, within) = if self.quantity.is_latency() {
            (interval.low > limit, interval.high <= limit)
        } else {
            (interval.high < limit, interval.low >= limit)
        };
        // A loss that only its own interval shows is neither shown nor excluded.
        let answer = match (beyond, within) {
            (true, _) if is_excluded => Answer::Fail,
            (_, true) => Answer::Pass,
            _ => Answer::Undecided,
        };
        let why = format!(
            "{} {:.3} of {}, {:.3} to {:.3}; allowed {limit:.3}",
            self.quantity.label(),
            self.ratio.value,
            self.baseline,
            interval.low,
            interval.high
        );
        if beyond && !is_excluded {
            let chance = format!("but one of {all} loads can lie there by chance");
            return (answer, format!("{why}, {chance}"));
        }
        (answer, why)
    }

    /// The one-sided p-value: the probability of at least this loss if the true ratio is 1.
    fn p_value(&self) -> f64 {
        if self.quantity.is_latency() {
            self.ratio.chance_above(1.0)
        } else {
            self.ratio.chance_below(1.0)
        }
    }

    /// What the interval must become to decide the load: half its width, in logarithms, and its
    /// level in per cent. The first entry is for the bound. A ratio beyond the bound must also
    /// satisfy Holm's rule, for which the strictest level is assumed.
    pub(super) fn deciding_intervals(&self, percent: f64, all: usize) -> Vec<(f64, f64)> {
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

/// The ratio beyond which more than the allowed share is lost. The share is no smaller than what
/// the quantity can resolve.
pub(super) fn bound(quantity: Quantity, percent: f64) -> f64 {
    let share = (percent / 100.0).max(quantity.resolution());
    if quantity.is_latency() {
        1.0 + share
    } else {
        1.0 - share
    }
}
