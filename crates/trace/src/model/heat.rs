//! In: pages as they are accessed. Out: zones: how much of the accesses goes to how much of the space.
//!
//! A file of its own: it holds the count of every page, or of a sample of them where there are many.
//!
//! A zone of a study is hit evenly, and then some of its pages are not hit at all. So a zone whose `t`
//! pages got `a` accesses is made `m` pages large, of which `a` even hits leave `t` hit:
//! `m (1 - e^(-a/m)) = t`. Working set and rewrites of the model follow from that.

use crate::character::{Numbers, mixed};

/// Pages that are counted; with more, a sample half as dense.
const MOST: usize = 1 << 20;
/// Shares of the accesses at which a zone ends, the hottest first.
const CUTS: [f64; 5] = [0.25, 0.5, 0.75, 0.9, 1.0];

/// A part of the space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Warmth {
    /// Accesses.
    pub(super) accesses: f64,
    /// Pages that they go to.
    pub(super) pages: f64,
}

#[derive(Debug)]
pub(super) struct Heat {
    counts: Numbers<u32>,
    /// Pages whose mixed number is at most this are counted.
    bound: u64,
}

impl Default for Heat {
    fn default() -> Self {
        Self {
            counts: Numbers::default(),
            bound: u64::MAX,
        }
    }
}

impl Heat {
    pub(super) fn add(&mut self, page: u64) {
        if mixed(page) > self.bound {
            return;
        }
        *self.counts.entry(page).or_default() += 1;
        if self.counts.len() > MOST {
            self.bound /= 2;
            let bound = self.bound;
            self.counts.retain(|page, _| mixed(*page) <= bound);
        }
    }

    /// The zones, hottest first, with the pages that they have to have; `most`: pages that all may
    /// have together.
    pub(super) fn zones(&self, most: f64) -> Vec<Warmth> {
        let factor = u64::MAX as f64 / self.bound as f64;
        let mut counts: Vec<u32> = self.counts.values().copied().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let all: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        let mut found = Vec::new();
        let (mut seen, mut zone) = (0.0, (0.0, 0.0));
        for count in counts {
            seen += f64::from(count);
            zone = (zone.0 + f64::from(count), zone.1 + 1.0);
            if seen >= all * CUTS[found.len().min(CUTS.len() - 1)] {
                found.push(zone);
                zone = (0.0, 0.0);
            }
        }
        // Where the trace does not reach far enough, all zones grow by the same share of their wish.
        let zones = found.iter().map(|(accesses, pages)| {
            let (accesses, pages) = (accesses * factor, pages * factor);
            (accesses, pages, evenly_hit(accesses, pages) - pages)
        });
        let zones: Vec<_> = zones.collect();
        let hit: f64 = zones.iter().map(|(_, pages, _)| pages).sum();
        let wished: f64 = zones.iter().map(|(_, _, wished)| wished).sum();
        let granted = ((most - hit) / wished.max(1.0)).clamp(0.0, 1.0);
        let zones = zones.into_iter().map(|(accesses, pages, wished)| Warmth {
            accesses,
            pages: pages + wished * granted,
        });
        zones.collect()
    }
}

/// How many pages leave `pages` of them hit by this many even accesses.
fn evenly_hit(accesses: f64, pages: f64) -> f64 {
    let hit = |all: f64| all * (1.0 - (-accesses / all).exp());
    let (mut low, mut high) = (pages, pages * 1000.0);
    if hit(high) < pages {
        return high;
    }
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
        let pages = evenly_hit(1000.0, 632.12);
        assert!((999.0..1001.0).contains(&pages), "{pages}");
        assert!((evenly_hit(1e6, 10.0) - 10.0).abs() < 1e-6);
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
