//! The end of a worker: the operations that it gives up, and those that it still has to do.

use std::sync::Arc;

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::Direction;

use super::{Action, Worker};
use crate::recorder::Recorder;

impl Worker {
    /// At the end of the measured time: if the load goes on after it, nothing is counted from here on,
    /// and the deadline moves to the end of that load. Returns whether it goes on.
    #[cold]
    pub(super) fn begin_cool_down(&mut self, spent: bool) -> bool {
        let ended = self.window.deadline;
        if spent || self.window.load_end <= ended {
            return false;
        }
        self.first.give_up_schedule(ended, true);
        self.give_up_directions(ended, true);
        // The accounting must still add up: these complete in a recorder that discards them.
        let in_flight = self.depth_in_use() as u64;
        self.first.recorder.completed_in_ramp.add(in_flight);
        self.first.recorder = Arc::new(Recorder::discarding());
        let uncounted = self.first.recorder.register(self.in_flight.len());
        self.first.outstanding.hand_over_to(&uncounted);
        self.first.outstanding = uncounted;
        self.submit_times = None;
        self.window.deadline = self.window.load_end;
        true
    }

    /// Ends the load: nothing more is issued, and what was due and is given up is counted.
    #[cold]
    pub(super) fn end(&mut self, now: Nanos) {
        let own = if self.is_spent() {
            self.first.budget_reason
        } else if self.first.recorder.is_in_last_window() {
            Stopped::Steady
        } else {
            Stopped::Runtime
        };
        self.ending = Some(self.stopper.reason().unwrap_or(own));
        // Writes that are only assumed are due at no moment.
        let verifier = self.verifier.as_ref();
        if verifier.is_some_and(|verifier| verifier.only_reads_back()) {
            self.first.budget = 0;
        }
        // Operations of several steps, such as a read before a write, lose the steps that have not begun.
        // Their slots are freed here, since `finish` waits until all slots are free.
        while let Some(steps) = &mut self.key_steps
            && let Some(slot) = steps.abandon(&self.in_flight)
        {
            self.free.push(slot);
        }
        // A late call does not make more operations due than the measured time had.
        let end = now.min(self.window.deadline);
        let measured = end >= self.window.measure_from;
        for job in std::iter::once(&mut self.first).chain(&mut self.others) {
            // A job that has issued all its bytes has missed nothing.
            if job.budget > 0 {
                job.give_up_schedule(end, measured);
            }
            job.leave_pool();
        }
        if self.first.budget > 0 {
            self.give_up_directions(end, measured);
        }
        if let Some(issue_rules) = &mut self.issue_rules {
            issue_rules.end();
        }
        self.flush.ending();
    }

    /// Gives up what the schedules of the directions made due by `end`, as `give_up_schedule` does with that
    /// of a job.
    fn give_up_directions(&mut self, end: Nanos, measured: bool) {
        let Some(issue_rules) = &mut self.issue_rules else {
            return;
        };
        let recorder = &self.first.recorder;
        let late = issue_rules.overdue(end);
        for (direction, missed) in Direction::MOVING.into_iter().zip(late).filter(|_| measured) {
            recorder.overdue.add(missed.count);
            missed.record(direction, end, recorder);
        }
    }

    /// What is left to do after the end: reading back, waiting for what is in flight, the last flush.
    #[cold]
    pub(super) fn finish(&mut self, now: Nanos) -> Action {
        if self.verifier.is_some()
            && let Some(check) = self.read_back(now)
        {
            return check;
        }
        if !self.is_idle() {
            return Action::Wait(None);
        }
        let failed = self.stopper.reason() == Some(Stopped::Error);
        if self.flush.is_due() && !failed {
            self.issue_flush(now)
        } else {
            let jobs = std::iter::once(&self.first).chain(&self.others);
            // Not counted by the slots of the worker, so that a lost operation shows.
            let out: u64 = jobs.map(|job| job.outstanding.count()).sum();
            assert!(
                out == 0,
                "all slots are free, and {out} operations are in flight"
            );
            Action::Done
        }
    }
}
