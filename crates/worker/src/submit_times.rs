//! In: submissions and completions of a worker. Out: submission and completion latencies, queue
//! depths, the log; only for jobs that record more than the service latency.

use blocklab_units::Nanos;
use blocklab_workload::Direction;

use crate::in_flight::InFlight;
use crate::log::LogEntry;
use crate::recorder::{DepthCounters, DirectionCounters, Recorder};

/// The submissions of one worker.
#[derive(Debug)]
pub(crate) struct SubmitTimes {
    /// Issued since the last submitting call.
    staged: Vec<u32>,
    /// When the submitting call of each slot returned.
    handed: Vec<Nanos>,
}

impl SubmitTimes {
    /// `None` if the recorder keeps nothing of what is measured here.
    pub(crate) fn for_recorder(recorder: &Recorder, depth: usize) -> Option<Box<Self>> {
        let directions = Direction::ALL.iter();
        let mut counters = directions.filter_map(|direction| recorder.counters(*direction));
        let is_needed = recorder.depths().is_some()
            || recorder.log.is_some()
            || counters.any(|counters| counters.submit.is_some());
        is_needed.then(|| {
            Box::new(Self {
                staged: Vec::with_capacity(depth),
                handed: vec![Nanos::ZERO; depth],
            })
        })
    }

    #[inline]
    pub(crate) fn issued(&mut self, slot: usize, in_flight: usize, recorder: &Recorder) {
        self.staged.push(slot as u32);
        if let Some(depths) = recorder.depths() {
            depths.issued(in_flight);
        }
    }

    /// The submitting call has returned. Submission latencies count if it did so in the measured
    /// time, at `from` or later.
    #[inline]
    pub(crate) fn handed_over(
        &mut self,
        ios: &[InFlight],
        recorder: &Recorder,
        now: Nanos,
        from: Nanos,
    ) {
        if let Some(depths) = recorder.depths() {
            DepthCounters::moved(&depths.submitted, self.staged.len());
        }
        for slot in self.staged.drain(..) {
            let io = &ios[slot as usize];
            self.handed[slot as usize] = now;
            let counters = recorder.counters(io.direction).filter(|_| now >= from);
            if let Some(submit) = counters.and_then(|counters| counters.submit.as_ref()) {
                submit.record(now.since(io.submitted).0);
            }
        }
    }

    /// Records the completion latency, and logs the operation if there is a log.
    #[inline]
    pub(crate) fn completed(
        &self,
        counters: &DirectionCounters,
        io: &InFlight,
        slot: usize,
        now: Nanos,
        from: Nanos,
        recorder: &Recorder,
    ) {
        if let Some(completion) = &counters.completion {
            completion.record(self.since_handed_over(slot, now).0);
        }
        if let Some(log) = &recorder.log {
            let entry = self.entry(counters, io, slot, now, from);
            log.lock().expect("no panic under this lock").write(entry);
        }
    }

    /// The log's entry for a completed operation.
    #[inline(never)]
    fn entry(
        &self,
        counters: &DirectionCounters,
        io: &InFlight,
        slot: usize,
        now: Nanos,
        from: Nanos,
    ) -> LogEntry {
        LogEntry {
            begin: io.submitted.since(from),
            end: now.since(from),
            service: now.since(io.submitted),
            submit: if counters.submit.is_some() {
                self.handed[slot].since(io.submitted)
            } else {
                Nanos::ZERO
            },
            direction: io.direction,
            target: io.file,
            len: io.len,
            offset: io.offset,
            priority: io.priority,
        }
    }

    /// The time since the submitting call returned.
    #[inline]
    pub(crate) fn since_handed_over(&self, slot: usize, now: Nanos) -> Nanos {
        now.since(self.handed[slot])
    }
}
