//! In: one figure a run, in their order. Out: since when it is another one: the changes that chance
//! does not explain, how large each is, and what the last runs let one suspect.
//!
//! The energy statistic finds the place, the exact rank test decides, medians tell the size. All of
//! it is deterministic: nothing is drawn.

use crate::energy::{Distances, SHORTEST};
use crate::rank_test::{doubled_ranks, rank_test, shift_ratio};
use crate::summary::{Interval, median};

/// How many of the last values a caller should hand to [`changes`]: its time grows with their
/// square.
pub const TESTED: usize = 200;
/// A split below this probability is kept as a candidate, until its neighbours are known.
const WEAK: f64 = 0.01;
/// Pairs of a probability by chance and a size in standard errors: a change below the one and above
/// the other is clear. The second pair is for three values against twenty or fewer, which cannot
/// come below 0.001, and for levels whose few wild values raise the probability of any step.
const IF_CLEAR: [(f64, f64); 2] = [(0.001, 5.0), (0.002, 6.0)];
/// The energy statistic finds the place of a change to within this many values.
const NEAR: usize = 3;
/// A difference of the medians below this share of the older one is too small to act on.
const LEAST: f64 = 0.02;
/// Share of false ones among all changes that are shown.
const FALSE_SHARE: f64 = 0.01;
/// A suspected value is at least this many median distances from the median of its level, which
/// are 3.4 standard deviations of normal values.
const FAR: f64 = 5.0;

/// A place since which a series is on another level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first value of the new level.
    pub at: usize,
    /// Median of the level before.
    pub before: f64,
    /// Median of the new level.
    pub after: f64,
    /// How many times as large the new level is (Hodges and Lehmann).
    pub ratio: f64,
    /// Where that lies with 95 % probability; `None` where the levels are too short to say.
    pub interval: Option<Interval>,
    /// How probable it is that chance alone makes as much of a difference.
    pub probability: f64,
}

/// The last one or two values, which lie beyond all of their level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspicion {
    /// The first of them.
    pub at: usize,
    /// Median of the level that they leave.
    pub before: f64,
    /// Their own median.
    pub after: f64,
}

/// The changes of a series of positive values, in their order.
///
/// A stretch is divided where the energy of its ranks is largest, as long as the rank test gives
/// less than 0.01. Each place then goes to the near one that chance explains least, and the
/// weakest is given up, so that the levels on its two sides become one, until chance explains none of
/// them and all medians differ by 2 % or more (Hunter's two passes, which see two changes near
/// each other). Ranks, because a wild value draws the place to itself otherwise. A level has
/// three values at least.
pub fn changes(values: &[f64]) -> Vec<Change> {
    let mut places = Vec::new();
    let distances = Distances::new(&ranks(values));
    divide(&distances, values, (0, values.len()), &mut places);
    places.sort_unstable();
    loop {
        settle(values, &mut places);
        let mut found = Vec::new();
        let mut not_shown = Vec::new();
        for (index, (before, after)) in levels(values, &places).enumerate() {
            let change = Change::new(places[index], before, after);
            if !change.is_shown(before, after) {
                not_shown.push((index, change.probability));
            }
            found.push(change);
        }
        let weakest = not_shown.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
        match weakest {
            Some((index, _)) => drop(places.remove(*index)),
            None => return found,
        }
    }
}

impl Change {
    /// The change from the values before the index `at` to those from it on.
    fn new(at: usize, before: &[f64], after: &[f64]) -> Self {
        let shift = shift_ratio(before, after);
        let medians = (median(before), median(after));
        Self {
            at,
            before: medians.0,
            after: medians.1,
            ratio: shift.map_or(medians.1 / medians.0, |(ratio, _)| ratio),
            interval: shift.and_then(|(_, interval)| interval),
            probability: rank_test(before, after),
        }
    }

    /// Whether a difference is probable enough and large enough to be shown as a change.
    fn is_shown(&self, before: &[f64], after: &[f64]) -> bool {
        let chance = self.probability;
        let errors = self.errors_away(before, after);
        let mut rules = IF_CLEAR.iter();
        let is_clear = rules.any(|(most, least)| chance < *most && errors >= *least);
        let shorter = before.len().min(after.len());
        (is_clear || chance < strict(shorter)) && is_large(self.before, self.after)
    }

    /// How many standard errors the levels are apart, by the median distance of their values from
    /// their medians, which wild ones do not widen. Infinite where most values are equal to their
    /// medians, and not a number if these are equal, too.
    fn errors_away(&self, before: &[f64], after: &[f64]) -> f64 {
        /// The standard deviation of normal values over their median distance from the median.
        const NORMAL: f64 = 1.4826;
        let before_off = before.iter().map(|value| (value - self.before).abs());
        let after_off = after.iter().map(|value| (value - self.after).abs());
        let distances: Vec<f64> = before_off.chain(after_off).collect();
        let (n, m) = (before.len() as f64, after.len() as f64);
        // The medians were taken from the same values, which makes the distances too short: the usual
        // correction by two degrees of freedom. Levels have three values at least, so it is finite.
        let two_medians = ((n + m) / (n + m - 2.0)).sqrt();
        let scatter = NORMAL * median(&distances) * two_medians;
        let shift = (self.ratio - 1.0).abs() * self.before.abs();
        shift / (scatter * (1.0 / n + 1.0 / m).sqrt())
    }
}

/// Chance alone explains a change as rarely as this, by the length of its shorter level.
///
/// A series of forty has some ten places that do not depend on each other, so that 0.001 for each
/// would cry in one of a hundred series. A long level can be asked for more without missing
/// anything; five to seven values have little to spare; of three or four, only those count that
/// lie beyond all others.
const fn strict(shorter: usize) -> f64 {
    match shorter {
        0..5 => 0.000_2,
        5..8 => 0.000_5,
        _ => 0.000_1,
    }
}

fn is_large(before: f64, after: f64) -> bool {
    (after - before).abs() >= LEAST * before.abs()
}

/// Splits the values of a range where both parts differ most, and goes on within the parts while a
/// weak test sees a difference. The places of all splits are added to `places`.
fn divide(
    distances: &Distances,
    values: &[f64],
    (from, end): (usize, usize),
    places: &mut Vec<usize>,
) {
    let Some(split) = distances.best_split(from, end) else {
        return;
    };
    if rank_test(&values[from..split.at], &values[split.at..split.end]) < WEAK {
        places.push(split.at);
        divide(distances, values, (from, split.at), places);
        divide(distances, values, (split.at, end), places);
    }
}

/// The levels before and after each of the places.
fn levels<'v>(
    values: &'v [f64],
    places: &'v [usize],
) -> impl Iterator<Item = (&'v [f64], &'v [f64])> {
    (0..places.len()).map(move |which| {
        let from = which.checked_sub(1).map_or(0, |before| places[before]);
        let end = places.get(which + 1).copied().unwrap_or(values.len());
        (&values[from..places[which]], &values[places[which]..end])
    })
}

/// Moves each place, one after the other, to the near one that chance explains least. Levels keep
/// at least [`SHORTEST`] values, so each place is itself among those that are tried.
fn settle(values: &[f64], places: &mut [usize]) {
    for which in 0..places.len() {
        let from = which.checked_sub(1).map_or(0, |before| places[before]);
        let end = places.get(which + 1).copied().unwrap_or(values.len());
        let first = (from + SHORTEST).max(places[which].saturating_sub(NEAR));
        let last = (end - SHORTEST).min(places[which] + NEAR);
        let near = (first..=last).map(|at| (rank_test(&values[from..at], &values[at..end]), at));
        let surest = near.min_by(|(a, _), (b, _)| a.total_cmp(b));
        places[which] = surest.map_or(places[which], |(_, at)| at);
    }
}

/// The rank of each value; equal ones share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let doubled = doubled_ranks(values, &[]);
    doubled.iter().map(|rank| *rank as f64 / 2.0).collect()
}

/// What the last one or two values of a level let one suspect: they lie beyond all values of it on
/// one side, by 2 % or more of its median and by more than its own values are apart.
///
/// Chance does that as well, so it is no change yet: two more values will tell.
pub fn suspected(level: &[f64]) -> Option<Suspicion> {
    // Two that agree tell more than the last one alone.
    [2, 1].into_iter().find_map(|last| {
        let at = level
            .len()
            .checked_sub(last)
            .filter(|at| *at >= 2 * SHORTEST)?;
        let (old, new) = level.split_at(at);
        let (before, after) = (median(old), median(new));
        let distances: Vec<f64> = old.iter().map(|value| (value - before).abs()).collect();
        let apart = FAR * median(&distances);
        let most = old.iter().copied().fold(before + apart, f64::max);
        let least = old.iter().copied().fold(before - apart, f64::min);
        let is_beyond =
            new.iter().all(|value| *value > most) || new.iter().all(|value| *value < least);
        (is_large(before, after) && is_beyond).then_some(Suspicion { at, before, after })
    })
}

/// Which of the changes of many series are shown, by their probabilities, of `tested` series: at
/// most 1 % of those shown are false (Benjamini and Hochberg). Without this, eight cases with four
/// figures each would raise a false alarm in one run of six.
pub fn discoveries(probabilities: &[f64], tested: usize) -> Vec<bool> {
    let mut sorted = probabilities.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all = tested.max(sorted.len()) as f64;
    let by_rank = sorted.iter().enumerate().rev();
    let largest = by_rank
        .map(|(index, probability)| (index + 1, *probability))
        .find(|(rank, probability)| *probability <= FALSE_SHARE * *rank as f64 / all)
        .map(|(_, probability)| probability);
    probabilities
        .iter()
        .map(|probability| largest.is_some_and(|largest| *probability <= largest))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values around a level, with a scatter of 1 %.
    fn level(of: f64, count: usize) -> Vec<f64> {
        (0..count)
            .map(|k| of * (1.0 + 0.01 * ((k * 7 % 5) as f64 - 2.0) / 2.0))
            .collect()
    }

    #[test]
    fn a_step_has_its_place_and_its_size() {
        let values = [level(1000.0, 20), level(900.0, 8)].concat();
        let found = changes(&values);
        assert_eq!(found.len(), 1, "{found:?}");
        let change = found[0];
        assert_eq!(
            (change.at, change.before, change.after),
            (20, 1000.0, 900.0)
        );
        assert!((change.ratio - 0.9).abs() < 0.01 && change.probability < 1e-5);
        let interval = change.interval.expect("long enough");
        assert!(interval.low < 0.9 && 0.9 < interval.high && interval.high < 0.93);
    }

    #[test]
    fn two_changes_near_each_other_are_two() {
        let values = [level(1000.0, 20), level(900.0, 6), level(1000.0, 14)].concat();
        let places: Vec<usize> = changes(&values).iter().map(|change| change.at).collect();
        assert_eq!(places, [20, 26]);
    }

    #[test]
    fn a_level_needs_three_values_and_a_change_two_per_cent() {
        let values = [level(1000.0, 20), level(500.0, 2)].concat();
        assert_eq!(changes(&values), []);
        let suspicion = suspected(&values).expect("two far away");
        assert_eq!(
            (suspicion.at, suspicion.before, suspicion.after),
            (20, 1000.0, 497.5)
        );
        let values = [level(1000.0, 30), level(985.0, 30)].concat();
        assert_eq!(changes(&values), []);
        assert_eq!(changes(&[]), []);
        assert_eq!(changes(&[1.0, 2.0]), []);
        assert_eq!(changes(&[5.0; 50]), []);
    }

    #[test]
    fn one_far_value_is_suspected_and_a_usual_one_is_not() {
        let steady = level(1000.0, 20);
        assert_eq!(suspected(&steady), None);
        let last = [&steady[..], &[900.0]].concat();
        assert_eq!(suspected(&last).map(|found| found.at), Some(20));
        let among = [&steady[..], &[1009.0]].concat();
        assert_eq!(suspected(&among), None);
        assert_eq!(
            suspected(&[1.0, 1.0, 1.0, 1.0, 1.0, 9.0]),
            None,
            "too few before it"
        );
    }

    #[test]
    fn of_many_series_a_weak_change_is_no_discovery() {
        assert_eq!(discoveries(&[0.0009], 1), [true]);
        assert_eq!(discoveries(&[0.0009], 32), [false]);
        assert_eq!(discoveries(&[0.0009, 1e-6], 32), [false, true]);
        // Where all series change, each of them may be weaker.
        assert_eq!(discoveries(&[0.0009; 8], 8), [true; 8]);
        assert_eq!(discoveries(&[], 5), Vec::<bool>::new());
    }

    proptest! {
        /// No panic, places in their order, levels of three values at least; and a series that is
        /// twice as large has its changes in the same places.
        #[test]
        fn any_series_has_levels_in_order(values in prop::collection::vec(0.01_f64..100.0, 0..60)) {
            let found = changes(&values);
            let places: Vec<usize> = found.iter().map(|change| change.at).collect();
            let ends = [0].into_iter().chain(places.iter().copied()).chain([values.len()]);
            let ends: Vec<usize> = ends.collect();
            prop_assert!(places.is_empty() || ends.windows(2).all(|pair| pair[1] >= pair[0] + SHORTEST));
            let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
            let of_doubled: Vec<usize> = changes(&doubled).iter().map(|change| change.at).collect();
            prop_assert_eq!(places, of_doubled);
        }
    }

    /// The story: drawn at random, six values before and six after came up in one run of the tests
    /// out of five, and failed it: chance alone parts twelve values as clearly in 2 of 924 orders.
    #[test]
    fn a_clear_step_is_found_wherever_it_is() {
        for before in 6..40 {
            for after in 6..40 {
                let values = [level(1000.0, before), level(700.0, after)].concat();
                let places: Vec<usize> = changes(&values).iter().map(|change| change.at).collect();
                let wanted = if before + after > 12 {
                    vec![before]
                } else {
                    Vec::new()
                };
                assert_eq!(places, wanted, "{before} and {after}");
            }
        }
    }
}
