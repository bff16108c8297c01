//! Which jobs share a thread, each by itself or a pool of them, and what each thread is made of: the
//! same on both clocks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use blocklab_worker::{
    Allowance, JobParts, PriorityTable, Recorder, RecorderSpec, Shares, Stopper, has_schedule,
};
use blocklab_workload::{BlockSizes, Direction, Job, Mix, SizeMix};

use super::TargetFile;
use super::workers::WorkerStatus;

/// The jobs of one thread, or of identical threads.
pub(super) struct ThreadGroup {
    /// What the thread opens and needs buffers for: the job, or all jobs of the pool in one.
    pub(super) job: Job,
    /// The indices of one job, or of all jobs of the pool.
    pub(super) jobs: Vec<usize>,
    /// The targets of all of them.
    pub(super) files: Vec<TargetFile>,
    /// Which of those belong to each job.
    own_files: Vec<Range<usize>>,
}

/// The groups of a run: one for each job that is in no pool, and one for each pool, where its first
/// job is.
pub(super) fn thread_groups(jobs: &[Job], targets: &[Vec<TargetFile>]) -> Vec<ThreadGroup> {
    let mut thread_groups: Vec<ThreadGroup> = Vec::new();
    let mut pools: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let pooled = job.pool.as_ref();
        if let Some(at) = pooled.and_then(|pooled| pools.get(&*pooled.pool)) {
            thread_groups[*at].join(job, index, &targets[index]);
            continue;
        }
        let mut own = job.clone();
        if let Some(pooled) = pooled {
            pools.insert(&pooled.pool, thread_groups.len());
            // The operations in flight are the pool's, not the job's, and one thread issues them all.
            (own.depth, own.threads) = (pooled.depth, 1);
        }
        let all_files = 0..targets[index].len();
        thread_groups.push(ThreadGroup {
            job: own,
            jobs: vec![index],
            files: targets[index].clone(),
            own_files: vec![all_files],
        });
    }
    thread_groups
}

impl ThreadGroup {
    /// Adds a job to the group of its pool: the group opens its targets and has buffers for its blocks.
    fn join(&mut self, job: &Job, index: usize, files: &[TargetFile]) {
        self.jobs.push(index);
        // Jobs of a pool often share targets. One whose targets are there in the same order uses them,
        // so that they are opened once. `windows` panics at 0.
        let known = self.files.windows(files.len().max(1));
        let at = known.enumerate().find(|(_, known)| {
            known
                .iter()
                .zip(files)
                .all(|(mine, other)| mine.path == other.path && mine.size == other.size)
        });
        let first = at.map_or(self.files.len(), |(at, _)| at);
        self.own_files.push(first..first + files.len());
        if first == self.files.len() {
            self.files.extend_from_slice(files);
        }
        // A job that writes to a target opens it for all.
        for (mine, other) in self.files[first..].iter_mut().zip(files) {
            mine.may_write |= other.may_write;
        }
        let mine = &mut self.job;
        // Each job draws by its own mix. This one says which directions the thread opens files and
        // has buffers for, so it only matters which shares are 0.
        mine.mix = Mix {
            read: mine.mix.read.max(job.mix.read),
            write: mine.mix.write.max(job.mix.write),
            trim: mine.mix.trim.max(job.mix.trim),
        };
        let largest = mine.sizes.largest().max(job.sizes.largest());
        let smallest = mine.sizes.smallest().min(job.sizes.smallest());
        let both = SizeMix(vec![(smallest, 1), (largest, 1)]);
        mine.sizes = BlockSizes {
            read: both.clone(),
            write: both.clone(),
            trim: both,
        };
    }
}

/// What each job may do of its group's work, until a thread takes it.
pub(super) struct Allowances {
    by_job: BTreeMap<usize, Allowance>,
}

impl Allowances {
    /// The allowances of all jobs that have a share in a group.
    pub(super) fn new(jobs: &[Job]) -> Self {
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
        Self { by_job: allowances }
    }

    /// The parts of the next thread of a group, and the status of its jobs for the results. A job with
    /// an allowance has one thread, which takes it. Threads that count together have one recorder,
    /// `common`.
    pub(super) fn take_for_thread(
        &mut self,
        group: &ThreadGroup,
        jobs: &[Job],
        stopper: &Arc<Stopper>,
        common: Option<&Arc<Recorder>>,
    ) -> (Vec<JobParts>, Vec<WorkerStatus>) {
        let own = group.jobs.iter().zip(&group.own_files);
        own.map(|(index, files)| {
            let job = &jobs[*index];
            let recorder = common.cloned().unwrap_or_else(|| {
                // All jobs of a pool have the window of the first.
                Arc::new(Recorder::new(recorder_spec(job, group.job.has_ramp())))
            });
            let parts = JobParts {
                job: job.clone(),
                files: files.clone(),
                recorder: Arc::clone(&recorder),
                allowance: self.by_job.remove(index),
            };
            (parts, WorkerStatus::new(*index, recorder, stopper))
        })
        .unzip()
    }
}

/// Which counters and distributions the recorder of a job needs, whose window has a `ramp` or not.
fn recorder_spec(job: &Job, ramp: bool) -> RecorderSpec {
    let flush = job.flush;
    let every = [flush.fsync_every, flush.fdatasync_every, flush.range_every];
    let flushes = flush.at_end || every.iter().any(|every| *every > 0);
    let [reads, writes, trims, syncs] = Direction::ALL.map(|direction| job.goes(direction));
    let submit = job.submit_latency && job.engine.is_asynchronous();
    RecorderSpec {
        directions: [
            reads || job.reads_back(),
            writes,
            trims || job.trim_first || job.trims_written(),
            syncs || flushes,
        ],
        response: has_schedule(job),
        submit,
        depths: job.measure.depths,
        log: job.log,
        replay: job.replay.clone(),
        ramp,
        // A job that only reads back is not counted by priority.
        by_priority: [(reads, Direction::Read), (writes, Direction::Write)].map(
            |(goes, direction)| PriorityTable::for_job(job, direction, submit).filter(|_| goes),
        ),
    }
}

#[cfg(test)]
mod tests {
    use blocklab_workload::Pooled;

    use super::*;

    /// The story: a pool of jobs that only write had fewer than 0 per cent of reads.
    #[test]
    fn a_pool_of_writers_has_no_reads() {
        let job = |name| Job {
            mix: Mix::WRITE,
            pool: Some(Pooled::new("pool", 4)),
            ..Job::new(name)
        };
        let groups = thread_groups(&[job("a"), job("b")], &[Vec::new(), Vec::new()]);
        let mix = groups[0].job.mix;
        assert_eq!((groups.len(), mix.read, mix.trim), (1, 0, 0));
        assert!(mix.write > 0);
    }
}
