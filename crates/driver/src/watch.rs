//! Looks on while the threads works: intervals, the steady state, the end.

use std::time::Duration;

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::Job;

use super::interval_ticker::IntervalTicker;
use super::results::{Frame, so_far};
use super::samples::Sampler;
use super::series::{IntervalSeries, interval};
use super::steady::Rounds;
use super::threads::Threads;
use super::watched::Watched;
use super::workers::WorkerStatus;
use super::{Control, Run, Tap, usage};
use blocklab_worker::Window;

/// How often a signal and the deadlines are looked at.
const TICK: Duration = Duration::from_millis(100);
/// How often the tap is told.
const TAP: Nanos = Nanos::from_millis(500);
/// How often a thread that should have ended is woken from its system call.
const NUDGE: Duration = Duration::from_millis(20);

/// What was there before the gate opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) called: Nanos,
    pub(crate) before: usage::Usage,
}

pub(crate) struct Watch<'a> {
    run: Run<'a>,
    control: Control<'a>,
    start: Nanos,
    windows: Vec<Window>,
    /// Nothing is looked at from here on.
    cool_from: Nanos,
    uses_uring: bool,
    expected_threads: u32,
    uring_workers: u32,
    steady: Vec<Option<Rounds>>,
    interval: Nanos,
    series: IntervalSeries,
    tapped: IntervalSeries,
    interval_ticker: Option<IntervalTicker>,
    /// How often the tap wants everything so far, when it is due next, and what it is told from.
    status: Option<(Nanos, Nanos)>,
    opening: Opening,
    seen: Watched,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(run: Run<'a>, control: Control<'a>, opening: Opening, start: Nanos) -> Self {
        let jobs = &run.workload.jobs;
        let cpu = usage::process_cpu_ns();
        let is_uring = |job: &Job| matches!(job.engine, blocklab_workload::Engine::IoUring(_));
        let windows: Vec<Window> = jobs.iter().map(|job| Window::of(job, start)).collect();
        Self {
            cool_from: Window::cool_from(&windows),
            series: IntervalSeries::new(start, &windows, cpu),
            tapped: IntervalSeries::new(start, &windows, cpu),
            windows,
            uses_uring: jobs.iter().any(is_uring),
            expected_threads: usage::threads(),
            uring_workers: 0,
            steady: jobs
                .iter()
                .map(|job| job.stop.steady.map(Rounds::new))
                .collect(),
            interval: interval(jobs),
            interval_ticker: None,
            status: None,
            opening,
            seen: Watched::from(start, jobs),
            run,
            control,
            start,
        }
    }

    /// Returns when every thread has ended or has been given up.
    pub(crate) fn until_the_end(mut self, threads: &mut Threads, tap: &mut dyn Tap) -> Watched {
        self.interval_ticker = IntervalTicker::of(tap, self.start, &self.run.workload.jobs);
        self.status = tap
            .status_every()
            .map(|every| (every, self.start.saturating_add(every)));
        while !threads.is_complete() {
            let now = self.run.clock.now();
            let patience = self.patience(threads, now);
            let ended = threads.await_end(patience);
            self.seen.slept(patience, self.run.clock.now().since(now));
            if ended {
                threads.workers.end_others();
            }
            let now = self.run.clock.now();
            self.look(threads, tap, now);
            self.press(threads, now);
            if self.is_hopeless(threads, now) {
                self.give_up(threads);
                break;
            }
        }
        let end = self.run.clock.now();
        let last = self.windows.iter().map(|window| window.deadline).max();
        if let Some(interval_ticker) = &mut self.interval_ticker {
            interval_ticker.finish(threads.members(), end, last.unwrap_or(end), tap);
        }
        while self.series.begun < end.min(self.cool_from) {
            self.close_interval(threads, end);
        }
        self.seen.end = end;
        self.seen
    }

    /// How long to sleep: to the next tick, or shorter when somebody overstays.
    fn patience(&self, threads: &Threads, now: Nanos) -> Duration {
        let overstays =
            |member: &WorkerStatus| member.ended.is_none() && self.should_have_ended(member, now);
        if threads.members().iter().any(overstays) {
            return NUDGE;
        }
        let next_interval = self.series.boundary(self.interval);
        let ends = |window: &Window| [window.deadline, window.over];
        let deadlines = self.windows.iter().flat_map(ends);
        let samples = self.seen.samples.iter().filter_map(Sampler::next);
        let soonest = deadlines
            .chain(samples)
            .chain(self.interval_ticker.as_ref().map(IntervalTicker::boundary))
            .filter(|moment| *moment > now)
            .chain([next_interval])
            .min();
        let left = Duration::from(soonest.unwrap_or(next_interval).since(now));
        left.clamp(Duration::from_millis(1), TICK)
    }

    fn look(&mut self, threads: &Threads, tap: &mut dyn Tap, now: Nanos) {
        if self.uses_uring {
            self.count_uring_workers();
        }
        if now >= self.tapped.boundary(TAP) && self.tapped.begun < self.cool_from {
            let now = now.min(self.cool_from);
            let interval = self.tapped.slice(
                threads.members(),
                now,
                usage::process_cpu_ns(),
                self.uring_workers,
            );
            tap.interval(&interval, now.since(self.start));
        }
        // The last slice before a load that is in no result is closed at the end: what is counted
        // late is in the totals, too.
        if now.min(self.cool_from) >= self.series.boundary(self.interval) {
            self.close_interval(threads, now);
        }
        if let Some(interval_ticker) = &mut self.interval_ticker {
            interval_ticker.look(threads.members(), now.min(self.cool_from), tap);
        }
        self.tell_status(threads, tap, now);
        self.seen.look(threads.members(), now);
        self.judge_steadiness(threads, now);
        self.seen.listen(threads.members(), self.control, now);
    }

    fn tell_status(&mut self, threads: &Threads, tap: &mut dyn Tap, now: Nanos) {
        let is_asked = tap.is_asked();
        match self.status.filter(|(_, due)| now >= *due) {
            Some((every, due)) => self.status = Some((every, due.saturating_add(every))),
            None if is_asked => {}
            None => return,
        }
        let frame = Frame {
            called: self.opening.called,
            start: self.start,
            before: self.opening.before,
            after: usage::Usage::now(),
        };
        let seen = Watched {
            end: now,
            samples: self.seen.samples.clone(),
            min_rate: self.seen.min_rate.clone(),
            ..Watched::from(self.start, &[])
        };
        tap.status(&so_far(self.run, &threads.workers, &frame, &seen));
    }

    fn count_uring_workers(&mut self) {
        // The cheap count first: without extra threads there are no workers.
        self.uring_workers = match usage::threads() > self.expected_threads {
            true => usage::uring_workers(),
            false => 0,
        };
        self.seen.uring_workers_max = self.seen.uring_workers_max.max(self.uring_workers);
    }

    fn close_interval(&mut self, threads: &Threads, now: Nanos) {
        let now = now.min(self.cool_from);
        let interval = self.series.slice(
            threads.members(),
            now,
            usage::process_cpu_ns(),
            self.uring_workers,
        );
        if interval.length_ns > 0 {
            self.seen.series.push(interval);
        }
    }

    fn judge_steadiness(&mut self, threads: &Threads, now: Nanos) {
        for (job, rounds) in self.steady.iter_mut().enumerate() {
            let Some(rounds) = rounds else { continue };
            let members = || threads.members().iter().filter(|member| member.job == job);
            let from = self.windows[job].measure_from;
            if rounds.look(members().map(|member| &*member.recorder), now.since(from)) {
                members().for_each(|member| member.stopper.request(Stopped::Steady));
            }
        }
    }

    fn should_have_ended(&self, member: &WorkerStatus, now: Nanos) -> bool {
        member.stopper.reason().is_some() || now >= self.windows[member.job].over
    }

    /// Wakes those who should have ended from the wait that they may be in.
    fn press(&self, threads: &Threads, now: Nanos) {
        threads.interrupt(|member| self.should_have_ended(member, now));
    }

    /// Whether what is still in flight has been waited for long enough.
    fn is_hopeless(&self, threads: &Threads, now: Nanos) -> bool {
        if let Some(at) = self.seen.interrupted_at {
            return now.since(at) > self.control.drain_limit_interrupted;
        }
        let mut waiting = threads
            .members()
            .iter()
            .filter(|member| member.ended.is_none());
        waiting.any(|member| {
            let deadline = self.windows[member.job].over;
            let last = Nanos(member.recorder.last_completion.get());
            // A slow drain is no hang: operations that come back renew the patience.
            let since = deadline.max(last);
            self.should_have_ended(member, now)
                && deadline != Nanos::MAX
                && now.since(since) > self.control.drain_limit
        })
    }

    fn give_up(&mut self, threads: &Threads) {
        self.seen.abandoned = !threads.is_complete();
        let missing = threads
            .members()
            .iter()
            .filter(|member| member.ended.is_none());
        missing.for_each(|member| member.stopper.request(Stopped::Stalled));
    }
}
