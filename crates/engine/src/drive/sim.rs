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

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use blocklab_device::Device;
use blocklab_record::{Measurement, Stopped};
use blocklab_units::Nanos;
use blocklab_workload::Job;

use super::berths::{Groups, berths};
use super::crew::wanted;
use super::results::{self, Frame};
use super::rhythm::Rhythm;
use super::roster::{Member, Roster};
use super::samples::Sampler;
use super::series::{Slices, interval};
use super::steady::Rounds;
use super::usage::Usage;
use super::watch::Watched;
use super::{Backing, Control, Outcome, Run, Tap, TargetFile};
use crate::Error;
use crate::bounds::{Stopper, Window};
use crate::buffers::Slot;
use crate::load::{Driven, Load};
use crate::model::{Model, question, result};
use crate::pool::LaneParts;
use crate::recorder::Recorder;
use crate::worker::{Action, Completion, Parts, Shared};

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
        simulation.play(&mut borrowed, control, tap);
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

/// What happens at a moment.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// An operation of a worker comes back.
    Completion { worker: u32, slot: u32, result: i32 },
    /// A worker wanted to be asked again.
    Wake { worker: u32 },
}

/// An event with its key: its moment, and below it its number.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u128,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest: that one stands on top of the heap.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// Events by moment and number. What was popped stays on top until it is known whether another
/// event takes its place: most operations are followed by the next one, and a place that is taken
/// over is sifted once instead of twice.
#[derive(Default)]
struct Queue {
    heap: BinaryHeap<Entry>,
    popped: bool,
    made: u64,
}

impl Queue {
    #[inline]
    fn push(&mut self, at: Nanos, event: Event) {
        self.made += 1;
        let entry = Entry {
            key: u128::from(at.0) << 64 | u128::from(self.made),
            event,
        };
        if std::mem::take(&mut self.popped)
            && let Some(mut top) = self.heap.peek_mut()
        {
            *top = entry;
        } else {
            self.heap.push(entry);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(Nanos, Event)> {
        if self.popped {
            self.heap.pop();
        }
        let top = self.heap.peek()?;
        self.popped = true;
        Some((Nanos((top.key >> 64) as u64), top.event))
    }
}

/// A worker and what the driver keeps of it.
struct Seat {
    worker: Load,
    /// The first of the members that it stands for.
    member: usize,
    /// By target of the job: the index of its device.
    devices: Vec<usize>,
    /// Completions that wait until there are enough of them.
    gathered: Vec<Completion>,
    complete: usize,
    /// The earliest wake that is in the queue.
    wake_at: Nanos,
    done: bool,
}

struct Simulation {
    seats: Vec<Seat>,
    roster: Roster,
    queue: Queue,
    interval: Nanos,
    series: Slices,
    tapped: Slices,
    rhythm: Option<Rhythm>,
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
        let mut roster = Roster::default();
        let mut seats = Vec::new();
        let shared = Shared::of(jobs, run.targets.iter().map(Vec::len));
        roster.direct = vec![true; jobs.len()];
        roster.ends_others = jobs.iter().map(|job| job.ends_others).collect();
        let mut groups = Groups::of(jobs);
        for berth in berths(jobs) {
            let job = &berth.job;
            let stopper = Arc::new(Stopper::default());
            for thread in 0..job.threads {
                let (lanes, mut members) = groups.lanes(&berth, jobs, &stopper);
                if members.is_empty() {
                    members.push(Member {
                        job: berth.index,
                        recorder: Arc::new(Recorder::new(wanted(job))),
                        warm: None,
                        stopper: Arc::clone(&stopper),
                        ended: None,
                    });
                }
                let files = &run.targets[berth.index];
                let mut seat = Seat::new(
                    job,
                    (lanes, roster.members.len()),
                    run.workload.seed,
                    thread,
                    files,
                    models,
                    (&members[0].recorder, &stopper, &shared),
                )?;
                seat.worker.begin(start);
                seats.push(seat);
                roster.members.extend(members);
            }
        }
        let ramp = jobs.iter().map(|job| job.ramp).max().unwrap_or_default();
        Ok(Self {
            working: seats.len(),
            seats,
            roster,
            queue: Queue::default(),
            interval: interval(jobs),
            series: Slices::new(start, ramp, 0),
            tapped: Slices::new(start, ramp, 0),
            rhythm: None,
            steady: jobs
                .iter()
                .map(|job| job.stop.steady.map(Rounds::new))
                .collect(),
            windows: jobs.iter().map(|job| Window::of(job, start)).collect(),
            now: start,
            start,
            seen: Watched::from(start, jobs),
        })
    }

    fn play(&mut self, devices: &mut [&mut Device], control: Control<'_>, tap: &mut dyn Tap) {
        for index in 0..self.seats.len() {
            let member = self.seats[index].member;
            let window = self.windows[self.roster.members[member].job];
            for end in [window.deadline, window.over] {
                if end < Nanos::MAX {
                    self.queue.push(
                        end,
                        Event::Wake {
                            worker: index as u32,
                        },
                    );
                }
            }
            self.roster.members[member]
                .recorder
                .first_issue
                .set(self.start.0);
            self.turn(index, devices);
        }
        let mut next_look = self.start;
        self.rhythm = Rhythm::of(tap, self.start, self.windows.len());
        while self.working > 0 {
            let Some((at, event)) = self.queue.pop() else {
                break;
            };
            if at > self.last_moment(control) {
                break;
            }
            self.now = at;
            if at >= next_look {
                next_look = self.look(at, control, tap);
            }
            self.happen(event, devices);
        }
        let last = self.windows.iter().map(|window| window.deadline).max();
        if let Some(rhythm) = &mut self.rhythm {
            rhythm.finish(
                &self.roster.members,
                self.now,
                last.unwrap_or(self.now),
                tap,
            );
        }
        self.close(self.now);
        // Most cases end before it is told of again.
        let rest = self.tapped.slice(&self.roster.members, self.now, 0, 0);
        if rest.length_ns > 0 {
            tap.interval(&rest, self.now.since(self.start));
        }
        self.seen.end = self.now;
        self.seen.abandoned = self.working > 0;
    }

    /// After it, what is in flight is given up: the device does not answer.
    fn last_moment(&self, control: Control<'_>) -> Nanos {
        let ends = self.windows.iter().map(|window| window.over);
        let last = ends.max().unwrap_or(Nanos::MAX);
        last.max(self.now).saturating_add(control.drain_limit)
    }

    #[inline]
    fn happen(&mut self, event: Event, devices: &mut [&mut Device]) {
        let index = match event {
            Event::Completion {
                worker,
                slot,
                result,
            } => {
                let seat = &mut self.seats[worker as usize];
                seat.gathered.push(Completion {
                    slot: Slot::returned(slot),
                    result,
                });
                let enough = seat.complete.min(seat.worker.depth_in_use());
                if seat.gathered.len() < enough {
                    return;
                }
                worker as usize
            }
            Event::Wake { worker } => worker as usize,
        };
        self.turn(index, devices);
    }

    /// Asks a worker until it wants to wait.
    #[inline]
    fn turn(&mut self, index: usize, devices: &mut [&mut Device]) {
        let now = self.now;
        let seat = &mut self.seats[index];
        if !seat.gathered.is_empty() {
            seat.worker.reaped(seat.gathered.len());
        }
        for completion in seat.gathered.drain(..) {
            seat.worker.complete(completion, now);
        }
        loop {
            match seat.worker.next(now) {
                Action::Issue(io) => {
                    let device = &mut devices[seat.devices[io.file as usize]];
                    let answer = device.admit(now, question(&io));
                    let result = result(answer, io.len);
                    let (worker, slot) = (index as u32, io.slot.index() as u32);
                    self.queue.push(
                        answer.at,
                        Event::Completion {
                            worker,
                            slot,
                            result,
                        },
                    );
                }
                Action::Wait(None) => {
                    seat.worker.handed_over(now);
                    return;
                }
                Action::Wait(Some(until)) | Action::Spin(until) => {
                    // A wake that is past or later than this one is of no use any more.
                    if until <= now {
                        continue;
                    }
                    seat.worker.handed_over(now);
                    if seat.wake_at <= now || until < seat.wake_at {
                        seat.wake_at = until;
                        self.queue.push(
                            until,
                            Event::Wake {
                                worker: index as u32,
                            },
                        );
                    }
                    return;
                }
                Action::Done => {
                    if !seat.done {
                        seat.done = true;
                        self.working -= 1;
                        seat.worker
                            .leave(&self.roster.members[seat.member].recorder);
                        let mine = seat.member..seat.member + seat.worker.members();
                        for member in &mut self.roster.members[mine] {
                            member.ended = Some(seat.worker.stopped());
                        }
                        self.roster.end_others();
                    }
                    return;
                }
            }
        }
    }

    /// Closes slices, judges, listens; returns when to look again.
    fn look(&mut self, now: Nanos, control: Control<'_>, tap: &mut dyn Tap) -> Nanos {
        let measured = now.min(Window::cool_from(&self.windows));
        while measured >= self.series.boundary(self.interval) {
            let boundary = self.series.boundary(self.interval);
            self.close(boundary);
        }
        if let Some(rhythm) = &mut self.rhythm {
            rhythm.look(&self.roster.members, measured, tap);
        }
        if now >= self.tapped.boundary(TAP) {
            let interval = self.tapped.slice(&self.roster.members, now, 0, 0);
            tap.interval(&interval, now.since(self.start));
        }
        self.seen.look(&self.roster.members, now);
        for (job, rounds) in self.steady.iter_mut().enumerate() {
            let Some(rounds) = rounds else { continue };
            let members = || {
                self.roster
                    .members
                    .iter()
                    .filter(|member| member.job == job)
            };
            let measured = now.since(self.windows[job].measure_from);
            if rounds.look(members().map(|member| &*member.recorder), measured) {
                members().for_each(|member| member.stopper.request(Stopped::Steady));
            }
        }
        if control.interrupted.load(Relaxed) {
            self.roster
                .members
                .iter()
                .for_each(|m| m.stopper.request(Stopped::Interrupted));
        }
        // Steady states and signals are looked for ten times a simulated second.
        let samples = self.seen.samples.iter().filter_map(Sampler::next);
        let looks = [
            self.series.boundary(self.interval),
            now.saturating_add(Nanos::from_millis(100)),
        ];
        let next = samples.filter(|sample| *sample > now).chain(looks).min();
        next.unwrap_or(now)
    }

    fn close(&mut self, now: Nanos) {
        let now = now.min(Window::cool_from(&self.windows));
        let interval = self.series.slice(&self.roster.members, now, 0, 0);
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
        let mut outcome = results::outcome(run, &self.roster, &frame, self.seen);
        // Our own processor time is no property of a simulated run.
        outcome.measurement = Measurement {
            cpu: Default::default(),
            ..outcome.measurement
        };
        outcome
    }
}

impl Seat {
    fn new(
        job: &Job,
        (lanes, member): (Vec<LaneParts>, usize),
        seed: u64,
        thread: u32,
        files: &[TargetFile],
        models: &[Model],
        (recorder, stopper, shared): (&Arc<Recorder>, &Arc<Stopper>, &Shared),
    ) -> Result<Self, Error> {
        let sizes: Vec<u64> = files.iter().map(|file| file.size).collect();
        let depth = job.effective_depth();
        let parts = Parts {
            thread,
            seed,
            sizes: &sizes,
            slots: (0..depth).rev().map(Slot::returned).collect(),
            recorder: Arc::clone(recorder),
            stopper: Arc::clone(stopper),
            shared,
        };
        let worker = Load::new(job, lanes, parts).map_err(|invalid| Error::Job {
            job: job.name.clone(),
            invalid,
        })?;
        let device = |file: &TargetFile| match &file.backing {
            Backing::Simulated(model) => models.iter().position(|known| known.is(model)),
            _ => None,
        };
        let devices: Option<Vec<usize>> = files.iter().map(device).collect();
        Ok(Self {
            worker,
            member,
            devices: devices.ok_or_else(|| Error::MixedClocks {
                job: job.name.clone(),
            })?,
            gathered: Vec::with_capacity(depth as usize),
            complete: job.batch.complete.min(depth) as usize,
            wake_at: Nanos::ZERO,
            done: false,
        })
    }
}

#[cfg(test)]
#[path = "sim_tests.rs"]
mod tests;
