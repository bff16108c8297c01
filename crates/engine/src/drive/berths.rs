//! Which jobs share a thread: each by itself, or a pool of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklab_workload::{BlockSizes, Job, Mix, SizeMix};

use super::crew::wanted;
use super::roster::Member;
use crate::bounds::Stopper;
use crate::pool::LaneParts;
use crate::recorder::Recorder;
use crate::shares::{Allowance, Shares};

/// The jobs of one thread, or of identical threads.
pub(super) struct Berth {
    /// What the thread opens and needs buffers for: the job, or all of the pool in one.
    pub(super) job: Job,
    /// The first of them.
    pub(super) index: usize,
    /// All jobs of the pool; empty of a job by itself.
    pub(super) lanes: Vec<usize>,
}

/// In the order of the jobs.
pub(super) fn berths(jobs: &[Job]) -> Vec<Berth> {
    let mut berths: Vec<Berth> = Vec::new();
    let mut pools: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let Some(pooled) = &job.pool else {
            berths.push(Berth {
                job: job.clone(),
                index,
                lanes: Vec::new(),
            });
            continue;
        };
        match pools.get(&*pooled.pool) {
            Some(at) => berths[*at].join(job, index),
            None => {
                pools.insert(&pooled.pool, berths.len());
                berths.push(Berth {
                    job: Job {
                        depth: pooled.depth,
                        threads: 1,
                        ..job.clone()
                    },
                    index,
                    lanes: vec![index],
                });
            }
        }
    }
    berths
}

impl Berth {
    fn join(&mut self, job: &Job, index: usize) {
        self.lanes.push(index);
        let mine = &mut self.job;
        let any = |both: [u8; 2]| u8::from(both.iter().any(|share| *share > 0));
        let read = any([mine.mix.read, job.mix.read]);
        let write = any([mine.mix.write, job.mix.write]);
        let trim = any([mine.mix.trim, job.mix.trim]);
        // The shares do not matter, only what there is.
        mine.mix = Mix {
            read: 100 * read - write - trim,
            write,
            trim,
        };
        let largest = mine.sizes.largest().max(job.sizes.largest());
        let smallest = mine.sizes.smallest().min(job.sizes.smallest());
        let both = SizeMix(vec![(smallest, 1), (largest, 1)]);
        mine.sizes = BlockSizes {
            read: both.clone(),
            write: both.clone(),
            trim: both,
        };
        mine.flush.at_end |= job.flush.at_end;
    }
}

/// By job: what it may do of its group's work.
pub(super) struct Groups(BTreeMap<usize, Allowance>);

impl Groups {
    pub(super) fn of(jobs: &[Job]) -> Self {
        let mut members: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
        for (index, job) in jobs.iter().enumerate() {
            if let Some(share) = job.pool.as_ref().and_then(|pooled| pooled.share) {
                members
                    .entry(share.group)
                    .or_default()
                    .push((index, share.weight));
            }
        }
        let mut allowances = BTreeMap::new();
        for group in members.into_values() {
            let weights: Vec<f64> = group.iter().map(|(_, weight)| *weight).collect();
            let shares = Shares::new(&weights);
            for (member, (index, _)) in group.into_iter().enumerate() {
                allowances.insert(index, Allowance::new(Arc::clone(&shares), member));
            }
        }
        Self(allowances)
    }

    /// The lanes of a pool, and who they are to the results.
    pub(super) fn lanes(
        &mut self,
        berth: &Berth,
        jobs: &[Job],
        stopper: &Arc<Stopper>,
    ) -> (Vec<LaneParts>, Vec<Member>) {
        let mut members = Vec::new();
        let mut lanes = Vec::new();
        for index in &berth.lanes {
            let job = &jobs[*index];
            let recorder = Arc::new(Recorder::new(wanted(job)));
            let warm = Arc::new(Recorder::new(wanted(job)));
            members.push(Member {
                job: *index,
                recorder: Arc::clone(&recorder),
                warm: Some(Arc::clone(&warm)),
                stopper: Arc::clone(stopper),
                ended: None,
            });
            lanes.push(LaneParts {
                job: job.clone(),
                recorder,
                warm,
                allowance: self.0.remove(index),
            });
        }
        (lanes, members)
    }
}
