//! How a worker ends: what it does no more, and what it still owes.

use std::sync::Arc;

use blocklab_record::Stopped;
use blocklab_units::Nanos;

use super::{Action, Worker};
use crate::direction_pacers::MOVING;
use crate::recorder::Recorder;

impl Worker {
    /// At the end of the measured time: whether the load goes on, in no result.
    #[cold]
    pub(super) fn cools_down(&mut self, spent: bool) -> bool {
        let ended = self.window.deadline;
        if spent || self.window.over <= ended {
            return false;
        }
        let missed = self.pacer.give_up(ended, self.typical_len);
        self.miss(missed, ended);
        let late = self.pacer.overdue(ended, self.typical_len);
        self.miss(late, ended);
        // They come back when nothing counts any more.
        self.recorder
            .completed_in_ramp
            .add(self.depth_in_use() as u64);
        self.recorder = Arc::new(Recorder::discarding());
        let uncounted = self.recorder.admit(self.in_flight.len());
        self.outstanding.hand_over_to(&uncounted);
        self.outstanding = uncounted;
        self.submit_times = None;
        self.window.deadline = self.window.over;
        true
    }

    #[cold]
    pub(super) fn end(&mut self, now: Nanos) {
        let asked = self.stopper.reason();
        let own = if self.budget == 0 {
            self.budget_reason
        } else {
            Stopped::Runtime
        };
        self.ending = Some(asked.unwrap_or(own));
        // A job that has moved all that it was to move leaves nothing undone.
        if self.budget > 0 {
            self.give_up_schedule(now.min(self.window.deadline));
        }
        if let Some(issue_rules) = &mut self.issue_rules {
            issue_rules.end();
        }
        self.flush.ending();
    }

    /// Counts what was due by `end` and was never begun.
    fn give_up_schedule(&mut self, end: Nanos) {
        let missed = self.pacer.give_up(end, self.typical_len);
        self.miss(missed, end);
        let late = self.pacer.overdue(end, self.typical_len);
        self.miss(late, end);
        if let Some(issue_rules) = &mut self.issue_rules {
            let late = issue_rules.overdue(end, self.typical_len);
            for (direction, missed) in MOVING.into_iter().zip(late) {
                self.recorder.overdue.add(missed.count);
                missed.record(direction, end, &self.recorder);
            }
        }
    }

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
            assert!(
                self.outstanding.count() == 0,
                "all slots are here, and {} are out",
                self.outstanding.count()
            );
            Action::Done
        }
    }
}
