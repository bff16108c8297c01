//! In: the plan of one system. Out: its Record, measured step by step.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use blocklab_driver::{Control, Event, Observer, Outcome, Run, measure_overhead, simulate};
use blocklab_host::guard::Guard;
use blocklab_host::{disk_stats, disk_use_between, environment, throttled_ns};
use blocklab_native as native;
use blocklab_record::{
    DiskUse, JobResult, Measurement, Note, NoteLevel, Origin, Record, Requested, Status, Stopped,
};
use blocklab_targets::{Clock, io_uring_is_available, libaio_is_available};
use blocklab_units::Nanos;
use blocklab_workload::{Case, Direction, Engine, PLAN_FORMAT, Pace, Plan, Rate, Workload};
use jiff::Timestamp;

use crate::models;
use crate::observer::{Relay, emulated};
use crate::opened_target::TargetContext;
use crate::opened_targets::{OpenedTargets, is_null};
use crate::planned::pause_between;
use crate::request::{Request, Setting};
use crate::until::LastJudgement;
use crate::{Error, schedule};

/// The part of a request that becomes one run: the study on one of its systems, or the whole load.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    /// Name of the system; `None`: the study has none.
    pub(crate) system: Option<String>,
    /// Id of the run, unique in its store.
    pub(crate) id: String,
    /// The load.
    pub(crate) plan: Plan,
    /// Targets of the jobs that name none: paths, devices, `null`.
    pub(crate) targets: Vec<String>,
    /// The Record of its interrupted run.
    pub(crate) before: Option<Record>,
    pub(crate) request: &'a Request,
    pub(crate) setting: Setting<'a>,
}

impl Part<'_> {
    /// The settings with which its targets are opened, after `done` measurements.
    pub(crate) fn context(&self, done: u64) -> Result<TargetContext<'_>, Error> {
        let first = self
            .plan
            .cases
            .first()
            .ok_or_else(|| Error::NothingLeft(self.plan.name.clone()))?;
        Ok(TargetContext {
            targets: &self.targets,
            guard: self.setting.guard,
            missing: self.request.missing,
            seed: Workload::seed_of(first.workload.seed, done),
            catalog: self.setting.catalog,
            interrupted: self.setting.interrupted,
        })
    }
}

/// The name and version of the program, as a Record has it.
const TOOL: &str = concat!("blocklab ", env!("CARGO_PKG_VERSION"));

/// A plan on one system, while it runs.
pub(crate) struct SystemRun<'a> {
    plan: Plan,
    /// Case and pass of every measurement, in order.
    steps: Vec<(usize, u32)>,
    /// Number of measurements that were made before an interruption.
    done: usize,
    /// Whether further steps are run: not after a signal or a failure.
    goes_on: bool,
    /// Whether a case was run differently from the plan.
    is_adapted: bool,
    /// Which cases were not precise enough when that was last looked at.
    last_judgement: LastJudgement,
    targets: Vec<String>,
    opened_targets: OpenedTargets,
    clock: Clock,
    /// The time of the devices of a simulated run.
    virtual_now: Nanos,
    request: &'a Request,
    interrupted: &'a AtomicBool,
    /// When each step begins, by `clock`; steps beyond its end begin as soon as they can.
    starts: Vec<Nanos>,
    record: Record,
}

impl<'a> SystemRun<'a> {
    /// Opens the targets of a plan, creating files if needed, and begins the Record.
    ///
    /// # Errors
    /// When a target cannot be used, a signal interrupts the creation of a file, or the moment at which
    /// the first pass begins is over.
    pub(crate) fn open(mut part: Part<'a>, observer: &mut dyn Observer) -> Result<Self, Error> {
        let measured_before = part
            .before
            .as_ref()
            .map_or(0, |record| record.measurements.len());
        let (requested, mut notes) = adapt(&mut part)?;
        // A model that is resumed must not draw the random numbers of its first passes again.
        let context = part.context(measured_before as u64)?;
        let opened_targets =
            OpenedTargets::prepare(&part.plan, &context, &mut |path, done, total| {
                observer.event(Event::LayingOut { path, done, total });
            })?
            .ok_or(Error::Interrupted)?;
        notes.extend(opened_targets.notes.iter().cloned());
        let Part {
            id,
            plan,
            targets,
            request,
            setting,
            ..
        } = part;
        let clock = Clock::start();
        // The moment on which the hosts of a fleet agree once all have laid out their files, else that of
        // the request. In virtual time no host waits for another.
        let ahead = observer.start_in();
        // Read once: a start that is 0 s ahead must not be over a moment later.
        let (now, clock_now) = (Timestamp::now(), clock.now());
        let start_at = ahead
            .map(|ahead| now + Duration::from(ahead))
            .or(request.start_at)
            .filter(|_| opened_targets.origin() != Origin::Simulated);
        let starts = match start_at {
            Some(moment) => schedule::starts(&plan, moment, now, clock_now)?,
            None => Vec::new(),
        };
        let mut record = Record {
            id,
            tool: TOOL.to_owned(),
            requested: Requested {
                start_at: start_at.map(|moment| moment.to_string()),
                ..requested
            },
            notes,
            ..empty_record(&opened_targets, &targets, clock)?
        };
        let steps: Vec<_> = plan.steps().collect();
        if let Some(before) = part.before {
            resume_from(&mut record, before, &steps);
        }
        Ok(Self {
            done: record.measurements.len(),
            goes_on: true,
            is_adapted: false,
            last_judgement: LastJudgement::default(),
            steps,
            plan,
            targets,
            opened_targets,
            clock,
            virtual_now: Nanos::ZERO,
            request,
            interrupted: setting.interrupted,
            starts,
            record,
        })
    }

    /// Whether there is such a step, and the run goes on.
    pub(crate) fn has(&self, step: usize) -> bool {
        step < self.steps.len() && self.goes_on
    }

    /// What was measured so far.
    pub(crate) const fn record(&self) -> &Record {
        &self.record
    }

    /// Makes one measurement, unless it was made before an interruption.
    ///
    /// # Errors
    /// When the first measurement of the run cannot begin. A later one that cannot ends the run, and the
    /// Record tells why.
    pub(crate) fn step(&mut self, step: usize, observer: &mut dyn Observer) -> Result<(), Error> {
        if step < self.done {
            // The plan does not hold the passes that the interrupted run had added.
            if step + 1 == self.steps.len() {
                self.add_passes();
            }
            return Ok(());
        }
        let (case, pass) = self.steps[step];
        if step > 0 {
            let [before, next] =
                [self.steps[step - 1].0, case].map(|case| &*self.plan.cases[case].name);
            let length = pause_between(&self.plan, before, next);
            self.pause(length);
        }
        // After the pause, which a signal cuts short.
        if self.interrupted.load(Ordering::Relaxed) {
            self.goes_on = false;
            return Ok(());
        }
        self.settle_rate(case, pass);
        let planned = &self.plan.cases[case];
        let mut case = planned.clone();
        let is_run = observer.adapt(&mut case, &self.record);
        if !is_run || case != *planned {
            self.record_as_run(&case, is_run);
        }
        if !is_run {
            // Only imitated tools leave out cases, and their runs have no precision to reach: the step
            // may be the last one, after which passes are added.
            assert!(
                self.request.until.is_none(),
                "a run with added passes leaves out no case"
            );
            return Ok(());
        }
        // After the comparison above: the seed of a pass follows from the plan and is no change of it.
        case.workload.seed = case.workload.seed_in_pass(pass);
        observer.event(Event::Begins {
            case: &case,
            pass,
            step,
            steps: self.steps.len(),
            so_far: &self.record,
        });
        self.goes_on = match self.measure(&case, step, pass, observer) {
            Ok(go_on) => go_on,
            // At the first measurement the request is invalid; later the target has changed, and what was
            // measured is kept. It need not be the first step, since that can be left out.
            Err(error) if self.record.measurements.is_empty() => return Err(error.into()),
            Err(error) => {
                self.record.failure = Some(error.to_string());
                false
            }
        };
        // After each measurement, because the observer stores the Record as it is at any moment.
        self.record.finished_at = now_text();
        observer.event(Event::Ended(&self.record));
        if self.goes_on && step + 1 == self.steps.len() {
            self.add_passes();
        }
        Ok(())
    }

    /// Adds a pass of every case whose figures are not precise enough, also to the plan in the Record.
    fn add_passes(&mut self) {
        let Some(until) = self.request.until else {
            return;
        };
        let wanting = until.wanting(&self.record, self.plan.passes, &mut self.last_judgement);
        let again: Vec<usize> = (0..self.plan.cases.len())
            .filter(|case| wanting.contains(&self.plan.cases[*case].name))
            .collect();
        if again.is_empty() || self.interrupted.load(Ordering::Relaxed) {
            return;
        }
        self.plan.passes += 1;
        let pass = self.plan.passes;
        self.steps
            .extend(again.into_iter().map(|case| (case, pass)));
        self.is_adapted = true;
        self.record.requested.passes = pass;
        if let Some(kept) = &mut self.record.requested.plan {
            kept.passes = pass;
        }
    }

    /// Reports to the guard what the measurement of this step did to its targets.
    pub(crate) fn report_writes(&self, step: usize, guard: &Guard) {
        let case = &self.plan.cases[self.steps[step].0];
        // The last measurement is of another step if this one failed or was left out.
        let last = self.record.measurements.last();
        let Some(last) = last.filter(|last| step >= self.done && last.case == case.name) else {
            return;
        };
        for (job, result) in case.workload.jobs.iter().zip(&last.jobs) {
            if result.accounting.in_flight > 0 {
                guard.mark_unknown();
            }
            if job.changes() && wrote(result) {
                let files = self.opened_targets.files(job, &self.targets);
                for file in &files {
                    guard.mark_written(&file.path);
                }
            }
        }
    }

    /// Sets the rate of a case that is defined as a share of what another case reaches, once that is
    /// measured in the same pass.
    fn settle_rate(&mut self, case: usize, pass: u32) {
        let name = &self.plan.cases[case].name;
        let mut shares = self.request.study.publication.shares.iter();
        let Some(share) = shares.find(|share| share.case == *name) else {
            return;
        };
        let Some(reached) = self
            .record
            .measurements
            .iter()
            .rev()
            .find(|measurement| measurement.case == share.of && measurement.pass == pass)
        else {
            return;
        };
        let rates = reached.jobs.iter().map(JobResult::iops);
        let jobs = self.plan.cases[case].workload.jobs.iter_mut();
        for (job, rate) in jobs.zip(rates) {
            // If nothing was completed, the slowest valid rate is used.
            let rate = (rate * share.percent / 100.0).max(1e-3);
            job.pace = Pace::OpenPoisson(Rate::Iops(rate));
        }
        let settled = self.plan.cases[case].clone();
        self.record_as_run(&settled, true);
    }

    /// Changes the plan in the Record to the case as it was run, or removes a case that was left out:
    /// a repetition of the run shall do the same.
    fn record_as_run(&mut self, case: &Case, is_run: bool) {
        self.is_adapted = true;
        let Some(kept) = &mut self.record.requested.plan else {
            return;
        };
        match kept.cases.iter_mut().find(|known| known.name == case.name) {
            Some(kept) if is_run => kept.workload.clone_from(&case.workload),
            _ => kept.cases.retain(|known| known.name != case.name),
        }
    }

    /// Pauses. It sleeps in short pieces, so that a signal ends it.
    fn pause(&mut self, length: Nanos) {
        if self.record.origin == Origin::Simulated {
            self.virtual_now = self.virtual_now + length;
            return;
        }
        let mut left = length;
        while left > Nanos::ZERO && !self.interrupted.load(Ordering::Relaxed) {
            let piece = left.min(Nanos::from_millis(50));
            std::thread::sleep(Duration::from(piece));
            left = left - piece;
        }
    }

    /// Makes a measurement and adds it to the Record. False, when operations did not come back: the
    /// target hangs, and a further measurement would hang, too.
    fn measure(
        &mut self,
        case: &Case,
        step: usize,
        pass: u32,
        observer: &mut dyn Observer,
    ) -> Result<bool, blocklab_driver::Error> {
        let jobs = &case.workload.jobs;
        let targets: Vec<_> = jobs
            .iter()
            .map(|job| self.opened_targets.files(job, &self.targets))
            .collect();
        let devices = self.opened_targets.devices();
        let disks = Counters::read(devices.own);
        let backing = Counters::read(devices.behind_loops);
        let throttled = throttled_ns();
        let counted = self.opened_targets.counted();
        // Everything above is read before the load begins, so that `complete` can report differences.
        let run = Run {
            workload: &case.workload,
            targets: &targets,
            clock: self.clock,
        };
        let control = Control {
            fails_alone: self.request.fails_alone,
            begin_at: self.starts.get(step).copied().unwrap_or_default(),
            ..Control::new(self.interrupted)
        };
        let (moment, epoch) = (Timestamp::now(), self.clock.now());
        // Virtual time has no time of day, and no quota throttles it.
        let is_real = self.record.origin != Origin::Simulated;
        let complete = |measured: Measurement| Measurement {
            case: case.name.clone(),
            settings: case.settings.clone(),
            pass,
            started_unix_us: unix_us(moment, measured.started_ns, epoch).filter(|_| is_real),
            disks: disks.since(),
            backing_disks: backing.since(),
            model: models::since(&counted, Nanos(measured.started_ns)).map(Box::new),
            throttled_ns: throttled_since(throttled).filter(|_| is_real),
            ..measured
        };
        let mut relay = Relay {
            observer,
            complete: &complete,
            models: emulated(&targets),
        };
        let mut outcome = match self.record.origin {
            Origin::Simulated => {
                let start = self.virtual_now;
                let outcome = simulate(run, start, control, &mut relay)?;
                self.virtual_now = start + Nanos(outcome.measurement.elapsed_ns);
                outcome
            }
            _ => blocklab_driver::run(run, control, &mut relay)?,
        };
        outcome.measurement = complete(outcome.measurement);
        observer.event(Event::Left {
            case,
            outcome: &outcome,
        });
        Ok(self.keep(case, outcome))
    }

    /// Adds a measurement to the Record. Whether the target came back from it.
    fn keep(&mut self, case: &Case, outcome: Outcome) -> bool {
        self.record.measurements.push(outcome.measurement);
        for note in outcome.notes {
            note.add_to(&mut self.record.notes);
        }
        // After a signal, the driver waits for only a short time; that is no sign of a hanging target.
        if outcome.abandoned && !self.interrupted.load(Ordering::Relaxed) {
            self.record.failure = Some(format!(
                "operations of case {} did not come back; the target hangs",
                case.name
            ));
        }
        !outcome.abandoned
    }

    /// Completes the request in the Record with what was decided while it ran, such as rates. A plan
    /// that JSON cannot represent is left out, with a note.
    fn add_decisions_to_request(&mut self) {
        let requested = &mut self.record.requested;
        if self.is_adapted {
            requested.native = native::render(requested.plan.as_ref().unwrap_or(&self.plan));
        }
        let missing = requested
            .plan
            .as_ref()
            .unwrap_or(&self.plan)
            .missing_in_json();
        if let Some(why) = missing {
            (requested.plan, requested.plan_format) = (None, None);
            let text = format!("this run cannot be repeated from its record: {why}");
            let note = Note::new(NoteLevel::Approximated, "again", text);
            self.record.notes.push(note);
        }
    }

    /// Ends the run and gives its Record with its final status.
    pub(crate) fn close(mut self) -> Record {
        self.add_decisions_to_request();
        let record = &mut self.record;
        let mut jobs = record
            .measurements
            .iter()
            .flat_map(|measurement| &measurement.jobs);
        let failed = jobs.find(|job| matches!(job.stopped, Stopped::Error | Stopped::Stalled));
        // A failure of the whole run explains more than that of a job.
        if let (Some(job), None) = (failed, &record.failure) {
            let error = job.errors.first();
            let what = error.map_or("operations did not come back".to_owned(), |error| {
                format!("{} ({}) on {}", error.message, error.kind, error.direction)
            });
            record.failure = Some(format!("job {} ended early: {what}", job.name));
        }
        record.status = if self.interrupted.load(Ordering::Relaxed) {
            Status::Interrupted
        } else if record.failure.is_some() {
            Status::Failed
        } else {
            Status::Complete
        };
        // The longer a clock has run, the better its error is known.
        if let Some(overhead) = &mut record.overhead {
            overhead.clock.error_ppm = self.clock.error_ppm();
        }
        self.record
    }
}

/// A record without measurements. `typed` are the names of its targets as the user wrote them.
fn empty_record(opened: &OpenedTargets, typed: &[String], clock: Clock) -> Result<Record, Error> {
    let (now, origin) = (now_text(), opened.origin());
    Ok(Record {
        started_at: now.clone(),
        finished_at: now,
        origin,
        environment: environment(),
        targets: opened.facts(typed),
        // In virtual time there is no overhead.
        overhead: match origin {
            Origin::Simulated => None,
            _ => Some(measure_overhead(clock)?),
        },
        ..Record::default()
    })
}

/// Whether a job that writes may have written. Operations that ended in the ramp or failed are not
/// counted by direction, so they count as writes.
fn wrote(result: &JobResult) -> bool {
    let directions = &result.directions;
    let count = result.accounting;
    directions.contains_key(&Direction::Write)
        || directions.contains_key(&Direction::Trim)
        || count.completed_in_ramp > 0
        || count.failed > 0
}

/// The number of measurements that a run made before it was interrupted in one. Steps run in order,
/// so everything from the first incomplete measurement on is made again.
pub(crate) fn whole_measurements(record: &Record) -> usize {
    let measurements = record.measurements.iter();
    let whole = measurements.take_while(|measurement| {
        let mut jobs = measurement.jobs.iter();
        jobs.all(|job| job.stopped != Stopped::Interrupted)
    });
    whole.count()
}

/// Takes over the complete measurements of an interrupted run, and its start.
fn resume_from(record: &mut Record, before: Record, steps: &[(usize, u32)]) {
    let whole = whole_measurements(&before).min(steps.len());
    record.measurements = before.measurements;
    record.measurements.truncate(whole);
    record.started_at = before.started_at;
    for note in before.notes {
        note.add_to(&mut record.notes);
    }
    let done = record.measurements.len();
    let text = format!(
        "the run was interrupted after {done} of {} measurements and resumed later; a scratch file \
         was created again",
        steps.len()
    );
    let note = Note::new(NoteLevel::Approximated, "resumed", text);
    record.notes.push(note);
}

/// Uses the null engine for the null target.
fn use_null_engines(plan: &mut Plan, targets: &[String]) {
    let jobs = plan.jobs_mut();
    for job in jobs.filter(|job| is_null(job, targets) && job.engine.needs_target()) {
        job.engine = Engine::Null;
    }
}

/// Replaces io_uring if it is not available and the user did not choose it: by libaio, or else by
/// pread and pwrite for a depth of 1 and by POSIX AIO above.
fn replace_engines(plan: &mut Plan, may_replace: bool) -> Option<Note> {
    let error = io_uring_is_available().err().filter(|_| may_replace)?;
    let has_libaio = libaio_is_available().is_ok();
    let mut used = BTreeSet::new();
    let jobs = plan.jobs_mut();
    for job in jobs.filter(|job| matches!(job.engine, Engine::IoUring(_))) {
        job.engine = match job.depth {
            _ if has_libaio => Engine::Libaio,
            1 => Engine::Psync,
            _ => Engine::PosixAio,
        };
        used.insert(job.engine.name());
    }
    let used = Vec::from_iter(used).join(" and ");
    let text = format!("io_uring is not available here ({error}); the run used {used}");
    (!used.is_empty()).then(|| Note::new(NoteLevel::Approximated, "engine", text))
}

/// Replaces engines of a plan that its targets or this machine cannot use, and gives the request and
/// the notes for the Record. The request has the engines as they were before, because a repetition on
/// another machine starts from them.
fn adapt(part: &mut Part<'_>) -> Result<(Requested, Vec<Note>), Error> {
    let (plan, study) = (&mut part.plan, &part.request.study);
    if plan.cases.is_empty() {
        return Err(Error::NothingLeft(plan.name.clone()));
    }
    let requested = requested(plan);
    let replaced = replace_engines(plan, study.may_replace_engine);
    use_null_engines(plan, &part.targets);
    let mut notes = study.notes.clone();
    notes.extend(replaced);
    Ok((requested, notes))
}

/// What the Record keeps of a plan, so that the run can be repeated from it.
fn requested(plan: &Plan) -> Requested {
    // A run that is killed is read like any other, so its record holds the whole plan from the start.
    // Validated data lives on from run to run and is in no plan, so such a run is not repeated.
    let mut jobs = plan.jobs();
    let is_kept = !jobs.any(|job| matches!(&job.pool, Some(pool) if pool.validation.is_some()));
    Requested {
        name: plan.name.clone(),
        system: plan.system.clone(),
        description: plan.description.clone(),
        plan_format: is_kept.then_some(PLAN_FORMAT),
        plan: is_kept.then(|| plan.clone()),
        native: native::render(plan),
        seed: plan.cases[0].workload.seed.to_string(),
        aggregate: plan.aggregate.name().to_owned(),
        passes: plan.passes,
        start_at: None,
    }
}

/// For how long a CPU quota has throttled this process since `before` was read, in ns; `None` without
/// such a quota.
fn throttled_since(before: Option<u64>) -> Option<u64> {
    let both = throttled_ns().zip(before);
    both.map(|(now, before)| now.saturating_sub(before))
}

/// The time of day, in µs since 1970, at which the run's clock shows `at_ns`. At the time of day
/// `then`, it showed `clock_then`.
fn unix_us(then: Timestamp, at_ns: u64, clock_then: Nanos) -> Option<u64> {
    let ns = then.as_nanosecond() + i128::from(at_ns) - i128::from(clock_then.0);
    u64::try_from(ns / 1000).ok()
}

fn now_text() -> String {
    Timestamp::now()
        .round(jiff::Unit::Second)
        .unwrap_or_default()
        .to_string()
}

/// The counters of devices at the time of reading.
struct Counters(Vec<DiskUse>);

impl Counters {
    fn read(names: Vec<String>) -> Self {
        Self(names.iter().filter_map(|name| disk_stats(name)).collect())
    }

    /// What they have counted since. A device that is gone is left out.
    fn since(&self) -> Vec<DiskUse> {
        self.0
            .iter()
            .filter_map(|earlier| Some(disk_use_between(&disk_stats(&earlier.name)?, earlier)))
            .collect()
    }
}
