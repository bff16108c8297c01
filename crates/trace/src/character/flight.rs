//! In: when operations were issued and completed. Out: how many were in flight, and for how long
//! nothing came.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::Operation;

/// A pause of this length or longer is counted: credits refill in it.
const PAUSE_NS: u64 = 1_000_000_000;
/// Depths that are told apart.
const DEEPEST: usize = 4096;

/// Operations in flight, by the completions of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InFlight {
    /// Over time.
    pub mean: f64,
    /// For 99 % of the time it was at most this.
    pub p99: u64,
    /// At any moment.
    pub max: u64,
    /// Operations whose completion is known, of 100.
    pub known_percent: f64,
    /// Mean of how long an operation took on the recorded device.
    pub latency_mean_ns: f64,
    /// The longest.
    pub latency_max_ns: u64,
}

/// Pauses between operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Idle {
    /// Pauses of a second or longer.
    pub gaps: u64,
    /// All of them together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// Where that begins.
    pub longest_at_ns: u64,
}

#[derive(Debug, Default)]
pub(super) struct Flight {
    operations: u64,
    known: u64,
    took_sum: u128,
    took_max: u64,
    ends: BinaryHeap<Reverse<u64>>,
    /// Time at each depth.
    at_depth: Vec<u64>,
    now: u64,
    deepest: u64,
    last: Option<u64>,
    idle: Idle,
}

impl Flight {
    #[inline]
    pub(super) fn add(&mut self, operation: &Operation) {
        let at = operation.at.0;
        let before = self.last.unwrap_or(0);
        if at - before >= PAUSE_NS {
            self.pause(before, at - before);
        }
        self.last = Some(at);
        self.operations += 1;
        if let Some(took) = operation.took {
            self.took(at, took.0);
        }
    }

    fn pause(&mut self, from: u64, length: u64) {
        self.idle.gaps += 1;
        self.idle.total_ns += length;
        if length > self.idle.longest_ns {
            (self.idle.longest_ns, self.idle.longest_at_ns) = (length, from);
        }
    }

    fn took(&mut self, at: u64, took: u64) {
        self.known += 1;
        self.took_sum += u128::from(took);
        self.took_max = self.took_max.max(took);
        self.pass(at);
        self.ends.push(Reverse(at.saturating_add(took)));
        self.deepest = self.deepest.max(self.ends.len() as u64);
    }

    /// Lets time pass up to a moment.
    fn pass(&mut self, until: u64) {
        while let Some(Reverse(end)) = self.ends.peek().copied() {
            if end > until {
                break;
            }
            self.stay(end);
            self.ends.pop();
        }
        self.stay(until);
    }

    fn stay(&mut self, until: u64) {
        let depth = self.ends.len().min(DEEPEST);
        if self.at_depth.len() <= depth {
            self.at_depth.resize(depth + 1, 0);
        }
        self.at_depth[depth] += until.saturating_sub(self.now);
        self.now = self.now.max(until);
    }

    pub(super) fn in_flight(&mut self) -> Option<InFlight> {
        if self.known == 0 {
            return None;
        }
        while let Some(Reverse(end)) = self.ends.peek().copied() {
            self.stay(end);
            self.ends.pop();
        }
        let all: u128 = self.at_depth.iter().map(|time| u128::from(*time)).sum();
        let mut sum = 0;
        let p99 = self.at_depth.iter().position(|time| {
            sum += u128::from(*time);
            sum * 100 >= all * 99
        });
        Some(InFlight {
            mean: self.took_sum as f64 / (all as f64).max(1.0),
            p99: p99.unwrap_or(0) as u64,
            max: self.deepest,
            known_percent: 100.0 * self.known as f64 / self.operations as f64,
            latency_mean_ns: self.took_sum as f64 / self.known as f64,
            latency_max_ns: self.took_max,
        })
    }

    pub(super) const fn idle(&self) -> Idle {
        self.idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;
    use blocklab_units::Nanos;

    #[test]
    fn two_operations_overlap_for_half_of_the_time() {
        let mut flight = Flight::default();
        for us in [0, 50] {
            flight.add(&Operation {
                took: Some(Nanos(100_000)),
                ..at(us)
            });
        }
        let found = flight.in_flight().expect("completions");
        assert!((found.mean - 200.0 / 150.0).abs() < 1e-9, "{found:?}");
        assert_eq!((found.max, found.p99), (2, 2));
    }
}
