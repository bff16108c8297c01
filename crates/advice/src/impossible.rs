//! A need that nothing meets: which part of it is too much by itself, and how near to it one can come.

use blocklab_units::Bytes;
use serde::Serialize;

use crate::market::Market;
use crate::need::{Need, Wanted};
use crate::question::Question;

/// Why a need cannot be met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impossible {
    /// The parts of which each by itself is too much; empty if only their combination is.
    pub alone: Vec<Wanted>,
    /// For each part that may give way, the most of it that is possible beside the others.
    pub nearest: Vec<Nearest>,
}

/// The nearest need that can be met if one part of it gives way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Nearest {
    /// The part that gives way.
    #[serde(rename = "of")]
    pub part: Wanted,
    /// The unit of `needs` and `possible`: `bytes`, `IOPS`, `bytes/s`, `ns`.
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

/// The need with one part, and the least capacity. Burst credits count as they did.
fn only(need: &Need, part: Wanted) -> Need {
    let bare = Need {
        block: need.block,
        read_percent: need.read_percent,
        lasts: need.lasts,
        // No volume is smaller than this.
        ..Need::new(Bytes::GIB)
    };
    bare.with_value(part, need.value(part))
}

/// Which parts of a need nothing meets even alone, and how near the market comes to each part. `None`
/// where not even the least need is met, as no document gives the limits of what is sold.
pub(crate) fn impossible(market: &Market<'_>, question: &Question) -> Option<Impossible> {
    let least = question.with_need(Need::new(Bytes::GIB));
    if market.search(&least).ranked.is_empty() {
        return None;
    }
    let need = &question.need;
    let parts = need.parts();
    let alone = parts.iter().filter(|part| {
        let bare = question.with_need(only(need, **part));
        market.search(&bare).ranked.is_empty()
    });
    let nearest = parts
        .iter()
        .filter_map(|part| nearest(market, question, *part));
    Some(Impossible {
        alone: alone.copied().collect(),
        nearest: nearest.collect(),
    })
}

/// The most of a part, or of a p99 the least, that is possible while all others stay as they are, found
/// by bisection to a [`step`]; `None`: the others cannot be met even if it gives way entirely.
fn nearest(market: &Market<'_>, question: &Question, part: Wanted) -> Option<Nearest> {
    let requested = question.need.value(part);
    // The need with this many steps of the part, and the best configuration that meets it.
    let best_at = |steps: u64| {
        let need = question.need.with_value(part, steps as f64 * step(part));
        let found = market.search(&question.with_need(need));
        found.ranked.into_iter().next().map(|best| (need, best))
    };
    // From one step, which any volume gives, up to what is asked for; a p99 from ten seconds down to it.
    // Rounded so that `too_much` asks for no less than the need that nothing meets.
    let (mut possible, mut too_much) = match part {
        Wanted::P99 => ((1e10 / step(part)) as u64, (requested / step(part)) as u64),
        _ => (1, (requested / step(part)).ceil() as u64),
    };
    let mut best = best_at(possible)?;
    while possible.abs_diff(too_much) > 1 {
        let middle = between(possible.min(too_much), possible.max(too_much));
        match best_at(middle) {
            Some(found) => (possible, best) = (middle, found),
            None => too_much = middle,
        }
    }
    let (need, candidate) = best;
    Some(Nearest {
        part,
        unit: part.unit(),
        needs: requested,
        possible: need.value(part),
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
