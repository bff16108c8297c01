//! In: a completion. Out: its operation counted, or recorded as a failure.

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Completion, Direction, ErrorPolicy, Io, errno};

use super::{InFlight, Worker};
use crate::depth_search::AfterSearch;
use crate::recorder::Failure;

/// Failures in a row that end even [`ErrorPolicy::Continue`]: a removed device fails every operation
/// at once.
const FAILURES_IN_A_ROW: u32 = 1000;

/// Errors that concern one block. Others, such as no space, would repeat with the next operation.
const OF_THE_MEDIUM: [i32; 2] = [errno::EIO, errno::EILSEQ];

impl Worker {
    /// [`Worker::complete`] and [`Worker::next`] in one, for the common case: an operation of a plain
    /// worker that has transferred all its bytes within the measured time and makes room for the
    /// next.
    ///
    /// # Errors
    /// Returns any other completion, and does nothing.
    #[inline(always)]
    pub fn again(&mut self, completion: Completion, now: Nanos) -> Result<Io, Completion> {
        let Completion { slot, result } = completion;
        let io = &mut self.in_flight[slot.index()];
        // With a free slot, one operation would not fill the queue; the caller has to call `next`.
        let goes_on = self.is_plain
            && self.free.is_empty()
            && self.ending.is_none()
            && self.first.budget > 0
            && now >= self.window.measure_from
            && now < self.window.deadline
            && result == io.len as i32
            && !self.stopper.is_requested();
        if !goes_on {
            return Err(Completion { slot, result });
        }
        let recorder = &*self.first.recorder;
        if let Some(counters) = recorder.counters(io.direction) {
            counters.served(io.len, now.since(io.submitted));
        }
        recorder.last_completion.set(now.0);
        recorder.issued.add(1);
        self.failures_in_a_row = 0;
        let request = self.first.requests.next_request();
        *io = InFlight::new(&request, now, now);
        self.first
            .outstanding
            .goes_on(slot.index(), io.direction, now);
        self.spend(&request, now);
        Ok(Io::new(slot, &request))
    }

    /// Accounts for an operation that completed at this moment.
    #[inline]
    pub fn complete(&mut self, completion: Completion, now: Nanos) {
        if self.is_pool() {
            self.complete_in_pool(completion, now)
        } else {
            self.complete_as::<false>(completion, now)
        }
    }

    #[inline(never)]
    fn complete_in_pool(&mut self, completion: Completion, now: Nanos) {
        self.complete_as::<true>(completion, now);
    }

    /// Compiled for a single job and for a pool, so that the first does not pay for the second.
    #[inline(always)]
    fn complete_as<const POOL: bool>(&mut self, completion: Completion, now: Nanos) {
        let Completion { slot, mut result } = completion;
        let index = slot.index();
        let io = self.in_flight[index];
        self.job_as::<POOL>(io.job).outstanding.ends(index);
        debug_assert!(
            self.free.len() < self.in_flight.len(),
            "slot {index} completed, and none was in flight"
        );
        debug_assert!(now >= io.submitted, "slot {index} ends before its issue");
        match self.key_steps.as_mut().filter(|_| POOL) {
            None => self.free.push(slot),
            // A write that is compared by keys may keep its slot for the read that follows.
            Some(steps) => {
                let (went_well, goes_on) = (result == io.len as i32, self.ending.is_none());
                self.free
                    .extend(steps.ended(slot, &io, went_well, goes_on, now));
            }
        }
        let recorder = &self.job_as::<POOL>(io.job).recorder;
        recorder.last_completion.set(now.0);
        let service = now.since(io.submitted);
        // Also for a failed operation: the rules must know that it has left its slot.
        if self.issue_rules.is_some() && self.complete_in_rules(index, service, now) {
            result = -errno::ETIMEDOUT;
        }
        if result != io.len as i32 && !self.is_ignored(io.direction, result) {
            self.failed(io, result, now);
            return;
        }
        self.failures_in_a_row = 0;
        if !self.is_unruled {
            if !POOL {
                self.first.pacer.completed();
            }
            // A write whose failure is ignored has failed all the same: there is nothing to read back.
            if let Some(verifier) = &mut self.verifier
                && result == io.len as i32
            {
                verifier.completed(index);
            }
        }
        let job = self.job_as::<POOL>(io.job);
        if now < self.window.measure_from {
            job.recorder.served_in_ramp(io.direction, io.len, service);
            self.moved_in_ramp(io.len, now);
            return;
        }
        let Some(counters) = job.recorder.counters(io.direction) else {
            return;
        };
        counters.served(io.len, service);
        if self.is_plain {
            return;
        }
        if let Some(submit_times) = &self.submit_times {
            let from = self.window.measure_from;
            submit_times.completed(counters, &io, index, now, from, &job.recorder);
        }
        if let Some(table) = &counters.by_priority {
            let submit_times = self.submit_times.as_ref();
            let completion = submit_times.map(|times| times.since_handed_over(index, now));
            table.served(io.priority, service, completion);
        }
        if job.has_schedule
            && let Some(response) = &counters.response
        {
            response.record(now.since(io.intended).0);
        }
    }

    /// Counts bytes of a ramp by bytes. With the last of them, the measured time begins.
    fn moved_in_ramp(&mut self, bytes: u32, now: Nanos) {
        let Some((ramp, earliest)) = &self.sized_ramp else {
            return;
        };
        let Some(over) = ramp.moved(bytes, now, *earliest) else {
            return;
        };
        self.window = self.window.begun(over);
        self.first.recorder.ramp_over.set(over.0);
        if let Some(issue_rules) = &mut self.issue_rules {
            issue_rules.measure_from(over);
        }
    }

    /// Passes a completed operation to the issue rules. A search for a depth that ends with it may end
    /// the job. Returns whether the operation exceeded the maximum latency.
    #[inline(never)]
    fn complete_in_rules(&mut self, index: usize, service: Nanos, now: Nanos) -> bool {
        let io = self.in_flight[index];
        // A length of 0 overlaps no request.
        self.in_flight[index].len = 0;
        // Its own slot is free again already: if it is the only one, all were in use before.
        let had_no_room = self.free.len() == 1;
        let Some(issue_rules) = &mut self.issue_rules else {
            return false;
        };
        issue_rules.leave_slot(&io, index, now, had_no_room);
        let is_too_slow = issue_rules.is_too_slow(service);
        if let Some(found) = issue_rules.completed(service, now) {
            self.first.recorder.set_found_depth(found.depth);
            match found.next {
                AfterSearch::GoOn => {}
                AfterSearch::LastWindow => {
                    self.window = self.window.begun(now);
                    self.first.recorder.begin_last_window(now);
                }
                AfterSearch::End => self.stopper.request(Stopped::Steady),
            }
        }
        is_too_slow
    }

    #[cold]
    fn is_ignored(&self, direction: Direction, result: i32) -> bool {
        self.ignored_errors.contains(&(direction, -result))
    }

    /// Records a failed operation, and ends the job if its error policy says so.
    #[cold]
    fn failed(&mut self, io: InFlight, result: i32, now: Nanos) {
        let at = now.since(self.window.start);
        let failure = Failure::new(result, io.direction, at, io.offset);
        self.job(io.job).recorder.fail(failure);
        // No space left is the end that such a job asks for, and no error. The write that takes the
        // last room is short.
        let is_full = result >= 0 || [errno::ENOSPC, errno::EDQUOT].contains(&-result);
        if self.stop_on_enospc && io.direction == Direction::Write && is_full {
            self.stopper.request(Stopped::Bytes);
            return;
        }
        self.failures_in_a_row += 1;
        let goes_on = match self.on_error {
            ErrorPolicy::Stop => false,
            ErrorPolicy::Continue => true,
            ErrorPolicy::ContinueOn { read, write, .. } => {
                let is_tolerated = match io.direction {
                    Direction::Read => read,
                    _ => write,
                };
                // A result that is not negative is a short transfer.
                is_tolerated && (result >= 0 || OF_THE_MEDIUM.contains(&-result))
            }
        };
        if !goes_on || self.failures_in_a_row >= FAILURES_IN_A_ROW {
            self.stopper.request(Stopped::Error);
        }
        self.count_errors(1);
    }

    /// Counts failed operations or miscompares. The one that reaches the limit ends the job.
    #[cold]
    pub(super) fn count_errors(&mut self, errors: u64) {
        if let Some(most) = &self.most_errors
            && most.count(errors)
        {
            self.stopper.request(Stopped::Error);
        }
    }
}
