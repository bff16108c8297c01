//! The part of the pool that only runs when data is compared.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Taken, WrongBlock};

use super::{InFlight, Pool};
use blocklab_workload::Slot;

use crate::validator::Step;
use crate::worker::Action;
use blocklab_workload::{Completion, Io, SyncKind};

/// Blocks that are drawn in the place of those that nobody may use now.
const TRIES: u32 = 1000;
/// How long an idle pool waits before it draws again.
const ALL_TAKEN: Nanos = Nanos(1_000_000);

impl Pool {
    /// An operation that has another step before it.
    pub(super) fn next_step(&mut self, now: Nanos) -> Option<Action> {
        let validator = self.validator.as_mut()?;
        if validator.is_full() {
            self.stopper.request(Stopped::Error);
        }
        let slot = validator.ready.pop_front()?;
        let step = validator.step(&slot);
        let io = &mut self.in_flight[slot.index()];
        *io = InFlight {
            submitted: now,
            intended: now,
            direction: step.direction(),
            ..*io
        };
        let io = *io;
        let pool_job = &self.pool_jobs[io.pool_job as usize];
        pool_job.recorder.issued.add(1);
        pool_job.outstanding.begins(slot.index(), io.direction, now);
        Some(Action::Issue(as_io(slot, io)))
    }

    /// As `issue`, on blocks that nobody else works on.
    #[inline(never)]
    pub(super) fn issue_validated(&mut self, index: usize, now: Nanos, intended: Nanos) -> Action {
        let is_idle = self.depth_in_use() == 0;
        let measured = now >= self.window.measure_from;
        let pool_job = &mut self.pool_jobs[index];
        let Some(validator) = &mut self.validator else {
            return Action::Wait(None);
        };
        for _ in 0..TRIES {
            let request = pool_job.draw();
            match validator.keys.claim(request.offset, u64::from(request.len)) {
                Ok(known) => {
                    let Some(slot) = self.free.pop() else { break };
                    let step = validator.begin(&slot, request.direction, known);
                    pool_job.begun(now, request.len, measured);
                    pool_job
                        .outstanding
                        .begins(slot.index(), step.direction(), now);
                    self.turn = (index + 1) % self.pool_jobs.len();
                    let io = InFlight {
                        pool_job: index as u32,
                        submitted: now,
                        intended,
                        offset: request.offset,
                        len: request.len,
                        direction: step.direction(),
                    };
                    self.in_flight[slot.index()] = io;
                    return Action::Issue(as_io(slot, io));
                }
                Err(Taken::Bad) => pool_job.leave_out(request.len),
                Err(Taken::Busy) => {}
            }
            if pool_job.budget == 0 {
                return Action::Wait(Some(now));
            }
        }
        Action::Wait(is_idle.then(|| now.saturating_add(ALL_TAKEN)))
    }

    /// Where the data that a read brought belongs, if it is to be compared.
    pub fn expected(&self, completion: &Completion) -> Option<(u64, usize)> {
        let io = self.in_flight[completion.slot.index()];
        let came = self.validator.is_some()
            && io.direction == Direction::Read
            && completion.result == io.len as i32;
        came.then_some((io.offset, io.len as usize))
    }

    /// The data of a read was compared.
    pub fn compared(&mut self, slot: &Slot, wrong: Vec<WrongBlock>, now: Nanos) {
        let io = self.in_flight[slot.index()];
        let recorder = &self.pool_jobs[io.pool_job as usize].recorder;
        recorder.verified.add(1);
        let Some(validator) = self.validator.as_mut().filter(|_| !wrong.is_empty()) else {
            return;
        };
        validator.found_wrong(slot);
        let is_full = validator.is_full();
        let at = now.since(self.window.start);
        let errors = wrong.len() as u64;
        for block in wrong {
            recorder.came_wrong(at, block.offset, block.to_string());
        }
        if is_full {
            self.stopper.request(Stopped::Error);
        }
        self.erred(errors);
    }

    /// An operation came back: gives its slot back unless another step follows.
    #[inline(never)]
    pub(super) fn after_step(&mut self, slot: Slot, result: i32, now: Nanos) {
        let io = self.in_flight[slot.index()];
        let Some(validator) = &mut self.validator else {
            return;
        };
        let (offset, len) = (io.offset, u64::from(io.len));
        let went_well = result == io.len as i32;
        if validator.step(&slot) == Step::Write {
            match went_well {
                true => validator.keys.written(offset, len, validator.micros(now)),
                false => validator.keys.lost(offset, len),
            }
        }
        if self.ending.is_none() && validator.goes_on(&slot, went_well) {
            validator.ready.push_back(slot);
            return;
        }
        validator.keys.release(offset, len);
        self.free.push(slot);
        self.pool_jobs[io.pool_job as usize].in_flight -= 1;
    }

    /// At the end no further step begins.
    #[cold]
    pub(super) fn abandon_steps(&mut self) {
        let Some(validator) = &mut self.validator else {
            return;
        };
        while let Some(slot) = validator.ready.pop_front() {
            let io = self.in_flight[slot.index()];
            validator.keys.release(io.offset, u64::from(io.len));
            self.pool_jobs[io.pool_job as usize].in_flight -= 1;
            self.free.push(slot);
        }
    }
}

const fn as_io(slot: Slot, io: InFlight) -> Io {
    Io {
        slot,
        direction: io.direction,
        sync: SyncKind::Whole,
        file: 0,
        len: io.len,
        offset: io.offset,
        priority: 0,
    }
}
