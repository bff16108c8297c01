//! The virtual driver: the same workers, an event queue, and the device model.
//!
//! ```text
//!   queue: (moment, number) ──▶ next event ──▶ worker.complete ──▶ worker.next … ──▶ device.admit
//!              ▲                                                                        │
//!              └──────────────────────── completion at the device's moment ◀────────────┘
//! ```
//!
//! Time jumps from event to event. Events of the same moment keep the order in which they were
//! made, so the same seed gives the same figures on every machine.

mod queue;
mod worker;

use std::sync::Arc;

use blocklab_device::Device;
use blocklab_record::{Measurement, Stopped};
use blocklab_units::Nanos;
use blocklab_workload::{EndsOthers, Job};

use super::interval_ticker::IntervalTicker;
use super::results::{self, Frame};
use super::samples::Sampler;
use super::series::{IntervalSeries, interval};
use super::steady::Rounds;
use super::thread_groups::{Groups, thread_groups};
use super::usage::Usage;
use super::wanted::wanted;
use super::watched::Watched;
use super::workers::{WorkerStatus, Workers};
use super::{Backing, Control, Outcome, Run, Tap, TargetFile};
use crate::Error;
use blocklab_targets::Model;
use blocklab_worker::Recorder;
use blocklab_worker::Shared;
use blocklab_worker::{Stopper, Window};
use blocklab_workload::Completion;

use queue::{Event, Queue};
use worker::{SimStep, SimWorker};

/// Runs a workload whose targets are all simulated, from moment `start` of their devices.
///
/// # Errors
/// When a job does not fit its target.
pub fn simulate(
    run: Run<'_>,
    start: Nanos,
    control: Control<'_>,
    tap: &mut dyn Tap,
) -> Result<Outcome, Error> {
    let models = models(run.targets);
    let mut devices: Vec<_> = models.iter().map(Model::lock).collect();
    let mut simulation = Simulation::new(run, &models, start)?;
    {
        let mut borrowed: Vec<&mut Device> = devices
            .iter_mut()
            .map(|shared| &mut shared.device)
            .collect();
        simulation.play(&run.workload.jobs, &mut borrowed, control, tap);
    }
    Ok(simulation.outcome(run, start))
}

/// Every model once, in the order of the jobs.
fn models(targets: &[Vec<TargetFile>]) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for file in targets.iter().flatten() {
        if let Backing::Simulated(model) = &file.backing
            && !models.iter().any(|known| known.is(model))
        {
            models.push(model.clone());
        }
    }
    models
}

struct Simulation {
    sim_workers: Vec<SimWorker>,
    workers: Workers,
    queue: Queue,
    interval: Nanos,
    series: IntervalSeries,
    tapped: IntervalSeries,
    interval_ticker: Option<IntervalTicker>,
    steady: Vec<Option<Rounds>>,
    windows: Vec<Window>,
    working: usize,
    now: Nanos,
    start: Nanos,
    seen: Watched,
}

/// How often the tap is told, in simulated time: a view that is told of every simulated second
/// would take longer than the simulation.
const TAP: Nanos = Nanos::from_secs(10);

impl Simulation {
    fn new(run: Run<'_>, models: &[Model], start: Nanos) -> Result<Self, Error> {
        let jobs = &run.workload.jobs;
        let mut workers = Workers::default();
        let mut sim_workers = Vec::new();
        let shared = Shared::of(jobs, run.targets.iter().map(Vec::len));
        workers.direct = vec![true; jobs.len()];
        workers.ends_others = jobs.iter().map(|job| job.ends_others).collect();
        let mut groups = Groups::of(jobs);
        for group in thread_groups(jobs, run.targets) {
            let job = &group.job;
            let stopper = Arc::new(Stopper::default());
            let devices = worker::devices(job, &group.files, models)?;
            let first = workers.members.len();
            let mut in_common = false;
            for thread in 0..job.threads {
                let (pool_jobs, mut members) = groups.pool_jobs(&group, jobs, &stopper);
                if members.is_empty() && !in_common {
                    members.push(WorkerStatus {
                        job: group.index,
                        recorder: Arc::new(Recorder::new(wanted(job))),
                        stopper: Arc::clone(&stopper),
                        ended: None,
                    });
                }
                let member = if in_common {
                    first
                } else {
                    workers.members.len()
                };
                workers.members.extend(members);
                let mut worker = SimWorker::new(
                    job,
                    (pool_jobs, member),
                    run.workload.seed,
                    thread,
                    (&group.files, &devices),
                    (&workers.members[member].recorder, &stopper, &shared),
                )?;
                // One thread drives them all, so plain workers can count together: 128 times the
                // buckets of a histogram are more than a processor's cache holds.
                in_common = worker.is_plain() && job.ends_others == EndsOthers::Never;
                worker.worker.begin(start);
                sim_workers.push(worker);
            }
        }
        let windows: Vec<Window> = jobs.iter().map(|job| Window::of(job, start)).collect();
        Ok(Self {
            working: sim_workers.len(),
            sim_workers,
            workers,
            queue: Queue::new(start),
            interval: interval(jobs),
            series: IntervalSeries::new(start, &windows, 0),
            tapped: IntervalSeries::new(start, &windows, 0),
            interval_ticker: None,
            steady: jobs
                .iter()
                .map(|job| job.stop.steady.map(Rounds::new))
                .collect(),
            windows,
            now: start,
            start,
            seen: Watched::from(start, jobs),
        })
    }

    fn play(
        &mut self,
        jobs: &[Job],
        devices: &mut [&mut Device],
        control: Control<'_>,
        tap: &mut dyn Tap,
    ) {
        for index in 0..self.sim_workers.len() {
            let member = self.sim_workers[index].member;
            let window = self.windows[self.workers.members[member].job];
            for end in [window.deadline, window.over] {
                if end < Nanos::MAX {
                    self.queue.push(end, Event::wake(index as u32));
                }
            }
            self.workers.members[member]
                .recorder
                .first_issue
                .set(self.start.0);
            self.turn(index, None, devices);
        }
        let over = self.windows.iter().map(|window| window.over).max();
        let over = over.unwrap_or(Nanos::MAX);
        let mut next_look = self.start;
        self.interval_ticker = IntervalTicker::of(tap, self.start, jobs);
        while self.working > 0 {
            let Some((at, event)) = self.queue.pop() else {
                break;
            };
            // After it, what is in flight is given up: the device does not answer.
            if at > over.max(self.now).saturating_add(control.drain_limit) {
                break;
            }
            debug_assert!(
                at >= self.now,
                "the next event is of {at}, and it is {}",
                self.now
            );
            self.now = at;
            if at >= next_look {
                next_look = self.look(at, control, tap);
            }
            self.turn(event.worker as usize, event.returned(), devices);
        }
        let last = self.windows.iter().map(|window| window.deadline).max();
        if let Some(interval_ticker) = &mut self.interval_ticker {
            interval_ticker.finish(
                &self.workers.members,
                self.now,
                last.unwrap_or(self.now),
                tap,
            );
        }
        while self.series.begun < self.now.min(Window::cool_from(&self.windows)) {
            self.close(self.now);
        }
        // Most cases end before it is told of again.
        let rest = self.tapped.slice(&self.workers.members, self.now, 0, 0);
        if rest.length_ns > 0 {
            tap.interval(&rest, self.now.since(self.start));
        }
        self.seen.end = self.now;
        self.seen.abandoned = self.working > 0;
    }

    /// One worker's turn: something of it came back, or it wanted to be asked.
    #[inline(always)]
    fn turn(&mut self, index: usize, returned: Option<Completion>, devices: &mut [&mut Device]) {
        let round = SimStep {
            now: self.now,
            worker: index as u32,
            queue: &mut self.queue,
            devices,
        };
        if self.sim_workers[index].turn(returned, round) {
            self.leave(index);
        }
    }

    /// A worker has done all that it had to.
    #[cold]
    fn leave(&mut self, index: usize) {
        self.working -= 1;
        self.sim_workers[index].has_left = true;
        let worker = &self.sim_workers[index];
        let beside = |other: &SimWorker| other.member == worker.member && !other.has_left;
        if self.sim_workers.iter().any(beside) {
            return;
        }
        worker
            .worker
            .leave(&self.workers.members[worker.member].recorder);
        let mine = worker.member..worker.member + worker.worker.members();
        for member in &mut self.workers.members[mine] {
            member.ended = Some(worker.worker.stopped());
        }
        self.workers.end_others();
    }

    /// Closes slices, judges, listens; returns when to look again.
    fn look(&mut self, now: Nanos, control: Control<'_>, tap: &mut dyn Tap) -> Nanos {
        let measured = now.min(Window::cool_from(&self.windows));
        // What ends at the boundary itself belongs to the slice before it.
        while measured > self.series.boundary(self.interval) {
            let boundary = self.series.boundary(self.interval);
            self.close(boundary);
        }
        if let Some(interval_ticker) = &mut self.interval_ticker {
            interval_ticker.look(&self.workers.members, measured, tap);
        }
        if now >= self.tapped.boundary(TAP) {
            let interval = self.tapped.slice(&self.workers.members, now, 0, 0);
            tap.interval(&interval, now.since(self.start));
        }
        self.seen.look(&self.workers.members, now);
        for (job, rounds) in self.steady.iter_mut().enumerate() {
            let Some(rounds) = rounds else { continue };
            let members = || {
                self.workers
                    .members
                    .iter()
                    .filter(|member| member.job == job)
            };
            let measured = now.since(self.windows[job].measure_from);
            if rounds.look(members().map(|member| &*member.recorder), measured) {
                members().for_each(|member| member.stopper.request(Stopped::Steady));
            }
        }
        self.seen.listen(&self.workers.members, control, now);
        // Steady states and signals are looked for ten times a simulated second.
        let samples = self.seen.samples.iter().filter_map(Sampler::next);
        let looks = [
            self.series.boundary(self.interval).saturating_add(Nanos(1)),
            now.saturating_add(Nanos::from_millis(100)),
        ];
        let next = samples.filter(|sample| *sample > now).chain(looks).min();
        next.unwrap_or(now)
    }

    fn close(&mut self, now: Nanos) {
        let now = now.min(Window::cool_from(&self.windows));
        let interval = self.series.slice(&self.workers.members, now, 0, 0);
        if interval.length_ns > 0 {
            self.seen.series.push(interval);
        }
    }

    fn outcome(self, run: Run<'_>, start: Nanos) -> Outcome {
        let usage = Usage::default();
        let frame = Frame {
            called: start,
            start,
            before: usage,
            after: usage,
        };
        let mut outcome = results::outcome(run, &self.workers, &frame, self.seen);
        // Our own processor time is no property of a simulated run.
        outcome.measurement = Measurement {
            cpu: Default::default(),
            ..outcome.measurement
        };
        outcome
    }
}

#[cfg(test)]
#[path = "sim_tests.rs"]
mod tests;
