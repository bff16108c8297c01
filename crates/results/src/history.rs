//! In: a store, and which of its runs are wanted. Out: their history; and what the index remembers
//! of each run, the one derivation that every command uses, as the index holds one.

use blocklab_compare::history::{ByHand, DERIVED, HistoryRun, RunHead, derive};
use blocklab_store::{Derivation, Index, Listed, Store};

/// What the index of every store remembers of a Record.
pub const DERIVATION: Derivation<RunHead> = Derivation {
    version: DERIVED,
    derive,
};

/// The runs of a history, the oldest first: those that are wanted and can be read.
pub fn history_runs(
    store: &Store,
    index: &Index<RunHead>,
    mut wanted: impl FnMut(&Listed) -> bool,
) -> Vec<HistoryRun> {
    let chosen = index.runs.iter().filter(|indexed| wanted(&indexed.run));
    let runs = chosen.filter_map(|indexed| {
        Some(HistoryRun {
            id: indexed.run.id.clone(),
            started_at: indexed.run.started_at.clone(),
            digest: index.text(indexed, |text| serde_json::from_str(text).ok())?,
            by_hand: ByHand::of_tags(&store.tags(&indexed.run)),
        })
    });
    runs.collect()
}
