//! Reading back what was written: the part of the worker that only a verifying job needs.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Flaw, Mark};

use super::{Action, InFlight, Worker};
use blocklab_workload::Slot;
use blocklab_workload::{Completion, Io, SyncKind};

use crate::recorder::Progress;
use crate::verifier::Written;

impl Worker {
    /// The next read of a batch of the backlog, or, of a job that only reads back, what it would
    /// have written.
    #[inline(never)]
    pub(super) fn check_backlog(&mut self, now: Nanos) -> Option<Action> {
        let verifier = self.verifier.as_mut()?;
        if verifier.only_reads_back() {
            while self.budget > 0 {
                while let Some(written) = verifier.next_trim() {
                    verifier.assumed_trim(&written);
                }
                let request = self.requests.next_request();
                verifier.assumed(&request);
                self.budget = self.budget.saturating_sub(u64::from(request.len));
                let last = self.issue_rules.as_mut();
                if last.is_some_and(|issue_rules| issue_rules.issued(&request, now, false)) {
                    self.budget = 0;
                }
            }
            return Some(Action::Wait(Some(now)));
        }
        if verifier.pass_is_over() {
            return self.read_back_pass(now);
        }
        if let Some(written) = verifier.next_of_batch() {
            return self.issue_check(now, &written);
        }
        let written = verifier.next_trim()?;
        self.issue_trim(now, &written)
    }

    /// Trims what a write left, as an operation of its own beside those that were asked for.
    #[cold]
    fn issue_trim(&mut self, now: Nanos, written: &Written) -> Option<Action> {
        let slot = self.free.pop()?;
        self.verifier.as_mut()?.trims(slot.index());
        let action = self.launch(slot, &written.trim(), now, now);
        if let Action::Issue(io) = &action {
            self.mark(&io.slot);
        }
        Some(action)
    }

    /// Between two passes: the next read, or the wait for it; nothing when all was read back.
    #[cold]
    fn read_back_pass(&mut self, now: Nanos) -> Option<Action> {
        let is_idle = self.is_idle();
        let verifier = self.verifier.as_mut()?;
        if !verifier.has_begun() {
            if !is_idle {
                return Some(Action::Wait(None));
            }
            verifier.begin_pass(self.window.deadline);
        }
        match verifier.next_of_pass(now) {
            Some(written) => self.issue_check(now, &written),
            None if is_idle => {
                verifier.end_pass();
                None
            }
            None => Some(Action::Wait(None)),
        }
    }

    /// The next read of the last pass, or the wait for it; nothing when all was read back.
    #[cold]
    pub(super) fn read_back(&mut self, now: Nanos) -> Option<Action> {
        use Stopped::{Error, Interrupted, Stalled};
        if matches!(self.stopper.reason(), Some(Error | Interrupted | Stalled)) {
            return None;
        }
        if self.in_time && self.ending == Some(Stopped::Runtime) {
            return None;
        }
        let (is_idle, is_full) = (self.is_idle(), self.free.is_empty());
        let verifier = self.verifier.as_mut()?;
        if !verifier.has_begun() {
            if !is_idle {
                return Some(Action::Wait(None));
            }
            // It may take as long as the writing.
            let span = self.window.deadline.since(self.window.measure_from);
            verifier.begin_pass(now.saturating_add(span));
            self.recorder.verify_began.set(now.0);
        }
        if is_full {
            return Some(Action::Wait(None));
        }
        let written = verifier.next_of_pass(now)?;
        self.issue_check(now, &written)
    }

    fn issue_check(&mut self, now: Nanos, written: &Written) -> Option<Action> {
        let slot = self.free.pop()?;
        self.recorder.issued.add(1);
        let io = InFlight {
            submitted: now,
            intended: now,
            offset: written.offset,
            len: written.len,
            file: written.target,
            direction: Direction::Read,
            priority: 0,
        };
        self.goes_out(&slot, io);
        self.verifier.as_mut()?.checks(slot.index(), written);
        self.mark(&slot);
        Some(Action::Issue(Io {
            slot,
            direction: Direction::Read,
            sync: SyncKind::Whole,
            file: written.target,
            len: written.len,
            offset: written.offset,
            priority: 0,
        }))
    }

    /// Which write of this thread a write in flight is.
    pub fn generation(&self, slot: &Slot) -> u64 {
        let verifier = self.verifier.as_ref();
        verifier.map_or(0, |verifier| verifier.generation(slot.index()))
    }

    /// How far the writes have come, where somebody counts them.
    pub(crate) fn progress(&self) -> Option<Progress> {
        self.verifier.as_ref()?.progress()
    }

    /// What a read that came back well should hold, where somebody knows.
    pub fn expected(&self, completion: &Completion) -> Option<(Mark, usize)> {
        let index = completion.slot.index();
        let len = self.in_flight[index].len;
        if completion.result != len as i32 {
            return None;
        }
        let mark = self.verifier.as_ref()?.expected(index)?;
        Some((mark, len as usize))
    }

    /// A block was compared.
    pub fn compared(&self, mark: Mark, verdict: Result<(), Flaw>, bytes: &[u8], now: Nanos) {
        self.recorder.verified.add(1);
        let Err(flaw) = verdict else { return };
        let at = now.since(self.window.start);
        self.recorder.flawed(flaw, mark, at, bytes, self.keep);
        if self.fatal {
            self.stopper.request(Stopped::Error);
        }
    }
}
