//! In: completions and wake-ups of a worker in virtual time. Out: its operations, admitted to the
//! models of their devices.

use std::sync::Arc;

use blocklab_device::Device;
use blocklab_targets::{Model, device_io, kernel_result};
use blocklab_units::Nanos;
use blocklab_worker::{Action, JobParts, Parts, Worker};
use blocklab_workload::{Completion, Io, Job};

use super::queue::{Event, Queue};
use crate::thread_groups::ThreadGroup;
use crate::{Backing, Error, TargetFile};

/// A worker and its state in the driver; the fields that every operation needs come first.
#[repr(C, align(64))]
pub(super) struct SimWorker {
    pub(super) worker: Worker,
    state: SimQueueState,
    /// The first of the members that it works for; several workers may work for one.
    pub(super) member: usize,
    pub(super) has_left: bool,
}

/// What a simulated worker needs in addition to its state machine.
#[repr(C)]
struct SimQueueState {
    /// The index of the device of each target.
    devices: Arc<[usize]>,
    /// Fewest completions that are passed on together, unless fewer operations are in flight.
    complete: usize,
    /// Completions that wait until there are enough of them.
    gathered: Vec<Completion>,
    /// The earliest wake that is in the queue.
    wake_at: Nanos,
    done: bool,
}

/// One call of a worker, and the state that it may use.
pub(super) struct SimStep<'a, 'd> {
    pub(super) now: Nanos,
    /// Which worker is called.
    pub(super) worker: u32,
    pub(super) queue: &'a mut Queue,
    pub(super) devices: &'a mut [&'d mut Device],
}

impl SimWorker {
    /// Passes a completion to the worker and steps it until it waits. Returns whether it has just
    /// ended.
    #[inline(always)]
    pub(super) fn turn(&mut self, returned: Option<Completion>, step: SimStep<'_, '_>) -> bool {
        match returned {
            Some(back) => self.state.came_back(&mut self.worker, back, step),
            None => self.state.woken(&mut self.worker, step),
        }
    }
}

impl SimQueueState {
    /// An operation came back. The common case issues the next one at once; all others take the way
    /// of a wake-up. Returns whether the worker has just ended.
    #[inline(always)]
    fn came_back(
        &mut self,
        worker: &mut Worker,
        completion: Completion,
        mut step: SimStep<'_, '_>,
    ) -> bool {
        if self.complete > 1 {
            return self.gather(worker, completion, step);
        }
        match worker.again(completion, step.now) {
            Ok(io) => {
                self.issue(&io, &mut step);
                false
            }
            Err(completion) => self.gather(worker, completion, step),
        }
    }

    /// Keeps completions back until there are enough of them.
    #[inline(never)]
    fn gather(
        &mut self,
        worker: &mut Worker,
        completion: Completion,
        step: SimStep<'_, '_>,
    ) -> bool {
        self.gathered.push(completion);
        // With fewer operations in flight than a group has, the rest of it would never come.
        if self.gathered.len() < self.complete.min(worker.depth_in_use()) {
            return false;
        }
        self.woken(worker, step)
    }

    /// Passes on what was kept back and steps the worker until it waits.
    #[inline(never)]
    fn woken(&mut self, worker: &mut Worker, mut step: SimStep<'_, '_>) -> bool {
        self.hand_over(worker, step.now);
        self.run_until_wait(worker, &mut step)
    }

    /// Gives the worker the completions that were kept back.
    fn hand_over(&mut self, worker: &mut Worker, now: Nanos) {
        if !self.gathered.is_empty() {
            worker.reaped(self.gathered.len());
        }
        for completion in self.gathered.drain(..) {
            worker.complete(completion, now);
        }
    }

    /// Steps the worker until it waits. Returns whether it has just ended.
    #[inline]
    fn run_until_wait(&mut self, worker: &mut Worker, step: &mut SimStep<'_, '_>) -> bool {
        loop {
            match worker.next(step.now) {
                Action::Issue(io) => self.issue(&io, step),
                Action::Wait(None) => {
                    worker.handed_over(step.now);
                    return false;
                }
                Action::Wait(Some(until)) | Action::Spin(until) => {
                    // No event is pushed into the past: the worker is asked again at once.
                    if until <= step.now {
                        continue;
                    }
                    worker.handed_over(step.now);
                    self.wake(until, step);
                    return false;
                }
                // The wakes at the end of its time call the worker again; it ends only once.
                Action::Done => return !std::mem::replace(&mut self.done, true),
            }
        }
    }

    #[inline(always)]
    fn issue(&self, io: &Io, step: &mut SimStep<'_, '_>) {
        let device = &mut step.devices[self.devices[io.file as usize]];
        let answer = device.admit(step.now, device_io(io));
        let result = kernel_result(answer, io);
        let event = Event::completion(step.worker, &io.slot, result);
        step.queue.push(answer.at, event);
    }

    /// Has the worker called at `until`, unless an earlier wake in the queue does that anyway: it asks
    /// again then. Without this, each completion of a paced worker would add a wake.
    fn wake(&mut self, until: Nanos, step: &mut SimStep<'_, '_>) {
        if self.wake_at <= step.now || until < self.wake_at {
            self.wake_at = until;
            step.queue.push(until, Event::wake(step.worker));
        }
    }
}

/// The index of the model of each target.
///
/// # Errors
/// When one of the targets is not a model.
pub(super) fn devices(
    job: &Job,
    files: &[TargetFile],
    models: &[Model],
) -> Result<Arc<[usize]>, Error> {
    let devices: Option<_> = files
        .iter()
        .map(|file| match &file.backing {
            Backing::Simulated(model) => models.iter().position(|known| known.is(model)),
            _ => None,
        })
        .collect();
    devices.ok_or_else(|| Error::MixedClocks(job.name.clone()))
}

impl SimWorker {
    pub(super) fn new(
        group: &ThreadGroup,
        jobs: Vec<JobParts>,
        member: usize,
        devices: &Arc<[usize]>,
        parts: Parts<'_>,
    ) -> Result<Self, Error> {
        let depth = group.job.effective_depth();
        let worker = Worker::new(jobs, parts).map_err(|invalid| Error::Job {
            job: group.job.name.clone(),
            invalid,
        })?;
        Ok(Self {
            worker,
            member,
            has_left: false,
            state: SimQueueState {
                devices: Arc::clone(devices),
                gathered: Vec::with_capacity(depth as usize),
                complete: group.job.batch.complete.min(depth) as usize,
                wake_at: Nanos::ZERO,
                done: false,
            },
        })
    }
}
