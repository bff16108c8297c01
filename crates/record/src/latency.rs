//! In: latencies, or a histogram with its exact sums. Out: one latency as a Record keeps it, and its
//! histogram again.
//!
//! A file of its own: every latency of every part of a Record has this form.

use blocklab_stats::Histogram;
use blocklab_units::Nanos;
use serde::{Deserialize, Serialize};

use crate::unknown::{Unknown, stored};

stored! {
    /// The distribution of one latency.
    ///
    /// The exact moments are stored next to the histogram; quantiles come from the histogram and are exact
    /// to [`Histogram::ERROR_BOUND`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(into = "Form", from = "Form")]
    pub struct Latency, stored as Form {
        /// Operations.
        pub count: u64,
        [
            /// Exact.
            pub min_ns: u64 = Min,
            /// Exact.
            pub max_ns: u64 = Max,
            /// Exact.
            pub mean_ns: f64 = Mean,
            /// Standard deviation of the operations, exact.
            pub stddev_ns: f64 = Stddev,
            /// From the histogram.
            pub p50_ns: u64 = P50,
            /// From the histogram.
            pub p90_ns: u64 = P90,
            /// From the histogram.
            pub p99_ns: u64 = P99,
            /// From the histogram.
            pub p999_ns: u64 = P999,
            /// From the histogram.
            pub p9999_ns: u64 = P9999,
        ]
        /// HdrHistogram V2, compressed, base64: what `HistogramLogReader` reads.
        pub histogram_hdr: String,
    }
}

/// A histogram text that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the stored histogram cannot be read: {0}")]
pub struct BadHistogram(pub String);

/// The distribution of some latencies, with the sums from which mean and deviation are computed.
#[derive(Debug, Clone)]
pub struct LatencySum {
    /// Nanoseconds.
    pub sum: f64,
    /// Squared nanoseconds.
    pub sum_squares: f64,
    /// Nanoseconds; `u64::MAX` without a value.
    pub min: u64,
    /// Nanoseconds; 0 without a value.
    pub max: u64,
    /// All values.
    pub histogram: Histogram,
}

impl Default for LatencySum {
    fn default() -> Self {
        Self {
            sum: 0.0,
            sum_squares: 0.0,
            min: u64::MAX,
            max: 0,
            histogram: Histogram::new(),
        }
    }
}

impl LatencySum {
    /// Counts a latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.histogram.record(latency.0);
        let value = latency.0 as f64;
        self.sum += value;
        self.sum_squares += value * value;
        self.min = self.min.min(latency.0);
        self.max = self.max.max(latency.0);
    }

    /// The form that a Record keeps; zeros without a value.
    pub fn to_latency(&self) -> Latency {
        let min = self.min.min(self.max);
        Latency::new(&self.histogram, min, self.max, self.sum, self.sum_squares)
    }
}

impl Latency {
    /// From a histogram and exact sums. `sum_squares` is in ns^2.
    ///
    /// # Panics
    /// When `min` is above `max`; without a value, both are the same.
    pub fn new(histogram: &Histogram, min: u64, max: u64, sum: f64, sum_squares: f64) -> Self {
        let count = histogram.count();
        let divisor = count.max(1) as f64;
        let mean = sum / divisor;
        let [p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns] =
            [0.5, 0.9, 0.99, 0.999, 0.9999].map(|q| histogram.quantile(q).clamp(min, max));
        Self {
            count,
            min_ns: min,
            max_ns: max,
            mean_ns: mean,
            stddev_ns: (sum_squares / divisor - mean * mean).max(0.0).sqrt(),
            p50_ns,
            p90_ns,
            p99_ns,
            p999_ns,
            p9999_ns,
            histogram_hdr: histogram.to_hdr_base64(),
            unknown: Unknown::default(),
        }
    }

    /// The histogram again.
    ///
    /// # Errors
    /// [`BadHistogram`] when the text was damaged.
    pub fn histogram(&self) -> Result<Histogram, BadHistogram> {
        Histogram::from_hdr_base64(&self.histogram_hdr).map_err(|e| BadHistogram(e.to_string()))
    }
}
