//! In: when operations were issued and completed. Out: how many were in flight at a time, and the
//! pauses without operations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::Operation;

/// Pauses of at least this length are counted, because burst credits refill in them.
const PAUSE_NS: u64 = 1_000_000_000;

/// Number of operations in flight, for traces with completions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InFlight {
    /// Mean over time.
    pub mean: f64,
    /// At most this many for 99 % of the time.
    pub p99: u64,
    /// The most at any moment.
    pub max: u64,
    /// Share of the operations whose completion is known.
    pub known_percent: f64,
    /// Mean latency on the recorded device.
    pub latency_mean_ns: f64,
    /// The longest latency.
    pub latency_max_ns: u64,
}

/// Pauses between operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Idle {
    /// Number of pauses of a second or longer.
    pub gaps: u64,
    /// Their total length.
    pub total_ns: u64,
    /// Length of the longest.
    pub longest_ns: u64,
    /// Where the longest begins.
    pub longest_at_ns: u64,
}

/// Follows the number of operations in flight through the trace.
#[derive(Debug, Default)]
pub(super) struct Flight {
    operations: u64,
    /// Number of operations whose completion is known; sum and maximum of their latencies in ns.
    known: u64,
    latency_sum: u128,
    latency_max: u64,
    /// When the operations in flight end, in ns.
    ends: BinaryHeap<Reverse<u64>>,
    /// Time in ns at each depth.
    at_depth: Vec<u64>,
    /// The moment in ns up to which time is accounted for.
    now: u64,
    /// Most operations in flight at a time.
    deepest: u64,
    /// When the last operation was issued, in ns.
    last: Option<u64>,
    pub(super) idle: Idle,
}

impl Flight {
    /// Counts an operation. Operations come in the order in which they were issued.
    #[inline]
    pub(super) fn add(&mut self, operation: &Operation) {
        let at = operation.at.0;
        // A pause before the first operation counts as well.
        let before = self.last.unwrap_or(0);
        if at - before >= PAUSE_NS {
            self.add_pause(before, at - before);
        }
        self.last = Some(at);
        self.operations += 1;
        if let Some(took) = operation.took {
            self.add_latency(at, took.0);
        }
    }

    /// Counts a pause that begins at `from`, in ns.
    fn add_pause(&mut self, from: u64, length: u64) {
        self.idle.gaps += 1;
        self.idle.total_ns += length;
        if length > self.idle.longest_ns {
            (self.idle.longest_ns, self.idle.longest_at_ns) = (length, from);
        }
    }

    /// Counts an operation from its issue at `at` to its completion, `latency` later.
    fn add_latency(&mut self, at: u64, latency: u64) {
        self.known += 1;
        self.latency_sum += u128::from(latency);
        self.latency_max = self.latency_max.max(latency);
        self.advance(at);
        self.ends.push(Reverse(at.saturating_add(latency)));
        self.deepest = self.deepest.max(self.ends.len() as u64);
    }

    /// Accounts for the time up to a moment, and removes the operations that have ended by then.
    fn advance(&mut self, until: u64) {
        while let Some(Reverse(end)) = self.ends.peek().copied() {
            if end > until {
                break;
            }
            self.add_time_up_to(end);
            self.ends.pop();
        }
        self.add_time_up_to(until);
    }

    /// Adds the time up to a moment, in which no operation ends, to the current depth.
    fn add_time_up_to(&mut self, until: u64) {
        let depth = self.ends.len();
        if self.at_depth.len() <= depth {
            self.at_depth.resize(depth + 1, 0);
        }
        self.at_depth[depth] += until.saturating_sub(self.now);
        self.now = self.now.max(until);
    }

    /// The result at the end of the trace; `None` without completions.
    pub(super) fn in_flight(&mut self) -> Option<InFlight> {
        if self.known == 0 {
            return None;
        }
        // What is still in flight at the last operation ends after it.
        while let Some(Reverse(end)) = self.ends.peek().copied() {
            self.add_time_up_to(end);
            self.ends.pop();
        }
        let all: u128 = self.at_depth.iter().map(|time| u128::from(*time)).sum();
        let mut sum = 0;
        let p99 = self.at_depth.iter().position(|time| {
            sum += u128::from(*time);
            sum * 100 >= all * 99
        });
        Some(InFlight {
            // Little's law: time in flight of all operations by the time of the trace.
            mean: self.latency_sum as f64 / (all as f64).max(1.0),
            p99: p99.unwrap_or(0) as u64,
            max: self.deepest,
            known_percent: 100.0 * self.known as f64 / self.operations as f64,
            latency_mean_ns: self.latency_sum as f64 / self.known as f64,
            latency_max_ns: self.latency_max,
        })
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

    /// The story: depths from 4,096 on were counted together, and 5,000 operations that were in flight all
    /// the time were at most 4,096 for 99 % of it.
    #[test]
    fn a_deep_queue_has_its_own_depth() {
        let mut flight = Flight::default();
        for _ in 0..5000 {
            flight.add(&Operation {
                took: Some(Nanos(100_000)),
                ..at(0)
            });
        }
        let found = flight.in_flight().expect("completions");
        assert_eq!((found.max, found.p99), (5000, 5000));
    }
}
