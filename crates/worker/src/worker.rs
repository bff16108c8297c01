//! The load of one thread as a state machine: at a given moment, it names the next action.
//!
//! ```text
//!             ┌────────── next(now) ──────────┐
//!             ▼              ▼                ▼
//!        Issue(io)      Wait(until)          Done
//!             │              │
//!             └─▶ target ────┴─▶ complete(completion, now)
//! ```
//!
//! It has no clock and calls no kernel, so the same worker drives a ring in real time and a device
//! model in virtual time. Depth, pattern, pace, stop rule and ramp are values in it.

mod complete;
mod ending;
mod job;
mod parts;
mod read_back;
mod steps;

use std::sync::Arc;

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{
    Direction, ErrorPolicy, Flush, Invalid, Io, MostErrors, Request, Slot, SyncKind,
};

use crate::bounds::{Stopper, Window};
use crate::flush::Flusher;
use crate::in_flight::InFlight;
use crate::io_priority::IoPriorityDraw;
use crate::issue_rules::{Issue, IssueDecision, IssueRules};
use crate::key_steps::KeySteps;
use crate::pace::Due;
use crate::recorder::DepthCounters;
use crate::sized_ramp::SizedRamp;
use crate::submit_times::SubmitTimes;
use crate::verifier::Verifier;

pub use job::JobParts;
use job::WorkerJob;
pub use parts::{Parts, Shared, has_schedule};

/// The next action of a worker.
#[derive(Debug)]
pub enum Action {
    /// Hand this to the target.
    Issue(Io),
    /// Nothing to do before a completion or this moment, whichever comes first.
    Wait(Option<Nanos>),
    /// Nothing to do before this moment; the thread busy-waits until then.
    Spin(Nanos),
    /// Nothing is in flight, and nothing follows.
    Done,
}

/// One thread's load: a job, or a pool of jobs that share slots, window and end.
///
/// A simulation drives hundreds of them in turn, so the fields of the hot path come first, in few
/// cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Worker {
    /// Only window, budget and the next request decide the next action: true of most jobs, and of all
    /// fast ones.
    is_unruled: bool,
    /// It has no rules, and only the service latency is recorded.
    is_plain: bool,
    ending: Option<Stopped>,
    failures_in_a_row: u32,
    window: Window,
    free: Vec<Slot>,
    in_flight: Vec<InFlight>,
    stopper: Arc<Stopper>,
    flush: Flusher,
    first: WorkerJob,
    /// The other jobs of a pool.
    others: Vec<WorkerJob>,
    /// The job of a pool whose turn it is.
    turn: u32,
    submit_times: Option<Box<SubmitTimes>>,
    issue_rules: Option<Box<IssueRules>>,
    verifier: Option<Box<Verifier>>,
    key_steps: Option<Box<KeySteps>>,
    /// The end of a ramp by bytes, and when it is over at the earliest.
    sized_ramp: Option<(Arc<SizedRamp>, Nanos)>,
    io_priority: Option<Box<IoPriorityDraw>>,
    on_error: ErrorPolicy,
    ignored_errors: Vec<(Direction, i32)>,
    /// The errors and miscompares that a pool may have before it ends.
    most_errors: Option<MostErrors>,
    /// A full device ends the job as its last byte would.
    stop_on_enospc: bool,
    /// Whether the operations of the engine have a length.
    counts_bytes: bool,
    /// The latest moment so far.
    #[cfg(debug_assertions)]
    last: Nanos,
}

impl Worker {
    /// Drives a job, or all jobs of a pool, which have the window of the first.
    ///
    /// # Errors
    /// [`Invalid`] when a job does not fit its targets.
    ///
    /// # Panics
    /// Without a job or a slot, which would wait for ever.
    pub fn new(jobs: Vec<JobParts>, parts: Parts<'_>) -> Result<Self, Invalid> {
        let lead = jobs.first().expect("a worker without a job").job.clone();
        let (seed, thread, depth) = (parts.seed, parts.thread, parts.slots.len());
        check_slots(&parts.slots);
        let mut jobs = jobs.into_iter().map(|job| WorkerJob::new(job, &parts));
        // The first job is kept apart from the others, so that a single one needs no indirection.
        let first = jobs.next().expect("there is one")?;
        let others = jobs.collect::<Result<_, Invalid>>()?;
        let pooled = lead.pool.as_ref();
        let mut worker = Self {
            is_unruled: false,
            is_plain: false,
            ending: None,
            failures_in_a_row: 0,
            window: Window::for_job(&lead, Nanos::ZERO),
            free: parts.slots,
            in_flight: vec![InFlight::NONE; depth],
            stopper: parts.stopper,
            flush: Flusher::new(Flush::default(), parts.sizes.len() as u32),
            first,
            others,
            turn: 0,
            submit_times: None,
            issue_rules: None,
            verifier: None,
            key_steps: None,
            sized_ramp: (parts.shared.sized_ramps.share(&lead)).map(|ramp| (ramp, lead.ramp)),
            io_priority: None,
            on_error: lead.on_error,
            ignored_errors: lead.ignored_errors.clone(),
            most_errors: pooled.and_then(|pooled| pooled.most_errors.clone()),
            stop_on_enospc: lead.stop_on_enospc,
            counts_bytes: lead.engine.counts_bytes(),
            #[cfg(debug_assertions)]
            last: Nanos::ZERO,
        };
        // The jobs of a pool have ranks, shares and keys instead of rules, headers and flushes.
        if let Some(pooled) = pooled {
            let rule = pooled.validation.as_ref().zip(parts.keys);
            let steps = rule
                .map(|(rule, keys)| KeySteps::new(rule, keys, depth, parts.shared.epoch_micros));
            worker.key_steps = steps.map(Box::new);
        } else {
            worker.flush = Flusher::new(lead.flush, parts.sizes.len() as u32);
            worker.submit_times = SubmitTimes::for_recorder(&worker.first.recorder, depth);
            worker.verifier = Verifier::for_job(&lead, depth, seed, thread);
            worker.issue_rules =
                IssueRules::new(&lead, seed, thread, parts.sizes, &parts.shared.flows)?;
            worker.io_priority = IoPriorityDraw::for_job(&lead, seed, thread);
            // Decided once, so that no operation has to look at each of them.
            worker.is_unruled = worker.counts_bytes
                && worker.verifier.is_none()
                && worker.issue_rules.is_none()
                && worker.io_priority.is_none()
                && worker.first.pacer.is_never_late()
                && worker.flush.is_only_at_the_end();
            worker.is_plain = worker.is_unruled && worker.submit_times.is_none();
        }
        Ok(worker)
    }

    #[inline]
    fn job(&self, index: u32) -> &WorkerJob {
        match index {
            0 => &self.first,
            other => &self.others[other as usize - 1],
        }
    }

    /// [`Self::job`], for callers that are compiled for one job or for a pool.
    #[inline(always)]
    fn job_as<const POOL: bool>(&self, index: u32) -> &WorkerJob {
        if POOL { self.job(index) } else { &self.first }
    }

    #[inline]
    fn job_mut(&mut self, index: u32) -> &mut WorkerJob {
        match index {
            0 => &mut self.first,
            other => &mut self.others[other as usize - 1],
        }
    }

    /// The number of its jobs.
    pub const fn members(&self) -> usize {
        1 + self.others.len()
    }

    const fn is_pool(&self) -> bool {
        self.first.pooled.is_some()
    }

    /// Whether only window, budget and the next request decide the next action, and only the service
    /// latency is recorded.
    pub const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Sets the moment at which the load begins. Until then all moments count from zero.
    pub fn begin(&mut self, start: Nanos) {
        self.window = self.window.shifted(start);
        let start = self.window.start;
        if let Some((_, earliest)) = &mut self.sized_ramp {
            *earliest = earliest.saturating_add(start);
        }
        self.first.begin(start);
        self.others.iter_mut().for_each(|job| job.begin(start));
        if let Some(issue_rules) = &mut self.issue_rules {
            issue_rules.begin(start, self.window.measure_from);
        }
    }

    /// The action at this moment.
    #[inline]
    pub fn next(&mut self, now: Nanos) -> Action {
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
            let spent = self.is_spent() || self.stopper.is_requested();
            // At the end of the measured time, `begin_cool_down` may move the deadline, once.
            if (now >= self.window.deadline && !self.begin_cool_down(spent)) || spent {
                self.end(now);
            } else if self.is_unruled {
                return self.issue_next(now);
            } else {
                return self.go_on(now);
            }
        }
        self.finish(now)
    }

    /// Whether every job has issued all its bytes.
    #[inline]
    fn is_spent(&self) -> bool {
        self.first.budget == 0 && self.others.iter().all(|job| job.budget == 0)
    }

    /// [`Worker::go_on`] of a worker that no rule delays.
    #[inline]
    fn issue_next(&mut self, now: Nanos) -> Action {
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let request = self.first.requests.next_request();
        self.spend(&request, now);
        let index = slot.index();
        let action = self.launch(slot, 0, &request, now, now);
        self.count_submission(index);
        action
    }

    /// The action of a worker that has not ended: a flush, a check, a wait that a rule or the pace
    /// demands, or the next operation.
    #[inline]
    fn go_on(&mut self, now: Nanos) -> Action {
        if self.is_pool() {
            return self.go_on_in_pool(now);
        }
        if self.free.is_empty() {
            return Action::Wait(None);
        }
        // Flushes and checks come before the rules and the pace: they follow from operations that
        // have been issued, and are not among those of the job.
        if self.flush.is_due() {
            return self.issue_flush(now);
        }
        if self.verifier.is_some()
            && let Some(check) = self.check_backlog(now)
        {
            return check;
        }
        if self.issue_rules.is_some()
            && let Some(wait) = self.wait_by_rules(now)
        {
            return wait;
        }
        match self.due(now) {
            Due::Now(intended) => self.issue(now, intended),
            // No wait is longer than the measured time, because only a call of `next` ends it.
            Due::At(moment) => Action::Wait(Some(moment.min(self.window.deadline))),
            Due::Spin(moment) => Action::Spin(moment.min(self.window.deadline)),
            Due::AfterDrain if self.is_idle() => {
                let pause = self.first.pacer.drained(now);
                let issue_rules = self.issue_rules.as_deref_mut();
                let pacers = issue_rules.and_then(|rules| rules.pacers.as_mut());
                // Else the schedules of the directions would make up for the pause after it.
                if let (Some(pause), Some(pacers)) = (pause, pacers) {
                    pacers.put_off(pause, now);
                }
                // The next call finds the pause that has begun now.
                Action::Wait(Some(now))
            }
            Due::AfterDrain => Action::Wait(None),
        }
    }

    #[inline]
    fn due(&mut self, now: Nanos) -> Due {
        match (self.first.pacer.due(now), &mut self.issue_rules) {
            (Due::Now(_), Some(issue_rules)) if issue_rules.has_schedule() => {
                issue_rules.due(now, &mut self.first.requests)
            }
            (due, _) => due,
        }
    }

    /// The wait that a rule demands, if one does.
    #[inline(never)]
    fn wait_by_rules(&mut self, now: Nanos) -> Option<Action> {
        let in_flight = self.depth_in_use();
        match self.issue_rules.as_mut()?.decide(now, in_flight) {
            IssueDecision::Now => None,
            IssueDecision::AfterCompletion => Some(Action::Wait(None)),
            IssueDecision::At(moment) => Some(Action::Wait(Some(moment.min(self.window.deadline)))),
        }
    }

    /// Draws a request and issues it, or waits until there is a slot for it and nothing that it
    /// overlaps.
    #[inline]
    fn issue(&mut self, now: Nanos, intended: Nanos) -> Action {
        // Only a completion can remove the overlap that keeps a request back.
        let Some(mut request) = self.draw() else {
            return Action::Wait(None);
        };
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        if !self.counts_bytes {
            request.len = 0;
        }
        let measured = now >= self.window.measure_from;
        self.first.begun(now, request.len, measured);
        self.first.pacer.issued(self.free.is_empty());
        match request.direction {
            Direction::Write => self.flush.written_at(&request),
            _ => self.flush.issued_other(),
        }
        let index = slot.index();
        let mut action = self.launch(slot, 0, &request, now, intended);
        if let Action::Issue(io) = &mut action {
            self.draw_priority(io);
            self.count_submission(io.slot.index());
            if let Some(verifier) = &mut self.verifier {
                verifier.issued(io.slot.index(), &request);
            }
        }
        if self.issue_rules.is_some() {
            self.pass_to_rules(&request, index, now);
        }
        action
    }

    /// Takes a request of a worker without rules from its budget, and counts it for the final flush.
    #[inline]
    fn spend(&mut self, request: &Request, now: Nanos) {
        if now >= self.window.measure_from {
            self.first.spend(request.len);
        }
        if request.direction == Direction::Write {
            self.flush.written(request.target);
        }
    }

    /// Counts an operation as issued and puts it into its slot.
    #[inline(always)]
    fn launch(
        &mut self,
        slot: Slot,
        job: u32,
        request: &Request,
        now: Nanos,
        intended: Nanos,
    ) -> Action {
        self.job(job).recorder.issued.add(1);
        let io = InFlight::new(request, now, intended);
        self.fill_slot(&slot, InFlight { job, ..io });
        Action::Issue(Io::new(slot, request))
    }

    #[inline(always)]
    fn fill_slot(&mut self, slot: &Slot, io: InFlight) {
        let outstanding = &self.job(io.job).outstanding;
        outstanding.begins(slot.index(), io.direction, io.submitted);
        self.in_flight[slot.index()] = io;
    }

    /// The next request; `None` while it overlaps one in flight.
    #[inline]
    fn draw(&mut self) -> Option<Request> {
        let Some(issue_rules) = &mut self.issue_rules else {
            return Some(self.first.requests.next_request());
        };
        // A worker with rules sets the length of a completed operation to 0.
        let in_flight = self.in_flight.iter().filter(|io| io.len > 0);
        issue_rules.draw(&mut self.first.requests, in_flight)
    }

    /// Passes an issued operation to the rules. The last one of a rule takes the rest of the budget.
    #[inline(never)]
    fn pass_to_rules(&mut self, request: &Request, slot: usize, now: Nanos) {
        let issue = Issue {
            request,
            slot,
            now,
            is_full: self.free.is_empty(),
            measured: now >= self.window.measure_from,
        };
        let (issue_rules, recorder) = (self.issue_rules.as_mut(), &self.first.recorder);
        if issue_rules.is_some_and(|issue_rules| issue_rules.issued(&issue, recorder)) {
            self.first.budget = 0;
            self.first.budget_reason = Stopped::Bytes;
        }
    }

    /// Draws the priority of an operation, where some have one of their own.
    #[inline]
    fn draw_priority(&mut self, io: &mut Io) {
        if let Some(io_priority) = &mut self.io_priority {
            io.priority = io_priority.draw(io.direction, io.len);
            self.in_flight[io.slot.index()].priority = io.priority;
        }
    }

    /// Counts an operation that the next submitting call will hand over.
    #[inline]
    fn count_submission(&mut self, slot: usize) {
        let in_flight = self.depth_in_use();
        if let Some(submit_times) = &mut self.submit_times {
            submit_times.issued(slot, in_flight, &self.first.recorder);
        }
    }

    /// Issues the flush that is due.
    fn issue_flush(&mut self, now: Nanos) -> Action {
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        let (file, sync) = self.flush.take();
        let flush = Request {
            target: file,
            direction: Direction::Sync,
            len: 0,
            offset: 0,
        };
        if let Some(verifier) = &mut self.verifier {
            verifier.flush_issued(slot.index(), file, sync);
        }
        let range = self.flush.take_range(file);
        let mut action = self.launch_extra(slot, &flush, sync, now);
        if let (Action::Issue(io), SyncKind::Range(_), Some(range)) = (&mut action, sync, range) {
            io.offset = range.start;
            // 0, for a range that does not fit into 32 bits, means to the end of the file.
            io.len = u32::try_from(range.end - range.start).unwrap_or(0);
        }
        action
    }

    /// Issues an operation that is not among those of the job: a flush, a check or a trim.
    fn launch_extra(
        &mut self,
        slot: Slot,
        request: &Request,
        sync: SyncKind,
        now: Nanos,
    ) -> Action {
        let mut action = self.launch(slot, 0, request, now, now);
        if let Action::Issue(io) = &mut action {
            io.sync = sync;
            self.count_submission(io.slot.index());
        }
        action
    }

    /// A submitting call has handed over what was issued since the last one, and returned now.
    #[inline]
    pub fn handed_over(&mut self, now: Nanos) {
        if let Some(submit_times) = &mut self.submit_times {
            submit_times.handed_over(
                &self.in_flight,
                &self.first.recorder,
                now,
                self.window.measure_from,
            );
        }
    }

    /// A waiting call returned this many completions.
    #[inline]
    pub fn reaped(&self, completions: usize) {
        if self.submit_times.is_some()
            && let Some(depths) = self.first.recorder.depths()
        {
            DepthCounters::moved(&depths.completed, completions);
        }
    }

    /// Operations in flight.
    #[inline]
    pub fn depth_in_use(&self) -> usize {
        self.in_flight.len() - self.free.len()
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.free.len() == self.in_flight.len()
    }

    /// The queue depth.
    pub const fn depth(&self) -> usize {
        self.in_flight.len()
    }

    /// Why it ended; an error while it has not.
    pub fn stopped(&self) -> Stopped {
        self.ending.unwrap_or(Stopped::Error)
    }
}

/// Slots are numbered from 0, and there is at least one: without one, a worker would wait for ever.
fn check_slots(slots: &[Slot]) {
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

#[cfg(test)]
#[path = "pool_tests.rs"]
mod pool_tests;
