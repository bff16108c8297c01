//! In: the completed writes of a verifying worker. Out: those that it trims before it reads them
//! back.

use std::collections::VecDeque;

use blocklab_workload::{Job, Trims};

/// Chooses completed writes at even distances, from a random start, so that the share also holds for
/// a few of them. They are trimmed in batches while the job runs, and the rest at its end.
#[derive(Debug)]
pub(crate) struct Trimmer {
    rule: Trims,
    /// Per cent of a trim that the writes since the last chosen one have accumulated.
    credit: u64,
    /// Numbers of the chosen writes, in the order of completion.
    chosen: VecDeque<u64>,
    /// Writes that have not been read back yet.
    waiting: u64,
    /// Trims that the batch under way may still have.
    batch_left: u64,
}

impl Trimmer {
    /// The trimmer of a thread of a job; `None`: the job trims nothing that it verifies.
    pub(crate) fn for_job(job: &Job, seed: u64, thread: u32) -> Option<Self> {
        let rule = job.verify.as_ref()?.trims?;
        Some(Self {
            rule,
            // A random part of a trim, so that threads with few writes do not all choose none.
            credit: job.chance(seed, "trims", u64::from(thread)).below(100),
            chosen: VecDeque::new(),
            waiting: 0,
            batch_left: 0,
        })
    }

    /// The write of this number has completed.
    pub(crate) fn written(&mut self, number: u64) {
        self.waiting += 1;
        self.credit += u64::from(self.rule.percent);
        if self.credit >= 100 {
            self.credit -= 100;
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

    /// The number of the next write to trim; `None` if no batch is under way. Those below `first` have
    /// been read back already.
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

    /// Takes the next chosen write from `first` to before `end`. Those are read back next, so it is
    /// trimmed now, whatever the batches say.
    pub(crate) fn take_between(&mut self, first: u64, end: u64) -> Option<u64> {
        let chosen = self.chosen.iter();
        let at = chosen
            .take_while(|number| **number < end)
            .position(|number| *number >= first)?;
        self.chosen.drain(..=at).next_back()
    }

    /// All that was written has been read back.
    pub(crate) fn clear(&mut self) {
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
            credit: 0,
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
        let chosen = (0..100).filter(|number| {
            trimmer.written(*number);
            trimmer.next(0).is_some()
        });
        assert_eq!(chosen.count(), 30);
    }

    /// Of 64 writes with `trim_percentage=50` 21 to 27 were trimmed: they were drawn one by one,
    /// and those of the last batch were left out.
    #[test]
    fn what_is_chosen_is_trimmed_at_the_end() {
        let mut trimmer = trimmer(50, 16, 4);
        (0..64).for_each(|number| trimmer.written(number));
        let in_time = all(&mut trimmer, 0);
        let late: Vec<u64> = std::iter::from_fn(|| trimmer.take_between(0, u64::MAX)).collect();
        assert_eq!(in_time.len() + late.len(), 32);
        assert!(in_time.last() < late.first());
        assert_eq!(trimmer.take_between(0, u64::MAX), None);
    }
}
