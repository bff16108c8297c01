//! In: a volume in use. Out: what could replace it, and which figures would get worse or better.

use blocklab_catalog::Resolved;
use blocklab_device::{Grant, LimitKind, Load, grants};
use serde::Serialize;

use crate::finalist::Finalist;
use crate::market::Market;
use crate::need::{LARGE, Need};
use crate::question::Question;
use crate::search::by_price;

/// A volume in use, and what it could become.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Migration {
    /// What is in use.
    pub address: String,
    /// What it costs a month; `None`: no price is known.
    pub per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// One for each type, the cheapest first.
    pub moves: Vec<Move>,
}

/// A volume that could replace the one in use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Move {
    /// What is bought.
    pub address: String,
    /// What it costs a month.
    pub per_month: Option<f64>,
    /// Figures that get worse.
    pub worse: Vec<Change>,
    /// Figures that get better.
    pub better: Vec<Change>,
}

/// A figure of both volumes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Which figure.
    pub what: Figure,
    /// The figure of the volume in use.
    pub from: f64,
    /// The figure of the other volume.
    pub to: f64,
}

/// A figure by which two volumes are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Figure {
    /// Random operations a second, without end.
    #[serde(rename = "IOPS for ever")]
    SteadyIops,
    /// Random operations a second as long as burst credits last.
    #[serde(rename = "IOPS in bursts")]
    BurstIops,
    /// Throughput in MB/s, without end.
    #[serde(rename = "MB/s for ever")]
    SteadyThroughput,
    /// Throughput in MB/s as long as burst credits last.
    #[serde(rename = "MB/s in bursts")]
    BurstThroughput,
    /// The 99th percentile of the latency, in ns.
    #[serde(rename = "p99 in ns")]
    P99,
}

/// The need that a replacement of a device has to meet: its capacity and, unless `wanted` names rates, all
/// that its limits allow for ever.
pub fn promised(resolved: &Resolved, wanted: Need) -> Need {
    let spec = &resolved.spec;
    let mut need = wanted;
    need.capacity = need.capacity.max(spec.capacity());
    if need.iops == 0.0 && need.bytes_per_s == 0.0 {
        let rates = need.most(spec).map(|rate| rate.unwrap_or(0.0).floor());
        [need.iops, need.bytes_per_s] = rates;
    }
    need
}

/// The cheapest replacement of each type.
pub fn migration(market: &Market<'_>, question: &Question, current: &Resolved) -> Migration {
    let address = current.address.to_string();
    let mut moves: Vec<(String, Move)> = Vec::new();
    // Each number of volumes is searched alone, as one search keeps too few candidates for all types in
    // all numbers.
    let mut candidates = Vec::new();
    for volumes in question.volumes.clone() {
        let alone = Question {
            volumes: volumes..=volumes,
            ..question.clone()
        };
        candidates.extend(market.search(&alone).ranked);
    }
    candidates.sort_by(by_price);
    for candidate in candidates {
        if moves.iter().any(|(kind, _)| *kind == candidate.kind) {
            continue;
        }
        let kind = candidate.kind.clone();
        let Some(finalist) = Finalist::new(candidate, market.catalog, question) else {
            continue;
        };
        let found = compared(&finalist, current, &question.need);
        // The search finds the volume in use as well.
        if found.address != address {
            moves.push((kind, found));
        }
    }
    Migration {
        address,
        per_month: current.per_month(),
        currency: current.currency(),
        moves: moves.into_iter().map(|(_, one)| one).collect(),
    }
}

/// What a finalist does better and worse than the current device.
fn compared(finalist: &Finalist, current: &Resolved, need: &Need) -> Move {
    let (mut worse, mut better) = (Vec::new(), Vec::new());
    let other = &finalist.resolved;
    for (before, after) in figures(current, need).into_iter().zip(figures(other, need)) {
        let (what, from) = before;
        let (_, to) = after;
        let Some((from, to)) = from.zip(to) else {
            continue;
        };
        let change = Change { what, from, to };
        let gain = if what == Figure::P99 {
            from / to
        } else {
            to / from
        };
        // Less than half a per cent is no change.
        match gain {
            ..0.995 => worse.push(change),
            1.005.. => better.push(change),
            _ => (),
        }
    }
    Move {
        address: finalist.candidate.address(),
        per_month: finalist.candidate.per_month,
        worse,
        better,
    }
}

/// The figures that are compared, each with its value if that is documented.
fn figures(resolved: &Resolved, need: &Need) -> [(Figure, Option<f64>); 5] {
    let spec = &resolved.spec;
    // The smallest rate over all limits and loads; `each` converts operations to the figure's unit.
    let least = |loads: &[Load], each: f64, rate: fn(&Grant) -> f64| {
        let granted = loads.iter().filter_map(|load| grants(spec, *load).ok());
        let rates = granted.flatten().map(|grant| rate(&grant) * each);
        rates.reduce(f64::min).filter(|rate| rate.is_finite())
    };
    let large = LARGE.as_f64() / 1e6;
    // Every cap has a small bucket, emptied within seconds; only burst credits make a burst.
    let in_burst = |grant: &Grant| match grant.burst_name.kind {
        LimitKind::Burst { .. } => grant.burst_iops,
        _ => grant.iops,
    };
    let p99 = need.least_p99(spec).map(|p99| p99.0 as f64);
    let (random, streams) = (need.random(), need.streams());
    [
        (Figure::SteadyIops, least(&random, 1.0, |grant| grant.iops)),
        (Figure::BurstIops, least(&random, 1.0, in_burst)),
        (
            Figure::SteadyThroughput,
            least(&streams, large, |grant| grant.iops),
        ),
        (Figure::BurstThroughput, least(&streams, large, in_burst)),
        (Figure::P99, p99),
    ]
}
