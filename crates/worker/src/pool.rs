//! Several jobs that share one queue and the operations in flight: see [`blocklab_workload::Pooled`].
//!
//! The state machine has the joint of the single worker; a pool_job is what is left of a worker when
//! slots, window and stopping belong to all.

use std::ops::Range;
use std::sync::Arc;

use blocklab_random::Stream;
use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{
    Direction, ErrorPolicy, Hits, Invalid, Job, MostErrors, Pooled, Request, Requests,
};

use crate::bounds::{Stopper, Window};
use blocklab_workload::Slot;

use crate::missed::{Missed, Misses};
use crate::outstanding::Outstanding;
use crate::pace::{Due, Pacer};
use crate::recorder::{Failure, Recorder};
use crate::shares::Allowance;
use crate::validator::Validator;
use crate::worker::{Action, Parts, budget};
use blocklab_workload::{Completion, Io};

mod validated;

/// What a pool_job is made of.
pub struct PoolJobParts {
    /// What it does.
    pub job: Job,
    /// Its targets among those of the pool.
    pub files: Range<usize>,
    /// What it counts.
    pub recorder: Arc<Recorder>,
    /// Its share of the operations, where shares were asked for.
    pub allowance: Option<Allowance>,
}

struct PoolJob {
    requests: Requests,
    /// Index of its first target among those of the pool.
    first_file: u32,
    pacer: Pacer,
    recorder: Arc<Recorder>,
    allowance: Option<Allowance>,
    hits: Option<(Hits, Stream)>,
    rank: u32,
    queue: u32,
    /// Rates that take turns, the current one, and when the next one begins.
    bursts: Vec<(f64, f64)>,
    burst: usize,
    next_burst: Nanos,
    budget: u64,
    budget_reason: Stopped,
    /// Slots of this pool_job in flight.
    in_flight: u32,
    /// Which of the pool's slots those are, for those who look on.
    outstanding: Arc<Outstanding>,
    /// Arrivals that found the queue full.
    turned_away: u64,
    typical_len: u32,
    is_open: bool,
    has_schedule: bool,
    misses: Misses,
}

#[derive(Debug, Clone, Copy)]
struct InFlight {
    pool_job: u32,
    submitted: Nanos,
    intended: Nanos,
    offset: u64,
    len: u32,
    direction: Direction,
}

/// The load of one pool.
pub struct Pool {
    pool_jobs: Vec<PoolJob>,
    /// The pool_job that is asked first.
    turn: usize,
    window: Window,
    free: Vec<Slot>,
    in_flight: Vec<InFlight>,
    on_error: ErrorPolicy,
    most_errors: Option<MostErrors>,
    failures_in_a_row: u32,
    ending: Option<Stopped>,
    stopper: Arc<Stopper>,
    validator: Option<Box<Validator>>,
}

/// As of the single worker: a device that is gone fails at once, for ever.
const FAILURES_IN_A_ROW: u32 = 1000;
/// How long a pool_job that is ahead of its share waits before it looks again.
const AHEAD: Nanos = Nanos(100_000);

impl Pool {
    /// `pool_jobs` must not be empty; they all have the window of the first.
    pub(crate) fn new(pool_jobs: Vec<PoolJobParts>, parts: Parts<'_>) -> Result<Self, Invalid> {
        assert!(!pool_jobs.is_empty(), "a pool of no jobs has no window");
        assert!(
            !parts.slots.is_empty(),
            "a pool without a slot would wait for ever"
        );
        let window = Window::of(&pool_jobs[0].job, Nanos::ZERO);
        let on_error = pool_jobs[0].job.on_error;
        let pooled = pool_jobs[0].job.pool.as_ref();
        let most_errors = pooled.and_then(|pooled| pooled.most_errors.clone());
        let validator = Validator::of(
            &pool_jobs[0].job,
            parts.slots.len(),
            parts.shared.epoch_micros,
        );
        let pool_jobs: Vec<PoolJob> = pool_jobs
            .into_iter()
            .map(|pool_job| PoolJob::new(pool_job, &parts))
            .collect::<Result<_, Invalid>>()?;
        let idle = InFlight {
            pool_job: 0,
            submitted: Nanos::ZERO,
            intended: Nanos::ZERO,
            offset: 0,
            len: 0,
            direction: Direction::Read,
        };
        Ok(Self {
            pool_jobs,
            turn: 0,
            window,
            in_flight: vec![idle; parts.slots.len()],
            free: parts.slots,
            on_error,
            most_errors,
            failures_in_a_row: 0,
            ending: None,
            stopper: parts.stopper,
            validator,
        })
    }

    pub(crate) fn begin(&mut self, start: Nanos) {
        self.window = self.window.shifted(start);
        for pool_job in &mut self.pool_jobs {
            pool_job.pacer.begin(start);
            pool_job.next_burst = start;
        }
    }

    /// What to do at this moment.
    #[inline]
    pub(crate) fn next(&mut self, now: Nanos) -> Action {
        if self.ending.is_none() {
            let spent = self.pool_jobs.iter().all(|pool_job| pool_job.budget == 0);
            if now >= self.window.deadline || spent || self.stopper.is_requested() {
                self.end(now, spent);
            } else {
                return self.go_on(now);
            }
        }
        match self.depth_in_use() {
            0 => Action::Done,
            _ => Action::Wait(None),
        }
    }

    #[inline]
    fn go_on(&mut self, now: Nanos) -> Action {
        if self.validator.is_some()
            && let Some(step) = self.next_step(now)
        {
            return step;
        }
        if self.free.is_empty() {
            return Action::Wait(None);
        }
        match self.choose(now) {
            Ok((pool_job, intended)) if self.validator.is_some() => {
                self.issue_validated(pool_job, now, intended)
            }
            Ok((pool_job, intended)) => self.issue(pool_job, now, intended),
            Err(until) => Action::Wait(until.map(|until| until.min(self.window.deadline))),
        }
    }

    /// The pool_job whose operation has waited longest, of the best rank; else when to ask again.
    #[inline]
    fn choose(&mut self, now: Nanos) -> Result<(usize, Nanos), Option<Nanos>> {
        let count = self.pool_jobs.len();
        let mut best: Option<(u32, Nanos, usize)> = None;
        let mut until: Option<Nanos> = None;
        for step in 0..count {
            let index = (self.turn + step) % count;
            let pool_job = &mut self.pool_jobs[index];
            match pool_job.due(now) {
                Due::Now(intended) => {
                    let better = best.is_none_or(|(rank, earliest, _)| {
                        (pool_job.rank, intended) < (rank, earliest)
                    });
                    if better {
                        best = Some((pool_job.rank, intended, index));
                    }
                }
                Due::At(moment) | Due::Spin(moment) => {
                    until = Some(until.map_or(moment, |until| until.min(moment)));
                }
                Due::AfterDrain => {}
            }
        }
        best.map(|(_, intended, index)| (index, intended))
            .ok_or(until)
    }

    #[inline]
    fn issue(&mut self, index: usize, now: Nanos, intended: Nanos) -> Action {
        let Some(slot) = self.free.pop() else {
            return Action::Wait(None);
        };
        self.turn = (index + 1) % self.pool_jobs.len();
        let measured = now >= self.window.measure_from;
        let pool_job = &mut self.pool_jobs[index];
        let request = pool_job.draw();
        pool_job.begun(now, request.len, measured);
        pool_job
            .outstanding
            .begins(slot.index(), request.direction, now);
        self.in_flight[slot.index()] = InFlight {
            pool_job: index as u32,
            submitted: now,
            intended,
            offset: request.offset,
            len: request.len,
            direction: request.direction,
        };
        Action::Issue(Io::of(slot, &request))
    }

    /// Accounts for an operation that came back at this moment.
    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, now: Nanos) {
        let Completion { slot, result } = completion;
        let io = self.in_flight[slot.index()];
        debug_assert!(
            self.free.len() < self.in_flight.len(),
            "slot {} came back, and all were here",
            slot.index()
        );
        debug_assert!(
            now >= io.submitted,
            "an operation came back before it went out"
        );
        self.pool_jobs[io.pool_job as usize]
            .outstanding
            .ends(slot.index());
        if self.validator.is_some() {
            self.after_step(slot, result, now);
        } else {
            self.free.push(slot);
            self.pool_jobs[io.pool_job as usize].in_flight -= 1;
        }
        let pool_job = &self.pool_jobs[io.pool_job as usize];
        pool_job.recorder.last_completion.set(now.0);
        if result != io.len as i32 {
            self.failed(io, result, now);
            return;
        }
        self.failures_in_a_row = 0;
        let service = now.since(io.submitted);
        if now < self.window.measure_from {
            pool_job
                .recorder
                .served_in_ramp(io.direction, io.len, service);
            return;
        }
        let Some(tally) = pool_job.recorder.tally(io.direction) else {
            return;
        };
        tally.served(io.len, service);
        if pool_job.has_schedule
            && let Some(response) = &tally.response
        {
            response.record(now.since(io.intended).0);
        }
    }

    #[cold]
    fn failed(&mut self, io: InFlight, result: i32, now: Nanos) {
        let at = now.since(self.window.start);
        let failure = Failure::of(result, io.direction, at, io.offset);
        self.pool_jobs[io.pool_job as usize].recorder.fail(failure);
        self.failures_in_a_row += 1;
        if self.on_error == ErrorPolicy::Stop || self.failures_in_a_row >= FAILURES_IN_A_ROW {
            self.stopper.request(Stopped::Error);
        }
        self.erred(1);
    }

    /// Counts failed operations or wrong blocks, and ends at the last one that is allowed.
    #[cold]
    fn erred(&mut self, errors: u64) {
        if let Some(most) = &self.most_errors
            && most.count(errors)
        {
            self.stopper.request(Stopped::Error);
        }
    }

    #[cold]
    fn end(&mut self, now: Nanos, spent: bool) {
        let own = match spent {
            true => self.pool_jobs[0].budget_reason,
            false => Stopped::Runtime,
        };
        self.ending = Some(self.stopper.reason().unwrap_or(own));
        self.abandon_steps();
        let end = now.min(self.window.deadline);
        for pool_job in &mut self.pool_jobs {
            // A job that has moved all that it was to move leaves nothing undone.
            if pool_job.budget > 0 {
                let missed = pool_job.pacer.give_up(end, pool_job.typical_len);
                pool_job.miss(missed, end, end >= self.window.measure_from);
                let late = pool_job.pacer.overdue(end, pool_job.typical_len);
                pool_job.miss(late, end, end >= self.window.measure_from);
            }
            pool_job.recorder.overdue.add(pool_job.turned_away);
            if let Some(allowance) = &pool_job.allowance {
                allowance.leave();
            }
        }
    }

    /// Operations in flight.
    #[inline]
    pub(crate) fn depth_in_use(&self) -> usize {
        self.in_flight.len() - self.free.len()
    }

    /// Why it ended, once it has.
    pub(crate) fn stopped(&self) -> Stopped {
        self.ending.unwrap_or(Stopped::Error)
    }

    /// The buffers that are not in flight, for filling them before the start.
    pub(crate) fn idle_slots(&self) -> &[Slot] {
        &self.free
    }

    pub(crate) const fn pool_jobs(&self) -> usize {
        self.pool_jobs.len()
    }
}

impl PoolJob {
    fn new(parts: PoolJobParts, pool: &Parts<'_>) -> Result<Self, Invalid> {
        let seed = pool.seed;
        let PoolJobParts {
            job,
            files,
            recorder,
            allowance,
        } = parts;
        let pooled = job.pool.clone().unwrap_or_else(|| Pooled::new("", 1));
        let pacer = Pacer::new(&job, seed, 0);
        let first_file = files.start as u32;
        let sizes = &pool.sizes[files];
        let (budget, budget_reason) = budget(&job, 0, sizes)?;
        let chance = job.chance(seed, "hits", 0);
        let outstanding = recorder.admit(pool.slots.len());
        let mut requests = Requests::new(&job, seed, 0, sizes)?;
        if let Some(positions) = pool.shared.positions.get(&job.name) {
            requests.share(positions);
        }
        Ok(Self {
            requests,
            first_file,
            is_open: pacer.is_open(),
            has_schedule: pacer.has_schedule(),
            misses: Misses::of(job.mix),
            pacer,
            recorder,
            allowance,
            hits: pooled.hits.map(|hits| (hits, chance)),
            rank: pooled.rank,
            queue: pooled.queue.max(1),
            bursts: pooled.bursts,
            burst: 0,
            next_burst: Nanos::ZERO,
            budget,
            budget_reason,
            in_flight: 0,
            outstanding,
            turned_away: 0,
            typical_len: job.sizes.smallest().0 as u32,
        })
    }

    #[inline]
    fn due(&mut self, now: Nanos) -> Due {
        if self.budget == 0 {
            return Due::AfterDrain;
        }
        if !self.bursts.is_empty() && now >= self.next_burst {
            self.change_rate(now);
        }
        if let Some(allowance) = &mut self.allowance
            && !allowance.permits()
        {
            return Due::At(now.saturating_add(AHEAD));
        }
        if self.is_open {
            self.turned_away += self.pacer.keep_backlog(now, self.queue);
        }
        self.pacer.due(now)
    }

    #[cold]
    fn change_rate(&mut self, now: Nanos) {
        while now >= self.next_burst {
            let (rate, seconds) = self.bursts[self.burst];
            self.pacer.set_rate(rate, self.next_burst);
            self.next_burst = self.next_burst + Nanos((seconds.max(0.001) * 1e9) as u64);
            self.burst = (self.burst + 1) % self.bursts.len();
        }
    }

    #[inline]
    fn draw(&mut self) -> Request {
        let mut request = self.requests.next_request();
        request.target += self.first_file;
        if let Some((hits, chance)) = &mut self.hits {
            redirect(&mut request, *hits, chance);
        }
        request
    }

    #[inline]
    fn begun(&mut self, now: Nanos, len: u32, measured: bool) {
        let missed = self.pacer.begun(now, len);
        self.miss(missed, now, measured);
        if let Some(allowance) = &mut self.allowance {
            allowance.used();
        }
        if measured || self.budget < u64::MAX {
            self.leave_out(len);
        }
        self.recorder.issued.add(1);
        self.in_flight += 1;
    }

    #[inline]
    fn miss(&mut self, missed: Missed, now: Nanos, measured: bool) {
        if missed.count > 0 && measured {
            self.misses.count(missed, now, &self.recorder);
        }
    }

    /// So many bytes less to do.
    #[inline]
    fn leave_out(&mut self, len: u32) {
        self.budget = self.budget.saturating_sub(u64::from(len));
    }
}

/// Sends the share of hits to their part.
fn redirect(request: &mut Request, hits: Hits, chance: &mut Stream) {
    let percent = match request.direction {
        Direction::Read => hits.read_percent,
        _ => hits.write_percent,
    };
    let len = u64::from(request.len);
    if chance.unit() * 100.0 < percent && hits.len >= len {
        request.offset = hits.offset + chance.below(hits.len / len) * len;
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
