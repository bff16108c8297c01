//! How latencies scatter: a lognormal by its quantiles, in whole numbers once it is made.
//!
//! ```text
//!   64 random bits = sign · octave · place · fraction
//!
//!   probability of the tail  1/2      1/4   1/8  1/16 …        each octave of probability has
//!                            ├─────────┼─────┼───┼──┤           64 knots, so that the rare ends
//!                                                               are as finely cut as the middle
//! ```
//!
//! The mean of all draws is 1 (the latency line gives the mean). Beyond 2^-32 a draw repeats the
//! last knot; between knots it is interpolated, with an error below 10^-4.

use std::sync::Arc;

use blocklab_random::Stream;

use crate::Spread;

/// 1.0 as a factor.
pub(crate) const ONE: u64 = 1 << 16;

/// The share of the tail is kept as a number of parts of this, so that a draw compares whole numbers.
const TAIL_PARTS: u64 = 1 << 24;
/// Bits of a draw that tell whether it is of the tail: those below [`TAIL_PARTS`] but for the lowest, a
/// sign.
const TAIL_BITS: u64 = TAIL_PARTS - 2;

const OCTAVES: usize = 32;
/// Knots of an octave.
const KNOTS: usize = 64;
/// The way between two knots has 2^24 steps: a difference of two factors, times as many, still fits
/// into 64 bits.
const FRACTION_BITS: u32 = 24;

/// Knots of one half: from the median outwards.
type Half = Box<[u32]>;

/// The factors of a lognormal distribution at all knots.
#[derive(Debug)]
struct Lognormal {
    below: Half,
    above: Half,
}

/// A [`Spread`] ready to draw from. Clones share the tables.
#[derive(Debug, Clone)]
pub(crate) struct LatencyDistribution {
    body: Option<Arc<Lognormal>>,
    /// A draw whose [`TAIL_BITS`] are below the number is one of the tail.
    tail: Option<(u64, Arc<Lognormal>)>,
}

impl LatencyDistribution {
    pub(crate) fn new(spread: &Spread) -> Self {
        let Some(tail) = &spread.tail else {
            let body = (spread.sigma > 0.0).then(|| Arc::new(Lognormal::new(1.0, spread.sigma)));
            return Self { body, tail: None };
        };
        // The mean of the body, with which body and tail together have the mean 1.
        let mean = 1.0 / (1.0 - tail.share + tail.share * tail.factor);
        let slow = Lognormal::new(mean * tail.factor, tail.sigma);
        Self {
            body: Some(Arc::new(Lognormal::new(mean, spread.sigma))),
            tail: Some(((tail.share * TAIL_PARTS as f64) as u64, Arc::new(slow))),
        }
    }

    /// A factor, in parts of [`ONE`].
    #[inline]
    pub(crate) fn draw(&self, chance: &mut Stream) -> u64 {
        let Some(body) = &self.body else {
            return ONE;
        };
        let bits = chance.next_u64();
        match &self.tail {
            // The low bits decide little of where a draw of the body lies: they serve both.
            Some((share, slow)) if bits & TAIL_BITS < *share => slow.at(chance.next_u64()),
            _ => body.at(bits),
        }
    }
}

impl Lognormal {
    /// `sigma`: of the logarithms.
    fn new(mean: f64, sigma: f64) -> Self {
        // The mean of exp(sigma z) is exp(sigma^2 / 2), by which it is divided. A knot holds 65,536 times
        // the mean at most.
        let factor = |z: f64| {
            let value = mean * libm::exp(sigma * z - sigma * sigma / 2.0) * ONE as f64;
            (value + 0.5).min(f64::from(u32::MAX)) as u32
        };
        let deviates = deviates();
        Self {
            below: deviates.iter().map(|z| factor(-z)).collect(),
            above: deviates.iter().map(|z| factor(*z)).collect(),
        }
    }

    /// The factor that 64 random bits give, in parts of [`ONE`]: they are a sign, an octave, a knot in
    /// it, and a fraction of the way to the next knot.
    #[inline]
    fn at(&self, bits: u64) -> u64 {
        let half = if bits & 1 == 0 {
            &self.below
        } else {
            &self.above
        };
        // 63 bits: the probability of lying further out, in (0, 1), halved by the sign.
        let out = bits >> 1;
        let octave = (out.leading_zeros() - 1) as usize;
        if octave >= OCTAVES {
            return u64::from(half[OCTAVES * KNOTS]);
        }
        let in_octave = out << (octave + 2);
        let place = (in_octave >> (64 - KNOTS.ilog2())) as usize;
        let fraction = ((in_octave << KNOTS.ilog2()) >> (64 - FRACTION_BITS)) as i64;
        // Outwards means a smaller probability: places count from the octave's outer end.
        let outer = octave * KNOTS + (KNOTS - place);
        let (far, near) = (i64::from(half[outer]), i64::from(half[outer - 1]));
        (far + (((near - far) * fraction) >> FRACTION_BITS)) as u64
    }
}

/// The factor of the mean below which a share of all draws lies, without drawing any.
pub(crate) fn quantile(spread: &Spread, share: f64) -> f64 {
    let (rare, factor, sigma) = match &spread.tail {
        Some(tail) => (tail.share, tail.factor, tail.sigma),
        None => (0.0, 1.0, 0.0),
    };
    let mean = 1.0 / (1.0 - rare + rare * factor);
    let parts = [
        (1.0 - rare, mean, spread.sigma),
        (rare, mean * factor, sigma),
    ];
    let beyond = |x: f64| {
        let of_parts = parts.iter().map(|(part, mean, sigma)| {
            let z = (libm::log(x / mean) + sigma * sigma / 2.0) / sigma.max(1e-9);
            part * libm::erfc(z / core::f64::consts::SQRT_2) / 2.0
        });
        of_parts.sum::<f64>()
    };
    // Halving 60 times in the logarithm, from a billionth to a billion of the mean.
    let (mut low, mut high) = (-21.0, 21.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beyond(libm::exp(middle)) > 1.0 - share {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(high)
}

/// Standard normal deviates whose tails have the probabilities of the knots: 1/2 first.
fn deviates() -> Vec<f64> {
    let mut z = 0.0;
    let knots = (0..=OCTAVES * KNOTS).map(|knot| {
        let (octave, place) = (knot / KNOTS, knot % KNOTS);
        let outermost = libm::ldexp(0.5, -(octave as i32));
        let tail = outermost * (1.0 - place as f64 / (2 * KNOTS) as f64);
        z = deviate(tail, z);
        z
    });
    knots.collect()
}

/// Newton's method on the tail of the normal distribution, from a start that is close.
fn deviate(tail: f64, start: f64) -> f64 {
    const ROOT_TWO_PI: f64 = 2.506_628_274_631_000_7;
    (0..6).fold(start, |z, _| {
        let excess = libm::erfc(z / core::f64::consts::SQRT_2) / 2.0 - tail;
        z + excess * ROOT_TWO_PI * libm::exp(z * z / 2.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Origin, Tail};

    fn spread(sigma: f64, tail: Option<Tail>) -> Spread {
        Spread {
            sigma,
            tail,
            origin: Origin::Given,
        }
    }

    fn drawn(spread: &Spread, count: usize) -> Vec<f64> {
        let scatter = LatencyDistribution::new(spread);
        let mut chance = Stream::new(11, "spread", 0);
        let one = ONE as f64;
        let mut all: Vec<_> = (0..count)
            .map(|_| scatter.draw(&mut chance) as f64 / one)
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn deviates_of_known_tails() {
        for (tail, z) in [
            (0.5, 0.0),
            (0.158_655_253_931, 1.0),
            (0.05, 1.644_853_627),
            (0.001, 3.090_232_306),
        ] {
            assert!((deviate(tail, z + 0.01) - z).abs() < 1e-8, "{tail}");
        }
    }

    /// Kolmogorov and Smirnov: at alpha 0.01 the greatest distance is below 1.628 / sqrt(n).
    #[test]
    fn draws_are_lognormal() {
        for sigma in [0.11, 0.295, 1.0] {
            let all = drawn(&spread(sigma, None), 1_000_000);
            let count = all.len() as f64;
            let cdf = |x: f64| {
                let z = (libm::log(x) + sigma * sigma / 2.0) / sigma;
                1.0 - libm::erfc(z / core::f64::consts::SQRT_2) / 2.0
            };
            let distances = all
                .iter()
                .enumerate()
                .map(|(k, x)| (cdf(*x) - k as f64 / count).abs());
            let worst = distances.fold(0.0, f64::max);
            assert!(worst < 1.628 / count.sqrt(), "sigma {sigma}: {worst}");
        }
    }

    #[test]
    fn the_mean_is_one() {
        let slow = Tail {
            share: 0.01,
            factor: 20.0,
            sigma: 0.3,
        };
        for (spread, allowed) in [
            (spread(0.295, None), 0.001),
            (spread(0.3, Some(slow)), 0.005),
        ] {
            let all = drawn(&spread, 1_000_000);
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            assert!((mean - 1.0).abs() < allowed, "{mean}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_draws() {
        let slow = Tail {
            share: 0.01,
            factor: 20.0,
            sigma: 0.3,
        };
        for spread in [
            spread(0.0, None),
            spread(0.295, None),
            spread(0.3, Some(slow)),
        ] {
            let all = drawn(&spread, 1_000_000);
            // Between the body and the tail, at 0.99, hardly anything is drawn.
            for share in [0.5, 0.9, 0.985, 0.995] {
                let found = quantile(&spread, share);
                let counted = all[(all.len() as f64 * share) as usize];
                assert!(
                    (found / counted - 1.0).abs() < 0.02,
                    "{share}: {found} {counted}"
                );
            }
        }
    }

    /// A latency of 100 µs is drawn to 2 ns, and a tail of 10,000 times the mean, the farthest that a
    /// specification may have, still scatters upwards.
    #[test]
    fn factors_are_fine_and_reach_far() {
        let steps = drawn(&spread(0.001, None), 100_000);
        let finest = steps.windows(2).map(|two| two[1] - two[0]);
        let finest = finest.filter(|step| *step > 0.0).fold(1.0, f64::min);
        assert!(finest * 100_000.0 < 2.0, "{finest}");
        let far = Lognormal::new(1e4, 1.0);
        let beyond_two_deviations = far.at(1 << 57 | 1) as f64 / ONE as f64;
        assert!(beyond_two_deviations > 40_000.0, "{beyond_two_deviations}");
    }

    /// The draw of a law with sigma 1 that lies so far out, and what it should be.
    fn out_by(law: &Lognormal, probability: f64) -> (f64, f64) {
        // Odd: above the median. The other 63 bits are twice the probability of the tail.
        let bits = ((probability * 2.0 * libm::ldexp(1.0, 63)) as u64) << 1 | 1;
        let (z, _) = (0..60).fold((0.0, 9.0), |(low, high), _| {
            let middle = f64::midpoint(low, high);
            if libm::erfc(middle / core::f64::consts::SQRT_2) / 2.0 > probability {
                (middle, high)
            } else {
                (low, middle)
            }
        });
        let exact = libm::exp(z - 0.5);
        (law.at(bits) as f64 / ONE as f64, exact)
    }

    /// Half as many knots would be off by four times as much; twice as many would not fit beside a
    /// device's other tables into the 32 KiB next to a core.
    #[test]
    fn between_knots_the_error_is_below_a_ten_thousandth() {
        let law = Lognormal::new(1.0, 1.0);
        let worst = (1..10_000).map(|part| {
            let (seen, exact) = out_by(&law, f64::from(part) / 20_001.0);
            (seen / exact - 1.0).abs()
        });
        let worst = worst.fold(0.0, f64::max);
        assert!(worst < 1e-4, "{worst}");
        assert!(size_of_val(&*law.below) + size_of_val(&*law.above) < 17 << 10);
    }

    /// A load of a million operations a second draws one of 2^32 in an hour.
    #[test]
    fn beyond_two_to_the_minus_thirty_two_draws_repeat_the_last_knot() {
        let law = Lognormal::new(1.0, 1.0);
        let draw = |octaves: i32| out_by(&law, libm::ldexp(0.5, -octaves));
        let (seen, exact) = draw(31);
        assert!((seen / exact - 1.0).abs() < 1e-3, "{seen} {exact}");
        assert_eq!(draw(33).0, draw(39).0);
        assert!(draw(33).0 > seen);
    }

    #[test]
    fn far_tails_are_there() {
        let all = drawn(&spread(0.295, None), 4_000_000);
        // The largest of four million lies near z = 5.1; the median at exp(-sigma²/2).
        let z = (libm::log(all[all.len() - 1]) + 0.0435) / 0.295;
        assert!((4.5..6.0).contains(&z), "{z}");
        assert!((all[all.len() / 2] - 0.9574).abs() < 0.001);
    }

    #[test]
    fn no_scatter_is_exactly_one() {
        assert!(drawn(&spread(0.0, None), 100).iter().all(|x| *x == 1.0));
    }
}
