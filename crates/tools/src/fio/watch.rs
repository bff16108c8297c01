//! The observer of a fio run: it prints progress, and does what jobs request before and after them.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Result;

use blocklab_driver::Outcome;
use blocklab_fio::{CloneFacts, General, Prepared, eta_line, eta_rates};
use blocklab_record::{Interval, Measurement, Record, Status};
use blocklab_runner::{Event, Observer, Questions};
use blocklab_store::Store;
use blocklab_units::Nanos;
use blocklab_workload::{Case, Job};

use super::artifacts::{self, Aggregate};
use super::debug::Debug;
use super::files::{self, Around};
use super::output::Out;
use super::program::Programs;
use super::trigger::Trigger;
use blocklab_console::terminal;
use blocklab_results::{LiveView, View};

/// Sees the events of a run, prints progress, and writes what jobs leave.
pub struct Watcher<'a> {
    view: LiveView,
    prepared: &'a Prepared,
    /// Index of the current case.
    current: usize,
    /// The last character of fio's progress line; `None`: it is not printed.
    eta: Option<char>,
    /// Planned time of the current case; zero if it is unknown.
    planned: Nanos,
    /// The settings of `--debug`.
    pub debug: Debug,
    /// Makes the plan anew, with the files that earlier jobs have written by then.
    pub replan: Option<&'a dyn Fn() -> Result<Prepared>>,
    /// Why jobs could not begin that were to replay the trace of an earlier job.
    pub failed_late: Vec<String>,
    /// The files of `--bandwidth-log`.
    pub aggregate: Option<Aggregate>,
    /// How often the progress line is printed.
    eta_every: Nanos,
    /// When it is printed next, since the case began.
    eta_due: Nanos,
    /// The rates that the progress line shows.
    rates: String,
    /// Where the results go; `None`: another report shows them.
    out: Option<&'a RefCell<Out<'a>>>,
    /// How often the results so far are printed (`--status-interval`); `None`: only when a signal requests
    /// them.
    status_every: Option<Nanos>,
    /// Set by SIGUSR1, which requests the results so far.
    pub requested: Arc<AtomicBool>,
    /// What may end the jobs before their time.
    pub trigger: Option<Trigger<'a>>,
    /// The measurements before the current case.
    earlier_cases: Vec<Measurement>,
    /// For each clone, the moment from which its logs count.
    epochs_ms: Vec<u64>,
    /// The programs that run alongside the jobs of the current case.
    programs: Programs,
    /// When the command began.
    begun: Instant,
}

impl<'a> Watcher<'a> {
    /// The observer of `blocklab fio`, with fio's progress line and output.
    pub fn new(
        prepared: &'a Prepared,
        general: &General,
        store: Option<&Store>,
        out: &'a RefCell<Out<'a>>,
    ) -> Self {
        // Without `--eta`, progress is shown only if nothing reads the output but a person.
        let is_terminal = io::stderr().is_terminal() && io::stdout().is_terminal();
        let eta = general.eta.unwrap_or(is_terminal);
        Self {
            eta: eta.then_some(if general.eta_newline { '\n' } else { '\r' }),
            out: Some(out),
            eta_every: general.eta_interval,
            status_every: general.status_interval,
            ..Self::for_other_report(prepared, store, View::progress(false))
        }
    }

    /// The observer of a job file whose results another report shows.
    pub fn for_other_report(prepared: &'a Prepared, store: Option<&Store>, view: View) -> Self {
        Self {
            view: LiveView::new(view, &[(None, &prepared.plan)], store),
            prepared,
            current: 0,
            eta: None,
            planned: Nanos::ZERO,
            debug: Debug::default(),
            replan: None,
            failed_late: Vec::new(),
            out: None,
            aggregate: None,
            eta_every: Nanos::from_secs(1),
            eta_due: Nanos::ZERO,
            rates: String::new(),
            status_every: None,
            requested: Arc::default(),
            trigger: None,
            earlier_cases: Vec::new(),
            epochs_ms: Vec::new(),
            programs: Programs::default(),
            begun: Instant::now(),
        }
    }

    /// Writes an interval to the files of `--bandwidth-log`. The first failure is reported and closes
    /// them; the jobs go on.
    fn log_bandwidth(&mut self, interval: &Interval) {
        let elapsed = self.elapsed();
        let aggregate = self.aggregate.as_mut();
        if let Some(Err(error)) = aggregate.map(|aggregate| aggregate.add(interval, elapsed)) {
            terminal::warn(&format!("--bandwidth-log: {error}"));
            self.aggregate = None;
        }
    }

    /// Plans a case anew before it begins: the trace that it replays may have been written by an earlier
    /// case. A job whose trace cannot be used fails alone.
    fn plan_anew(&mut self, step: usize, case: &mut Case) -> Result<()> {
        let Some(replan) = self.replan else {
            return Ok(());
        };
        let mut prepared = replan()?;
        self.debug.prepare(&mut prepared.plan);
        if step < prepared.plan.cases.len() {
            case.workload = prepared.plan.cases.swap_remove(step).workload;
        }
        for clone in prepared.clones_of(step) {
            if let Some(why) = &clone.lacks_trace {
                terminal::inform(&format!("fio: {why}"));
                case.workload.jobs.retain(|job| job.name != clone.job);
                self.failed_late.push(left_out(clone, why));
            }
        }
        Ok(())
    }

    /// Notes when the jobs of a case begin, for those that report it (`job_start` in JSON).
    fn note_starts(&self, step: usize, jobs: &[Job]) {
        let Some(out) = self.out else { return };
        for clone in self.prepared.clones_of(step) {
            let job = jobs.iter().find(|job| job.name == clone.job);
            if let (Some(clock), Some(job)) = (clone.start_clock, job) {
                let start = artifacts::clock_ms(clock as i32) + job.start_delay.0 / 1_000_000;
                out.borrow_mut().starts.insert(job.name.clone(), start);
            }
        }
    }

    fn print(&self, text: &str) {
        if let Some(Err(error)) = self.out.map(|out| out.borrow_mut().put(text)) {
            terminal::complain(&error);
        }
    }

    /// Prints the progress line when it is due; to standard output, as fio does.
    fn print_eta(&mut self, interval: &Interval, elapsed: Nanos) {
        let Some(end) = self.eta.filter(|_| elapsed >= self.eta_due) else {
            return;
        };
        self.eta_due = self.eta_due + self.eta_every;
        let clones: Vec<_> = self.prepared.clones_of(self.current).collect();
        let line = eta_line(&clones, &self.rates, interval, elapsed, self.planned);
        let mut out = io::stdout();
        // A closed pipe must not end the jobs because of a progress line.
        let _ = write!(out, "{line}{end}").and_then(|()| out.flush());
    }

    /// Runs the commands around the jobs of a case and gives the names of the clones whose commands
    /// failed.
    fn commands(&self, step: usize, around: Around) -> Vec<&str> {
        let (lines, failed) = files::commands(self.prepared.clones_of(step), around);
        lines.iter().for_each(|line| self.print(line));
        failed
    }

    /// The time since the command began.
    pub fn elapsed(&self) -> Nanos {
        Nanos(self.begun.elapsed().as_nanos() as u64)
    }

    /// This record, as that of a failed run if jobs could not begin: a report other than fio's counts no
    /// jobs.
    pub fn judged(&self, mut record: Record) -> Record {
        if let (Some(why), Status::Complete) = (self.failed_late.first(), record.status) {
            record.failure = Some(why.clone());
            record.status = Status::Failed;
        }
        record
    }

    /// Ends what still runs or is shown.
    pub fn finished(&mut self) {
        // Dropping the programs ends them.
        self.programs = Programs::default();
        self.view.finished();
        if self.eta == Some('\r') {
            // Leaves the progress line, so that the next output does not begin in it.
            let _ = writeln!(io::stdout());
        }
    }
}

impl Questions for Watcher<'_> {
    fn status_every(&self) -> Option<Nanos> {
        self.status_every
    }

    fn keeps_frames(&self) -> bool {
        self.view.keeps_frames()
    }

    fn is_requested(&mut self) -> bool {
        self.requested.swap(false, Ordering::Relaxed)
    }

    /// Runs the commands before a case, and leaves out jobs that failed before they began: by their command,
    /// their file or their trace. False, if none is left.
    fn adapt(&mut self, case: &mut Case, so_far: &Record) -> bool {
        let cases = &self.prepared.plan.cases;
        let Some(step) = cases.iter().position(|planned| planned.name == case.name) else {
            return true;
        };
        // With `exitall` and `exit_what=all`, a job ends also those that have not begun.
        let mut clones = self.prepared.clones.iter();
        if clones.any(|clone| clone.case < step && clone.ends_all) {
            return false;
        }
        let mut clones = self.prepared.clones_of(step);
        if clones.any(|clone| clone.awaits_trace)
            && let Err(error) = self.plan_anew(step, case)
        {
            terminal::complain(&error);
            let clones = self.prepared.clones_of(step);
            let lost = clones.filter(|clone| clone.is_run());
            self.failed_late
                .extend(lost.map(|clone| left_out(clone, &error)));
            return false;
        }
        let failed = self.commands(step, Around::Before);
        let clones = self.prepared.clones.iter();
        let left_out: Vec<&str> = clones
            .filter(|clone| !clone.is_run() || failed.contains(&&*clone.job))
            .map(|clone| &*clone.job)
            .collect();
        let jobs = &mut case.workload.jobs;
        jobs.retain(|job| !left_out.contains(&&*job.name));
        // As in fio, a delay counts from the begin of the run, and not from that of the case.
        let earlier = self.prepared.plan.cases[..step].iter().filter_map(|case| {
            let mut measured = so_far.measurements.iter();
            measured.rfind(|measured| measured.case == case.name)
        });
        let begun = Nanos(earlier.map(|measured| measured.elapsed_ns).sum());
        for job in &mut *jobs {
            job.start_delay = job.start_delay.since(begun);
        }
        !jobs.is_empty()
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begins { case, step, .. } => {
                self.view.event(event);
                self.begins(case, step);
            }
            Event::Interval {
                interval, elapsed, ..
            } => {
                self.view.event(event);
                self.interval(interval, elapsed);
            }
            Event::Status(so_far) => self.print_so_far(so_far),
            Event::Left { case, outcome } => self.keep_artifacts(case, outcome),
            // The live view says last that the run has ended: below the results of this measurement.
            Event::Ended(record) => {
                self.ended(record);
                self.view.event(event);
            }
            Event::Turn(_) | Event::LayingOut { .. } | Event::Slice(_) | Event::Frame { .. } => {
                self.view.event(event);
            }
        }
    }
}

impl Watcher<'_> {
    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        self.print_eta(interval, elapsed);
        self.log_bandwidth(interval);
        let elapsed = self.elapsed();
        if let Some(trigger) = &mut self.trigger {
            trigger.check(elapsed);
        }
    }

    /// Prints the results so far: those of the cases that have ended, and of the current one.
    fn print_so_far(&self, so_far: &Measurement) {
        let Some(out) = self.out else { return };
        let mut measured = self.earlier_cases.clone();
        measured.push(so_far.clone());
        let elapsed = self.elapsed();
        if let Err(error) = out.borrow_mut().end(&measured, self.prepared, elapsed) {
            terminal::complain(&error);
        }
    }

    /// A case begins: progress, logs, files and programs of its clones are made ready.
    fn begins(&mut self, case: &Case, step: usize) {
        self.current = step;
        self.planned = planned(case);
        self.eta_due = self.eta_every;
        self.rates = eta_rates(&case.workload.jobs);
        let rules = self.prepared.clones.iter().map(|clone| &clone.logs);
        self.epochs_ms = rules.map(artifacts::epoch_ms).collect();
        self.note_starts(step, &case.workload.jobs);
        files::prepare_case(self.prepared.clones_of(step), &case.workload.jobs);
        self.programs = Programs::start(self.prepared.clones_of(step), &case.workload.jobs);
    }

    /// Writes the files and debug lines of the jobs that have ended.
    fn keep_artifacts(&mut self, case: &Case, outcome: &Outcome) {
        // Dropping the programs ends those that still run.
        self.programs = Programs::default();
        let clones = self.prepared.clones.iter().enumerate();
        let clones: Vec<_> = clones
            .filter(|(_, clone)| clone.case == self.current)
            .collect();
        for (number, clone) in &clones {
            let job = case.workload.jobs.iter().find(|job| job.name == clone.job);
            let log = outcome.logs.iter().find(|(name, _)| *name == clone.job);
            if let Some(job) = job {
                let log = log.map(|(_, log)| log);
                self.print(&self.debug.job(number + 1, clone, job, log));
            }
        }
        artifacts::write_all(&clones, case, outcome, &self.epochs_ms);
    }

    fn ended(&mut self, record: &Record) {
        if self.out.is_some() {
            self.earlier_cases.clone_from(&record.measurements);
        }
        self.commands(self.current, Around::After);
        if let Some(measured) = record.measurements.last() {
            let clones: Vec<_> = self.prepared.clones_of(self.current).collect();
            self.print(&self.debug.steady_intervals(&clones, measured));
        }
    }
}

/// Planned time of a case: that of its longest job; zero if none has a time.
fn planned(case: &Case) -> Nanos {
    let times = case.workload.jobs.iter().map(|job| {
        let measured = job.stop.runtime.unwrap_or_default();
        job.start_delay + job.ramp + measured + job.cool_down
    });
    times.max().unwrap_or_default()
}

/// The failure of a run without this clone.
fn left_out(clone: &CloneFacts, why: &dyn Display) -> String {
    format!("job {} did not begin: {why}", clone.job)
}
