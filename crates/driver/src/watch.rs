//! In: the counters of the workers, at moments of either clock. Out: intervals, samples, missed rates,
//! the steady state, and the end by a signal.

use std::sync::atomic::Ordering::Relaxed;

use blocklab_record::{Interval, Stopped};
use blocklab_units::Nanos;
use blocklab_worker::Window;

use super::interval_ticker::IntervalTicker;
use super::min_rate::MinRates;
use super::samples::Sampler;
use super::series::{IntervalSeries, interval, shortest_after};
use super::steady::Rounds;
use super::usage::Used;
use super::workers::{WorkerStatus, members_of};
use super::{Control, Event, Observer, Run};

/// The observations of a run.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) series: Vec<Interval>,
    /// The moments that bound each job.
    pub(crate) windows: Vec<Window>,
    pub(crate) end: Nanos,
    /// When a signal ended the run.
    pub(crate) interrupted_at: Option<Nanos>,
    pub(crate) uring_workers_max: u32,
    /// How long this process did not run although it was runnable.
    pub(crate) stood_still: Nanos,
    pub(crate) abandoned: bool,
    pub(crate) samples: Vec<Sampler>,
    pub(crate) min_rate: Vec<MinRates>,
    /// The steady-state rule of each job.
    pub(crate) steady: Vec<Option<Rounds>>,
}

/// Which clock a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockKind {
    /// Real time: each check comes a little after its moment.
    Real,
    /// Virtual time, which does not advance during a check. Steady states and signals are checked ten
    /// times a simulated second.
    Virtual,
}

impl ClockKind {
    /// How often the observer gets an interval. A view of every simulated second would take longer than
    /// the simulation.
    const fn reported_every(self) -> Nanos {
        match self {
            Self::Real => Nanos::from_millis(500),
            Self::Virtual => Nanos::from_secs(10),
        }
    }
}

pub(crate) struct Watch<'a> {
    clock_kind: ClockKind,
    control: Control<'a>,
    start: Nanos,
    /// Nothing is checked from here on.
    cool_from: Nanos,
    interval: Nanos,
    series: IntervalSeries,
    reported: IntervalSeries,
    interval_ticker: Option<IntervalTicker>,
    pub(crate) seen: Seen,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        run: Run<'_>,
        control: Control<'a>,
        clock_kind: ClockKind,
        start: Nanos,
        used: Used,
        observer: &dyn Observer,
    ) -> Self {
        let jobs = &run.workload.jobs;
        let windows: Vec<Window> = jobs.iter().map(|job| Window::for_job(job, start)).collect();
        Self {
            clock_kind,
            control,
            start,
            cool_from: Window::cool_from(&windows),
            interval: interval(jobs),
            series: IntervalSeries::new(start, &windows, used.cpu_ns),
            reported: IntervalSeries::new(start, &windows, used.cpu_ns),
            interval_ticker: IntervalTicker::new(observer, start, jobs),
            seen: Seen {
                end: start,
                samples: Sampler::all(jobs, &windows),
                min_rate: MinRates::all(jobs, &windows),
                windows,
                steady: jobs.iter().map(|job| Rounds::for_stop(&job.stop)).collect(),
                ..Seen::default()
            },
        }
    }

    /// When the current slice of the series ends.
    fn boundary(&self) -> Nanos {
        let elapsed = self.series.begun.since(self.start);
        self.series
            .boundary(self.interval.max(shortest_after(elapsed)))
    }

    /// When the next check is due.
    pub(crate) fn next(&self, now: Nanos) -> Nanos {
        let boundary = self.boundary();
        let samples = self.seen.samples.iter().filter_map(Sampler::next);
        let ahead = samples.filter(|sample| *sample > now);
        let next = match self.clock_kind {
            // Operations that end at the boundary itself belong to the interval before it.
            ClockKind::Virtual => {
                // A tenth of a second of virtual time lets a stop be noticed soon.
                let soon = now.saturating_add(Nanos::from_millis(100));
                let after_boundary = boundary.saturating_add(Nanos(1));
                ahead.chain([after_boundary, soon]).min()
            }
            ClockKind::Real => {
                let windows = self.seen.windows.iter();
                let ends = windows.flat_map(|window| [window.deadline, window.load_end]);
                let ticks = self.interval_ticker.as_ref().map(IntervalTicker::boundary);
                let others = ends.chain(ticks).filter(|moment| *moment > now);
                ahead.chain(others).chain([boundary]).min()
            }
        };
        next.unwrap_or(now)
    }

    /// Checks all that is observed at this moment: closes and reports intervals, takes samples, and
    /// stops jobs that are steady, too slow or interrupted.
    pub(crate) fn check(
        &mut self,
        members: &[WorkerStatus],
        now: Nanos,
        used: Used,
        observer: &mut dyn Observer,
    ) {
        self.end_ramps(members);
        let measured = now.min(self.cool_from);
        match self.clock_kind {
            ClockKind::Virtual => {
                while measured > self.boundary() {
                    self.close(members, self.boundary(), used);
                }
            }
            // The last interval before the cool-down is closed at the very end, because operations that
            // are counted late are in the totals too.
            // After a standstill one long interval covers the ones that were missed: what happened in
            // each of them is not known.
            ClockKind::Real if measured >= self.boundary() => {
                self.close(members, now, used);
            }
            ClockKind::Real => {}
        }
        if let Some(interval_ticker) = &mut self.interval_ticker {
            interval_ticker.cut_due(members, measured, observer);
        }
        let due = self.reported.boundary(self.clock_kind.reported_every());
        if now >= due && self.reported.begun < self.cool_from {
            self.report(members, measured, used, observer);
        }
        for sampler in &mut self.seen.samples {
            sampler.sample_due(members, now);
        }
        for min_rate in &mut self.seen.min_rate {
            if min_rate.check(members, now) {
                stop(members_of(members, min_rate.job), Stopped::Error);
            }
        }
        for (job, rounds) in self.seen.steady.iter_mut().enumerate() {
            let Some(rounds) = rounds else { continue };
            // Nothing completes after the end of a job, and rounds of nothing are equal.
            if members_of(members, job).all(WorkerStatus::has_ended_early) {
                continue;
            }
            let window = self.seen.windows[job];
            let recorders = members_of(members, job).map(|member| &*member.recorder);
            let measured = now.min(window.deadline).since(window.measure_from);
            if rounds.check(recorders, measured) {
                stop(members_of(members, job), Stopped::Steady);
            }
        }
        if self.seen.interrupted_at.is_none() && self.control.interrupted.load(Relaxed) {
            self.seen.interrupted_at = Some(now);
            let working = members.iter().filter(|member| member.ended.is_none());
            stop(working, Stopped::Interrupted);
        }
    }

    /// Notices the end of ramps by bytes and the last windows of searches for a depth, which the
    /// workers report.
    fn end_ramps(&mut self, members: &[WorkerStatus]) {
        let seen = &mut self.seen;
        for (job, window) in seen.windows.iter_mut().enumerate() {
            // 0 as long as no worker of the job has ended its ramp or its search.
            let over = members_of(members, job)
                .map(|member| member.recorder.ramp_over.get())
                .max()
                .unwrap_or_default();
            if over == 0 || window.measure_from == Nanos(over) {
                continue;
            }
            *window = window.begun(Nanos(over));
            for sample in seen.samples.iter_mut().filter(|sample| sample.is_of(job)) {
                sample.begin(window);
            }
            for min_rate in seen
                .min_rate
                .iter_mut()
                .filter(|min_rate| min_rate.job == job)
            {
                min_rate.begin(window);
            }
        }
        self.series.set_bounds(&seen.windows);
        self.reported.set_bounds(&seen.windows);
        self.cool_from = Window::cool_from(&seen.windows);
        // The slices of a search are in no result, as those of a ramp.
        let measured_from = self.series.ramp_end.since(self.start).0;
        let searched = seen.series.iter_mut();
        for slice in searched.take_while(|slice| slice.end_ns <= measured_from) {
            slice.ramp = true;
        }
    }

    /// Every worker has ended or has been given up.
    pub(crate) fn finish(
        &mut self,
        members: &[WorkerStatus],
        end: Nanos,
        used: Used,
        observer: &mut dyn Observer,
    ) {
        self.end_ramps(members);
        let last = self.seen.windows.iter().map(|window| window.deadline).max();
        if let Some(interval_ticker) = &mut self.interval_ticker {
            interval_ticker.finish(members, end, last.unwrap_or(end), observer);
        }
        while self.series.begun < end.min(self.cool_from) {
            self.close(members, end, used);
        }
        // Most simulated cases end before the next interval of the observer.
        if self.clock_kind == ClockKind::Virtual && self.reported.begun < end {
            self.report(members, end, used, observer);
        }
        self.seen.end = end;
    }

    /// Reports the interval since the last report.
    fn report(
        &mut self,
        members: &[WorkerStatus],
        now: Nanos,
        used: Used,
        observer: &mut dyn Observer,
    ) {
        let interval = self.reported.slice(members, now, used);
        observer.event(Event::Interval {
            interval: &interval,
            elapsed: now.since(self.start),
            credits: &[],
        });
    }

    fn close(&mut self, members: &[WorkerStatus], now: Nanos, used: Used) {
        let interval = self.series.slice(members, now.min(self.cool_from), used);
        if interval.length_ns > 0 {
            self.seen.series.push(interval);
        }
    }
}

fn stop<'m>(members: impl Iterator<Item = &'m WorkerStatus>, reason: Stopped) {
    members.for_each(|member| member.stopper.request(reason));
}
