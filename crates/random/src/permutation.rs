//! In: a length. Out: all numbers below it in a random order, without a bitmap: the order of a pass
//! that touches every block once.

use crate::Stream;

/// A random order of `0..len` that costs no memory: every number exactly once.
///
/// ```text
///   counter ──▶ xor, multiply by an odd number, xorshift  (three rounds, each a bijection
///               of k bits) ──▶ number below 2^k ──▶ skip it if it is not below len
/// ```
///
/// 2^k is the smallest power of two that is not below `len`, but at least 4: fewer than half of the
/// values are skipped, except of one or two numbers. A bitmap would give true uniformity over all
/// orders, but costs a bit a block and ever longer searches towards the end of a pass.
#[derive(Debug, Clone)]
pub struct Permutation {
    len: u64,
    /// 2^k - 1.
    mask: u64,
    /// Half of k, rounded up, by which the upper bits are mixed into the lower ones.
    shift: u32,
    /// What each round's input is xored with: it makes the order random.
    keys: [u64; 3],
    /// The next counter of the iterator, up to `mask`.
    counter: u64,
}

/// The multipliers of splitmix64, whose bits look random. Odd ones have an inverse modulo 2^k.
const ODD: [u64; 3] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
];

impl Permutation {
    /// A new order of `0..len`, drawn from the stream. `len` is at most 2^63.
    pub fn new(len: u64, chance: &mut Stream) -> Self {
        debug_assert!(len <= 1 << 63, "{len} numbers do not fit 63 bits");
        // With 2 bits there are at least four values to mix. With 64, the iterator's counter would overflow.
        let bits = (64 - len.saturating_sub(1).leading_zeros()).clamp(2, 63);
        Self {
            len,
            mask: (1 << bits) - 1,
            shift: bits.div_ceil(2),
            keys: [chance.next_u64(), chance.next_u64(), chance.next_u64()],
            counter: 0,
        }
    }

    /// The place of `index` (below the length) in an order that is fixed by the same keys, and is not that
    /// of the iterator: what lands beyond the length is permuted again until it does not.
    pub const fn position(&self, index: u64) -> u64 {
        debug_assert!(index < self.len, "the walk returns only to where it began");
        let mut value = self.scramble(index);
        while value >= self.len {
            value = self.scramble(value);
        }
        value
    }

    /// Whether the iterator gave every number.
    pub fn is_over(&self) -> bool {
        // With fewer counters used than there are numbers, some are left without a search.
        self.counter >= self.len && self.clone().next().is_none()
    }

    /// Permutes the numbers below a power of two: each step can be undone, so no two counters meet.
    #[inline]
    const fn scramble(&self, counter: u64) -> u64 {
        let mut value = counter;
        let mut round = 0;
        while round < 3 {
            value = (value ^ self.keys[round]) & self.mask;
            value = value.wrapping_mul(ODD[round]) & self.mask;
            value ^= value >> self.shift;
            round += 1;
        }
        value
    }
}

impl Iterator for Permutation {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        while self.counter <= self.mask {
            let value = self.scramble(self.counter);
            self.counter += 1;
            if value < self.len {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_once_for_every_length() {
        for len in (0..70).chain([127, 128, 129, 1000, 4096, 65_537]) {
            let mut order: Vec<u64> =
                Permutation::new(len, &mut Stream::new(len, "p", 0)).collect();
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..len), "length {len}");
        }
    }

    #[test]
    fn positions_are_a_bijection_too() {
        let order = Permutation::new(1000, &mut Stream::new(3, "p", 0));
        let mut seen: Vec<u64> = (0..1000).map(|index| order.position(index)).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..1000));
    }

    #[test]
    fn the_order_is_no_run_of_neighbours() {
        let order: Vec<u64> = Permutation::new(10_000, &mut Stream::new(1, "p", 0)).collect();
        let neighbours = order
            .windows(2)
            .filter(|w| w[0].abs_diff(w[1]) == 1)
            .count();
        // Two in 10,000 would be expected of pure chance.
        assert!(neighbours < 50, "{neighbours} neighbours follow each other");
        // Serial correlation of a random order is about 1/sqrt(n) = 0.01.
        let mean = 4999.5;
        let covariance: f64 = order
            .windows(2)
            .map(|w| (w[0] as f64 - mean) * (w[1] as f64 - mean))
            .sum();
        let variance: f64 = order.iter().map(|v| (*v as f64 - mean).powi(2)).sum();
        assert!(
            (covariance / variance).abs() < 0.05,
            "{}",
            covariance / variance
        );
    }
}
