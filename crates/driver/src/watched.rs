//! What the watch has seen of a run.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use blocklab_record::{Interval, Stopped};
use blocklab_units::Nanos;
use blocklab_workload::Job;

use super::Control;
use super::min_rate::MinRates;
use super::samples::Sampler;
use super::workers::WorkerStatus;

/// From so long on, a wake-up that comes too late is no delay but a standstill.
const STANDSTILL: Duration = Duration::from_secs(1);

/// What the watch has seen.
pub(crate) struct Watched {
    pub(crate) series: Vec<Interval>,
    pub(crate) end: Nanos,
    /// When a signal asked for the end.
    pub(crate) interrupted_at: Option<Nanos>,
    pub(crate) uring_workers_max: u32,
    /// For how long this process did not run although it was due.
    pub(crate) stood_still: Nanos,
    pub(crate) abandoned: bool,
    pub(crate) samples: Vec<Sampler>,
    pub(crate) min_rate: Vec<MinRates>,
}

impl Watched {
    /// Nothing yet.
    pub(crate) fn from(start: Nanos, jobs: &[Job]) -> Self {
        Self {
            series: Vec::new(),
            end: start,
            interrupted_at: None,
            uring_workers_max: 0,
            stood_still: Nanos::ZERO,
            abandoned: false,
            samples: Sampler::all(jobs, start),
            min_rate: MinRates::all(jobs, start),
        }
    }
}

impl Watched {
    /// Counts a sleep that took far longer than it was meant to: the process was stopped, its
    /// machine was, or no processor was left for it. A busy machine delays a thread by
    /// milliseconds.
    pub(crate) fn slept(&mut self, wanted: Duration, took: Nanos) {
        let over = Duration::from(took).saturating_sub(wanted);
        if over >= STANDSTILL {
            let over = Nanos(over.as_nanos() as u64);
            self.stood_still = self.stood_still.saturating_add(over);
        }
    }

    /// Asks for the end when a signal has come: of those who have not ended.
    pub(crate) fn listen(&mut self, members: &[WorkerStatus], control: Control<'_>, now: Nanos) {
        if self.interrupted_at.is_none() && control.interrupted.load(Relaxed) {
            self.interrupted_at = Some(now);
            let working = members.iter().filter(|member| member.ended.is_none());
            working.for_each(|member| member.stopper.request(Stopped::Interrupted));
        }
    }

    /// Takes samples, and ends the jobs that are too slow.
    pub(crate) fn look(&mut self, members: &[WorkerStatus], now: Nanos) {
        for sampler in &mut self.samples {
            sampler.look(members, now);
        }
        for min_rate in &mut self.min_rate {
            if min_rate.look(members, now) {
                let slow = members.iter().filter(|member| member.job == min_rate.job);
                slow.for_each(|member| member.stopper.request(Stopped::Error));
            }
        }
    }
}
