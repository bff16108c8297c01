//! The gate on loads that are slower than the runs before them by more than is allowed.

use super::lost::{Change, verdicts};
use super::{Judged, Loads};
use crate::history::{AgainstHistory, HistoryPair};

/// Whether the run lost more than `percent` of the level of its history, load by load. A load that
/// cannot be compared is undecided, with the reason.
pub(super) fn slower_than_history(
    against: &AgainstHistory,
    percent: f64,
    loads: &Loads,
) -> Vec<Judged> {
    let pairs = against.pairs.iter();
    let pairs: Vec<&HistoryPair> = pairs
        .filter(|pair| loads.has(&pair.conditions.case, pair.conditions.direction))
        .collect();
    let changes = pairs.iter().map(|pair| Change {
        quantity: pair.quantity,
        ratio: pair.estimate,
        baseline: format!("{} earlier runs", pair.runs),
    });
    let changes: Vec<Change> = changes.collect();
    let verdicts = verdicts(&changes, percent).into_iter();
    let judged = pairs.iter().zip(verdicts).map(|(pair, (answer, why))| {
        let subject = format!("{} {}", pair.conditions.case, pair.conditions.direction);
        Judged::new(0, subject, answer, why)
    });
    let refused = against
        .refused
        .iter()
        .filter(|refused| loads.has(&refused.case, refused.direction))
        .map(|refused| Judged::not_compared(0, &refused.case, refused.direction, &refused.why));
    judged.chain(refused).collect()
}
