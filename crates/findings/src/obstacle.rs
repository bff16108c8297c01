//! In: a case of a Record. Out: why its rate cannot be compared with what the target promises. The
//! first reasons are the load's own and are found here; the others come up where a prediction is
//! made for it.

use serde::Serialize;

use crate::requested::is_missed_by_all;
use crate::rules::processor::is_limited;
use crate::view::{CaseView, Cases};

/// Why the rate of a case cannot be compared with the documents of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// No operation was completed.
    Nothing,
    /// The engine does no I/O.
    NoIo,
    /// The page cache may have answered.
    PageCache,
    /// The load did not ask for all it could get: a rate was requested, or it paused.
    Paced,
    /// Its jobs kept to given shares of the operations.
    Shares,
    /// The processor was the limit.
    Processor,
    /// The operations went to several targets, and were not counted for each.
    NotCounted,
    /// Its jobs access in several patterns.
    SeveralPatterns,
    /// It flushed or trimmed as well.
    OtherOperations,
    /// The model has no closed form for its pattern, or other programs made the load.
    Pattern,
    /// Nothing is documented for such a load.
    NothingPromised,
}

/// What keeps the rate of a case from being the target's; `None`: it was asked for more than it gave,
/// past the page cache, and our own processor was not in the way.
pub fn obstacle(cases: &Cases<'_>, case: &CaseView<'_>) -> Option<Obstacle> {
    if case.is_null() {
        Some(Obstacle::NoIo)
    } else if case.passes[0].observed.is_some() {
        // Of the programs that used a served volume only their operations are known.
        Some(Obstacle::Pattern)
    } else if !case.is_direct() {
        Some(Obstacle::PageCache)
    } else if !case.is_saturating() && !is_missed_by_all(case) {
        Some(Obstacle::Paced)
    } else if cases.keeps_shares(case) {
        Some(Obstacle::Shares)
    } else if is_limited(cases, case) {
        Some(Obstacle::Processor)
    } else {
        None
    }
}

/// Whether a rate is the target's, no rate was requested, and nothing else kept it down.
pub(crate) fn shows_target(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    case.is_saturating() && obstacle(cases, case).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::summed;
    use crate::testing::{Sketch, observed, record};

    /// The story: a run of `emulate` was not compared with documents, as "the page cache may have answered":
    /// whether the clients had passed theirs is not known, but what was served was not answered by one.
    #[test]
    fn a_served_volume_lies_behind_no_page_cache() {
        let mut record = record(&[Sketch::default()]);
        for pass in &mut record.measurements {
            pass.jobs[0].direct = None;
            pass.observed = Some(Box::new(observed()));
        }
        let rows = summed(&record);
        let cases = Cases::new(&record, &rows);
        assert_eq!(obstacle(&cases, &cases.list[0]), Some(Obstacle::Pattern));
    }
}
