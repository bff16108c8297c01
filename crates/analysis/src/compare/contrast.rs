use blocklab_record::{DirectionResult, Latency, Statistic};
use blocklab_stats::{Histogram, Ratio, Summary, log_variance, passes_for, ratio};
use serde::Serialize;

use super::pairs::Load;
use super::{LEVEL_PERCENT, Margins};
use crate::rows::Aggregate;

/// Rates and means that lie nearer than this are the same, however little they scatter: modelled
/// passes can agree to the last operation, and then any difference would be called.
pub(super) const SAME: f64 = 0.001;
/// Operations beyond a quantile in all passes for it to stand on.
const BEYOND: f64 = 10.0;

/// What the passes say of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better than the baseline: the whole interval lies on that side.
    Faster,
    /// Worse than the baseline.
    Slower,
    /// The interval holds "equal", or the difference is below what can be told apart.
    NoDifference,
    /// A difference is shown, and it is smaller than the least that matters.
    Negligible,
    /// One pass on a side, or nothing moved: no certainty can be stated.
    Unknown,
}

/// A figure that two loads are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations per second: more is better.
    Iops,
    /// Mean from submission to completion.
    ServiceMeanNs,
    /// Its median.
    ServiceP50Ns,
    /// 99th percentile.
    ServiceP99Ns,
    /// 99.9th percentile.
    ServiceP999Ns,
    /// Mean from the moment an operation was due, under an open-loop pace.
    ResponseMeanNs,
    /// Its median.
    ResponseP50Ns,
    /// 99th percentile.
    ResponseP99Ns,
    /// 99.9th percentile.
    ResponseP999Ns,
}

impl Quantity {
    const SERVICE: [Self; 4] = [
        Self::ServiceMeanNs,
        Self::ServiceP50Ns,
        Self::ServiceP99Ns,
        Self::ServiceP999Ns,
    ];
    const RESPONSE: [Self; 4] = [
        Self::ResponseMeanNs,
        Self::ResponseP50Ns,
        Self::ResponseP99Ns,
        Self::ResponseP999Ns,
    ];

    /// With its unit, as in JSON: `service_p99_ns`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::ServiceMeanNs => "service_mean_ns",
            Self::ServiceP50Ns => "service_p50_ns",
            Self::ServiceP99Ns => "service_p99_ns",
            Self::ServiceP999Ns => "service_p999_ns",
            Self::ResponseMeanNs => "response_mean_ns",
            Self::ResponseP50Ns => "response_p50_ns",
            Self::ResponseP99Ns => "response_p99_ns",
            Self::ResponseP999Ns => "response_p999_ns",
        }
    }

    /// For people: `IOPS`, `mean`, `p99`, `response p99`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::ServiceMeanNs => "mean",
            Self::ServiceP50Ns => "p50",
            Self::ServiceP99Ns => "p99",
            Self::ServiceP999Ns => "p99.9",
            Self::ResponseMeanNs => "response mean",
            Self::ResponseP50Ns => "response p50",
            Self::ResponseP99Ns => "response p99",
            Self::ResponseP999Ns => "response p99.9",
        }
    }

    /// Whether it is a time, of which less is better.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        !matches!(self, Self::Iops)
    }

    /// Whether it is the mean of a latency.
    #[must_use]
    pub const fn is_mean_latency(self) -> bool {
        matches!(self, Self::ServiceMeanNs | Self::ResponseMeanNs)
    }

    const fn quantile(self) -> Option<f64> {
        match self {
            Self::ServiceP50Ns | Self::ResponseP50Ns => Some(0.5),
            Self::ServiceP99Ns | Self::ResponseP99Ns => Some(0.99),
            Self::ServiceP999Ns | Self::ResponseP999Ns => Some(0.999),
            _ => None,
        }
    }

    /// What of a latency it is.
    const fn statistic(self) -> Statistic {
        match self {
            Self::ServiceP50Ns | Self::ResponseP50Ns => Statistic::P50,
            Self::ServiceP99Ns | Self::ResponseP99Ns => Statistic::P99,
            Self::ServiceP999Ns | Self::ResponseP999Ns => Statistic::P999,
            _ => Statistic::Mean,
        }
    }

    /// How far apart two figures must lie to be told apart at all: both quantiles may be wrong by
    /// half a bucket.
    pub(crate) const fn resolution(self) -> f64 {
        match self.quantile() {
            Some(_) => 2.0 * Histogram::ERROR_BOUND,
            None => SAME,
        }
    }
}

/// One figure of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// Which, with its unit.
    pub quantity: Quantity,
    /// Of the baseline, in the unit of the quantity: as its own table shows it.
    pub baseline: f64,
    /// Of the other run, as its own table shows it.
    pub other: f64,
    /// The geometric mean of the other's passes over that of the baseline's: scatter in per cent
    /// has an interval only there. `None`: the baseline has none, or nothing moved.
    pub ratio: Option<f64>,
    /// Where the true ratio lies with 95 % probability; `None` with one pass on a side.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
    /// Of the baseline and of the other run.
    pub passes: [usize; 2],
    /// Smallest difference, in per cent, that these passes would have shown; `None` with one pass
    /// on a side.
    pub could_show_percent: Option<f64>,
    /// Passes on each side that would show [`super::Comparison::show_percent`] if the scatter
    /// stays what it is; `None`: not known, or more than 1,000.
    pub passes_to_show: Option<u32>,
    /// Variance of the logarithms of either side, for other questions of this kind.
    #[serde(skip)]
    pub scatter: Option<[f64; 2]>,
    /// What that means.
    pub verdict: Verdict,
}

impl Contrast {
    /// Passes on each side that bring the interval down to `half` either way, in logarithms.
    #[must_use]
    pub fn passes_for(&self, half: f64) -> Option<u32> {
        passes_for(self.scatter?, half, LEVEL_PERCENT / 100.0)
    }

    fn planned(mut self, margins: Margins) -> Self {
        self.passes_to_show = self.passes_for((margins.show_percent / 100.0).ln_1p());
        self
    }
}

/// The rate, and every latency that both sides support.
pub(super) fn contrasts(base: &Load<'_>, other: &Load<'_>, margins: Margins) -> Vec<Contrast> {
    let responds = |load: &Load<'_>| load.results().all(|result| result.response.is_some());
    let latencies = match responds(base) && responds(other) {
        true => Quantity::RESPONSE,
        false => Quantity::SERVICE,
    };
    let all = [Quantity::Iops].into_iter().chain(latencies);
    let supported = all.filter(|quantity| supports(base, *quantity) && supports(other, *quantity));
    supported
        .map(|quantity| contrast(quantity, base, other, margins).planned(margins))
        .collect()
}

fn supports(load: &Load<'_>, quantity: Quantity) -> bool {
    let beyond = 1.0 - quantity.quantile().unwrap_or(0.0);
    let ios: u64 = load.results().map(|result| result.ios).sum();
    let known = load
        .results()
        .filter_map(|result| latency_of(result, quantity))
        .all(|latency| !latency.unknown.has(quantity.statistic()));
    match quantity {
        Quantity::Iops => true,
        _ if !known => false,
        _ if quantity.is_mean_latency() => ios > 0,
        _ => ios as f64 * beyond >= BEYOND - 1e-6,
    }
}

fn contrast(quantity: Quantity, base: &Load<'_>, other: &Load<'_>, margins: Margins) -> Contrast {
    let (base_passes, other_passes) = (values(base, quantity), values(other, quantity));
    let found = ratio(&other_passes, &base_passes, LEVEL_PERCENT / 100.0);
    let (of_base, of_other) = (geometric(&base_passes), geometric(&other_passes));
    let plain = (of_base > 0.0 && of_other > 0.0).then(|| of_other / of_base);
    let interval = found.map(|found| found.interval);
    Contrast {
        quantity,
        baseline: shown(base, quantity, &base_passes),
        other: shown(other, quantity, &other_passes),
        ratio: found.map(|found| found.value).or(plain),
        ci95_low: interval.map(|interval| interval.low),
        ci95_high: interval.map(|interval| interval.high),
        passes: [base_passes.len(), other_passes.len()],
        could_show_percent: interval
            .map(|interval| ((interval.high / interval.low).sqrt() - 1.0) * 100.0),
        passes_to_show: None,
        scatter: log_variance(&base_passes)
            .zip(log_variance(&other_passes))
            .map(|(base, other)| [base, other]),
        verdict: found.map_or(Verdict::Unknown, |it| verdict(quantity, it, margins)),
    }
}

fn verdict(quantity: Quantity, found: Ratio, margins: Margins) -> Verdict {
    let away = (found.value - 1.0).abs();
    let apart = away > quantity.resolution();
    let more = apart && found.interval.low > 1.0;
    let less = apart && found.interval.high < 1.0;
    match (more, less, quantity.is_latency()) {
        (false, false, _) => Verdict::NoDifference,
        _ if away < margins.at_least_percent / 100.0 => Verdict::Negligible,
        (true, _, false) | (_, true, true) => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

/// The figure that the run's own table shows. It has no mean response, which is made alike.
fn shown(load: &Load<'_>, quantity: Quantity, passes: &[f64]) -> f64 {
    let row = &load.shown;
    let response = |place: usize| row.response_ns.map_or(0.0, |all| all[place] as f64);
    match quantity {
        Quantity::Iops => row.iops.value,
        Quantity::ServiceMeanNs => row.mean_ns.value,
        Quantity::ServiceP50Ns => row.p50_ns as f64,
        Quantity::ServiceP99Ns => row.p99_ns as f64,
        Quantity::ServiceP999Ns => row.p999_ns as f64,
        Quantity::ResponseMeanNs => Summary::of(passes).map_or(0.0, |all| match load.aggregate {
            Aggregate::Median => all.median,
            Aggregate::Mean | Aggregate::Best => all.mean,
        }),
        Quantity::ResponseP50Ns => response(0),
        Quantity::ResponseP99Ns => response(1),
        Quantity::ResponseP999Ns => response(2),
    }
}

/// Of positive values; 0 where there is none, or one that is not positive.
fn geometric(values: &[f64]) -> f64 {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    Summary::of(&logs).map_or(0.0, |summary| summary.mean.exp())
}

/// One a pass that moved anything in this direction.
fn values(load: &Load<'_>, quantity: Quantity) -> Vec<f64> {
    let of_pass = |part: &Vec<(u64, &DirectionResult)>| match quantity {
        Quantity::Iops => Some(
            part.iter()
                .map(|(ns, it)| it.ios as f64 * 1e9 / *ns as f64)
                .sum(),
        ),
        _ => latency(
            part.iter().filter_map(|(_, it)| latency_of(it, quantity)),
            quantity,
        ),
    };
    load.passes.iter().filter_map(of_pass).collect()
}

fn latency_of(result: &DirectionResult, quantity: Quantity) -> Option<&Latency> {
    match Quantity::RESPONSE.contains(&quantity) {
        true => result.response.as_ref(),
        false => Some(&result.service),
    }
}

/// Of all jobs of a pass together. A histogram that cannot be read leaves no quantile.
fn latency<'a>(of: impl Iterator<Item = &'a Latency>, quantity: Quantity) -> Option<f64> {
    let parts: Vec<&Latency> = of.filter(|latency| latency.count > 0).collect();
    let Some(quantile) = quantity.quantile() else {
        let count: u64 = parts.iter().map(|latency| latency.count).sum();
        let time: f64 = parts.iter().map(|l| l.count as f64 * l.mean_ns).sum();
        return (count > 0).then(|| time / count as f64);
    };
    if let [latency] = parts.as_slice() {
        let stored = match quantity {
            Quantity::ServiceP50Ns | Quantity::ResponseP50Ns => latency.p50_ns,
            Quantity::ServiceP99Ns | Quantity::ResponseP99Ns => latency.p99_ns,
            _ => latency.p999_ns,
        };
        return Some(stored as f64).filter(|ns| *ns > 0.0);
    }
    let mut all = Histogram::new();
    for latency in parts {
        all.merge(&latency.histogram().ok()?);
    }
    (all.count() > 0).then(|| all.quantile(quantile) as f64)
}
