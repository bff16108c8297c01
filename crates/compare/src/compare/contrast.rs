//! One figure of the same load in two runs: its ratio, the confidence interval of the ratio, and
//! the verdict.

use blocklab_record::{DirectionResult, Latency, Percentile, Statistic};
use blocklab_stats::{Histogram, Ratio, Summary, log_variance, passes_for, ratio};
use serde::{Serialize, Serializer};

use super::pairs::Load;
use super::{LEVEL_PERCENT, Margins};

/// Rates and means that differ by a smaller share than this count as equal, however little they
/// scatter. Passes of a model can agree to the last operation; their interval has no width, and
/// without this bound any difference at all would be significant.
pub(super) const SAME: f64 = 0.001;
/// The fewest operations, in all passes together, beyond a percentile that is compared.
const BEYOND: f64 = 10.0;

/// What the passes say of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better than the baseline: the whole interval lies on that side.
    Faster,
    /// Worse than the baseline.
    Slower,
    /// The interval holds "equal", or the difference is below what can be distinguished.
    NoDifference,
    /// A difference is shown, and it is smaller than the least that matters.
    Negligible,
    /// One pass on a side, or nothing moved: no certainty can be stated.
    Unknown,
}

/// The moment from which a latency is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocked {
    /// From submission to completion.
    Service,
    /// From the moment an operation was due, under an open-loop pace.
    Response,
}

/// A figure that two loads are compared by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// Operations per second: more is better.
    Iops,
    /// Mean latency.
    Mean(Clocked),
    /// A percentile of a latency.
    Percentile(Clocked, &'static Percentile),
}

impl Quantity {
    /// The mean, and the percentiles that short tables show.
    fn latencies(clock: Clocked) -> impl Iterator<Item = Self> {
        let percentiles =
            Percentile::brief().map(move |percentile| Self::Percentile(clock, percentile));
        [Self::Mean(clock)].into_iter().chain(percentiles)
    }

    /// With its unit, as in JSON: `service_p99_ns`.
    pub fn name(self) -> String {
        let (clocked, what) = match self {
            Self::Iops => return "iops".to_owned(),
            Self::Mean(clocked) => (clocked, "mean"),
            Self::Percentile(clocked, percentile) => (clocked, percentile.name),
        };
        match clocked {
            Clocked::Service => format!("service_{what}_ns"),
            Clocked::Response => format!("response_{what}_ns"),
        }
    }

    /// The quantity that [`Self::name`] gives this name.
    pub fn named(name: &str) -> Option<Self> {
        let clocks = [Clocked::Service, Clocked::Response].into_iter();
        let mut all = [Self::Iops]
            .into_iter()
            .chain(clocks.flat_map(Self::latencies));
        all.find(|quantity| quantity.name() == name)
    }

    /// For people: `IOPS`, `mean`, `p99`, `response p99`.
    pub fn label(self) -> String {
        let (clocked, what) = match self {
            Self::Iops => return "IOPS".to_owned(),
            Self::Mean(clocked) => (clocked, "mean"),
            Self::Percentile(clocked, percentile) => (clocked, percentile.title),
        };
        match clocked {
            Clocked::Service => what.to_owned(),
            Clocked::Response => format!("response {what}"),
        }
    }

    /// Whether it is a time, so that less is better.
    pub const fn is_latency(self) -> bool {
        !matches!(self, Self::Iops)
    }

    /// Whether it is the mean of a latency.
    pub const fn is_mean_latency(self) -> bool {
        matches!(self, Self::Mean(_))
    }

    /// The smallest relative difference that can be told apart from none. Each of two percentiles
    /// may be off by the error of its histogram bucket, so theirs is twice that error.
    pub(crate) const fn resolution(self) -> f64 {
        match self {
            Self::Percentile(..) => 2.0 * Histogram::ERROR_BOUND,
            Self::Iops | Self::Mean(_) => SAME,
        }
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// One figure of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// Which, with its unit.
    pub quantity: Quantity,
    /// The baseline's, in the unit of the quantity: the geometric mean of its passes. Performance
    /// scatters in per cent, and the interval of a ratio is exact for the mean of logarithms.
    pub baseline: f64,
    /// The other run's, computed in the same way.
    pub other: f64,
    /// The other's over the baseline's. `None`: the baseline has none, or nothing moved.
    pub ratio: Option<f64>,
    /// Where the true ratio lies with 95 % probability; `None` with one pass on a side.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
    /// The baseline's and the other run's.
    pub passes: [usize; 2],
    /// Smallest difference, in per cent, that these passes would have shown; `None` with one pass
    /// on a side.
    pub could_show_percent: Option<f64>,
    /// Passes on each side that would show [`super::Comparison::show_percent`] if the scatter
    /// stays what it is; `None`: not known, or more than 1,000.
    pub passes_to_show: Option<u32>,
    /// Variance of the logarithms of the passes, the baseline's and the other run's; planning more
    /// passes needs it.
    #[serde(skip)]
    pub scatter: Option<[f64; 2]>,
    /// The ratio with its error; `None` with one pass on a side.
    #[serde(skip)]
    pub estimate: Option<Ratio>,
    /// Whether the difference is shown, and in which direction.
    pub verdict: Verdict,
}

impl Contrast {
    /// Passes on each side after which the interval at this level reaches no further than `half`
    /// to either side of the ratio, in logarithms. `None`: not known, or more than 1,000.
    pub fn passes_for(&self, half: f64, level_percent: f64) -> Option<u32> {
        passes_for(self.scatter?, half, level_percent / 100.0)
    }
}

/// Response time where every result has one, else service time: the two are never mixed.
pub(crate) fn clocked<'a>(mut results: impl Iterator<Item = &'a DirectionResult>) -> Clocked {
    if results.all(|result| result.response.is_some()) {
        Clocked::Response
    } else {
        Clocked::Service
    }
}

/// The rate, and every latency that both sides support.
pub(super) fn contrasts(base: &Load<'_>, other: &Load<'_>, margins: Margins) -> Vec<Contrast> {
    let clocked = clocked(base.results().chain(other.results()));
    [Quantity::Iops]
        .into_iter()
        .chain(Quantity::latencies(clocked))
        .filter(|quantity| supports(base, *quantity) && supports(other, *quantity))
        .map(|quantity| contrast(quantity, base, other, margins))
        .collect()
}

/// Whether a figure of a load is known, and rests on enough operations.
pub(crate) fn supports(load: &Load<'_>, quantity: Quantity) -> bool {
    let ios: u64 = load.results().map(|result| result.ios).sum();
    let (Quantity::Mean(clocked) | Quantity::Percentile(clocked, _)) = quantity else {
        return true;
    };
    let mut latencies = load
        .results()
        .filter_map(|result| latency_of(result, clocked));
    if let Quantity::Percentile(_, percentile) = quantity {
        let beyond = ios as f64 * (1.0 - percentile.share);
        // 1.0 - 0.999 is not exactly a thousandth: without the tolerance, 10,000 operations would
        // not support p99.9.
        beyond >= BEYOND - 1e-6 && latencies.all(|latency| latency.unknown.knows(percentile.share))
    } else {
        ios > 0 && !latencies.any(|latency| latency.unknown.has(Statistic::Mean))
    }
}

/// One figure of both sides, with its ratio, the interval of the ratio and the verdict.
fn contrast(quantity: Quantity, base: &Load<'_>, other: &Load<'_>, margins: Margins) -> Contrast {
    let (base_passes, other_passes) = (values(base, quantity), values(other, quantity));
    let estimate = ratio(&other_passes, &base_passes, LEVEL_PERCENT / 100.0);
    let (of_base, of_other) = (geometric_mean(&base_passes), geometric_mean(&other_passes));
    let interval = estimate.map(|estimate| estimate.interval);
    let scatter = log_variance(&base_passes)
        .zip(log_variance(&other_passes))
        .map(|(base, other)| [base, other]);
    let wanted = (margins.show_percent / 100.0).ln_1p();
    Contrast {
        quantity,
        baseline: of_base,
        other: of_other,
        ratio: (of_base > 0.0 && of_other > 0.0).then(|| of_other / of_base),
        ci95_low: interval.map(|interval| interval.low),
        ci95_high: interval.map(|interval| interval.high),
        passes: [base_passes.len(), other_passes.len()],
        // The interval is symmetric in logarithms: the square root is the factor from the ratio to
        // either end, and a ratio closer to 1 than that would have been "no difference".
        could_show_percent: interval
            .map(|interval| ((interval.high / interval.low).sqrt() - 1.0) * 100.0),
        passes_to_show: scatter
            .and_then(|scatter| passes_for(scatter, wanted, LEVEL_PERCENT / 100.0)),
        scatter,
        estimate,
        verdict: estimate.map_or(Verdict::Unknown, |ratio| verdict(quantity, ratio, margins)),
    }
}

/// The verdict on a ratio: whether it differs from 1, by enough, and for the better.
fn verdict(quantity: Quantity, found: Ratio, margins: Margins) -> Verdict {
    let away = (found.value - 1.0).abs();
    // A narrow interval alone is not enough: the instrument must be able to resolve the difference.
    let is_distinct = away > quantity.resolution();
    let more = is_distinct && found.interval.low > 1.0;
    let less = is_distinct && found.interval.high < 1.0;
    match (more, less, quantity.is_latency()) {
        (false, false, _) => Verdict::NoDifference,
        _ if away < margins.at_least_percent / 100.0 => Verdict::Negligible,
        (true, _, false) | (_, true, true) => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

/// The geometric mean of positive values; 0 without any, or where one of them is 0.
fn geometric_mean(values: &[f64]) -> f64 {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    Summary::new(&logs).map_or(0.0, |summary| summary.mean.exp())
}

/// The values of a figure of a load, one for each pass in which it is known: operations a second, or
/// nanoseconds.
pub(crate) fn values(load: &Load<'_>, quantity: Quantity) -> Vec<f64> {
    load.passes
        .iter()
        .filter_map(|pass| match quantity {
            // Each job over its own time: one that ends early does not lower the rate of the others.
            Quantity::Iops => Some(
                pass.iter()
                    .map(|(elapsed_ns, result)| result.ios as f64 * 1e9 / *elapsed_ns as f64)
                    .sum(),
            ),
            Quantity::Mean(clocked) => mean(&latencies(pass, clocked)),
            Quantity::Percentile(clocked, wanted) => percentile(&latencies(pass, clocked), wanted),
        })
        .collect()
}

fn latency_of(result: &DirectionResult, clocked: Clocked) -> Option<&Latency> {
    match clocked {
        Clocked::Response => result.response.as_ref(),
        Clocked::Service => Some(&result.service),
    }
}

/// The latencies of all jobs of a pass that completed anything.
pub(crate) fn latencies<'a>(
    part: &[(u64, &'a DirectionResult)],
    clocked: Clocked,
) -> Vec<&'a Latency> {
    let all = part
        .iter()
        .filter_map(|(_, result)| latency_of(result, clocked));
    all.filter(|latency| latency.count > 0).collect()
}

fn mean(parts: &[&Latency]) -> Option<f64> {
    let count: u64 = parts.iter().map(|latency| latency.count).sum();
    let time: f64 = parts.iter().map(|l| l.count as f64 * l.mean_ns).sum();
    (count > 0).then(|| time / count as f64)
}

/// The percentile of all parts together, in nanoseconds; `None` where a histogram cannot be read.
fn percentile(parts: &[&Latency], percentile: &Percentile) -> Option<f64> {
    if let [latency] = parts {
        // A stored percentile is better than one from the histogram, and imported results may have
        // only the former. A zero has no logarithm, and every ratio is made of logarithms.
        return latency
            .percentile(percentile)
            .filter(|ns| *ns > 0)
            .map(|ns| ns as f64);
    }
    let mut all = Histogram::new();
    for latency in parts {
        all.merge(&latency.histogram().ok()?);
    }
    (all.count() > 0).then(|| all.quantile(percentile.share) as f64)
}
