//! The part of a worker that only a verifying job uses: trims, and reads of what was written.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_verify::{ExpectedBlock, Miscompare};
use blocklab_workload::{Completion, Direction, Slot, SyncKind};

use super::{Action, Worker};
use crate::issue_rules::{Issue, overlaps};
use crate::written_places::Written;

/// The kind of flush of an operation that is none.
const NO_FLUSH: SyncKind = SyncKind::Whole;
/// Operations that a job which only reads back draws at a time. That takes less than a millisecond, as
/// long as it may take to see a signal, and many times as long as a call of the loop.
const ASSUMED_AT_ONCE: usize = 4096;

impl Worker {
    /// The next trim or read of the backlog; `None` if none is due. A job that only reads back first
    /// assumes all its writes.
    #[inline(never)]
    pub(super) fn check_backlog(&mut self, now: Nanos) -> Option<Action> {
        let verifier = self.verifier.as_mut()?;
        if verifier.only_reads_back() {
            self.assume_writes(now);
            // The next call goes on, or ends the worker and begins to read back.
            return Some(Action::Wait(Some(now)));
        }
        if verifier.pass_is_over() {
            return self.read_back_pass(now);
        }
        // Trims come first: what is trimmed is not read back as data.
        if let Some(written) = verifier.trim_of_batch() {
            return self.issue_trim(now, &written);
        }
        if let Some(written) = verifier.next_of_batch() {
            return self.issue_check(now, &written);
        }
        let written = verifier.next_trim()?;
        self.issue_trim(now, &written)
    }

    /// Draws what the earlier run drew, from the same seed and in the same order: the trims that were
    /// due before a write, and the write. A call draws a part of it, because the end of the runtime and
    /// an interruption are seen between two calls.
    #[cold]
    fn assume_writes(&mut self, now: Nanos) {
        let Some(verifier) = self.verifier.as_mut() else {
            return;
        };
        for _ in 0..ASSUMED_AT_ONCE {
            if self.first.budget == 0 {
                return;
            }
            while let Some(written) = verifier.next_trim() {
                verifier.assumed_trim(&written);
            }
            let request = self.first.requests.next_request();
            verifier.assumed(&request);
            self.first.spend(request.len);
            // The rules that end a job count what is only assumed, too. It has no slot.
            let issue = Issue {
                request: &request,
                slot: 0,
                now,
                is_full: false,
                measured: true,
            };
            let (rules, recorder) = (self.issue_rules.as_mut(), &self.first.recorder);
            if rules.is_some_and(|rules| rules.issued(&issue, recorder)) {
                self.first.budget = 0;
            }
            if request.direction == Direction::Write {
                self.first.recorder.assumed_writes.add(1);
                self.first.recorder.assumed_bytes.add(request.len.into());
            }
        }
    }

    /// Trims the range of a write, once nothing else is in flight there; `None` without a free slot.
    #[cold]
    fn issue_trim(&mut self, now: Nanos, written: &Written) -> Option<Action> {
        let request = written.request(Direction::Trim);
        // A read in flight there would find zeros, and a write may be carried out before or after the trim.
        // A worker without rules has one operation in flight at most.
        if self.issue_rules.is_some()
            && overlaps(&request, self.in_flight.iter().filter(|io| io.len > 0))
        {
            self.verifier.as_mut()?.hold_trim(*written);
            return Some(Action::Wait(None));
        }
        let slot = self.free.pop()?;
        self.verifier.as_mut()?.trim_issued(slot.index(), written);
        Some(self.launch_extra(slot, &request, NO_FLUSH, now))
    }

    /// Between two passes over the bytes of the job, with a free slot: the next trim, the next read or a
    /// wait; `None` when everything has been read back.
    #[cold]
    fn read_back_pass(&mut self, now: Nanos) -> Option<Action> {
        let is_idle = self.is_idle();
        let verifier = self.verifier.as_mut()?;
        // It begins when all writes have completed, and then all trims: until then it is not known
        // which of them came last.
        if !verifier.has_begun() {
            if !is_idle {
                return Some(Action::Wait(None));
            }
            if let Some(written) = verifier.last_trim() {
                return self.issue_trim(now, &written);
            }
            let stopper = &self.stopper;
            verifier.begin_pass(self.window.deadline, || stopper.cuts_off());
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

    /// The next read of the last pass, or a wait; `None` when everything has been read back.
    #[cold]
    pub(super) fn read_back(&mut self, now: Nanos) -> Option<Action> {
        if self.stopper.cuts_off() {
            return None;
        }
        let (is_idle, is_full) = (self.is_idle(), self.free.is_empty());
        let verifier = self.verifier.as_mut()?;
        if verifier.in_time && self.ending == Some(Stopped::Runtime) {
            return None;
        }
        if !verifier.has_begun() {
            if !is_idle {
                return Some(Action::Wait(None));
            }
            // The earlier run has made its trims already.
            while verifier.only_reads_back()
                && let Some(written) = verifier.last_trim()
            {
                verifier.assumed_trim(&written);
            }
            if let Some(written) = verifier.last_trim() {
                return self.issue_trim(now, &written);
            }
            // Reading back may take as long as writing did. A job that ended in its ramp has no measured
            // time, and the beginning of that is unknown where bytes end the ramp.
            let begun = self.window.measure_from.min(now);
            let span = self.window.deadline.since(begun);
            let stopper = &self.stopper;
            verifier.begin_pass(now.saturating_add(span), || stopper.cuts_off());
            self.first.recorder.verify_began.set(now.0);
        }
        if is_full {
            return Some(Action::Wait(None));
        }
        let written = verifier.next_of_pass(now)?;
        self.issue_check(now, &written)
    }

    /// Reads the range of a write to compare it; `None` without a free slot.
    fn issue_check(&mut self, now: Nanos, written: &Written) -> Option<Action> {
        let slot = self.free.pop()?;
        self.verifier
            .as_mut()?
            .read_back_issued(slot.index(), written);
        Some(self.launch_extra(slot, &written.request(Direction::Read), NO_FLUSH, now))
    }

    /// The number of the write in a slot, counted by thread.
    pub fn generation(&self, slot: &Slot) -> u64 {
        let verifier = self.verifier.as_ref();
        verifier.map_or(0, |verifier| verifier.generation(slot.index()))
    }

    /// Records at the end of the thread how far the writes of a verifying job came.
    pub fn leave(&self) {
        let verifier = self.verifier.as_ref();
        if let Some(progress) = verifier.and_then(|verifier| verifier.progress()) {
            self.first.recorder.set_progress(progress);
        }
    }

    /// The content that a successful read should have returned, and its length in bytes; `None` if
    /// there is nothing to compare.
    pub fn expected(&self, completion: &Completion) -> Option<(ExpectedBlock, usize)> {
        let index = completion.slot.index();
        let io = self.in_flight[index];
        // A read that failed is counted as that, and its buffer holds nothing to compare.
        if completion.result != io.len as i32 {
            return None;
        }
        let block = match (&self.verifier, &self.key_steps) {
            (Some(verifier), _) => verifier.expected(index)?,
            (None, Some(_)) if io.direction == Direction::Read => {
                ExpectedBlock::any(io.file, io.offset)
            }
            _ => return None,
        };
        Some((block, io.len as usize))
    }

    /// Counts a read that was compared, and records its miscompares, `found`. `bytes` is the data that
    /// was read.
    pub fn compared(
        &mut self,
        slot: &Slot,
        expected: ExpectedBlock,
        found: Vec<Miscompare>,
        bytes: &[u8],
        now: Nanos,
    ) {
        let job = self.in_flight[slot.index()].job;
        let recorder = &self.job(job).recorder;
        recorder.verified.add(1);
        if found.is_empty() {
            return;
        }
        let at = now.since(self.window.start);
        let keep = self.verifier.as_ref().map_or(0, |verifier| verifier.keep);
        let errors = found.len() as u64;
        for miscompare in found {
            recorder.miscompared(miscompare, expected, at, bytes, keep);
        }
        let mut ends = self
            .verifier
            .as_ref()
            .is_some_and(|verifier| verifier.fatal);
        if let Some(steps) = &mut self.key_steps {
            steps.found_wrong(slot);
            ends |= steps.has_too_many_wrong();
        }
        if ends {
            self.stopper.request(Stopped::Error);
        }
        self.count_errors(errors);
    }
}
