//! The Pareto front of price and latency: the configurations of which none is both cheaper and quicker.
//!
//! The cheapest of all is the first point. The next is the cheapest whose 99th percentile is less than
//! that of the one before, and so on: each search gives a point of the front, and none is left out.

use blocklab_units::Nanos;
use serde::Serialize;

use crate::finalist::Finalist;
use crate::market::Market;
use crate::question::Question;

/// The most points that a front has.
const POINTS: usize = 10;

/// What a configuration costs, and how quick it is. On the front, it is cheaper than every quicker
/// one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// What is bought.
    pub address: String,
    /// Its type.
    pub volume_type: String,
    /// A month, in `currency`.
    pub per_month: f64,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// The 99th percentile of an operation that waits for nothing.
    pub p99_ns: u64,
    /// Whether it meets the p99 of the need as well, and did not fail in its simulation.
    pub is_enough: bool,
}

/// The front of a need; its own p99 is not a condition here. What has that p99 and is cheaper than `price`,
/// that of the answer, failed in its simulation.
pub(crate) fn front(market: &Market<'_>, question: &Question, price: f64) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut need = question.need;
    need.p99 = None;
    while points.len() < POINTS {
        let Some(best) = market.cheapest(&question.with_need(need)) else {
            break;
        };
        let Some(mut point) = point(&best, question) else {
            break;
        };
        point.is_enough &= point.per_month >= price;
        let p99 = point.p99_ns;
        points.push(point);
        // A p99 of zero is no need, so there is nothing quicker to ask for.
        if p99 < 2 {
            break;
        }
        need.p99 = Some(Nanos(p99 - 1));
    }
    points
}

/// The price and latency of a finalist; `None`: one of them is unknown.
fn point(finalist: &Finalist, question: &Question) -> Option<Point> {
    let p99 = question.need.least_p99(&finalist.resolved.spec)?;
    Some(Point {
        address: finalist.candidate.address(),
        volume_type: finalist.candidate.kind.clone(),
        per_month: finalist.candidate.per_month?,
        currency: finalist.candidate.currency,
        p99_ns: p99.0,
        is_enough: question.need.p99.is_none_or(|most| p99 <= most),
    })
}

/// The finalists under other terms or next in price that are not on the front.
pub(crate) fn beside<'f>(
    front: &[Point],
    others: impl Iterator<Item = &'f Finalist>,
    question: &Question,
) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for point in others.filter_map(|one| point(one, question)) {
        let mut known = front.iter().chain(&points);
        if known.all(|other| other.address != point.address) {
            points.push(point);
        }
    }
    points
}
