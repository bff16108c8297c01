//! In: a volume in use. Out: what it could become for less, and what would get worse.

use blocklab_catalog::Resolved;
use blocklab_device::{Grant, grants};
use blocklab_units::Bytes;
use serde::Serialize;

use crate::finalist::Finalist;
use crate::market::Market;
use crate::need::{LARGE, Need, Wanted};
use crate::question::Question;

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

/// What a volume could become.
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

/// A figure of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// `IOPS for ever`, `IOPS in bursts`, `MB/s for ever`, `MB/s in bursts`, `p99 in ns`.
    pub what: &'static str,
    /// The figure of the volume in use.
    pub from: f64,
    /// The figure of the other volume.
    pub to: f64,
}

/// What a device promises for ever: the need that another one has to meet to take its place.
pub fn promised(resolved: &Resolved, asked: Need) -> Need {
    let spec = &resolved.spec;
    let holds = spec.volumes.iter().map(|volume| volume.capacity.0).sum();
    let mut need = asked;
    need.capacity = Bytes(need.capacity.0.max(holds));
    let any = Need {
        iops: 1.0,
        bytes_per_s: 1.0,
        p99: None,
        ..need
    };
    let of = |wanted| {
        let margins = any.rates(spec).into_iter();
        let has = margins.filter(|margin| margin.wanted == wanted);
        has.filter_map(|margin| margin.has)
            .reduce(f64::min)
            .unwrap_or(0.0)
    };
    if need.iops == 0.0 && need.bytes_per_s == 0.0 {
        need.iops = of(Wanted::Iops).floor();
        need.bytes_per_s = of(Wanted::Throughput).floor();
    }
    need
}

/// What a volume could become, the cheapest of each type.
pub fn migration(market: &Market<'_>, question: &Question, current: &Resolved) -> Migration {
    let address = current.address.to_string();
    let mut moves: Vec<(String, Move)> = Vec::new();
    for candidate in market.search(question).ranked {
        if moves.iter().any(|(kind, _)| *kind == candidate.kind) {
            continue;
        }
        let kind = candidate.kind.clone();
        let Some(finalist) = Finalist::new(candidate, market.catalog, question) else {
            continue;
        };
        let found = compared(&finalist, current, &question.need);
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

fn compared(finalist: &Finalist, current: &Resolved, need: &Need) -> Move {
    let (mut worse, mut better) = (Vec::new(), Vec::new());
    let other = &finalist.resolved;
    for (before, after) in figures(current, need).into_iter().zip(figures(other, need)) {
        let (what, is_time, from) = before;
        let Some((from, to)) = from.zip(after.2) else {
            continue;
        };
        let change = Change { what, from, to };
        let gain = if is_time { from / to } else { to / from };
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

/// What a device does, by its limits: a name, whether less is better, and the figure where one is
/// documented.
fn figures(resolved: &Resolved, need: &Need) -> [(&'static str, bool, Option<f64>); 5] {
    let spec = &resolved.spec;
    let least = |is_random: bool, each: f64, rate: fn(&Grant) -> f64| {
        let loads = if is_random {
            need.random()
        } else {
            need.streams()
        };
        let granted = loads.into_iter().filter_map(|load| grants(spec, load).ok());
        let rates = granted.flatten().map(|grant| rate(&grant) * each);
        rates.reduce(f64::min).filter(|rate| rate.is_finite())
    };
    let large = LARGE.as_f64() / 1e6;
    // The bucket of a cap that is no burst holds seconds: what follows it is what counts.
    let in_burst = |grant: &Grant| match grant.burst_name.kind {
        blocklab_device::LimitKind::Burst { .. } => grant.burst_iops,
        _ => grant.iops,
    };
    [
        ("IOPS for ever", false, least(true, 1.0, |grant| grant.iops)),
        ("IOPS in bursts", false, least(true, 1.0, in_burst)),
        (
            "MB/s for ever",
            false,
            least(false, large, |grant| grant.iops),
        ),
        ("MB/s in bursts", false, least(false, large, in_burst)),
        (
            "p99 in ns",
            true,
            need.least_p99(spec).map(|p99| p99.0 as f64),
        ),
    ]
}
