//! In: the targets of a job that works on a few of them at a time. Out: the target of the next
//! operation.

use blocklab_random::Stream;

use crate::{Job, Pattern, Spread, TargetOrder};

/// The open targets. A target is opened when its turn comes and fewer than `most` are open, and
/// closed when the pass has covered it. While `most` are open, the turns of others are skipped.
///
/// That a target is covered is noticed at its next turn and not after its last operation, and no
/// other one takes its place before that. fio does the same with `openfiles`.
#[derive(Debug, Clone)]
pub(crate) struct Few {
    count: usize,
    most: usize,
    at_random: bool,
    /// Sorted.
    open: Vec<usize>,
    /// The places that the pass has not reached yet, sorted.
    waiting: Vec<usize>,
}

impl Few {
    /// `None` if all targets are open at once, if the order alone decides which one is next, or if
    /// the places do not show when a pass has covered a target.
    pub(crate) fn for_job(job: &Job, order: TargetOrder, count: usize) -> Option<Self> {
        let most = job.open_targets? as usize;
        let is_even = matches!(order, TargetOrder::RoundRobin | TargetOrder::Random);
        let shows = job.runs.is_none()
            && job.window.is_none()
            && job.region.spread == Spread::Same
            && !matches!(job.pattern, Pattern::Strided { .. });
        (most < count && is_even && shows).then(|| Self {
            count,
            most,
            at_random: order == TargetOrder::Random,
            open: Vec::with_capacity(most),
            waiting: (0..count).collect(),
        })
    }

    /// The next one after `current`, or one at random; `None` when the pass has covered all. Never
    /// inlined, to keep it out of the code of jobs that work on all targets.
    #[inline(never)]
    pub(crate) fn next(&mut self, current: usize, chance: &mut Stream) -> Option<usize> {
        let waiting = if self.open.len() < self.most {
            &self.waiting[..]
        } else {
            &[]
        };
        let next = if self.at_random {
            let all = self.open.len() + waiting.len();
            let at = (all > 0).then(|| chance.below(all as u64) as usize)?;
            let open = self.open.get(at);
            open.copied()
                .unwrap_or_else(|| waiting[at - self.open.len()])
        } else {
            [after(&self.open, current), after(waiting, current)]
                .into_iter()
                .flatten()
                .min_by_key(|target| (target + self.count - current - 1) % self.count)?
        };
        if let Err(place) = self.open.binary_search(&next) {
            self.open.insert(place, next);
            self.waiting.retain(|target| *target != next);
        }
        Some(next)
    }

    /// Closes a target that the pass has covered.
    pub(crate) fn close(&mut self, target: usize) {
        self.open.retain(|open| *open != target);
    }

    /// Begins a new pass over all targets.
    pub(crate) fn begin_again(&mut self) {
        self.open.clear();
        self.waiting = (0..self.count).collect();
    }
}

/// The first of them after `current`, and after the last one the first again.
fn after(sorted: &[usize], current: usize) -> Option<usize> {
    let place = sorted.partition_point(|target| *target <= current);
    sorted.get(place).or(sorted.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mix, Region, Requests, Stop};
    use blocklab_units::Bytes;

    const BLOCK: u64 = 4096;

    fn job(target_order: TargetOrder, pattern: Pattern) -> Job {
        Job {
            open_targets: Some(2),
            target_order,
            pattern,
            stop: Stop::after_bytes(Bytes(1 << 30)),
            region: Region {
                spread: Spread::Same,
                ..Region::default()
            },
            ..Job::new("few")
        }
    }

    /// Targets of this many blocks each, and the first `n` that are named.
    fn named(job: &Job, blocks: &[u64], n: usize) -> Vec<u32> {
        let sizes: Vec<u64> = blocks.iter().map(|blocks| blocks * BLOCK).collect();
        let mut requests = Requests::new(job, 7, 0, &sizes).unwrap();
        (0..n).map(|_| requests.next_request().target).collect()
    }

    /// All files took turns whatever `openfiles` said. These are the orders of fio 3.33, as its
    /// `write_iolog` shows them: of files of 1, 2, 2, 4 and 4 blocks, the second has its turn before
    /// fio sees that the first has no block left.
    #[test]
    fn a_target_is_begun_when_a_pass_is_through_with_one() {
        let sequential = job(TargetOrder::RoundRobin, Pattern::Sequential);
        let pass = [0, 1, 1, 2, 2, 3, 3, 4, 3, 4, 3, 4, 4];
        assert_eq!(named(&sequential, &[1, 2, 2, 4, 4], 13), pass);
        assert_eq!(
            named(&sequential, &[2, 2, 2, 2], 10),
            [0, 1, 0, 1, 2, 3, 2, 3, 0, 1]
        );
        let longer = Job {
            target_turn: 2,
            ..sequential.clone()
        };
        assert_eq!(
            named(&longer, &[4, 4, 4], 12),
            [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 2]
        );
        // The story: a turn that a target's end cut short went on in the next pass, which began with
        // the last target again.
        let too_long = Job {
            open_targets: Some(1),
            target_turn: 4,
            ..sequential
        };
        assert_eq!(named(&too_long, &[2, 2, 2], 8), [0, 0, 1, 1, 2, 2, 0, 0]);
        let once = Pattern::RANDOM_ONCE;
        let random = job(TargetOrder::RoundRobin, once);
        assert_eq!(named(&random, &[1, 2, 2, 4, 4], 13), pass);
        // Who may come back to a block is never through.
        let endless = job(TargetOrder::RoundRobin, Pattern::RANDOM);
        assert_eq!(named(&endless, &[2, 2, 2], 8), [0, 1, 0, 1, 0, 1, 0, 1]);
    }

    /// In a mix where each direction has its own position, the direction that comes next decides.
    #[test]
    fn a_target_is_through_where_the_next_direction_is() {
        let mixed = Job {
            open_targets: Some(1),
            mix: Mix::reads(50),
            per_direction_position: true,
            ..job(TargetOrder::RoundRobin, Pattern::Sequential)
        };
        let order = named(&mixed, &[2, 2, 2], 6);
        assert!(order.is_sorted(), "{order:?}");
        assert_eq!(order[5], *order.iter().max().unwrap());
        assert!(order[5] > 0, "{order:?}");
    }

    #[test]
    fn at_random_only_so_many_are_mixed() {
        let once = Pattern::RANDOM_ONCE;
        let order = named(&job(TargetOrder::Random, once), &[3; 40], 120);
        let mut begun: Vec<u32> = Vec::new();
        for (at, target) in order.iter().enumerate() {
            if !begun.contains(target) {
                begun.push(*target);
            }
            let left = |target: &&u32| order[at..].contains(*target);
            assert!(begun.iter().filter(left).count() <= 2, "{order:?}");
        }
        assert_eq!(begun.len(), 40);
        assert!(!begun.is_sorted(), "{begun:?}");
    }

    /// Where it does not show when a pass is through, all take turns: otherwise the later ones never
    /// would.
    #[test]
    fn none_is_left_out() {
        let strided = Pattern::Strided {
            stride: Bytes(2 * BLOCK),
        };
        let job = job(TargetOrder::RoundRobin, strided);
        assert_eq!(named(&job, &[8, 8, 8], 6), [0, 1, 2, 0, 1, 2]);
    }
}
