//! The order in which `sd=setsofN` takes storage: the original shuffles with a fixed seed of its
//! language's generator, a linear congruential one of 48 bits.

struct Generator(u64);

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

impl Generator {
    const fn new(seed: u64) -> Self {
        Self((seed ^ MULTIPLIER) & MASK)
    }

    const fn next_31(&mut self) -> i64 {
        self.0 = (self.0.wrapping_mul(MULTIPLIER).wrapping_add(0xB)) & MASK;
        (self.0 >> 17) as i64
    }

    /// From 0 to `bound` - 1, without bias.
    const fn below(&mut self, bound: i64) -> i64 {
        if bound & (bound - 1) == 0 {
            return (bound * self.next_31()) >> 31;
        }
        loop {
            let bits = self.next_31();
            let value = bits % bound;
            if bits - value + (bound - 1) < 1 << 31 {
                return value;
            }
        }
    }
}

/// Indices 0 to n-1 in the original's order.
pub(super) fn shuffled(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut chance = Generator::new(0);
    for _ in 0..n * 8 {
        let (a, b) = (chance.below(n as i64), chance.below(n as i64));
        order.swap(a as usize, b as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::Generator;

    /// The documented first values of the generator for seed 0.
    #[test]
    fn the_generator_is_the_known_one() {
        let mut chance = Generator::new(0);
        let first: Vec<i64> = (0..5).map(|_| chance.below(100)).collect();
        assert_eq!(first, [60, 48, 29, 47, 15]);
    }
}
