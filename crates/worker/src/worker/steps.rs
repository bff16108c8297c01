//! The part of a worker that only a pool uses: which of its jobs is next, and the steps of operations
//! whose data is verified by keys.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_verify::Taken;
use blocklab_workload::{Io, Request, SyncKind};

use super::{Action, Worker};
use crate::in_flight::InFlight;
use crate::pace::Due;

/// Draws of a request before the worker waits because all blocks are in use. If one block in a
/// hundred is free, this many draws miss it once in 23,000 times.
const TRIES: u32 = 1000;
/// How long an idle worker waits before it draws again.
const ALL_TAKEN: Nanos = Nanos(1_000_000);

/// A request whose blocks no other operation uses until it has ended.
struct Claimed {
    request: Request,
    /// The content of the blocks is known, so that it can be compared.
    is_known: bool,
}

impl Worker {
    /// [`Worker::go_on`] for several jobs.
    #[inline(never)]
    pub(super) fn go_on_in_pool(&mut self, now: Nanos) -> Action {
        if self.key_steps.is_some()
            && let Some(step) = self.next_step(now)
        {
            return step;
        }
        if self.free.is_empty() {
            return Action::Wait(None);
        }
        match self.due_in_pool(now) {
            (job, Due::Now(intended)) => self.issue_in_pool(job, now, intended),
            (_, Due::At(moment)) => Action::Wait(Some(moment.min(self.window.deadline))),
            // A completion ends the wait. A pool never spins: it waits for the moment of each job.
            (_, Due::AfterDrain | Due::Spin(_)) => Action::Wait(None),
        }
    }

    /// Issues the first step of an operation of a job.
    fn issue_in_pool(&mut self, job: u32, now: Nanos, intended: Nanos) -> Action {
        let Claimed {
            mut request,
            is_known,
        } = match self.draw_claimed(job, now) {
            Ok(claimed) => claimed,
            Err(wait) => return wait,
        };
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let measured = now >= self.window.measure_from;
        self.job_mut(job).begun(now, request.len, measured);
        if let Some(steps) = &mut self.key_steps {
            request.direction = steps.begin(&slot, request.direction, is_known);
        }
        self.launch(slot, job, &request, now, intended)
    }

    /// The job of the lowest rank whose operation has waited longest, and when that was due; if none
    /// is due, when to check again.
    fn due_in_pool(&mut self, now: Nanos) -> (u32, Due) {
        let count = self.members() as u32;
        // Rank, moment and index of the job that comes first so far.
        let mut best: Option<(u32, Nanos, u32)> = None;
        let mut until: Option<Nanos> = None;
        // Of jobs that are due equally, the one after the last served comes first.
        for step in 0..count {
            let index = (self.turn + step) % count;
            let job = self.job_mut(index);
            match job.due_in_pool(now) {
                Due::Now(intended) => {
                    let rank = job.pooled.as_ref().map_or(0, |pooled| pooled.rank);
                    if best.is_none_or(|(first, earliest, _)| (rank, intended) < (first, earliest))
                    {
                        best = Some((rank, intended, index));
                    }
                }
                Due::At(moment) | Due::Spin(moment) => {
                    until = Some(until.map_or(moment, |until| until.min(moment)));
                }
                Due::AfterDrain => {}
            }
        }
        match best {
            Some((_, intended, index)) => {
                self.turn = (index + 1) % count;
                (index, Due::Now(intended))
            }
            None => (0, until.map_or(Due::AfterDrain, Due::At)),
        }
    }

    /// Issues the next step of an operation, if one is due.
    fn next_step(&mut self, now: Nanos) -> Option<Action> {
        let steps = self.key_steps.as_mut()?;
        // Checked here, too: the miscompares of all workers count, on all storages.
        if steps.has_too_many_wrong() {
            self.stopper.request(Stopped::Error);
        }
        let (slot, direction) = steps.next()?;
        // Each step is timed and counted as an operation of its own.
        let io = InFlight {
            submitted: now,
            intended: now,
            direction,
            ..self.in_flight[slot.index()]
        };
        self.job(io.job).recorder.issued.add(1);
        self.fill_slot(&slot, io);
        Some(Action::Issue(Io {
            slot,
            direction,
            sync: SyncKind::Whole,
            file: io.file,
            len: io.len,
            offset: io.offset,
            // Jobs of a pool draw no priorities.
            priority: 0,
        }))
    }

    /// Draws a request on blocks that no other operation uses. Without one, returns the wait after which
    /// to try again.
    fn draw_claimed(&mut self, job: u32, now: Nanos) -> Result<Claimed, Action> {
        // With operations in flight, a completion ends the wait. Without, other threads have the
        // blocks, and nothing tells this one when they are free.
        let until = (self.depth_in_use() == 0).then(|| now.saturating_add(ALL_TAKEN));
        for _ in 0..TRIES {
            let request = self.job_mut(job).draw();
            let claimed = self.key_steps.as_ref().map(|steps| steps.claim(&request));
            match claimed {
                None => {
                    return Ok(Claimed {
                        request,
                        is_known: false,
                    });
                }
                Some(Ok(is_known)) => return Ok(Claimed { request, is_known }),
                // Such a block is never used again. It counts as issued, so that a pass over a
                // region with bad blocks comes to its end.
                Some(Err(Taken::Bad)) => self.job_mut(job).spend(request.len),
                Some(Err(Taken::Busy)) => {}
            }
            if self.job(job).budget == 0 {
                return Err(Action::Wait(Some(now)));
            }
        }
        Err(Action::Wait(until))
    }
}
