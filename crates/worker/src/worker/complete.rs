//! What comes back: counted, or taken for a failure.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::errno;
use blocklab_workload::{Direction, ErrorPolicy};

use super::{InFlight, Worker};
use crate::recorder::Failure;
use blocklab_workload::{Completion, Io};

/// With [`ErrorPolicy::Continue`]: a device that is gone fails at once, for ever.
const FAILURES_IN_A_ROW: u32 = 1000;

/// Others would come again with the next operation, such as no space.
const OF_THE_MEDIUM: [i32; 2] = [errno::EIO, errno::EILSEQ];

impl Worker {
    /// [`Worker::complete`] and [`Worker::next`] in one, for what most operations are: one of a
    /// plain worker that came back whole inside the measured time and makes room for the next.
    ///
    /// # Errors
    /// Any other comes back, and nothing is done.
    #[inline(always)]
    pub fn again(&mut self, completion: Completion, now: Nanos) -> Result<Io, Completion> {
        let Completion { slot, result } = completion;
        let io = &mut self.in_flight[slot.index()];
        let goes_on = self.is_plain
            && self.free.is_empty()
            && self.ending.is_none()
            && self.budget > 0
            && now >= self.window.measure_from
            && now < self.window.deadline
            && result == io.len as i32
            && !self.stopper.is_requested();
        if !goes_on {
            return Err(Completion { slot, result });
        }
        let recorder = &*self.recorder;
        if let Some(tally) = recorder.tally(io.direction) {
            tally.served(io.len, now.since(io.submitted));
        }
        recorder.last_completion.set(now.0);
        recorder.issued.add(1);
        self.failures_in_a_row = 0;
        let request = self.requests.next_request();
        *io = InFlight::new(&request, now, now);
        self.outstanding.goes_on(slot.index(), io.direction, now);
        self.spend(&request, now);
        Ok(Io::of(slot, &request))
    }

    /// Accounts for an operation that came back at this moment.
    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, now: Nanos) {
        let Completion { slot, mut result } = completion;
        let index = slot.index();
        let io = self.in_flight[index];
        self.outstanding.ends(index);
        debug_assert!(
            self.free.len() < self.in_flight.len(),
            "slot {index} came back, and all were here"
        );
        debug_assert!(
            now >= io.submitted,
            "slot {index} came back before it went out"
        );
        self.free.push(slot);
        self.recorder.last_completion.set(now.0);
        if self.issue_rules.is_some() && self.back(index, now.since(io.submitted), now) {
            result = -errno::ETIMEDOUT;
        }
        if result != io.len as i32 && !self.is_ignored(io.direction, result) {
            self.failed(io, result, now);
            return;
        }
        self.failures_in_a_row = 0;
        if !self.is_plain {
            self.pacer.completed();
            if let Some(verifier) = &mut self.verifier {
                verifier.completed(index, &io);
            }
        }
        if now < self.window.measure_from {
            let service = now.since(io.submitted);
            self.recorder.served_in_ramp(io.direction, io.len, service);
            return;
        }
        let Some(tally) = self.recorder.tally(io.direction) else {
            return;
        };
        tally.served(io.len, now.since(io.submitted));
        if self.is_plain {
            return;
        }
        if let Some(submit_times) = &self.submit_times {
            submit_times.completed(tally, index, now);
            submit_times.log(&io, index, now, self.window.measure_from, &self.recorder);
        }
        if let Some(table) = &tally.by_priority {
            let submit_times = self.submit_times.as_ref();
            let completion =
                submit_times.map(|submit_times| submit_times.since_handed_over(index, now));
            table.served(io.priority, now.since(io.submitted), completion);
        }
        if self.has_schedule
            && let Some(response) = &tally.response
        {
            response.record(now.since(io.intended).0);
        }
    }

    /// Tells what holds the worker back that an operation came back. Whether it took longer than
    /// any may.
    #[inline(never)]
    fn back(&mut self, index: usize, service: Nanos, now: Nanos) -> bool {
        // No longer in the way of another one.
        self.in_flight[index].len = 0;
        let Some(issue_rules) = &mut self.issue_rules else {
            return false;
        };
        let is_too_slow = issue_rules.is_too_slow(service);
        if let Some(sought) = issue_rules.completed(service, now) {
            self.recorder.found_depth.set(u64::from(sought.depth) + 1);
            if !sought.go_on {
                self.stopper.request(Stopped::Steady);
            }
        }
        is_too_slow
    }

    #[cold]
    fn is_ignored(&self, direction: Direction, result: i32) -> bool {
        self.ignored_errors.contains(&(direction, -result))
    }

    #[cold]
    fn failed(&mut self, io: InFlight, result: i32, now: Nanos) {
        let at = now.since(self.window.start);
        let failure = Failure::of(result, io.direction, at, io.offset);
        self.recorder.fail(failure);
        if self.stop_on_enospc && io.direction == Direction::Write && result == -errno::ENOSPC {
            self.stopper.request(Stopped::Bytes);
            return;
        }
        self.failures_in_a_row += 1;
        let goes_on = match self.on_error {
            ErrorPolicy::Stop => false,
            ErrorPolicy::Continue => true,
            ErrorPolicy::ContinueOn { read, write, .. } => {
                let is_asked = match io.direction {
                    Direction::Read => read,
                    _ => write,
                };
                is_asked && (result >= 0 || OF_THE_MEDIUM.contains(&-result))
            }
        };
        if !goes_on || self.failures_in_a_row >= FAILURES_IN_A_ROW {
            self.stopper.request(Stopped::Error);
        }
    }
}
