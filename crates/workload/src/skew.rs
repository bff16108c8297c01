//! In: how much more often some of many things are drawn than others. Out: the index of the next one.

use blocklab_random::{Stream, Zipf};

/// A distribution over numbered things, some of which are drawn more often than others.
#[derive(Debug, Clone)]
pub(crate) enum Skew {
    /// By rank: the first thing most often, each further one less often.
    Zipf(Zipf),
    /// By rank as well: an evenly drawn share of all things to this power.
    Pareto { power: f64 },
    /// Around a middle. Both are shares of all things.
    Normal { deviation: f64, middle: f64 },
}

impl Skew {
    /// A share 1-h of the draws goes to the first share h of the things.
    pub(crate) fn pareto(h: f64) -> Self {
        Self::Pareto {
            power: libm::log(h) / libm::log(1.0 - h),
        }
    }

    /// The index of one of `count` things.
    pub(crate) fn draw(&self, count: u64, chance: &mut Stream) -> u64 {
        match self {
            Self::Zipf(zipf) => zipf.draw(chance),
            Self::Pareto { power } => at_share(libm::pow(chance.unit(), *power), count),
            Self::Normal { deviation, middle } => {
                at_share(around(*middle, *deviation, chance), count)
            }
        }
    }
}

/// The index at this share of all things.
#[inline]
pub(crate) fn at_share(share: f64, count: u64) -> u64 {
    ((share * count as f64) as u64).min(count - 1)
}

/// A random number of 64 bits is below this with the given probability; at 100, all but one are.
pub(crate) const fn threshold(percent: u8) -> u64 {
    match percent {
        100.. => u64::MAX,
        _ => u64::MAX / 100 * percent as u64,
    }
}

/// A normally distributed share of the whole around this middle. Around one that was moved, a share
/// beyond an end wraps to the other one, so that both sides of it stay alike; around the middle of the
/// whole they are alike anyway, and a share beyond an end is drawn again.
fn around(middle: f64, deviation: f64, chance: &mut Stream) -> f64 {
    loop {
        let share = middle + deviation * chance.normal();
        if (0.0..1.0).contains(&share) {
            return share;
        }
        if middle != 0.5 {
            return share.rem_euclid(1.0);
        }
    }
}
