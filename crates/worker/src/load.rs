//! What a driver drives: one job's worker, or a pool of jobs.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Invalid, Job};

use crate::pool::{Pool, PoolJobParts};
use crate::recorder::Recorder;
use crate::worker::{Action, Parts, Worker};
use blocklab_workload::Completion;

/// One of the two state machines, behind one joint.
pub enum Load {
    /// One job.
    One(Box<Worker>),
    /// Jobs that share operations in flight.
    Pool(Box<Pool>),
}

impl Load {
    /// Of a job, or of the pool_jobs of a pool.
    pub fn new(job: &Job, pool_jobs: Vec<PoolJobParts>, parts: Parts<'_>) -> Result<Self, Invalid> {
        if pool_jobs.is_empty() {
            return Worker::new(job, parts).map(Box::new).map(Self::One);
        }
        Pool::new(pool_jobs, parts).map(Box::new).map(Self::Pool)
    }

    /// How many members of the run it stands for.
    pub const fn members(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Pool(pool) => pool.pool_jobs(),
        }
    }

    /// Says how far its writes came, when its thread ends.
    pub fn leave(&self, recorder: &Recorder) {
        match self {
            Self::One(worker) => {
                if let Some(progress) = worker.progress() {
                    recorder.has_written(progress);
                }
            }
            Self::Pool(_) => {}
        }
    }

    /// The load starts at this moment.
    pub fn begin(&mut self, start: Nanos) {
        match self {
            Self::One(worker) => worker.begin(start),
            Self::Pool(pool) => pool.begin(start),
        }
    }

    /// Why it ended.
    pub fn stopped(&self) -> Stopped {
        match self {
            Self::One(worker) => worker.stopped(),
            Self::Pool(pool) => pool.stopped(),
        }
    }
}

/// What the loop of a drive asks of a state machine. One loop is made for each of the two, so that
/// no operation pays for the choice.
pub trait Driven {
    /// What to do at this moment.
    fn next(&mut self, now: Nanos) -> Action;
    /// Accounts for an operation that came back at this moment.
    fn complete(&mut self, completion: Completion, now: Nanos);
    /// What was issued is with the target since this moment.
    fn handed_over(&mut self, now: Nanos);
    /// A wait brought so many completions.
    fn reaped(&self, completions: usize);
    /// The worker of a job by itself, which verifies.
    fn worker(&self) -> Option<&Worker>;
    /// The pool, which validates.
    fn pool(&mut self) -> Option<&mut Pool>;
    /// Operations in flight.
    fn depth_in_use(&self) -> usize;
    /// Operations that may be in flight.
    fn depth(&self) -> usize;
}

impl Driven for Worker {
    #[inline(always)]
    fn next(&mut self, now: Nanos) -> Action {
        Self::next(self, now)
    }

    #[inline(always)]
    fn complete(&mut self, completion: Completion, now: Nanos) {
        Self::complete(self, completion, now);
    }

    #[inline(always)]
    fn handed_over(&mut self, now: Nanos) {
        Self::handed_over(self, now);
    }

    #[inline(always)]
    fn reaped(&self, completions: usize) {
        Self::reaped(self, completions);
    }

    #[inline(always)]
    fn worker(&self) -> Option<&Worker> {
        Some(self)
    }

    #[inline(always)]
    fn pool(&mut self) -> Option<&mut Pool> {
        None
    }

    #[inline(always)]
    fn depth_in_use(&self) -> usize {
        Self::depth_in_use(self)
    }

    fn depth(&self) -> usize {
        self.idle_slots().len() + Self::depth_in_use(self)
    }
}

impl Driven for Pool {
    #[inline]
    fn next(&mut self, now: Nanos) -> Action {
        Self::next(self, now)
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now: Nanos) {
        Self::complete(self, completion, now);
    }

    #[inline]
    fn handed_over(&mut self, _now: Nanos) {}

    #[inline]
    fn reaped(&self, _completions: usize) {}

    #[inline]
    fn worker(&self) -> Option<&Worker> {
        None
    }

    #[inline]
    fn pool(&mut self) -> Option<&mut Pool> {
        Some(self)
    }

    #[inline]
    fn depth_in_use(&self) -> usize {
        Self::depth_in_use(self)
    }

    fn depth(&self) -> usize {
        self.idle_slots().len() + Self::depth_in_use(self)
    }
}
