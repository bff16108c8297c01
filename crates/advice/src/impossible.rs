//! A need that nothing meets: which part of it is too much by itself, and how near to it one can come.

use blocklab_units::{Bytes, Nanos};
use serde::Serialize;

use crate::market::Market;
use crate::need::{Need, Wanted};
use crate::question::Question;

/// Why a need cannot be met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impossible {
    /// The parts of which each by itself is too much; empty if only their combination is.
    pub alone: Vec<&'static str>,
    /// For each part that may give way, the most of it that is possible beside the others.
    pub nearest: Vec<Nearest>,
}

/// The nearest need that can be met if one part of it gives way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Nearest {
    /// The part that gives way.
    pub of: &'static str,
    /// `bytes`, `IOPS`, `bytes/s`, `ns`.
    pub unit: &'static str,
    /// What is asked for.
    pub needs: f64,
    /// What is possible.
    pub possible: f64,
    /// The cheapest that meets it.
    pub address: String,
    /// What it costs a month.
    pub per_month: Option<f64>,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
}

/// The parts that a need has.
pub(crate) fn parts(need: &Need) -> Vec<Wanted> {
    let asked = [
        (Wanted::Capacity, true),
        (Wanted::Iops, need.iops > 0.0),
        (Wanted::Throughput, need.bytes_per_s > 0.0),
        (Wanted::P99, need.p99.is_some()),
    ];
    asked
        .into_iter()
        .filter_map(|(wanted, is_asked)| is_asked.then_some(wanted))
        .collect()
}

/// The name of a part of a need in JSON and texts.
pub(crate) const fn named(wanted: Wanted) -> &'static str {
    match wanted {
        Wanted::Capacity => "capacity",
        Wanted::Iops => "iops",
        Wanted::Throughput => "throughput",
        Wanted::P99 => "p99",
    }
}

/// The unit of its values.
pub(crate) const fn unit(wanted: Wanted) -> &'static str {
    match wanted {
        Wanted::Capacity => "bytes",
        Wanted::Iops => "IOPS",
        Wanted::Throughput => "bytes/s",
        Wanted::P99 => "ns",
    }
}

/// The value of a part.
pub(crate) fn value(need: &Need, wanted: Wanted) -> f64 {
    match wanted {
        Wanted::Capacity => need.capacity.as_f64(),
        Wanted::Iops => need.iops,
        Wanted::Throughput => need.bytes_per_s,
        Wanted::P99 => need.p99.unwrap_or_default().0 as f64,
    }
}

/// The need with another value of a part.
pub(crate) fn with(need: &Need, wanted: Wanted, value: f64) -> Need {
    let mut other = *need;
    match wanted {
        Wanted::Capacity => other.capacity = Bytes((value as u64).max(1)),
        Wanted::Iops => other.iops = value,
        Wanted::Throughput => other.bytes_per_s = value,
        Wanted::P99 => other.p99 = Some(Nanos(value as u64)),
    }
    other
}

/// The need with one part, and the least capacity.
fn only(need: &Need, wanted: Wanted) -> Need {
    let bare = Need {
        block: need.block,
        read_percent: need.read_percent,
        // No volume is smaller than this.
        ..Need::new(Bytes::GIB)
    };
    with(&bare, wanted, value(need, wanted))
}

/// Which parts of a need nothing meets even alone, and how near the market comes to each part.
pub(crate) fn impossible(market: &Market<'_>, question: &Question) -> Impossible {
    let need = &question.need;
    let parts = parts(need);
    let alone = parts.iter().filter(|part| {
        let bare = question.with_need(only(need, **part));
        market.search(&bare).ranked.is_empty()
    });
    let nearest = parts
        .iter()
        .filter_map(|part| nearest(market, question, *part));
    Impossible {
        alone: alone.map(|part| named(*part)).collect(),
        nearest: nearest.collect(),
    }
}

/// The most of a part that is possible while all others stay as they are, found by bisection to a
/// [`step`]; `None`: the others cannot be met even with the least of it.
fn nearest(market: &Market<'_>, question: &Question, part: Wanted) -> Option<Nearest> {
    let needs = value(&question.need, part);
    let at = |steps: u64| {
        let need = with(&question.need, part, steps as f64 * step(part));
        let found = market.search(&question.with_need(need));
        found.ranked.into_iter().next().map(|best| (need, best))
    };
    // From one step, which any volume gives, to what is asked for; a p99 from ten seconds down.
    let (mut possible, mut too_much) = match part {
        Wanted::P99 => ((1e10 / step(part)) as u64, (needs / step(part)) as u64),
        _ => (1, (needs / step(part)).ceil() as u64),
    };
    let mut best = at(possible)?;
    while possible.abs_diff(too_much) > 1 {
        let middle = between(possible.min(too_much), possible.max(too_much));
        match at(middle) {
            Some(found) => (possible, best) = (middle, found),
            None => too_much = middle,
        }
    }
    let (need, candidate) = best;
    Some(Nearest {
        of: named(part),
        unit: unit(part),
        needs,
        possible: value(&need, part),
        address: candidate.address(),
        per_month: candidate.per_month,
        currency: candidate.currency,
    })
}

/// The number at which a range is halved: the geometric mean of a wide one, as what is possible may be
/// orders of magnitude below what is asked for; else the middle.
fn between(least: u64, most: u64) -> u64 {
    if least > 0 && most / least >= 4 {
        (least as f64 * most as f64).sqrt() as u64
    } else {
        least.midpoint(most)
    }
}

/// How exactly a part is searched for: GiB, IOPS, 10 kB/s, microseconds.
const fn step(part: Wanted) -> f64 {
    match part {
        Wanted::Capacity => Bytes::GIB.0 as f64,
        Wanted::Iops => 1.0,
        Wanted::Throughput => 1e4,
        Wanted::P99 => 1e3,
    }
}
