//! In: the operations that jobs of a flow issue. Out: whether a job is ahead of its weight and has to
//! wait for the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use blocklab_units::Nanos;
use blocklab_workload::{Flow, Job};

/// The operations that the jobs of all flows have issued.
#[derive(Debug, Default)]
pub struct Flows(Vec<(String, Flow, Arc<Moved>)>);

/// One job of a flow.
#[derive(Debug, Default)]
struct Moved {
    operations: AtomicU64,
    /// Threads of the job that have not ended.
    threads: AtomicU32,
}

impl Flows {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        Self(
            jobs.iter()
                .filter_map(|job| Some((job.name.clone(), job.flow?, Arc::default())))
                .collect(),
        )
    }

    pub(crate) fn share(&self, job: &Job) -> Option<Share> {
        let flow = job.flow?;
        let group = self
            .0
            .iter()
            .filter(|(_, other, _)| other.group == flow.group);
        let (mine, others): (Vec<_>, Vec<_>) = group.partition(|(name, ..)| *name == job.name);
        let (_, _, moved) = mine.into_iter().next()?;
        moved.threads.fetch_add(1, Relaxed);
        Some(Share {
            weight: u64::from(flow.weight),
            // Without a pause, virtual time would not advance while a job waits for the others.
            pause: flow.pause.max(Nanos(1_000)),
            mine: Arc::clone(moved),
            others: others
                .into_iter()
                .map(|(_, flow, moved)| (u64::from(flow.weight), Arc::clone(moved)))
                .collect(),
        })
    }
}

/// The part of one worker in a flow.
#[derive(Debug)]
pub(crate) struct Share {
    weight: u64,
    pub(crate) pause: Nanos,
    mine: Arc<Moved>,
    others: Vec<(u64, Arc<Moved>)>,
}

impl Share {
    /// Whether another job that still runs has issued less in proportion to its weight.
    pub(crate) fn is_ahead(&self) -> bool {
        // Relaxed: a count that is read a moment late changes the order of a few operations only.
        let mine = self.mine.operations.load(Relaxed);
        self.others.iter().any(|(weight, other)| {
            let working = other.threads.load(Relaxed) > 0;
            working && mine * weight > other.operations.load(Relaxed) * self.weight
        })
    }

    pub(crate) fn moved(&self) {
        self.mine.operations.fetch_add(1, Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.mine.threads.fetch_sub(1, Relaxed);
    }
}
