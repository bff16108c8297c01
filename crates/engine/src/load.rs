//! What a driver drives: one job's worker, or a pool of jobs.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Invalid, Job};

use crate::buffers::Slot;
use crate::pool::{LaneParts, Pool};
use crate::recorder::Recorder;
use crate::worker::{Action, Completion, Parts, Worker};

/// One of the two state machines, behind one joint.
pub(crate) enum Load {
    /// One job.
    One(Box<Worker>),
    /// Jobs that share operations in flight.
    Pool(Box<Pool>),
}

impl Load {
    /// Of a job, or of the lanes of a pool.
    pub(crate) fn new(job: &Job, lanes: Vec<LaneParts>, parts: Parts<'_>) -> Result<Self, Invalid> {
        if lanes.is_empty() {
            return Worker::new(job, parts).map(Box::new).map(Self::One);
        }
        Pool::new(lanes, parts).map(Box::new).map(Self::Pool)
    }

    /// How many members of the run it stands for.
    pub(crate) const fn members(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Pool(pool) => pool.lanes(),
        }
    }

    /// Says what it still misses, when its thread ends.
    pub(crate) fn leave(&self, recorder: &Recorder) {
        match self {
            Self::One(worker) => recorder.unreturned.set(worker.depth_in_use() as u64),
            Self::Pool(pool) => pool.leave(),
        }
    }

    pub(crate) fn begin(&mut self, start: Nanos) {
        match self {
            Self::One(worker) => worker.begin(start),
            Self::Pool(pool) => pool.begin(start),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self, now: Nanos) -> Action {
        match self {
            Self::One(worker) => worker.next(now),
            Self::Pool(pool) => pool.next(now),
        }
    }

    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, now: Nanos) {
        match self {
            Self::One(worker) => worker.complete(completion, now),
            Self::Pool(pool) => pool.complete(completion, now),
        }
    }

    /// What was issued is with the target since this moment.
    #[inline]
    pub(crate) fn handed_over(&mut self, now: Nanos) {
        if let Self::One(worker) = self {
            worker.handed_over(now);
        }
    }

    /// A wait brought so many completions.
    #[inline]
    pub(crate) fn reaped(&self, completions: usize) {
        if let Self::One(worker) = self {
            worker.reaped(completions);
        }
    }

    /// The worker of a job by itself: pools do not verify.
    #[inline]
    pub(crate) fn worker(&self) -> Option<&Worker> {
        match self {
            Self::One(worker) => Some(worker),
            Self::Pool(_) => None,
        }
    }

    #[inline]
    pub(crate) fn depth_in_use(&self) -> usize {
        match self {
            Self::One(worker) => worker.depth_in_use(),
            Self::Pool(pool) => pool.depth_in_use(),
        }
    }

    pub(crate) fn idle_slots(&self) -> &[Slot] {
        match self {
            Self::One(worker) => worker.idle_slots(),
            Self::Pool(pool) => pool.idle_slots(),
        }
    }

    pub(crate) fn stopped(&self) -> Stopped {
        match self {
            Self::One(worker) => worker.stopped(),
            Self::Pool(pool) => pool.stopped(),
        }
    }
}
