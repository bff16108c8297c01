//! In: the values of a series that enter the test, and where something begins. Out: the stretches
//! between. A file of its own: charts draw them, and nothing is decided by them.

use std::collections::BTreeSet;

use blocklab_stats::median;
use serde::Serialize;

/// A stretch of a series between two changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Its first run, by its place among the points.
    pub from_place: usize,
    /// Its last one.
    pub to_place: usize,
    /// Runs of it that enter the test.
    pub runs: usize,
    /// Their median.
    pub median: f64,
    /// Whether it is only suspected that something begins there.
    pub is_suspected: bool,
}

/// The levels of values, each with its place among the points. `starts`: the first places of those
/// after the first; `suspected`: that of what is only suspected.
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
