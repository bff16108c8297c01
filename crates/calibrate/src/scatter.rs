//! How latencies scatter, from the histograms of depth 1.
//!
//! ```text
//!   body   half the distance of ln(15.9 %) and ln(84.1 %): one sigma to each side, whatever the
//!          rare slow ones do
//!   tail   what lies more than 4 sigma above the median, where a lognormal has 3 in 100,000
//! ```

use blocklab_device::Tail;
use blocklab_stats::{Histogram, median};

use super::cells::Cell;

/// A body and a tail.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LatencyDistribution {
    pub sigma: f64,
    pub tail: Option<Tail>,
}

/// One sigma to each side.
const AROUND: [f64; 3] = [0.158_655, 0.5, 0.841_345];
/// Where the tail begins, in sigmas.
const FAR: f64 = 4.0;
/// A histogram's bucket is 1/64 wide: a smaller sigma is none.
const FINEST: f64 = Histogram::ERROR_BOUND;
/// The share of a lognormal that lies beyond [`FAR`].
const EXPECTED: f64 = 3.2e-5;
/// Fewer slow operations are chance.
const FEWEST: f64 = 20.0;
/// A smaller share hardly moves a p99.9.
const LEAST_SHARE: f64 = 2e-4;

impl LatencyDistribution {
    /// The scatter of all these cells, each with the same weight. `None` without cells.
    pub(super) fn fit(cells: &[&Cell]) -> Option<Self> {
        let bodies: Vec<Body> = cells
            .iter()
            .map(|cell| Body::fit(&cell.histogram))
            .collect();
        let number = bodies.len() as f64;
        let squares: f64 = bodies.iter().map(|body| body.sigma.powi(2)).sum();
        let sigma = (squares / number).sqrt();
        (number > 0.0).then(|| Self {
            sigma: if sigma < FINEST { 0.0 } else { sigma.min(2.0) },
            tail: tail(cells, &bodies),
        })
    }

    /// How long on average a time `held` outlasts an operation whose mean time is 1: the mean of
    /// max(held - X, 0), where X is lognormal.
    pub(super) fn left_of(&self, held: f64) -> f64 {
        if self.sigma == 0.0 {
            return (held - 1.0).max(0.0);
        }
        let sigma = self.sigma;
        let far = (-held.ln() + sigma * sigma / 2.0) / sigma;
        held * below(sigma - far) - below(-far)
    }
}

/// The standard normal distribution.
fn below(z: f64) -> f64 {
    libm::erfc(-z / core::f64::consts::SQRT_2) / 2.0
}

struct Body {
    median: f64,
    sigma: f64,
}

impl Body {
    /// The median and the scatter of the middle of a histogram, which the tail does not reach.
    fn fit(histogram: &Histogram) -> Self {
        let quantiles = histogram.quantiles(&AROUND);
        let [low, median, high] = [0, 1, 2].map(|at| quantiles[at].max(1) as f64);
        Self {
            median,
            sigma: (high.ln() - low.ln()) / 2.0,
        }
    }
}

/// Sums over the operations of tail and body. Each counts by its share of its cell, so that cells weigh the
/// same, and latencies are multiples of the cell's median.
#[derive(Default)]
struct Sums {
    /// The tail's share of each cell. Their median counts, so that one stall does not become the rule.
    tail_shares: Vec<f64>,
    tail_share: f64,
    tail_value: f64,
    /// Of the logarithms of the tail's latencies, and of their squares.
    tail_ln: f64,
    tail_ln_squares: f64,
    /// Operations of the tail, each as one.
    tail_ops: f64,
    body_share: f64,
    body_value: f64,
}

impl Sums {
    /// Adds a cell: what lies far above the body belongs to the tail. Both are divided by the
    /// median of the cell, so that cells of different latency can be added.
    fn add(&mut self, cell: &Cell, body: &Body) {
        let before = self.tail_share;
        // A smaller sigma than two widths of a bucket is not measured but rounded: with it, the bucket next
        // to the median would count as tail.
        let far = body.median * (FAR * body.sigma.max(2.0 * FINEST)).exp();
        for (ns, count) in cell.histogram.bins() {
            let share = count as f64 / cell.count as f64;
            let value = ns as f64 / body.median;
            if ns as f64 <= far {
                self.body_share += share;
                self.body_value += share * value;
                continue;
            }
            let ln = value.ln();
            self.tail_share += share;
            self.tail_value += share * value;
            self.tail_ln += share * ln;
            self.tail_ln_squares += share * ln * ln;
            self.tail_ops += count as f64;
        }
        self.tail_shares.push(self.tail_share - before);
    }
}

/// The tail of all cells; `None` if it holds too few operations to be told from the body.
fn tail(cells: &[&Cell], bodies: &[Body]) -> Option<Tail> {
    let mut sums = Sums::default();
    let pairs = cells.iter().zip(bodies);
    pairs.for_each(|(cell, body)| sums.add(cell, body));
    let share = median(&sums.tail_shares) - EXPECTED;
    if sums.tail_ops < FEWEST || share < LEAST_SHARE {
        return None;
    }
    let mean_ln = sums.tail_ln / sums.tail_share;
    let variance = sums.tail_ln_squares / sums.tail_share - mean_ln * mean_ln;
    let factor = (sums.tail_value / sums.tail_share) / (sums.body_value / sums.body_share);
    Some(Tail {
        share: share.min(0.5),
        factor: factor.clamp(1.0, 1e4),
        sigma: variance.max(0.0).sqrt().min(2.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Load, LoadDirection};

    /// A lognormal of this median and sigma, with a share of operations at a multiple of the median.
    fn cell(median: f64, sigma: f64, slow: Option<(f64, f64)>) -> Cell {
        const OPS: f64 = 1_000_000.0;
        let mut counts = vec![0; Histogram::BUCKETS];
        let (share, factor) = slow.unwrap_or((0.0, 1.0));
        for (index, count) in counts
            .iter_mut()
            .enumerate()
            .take(Histogram::BUCKETS - 1)
            .skip(1)
        {
            let z = |ns: u64| (ns as f64 / median).ln() / sigma;
            let part = below(z(Histogram::lowest(index + 1))) - below(z(Histogram::lowest(index)));
            *count = (part * OPS * (1.0 - share)).round() as u64;
        }
        counts[Histogram::index((median * factor) as u64)] += (share * OPS) as u64;
        let histogram = Histogram::from_counts(counts);
        let load = Load {
            direction: LoadDirection::Read,
            sequential: false,
            block: 4096,
            depth: 1,
        };
        Cell {
            load,
            iops: 1e9 / median,
            lasting_iops: 1e9 / median,
            range: None,
            mean_ns: median,
            read_mean_ns: median,
            mean_error: 0.0,
            count: histogram.count(),
            histogram,
            cpu_bound: false,
            busy: false,
        }
    }

    #[test]
    fn the_sigma_of_a_lognormal() {
        for sigma in [0.05, 0.11, 0.295, 0.8] {
            let found = LatencyDistribution::fit(&[&cell(100_000.0, sigma, None)]).expect("a cell");
            assert!(
                (found.sigma / sigma - 1.0).abs() < 0.1,
                "{sigma}: {found:?}"
            );
            assert_eq!(found.tail, None, "{sigma}");
        }
    }

    #[test]
    fn a_tail_is_told_from_the_body() {
        let found = LatencyDistribution::fit(&[&cell(100_000.0, 0.11, Some((0.005, 20.0)))])
            .expect("a cell");
        let tail = found.tail.expect("a tail");
        assert!((tail.share / 0.005 - 1.0).abs() < 0.05, "{tail:?}");
        assert!((tail.factor / 20.0 - 1.0).abs() < 0.05, "{tail:?}");
        // The few of the body that lie as far out count as slow ones, and widen the tail.
        assert!(tail.sigma < 0.2, "{tail:?}");
    }

    #[test]
    fn one_cell_with_stalls_does_not_become_the_rule() {
        let calm = cell(100_000.0, 0.11, None);
        let stalled = cell(100_000.0, 0.11, Some((0.05, 50.0)));
        assert_eq!(
            LatencyDistribution::fit(&[&calm, &stalled, &calm]).and_then(|found| found.tail),
            None
        );
    }

    #[test]
    fn what_is_left_when_an_operation_is_done() {
        let scatter = |sigma| LatencyDistribution { sigma, tail: None };
        assert_eq!(scatter(0.0).left_of(0.9), 0.0);
        // Held for its mean: the mean deviation downwards, 2 Φ(σ/2) - 1.
        let expected = 2.0 * below(0.15) - 1.0;
        assert!((scatter(0.3).left_of(1.0) - expected).abs() < 1e-12);
        assert!(scatter(0.3).left_of(0.2) < 1e-6);
    }
}
