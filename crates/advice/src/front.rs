//! Price against latency: the points of which none is both cheaper and quicker.
//!
//! The cheapest of all is the first point. The next is the cheapest whose 99th percentile is less than
//! that of the one before, and so on: so the front is whole, and nothing is searched in vain.

use blocklab_units::Nanos;
use serde::Serialize;

use crate::market::Market;
use crate::question::Question;

/// The most points that a front has.
const POINTS: usize = 10;

/// A configuration that is cheaper than every quicker one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// What is bought.
    pub address: String,
    /// A month, in `currency`.
    pub per_month: f64,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
    /// The 99th percentile of an operation that waits for nothing.
    pub p99_ns: u64,
    /// It meets all that is asked for.
    pub is_enough: bool,
}

/// The front of a need, whatever latency it asks for.
pub(crate) fn front(market: &Market<'_>, question: &Question) -> Vec<Point> {
    let asked = question.need.p99;
    let mut points: Vec<Point> = Vec::new();
    let mut need = question.need;
    need.p99 = None;
    while points.len() < POINTS {
        let Some(best) = market.cheapest(&question.with_need(need)) else {
            break;
        };
        let Some(p99) = need.least_p99(&best.resolved.spec) else {
            break;
        };
        points.push(Point {
            address: best.candidate.address(),
            per_month: best.candidate.price(),
            currency: best.candidate.currency,
            p99_ns: p99.0,
            is_enough: asked.is_none_or(|asked| p99 <= asked),
        });
        if p99.0 < 2 {
            break;
        }
        need.p99 = Some(Nanos(p99.0 - 1));
    }
    points
}
