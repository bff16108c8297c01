//! In: the histograms of a case. Out: latency statistics over all of its directions together.

use super::value::Value;
use blocklab_findings::Row;

/// The bins of all histograms, sorted by latency: lowest ns, highest ns, count.
pub(super) struct Latencies(Vec<(u64, u64, u64)>);

impl Latencies {
    /// The latencies of all directions of a row together.
    pub fn from_row(row: &Row) -> Self {
        let mut bins: Vec<_> = row
            .moved()
            .flat_map(|direction| direction.bins.iter().copied())
            .collect();
        bins.sort_unstable();
        Self(bins)
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|(_, _, count)| count).sum()
    }

    /// The means of the directions over the passes, weighted by their operations. It has an interval only
    /// if a single direction moved: that of several directions is not known.
    pub fn mean_us(&self, row: &Row) -> Option<Value> {
        let moved: Vec<_> = row.moved().collect();
        if let [only] = moved[..] {
            let mean = only.mean_ns;
            return Some(Value {
                value: mean.value / 1e3,
                low: mean.low.map(|low| low / 1e3),
                high: mean.high.map(|high| high / 1e3),
                passes: mean.passes,
            });
        }
        let sum: f64 = moved
            .iter()
            .map(|direction| direction.mean_ns.value * direction.ios as f64)
            .sum();
        let ios: u64 = moved.iter().map(|direction| direction.ios).sum();
        let passes = moved
            .iter()
            .map(|direction| direction.mean_ns.passes)
            .max()?;
        (ios > 0).then(|| Value {
            passes,
            ..Value::exact(sum / ios as f64 / 1e3)
        })
    }

    /// The sample standard deviation, by the middles of the bins: each value is off by at most half
    /// a bin, which is below 1 % of the latency.
    pub fn stdev_us(&self) -> Option<f64> {
        let count = self.count() as f64;
        let bins = self.0.iter();
        let middles = bins.map(|(low, high, n)| ((low + high) as f64 / 2e3, *n as f64));
        let mean = middles.clone().map(|(us, n)| us * n).sum::<f64>() / count;
        let sum: f64 = middles.map(|(us, n)| (us - mean).powi(2) * n).sum();
        (count > 1.0).then(|| (sum / (count - 1.0)).sqrt())
    }

    /// The share of operations up to this latency, in per cent. A bin counts if its middle does, as
    /// in the outputs of other tools.
    pub fn within_percent(&self, ns: u64) -> Option<f64> {
        let within: u64 = self
            .0
            .iter()
            .filter(|(low, high, _)| u64::midpoint(*low, *high) <= ns)
            .map(|(_, _, count)| count)
            .sum();
        let all = self.count();
        (all > 0).then(|| within as f64 / all as f64 * 100.0)
    }

    /// A quantile (0 to 1): the middle of the bin in which it lies.
    pub fn quantile_us(&self, quantile: f64) -> Option<f64> {
        let rank = (self.count() as f64 * quantile).ceil().max(1.0) as u64;
        let mut seen = 0;
        let (low, high, _) = self.0.iter().find(|(_, _, count)| {
            seen += count;
            seen >= rank
        })?;
        Some((low + high) as f64 / 2e3)
    }
}
