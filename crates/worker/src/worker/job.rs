//! One job of a worker: its requests, its pace, what it may still do, what it counts.
//!
//! A worker drives one job, or all jobs of a pool (see [`blocklab_workload::Pooled`]): those share
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

/// What a job of a worker is made of.
pub struct JobParts {
    /// What it does.
    pub job: Job,
    /// Its targets among those of the worker.
    pub files: Range<usize>,
    /// What it counts.
    pub recorder: Arc<Recorder>,
    /// Its share of the operations, where shares were asked for.
    pub allowance: Option<Allowance>,
}

/// What every operation needs comes first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct WorkerJob {
    /// Measured bytes that may still be issued.
    pub(super) budget: u64,
    /// What is in flight, for those who look on.
    pub(super) outstanding: Arc<Outstanding>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) requests: Requests,
    pub(super) has_schedule: bool,
    misses: Misses,
    pub(super) pacer: Pacer,
    /// Which rule set the budget.
    pub(super) budget_reason: Stopped,
    pub(super) typical_len: u32,
    pub(super) pooled: Option<Box<InPool>>,
}

/// What a job has only beside others of a pool.
#[derive(Debug)]
pub(super) struct InPool {
    pub(super) rank: u32,
    /// Its first target among those of the pool.
    first_file: u32,
    allowance: Option<Allowance>,
    hits: Option<(Hits, Stream)>,
    /// Arrivals of an open loop that wait at most, and those that found the queue full.
    queue: Option<u32>,
    turned_away: u64,
    /// Rates that take turns, the current one, and when the next one begins.
    bursts: Vec<(f64, f64)>,
    burst: usize,
    next_burst: Nanos,
}

/// How long a job that is ahead of its share waits before it looks again.
const AHEAD: Nanos = Nanos(100_000);

impl WorkerJob {
    pub(super) fn new(own: JobParts, parts: &Parts<'_>) -> Result<Self, Invalid> {
        let (job, seed, thread) = (&own.job, parts.seed, parts.thread);
        let pacer = Pacer::new(job, seed, thread);
        let sizes = &parts.sizes[own.files.clone()];
        let (budget, budget_reason) = budget(job, thread, sizes)?;
        let mut requests = Requests::new(job, seed, thread, sizes)?;
        if let Some(positions) = parts.shared.positions.get(&job.name) {
            requests.share(positions);
        }
        let pooled = job.pool.as_ref().map(|pooled| {
            let chance = || job.chance(seed, "hits", 0);
            Box::new(InPool {
                rank: pooled.rank,
                first_file: own.files.start as u32,
                allowance: own.allowance,
                hits: pooled.hits.map(|hits| (hits, chance())),
                queue: pacer.is_open().then_some(pooled.queue.max(1)),
                turned_away: 0,
                bursts: pooled.bursts.clone(),
                burst: 0,
                next_burst: Nanos::ZERO,
            })
        });
        Ok(Self {
            budget,
            outstanding: own.recorder.admit(parts.slots.len()),
            requests,
            has_schedule: has_schedule(job),
            misses: Misses::of(job.mix),
            pacer,
            recorder: own.recorder,
            budget_reason,
            typical_len: job.sizes.smallest().0 as u32,
            pooled,
        })
    }

    /// The load begins; in a pool the rates that take turns do, too.
    pub(super) fn begin(&mut self, start: Nanos) {
        self.pacer.begin(start);
        if let Some(pooled) = &mut self.pooled {
            pooled.next_burst = start;
        }
    }

    /// Whether an operation may begin, of a job in a pool.
    #[inline]
    pub(super) fn due_in_pool(&mut self, now: Nanos) -> Due {
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

    #[inline]
    pub(super) fn draw(&mut self) -> Request {
        let mut request = self.requests.next_request();
        if let Some(pooled) = &mut self.pooled {
            request.target += pooled.first_file;
            if let Some((hits, chance)) = &mut pooled.hits {
                redirect(&mut request, *hits, chance);
            }
        }
        request
    }

    /// An operation has begun: it takes from the budget, and of a share.
    #[inline]
    pub(super) fn begun(&mut self, now: Nanos, len: u32, measured: bool) {
        let missed = self.pacer.begun(now, len);
        if measured {
            self.miss(missed, now);
        }
        let mut counts = measured;
        if let Some(pooled) = &mut self.pooled {
            // What a pool moves in its ramp is not moved again.
            counts |= self.budget < u64::MAX;
            if let Some(allowance) = &mut pooled.allowance {
                allowance.used();
            }
        }
        if counts {
            self.spend(len);
        }
    }

    /// So many bytes less to do.
    #[inline]
    pub(super) fn spend(&mut self, len: u32) {
        self.budget = self.budget.saturating_sub(u64::from(len));
    }

    #[inline]
    fn miss(&mut self, missed: Missed, now: Nanos) {
        if missed.count > 0 {
            self.misses.count(missed, now, &self.recorder);
        }
    }

    /// Counts what was due by `end` and was never begun.
    #[cold]
    pub(super) fn give_up_schedule(&mut self, end: Nanos, measured: bool) {
        let given_up = self.pacer.give_up(end, self.typical_len);
        let missed = [given_up, self.pacer.overdue(end, self.typical_len)];
        for missed in missed.into_iter().filter(|_| measured) {
            self.miss(missed, end);
        }
    }

    /// It begins nothing any more, and holds nobody up.
    #[cold]
    pub(super) fn leave_pool(&self) {
        if let Some(pooled) = &self.pooled {
            self.recorder.overdue.add(pooled.turned_away);
            if let Some(allowance) = &pooled.allowance {
                allowance.leave();
            }
        }
    }
}

impl InPool {
    fn change_rate(&mut self, now: Nanos, pacer: &mut Pacer) {
        while now >= self.next_burst {
            let (rate, seconds) = self.bursts[self.burst];
            pacer.set_rate(rate, self.next_burst);
            self.next_burst = self.next_burst + Nanos((seconds.max(0.001) * 1e9) as u64);
            self.burst = (self.burst + 1) % self.bursts.len();
        }
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
