//! In: a store, and a choice of its runs. Out: their history.
//!
//! It also defines what the index of a store keeps of each run. The index has room for one such
//! derivation, so all commands share this one; with two, each would rebuild what the other wrote.

use blocklab_compare::history::{ByHand, DERIVED, HistoryRun, RunHead, derive};
use blocklab_store::{Derivation, Index, Listed, Store};

/// What the index of a store keeps of each Record.
pub const DERIVATION: Derivation<RunHead> = Derivation {
    version: DERIVED,
    derive,
};

/// The runs of a history, the oldest first: those that `wanted` accepts and that can be read.
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
