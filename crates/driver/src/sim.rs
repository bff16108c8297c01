//! In: workers and the models of their devices. Out: their measurement in virtual time, by an event
//! queue.
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
use blocklab_record::{Cpu, Statistic, Unknown};
use blocklab_targets::Model;
use blocklab_units::Nanos;
use blocklab_worker::{Parts, Shared, Stopper};
use blocklab_workload::{Completion, EndsOthers, Slot};

use super::results::{self, RunSpan};
use super::thread_groups::{Allowances, thread_groups};
use super::usage::Used;
use super::watch::{ClockKind, Watch};
use super::workers::Workers;
use super::{Backing, Control, Observer, Outcome, Run, TargetFile};
use crate::Error;

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
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let models = models(run.targets);
    let mut devices: Vec<_> = models.iter().map(Model::lock).collect();
    let mut simulation = Simulation::new(run, &models, start)?;
    let mut watch = Watch::new(
        run,
        control,
        ClockKind::Virtual,
        start,
        Used::default(),
        observer,
    );
    let mut borrowed: Vec<&mut Device> = devices
        .iter_mut()
        .map(|shared| &mut shared.device)
        .collect();
    simulation.play(&mut borrowed, &mut watch, control.drain_limit, observer);
    let span = RunSpan {
        called: start,
        start,
        ..RunSpan::default()
    };
    let mut outcome = results::outcome(run, &simulation.workers, &span, watch.seen);
    // The processor time of this program is not a property of the simulated run, and the simulated one has
    // none.
    outcome.measurement.cpu = Cpu {
        unknown: Unknown::from_iter([Statistic::Process, Statistic::MachineBusy]),
        ..Cpu::default()
    };
    Ok(outcome)
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
    /// Workers that have not ended.
    working: usize,
    now: Nanos,
}

impl Simulation {
    /// Makes the workers of all jobs, and the devices that each thread group has.
    fn new(run: Run<'_>, models: &[Model], start: Nanos) -> Result<Self, Error> {
        let jobs = &run.workload.jobs;
        let mut workers = Workers::new(jobs);
        let mut sim_workers = Vec::new();
        let shared = Shared::new(jobs, run.targets.iter().map(Vec::len));
        let mut allowances = Allowances::new(jobs);
        for group in thread_groups(jobs, run.targets) {
            let job = &group.job;
            let stopper = Arc::new(Stopper::default());
            let devices = worker::devices(job, &group.files, models)?;
            let mut common = None;
            for thread in 0..job.threads {
                let first = workers.members.len();
                let counts = common.map(|first: usize| &workers.members[first].recorder);
                let (parts, members) = allowances.take_for_thread(&group, jobs, &stopper, counts);
                // Later workers of the group count for the members of the first.
                if common.is_none() {
                    workers.members.extend(members);
                }
                let mut worker = SimWorker::new(
                    &group,
                    parts,
                    common.unwrap_or(first),
                    &devices,
                    Parts {
                        thread,
                        seed: run.workload.seed,
                        sizes: &group.files.iter().map(|file| file.size).collect::<Vec<_>>(),
                        // The last one is taken first: slots are used from 0 on.
                        slots: (0..job.effective_depth())
                            .rev()
                            .map(Slot::returned)
                            .collect(),
                        stopper: Arc::clone(&stopper),
                        shared: &shared,
                        keys: None,
                    },
                )?;
                // One thread drives them all, so plain workers can count together: 128 times the
                // buckets of a histogram are more than a processor's cache holds.
                if worker.worker.is_plain() && job.ends_others == EndsOthers::Never {
                    common = common.or(Some(first));
                }
                worker.worker.begin(start);
                sim_workers.push(worker);
            }
        }
        Ok(Self {
            working: sim_workers.len(),
            sim_workers,
            workers,
            queue: Queue::new(start),
            now: start,
        })
    }

    /// Runs the events in the order of their moments until all workers have ended, or are given up.
    fn play(
        &mut self,
        devices: &mut [&mut Device],
        watch: &mut Watch<'_>,
        drain_limit: Nanos,
        observer: &mut dyn Observer,
    ) {
        for index in 0..self.sim_workers.len() {
            let member = &self.workers.members[self.sim_workers[index].member];
            let window = watch.seen.windows[member.job];
            // A worker that waits has no timeout. In real time a signal wakes it at its end; here
            // these events do.
            for end in [window.deadline, window.load_end] {
                if end < Nanos::MAX {
                    self.queue.push(end, Event::wake(index as u32));
                }
            }
            member.recorder.begun.set(self.now.0);
            self.turn(index, None, devices);
        }
        let load_end = watch
            .seen
            .windows
            .iter()
            .map(|window| window.load_end)
            .max()
            .unwrap_or(Nanos::MAX);
        let mut next_check = self.now;
        while self.working > 0 {
            let Some((at, event)) = self.queue.pop() else {
                break;
            };
            // The next event is too far away: operations in flight are given up. Each event before
            // moves the limit, because a slow drain is not a hang.
            if at > load_end.max(self.now).saturating_add(drain_limit) {
                break;
            }
            debug_assert!(
                at >= self.now,
                "the next event is of {at}, and it is {}",
                self.now
            );
            self.now = at;
            // Before the event counts: the intervals that ended until now do not include it.
            if at >= next_check {
                watch.check(&self.workers.members, at, Used::default(), observer);
                next_check = watch.next(at);
            }
            self.turn(event.worker as usize, event.returned(), devices);
        }
        watch.finish(&self.workers.members, self.now, Used::default(), observer);
        watch.seen.abandoned = self.working > 0;
    }

    /// Calls one worker: an operation of it came back, or it requested to be woken.
    #[inline(always)]
    fn turn(&mut self, index: usize, returned: Option<Completion>, devices: &mut [&mut Device]) {
        let step = SimStep {
            now: self.now,
            worker: index as u32,
            queue: &mut self.queue,
            devices,
        };
        if self.sim_workers[index].turn(returned, step) {
            self.leave(index);
        }
    }

    /// A worker has ended.
    #[cold]
    fn leave(&mut self, index: usize) {
        self.working -= 1;
        self.sim_workers[index].has_left = true;
        let worker = &self.sim_workers[index];
        // Workers that count together end together, with the last of them.
        if self
            .sim_workers
            .iter()
            .any(|other| other.member == worker.member && !other.has_left)
        {
            return;
        }
        worker.worker.leave();
        let own = worker.member..worker.member + worker.worker.members();
        for member in &mut self.workers.members[own] {
            member.ended = Some(worker.worker.stopped());
        }
        self.workers.end_others();
    }
}

#[cfg(test)]
#[path = "sim_tests.rs"]
mod tests;
