//! In: the workers of a run. Out: their counters, ends and members, as supervisor and results need
//! them.

use std::sync::Arc;

use blocklab_record::{Note, Stopped};
use blocklab_worker::{DirectionCounters, Recorder, Stopper};
use blocklab_workload::{Direction, EndsOthers, Job};

/// One worker's job, seen from outside.
pub(crate) struct WorkerStatus {
    pub(crate) job: usize,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) stopper: Arc<Stopper>,
    /// How it ended; `None` while it works, or when it was given up.
    pub(crate) ended: Option<Stopped>,
}

impl WorkerStatus {
    pub(crate) fn new(job: usize, recorder: Arc<Recorder>, stopper: &Arc<Stopper>) -> Self {
        Self {
            job,
            recorder,
            stopper: Arc::clone(stopper),
            ended: None,
        }
    }

    /// Whether it ended before its runtime was over.
    pub(crate) fn has_ended_early(&self) -> bool {
        self.ended.is_some_and(|why| why != Stopped::Runtime)
    }
}

/// The members of one job.
pub(crate) fn members_of(
    members: &[WorkerStatus],
    job: usize,
) -> impl Iterator<Item = &WorkerStatus> {
    members.iter().filter(move |member| member.job == job)
}

/// The sum of one counter of a job, by direction.
pub(crate) fn moved(
    members: &[WorkerStatus],
    job: usize,
    what: fn(&DirectionCounters) -> u64,
) -> [u64; 3] {
    Direction::MOVING.map(|direction| {
        let by_thread =
            members_of(members, job).filter_map(|member| member.recorder.counters(direction));
        by_thread.map(what).sum()
    })
}

/// All workers of a run, and facts about their jobs that preparing them has shown.
pub(crate) struct Workers {
    pub(crate) members: Vec<WorkerStatus>,
    /// Whether O_DIRECT is in force for each job.
    pub(crate) direct: Vec<bool>,
    /// Whether the end of each job ends the others.
    ends_others: Vec<EndsOthers>,
    pub(crate) notes: Vec<Note>,
}

impl Workers {
    /// No workers yet. A model has no page cache, so O_DIRECT counts as in force until a thread that
    /// opens files sets it.
    pub(crate) fn new(jobs: &[Job]) -> Self {
        Self {
            members: Vec::new(),
            direct: vec![true; jobs.len()],
            ends_others: jobs.iter().map(|job| job.ends_others).collect(),
            notes: Vec::new(),
        }
    }

    /// Ends all other jobs when one has ended that ends them.
    pub(crate) fn end_others(&self) {
        let mut members = self.members.iter();
        let is_over = members.any(
            |member| match (member.ended, self.ends_others[member.job]) {
                (None, _) | (_, EndsOthers::Never) => false,
                (Some(stopped), EndsOthers::OnError) => {
                    matches!(stopped, Stopped::Error | Stopped::Stalled)
                }
                (Some(_), EndsOthers::Always) => true,
            },
        );
        if is_over {
            // To the others this is the end of their time: nothing went wrong with them.
            for member in self.members.iter().filter(|member| member.ended.is_none()) {
                member.stopper.request(Stopped::Runtime);
            }
        }
    }
}
