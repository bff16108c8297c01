//! One job of a worker: its requests, pace, budget and counters.
//!
//! A worker drives one job, or all jobs of a pool (see [`blocklab_workload::Pooled`]), which share
//! slots, window and end.

use std::ops::Range;
use std::sync::Arc;

use blocklab_random::Stream;
use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Hits, Invalid, Job, Request, Requests};

use super::parts::{Parts, budget, has_schedule};
use crate::in_flight::Outstanding;
use crate::missed::{Missed, Misses};
use crate::pace::{Due, Pacer};
use crate::recorder::Recorder;
use crate::shares::Allowance;

/// The parts that a job of a worker is made of.
pub struct JobParts {
    /// Its load.
    pub job: Job,
    /// Its targets among those of the worker.
    pub files: Range<usize>,
    /// Its counters.
    pub recorder: Arc<Recorder>,
    /// Its share of the operations, if the jobs have shares.
    pub allowance: Option<Allowance>,
}

/// A job of a worker. The fields of the hot path come first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct WorkerJob {
    /// Measured bytes that may still be issued.
    pub(super) budget: u64,
    /// What is in flight, for other threads to read.
    pub(super) outstanding: Arc<Outstanding>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) requests: Requests,
    pub(super) has_schedule: bool,
    misses: Misses,
    pub(super) pacer: Pacer,
    /// The rule that set the budget.
    pub(super) budget_reason: Stopped,
    pub(super) pooled: Option<Box<InPool>>,
}

/// The state of a job that is in a pool.
#[derive(Debug)]
pub(super) struct InPool {
    pub(super) rank: u32,
    /// Its first target among those of the pool.
    first_file: u32,
    allowance: Option<Allowance>,
    hits: Option<(Hits, Stream)>,
    /// Most arrivals of an open loop that may wait.
    queue: Option<u32>,
    /// Arrivals that found the queue full.
    turned_away: u64,
    /// Alternating rates, the current one, and when the next one begins.
    bursts: Vec<(f64, f64)>,
    burst: usize,
    next_burst: Nanos,
}

/// How long a job that is ahead of its share waits before it checks again: about one operation of a
/// fast device.
const AHEAD: Nanos = Nanos(100_000);

impl WorkerJob {
    pub(super) fn new(own: JobParts, parts: &Parts<'_>) -> Result<Self, Invalid> {
        let (job, seed, thread) = (&own.job, parts.seed, parts.thread);
        let pacer = Pacer::new(job, seed, thread);
        let sizes = &parts.sizes[own.files.clone()];
        let budget = budget(job, thread, sizes)?;
        let mut requests = Requests::new(job, seed, thread, sizes)?;
        if let Some(positions) = parts.shared.positions.get(&job.name) {
            requests.share(positions);
        }
        let pooled = job.pool.as_ref().map(|pooled| {
            Box::new(InPool {
                rank: pooled.rank,
                first_file: own.files.start as u32,
                allowance: own.allowance,
                hits: pooled.hits.map(|hits| (hits, job.chance(seed, "hits", 0))),
                queue: pacer.is_open().then_some(pooled.queue.max(1)),
                turned_away: 0,
                bursts: pooled.bursts.clone(),
                burst: 0,
                next_burst: Nanos::ZERO,
            })
        });
        Ok(Self {
            budget: budget.bytes,
            outstanding: own.recorder.register(parts.slots.len()),
            requests,
            has_schedule: has_schedule(job),
            misses: Misses::new(job.mix),
            pacer,
            recorder: own.recorder,
            budget_reason: budget.end,
            pooled,
        })
    }

    /// The load begins, and in a pool the first of alternating rates.
    pub(super) fn begin(&mut self, start: Nanos) {
        self.pacer.begin(start);
        if let Some(pooled) = &mut self.pooled {
            pooled.next_burst = start;
        }
    }

    /// Whether an operation of a job in a pool may begin.
    #[inline]
    pub(super) fn due_in_pool(&mut self, now: Nanos) -> Due {
        // The other jobs of the pool go on when this one has issued all its bytes.
        let Some(pooled) = self.pooled.as_mut().filter(|_| self.budget > 0) else {
            return Due::AfterDrain;
        };
        if !pooled.bursts.is_empty() {
            pooled.change_rate(now, &mut self.pacer);
        }
        if let Some(allowance) = &mut pooled.allowance
            && !allowance.permits()
        {
            return Due::At(now.saturating_add(AHEAD));
        }
        if let Some(most) = pooled.queue {
            pooled.turned_away += self.pacer.keep_backlog(now, most);
        }
        self.pacer.due(now)
    }

    /// The next operation of the job, with its target as the slots of the pool number it.
    #[inline]
    pub(super) fn draw(&mut self) -> Request {
        let mut request = self.requests.next_request();
        if let Some(pooled) = &mut self.pooled {
            // A job numbers its own targets; the slots of the pool are for those of all jobs.
            request.target += pooled.first_file;
            if let Some((hits, chance)) = &mut pooled.hits {
                redirect(&mut request, *hits, chance);
            }
        }
        request
    }

    /// Takes an operation that has begun from the budget and the share.
    #[inline]
    pub(super) fn begun(&mut self, now: Nanos, len: u32, measured: bool) {
        let missed = self.pacer.begun(now, len);
        if measured {
            self.miss(missed, now);
        }
        let mut counts = measured;
        if let Some(pooled) = &mut self.pooled {
            // A pass of a pool begins with its ramp.
            counts |= self.budget_reason == Stopped::Loops;
            if let Some(allowance) = &mut pooled.allowance {
                allowance.used();
            }
        }
        if counts {
            self.spend(len);
        }
    }

    /// Takes bytes from the budget. With the last ones the job leaves its group.
    #[inline]
    pub(super) fn spend(&mut self, len: u32) {
        self.budget = self.budget.saturating_sub(u64::from(len));
        // The worker may go on for long: it ends when all jobs of its pool have done their bytes.
        if self.budget == 0 {
            self.leave_group();
        }
    }

    #[inline]
    fn miss(&mut self, missed: Missed, now: Nanos) {
        if missed.count > 0 {
            self.misses.count(missed, now, &self.recorder);
        }
    }

    /// Gives up the operations that were due by `end` and never issued; if that is in the measured time
    /// (`measured`), they are counted as missed.
    #[cold]
    pub(super) fn give_up_schedule(&mut self, end: Nanos, measured: bool) {
        let missed = self.pacer.give_up_rest(end).into_iter();
        for missed in missed.filter(|_| measured) {
            self.miss(missed, end);
        }
    }

    /// The worker of the pool ends, and the job with it.
    #[cold]
    pub(super) fn leave_pool(&self) {
        if let Some(pooled) = &self.pooled {
            self.recorder.overdue.add(pooled.turned_away);
        }
        self.leave_group();
    }

    /// The job issues nothing more, so the others of its group need not wait.
    #[cold]
    fn leave_group(&self) {
        let pooled = self.pooled.as_ref();
        if let Some(allowance) = pooled.and_then(|pooled| pooled.allowance.as_ref()) {
            allowance.leave();
        }
    }
}

impl InPool {
    /// Gives the pacer the rate of the burst that this moment lies in.
    fn change_rate(&mut self, now: Nanos, pacer: &mut Pacer) {
        while now >= self.next_burst {
            let (rate, seconds) = self.bursts[self.burst];
            pacer.set_rate(rate, self.next_burst);
            // A burst without a length would keep this loop at one moment.
            let length = Nanos((seconds.max(0.001) * 1e9) as u64);
            self.next_burst = self.next_burst.saturating_add(length);
            self.burst = (self.burst + 1) % self.bursts.len();
        }
    }
}

/// Moves the share of hits to their region.
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
