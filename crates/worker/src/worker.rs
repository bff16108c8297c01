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

mod complete;
mod ending;
mod parts;
mod read_back;

use std::sync::Arc;

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, ErrorPolicy, Invalid, Io, Job, Request, Requests, Slot};

use crate::bounds::{Stopper, Window};
use crate::flush::Flusher;
use crate::in_flight::InFlight;
use crate::io_priority::IoPriorityDraw;
use crate::issue_rules::{IssueDecision, IssueRules};
use crate::missed::{Missed, Misses};
use crate::outstanding::Outstanding;
use crate::pace::{Due, Pacer};
use crate::recorder::{DepthCounters, Recorder};
use crate::submit_times::SubmitTimes;
use crate::verifier::Verifier;

pub use parts::{Parts, Shared, budget, has_schedule, pass};

/// What a worker wants next.
#[derive(Debug)]
pub enum Action {
    /// Hand this to the target.
    Issue(Io),
    /// Nothing to do before a completion or this moment, whichever comes first.
    Wait(Option<Nanos>),
    /// Nothing to do before this moment, and the processor is to be busy until then.
    Spin(Nanos),
    /// Nothing is in flight and nothing will follow.
    Done,
}

/// One thread's load.
///
/// A simulation drives hundreds of them in turn: what every operation needs comes first, in few
/// lines of the processor's cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Worker {
    /// Nothing but a window, a budget and the next request: most jobs, and all that is fast.
    is_plain: bool,
    ending: Option<Stopped>,
    failures_in_a_row: u32,
    /// Measured bytes that may still be issued.
    budget: u64,
    window: Window,
    free: Vec<Slot>,
    in_flight: Vec<InFlight>,
    /// As `in_flight`, for those who look on.
    outstanding: Arc<Outstanding>,
    recorder: Arc<Recorder>,
    stopper: Arc<Stopper>,
    requests: Requests,
    flush: Flusher,
    has_schedule: bool,
    misses: Misses,
    submit_times: Option<Box<SubmitTimes>>,
    issue_rules: Option<Box<IssueRules>>,
    verifier: Option<Box<Verifier>>,
    io_priority: Option<Box<IoPriorityDraw>>,
    pacer: Pacer,
    /// Which rule set the budget.
    budget_reason: Stopped,
    on_error: ErrorPolicy,
    ignored_errors: Vec<(Direction, i32)>,
    stop_on_enospc: bool,
    typical_len: u32,
    /// Of the verification: the first flaw ends the job, and bytes are kept of so many.
    fatal: bool,
    keep: u32,
    /// Nothing is read back once the time is over.
    in_time: bool,
    /// The last moment that it was told of.
    #[cfg(debug_assertions)]
    last: Nanos,
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
            shared,
        } = parts;
        let start = Nanos::ZERO;
        let pacer = Pacer::new(job, seed, thread);
        let (budget, budget_reason) = budget(job, thread, sizes)?;
        let idle = InFlight {
            submitted: start,
            intended: start,
            offset: 0,
            len: 0,
            file: 0,
            direction: Direction::Read,
            priority: 0,
        };
        let depth = slots.len();
        check(&slots);
        let mut requests = Requests::new(job, seed, thread, sizes)?;
        if let Some(positions) = shared.positions.get(&job.name) {
            requests.share(positions);
        }
        let submit_times = SubmitTimes::wanted(&recorder, depth);
        let verifier = Verifier::of(job, depth, (seed, thread));
        let issue_rules = IssueRules::of(job, (seed, thread), sizes, &shared.flows)?;
        let io_priority = IoPriorityDraw::of(job, (seed, thread));
        let flush = Flusher::new(job.flush, sizes.len() as u32);
        let is_bare = submit_times.is_none()
            && verifier.is_none()
            && issue_rules.is_none()
            && io_priority.is_none();
        Ok(Self {
            requests,
            has_schedule: has_schedule(job),
            misses: Misses::of(job.mix),
            is_plain: is_bare && pacer.is_never_late() && flush.is_only_at_the_end(),
            pacer,
            window: Window::of(job, start),
            outstanding: recorder.admit(depth),
            in_flight: vec![idle; depth],
            free: slots,
            budget,
            budget_reason,
            flush,
            on_error: job.on_error,
            ignored_errors: job.ignored_errors.clone(),
            stop_on_enospc: job.stop_on_enospc,
            failures_in_a_row: 0,
            ending: None,
            typical_len: job.sizes.smallest().0 as u32,
            submit_times,
            verifier,
            io_priority,
            fatal: job.verify.as_ref().is_some_and(|verify| verify.fatal),
            keep: job.verify.as_ref().map_or(0, |verify| verify.keep),
            in_time: job.verify.as_ref().is_some_and(|verify| verify.in_time),
            issue_rules,
            recorder,
            stopper,
            #[cfg(debug_assertions)]
            last: Nanos::ZERO,
        })
    }

    /// Whether nothing but a window, a budget and the next request is to be heeded.
    pub const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The moment at which the load begins; before it everything counts from zero.
    pub(crate) fn begin(&mut self, start: Nanos) {
        self.window = self.window.shifted(start);
        self.pacer.begin(self.window.start);
        if let Some(issue_rules) = &mut self.issue_rules {
            issue_rules.begin(self.window.start, self.window.measure_from);
        }
    }

    /// What to do at this moment.
    #[inline]
    pub(crate) fn next(&mut self, now: Nanos) -> Action {
        #[cfg(debug_assertions)]
        {
            debug_assert!(
                now >= self.last,
                "time went back from {} to {now}",
                self.last
            );
            self.last = now;
        }
        if self.ending.is_none() {
            let spent = self.budget == 0 || self.stopper.is_requested();
            if (now >= self.window.deadline && !self.cools_down(spent)) || spent {
                self.end(now);
            } else if self.is_plain {
                return self.issue_next(now);
            } else {
                return self.go_on(now);
            }
        }
        self.finish(now)
    }

    /// Of a plain worker: as [`Worker::go_on`], where nothing holds it back.
    #[inline]
    fn issue_next(&mut self, now: Nanos) -> Action {
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let request = self.requests.next_request();
        self.spend(&request, now);
        self.launch(slot, &request, now, now)
    }

    #[inline]
    fn go_on(&mut self, now: Nanos) -> Action {
        if self.free.is_empty() {
            return Action::Wait(None);
        }
        if self.flush.is_due() {
            return self.issue_flush(now);
        }
        if self.verifier.is_some()
            && let Some(check) = self.check_backlog(now)
        {
            return check;
        }
        if self.issue_rules.is_some()
            && let Some(wait) = self.hold(now)
        {
            return wait;
        }
        match self.due(now) {
            Due::Now(intended) => self.issue(now, intended),
            Due::At(moment) => Action::Wait(Some(moment.min(self.window.deadline))),
            Due::Spin(moment) => Action::Spin(moment.min(self.window.deadline)),
            Due::AfterDrain if self.is_idle() => {
                self.pacer.drained(now);
                Action::Wait(Some(now))
            }
            Due::AfterDrain => Action::Wait(None),
        }
    }

    #[inline]
    fn due(&mut self, now: Nanos) -> Due {
        match (self.pacer.due(now), &mut self.issue_rules) {
            (Due::Now(_), Some(issue_rules)) if issue_rules.has_schedule() => {
                issue_rules.due(now, &mut self.requests)
            }
            (due, _) => due,
        }
    }

    /// What to do instead of issuing, where something holds the worker back.
    #[inline(never)]
    fn hold(&mut self, now: Nanos) -> Option<Action> {
        let in_flight = self.depth_in_use();
        match self.issue_rules.as_mut()?.leave(now, in_flight) {
            IssueDecision::Go => None,
            IssueDecision::Stay => Some(Action::Wait(None)),
            IssueDecision::Until(moment) => {
                Some(Action::Wait(Some(moment.min(self.window.deadline))))
            }
        }
    }

    #[inline]
    fn issue(&mut self, now: Nanos, intended: Nanos) -> Action {
        let Some(request) = self.draw() else {
            return Action::Wait(None);
        };
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let missed = self.pacer.begun(now, request.len);
        self.miss(missed, now);
        self.spend(&request, now);
        if request.direction != Direction::Write {
            self.flush.passed();
        }
        let mut action = self.launch(slot, &request, now, intended);
        if let Action::Issue(io) = &mut action {
            self.draw_priority(io);
            self.mark(&io.slot);
            if let Some(verifier) = &mut self.verifier {
                verifier.issued(io.slot.index(), &request);
            }
        }
        if self.issue_rules.is_some() {
            self.restrain(&request, now);
        }
        action
    }

    #[inline]
    fn miss(&mut self, missed: Missed, now: Nanos) {
        if missed.count > 0 && now >= self.window.measure_from {
            self.misses.count(missed, now, &self.recorder);
        }
    }

    /// What a request takes from the budget and brings nearer to a flush.
    #[inline]
    fn spend(&mut self, request: &Request, now: Nanos) {
        if now >= self.window.measure_from {
            self.budget = self.budget.saturating_sub(u64::from(request.len));
        }
        if request.direction == Direction::Write {
            self.flush.written(request.target);
        }
    }

    #[inline]
    fn launch(&mut self, slot: Slot, request: &Request, now: Nanos, intended: Nanos) -> Action {
        self.recorder.issued.add(1);
        self.goes_out(&slot, InFlight::new(request, now, intended));
        Action::Issue(Io::of(slot, request))
    }

    #[inline]
    fn goes_out(&mut self, slot: &Slot, io: InFlight) {
        self.outstanding
            .begins(slot.index(), io.direction, io.submitted);
        self.in_flight[slot.index()] = io;
    }

    #[inline]
    fn draw(&mut self) -> Option<Request> {
        let Some(issue_rules) = &mut self.issue_rules else {
            return Some(self.requests.next_request());
        };
        let in_flight = self.in_flight.iter().filter(|io| io.len > 0);
        issue_rules.draw(&mut self.requests, in_flight)
    }

    #[inline(never)]
    fn restrain(&mut self, request: &Request, now: Nanos) {
        let is_full = self.free.is_empty();
        let issue_rules = self.issue_rules.as_mut();
        if issue_rules.is_some_and(|issue_rules| issue_rules.issued(request, now, is_full)) {
            self.budget = 0;
            self.budget_reason = Stopped::Bytes;
        }
    }

    /// Gives an operation the priority that it draws, where some have one of their own.
    #[inline]
    fn draw_priority(&mut self, io: &mut Io) {
        if let Some(io_priority) = &mut self.io_priority {
            io.priority = io_priority.draw(io.direction, io.len);
            self.in_flight[io.slot.index()].priority = io.priority;
        }
    }

    #[inline]
    fn mark(&mut self, slot: &Slot) {
        let in_flight = self.depth_in_use();
        if let Some(submit_times) = &mut self.submit_times {
            submit_times.issued(slot.index(), in_flight, &self.recorder);
        }
    }

    fn issue_flush(&mut self, now: Nanos) -> Action {
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let (file, sync) = self.flush.take();
        self.recorder.issued.add(1);
        let io = InFlight {
            submitted: now,
            intended: now,
            offset: 0,
            len: 0,
            file,
            direction: Direction::Sync,
            priority: 0,
        };
        self.goes_out(&slot, io);
        self.mark(&slot);
        Action::Issue(Io {
            slot,
            direction: Direction::Sync,
            sync,
            file,
            len: 0,
            offset: 0,
            priority: 0,
        })
    }

    /// A submitting call handed over what was issued since the last one, and returned at this
    /// moment.
    #[inline]
    pub(crate) fn handed_over(&mut self, now: Nanos) {
        if let Some(submit_times) = &mut self.submit_times {
            submit_times.handed_over(
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
        if self.submit_times.is_some()
            && let Some(depths) = &self.recorder.depths
        {
            DepthCounters::moved(&depths.completed, completions);
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

/// Slots are numbered from 0, and there is one at least: without, a worker would wait for ever.
fn check(slots: &[Slot]) {
    assert!(!slots.is_empty(), "a worker without a slot");
    assert!(
        slots.iter().all(|slot| slot.index() < slots.len()),
        "a slot beyond the {} there are",
        slots.len()
    );
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
