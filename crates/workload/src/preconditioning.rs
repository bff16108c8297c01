//! In: the size and over-provisioning of an SSD. Out: the blocks of random writes that bring it into
//! the steady state of endless random writes within one pass.
//!
//! An SSD holds more flash than it reports, and cleans the region first that it wrote first. Under
//! endless random writes, the valid share of a region that is `x` of the way from the newest to the
//! oldest is then `exp(-d x)` with `d = (1 + o) (1 - v)`, where `o` is the over-provisioning and
//! `v = exp(-d)` the valid share of the oldest region.
//!
//! ```text
//!   flash     | region 0 (oldest) | region 1 |  …  | last region |   each written once, in turn
//!   a region    new blocks in random order, mixed with the stale ones of the region before
//!   stale       as many blocks of a region as leave the share above valid
//! ```
//!
//! All blocks that the device reports are written at least once. Only the stale blocks of two
//! regions are held in memory.

use blocklab_random::{Permutation, Stream};

/// The block of each write of a pass.
#[derive(Debug, Clone)]
pub(crate) struct Preconditioning {
    blocks: u64,
    shares: StaleShares,
    order: Permutation,
    region: u64,
    /// Writes left in the region.
    left: u64,
    /// Blocks of the last region that this one writes again.
    stale: Vec<u64>,
    /// Blocks of this region that the next one will write again.
    next_stale: Vec<u64>,
    /// How many more of them are to be drawn.
    to_draw: u64,
}

impl Preconditioning {
    /// Passes over this many blocks, at least 1.
    pub(crate) fn new(blocks: u64, over: f64, regions: u32, chance: &mut Stream) -> Self {
        let shares = StaleShares::new(blocks, over, regions.into());
        Self {
            blocks,
            order: Permutation::new(blocks, chance),
            region: 0,
            left: shares.writes(0),
            stale: Vec::new(),
            next_stale: Vec::new(),
            to_draw: shares.stale(0),
            shares,
        }
    }

    /// The next block; after the last region a new pass begins.
    pub(crate) fn next(&mut self, chance: &mut Stream) -> u64 {
        while self.left == 0 {
            self.next_region(chance);
        }
        // By the writes left, stale blocks are spread evenly among the new ones, and so are the draws for
        // the next region.
        let again = chance.below(self.left) < self.stale.len() as u64;
        let block = if again {
            let drawn = chance.below(self.stale.len() as u64);
            self.stale.swap_remove(drawn as usize)
        } else {
            (self.order.next()).unwrap_or_else(|| chance.below(self.blocks))
        };
        if chance.below(self.left) < self.to_draw {
            self.next_stale.push(block);
            self.to_draw -= 1;
        }
        self.left -= 1;
        block
    }

    /// Goes on to the next region, or begins again after the last one.
    fn next_region(&mut self, chance: &mut Stream) {
        self.region += 1;
        if self.region == self.shares.regions {
            self.begin_again(chance);
            return;
        }
        self.stale = std::mem::take(&mut self.next_stale);
        self.left = self.shares.writes(self.region);
        self.to_draw = self.shares.stale(self.region);
    }

    /// Begins a new pass.
    pub(crate) fn begin_again(&mut self, chance: &mut Stream) {
        self.order = Permutation::new(self.blocks, chance);
        self.region = 0;
        self.left = self.shares.writes(0);
        self.to_draw = self.shares.stale(0);
        self.stale.clear();
        self.next_stale.clear();
    }
}

/// Writes of a pass over this many blocks: as many as the flash holds.
pub(crate) fn writes_of_a_pass(blocks: u64, over: f64) -> u64 {
    blocks + (blocks as f64 * over) as u64
}

/// How many blocks of each region become stale. Together they are the over-provisioned blocks; the
/// last region is too new to have any.
#[derive(Debug, Clone, Copy)]
struct StaleShares {
    /// Blocks of the flash.
    flash: u64,
    /// Blocks of the flash without valid data in the end.
    spare: u64,
    regions: u64,
    decay: f64,
    /// Stale shares of all regions, added up.
    sum: f64,
}

impl StaleShares {
    fn new(blocks: u64, over: f64, regions: u64) -> Self {
        let flash = writes_of_a_pass(blocks, over);
        let mut shares = Self {
            flash,
            spare: flash - blocks,
            // A region without a block would only be skipped.
            regions: regions.min(flash).max(2),
            decay: decay(over),
            sum: 1.0,
        };
        shares.sum = shares.before(shares.regions);
        shares
    }

    /// Writes of a region.
    fn writes(self, region: u64) -> u64 {
        self.writes_before(region + 1) - self.writes_before(region)
    }

    fn writes_before(self, region: u64) -> u64 {
        (u128::from(self.flash) * u128::from(region) / u128::from(self.regions)) as u64
    }

    /// Stale blocks of a region: a difference of rounded sums, so that they add up exactly.
    fn stale(self, region: u64) -> u64 {
        self.stale_before(region + 1) - self.stale_before(region)
    }

    fn stale_before(self, region: u64) -> u64 {
        (self.spare as f64 * self.before(region) / self.sum).round() as u64
    }

    /// Stale shares of all regions before this one: a geometric series.
    fn before(self, region: u64) -> f64 {
        let step = self.decay / self.regions as f64;
        let oldest = self.regions as f64 - 1.0;
        let (first, grows) = (libm::exp(-step * oldest), libm::expm1(step));
        region as f64 - first * libm::expm1(step * region as f64) / grows
    }
}

/// `d` of the valid share `exp(-d x)`: the solution of `d = (1 + over) (1 - exp(-d))` above 0.
fn decay(over: f64) -> f64 {
    let ratio = 1.0 + over;
    // Newton's method from above converges without overshooting: the function is convex.
    (0..60).fold(ratio, |decay, _| {
        let valid = libm::exp(-decay);
        decay - (decay - ratio * (1.0 - valid)) / (1.0 - ratio * valid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 10_000;

    fn pass(over: f64, regions: u32) -> Vec<u64> {
        let mut chance = Stream::new(1, "places", 0);
        let mut places = Preconditioning::new(BLOCKS, over, regions, &mut chance);
        let writes = writes_of_a_pass(BLOCKS, over);
        (0..writes).map(|_| places.next(&mut chance)).collect()
    }

    /// The share of each region of the flash that is still valid after the pass.
    fn valid(writes: &[u64], regions: usize) -> Vec<f64> {
        let mut last = vec![0; BLOCKS as usize];
        for (moment, block) in writes.iter().enumerate() {
            last[*block as usize] = moment + 1;
        }
        let mut valid = vec![0.0; regions];
        for moment in last {
            assert!(moment > 0, "a block was never written");
            valid[(moment - 1) * regions / writes.len()] += 1.0;
        }
        let each = writes.len() as f64 / regions as f64;
        valid.iter().map(|blocks| blocks / each).collect()
    }

    #[test]
    fn a_pass_writes_the_whole_flash_and_leaves_every_region_as_old_as_in_the_steady_state() {
        for (over, oldest) in [(0.15, 0.7502), (0.07, 0.8687), (0.5, 0.4172)] {
            let writes = pass(over, 100);
            assert_eq!(writes.len(), (BLOCKS as f64 * (1.0 + over)) as usize);
            let valid = valid(&writes, 100);
            assert!((valid[0] - oldest).abs() < 0.02, "{over}: {}", valid[0]);
            assert!((valid[99] - 1.0).abs() < 1e-9, "{over}: {}", valid[99]);
            let decay = decay(over);
            for (region, share) in valid.iter().enumerate() {
                let age = 1.0 - (region as f64 + 0.5) / 100.0;
                let expected = libm::exp(-decay * age);
                let off = share - expected;
                assert!(off.abs() < 0.03, "{over}, {region}: {share}, {expected}");
            }
        }
    }

    /// That is what endless random writes leave, where the oldest region is always cleaned first.
    #[test]
    fn the_decay_is_that_of_a_simulated_ssd() {
        let (flash, over) = (40_000_usize, 0.25);
        let blocks = (flash as f64 / (1.0 + over)) as usize;
        let mut chance = Stream::new(1, "writes", 0);
        let mut cells = vec![usize::MAX; flash];
        let mut place: Vec<usize> = (0..blocks).collect();
        (0..blocks).for_each(|block| cells[block] = block);
        let (mut valid, mut cleaned) = (0, 0);
        let mut at = blocks;
        let mut write = |block: usize, at: &mut usize, place: &mut Vec<usize>| {
            place[block] = *at % flash;
            cells[*at % flash] = block;
            *at += 1;
            // The oldest cell is cleaned: what is valid in it is written again.
            cells[*at % flash]
        };
        for _ in 0..20 * flash {
            let mut block = chance.below(blocks as u64) as usize;
            loop {
                let oldest = write(block, &mut at, &mut place);
                let is_valid = oldest != usize::MAX && place[oldest] == at % flash;
                if at > 10 * flash {
                    cleaned += 1;
                    valid += u32::from(is_valid);
                }
                if !is_valid {
                    break;
                }
                block = oldest;
            }
        }
        let measured = f64::from(valid) / f64::from(cleaned);
        let expected = libm::exp(-decay(over));
        assert!((measured - expected).abs() < 0.01, "{measured}, {expected}");
    }

    #[test]
    fn the_next_pass_is_as_complete() {
        let mut chance = Stream::new(1, "places", 0);
        let mut places = Preconditioning::new(100, 0.3, 7, &mut chance);
        for _ in 0..3 {
            let mut hit = [false; 100];
            (0..130).for_each(|_| hit[places.next(&mut chance) as usize] = true);
            assert!(hit.iter().all(|hit| *hit));
        }
    }

    #[test]
    fn more_regions_than_blocks_do_no_harm() {
        let mut chance = Stream::new(1, "places", 0);
        let mut places = Preconditioning::new(3, 0.9, u32::MAX, &mut chance);
        let mut hit = [false; 3];
        (0..5).for_each(|_| hit[places.next(&mut chance) as usize] = true);
        assert!(hit.iter().all(|hit| *hit), "{hit:?}");
    }
}
