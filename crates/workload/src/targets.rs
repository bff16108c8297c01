//! In: the order over a job's targets. Out: the target of the next operation of one thread.

use blocklab_random::{Stream, Zipf};

use crate::few::Few;
use crate::skew::Skew;
use crate::{Job, Spread, TargetOrder};

/// The order over the targets of one thread.
#[derive(Debug, Clone)]
pub(crate) struct Targets {
    law: Law,
    count: usize,
    current: usize,
    /// Operations on a target before the next one is drawn.
    turn: u32,
    /// How many of them are left.
    left: u32,
    /// Whether a target that the pass has covered waits until all others are covered.
    finishes: bool,
    chance: Stream,
}

#[derive(Debug, Clone)]
enum Law {
    /// Always the same.
    Fixed,
    InTurn,
    Uniform,
    /// In turn or at random, a few targets at a time.
    OfFew(Box<Few>),
    OneByOne {
        /// Length of each target's region, in bytes.
        lengths: Vec<u64>,
        /// The bytes left in the current one.
        left: u64,
    },
    /// `first` is the target of the index 0.
    Skewed {
        skew: Skew,
        first: usize,
    },
}

impl Targets {
    /// `lengths` are the bytes of each target's region.
    pub(crate) fn new(job: &Job, thread: u32, lengths: Vec<u64>, chance: Stream) -> Self {
        let count = lengths.len();
        let first = (job.target_center.unwrap_or(0.0) * count as f64) as usize;
        let law = match job.target_order {
            _ if count <= 1 => Law::Fixed,
            TargetOrder::PerThread => Law::Fixed,
            order if let Some(few) = Few::for_job(job, order, count) => Law::OfFew(Box::new(few)),
            TargetOrder::RoundRobin => Law::InTurn,
            TargetOrder::Random => Law::Uniform,
            TargetOrder::OneByOne => {
                let left = lengths.first().copied().unwrap_or(0);
                Law::OneByOne { lengths, left }
            }
            TargetOrder::Zipf { theta } => Law::Skewed {
                skew: Skew::Zipf(Zipf::new(count as u64, theta)),
                first,
            },
            TargetOrder::Pareto { h } => Law::Skewed {
                skew: Skew::pareto(h),
                first,
            },
            TargetOrder::Normal { deviation_percent } => Law::Skewed {
                skew: Skew::Normal {
                    deviation: deviation_percent / 100.0,
                    middle: job.target_center.unwrap_or(0.5),
                },
                first: 0,
            },
        };
        // A job that ends by time alone begins a covered target again at once.
        let ends = job.stop.bytes.is_some() || job.stop.loops.is_some();
        let is_even = matches!(law, Law::InTurn | Law::Uniform);
        let is_few = matches!(law, Law::OfFew(_));
        let current = match job.target_order {
            TargetOrder::PerThread => thread as usize % count.max(1),
            // The first call moves on to the first target.
            TargetOrder::RoundRobin => count.saturating_sub(1),
            _ => 0,
        };
        Self {
            law,
            count,
            current,
            turn: job.target_turn,
            left: 0,
            finishes: is_few || is_even && ends && job.region.spread == Spread::Same,
            chance,
        }
    }

    /// The target, if it is always the same.
    pub(crate) fn only(&self) -> Option<usize> {
        matches!(self.law, Law::Fixed).then_some(self.current)
    }

    /// Whether a target that the pass has covered waits for the others.
    pub(crate) const fn finishes(&self) -> bool {
        self.finishes
    }

    /// Whether the job works on few targets at a time.
    pub(crate) const fn are_few(&self) -> bool {
        matches!(self.law, Law::OfFew(_))
    }

    /// Begins a new pass over all targets, for a job that works on few at a time.
    pub(crate) fn begin_again(&mut self) {
        if let Law::OfFew(few) = &mut self.law {
            few.begin_again();
            // The turn that the old pass left unfinished is none of a target that is open now.
            self.left = 0;
        }
    }

    /// Closes a target that the pass has covered, and gives the next one; `None` if it has covered
    /// all. Only for a job that works on few at a time.
    pub(crate) fn after(&mut self, target: usize) -> Option<usize> {
        let Law::OfFew(few) = &mut self.law else {
            return None;
        };
        few.close(target);
        let next = few.next(target, &mut self.chance)?;
        self.turn_to(next);
        Some(next)
    }

    /// Makes this the current target, at the beginning of its turn.
    pub(crate) const fn turn_to(&mut self, target: usize) {
        self.current = target;
        self.left = self.turn - 1;
    }

    /// The index of the target of the next operation, which has about `len` bytes.
    #[inline]
    pub(crate) fn next(&mut self, len: u32) -> usize {
        match self.law {
            Law::Fixed => self.current,
            _ => self.choose(len),
        }
    }

    /// As [`Targets::next`], by any law that draws.
    fn choose(&mut self, len: u32) -> usize {
        if self.left > 0 {
            self.left -= 1;
            return self.current;
        }
        self.left = self.turn - 1;
        let count = self.count as u64;
        self.current = match &mut self.law {
            Law::Fixed => self.current,
            Law::InTurn => (self.current + 1) % self.count,
            Law::Uniform => self.chance.below(count) as usize,
            Law::OfFew(few) => (few.next(self.current, &mut self.chance)).unwrap_or(self.current),
            Law::Skewed { skew, first } => {
                (skew.draw(count, &mut self.chance) as usize + *first) % self.count
            }
            Law::OneByOne { lengths, left } => {
                // Here a target's turn is counted in bytes.
                self.left = 0;
                let mut current = self.current;
                if *left < u64::from(len) {
                    current = (current + 1) % self.count;
                    *left = lengths[current];
                }
                *left = left.saturating_sub(u64::from(len));
                current
            }
        };
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(target_order: TargetOrder, target_turn: u32, n: usize) -> Vec<usize> {
        let job = Job {
            target_order,
            target_turn,
            ..Job::new("order")
        };
        let mut targets = Targets::new(&job, 0, vec![8192; 4], Stream::new(1, "targets", 0));
        (0..n).map(|_| targets.next(4096)).collect()
    }

    #[test]
    fn turns_may_be_longer_than_one() {
        assert_eq!(order(TargetOrder::RoundRobin, 1, 5), [0, 1, 2, 3, 0]);
        assert_eq!(order(TargetOrder::RoundRobin, 2, 5), [0, 0, 1, 1, 2]);
        let random = order(TargetOrder::Random, 3, 300);
        assert!(
            random
                .chunks(3)
                .all(|turn| turn.iter().all(|t| *t == turn[0]))
        );
    }

    /// The story: the targets of a job without any, in turn, counted down from 0.
    #[test]
    fn a_job_without_targets_has_none_in_turn() {
        let job = Job {
            target_order: TargetOrder::RoundRobin,
            ..Job::new("nothing")
        };
        let targets = Targets::new(&job, 0, Vec::new(), Stream::new(1, "targets", 0));
        assert_eq!(targets.current, 0);
    }

    #[test]
    fn one_by_one_finishes_each() {
        assert_eq!(order(TargetOrder::OneByOne, 1, 6), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn laws_prefer_some_targets() {
        let hits = |order_by| {
            let chosen = order(order_by, 1, 4000);
            [0, 1, 2, 3].map(|target| chosen.iter().filter(|t| **t == target).count())
        };
        let zipf = hits(TargetOrder::Zipf { theta: 1.2 });
        assert!(zipf.is_sorted_by(|a, b| a > b), "{zipf:?}");
        let pareto = hits(TargetOrder::Pareto { h: 0.2 });
        assert!(pareto[0] > 2 * pareto[1], "{pareto:?}");
        let normal = hits(TargetOrder::Normal {
            deviation_percent: 10.0,
        });
        assert!(normal[1] + normal[2] > 3800, "{normal:?}");
    }
}
