//! Which jobs share a thread: each by itself, or a pool of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use blocklab_units::Nanos;
use blocklab_workload::{BlockSizes, Job, Mix, SizeMix};

use super::TargetFile;
use super::wanted::wanted;
use super::workers::WorkerStatus;
use blocklab_worker::PoolJobParts;
use blocklab_worker::Stopper;
use blocklab_worker::{Allowance, Shares};
use blocklab_worker::{Recorder, Wanted};

/// The jobs of one thread, or of identical threads.
pub(super) struct ThreadGroup {
    /// What the thread opens and needs buffers for: the job, or all of the pool in one.
    pub(super) job: Job,
    /// The first of them.
    pub(super) index: usize,
    /// All jobs of the pool; empty of a job by itself.
    pub(super) pool_jobs: Vec<usize>,
    /// The targets of all of them.
    pub(super) files: Vec<TargetFile>,
    /// By pool_job: which of those are its own.
    own_files: Vec<Range<usize>>,
}

/// In the order of the jobs.
pub(super) fn thread_groups(jobs: &[Job], targets: &[Vec<TargetFile>]) -> Vec<ThreadGroup> {
    let mut thread_groups: Vec<ThreadGroup> = Vec::new();
    let mut pools: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let Some(pooled) = &job.pool else {
            thread_groups.push(ThreadGroup {
                job: job.clone(),
                index,
                pool_jobs: Vec::new(),
                files: targets[index].clone(),
                own_files: Vec::new(),
            });
            continue;
        };
        match pools.get(&*pooled.pool) {
            Some(at) => thread_groups[*at].join(job, index, &targets[index]),
            None => {
                let all_files = 0..targets[index].len();
                pools.insert(&pooled.pool, thread_groups.len());
                thread_groups.push(ThreadGroup {
                    job: Job {
                        depth: pooled.depth,
                        threads: 1,
                        ..job.clone()
                    },
                    index,
                    pool_jobs: vec![index],
                    files: targets[index].clone(),
                    own_files: vec![all_files],
                });
            }
        }
    }
    thread_groups
}

impl ThreadGroup {
    fn join(&mut self, job: &Job, index: usize, files: &[TargetFile]) {
        self.pool_jobs.push(index);
        let alike = |(mine, other): (&TargetFile, &TargetFile)| {
            mine.path == other.path && mine.size == other.size
        };
        let known = self.files.windows(files.len().max(1));
        let at = known
            .enumerate()
            .find(|(_, known)| known.iter().zip(files).all(alike));
        let first = at.map_or(self.files.len(), |(at, _)| at);
        self.own_files.push(first..first + files.len());
        if first == self.files.len() {
            self.files.extend_from_slice(files);
        }
        // Whoever writes to it opens it for all.
        for (mine, other) in self.files[first..].iter_mut().zip(files) {
            mine.may_write |= other.may_write;
        }
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

    /// The pool_jobs of a pool, and who they are to the results.
    pub(super) fn pool_jobs(
        &mut self,
        group: &ThreadGroup,
        jobs: &[Job],
        stopper: &Arc<Stopper>,
    ) -> (Vec<PoolJobParts>, Vec<WorkerStatus>) {
        let mut members = Vec::new();
        let mut pool_jobs = Vec::new();
        for (index, files) in group.pool_jobs.iter().zip(&group.own_files) {
            let job = &jobs[*index];
            let recorder = Arc::new(Recorder::new(Wanted {
                // All pool_jobs have the window of the first.
                ramp: group.job.ramp > Nanos::ZERO,
                ..wanted(job)
            }));
            members.push(WorkerStatus {
                job: *index,
                recorder: Arc::clone(&recorder),
                stopper: Arc::clone(stopper),
                ended: None,
            });
            pool_jobs.push(PoolJobParts {
                job: job.clone(),
                files: files.clone(),
                recorder,
                allowance: self.0.remove(index),
            });
        }
        (pool_jobs, members)
    }
}
