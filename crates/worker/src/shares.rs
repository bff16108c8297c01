//! In: the operations of a group of jobs with weights. Out: whether a job may begin one more, without
//! a lock.
//!
//! Each member counts its operations in units of its weight, and may run only a little ahead of the
//! one that is furthest behind: the slowest member sets the pace of all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Operations of all members of a group.
#[derive(Debug)]
pub struct Shares {
    counts: Vec<AtomicU64>,
    /// Weight of each member, normalized so that the largest is 1.
    weights: Vec<f64>,
}

/// The count of a member that has left, for which the others need not wait.
const LEFT: u64 = u64::MAX;
/// How far ahead a member may be, in operations of the largest share: few in comparison with any run,
/// and enough to hide the cost of reading the counts of all members.
const AHEAD: f64 = 64.0;

impl Shares {
    /// Shares by the members' weights, which are above 0.
    pub fn new(weights: &[f64]) -> Arc<Self> {
        let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        Arc::new(Self {
            counts: weights.iter().map(|_| AtomicU64::new(0)).collect(),
            weights: weights
                .iter()
                .map(|weight| (weight / largest).max(1e-9))
                .collect(),
        })
    }

    /// The progress of the member that is furthest behind.
    fn least_progress(&self) -> f64 {
        let members = self.counts.iter().zip(&self.weights);
        let active = members.filter_map(|(count, weight)| match count.load(Relaxed) {
            LEFT => None,
            count => Some(count as f64 / weight),
        });
        active.fold(f64::INFINITY, f64::min)
    }
}

/// The operations that one member may still begin.
#[derive(Debug)]
pub struct Allowance {
    shares: Arc<Shares>,
    member: usize,
    count: u64,
    /// Up to this count, the other members need not be read.
    until: u64,
}

impl Allowance {
    /// The share of one member.
    pub const fn new(shares: Arc<Shares>, member: usize) -> Self {
        Self {
            shares,
            member,
            count: 0,
            until: 0,
        }
    }

    /// Whether one more operation would not run ahead.
    #[inline]
    pub(crate) fn permits(&mut self) -> bool {
        self.count < self.until || self.extend()
    }

    /// Raises `until` by what the others have done since, and returns whether that permits one more.
    #[cold]
    fn extend(&mut self) -> bool {
        let most = (self.shares.least_progress() + AHEAD) * self.shares.weights[self.member];
        // Rounded up, so that even the smallest share may begin one operation.
        self.until = most.ceil() as u64;
        self.count < self.until
    }

    /// Counts an operation that has begun.
    #[inline]
    pub(crate) fn used(&mut self) {
        self.count += 1;
        self.shares.counts[self.member].store(self.count, Relaxed);
    }

    /// The member begins no more operations.
    pub(crate) fn leave(&self) {
        self.shares.counts[self.member].store(LEFT, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_runs_ahead_of_the_slowest() {
        let shares = Shares::new(&[75.0, 25.0]);
        let mut fast = Allowance::new(Arc::clone(&shares), 0);
        let mut slow = Allowance::new(Arc::clone(&shares), 1);
        let mut done = 0;
        for _ in 0..100 {
            while fast.permits() {
                fast.used();
                done += 1;
            }
            assert!(slow.permits());
            slow.used();
        }
        // Before the last of 100 operations of a third of the share: 297, and the head start.
        assert_eq!(done, 297 + 64);
        slow.leave();
        (0..10_000).for_each(|_| {
            assert!(fast.permits());
            fast.used();
        });
    }
}
