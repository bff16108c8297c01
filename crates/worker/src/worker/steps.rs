//! The part of a worker that only runs where data is compared by the keys of a storage.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_verify::Taken;
use blocklab_workload::{Io, Request, SyncKind};

use super::{Action, Worker};
use crate::in_flight::InFlight;

/// Blocks that are drawn in the place of those that nobody may use now.
const TRIES: u32 = 1000;
/// How long an idle worker waits before it draws again.
const ALL_TAKEN: Nanos = Nanos(1_000_000);

impl Worker {
    /// An operation that has another step before it.
    #[inline(never)]
    pub(super) fn next_step(&mut self, now: Nanos) -> Option<Action> {
        let steps = self.key_steps.as_mut()?;
        if steps.is_full() {
            self.stopper.request(Stopped::Error);
        }
        let (slot, direction) = steps.next()?;
        let io = InFlight {
            submitted: now,
            intended: now,
            direction,
            ..self.in_flight[slot.index()]
        };
        self.job(io.job).recorder.issued.add(1);
        self.goes_out(&slot, io);
        Some(Action::Issue(Io {
            slot,
            direction,
            sync: SyncKind::Whole,
            file: io.file,
            len: io.len,
            offset: io.offset,
            priority: 0,
        }))
    }

    /// A request on blocks that nobody else works on, and whether anything is known of them.
    #[inline(never)]
    pub(super) fn draw_claimed(&mut self, job: u32, now: Nanos) -> Result<(Request, bool), Action> {
        let until = (self.depth_in_use() == 0).then(|| now.saturating_add(ALL_TAKEN));
        for _ in 0..TRIES {
            let request = self.job_mut(job).draw();
            let claimed = self.key_steps.as_ref().map(|steps| steps.claim(&request));
            match claimed {
                None => return Ok((request, false)),
                Some(Ok(known)) => return Ok((request, known)),
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
