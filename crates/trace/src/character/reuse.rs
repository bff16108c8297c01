//! In: where operations go. Out: which share of them a cache of a size would hit, if it kept what was
//! used last.
//!
//! The distance of an access is the number of other pages since the last access to the same page. It
//! is counted on a sample of the pages, chosen by a hash: distances in the sample, divided by its
//! share, are those of all (SHARDS, Waldspurger and others, FAST '15). The sample is all pages until
//! it is full, and is halved then.

use serde::Serialize;

use super::space::{Numbers, PAGE, mixed, page_key};
use crate::Operation;

/// Pages of the sample.
const MOST_PAGES: usize = 16 << 10;
/// Places for accesses; they are numbered anew when all are taken.
const PLACES: usize = 4 * MOST_PAGES;

/// What a cache would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reuse {
    /// One page in this many was looked at; 1: every page, so the shares are exact.
    pub sampled_one_in: u64,
    /// What the shares are off by, in percentage points: `1 / sqrt(pages of the sample)`. 0 where
    /// every page was looked at.
    pub error_points: f64,
    /// Accesses to pages that were accessed for the first time.
    pub first_percent: f64,
    /// By the size of the cache.
    pub hits: Vec<Hit>,
}

/// What a cache of a size would do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hit {
    /// Its size.
    pub cache_bytes: u64,
    /// Accesses to pages that it would hold.
    pub hit_percent: f64,
}

#[derive(Debug)]
pub(super) struct Distances {
    /// Pages whose hash has this many trailing zeros are in the sample.
    shift: u32,
    /// The place of each page's last access.
    last: Numbers<u32>,
    /// How many places up to each are taken, as a Fenwick tree.
    tree: Vec<u32>,
    next: u32,
    /// Accesses by the power of two that their distance in bytes stays below.
    counts: [f64; 64],
    first: f64,
    total: f64,
}

impl Default for Distances {
    fn default() -> Self {
        Self {
            shift: 0,
            last: Numbers::default(),
            tree: vec![0; PLACES + 1],
            next: 0,
            counts: [0.0; 64],
            first: 0.0,
            total: 0.0,
        }
    }
}

impl Distances {
    #[inline]
    pub(super) fn add(&mut self, operation: &Operation) {
        let (first, last) = (operation.offset / PAGE, (operation.end() - 1) / PAGE);
        for page in first..=last {
            let key = page_key(operation.target, page);
            // Another mix than that of the map, whose places would else be few.
            if mixed(key ^ 0x5bd1_e995).trailing_zeros() >= self.shift {
                self.access(key);
            }
        }
    }

    fn access(&mut self, key: u64) {
        if self.next as usize == PLACES {
            self.renumber();
        }
        let place = self.next;
        self.next += 1;
        // The share that a page of the sample stands for, now that it has this size.
        self.total += 1.0;
        match self.last.insert(key, place) {
            Some(before) => {
                let since = self.last.len() as u64 - u64::from(self.up_to(before));
                self.change(before, u32::MAX);
                let bytes = ((since + 1) << self.shift) * PAGE;
                let power = 64 - (bytes - 1).leading_zeros();
                self.counts[power.min(63) as usize] += 1.0;
            }
            None => self.first += 1.0,
        }
        self.change(place, 1);
        if self.last.len() > MOST_PAGES {
            self.halve();
        }
    }

    /// Places up to this one that are taken.
    fn up_to(&self, place: u32) -> u32 {
        let (mut at, mut sum) = (place as usize + 1, 0_u32);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum
    }

    /// Adds to a place; `u32::MAX` takes one away.
    fn change(&mut self, place: u32, by: u32) {
        let mut at = place as usize + 1;
        while at <= PLACES {
            self.tree[at] = self.tree[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    fn halve(&mut self) {
        self.shift += 1;
        let shift = self.shift;
        self.last
            .retain(|key, _| mixed(*key ^ 0x5bd1_e995).trailing_zeros() >= shift);
        // What was counted stood for half as much.
        self.counts.iter_mut().for_each(|count| *count /= 2.0);
        self.first /= 2.0;
        self.total /= 2.0;
        self.renumber();
    }

    fn renumber(&mut self) {
        let mut places: Vec<(u32, u64)> = self.last.iter().map(|(key, at)| (*at, *key)).collect();
        places.sort_unstable();
        self.tree.fill(0);
        self.next = 0;
        for (_, key) in places {
            self.last.insert(key, self.next);
            self.change(self.next, 1);
            self.next += 1;
        }
    }

    pub(super) fn end(self) -> Reuse {
        let total = self.total.max(1e-9);
        let furthest = self.counts.iter().rposition(|count| *count > 0.0);
        let mut sum = 0.0;
        let mut hits = Vec::new();
        for (power, count) in self.counts.iter().enumerate() {
            sum += count;
            // From 1 MiB on, in steps of four, and where nothing more is to be had.
            let is_step = power >= 20 && power % 2 == 0;
            let is_last = furthest.is_some_and(|furthest| power >= furthest.max(20));
            if sum > 0.0 && (is_step || is_last) {
                hits.push(Hit {
                    cache_bytes: 1 << power,
                    hit_percent: 100.0 * sum / total,
                });
            }
            if is_last {
                break;
            }
        }
        Reuse {
            sampled_one_in: 1 << self.shift,
            error_points: match self.shift {
                0 => 0.0,
                _ => 100.0 / (self.last.len().max(1) as f64).sqrt(),
            },
            first_percent: 100.0 * self.first / total,
            hits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    /// A ring of pages that is walked again and again: each access is as far from its last as the
    /// ring is long.
    #[track_caller]
    fn check(pages: u64, one_in: u64, misses_below: u64) {
        let mut distances = Distances::default();
        for step in 0..4 * pages {
            let page = step % pages;
            distances.add(&Operation {
                offset: page * PAGE,
                ..at(0)
            });
        }
        let reuse = distances.end();
        assert_eq!(reuse.sampled_one_in, one_in);
        let off = reuse.error_points + 0.001;
        assert!((reuse.first_percent - 25.0).abs() <= off + 3.0, "{reuse:?}");
        for hit in &reuse.hits {
            if hit.cache_bytes < misses_below {
                assert!(hit.hit_percent <= off, "{reuse:?}");
            }
        }
        let most = reuse.hits.last().expect("some").hit_percent;
        assert!((most - 75.0).abs() <= off + 3.0, "{reuse:?}");
    }

    #[test]
    fn a_small_ring_is_counted_exactly_and_a_large_one_sampled() {
        check(1024, 1, 4 << 20);
        check(200_000, 16, 512 << 20);
    }
}
