//! In: the operations that jobs of a flow issue. Out: whether a job is ahead of its weight and has to
//! wait for the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use blocklab_units::Nanos;
use blocklab_workload::{Flow, Job};

/// The jobs of all flows.
#[derive(Debug, Default)]
pub struct Flows {
    jobs: Vec<FlowJob>,
}

/// One job of a flow.
#[derive(Debug)]
struct FlowJob {
    name: String,
    flow: Flow,
    progress: Arc<JobProgress>,
}

/// What a job of a flow has done.
#[derive(Debug, Default)]
struct JobProgress {
    /// Operations that it has issued.
    operations: AtomicU64,
    /// Threads of the job that have not ended.
    threads: AtomicU32,
}

impl Flows {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        let jobs = jobs.iter().filter_map(|job| {
            Some(FlowJob {
                name: job.name.clone(),
                flow: job.flow?,
                progress: Arc::default(),
            })
        });
        Self {
            jobs: jobs.collect(),
        }
    }

    /// Counts one more thread of a job, and gives it its part in the job's flow; `None` for a job of
    /// no flow.
    pub(crate) fn join(&self, job: &Job) -> Option<FlowMember> {
        let flow = job.flow?;
        let group = self
            .jobs
            .iter()
            .filter(|other| other.flow.group == flow.group);
        let (mine, others): (Vec<_>, Vec<_>) = group.partition(|other| other.name == job.name);
        let mine = &mine.first()?.progress;
        mine.threads.fetch_add(1, Relaxed);
        Some(FlowMember {
            weight: u64::from(flow.weight),
            // Without a pause, virtual time would not advance while a job waits for the others.
            pause: flow.pause.max(Nanos(1_000)),
            mine: Arc::clone(mine),
            others: others
                .into_iter()
                .map(|other| (u64::from(other.flow.weight), Arc::clone(&other.progress)))
                .collect(),
        })
    }
}

/// The part of one worker in a flow.
#[derive(Debug)]
pub(crate) struct FlowMember {
    weight: u64,
    pub(crate) pause: Nanos,
    mine: Arc<JobProgress>,
    /// The other jobs of the flow, with their weights.
    others: Vec<(u64, Arc<JobProgress>)>,
}

impl FlowMember {
    /// Whether another job that still runs has issued less in proportion to its weight.
    pub(crate) fn is_ahead(&self) -> bool {
        // Relaxed: a count that is read a moment late changes the order of a few operations only.
        let mine = self.mine.operations.load(Relaxed);
        self.others.iter().any(|(weight, other)| {
            let working = other.threads.load(Relaxed) > 0;
            working && mine * weight > other.operations.load(Relaxed) * self.weight
        })
    }

    /// Counts an operation that was issued.
    pub(crate) fn issued(&self) {
        self.mine.operations.fetch_add(1, Relaxed);
    }
}

impl Drop for FlowMember {
    fn drop(&mut self) {
        self.mine.threads.fetch_sub(1, Relaxed);
    }
}
