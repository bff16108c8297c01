//! In: the pages of random accesses. Out: zones: which share of the accesses goes to which share of the
//! space.
//!
//! Accesses are counted for each page, or for a sample of the pages if there are many.
//!
//! A study accesses the pages of a zone evenly at random, which leaves some of them untouched. So a
//! zone whose `t` pages got `a` accesses is made larger: it has `m` pages, of which `a` random accesses
//! touch `t` on average: `m (1 - e^(-a/m)) = t`. Then the model has the trace's working set and share
//! of rewrites.

use crate::character::mixed;
use blocklab_units::with_defaults;
use rustc_hash::FxHashMap;

/// Most pages that are counted; with more, the sample is halved.
const MAX_PAGES: usize = 1 << 20;
/// Shares of all accesses at which a zone ends, the hottest zone first.
const CUTS: [f64; 5] = [0.25, 0.5, 0.75, 0.9, 1.0];

/// A part of the space whose pages are accessed about equally often.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Zone {
    /// Number of accesses.
    pub(super) accesses: f64,
    /// Number of pages.
    pub(super) pages: f64,
}

with_defaults! {
    /// Counts accesses to pages.
    #[derive(Debug)]
    pub(super) struct Heat {
        counts: FxHashMap<u64, u32> = FxHashMap::default(),
        /// Pages whose hash is at most this are in the sample.
        bound: u64 = u64::MAX,
    }
}

impl Heat {
    /// Counts an access to a page. Pages are sampled by a hash; if too many are counted, half of
    /// them are dropped and half as many are sampled from then on. A page that stays has been in the
    /// sample from the start, so that its count is whole.
    pub(super) fn add(&mut self, page: u64) {
        if mixed(page) > self.bound {
            return;
        }
        *self.counts.entry(page).or_default() += 1;
        if self.counts.len() > MAX_PAGES {
            self.bound /= 2;
            let bound = self.bound;
            self.counts.retain(|page, _| mixed(*page) <= bound);
        }
    }

    /// The zones, hottest first, enlarged as described above, but to at most `most` pages in total.
    pub(super) fn zones(&self, most: f64) -> Vec<Zone> {
        let mut counts: Vec<u32> = self.counts.values().copied().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let all: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        let mut zones: Vec<Zone> = Vec::new();
        let mut seen = 0.0;
        let mut zone = Zone::default();
        // Each page of the sample stands for this many.
        let factor = u64::MAX as f64 / self.bound as f64;
        for count in counts {
            seen += f64::from(count);
            zone.accesses += f64::from(count) * factor;
            zone.pages += factor;
            if seen >= all * CUTS[zones.len().min(CUTS.len() - 1)] {
                zones.push(std::mem::take(&mut zone));
            }
        }
        // If there is no room for all of that, each zone gets the same share of its growth.
        let touched: f64 = zones.iter().map(|zone| zone.pages).sum();
        let growths: Vec<f64> = zones.iter().map(Zone::growth).collect();
        let all_growth: f64 = growths.iter().sum();
        let share = ((most - touched) / all_growth.max(1.0)).clamp(0.0, 1.0);
        for (zone, growth) in zones.iter_mut().zip(growths) {
            zone.pages += growth * share;
        }
        zones
    }
}

impl Zone {
    /// By how many pages it must grow for its accesses, evenly spread, to touch as many as it has now.
    fn growth(&self) -> f64 {
        enlarged(self.accesses, self.pages) - self.pages
    }
}

/// The number of pages of which random accesses touch `pages` on average; at most 1,000 times as many.
fn enlarged(accesses: f64, pages: f64) -> f64 {
    let hit = |all: f64| all * (1.0 - (-accesses / all).exp());
    let (mut low, mut high) = (pages, pages * 1000.0);
    if hit(high) < pages {
        return high;
    }
    // The number of touched pages grows with the size, so bisection finds it.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if hit(middle) < pages {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_as_large_as_even_hits_need() {
        // Of 1,000 pages, 1,000 even hits leave 632 hit.
        let pages = enlarged(1000.0, 632.12);
        assert!((999.0..1001.0).contains(&pages), "{pages}");
        assert!((enlarged(1e6, 10.0) - 10.0).abs() < 1e-6);
    }

    #[test]
    fn the_hottest_pages_are_the_first_zone() {
        let mut heat = Heat::default();
        for round in 0..100 {
            (0..10).for_each(|page| heat.add(page));
            (0..10).for_each(|page| heat.add(1000 + round * 10 + page));
        }
        let zones = heat.zones(1e6);
        assert_eq!(zones.len(), 5);
        assert!(zones[0].pages < 6.0 && zones[1].pages < 6.0, "{zones:?}");
        let cold: f64 = zones[2..].iter().map(|zone| zone.pages).sum();
        assert!(cold > 1000.0, "{zones:?}");
        let bounded: f64 = heat.zones(1200.0).iter().map(|zone| zone.pages).sum();
        assert!(bounded <= 1201.0, "{bounded}");
    }
}
