//! The gate on loads that lost more than they may against the runs before them.

use super::slower::bound;
use super::{Answer, Judged, Loads};
use crate::history::{AgainstHistory, HistoryPair, holm};

/// The error that all loads together are allowed on the side of a loss.
const ERROR: f64 = 0.025;

/// Whether the run lost more than `percent` of the level before it, load by load.
///
/// Many loads are many chances to fail by chance: a loss is shown by Holm's rule over all of them.
/// To pass, every load has to, so that needs no such care. A load that cannot be compared is
/// undecided, with the reason.
pub(super) fn slower_than_history(
    against: &AgainstHistory,
    percent: f64,
    loads: &Loads,
) -> Vec<Judged> {
    let pairs = against.pairs.iter();
    let pairs: Vec<&HistoryPair> = pairs
        .filter(|pair| loads.has(&pair.conditions.case, pair.conditions.direction))
        .collect();
    let chances: Vec<f64> = pairs
        .iter()
        .map(|pair| pair.chance_of_limit(bound(pair.quantity, percent)))
        .collect();
    let lost = holm(&chances, ERROR).into_iter();
    let judged = pairs
        .iter()
        .zip(lost)
        .map(|(pair, is_lost)| judged(pair, is_lost, percent));
    let refused = against
        .refused
        .iter()
        .filter(|refused| loads.has(&refused.case, refused.direction))
        .map(|refused| {
            let subject = format!("{} {}", refused.case, refused.direction);
            let why = format!("it cannot be compared: {}", refused.why);
            Judged::new(0, subject, Answer::Undecided, why)
        });
    judged.chain(refused).collect()
}

fn judged(pair: &HistoryPair, is_lost: bool, percent: f64) -> Judged {
    let limit = bound(pair.quantity, percent);
    let is_within = if pair.quantity.is_latency() {
        pair.ci95_high <= limit
    } else {
        pair.ci95_low >= limit
    };
    let answer = match (is_lost, is_within) {
        (true, _) => Answer::Fail,
        (_, true) => Answer::Pass,
        _ => Answer::Undecided,
    };
    let subject = format!("{} {}", pair.conditions.case, pair.conditions.direction);
    let why = format!(
        "{} {:.3} of {} earlier runs, {:.3} to {:.3}; allowed {limit:.3}",
        pair.quantity.label(),
        pair.ratio,
        pair.runs,
        pair.ci95_low,
        pair.ci95_high
    );
    Judged::new(0, subject, answer, why)
}
