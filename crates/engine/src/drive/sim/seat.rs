//! A worker in virtual time.

use std::sync::Arc;

use blocklab_device::Device;
use blocklab_units::Nanos;
use blocklab_workload::Job;

use super::queue::{Event, Queue};
use crate::Error;
use crate::bounds::Stopper;
use crate::buffers::Slot;
use crate::drive::{Backing, TargetFile};
use crate::load::{Driven, Load};
use crate::model::{Model, question, result};
use crate::pool::LaneParts;
use crate::recorder::Recorder;
use crate::worker::{Action, Completion, Io, Parts, Shared};

/// A worker and what the driver keeps of it.
pub(super) struct Seat {
    pub(super) worker: Load,
    /// The first of the members that it stands for; several seats may stand for one.
    pub(super) member: usize,
    pub(super) has_left: bool,
    side: Side,
}

/// What a seat needs beside its worker.
struct Side {
    /// By target of the job: the index of its device.
    devices: Vec<usize>,
    /// Completions that wait until there are enough of them.
    gathered: Vec<Completion>,
    complete: usize,
    /// The earliest wake that is in the queue.
    wake_at: Nanos,
    done: bool,
}

/// A worker's turn, and what it may reach.
pub(super) struct Round<'a, 'd> {
    pub(super) now: Nanos,
    /// Whose turn it is.
    pub(super) worker: u32,
    pub(super) queue: &'a mut Queue,
    pub(super) devices: &'a mut [&'d mut Device],
}

impl Seat {
    /// Whether its worker has nothing of its own to tell.
    pub(super) fn is_plain(&self) -> bool {
        matches!(&self.worker, Load::One(worker) if worker.is_plain())
    }

    /// Hands over what came back and asks the worker until it wants to wait. Whether it has just
    /// ended.
    #[inline]
    pub(super) fn turn(&mut self, returned: Option<Completion>, round: Round<'_, '_>) -> bool {
        match &mut self.worker {
            Load::One(worker) => self.side.turn(&mut **worker, returned, round),
            Load::Pool(pool) => self.side.turn(&mut **pool, returned, round),
        }
    }
}

impl Side {
    /// One for each kind of worker.
    #[inline(never)]
    fn turn(
        &mut self,
        worker: &mut impl Driven,
        returned: Option<Completion>,
        mut round: Round<'_, '_>,
    ) -> bool {
        match returned {
            Some(completion) if self.complete <= 1 => {
                worker.reaped(1);
                worker.complete(completion, round.now);
            }
            Some(completion) => {
                self.gathered.push(completion);
                if self.gathered.len() < self.complete.min(worker.depth_in_use()) {
                    return false;
                }
                self.hand_over(worker, round.now);
            }
            None => self.hand_over(worker, round.now),
        }
        self.ask(worker, &mut round)
    }

    /// Hands over the completions that were kept back.
    fn hand_over(&mut self, worker: &mut impl Driven, now: Nanos) {
        if !self.gathered.is_empty() {
            worker.reaped(self.gathered.len());
        }
        for completion in self.gathered.drain(..) {
            worker.complete(completion, now);
        }
    }

    #[inline]
    fn ask(&mut self, worker: &mut impl Driven, round: &mut Round<'_, '_>) -> bool {
        loop {
            match worker.next(round.now) {
                Action::Issue(io) => self.issue(&io, round),
                Action::Wait(None) => {
                    worker.handed_over(round.now);
                    return false;
                }
                Action::Wait(Some(until)) | Action::Spin(until) => {
                    // A wake that is past or later than this one is of no use any more.
                    if until <= round.now {
                        continue;
                    }
                    worker.handed_over(round.now);
                    self.wake(until, round);
                    return false;
                }
                Action::Done => return !std::mem::replace(&mut self.done, true),
            }
        }
    }

    #[inline]
    fn issue(&self, io: &Io, round: &mut Round<'_, '_>) {
        let device = &mut round.devices[self.devices[io.file as usize]];
        let answer = device.admit(round.now, question(io));
        let result = result(answer, io.len);
        let event = Event::completion(round.worker, &io.slot, result);
        round.queue.push(answer.at, event);
    }

    fn wake(&mut self, until: Nanos, round: &mut Round<'_, '_>) {
        if self.wake_at <= round.now || until < self.wake_at {
            self.wake_at = until;
            round.queue.push(until, Event::wake(round.worker));
        }
    }
}

impl Seat {
    pub(super) fn new(
        job: &Job,
        (lanes, member): (Vec<LaneParts>, usize),
        seed: u64,
        thread: u32,
        files: &[TargetFile],
        models: &[Model],
        (recorder, stopper, shared): (&Arc<Recorder>, &Arc<Stopper>, &Shared),
    ) -> Result<Self, Error> {
        let sizes: Vec<u64> = files.iter().map(|file| file.size).collect();
        let depth = job.effective_depth();
        let parts = Parts {
            thread,
            seed,
            sizes: &sizes,
            slots: (0..depth).rev().map(Slot::returned).collect(),
            recorder: Arc::clone(recorder),
            stopper: Arc::clone(stopper),
            shared,
        };
        let worker = Load::new(job, lanes, parts).map_err(|invalid| Error::Job {
            job: job.name.clone(),
            invalid,
        })?;
        let device = |file: &TargetFile| match &file.backing {
            Backing::Simulated(model) => models.iter().position(|known| known.is(model)),
            _ => None,
        };
        let devices: Option<Vec<usize>> = files.iter().map(device).collect();
        Ok(Self {
            worker,
            member,
            has_left: false,
            side: Side {
                devices: devices.ok_or_else(|| Error::MixedClocks {
                    job: job.name.clone(),
                })?,
                gathered: Vec::with_capacity(depth as usize),
                complete: job.batch.complete.min(depth) as usize,
                wake_at: Nanos::ZERO,
                done: false,
            },
        })
    }
}
