//! Supervises the threads of a run in real time: samples them, interrupts those that are late, gives
//! up those that hang.

use std::time::Duration;

use blocklab_record::{Measurement, Stopped};
use blocklab_units::Nanos;
use blocklab_workload::Engine;

use super::results::{RunSpan, omit_moments, so_far};
use super::threads::Threads;
use super::usage::{self, Usage, Used};
use super::watch::{ClockKind, Seen, Watch};
use super::workers::WorkerStatus;
use super::{Control, Event, Observer, Run};

/// How often a signal and the deadlines are checked.
const TICK: Duration = Duration::from_millis(100);
/// How often a thread that should have ended is woken from its system call.
const INTERRUPT: Duration = Duration::from_millis(20);
/// How long a frame is.
const FRAME: Nanos = Nanos::from_secs(1);
/// A wake-up that is late by this much or more counts as a standstill.
const STANDSTILL: Duration = Duration::from_secs(1);

pub(crate) struct Supervisor<'a> {
    run: Run<'a>,
    control: Control<'a>,
    span: RunSpan,
    uses_uring: bool,
    expected_threads: u32,
    watch: Watch<'a>,
    /// `None`: the observer does not ask for the measurement so far.
    next_status: Option<NextStatus>,
    /// `None`: the observer keeps no frames.
    next_frame: Option<NextFrame>,
    /// When it was last checked whether threads hang.
    checked_at: Nanos,
    /// When the last pause between two such checks ended.
    resumed_at: Nanos,
}

/// The next report of the measurement so far.
#[derive(Clone, Copy)]
struct NextStatus {
    every: Nanos,
    due: Nanos,
}

/// The next frame.
#[derive(Clone, Copy)]
struct NextFrame {
    due: Nanos,
    /// How many slices of the series the frames before it held.
    slices_before: usize,
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(
        run: Run<'a>,
        control: Control<'a>,
        span: RunSpan,
        observer: &dyn Observer,
    ) -> Self {
        let used = Used {
            cpu_ns: usage::process_cpu_ns(),
            uring_workers: 0,
        };
        let status = observer.status_every();
        let mut engines = run.workload.jobs.iter().map(|job| job.engine);
        Self {
            uses_uring: engines.any(|engine| matches!(engine, Engine::IoUring(_))),
            expected_threads: usage::thread_count(),
            watch: Watch::new(run, control, ClockKind::Real, span.start, used, observer),
            next_status: status.map(|every| NextStatus {
                every,
                due: span.start.saturating_add(every),
            }),
            next_frame: observer.keeps_frames().then(|| NextFrame {
                due: span.start.saturating_add(FRAME),
                slices_before: 0,
            }),
            checked_at: span.start,
            resumed_at: span.start,
            run,
            control,
            span,
        }
    }

    /// Returns when every thread has ended or has been given up: with the usage before and after, and
    /// what was observed.
    pub(crate) fn until_the_end(
        mut self,
        threads: &mut Threads,
        observer: &mut dyn Observer,
    ) -> (RunSpan, Seen) {
        let clock = self.run.clock;
        while !threads.is_complete() {
            let now = clock.now();
            let sleep = self.time_to_next_check(threads, now);
            let ended = threads.await_end(sleep);
            self.count_standstill(sleep, clock.now().since(now));
            if ended {
                threads.workers.end_others();
            }
            let now = clock.now();
            let used = self.used();
            self.watch.check(threads.members(), now, used, observer);
            self.report_status(threads, observer, now);
            self.report_frame(threads, observer, now);
            threads.interrupt(|member| self.should_have_ended(member, now));
            if self.is_hopeless(threads, now) {
                self.give_up(threads);
                break;
            }
        }
        let used = self.used();
        self.watch
            .finish(threads.members(), clock.now(), used, observer);
        self.span.after = Usage::now();
        (self.span, self.watch.seen)
    }

    /// How long to sleep: to the next tick, or shorter when a thread is late.
    fn time_to_next_check(&self, threads: &Threads, now: Nanos) -> Duration {
        let mut working = threads
            .members()
            .iter()
            .filter(|member| member.ended.is_none());
        if working.any(|member| self.should_have_ended(member, now)) {
            return INTERRUPT;
        }
        let left = Duration::from(self.watch.next(now).since(now));
        // A check that is due or late must not turn the wait into a busy loop.
        left.clamp(Duration::from_millis(1), TICK)
    }

    /// Counts a sleep that took far longer than requested: the process or its machine was stopped, or
    /// no processor was left for it. A busy machine delays a thread only by milliseconds.
    fn count_standstill(&mut self, requested: Duration, took: Nanos) {
        let over = Duration::from(took).saturating_sub(requested);
        if over >= STANDSTILL {
            let stood_still = &mut self.watch.seen.stood_still;
            *stood_still = stood_still.saturating_add(Nanos(over.as_nanos() as u64));
        }
    }

    /// What the process has used so far. Notes the most worker threads that io_uring had at a time.
    fn used(&mut self) -> Used {
        // The cheap count comes first: without extra threads there are no io_uring workers.
        let uring_workers = if self.uses_uring && usage::thread_count() > self.expected_threads {
            usage::uring_workers()
        } else {
            0
        };
        let most = &mut self.watch.seen.uring_workers_max;
        *most = uring_workers.max(*most);
        Used {
            cpu_ns: usage::process_cpu_ns(),
            uring_workers,
        }
    }

    /// Reports the figures so far, when the interval is over or the observer asks for them.
    fn report_status(&mut self, threads: &Threads, observer: &mut dyn Observer, now: Nanos) {
        let is_requested = observer.is_requested();
        match &mut self.next_status {
            Some(next) if now >= next.due => next.due = next.due.saturating_add(next.every),
            _ if is_requested => {}
            _ => return,
        }
        let measured = self.so_far(threads, now);
        observer.event(Event::Status(&measured));
    }

    /// Reports the frame that is due. After a standstill it includes all slices that ended meanwhile.
    fn report_frame(&mut self, threads: &Threads, observer: &mut dyn Observer, now: Nanos) {
        let Some(frame) = self.next_frame.filter(|frame| now >= frame.due) else {
            return;
        };
        let mut measured = self.so_far(threads, now);
        omit_moments(&mut measured);
        let series = &self.watch.seen.series;
        measured.series = series[frame.slices_before..].to_vec();
        let missed = now.since(frame.due).0 / FRAME.0;
        self.next_frame = Some(NextFrame {
            due: frame.due.saturating_add(Nanos(FRAME.0 * (missed + 1))),
            slices_before: series.len(),
        });
        observer.event(Event::Frame {
            so_far: &measured,
            elapsed: now.since(self.span.start),
            credits: &[],
        });
    }

    fn so_far(&mut self, threads: &Threads, now: Nanos) -> Measurement {
        self.span.after = Usage::now();
        self.watch.seen.end = now;
        so_far(self.run, &threads.workers, &self.span, &self.watch.seen)
    }

    fn should_have_ended(&self, member: &WorkerStatus, now: Nanos) -> bool {
        member.stopper.reason().is_some() || now >= self.watch.seen.windows[member.job].load_end
    }

    /// Whether the wait for operations in flight has been long enough. While the process is stopped, or
    /// its terminal, or an observer has to wait for its disk, no thread can end, or none is seen to end.
    fn is_hopeless(&mut self, threads: &Threads, now: Nanos) -> bool {
        if Duration::from(now.since(self.checked_at)) >= STANDSTILL {
            self.resumed_at = now;
        }
        self.checked_at = now;
        // The user waits now: a completion does not extend this limit.
        if let Some(at) = self.watch.seen.interrupted_at {
            return now.since(at.max(self.resumed_at)) > self.control.drain_limit_interrupted;
        }
        threads
            .members()
            .iter()
            .filter(|member| member.ended.is_none())
            .any(|member| {
                let load_end = self.watch.seen.windows[member.job].load_end;
                let last = Nanos(member.recorder.last_completion.get());
                // A slow drain is not a hang: each completion extends the limit.
                let since = load_end.max(last).max(self.resumed_at);
                // A job without a time limit has no moment from which the wait counts.
                self.should_have_ended(member, now)
                    && load_end != Nanos::MAX
                    && now.since(since) > self.control.drain_limit
            })
    }

    fn give_up(&mut self, threads: &Threads) {
        self.watch.seen.abandoned = !threads.is_complete();
        threads
            .members()
            .iter()
            .filter(|member| member.ended.is_none())
            .for_each(|member| member.stopper.request(Stopped::Stalled));
    }
}
