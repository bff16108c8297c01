//! In: a length and an exponent. Out: ranks by Zipf's law, drawn without a table: the hot and cold
//! blocks of a skewed load.

use crate::Stream;

/// Ranks by Zipf's law: rank k (from 0) in proportion to (k + 1)^-theta.
///
/// Drawn by rejection-inversion (Hörmann and Derflinger, 1996): exact for every length, no table,
/// about 1.1 draws a rank. `libm` computes the powers, so the ranks are the same everywhere.
#[derive(Debug, Clone)]
pub struct Zipf {
    theta: f64,
    /// Where the area under the curve begins, such that rank 0 has an area of its weight, 1.
    area_start: f64,
    /// The area from there to the end of the last rank, from which a point is drawn.
    area: f64,
    /// A rank at most this far above the drawn point is accepted without the exact test.
    accept: f64,
    len: u64,
}

impl Zipf {
    /// Over ranks `0..len`; `theta` above 0 and not 1.
    pub fn new(len: u64, theta: f64) -> Self {
        debug_assert!(theta > 0.0 && theta != 1.0, "no Zipf exponent: {theta}");
        let len = len.max(1);
        let area_start = integral(0.5, theta) - 1.0;
        // The lowest point at which rank 1 passes the exact test. Each later rank passes from at least as
        // far below it, and rank 0 always.
        let lowest_accepted = inverse(integral(1.5, theta) - libm::pow(2.0, -theta), theta);
        Self {
            theta,
            area_start,
            area: integral(len as f64 - 0.5, theta) - area_start,
            accept: 1.0 - lowest_accepted,
            len,
        }
    }

    /// One rank, below the length.
    pub fn draw(&self, chance: &mut Stream) -> u64 {
        loop {
            let u = self.area_start + chance.unit() * self.area;
            let x = inverse(u, self.theta);
            let k = libm::floor(x + 0.5).clamp(0.0, (self.len - 1) as f64);
            // The first test is a shortcut that needs no power; the second is the exact one.
            if k - x <= self.accept
                || u >= integral(k + 0.5, self.theta) - libm::pow(k + 1.0, -self.theta)
            {
                return k as u64;
            }
        }
    }
}

/// The antiderivative of (x + 1)^-theta.
fn integral(x: f64, theta: f64) -> f64 {
    libm::pow(x + 1.0, 1.0 - theta) / (1.0 - theta)
}

/// The inverse of [`integral`].
fn inverse(y: f64, theta: f64) -> f64 {
    libm::pow(y * (1.0 - theta), 1.0 / (1.0 - theta)) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(len: u64, theta: f64) {
        let zipf = Zipf::new(len, theta);
        let mut chance = Stream::new(5, "zipf", 0);
        let draws = 400_000;
        let mut hits = vec![0u32; len as usize];
        (0..draws).for_each(|_| hits[zipf.draw(&mut chance) as usize] += 1);
        let weight = |k: u64| ((k + 1) as f64).powf(-theta);
        let total: f64 = (0..len).map(weight).sum();
        for rank in 0..len.min(20) {
            let expected = weight(rank) / total * f64::from(draws);
            let seen = f64::from(hits[rank as usize]);
            let five_sigma = 5.0 * expected.sqrt() + 1.0;
            assert!(
                (seen - expected).abs() < five_sigma,
                "rank {rank}: {seen} for {expected}"
            );
        }
    }

    #[test]
    fn ranks_follow_the_law() {
        check(1000, 1.2);
        check(1000, 0.8);
        check(1000, 0.3);
        check(10, 2.5);
        check(1, 1.1);
    }
}
