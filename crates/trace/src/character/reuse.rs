//! In: the offsets of operations. Out: the hit rates of LRU caches of several sizes.
//!
//! The reuse distance of an access is the number of other pages since the last access to the same
//! page; an LRU cache hits if it has more pages than that. Distances are counted on a sample of the
//! pages, which a hash selects: a distance in the sample, divided by the share of pages in it,
//! estimates the one among all pages (SHARDS, Waldspurger and others, FAST '15). The sample begins
//! with all pages and is halved whenever it is full.

use blocklab_units::with_defaults;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::space::{PAGE, mixed, page_key};
use crate::Operation;

/// Most pages of the sample.
const MAX_PAGES: usize = 16 << 10;
/// Sequence numbers for accesses; pages are numbered anew when all are used.
const PLACES: usize = 4 * MAX_PAGES;

/// Hit rates of caches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reuse {
    /// One page in this many is in the sample; 1: all pages are, so the rates are exact.
    pub sampled_one_in: u64,
    /// Error of the rates in percentage points: `1 / sqrt(pages of the sample)`; 0 if all pages are in
    /// it.
    pub error_points: f64,
    /// Share of the accesses that were the first one to their page.
    pub first_percent: f64,
    /// Hit rates by the size of the cache.
    pub hits: Vec<Hit>,
}

/// The hit rate of a cache of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hit {
    /// Its size.
    pub cache_bytes: u64,
    /// Share of the accesses to pages that it would have.
    pub hit_percent: f64,
}

with_defaults! {
    /// Counts reuse distances.
    #[derive(Debug)]
    pub(super) struct Distances {
        /// Pages whose hash has this many trailing zeros are in the sample: one in `2^shift`.
        shift: u32 = 0,
        /// The sequence number of the last access to each page of the sample.
        last: FxHashMap<u64, u32> = FxHashMap::default(),
        /// A Fenwick tree over the sequence numbers: 1 where a number is some page's last access. Its
        /// sum over a range is the number of different pages accessed in it.
        tree: Vec<u32> = vec![0; PLACES + 1],
        /// The next sequence number.
        next: u32 = 0,
        /// Number of accesses, by the power of two that their distance in bytes does not exceed.
        counts: [f64; 64] = [0.0; 64],
        /// Number of first accesses.
        first: f64 = 0.0,
        /// Number of all accesses to pages of the sample.
        total: f64 = 0.0,
    }
}

/// The hash that selects pages. The selected ones agree in its low bits, so it must differ from that of
/// the map, where they would share few buckets.
const fn sample_hash(key: u64) -> u64 {
    mixed(key ^ 0x5bd1_e995)
}

impl Distances {
    /// Counts the accesses of an operation to the pages that are sampled.
    #[inline]
    pub(super) fn add(&mut self, operation: &Operation) {
        let (first, last) = (operation.offset / PAGE, (operation.end() - 1) / PAGE);
        for page in first..=last {
            let key = page_key(operation.target, page);
            if sample_hash(key).trailing_zeros() >= self.shift {
                self.access(key);
            }
        }
    }

    /// Counts an access to a page of the sample.
    fn access(&mut self, key: u64) {
        if self.next as usize == PLACES {
            self.renumber();
        }
        let place = self.next;
        self.next += 1;
        // Each access counts 1 at the current size of the sample; `halve` rescales the earlier ones.
        self.total += 1.0;
        match self.last.insert(key, place) {
            Some(before) => {
                // All pages, minus those that were last accessed no later than this one was.
                let since = self.last.len() as u64 - u64::from(self.up_to(before));
                self.change(before, u32::MAX);
                let bytes = ((since + 1) << self.shift) * PAGE;
                let power = 64 - (bytes - 1).leading_zeros();
                self.counts[power.min(63) as usize] += 1.0;
            }
            None => self.first += 1.0,
        }
        self.change(place, 1);
        if self.last.len() > MAX_PAGES {
            self.halve();
        }
    }

    /// Number of pages whose last access has this sequence number or a lower one.
    fn up_to(&self, place: u32) -> u32 {
        let (mut at, mut sum) = (place as usize + 1, 0_u32);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum
    }

    /// Adds `by` at a sequence number of the tree; `u32::MAX` subtracts one, because sums wrap.
    fn change(&mut self, place: u32, by: u32) {
        let mut at = place as usize + 1;
        while at <= PLACES {
            self.tree[at] = self.tree[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Drops half of the pages from the sample.
    fn halve(&mut self) {
        self.shift += 1;
        let shift = self.shift;
        self.last
            .retain(|key, _| sample_hash(*key).trailing_zeros() >= shift);
        // A page of the sample now stands for twice as many pages, so an access that was counted
        // before is worth half of one that comes now.
        self.counts.iter_mut().for_each(|count| *count /= 2.0);
        self.first /= 2.0;
        self.total /= 2.0;
        self.renumber();
    }

    /// Gives the last accesses the lowest sequence numbers, in the same order.
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

    /// The result.
    pub(super) fn end(self) -> Reuse {
        // Without accesses all counts are 0; the division must not give NaN.
        let total = self.total.max(1e-9);
        let furthest = self.counts.iter().rposition(|count| *count > 0.0);
        let mut sum = 0.0;
        let mut hits = Vec::new();
        for (power, count) in self.counts.iter().enumerate() {
            sum += count;
            // Sizes from 1 MiB (2^20) on in steps of four, up to the size beyond which nothing more is
            // hit.
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
