//! Which of its writes a verifying worker trims before it reads them back.

use std::collections::VecDeque;

use blocklab_random::Stream;
use blocklab_workload::{Job, Trims};

/// Writes are chosen by chance when they come back, and trimmed in batches while the job goes on.
#[derive(Debug)]
pub(crate) struct Trimmer {
    rule: Trims,
    chance: Stream,
    /// Numbers of the chosen writes, in the order in which they came back.
    chosen: VecDeque<u64>,
    /// Writes that were not read back yet.
    waiting: u64,
    batch_left: u64,
}

impl Trimmer {
    pub(crate) fn of(job: &Job, seed: u64, thread: u32) -> Option<Self> {
        let rule = job.verify.as_ref()?.trims?;
        Some(Self {
            rule,
            chance: job.chance(seed, "trims", u64::from(thread)),
            chosen: VecDeque::new(),
            waiting: 0,
            batch_left: 0,
        })
    }

    /// A write came back, with this number.
    pub(crate) fn written(&mut self, number: u64) {
        self.waiting += 1;
        if self.chance.below(100) < u64::from(self.rule.percent) {
            self.chosen.push_back(number);
        }
        if self.waiting.is_multiple_of(self.rule.every) {
            self.batch_left = self.rule.batch;
        }
    }

    /// A write is being read back.
    pub(crate) fn checked(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// The next write to trim: its number, not below `first`. Those before were read back already.
    pub(crate) fn next(&mut self, first: u64) -> Option<u64> {
        while self.batch_left > 0 {
            self.batch_left -= 1;
            match self.chosen.pop_front() {
                Some(number) if number >= first => return Some(number),
                Some(_) => self.batch_left += 1,
                None => self.batch_left = 0,
            }
        }
        None
    }

    /// All that was written has been read back.
    pub(crate) fn forget(&mut self) {
        self.chosen.clear();
        self.waiting = 0;
        self.batch_left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmer(percent: u8, every: u64, batch: u64) -> Trimmer {
        Trimmer {
            rule: Trims {
                percent,
                every,
                batch,
            },
            chance: Stream::new(1, "trims", 0),
            chosen: VecDeque::new(),
            waiting: 0,
            batch_left: 0,
        }
    }

    fn all(trimmer: &mut Trimmer, first: u64) -> Vec<u64> {
        std::iter::from_fn(|| trimmer.next(first)).collect()
    }

    #[test]
    fn batches_begin_when_so_many_writes_wait() {
        let mut trimmer = trimmer(100, 4, 3);
        (0..3).for_each(|number| trimmer.written(number));
        assert!(all(&mut trimmer, 0).is_empty());
        trimmer.written(3);
        assert_eq!(all(&mut trimmer, 0), [0, 1, 2]);
        (4..8).for_each(|number| trimmer.written(number));
        assert_eq!(all(&mut trimmer, 0), [3, 4, 5]);
    }

    #[test]
    fn what_was_read_back_is_not_trimmed_any_more() {
        let mut trimmer = trimmer(100, 8, 3);
        (0..8).for_each(|number| trimmer.written(number));
        assert_eq!(all(&mut trimmer, 6), [6, 7]);
    }

    #[test]
    fn the_share_holds() {
        let mut trimmer = trimmer(30, 1, 1);
        let chosen = (0..10_000).filter(|number| {
            trimmer.written(*number);
            trimmer.next(0).is_some()
        });
        let chosen = chosen.count();
        assert!((2_800..3_200).contains(&chosen), "{chosen}");
    }
}
