//! In: the points of a series, those of them that enter the test, and where something begins. Out: the
//! stretches between. A file of its own: charts draw them, and nothing is decided by them.

use std::collections::BTreeSet;

use blocklab_stats::median;
use serde::Serialize;

use super::Point;

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

/// The levels of the points at the places `sound`. `starts`: the first places of those after the
/// first; `suspected`: that of what is only suspected.
pub(super) fn levels(
    points: &[Point],
    sound: &[usize],
    starts: impl Iterator<Item = usize>,
    suspected: Option<usize>,
) -> Vec<Level> {
    let starts: BTreeSet<usize> = starts.chain(suspected).collect();
    let stretches = sound.chunk_by(|_, next| !starts.contains(next));
    let level = |places: &[usize]| {
        let values: Vec<f64> = places.iter().map(|place| points[*place].value).collect();
        Level {
            from_place: places[0],
            to_place: places[places.len() - 1],
            runs: places.len(),
            median: median(&values),
            is_suspected: suspected == Some(places[0]),
        }
    };
    stretches.map(level).collect()
}
