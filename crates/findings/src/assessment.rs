//! What an assessment is made of, as data: figures with their intervals, rows, findings.

use blocklab_record::{PERCENTILES, Percentiles, Unknown};
use blocklab_stats::Histogram;
use blocklab_workload::Direction;
use serde::Serialize;

/// A figure from one or several passes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// By the aggregate of the record: mean, median or best of the passes.
    pub value: f64,
    /// Lower end of the 95 % confidence interval; `None` with fewer than two passes or best-of.
    #[serde(rename = "ci95_low")]
    pub low: Option<f64>,
    /// Upper end of it.
    #[serde(rename = "ci95_high")]
    pub high: Option<f64>,
    /// Smallest pass.
    pub min: f64,
    /// Largest pass.
    pub max: f64,
    /// Standard deviation over mean of the passes, in per cent; 0 for one pass.
    pub cv_percent: f64,
    /// Passes that count.
    pub passes: u32,
}

impl Estimate {
    /// Half of the confidence interval, in per cent of the figure.
    pub fn half_width_percent(&self) -> Option<f64> {
        let width = self.high? - self.low?;
        (self.value > 0.0).then(|| width / 2.0 / self.value * 100.0)
    }
}

/// One direction of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct RowDirection {
    /// Whether the operations read, wrote, trimmed or flushed.
    pub direction: Direction,
    /// Operations per second.
    pub iops: Estimate,
    /// Bytes per second.
    pub bytes_per_s: Estimate,
    /// [`Self::iops`] of each pass that counts, in order.
    pub each_iops: Vec<f64>,
    /// [`Self::bytes_per_s`] of the same passes.
    pub each_bytes_per_s: Vec<f64>,
    /// Mean service latency.
    pub mean_ns: Estimate,
    /// From all passes' histograms merged.
    pub service_ns: Percentiles,
    /// Exact.
    pub min_ns: u64,
    /// Exact.
    pub max_ns: u64,
    /// The same of the response latency, under a rate.
    pub response_ns: Option<ResponseNs>,
    /// The merged histogram of the response latency as [`Self::curve`]; empty without one.
    pub response_curve: Vec<(f64, u64)>,
    /// The merged histogram of the response latency as [`Self::bins`]; empty without one.
    pub response_bins: Vec<(u64, u64, u64)>,
    /// Operations in all passes.
    pub ios: u64,
    /// What another program did not report; these fields mean nothing.
    pub unknown: Unknown,
    /// The merged histogram as (quantile 0 to 1, ns) for a percentile curve: one point a bucket.
    pub curve: Vec<(f64, u64)>,
    /// The merged histogram as (lowest ns, highest ns, count).
    pub bins: Vec<(u64, u64, u64)>,
}

/// The response latency of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseNs {
    /// From all passes' histograms merged.
    pub percentiles: Percentiles,
    /// Exact.
    pub max: u64,
}

/// The beginning of the overflow bucket of a histogram, in nanoseconds, which counts all that is longer, too: a
/// percentile from here on is that long or longer.
pub const OVERFLOW_NS: u64 = Histogram::lowest(Histogram::BUCKETS - 1);

/// Operations that must lie beyond a quantile: with fewer, the next one changes it.
const BEYOND: f64 = 10.0;

impl RowDirection {
    /// Whether a quantile (0 to 1) is known, and enough operations lie beyond it to believe it.
    pub fn supports(&self, quantile: f64) -> bool {
        self.knows(quantile) && self.ios as f64 * (1.0 - quantile) >= BEYOND - 1e-6
    }

    /// Whether a quantile (0 to 1) is known.
    pub fn knows(&self, quantile: f64) -> bool {
        self.unknown.knows(quantile)
    }

    /// The highest of the usual quantiles that the operations support; `None`: not even half of
    /// them are enough.
    pub fn highest_quantile(&self) -> Option<f64> {
        let mut supported = PERCENTILES.iter().rev().map(|percentile| percentile.share);
        supported.find(|quantile| self.supports(*quantile))
    }
}

/// A case over all its passes.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the case.
    pub case: String,
    /// The swept settings of the case, by name.
    pub settings: Vec<(String, String)>,
    /// `io_uring, 4 KiB random read, depth 32, 1 thread`: for people.
    pub what: String,
    /// Its job, where it has only one.
    pub only_job: Option<OnlyJob>,
    /// Only the directions that occurred.
    pub directions: Vec<RowDirection>,
    /// Failed operations in all passes.
    pub errors: u64,
    /// Processor time of the process per operation.
    pub cpu_ns_per_io: f64,
}

/// The rate of a case over all of its directions.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRate<'a> {
    /// Name of the case.
    pub case: &'a str,
    /// The directions that are counted.
    pub directions: Vec<Direction>,
    /// Operations a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

/// The settings of a job that cases written one by one vary, and all others together.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlyJob {
    /// Operations in flight of each thread; 0: unknown.
    pub depth: u32,
    /// Threads; 0: unknown.
    pub threads: u32,
    /// Size of all its operations; `None`: they have several sizes, or it is unknown.
    pub block_bytes: Option<u64>,
    /// The rest in words: `io_uring, 4 KiB random read`.
    pub other_settings: String,
}

impl Row {
    /// The rate of all directions together. Flushes count only in a case of nothing else, and the bytes
    /// of trims only where nothing is transferred. `None`: nothing completed.
    pub fn rate(&self) -> Option<CaseRate<'_>> {
        let mut moved: Vec<&RowDirection> = self.directions.iter().collect();
        moved.retain(|direction| direction.ios > 0);
        if moved.iter().any(|moved| moved.direction != Direction::Sync) {
            moved.retain(|moved| moved.direction != Direction::Sync);
        }
        let transferred = self.transferred();
        (!moved.is_empty()).then(|| CaseRate {
            case: &self.case,
            directions: moved.iter().map(|moved| moved.direction).collect(),
            iops: moved.iter().map(|moved| moved.iops.value).sum(),
            bytes_per_s: transferred.map(|moved| moved.bytes_per_s.value).sum(),
        })
    }

    /// The directions of operations on data: without syncs.
    pub fn moved(&self) -> impl Iterator<Item = &RowDirection> + Clone {
        let all = self.directions.iter();
        all.filter(|direction| direction.direction != Direction::Sync)
    }

    /// The directions whose bytes are a throughput: reads and writes. A trim names bytes and transfers
    /// none, so its bytes count only where there is nothing else.
    pub fn transferred(&self) -> impl Iterator<Item = &RowDirection> + Clone {
        let transfers_none = !self.moved().any(|moved| moved.direction != Direction::Trim);
        self.moved()
            .filter(move |moved| transfers_none || moved.direction != Direction::Trim)
    }

    /// Operations a second in all directions, syncs included.
    pub fn iops_with_syncs(&self) -> f64 {
        let all = self.directions.iter();
        all.map(|direction| direction.iops.value).sum()
    }
}

/// How severe a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Says what was established: nothing speaks against the figures.
    Good,
    /// Explains a figure.
    Info,
    /// A figure means less than it seems to.
    Warning,
    /// A figure must not be used.
    Critical,
}

/// How sure a Finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One of several explanations.
    Low,
    /// The likeliest explanation.
    Medium,
    /// Follows from the figures.
    High,
}

impl Confidence {
    /// That of an explanation that either follows or is only the likeliest.
    pub const fn high_if(follows: bool) -> Self {
        if follows { Self::High } else { Self::Medium }
    }

    /// That of an explanation that is either the likeliest or only one of several.
    pub(crate) const fn medium_if(is_likeliest: bool) -> Self {
        if is_likeliest {
            Self::Medium
        } else {
            Self::Low
        }
    }
}

/// A number on which a Finding rests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// What it is: `own CPU`.
    pub name: String,
    /// The case that it is a figure of; `None`: of the run, or of several cases together.
    pub case: Option<String>,
    /// The number.
    pub value: f64,
    /// Its unit: `%`, `ns`, `IOPS`, `MB/s`, `p` for a percentile, or empty for a plain count.
    pub unit: &'static str,
}

/// A judged statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Stable name: `page-cache`.
    pub rule: &'static str,
    /// Case or cases; empty: the whole run.
    pub subject: Vec<String>,
    /// How severe.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// One sentence: what holds.
    pub statement: String,
    /// The numbers.
    pub evidence: Vec<Evidence>,
    /// What to do, where there is something to do.
    pub advice: Option<String>,
}

/// The rows and findings of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// One a case, in the order of the plan.
    pub rows: Vec<Row>,
    /// Most severe first.
    pub findings: Vec<Finding>,
    /// Largest relative error of the quantiles, in per cent: half a histogram bucket; `None` where
    /// another program measured them.
    pub quantile_error_percent: Option<f64>,
}

impl Assessment {
    /// Every direction of every row.
    pub fn directions(&self) -> impl Iterator<Item = (&Row, &RowDirection)> {
        let rows = self.rows.iter();
        rows.flat_map(|row| row.directions.iter().map(move |direction| (row, direction)))
    }
}
