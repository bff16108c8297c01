//! In: the values of a series that enter the test, and the places at which a new level begins. Out:
//! the levels. Charts draw them; no verdict depends on them.

use std::collections::BTreeSet;

use blocklab_stats::median;
use serde::Serialize;

/// A stretch of a series between two changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Index of its first run among the points.
    pub from_place: usize,
    /// Index of its last run among the points.
    pub to_place: usize,
    /// How many of its runs enter the test.
    pub runs: usize,
    /// The median of these.
    pub median: f64,
    /// Whether the change at its beginning is only suspected.
    pub is_suspected: bool,
}

/// The levels of a series. `sound`: its values, each with its index among the points; `starts`: the
/// indexes at which a new level begins; `suspected`: the one at which that is only suspected.
pub(super) fn levels(
    sound: &[(usize, f64)],
    starts: impl Iterator<Item = usize>,
    suspected: Option<usize>,
) -> Vec<Level> {
    let starts: BTreeSet<usize> = starts.chain(suspected).collect();
    let stretches = sound.chunk_by(|_, (next, _)| !starts.contains(next));
    let levels = stretches.map(|stretch| {
        let values: Vec<f64> = stretch.iter().map(|(_, value)| *value).collect();
        let first = stretch[0].0;
        Level {
            from_place: first,
            to_place: stretch[stretch.len() - 1].0,
            runs: stretch.len(),
            median: median(&values),
            is_suspected: suspected == Some(first),
        }
    });
    levels.collect()
}
