//! In: a small digest of each run, from the oldest on. Out: what changed, since which run, and by
//! how much.
//!
//! The index of a store keeps the digests, so no Record has to be read again. Digests of the same
//! load on the same target and class of machine make a series; the energy statistic and the rank
//! test of `stats` find the changes in it.

mod against;
mod digest;
mod levels;
mod series;
mod surroundings;
#[cfg(test)]
mod tests;

pub(crate) use against::holm;
pub use against::{AgainstHistory, HistoryPair, Refused, against_history};
pub use digest::{Course, DERIVED, Digest, Fastest, FigureDigest, LoadDigest, RunHead, derive};
pub use levels::Level;
pub use series::{
    ByHand, ChangePoint, Changed, Conditions, History, HistoryRun, Point, Series, SeriesVerdict,
    Suspected, history,
};
