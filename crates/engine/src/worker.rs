//! The load of one thread as a state machine: given now, what do I do?
//!
//! ```text
//!             ┌────────── next(now) ──────────┐
//!             ▼              ▼                ▼
//!        Issue(io)      Wait(until)          Done
//!             │              │
//!             └─▶ target ────┴─▶ complete(completion, now)
//! ```
//!
//! It knows no clock and no kernel, so the same worker drives a ring in real time and a device
//! model in virtual time. Depth, pattern, pace, stop rule and warm-up are values in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, ErrorPolicy, Extent, Invalid, Job, Requests, TargetOrder};

use crate::buffers::Slot;
use crate::flush::Flusher;
use crate::pace::{Due, Pacer};
use crate::recorder::{DepthCounters, Failure, Recorder, Tally};

/// One operation on its way to a target, with the right to its buffer.
#[derive(Debug)]
pub struct Io {
    /// The buffer.
    pub slot: Slot,
    /// What to do.
    pub direction: Direction,
    /// Of a sync: fdatasync instead of fsync.
    pub data_only: bool,
    /// Index of the file in the target.
    pub file: u32,
    /// Bytes; 0 of a sync.
    pub len: u32,
    /// First byte.
    pub offset: u64,
}

/// An operation that came back, with its buffer.
#[derive(Debug)]
pub struct Completion {
    /// The buffer.
    pub slot: Slot,
    /// Bytes moved, or a negated errno. A trim or sync that worked gives its `len`.
    pub result: i32,
}

/// What a worker wants next.
#[derive(Debug)]
pub enum Action {
    /// Hand this to the target.
    Issue(Io),
    /// Nothing to do before a completion or this moment, whichever comes first.
    Wait(Option<Nanos>),
    /// Nothing is in flight and nothing will follow.
    Done,
}

/// Asks all workers of a job to end. The first reason stays.
#[derive(Debug, Default)]
pub(crate) struct Stopper(AtomicU8);

const REASONS: [Stopped; 7] = [
    Stopped::Runtime,
    Stopped::Bytes,
    Stopped::Loops,
    Stopped::Steady,
    Stopped::Error,
    Stopped::Interrupted,
    Stopped::Stalled,
];

impl Stopper {
    pub(crate) fn request(&self, reason: Stopped) {
        let position = REASONS
            .iter()
            .position(|known| *known == reason)
            .unwrap_or(0);
        let _ = self
            .0
            .compare_exchange(0, position as u8 + 1, Relaxed, Relaxed);
    }

    #[inline]
    fn is_requested(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    pub(crate) fn reason(&self) -> Option<Stopped> {
        let code = usize::from(self.0.load(Relaxed));
        code.checked_sub(1).map(|position| REASONS[position])
    }
}

/// The moments that bound a job, on the run's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) start: Nanos,
    /// End of the ramp.
    pub(crate) measure_from: Nanos,
    /// No operation begins after it.
    pub(crate) deadline: Nanos,
}

impl Window {
    pub(crate) fn of(job: &Job, start: Nanos) -> Self {
        let measure_from = start.saturating_add(job.ramp);
        let deadline = match job.stop.runtime {
            Some(runtime) => measure_from.saturating_add(runtime),
            None => Nanos::MAX,
        };
        Self {
            start,
            measure_from,
            deadline,
        }
    }

    const fn shifted(self, by: Nanos) -> Self {
        Self {
            start: self.start.saturating_add(by),
            measure_from: self.measure_from.saturating_add(by),
            deadline: self.deadline.saturating_add(by),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct InFlight {
    submitted: Nanos,
    intended: Nanos,
    offset: u64,
    len: u32,
    direction: Direction,
}

/// One thread's load.
#[derive(Debug)]
pub(crate) struct Worker {
    requests: Requests,
    pacer: Pacer,
    window: Window,
    free: Vec<Slot>,
    in_flight: Vec<InFlight>,
    /// Measured bytes that may still be issued, and which rule set the limit.
    budget: u64,
    budget_reason: Stopped,
    flush: Flusher,
    on_error: ErrorPolicy,
    failures_in_a_row: u32,
    ending: Option<Stopped>,
    is_open: bool,
    typical_len: u32,
    ledger: Option<Box<Ledger>>,
    recorder: Arc<Recorder>,
    stopper: Arc<Stopper>,
}

/// With [`ErrorPolicy::Continue`]: a device that is gone fails at once, for ever.
const FAILURES_IN_A_ROW: u32 = 1000;

/// What a worker is made of besides its job.
pub(crate) struct Parts<'a> {
    pub(crate) thread: u32,
    pub(crate) seed: u64,
    /// Bytes of each target file.
    pub(crate) sizes: &'a [u64],
    pub(crate) slots: Vec<Slot>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) stopper: Arc<Stopper>,
}

impl Worker {
    pub(crate) fn new(job: &Job, parts: Parts<'_>) -> Result<Self, Invalid> {
        let Parts {
            thread,
            seed,
            sizes,
            slots,
            recorder,
            stopper,
        } = parts;
        let start = Nanos::ZERO;
        let pacer = Pacer::new(job, seed, thread);
        let (budget, budget_reason) = budget(job, thread, sizes)?;
        let idle = InFlight {
            submitted: start,
            intended: start,
            offset: 0,
            len: 0,
            direction: Direction::Read,
        };
        let depth = slots.len();
        Ok(Self {
            requests: Requests::new(job, seed, thread, sizes)?,
            is_open: pacer.is_open(),
            pacer,
            window: Window::of(job, start),
            in_flight: vec![idle; slots.len()],
            free: slots,
            budget,
            budget_reason,
            flush: Flusher::new(job.flush, sizes.len() as u32),
            on_error: job.on_error,
            failures_in_a_row: 0,
            ending: None,
            typical_len: job.sizes.smallest().0 as u32,
            ledger: Ledger::wanted(&recorder, depth),
            recorder,
            stopper,
        })
    }

    /// The moment at which the load begins; before it everything counts from zero.
    pub(crate) fn begin(&mut self, start: Nanos) {
        self.window = self.window.shifted(start);
        self.pacer.begin(start);
    }

    /// What to do at this moment.
    #[inline]
    pub(crate) fn next(&mut self, now: Nanos) -> Action {
        if self.ending.is_none() {
            if now >= self.window.deadline || self.budget == 0 || self.stopper.is_requested() {
                self.end(now);
            } else {
                return self.go_on(now);
            }
        }
        self.finish(now)
    }

    #[inline]
    fn go_on(&mut self, now: Nanos) -> Action {
        if self.free.is_empty() {
            return Action::Wait(None);
        }
        if self.flush.is_due() {
            return self.issue_flush(now);
        }
        match self.pacer.due(now) {
            Due::Now(intended) => self.issue(now, intended),
            Due::At(moment) => Action::Wait(Some(moment.min(self.window.deadline))),
            Due::AfterDrain if self.is_idle() => {
                self.pacer.drained(now);
                Action::Wait(Some(now))
            }
            Due::AfterDrain => Action::Wait(None),
        }
    }

    #[inline]
    fn issue(&mut self, now: Nanos, intended: Nanos) -> Action {
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let request = self.requests.next_request();
        self.pacer.begun(now, request.len);
        if now >= self.window.measure_from {
            self.budget = self.budget.saturating_sub(u64::from(request.len));
        }
        if request.direction == Direction::Write {
            self.flush.written(request.target);
        }
        self.recorder.issued.add(1);
        self.in_flight[slot.index()] = InFlight {
            submitted: now,
            intended,
            offset: request.offset,
            len: request.len,
            direction: request.direction,
        };
        self.mark(&slot);
        Action::Issue(Io {
            slot,
            direction: request.direction,
            data_only: false,
            file: request.target,
            len: request.len,
            offset: request.offset,
        })
    }

    #[inline]
    fn mark(&mut self, slot: &Slot) {
        let in_flight = self.depth_in_use();
        if let Some(ledger) = &mut self.ledger {
            ledger.issued(slot.index(), in_flight, &self.recorder);
        }
    }

    fn issue_flush(&mut self, now: Nanos) -> Action {
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let (file, data_only) = self.flush.take();
        self.recorder.issued.add(1);
        self.in_flight[slot.index()] = InFlight {
            submitted: now,
            intended: now,
            offset: 0,
            len: 0,
            direction: Direction::Sync,
        };
        self.mark(&slot);
        Action::Issue(Io {
            slot,
            direction: Direction::Sync,
            data_only,
            file,
            len: 0,
            offset: 0,
        })
    }

    /// Accounts for an operation that came back at this moment.
    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, now: Nanos) {
        let Completion { slot, result } = completion;
        let index = slot.index();
        let io = self.in_flight[index];
        self.free.push(slot);
        self.recorder.last_completion.set(now.0);
        if result != io.len as i32 {
            self.failed(io, result, now);
            return;
        }
        self.failures_in_a_row = 0;
        if now < self.window.measure_from {
            self.recorder.completed_in_ramp.add(1);
            return;
        }
        let Some(tally) = self.recorder.tally(io.direction) else {
            return;
        };
        tally.ios.add(1);
        tally.bytes.add(u64::from(io.len));
        tally.service.record(now.since(io.submitted).0);
        if let Some(ledger) = &self.ledger {
            ledger.completed(tally, index, now);
        }
        if self.is_open
            && let Some(response) = &tally.response
        {
            response.record(now.since(io.intended).0);
        }
    }

    /// A submitting call handed over what was issued since the last one, and returned at this
    /// moment.
    #[inline]
    pub(crate) fn handed_over(&mut self, now: Nanos) {
        if let Some(ledger) = &mut self.ledger {
            ledger.handed_over(
                &self.in_flight,
                &self.recorder,
                now,
                self.window.measure_from,
            );
        }
    }

    /// A wait brought so many completions.
    #[inline]
    pub(crate) fn reaped(&self, completions: usize) {
        if self.ledger.is_some()
            && let Some(depths) = &self.recorder.depths
        {
            DepthCounters::moved(&depths.completed, completions);
        }
    }

    #[cold]
    fn failed(&mut self, io: InFlight, result: i32, now: Nanos) {
        self.recorder.fail(Failure {
            errno: if result < 0 { -result } else { 0 },
            direction: io.direction,
            count: 1,
            first_at: now.since(self.window.start),
            first_offset: io.offset,
        });
        self.failures_in_a_row += 1;
        if self.on_error == ErrorPolicy::Stop || self.failures_in_a_row >= FAILURES_IN_A_ROW {
            self.stopper.request(Stopped::Error);
        }
    }

    #[cold]
    fn end(&mut self, now: Nanos) {
        let asked = self.stopper.reason();
        let own = if self.budget == 0 {
            self.budget_reason
        } else {
            Stopped::Runtime
        };
        self.ending = Some(asked.unwrap_or(own));
        let end = now.min(self.window.deadline);
        self.recorder
            .overdue
            .set(self.pacer.overdue(end, self.typical_len));
        self.flush.ending();
    }

    #[cold]
    fn finish(&mut self, now: Nanos) -> Action {
        if !self.is_idle() {
            return Action::Wait(None);
        }
        let failed = self.stopper.reason() == Some(Stopped::Error);
        if self.flush.is_due() && !failed {
            self.issue_flush(now)
        } else {
            Action::Done
        }
    }

    /// Operations in flight.
    #[inline]
    pub(crate) fn depth_in_use(&self) -> usize {
        self.in_flight.len() - self.free.len()
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.free.len() == self.in_flight.len()
    }

    /// Why it ended, once it has.
    pub(crate) fn stopped(&self) -> Stopped {
        self.ending.unwrap_or(Stopped::Error)
    }

    /// The buffers that are not in flight, for filling them before the start.
    pub(crate) fn idle_slots(&self) -> &[Slot] {
        &self.free
    }
}

fn budget(job: &Job, thread: u32, sizes: &[u64]) -> Result<(u64, Stopped), Invalid> {
    let mut budget = (u64::MAX, Stopped::Runtime);
    if let Some(loops) = job.stop.loops {
        let block = job.sizes.largest().0;
        let mine = |index: &usize| match job.target_order {
            TargetOrder::PerThread => thread as usize % sizes.len() == *index,
            _ => true,
        };
        let mut pass = 0;
        for index in (0..sizes.len()).filter(mine) {
            let extent = Extent::of(job.region, sizes[index], (thread, job.threads), block)?;
            pass += extent.len / block * block;
        }
        budget = (pass * u64::from(loops), Stopped::Loops);
    }
    match job.stop.bytes {
        Some(bytes) if bytes.0 < budget.0 => Ok((bytes.0, Stopped::Bytes)),
        _ => Ok(budget),
    }
}

/// What a worker keeps of its operations only where more than the service latency is wanted.
#[derive(Debug)]
struct Ledger {
    /// Issued since the last submitting call.
    staged: Vec<u32>,
    /// By slot: when the call that handed it over returned.
    handed: Vec<Nanos>,
}

impl Ledger {
    fn wanted(recorder: &Recorder, depth: usize) -> Option<Box<Self>> {
        let directions = Direction::ALL.iter();
        let mut tallies = directions.filter_map(|direction| recorder.tally(*direction));
        let wanted = recorder.depths.is_some() || tallies.any(|tally| tally.submit.is_some());
        wanted.then(|| {
            Box::new(Self {
                staged: Vec::with_capacity(depth),
                handed: vec![Nanos::ZERO; depth],
            })
        })
    }

    fn issued(&mut self, slot: usize, in_flight: usize, recorder: &Recorder) {
        self.staged.push(slot as u32);
        if let Some(depths) = &recorder.depths {
            depths.issued(in_flight);
        }
    }

    fn handed_over(&mut self, ios: &[InFlight], recorder: &Recorder, now: Nanos, from: Nanos) {
        if let Some(depths) = &recorder.depths {
            DepthCounters::moved(&depths.submitted, self.staged.len());
        }
        for slot in self.staged.drain(..) {
            let io = &ios[slot as usize];
            self.handed[slot as usize] = now;
            let tally = recorder.tally(io.direction).filter(|_| now >= from);
            if let Some(submit) = tally.and_then(|tally| tally.submit.as_ref()) {
                submit.record(now.since(io.submitted).0);
            }
        }
    }

    fn completed(&self, tally: &Tally, slot: usize, now: Nanos) {
        if let Some(completion) = &tally.completion {
            completion.record(now.since(self.handed[slot]).0);
        }
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
