//! In: latencies of one thread. Out: their distribution, with exact mean and variance, which other
//! threads sum.

use blocklab_record::LatencySum;
use blocklab_stats::Histogram;

use crate::counter::Counter;

/// The distribution of a latency, with exact mean and variance.
#[derive(Debug, Default)]
pub struct LatencyHistogram {
    /// Of numbers with a fraction, as are the squares: nanoseconds outgrow 64 bits within minutes where
    /// millions of operations wait, and their squares within seconds.
    sum: Counter,
    sum_squares: Counter,
    min: Counter,
    max: Counter,
    counts: Box<[Counter]>,
}

impl LatencyHistogram {
    pub(crate) fn new() -> Self {
        let counts = (0..Histogram::BUCKETS)
            .map(|_| Counter::default())
            .collect();
        let empty = Self {
            counts,
            ..Self::default()
        };
        // Until the first value, which is less.
        empty.min.set(u64::MAX);
        empty
    }

    fn is_empty(&self) -> bool {
        self.min.get() == u64::MAX
    }

    /// The largest value so far.
    pub(crate) fn longest(&self) -> u64 {
        self.max.get()
    }

    /// All recorded values added up, in nanoseconds.
    pub fn sum(&self) -> f64 {
        self.sum.get_f64()
    }

    /// Adds a latency. Only the worker's own thread writes, so no update is lost.
    #[inline]
    pub(crate) fn record(&self, nanos: u64) {
        // Latencies are far below 2^63 ns; the signed conversion is one instruction.
        let value = nanos as i64 as f64;
        self.sum.add_f64(value);
        self.sum_squares.add_f64(value * value);
        if nanos < self.min.get() {
            self.min.set(nanos);
        }
        if nanos > self.max.get() {
            self.max.set(nanos);
        }
        self.counts[Histogram::index(nanos)].add(1);
    }

    /// Records `count` values: `shortest`, and each next one `gap` longer. The cost is bounded by the
    /// number of buckets.
    pub(crate) fn record_steps(&self, shortest: f64, gap: f64, count: u64) {
        assert!(count > 0, "no value has a largest one");
        let last = count - 1;
        let (n, m) = (count as f64, last as f64);
        // Closed forms of the sums over k = 0 … m of (shortest + k·gap) and of its square.
        self.sum.add_f64(n * shortest + gap * n * m / 2.0);
        let squares = n * shortest * shortest
            + shortest * gap * n * m
            + gap * gap * m * n * (2.0 * m + 1.0) / 6.0;
        self.sum_squares.add_f64(squares);
        let (least, most) = (step_at(shortest, gap, 0), step_at(shortest, gap, last));
        self.min.set(self.min.get().min(least));
        self.max.set(self.max.get().max(most));
        let mut step = 0;
        while step < count {
            let bucket = Histogram::index(step_at(shortest, gap, step));
            let next = if bucket + 1 == Histogram::BUCKETS {
                count
            } else {
                // The first step beyond this bucket.
                let beyond = Histogram::highest(bucket) as f64 + 1.0;
                let first = ((beyond - shortest) / gap.max(1e-9)).ceil() as u64;
                first.clamp(step + 1, count)
            };
            self.counts[bucket].add(next - step);
            step = next;
        }
    }
}

fn step_at(shortest: f64, gap: f64, step: u64) -> u64 {
    (shortest + gap * step as f64) as u64
}

/// Adds up several distributions.
pub fn latency_sum<'a>(histograms: impl Iterator<Item = &'a LatencyHistogram>) -> LatencySum {
    let mut total = LatencySum::default();
    // In a job of one direction, the histograms of the others are empty in every interval.
    for histogram in histograms.filter(|histogram| !histogram.is_empty()) {
        total.sum += histogram.sum();
        total.sum_squares += histogram.sum_squares.get_f64();
        total.min = total.min.min(histogram.min.get());
        total.max = total.max.max(histogram.max.get());
        let counts = Histogram::from_counts(histogram.counts.iter().map(Counter::get));
        total.histogram.merge(&counts);
    }
    total
}
