//! Writes Vdbench's reports while its runs last, and sets the rates that depend on earlier runs.

mod ending;
mod errors;
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use anyhow::Result;
use blocklab_console::terminal;
use blocklab_record::{IntervalData, Measurement, Record};
use blocklab_runner::{Event, Observer, Questions};
use blocklab_store::Store;
use blocklab_units::Nanos;
use blocklab_vdbench::{
    CurvePoint, Figures, FlatRow, Inputs, ParameterFile, Planned, PlannedJob, Prepared, Rate,
    Validated, anchor, concatenated_threads, curve_text, flat_row, heading, interval_row, set_rate,
};
use blocklab_verify::KeyMap;
use blocklab_workload::{Case, Target};
use jiff::Zoned;

use super::commands::{self, ErrorPlace};
use super::folder::Folder;
use super::gathering::Gathered;
use super::machine::Processors;
use super::own_options::OwnOptions;
use super::times::{self, Moment};
use blocklab_results::Spooling;

/// The observer of all runs of a command.
pub struct Reporter<'a> {
    file: &'a ParameterFile,
    prepared: &'a Prepared,
    inputs: &'a Inputs,
    folder: &'a Folder,
    /// The spool of the run in the store.
    pub spooling: Spooling,
    /// Whether the runs are not simulated. In virtual time, the use of processors says nothing, and
    /// times in reports come from the model's clock.
    in_real_time: bool,
    /// The time of day at which virtual time began.
    start: Zoned,
    /// How much virtual time has passed before the current run.
    passed: Nanos,
    /// The parts with reports of their own, in all runs.
    parts: Vec<Part>,
    /// The names of their reports, without the ending.
    report_names: BTreeMap<Part, String>,
    /// The number of the first run among those of all rounds of the command.
    first_anchor: usize,
    run: CurrentRun,
    earlier: Earlier,
    processors: Processors,
    /// The keys of each storage definition; `None` if it is not validated.
    validated: &'a [Option<Validated>],
    /// For each storage definition, how many of its wrong blocks were reported.
    reported: Vec<usize>,
    /// The first error of writing a report, after which nothing more is written.
    pub trouble: Option<anyhow::Error>,
}

/// The current run.
#[derive(Default)]
struct CurrentRun {
    /// Its index in the plan.
    index: usize,
    /// Its jobs as planned, without those whose storage was removed after errors.
    planned_jobs: Vec<PlannedJob>,
    /// Number of measurements before it.
    measured: usize,
    /// The requested rate, in operations a second.
    reqrate: f64,
    /// The sum of its intervals after the warm-up.
    counted: Counted,
    /// The sum of those in the warm-up. They are in no average, unless the run has no others.
    warming: Counted,
}

/// What runs need of those before them.
#[derive(Default)]
struct Earlier {
    /// The rate at the maximum of the last curve, in operations a second.
    curve_max: f64,
    /// The rate of the last run, in operations a second.
    last_rate: f64,
    /// The jobs with the shares that they had at the curve's maximum.
    shares: Option<Vec<PlannedJob>>,
    /// Whether a point was slower than `stopcurve=` allows, which skips the other points of the curve.
    is_curve_over: bool,
    /// The points of each curve, with the name of the case that measured its maximum.
    curves: Vec<(String, Vec<CurvePoint>)>,
    /// Storage definitions that are not used any more after errors.
    removed: BTreeSet<usize>,
    /// Where the first failed operation or wrong block of all runs was.
    first_error: Option<ErrorPlace>,
    /// Whether errors have ended all runs.
    is_over: bool,
    /// Whether `totals` has its heading, which it gets once.
    has_totals: bool,
    /// The same for `skew`.
    has_skew: bool,
}

/// What has reports of its own: a storage definition, a workload by its name, or a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Storage(usize),
    Workload(String),
    /// A host, if several share the load.
    Host(usize),
}

impl Part {
    /// The parts that a job belongs to, except its host. Formatting and recovery have no workload.
    fn of_job(job: &PlannedJob) -> impl Iterator<Item = Self> {
        let workload = Some(job.wd.clone()).filter(|wd| !wd.is_empty());
        iter::once(Self::Storage(job.sd)).chain(workload.map(Self::Workload))
    }

    /// The parts that a job belongs to, with its host if there are several.
    fn with_host(job: &PlannedJob, file: &ParameterFile) -> Vec<Self> {
        let host = (!file.hosts.is_empty()).then_some(Self::Host(job.host));
        Self::of_job(job).chain(host).collect()
    }

    /// The parts that any of the jobs belongs to, except hosts: first the storage definitions by their
    /// number, then the workloads in the order of the jobs.
    fn of_jobs<'j>(jobs: impl Iterator<Item = &'j PlannedJob>) -> Vec<Self> {
        let mut seen = BTreeSet::new();
        let mut parts: Vec<Self> = jobs.flat_map(Self::of_job).collect();
        parts.retain(|part| seen.insert(part.clone()));
        parts.sort_by_key(|part| match part {
            Self::Storage(sd) => *sd,
            Self::Workload(_) | Self::Host(_) => usize::MAX,
        });
        parts
    }

    /// Whether a job belongs to this part.
    fn has(&self, job: &PlannedJob) -> bool {
        match self {
            Self::Storage(sd) => job.sd == *sd,
            Self::Workload(name) => job.wd == *name,
            Self::Host(host) => job.host == *host,
        }
    }
}

/// What the whole run and each of its parts did in one or several intervals.
#[derive(Default)]
struct Counted {
    all: Figures,
    parts: BTreeMap<Part, Figures>,
    /// Number of the first interval, from 1; 0: there is none.
    first: u32,
    /// Number of the last one.
    last: u32,
}

impl Counted {
    fn add(&mut self, later: &Self) {
        if self.first == 0 {
            self.first = later.first;
        }
        self.last = later.last;
        self.all = self.all.plus(later.all);
        for (part, figures) in &later.parts {
            let sum = self.parts.entry(part.clone()).or_default();
            *sum = sum.plus(*figures);
        }
    }
}

impl<'a> Reporter<'a> {
    /// The reporter of one round of all runs. [`Self::begin_round`] comes next.
    pub fn new(
        file: &'a ParameterFile,
        prepared: &'a Prepared,
        inputs: &'a Inputs,
        folder: &'a Folder,
        store: &Store,
        options: &OwnOptions,
        validated: &'a [Option<Validated>],
    ) -> Self {
        // Wrong blocks of an earlier round were reported in that round.
        let reported = validated.iter().map(|validated| {
            let keys = validated.as_ref().map(|validated| &validated.keys);
            keys.map_or(0, |keys| keys.wrong_blocks(0).len())
        });
        let jobs = prepared.runs.iter().flat_map(|run| &run.planned_jobs);
        let parts = Part::of_jobs(jobs);
        Self {
            file,
            prepared,
            inputs,
            folder,
            spooling: Spooling::new((!options.no_save).then_some(store)),
            in_real_time: !file.sds.iter().any(|sd| Target::is_simulated(&sd.lun)),
            start: Zoned::now(),
            passed: Nanos::ZERO,
            report_names: files::report_names(file, &parts),
            parts,
            first_anchor: 0,
            run: CurrentRun::default(),
            earlier: Earlier::default(),
            processors: Processors::default(),
            reported: reported.collect(),
            validated,
            trouble: None,
        }
    }

    /// Creates the files of all reports with their headings. After earlier rounds, which had this many
    /// runs, it writes behind what they have left there.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn begin_round(&mut self, earlier_runs: usize) -> Result<()> {
        if earlier_runs == 0 {
            return self.create_files();
        }
        self.first_anchor = earlier_runs;
        self.earlier.has_totals = true;
        self.earlier.has_skew = true;
        Ok(())
    }

    fn planned(&self) -> &'a Planned {
        &self.prepared.runs[self.run.index]
    }

    /// The keys of the storage whose data is validated.
    fn keys(&self) -> impl Iterator<Item = &'a Arc<KeyMap>> {
        let validated = self.validated.iter().flatten();
        validated.map(|validated| &validated.keys)
    }

    fn name<'n>(&'n self, part: &'n Part) -> &'n str {
        match part {
            Part::Storage(sd) => &self.file.sds[*sd].name,
            Part::Workload(name) => name,
            Part::Host(host) => &self.file.hosts[*host].name,
        }
    }

    /// The name of the report of a part, without the ending.
    fn report_name<'n>(&'n self, part: &'n Part) -> &'n str {
        self.report_names
            .get(part)
            .map_or_else(|| self.name(part), String::as_str)
    }

    /// The reports that get the rows of a part. For a host, that is also the one of its only process.
    fn reports_of(&self, part: &Part) -> Vec<String> {
        let name = self.report_name(part).to_owned();
        match part {
            Part::Host(_) => vec![name.clone(), format!("{name}-0")],
            _ => vec![name],
        }
    }

    /// The time of day at which `elapsed` has passed since the current run began.
    fn moment(&self, elapsed: Nanos) -> Moment {
        if self.in_real_time {
            times::now()
        } else {
            times::after(&self.start, self.passed + elapsed)
        }
    }

    /// The text about each curve.
    pub fn curves(&self) -> impl Iterator<Item = String> + '_ {
        let curves = self.earlier.curves.iter();
        curves.map(|(name, points)| curve_text(name, points))
    }

    /// Does a step of writing reports, unless an earlier one has failed, and keeps its error. Events
    /// cannot return one.
    fn unless_failed(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) {
        if self.trouble.is_none()
            && let Err(error) = work(self)
        {
            self.trouble = Some(error);
        }
    }

    /// Adds a line about the current run to the status file.
    fn run_status(&self, event: &str) -> Result<()> {
        let run = &self.planned().run;
        let about = Some((&*run.name, &*run.loops.text()));
        self.folder.status(event, about)
    }

    /// Writes the headings of a run that begins.
    fn write_beginning(&mut self) -> Result<()> {
        let run = &self.planned().run;
        let moment = self.moment(Nanos::ZERO);
        let banner = run.banner(self.run.reqrate);
        let number = self.first_anchor + self.run.index;
        let anchored = anchor(number, &moment.clock, &banner);
        for name in self.anchored_reports() {
            self.folder.append(&name, &anchored)?;
        }
        let head = heading(&moment.date, self.in_real_time);
        let parts = Part::of_jobs(self.run.planned_jobs.iter());
        let mut with_head: Vec<String> = parts
            .iter()
            .map(|part| self.report_name(part).to_owned())
            .collect();
        with_head.extend(self.hosts().flat_map(|host| self.reports_of(&host)));
        with_head.extend(self.whole_reports());
        with_head.extend((!self.earlier.has_totals).then(|| "totals".to_owned()));
        for name in with_head {
            self.folder.append(&name, &format!("\n{head}"))?;
        }
        terminal::print(format!("{} {banner}\n\n{head}", moment.clock))?;
        self.run_status("Starting")?;
        self.earlier.has_totals = true;
        self.keys().for_each(|keys| keys.begin_run(&run.name));
        commands::run(&run.options.startcmd, self.folder)
    }

    /// Writes the rows about one or several intervals, in the reports of the whole and of its parts.
    fn append_rows(&self, moment: &Moment, label: &str, counted: &Counted) -> Result<()> {
        let row = interval_row(&moment.clock, label, &counted.all);
        for name in self.whole_reports() {
            self.folder.append(&name, &row)?;
        }
        terminal::print(&row)?;
        let flat = flat_row(&self.flat(moment, label), &counted.all);
        self.folder.append("flatfile", &flat)?;
        for (part, figures) in &counted.parts {
            let row = interval_row(&moment.clock, label, figures);
            for name in self.reports_of(part) {
                self.folder.append(&name, &row)?;
            }
        }
        Ok(())
    }

    /// Writes the rows of an interval and adds it to the sums of the run.
    fn interval_ended(&mut self, slice: &IntervalData) -> Result<()> {
        let nothing = Figures {
            seconds: slice.length.0 as f64 / 1e9,
            // With several hosts, this machine does none of the work.
            cpu: (self.in_real_time && self.file.hosts.is_empty())
                .then(|| self.processors.since_last()),
            ..Figures::default()
        };
        let mut counted = Counted {
            all: nothing,
            parts: BTreeMap::new(),
            first: slice.number,
            last: slice.number,
        };
        for (job, [read, write]) in self.run.planned_jobs.iter().zip(&slice.jobs) {
            let figures = Figures {
                read: *read,
                write: *write,
                ..Figures::default()
            };
            counted.all = counted.all.plus(figures);
            for part in Part::with_host(job, self.file) {
                let sum = counted.parts.entry(part).or_insert(nothing);
                *sum = sum.plus(figures);
            }
        }
        self.append_rows(&self.moment(slice.end), &slice.number.to_string(), &counted)?;
        let warm = self.warm_intervals();
        if slice.number > warm {
            self.run.counted.add(&counted)
        } else {
            self.run.warming.add(&counted)
        }
        if slice.number == warm {
            self.run_status("Warmup done")
        } else {
            Ok(())
        }
    }

    /// Number of intervals at the beginning that are in no average: the warm-up, or the first one.
    fn warm_intervals(&self) -> u32 {
        let options = &self.planned().run.options;
        match (options.elapsed, options.warmup) {
            // A run that ends after an amount, such as formatting, counts from its beginning.
            (None, _) => 0,
            (_, 0) => 1,
            (_, warmup) => (warmup / options.interval.max(1)) as u32,
        }
    }

    /// The columns of a row in the flat file, besides the figures.
    fn flat(&self, moment: &Moment, label: &str) -> FlatRow {
        let run = &self.planned().run;
        let used: BTreeSet<usize> = self.run.planned_jobs.iter().map(|job| job.sd).collect();
        let own = common(used.iter().map(|sd| self.file.sds[*sd].threads));
        let uses = run.uses.iter();
        let threads = uses.map(|workload| concatenated_threads(self.file, run, workload).or(own));
        let bytes: u64 = used.iter().map(|sd| self.inputs.sizes[*sd]).sum();
        // The size of storage on other hosts is known only if the parameters give it.
        let is_known =
            self.file.hosts.is_empty() || used.iter().all(|sd| self.file.sds[*sd].size > 0);
        let general = &self.file.general;
        FlatRow {
            time: moment.clock.clone(),
            timestamp: moment.stamp.clone(),
            run: run.clone(),
            label: label.to_owned(),
            reqrate: self.run.reqrate,
            threads: run.threads.or(common(threads).flatten()).map(f64::from),
            lunsize: is_known.then_some(bytes as f64 / 1_073_741_824.0),
            compratio: run.compratio.or(general.compratio).unwrap_or(1.0),
            dedupratio: general.dedupratio,
        }
    }
}

/// The value, if all are equal; `None` if they are not, or there is none.
fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

impl Questions for Reporter<'_> {
    fn keys(&self, storage: &str) -> Option<Arc<KeyMap>> {
        let mut keys = self.keys();
        keys.find(|keys| keys.name() == storage).map(Arc::clone)
    }

    fn interval_length(&self) -> Option<Nanos> {
        Some(Nanos::from_secs(self.planned().run.options.interval.max(1)))
    }

    fn keeps_frames(&self) -> bool {
        self.spooling.is_kept()
    }

    fn adapt(&mut self, case: &mut Case, record: &Record) -> bool {
        let mut cases = self.prepared.plan.cases.iter();
        let found = cases.position(|planned| planned.name == case.name);
        self.run.measured = record.measurements.len();
        self.enter(found.unwrap_or(self.run.index), case)
    }
}

impl Reporter<'_> {
    /// Makes a run the current one and sets its rate. False, when it is not run.
    fn enter(&mut self, index: usize, case: &mut Case) -> bool {
        self.run.index = index;
        let run = &self.planned().run;
        // Wrong blocks end all runs, unless `data_errors=` removes their storage instead.
        let has_fatal_blocks = self.has_wrong_blocks() && !self.file.general.data_errors.remove;
        if self.trouble.is_some() || self.earlier.is_over || has_fatal_blocks {
            return false;
        }
        let has_jobs_left = self.leave_out_removed(case);
        let is_beyond_curve = self.earlier.is_curve_over && matches!(run.rate, Rate::CurvePoint(_));
        if !has_jobs_left || is_beyond_curve {
            return false;
        }
        let earlier = &self.earlier;
        self.run.reqrate = run.rate.number(earlier.curve_max, earlier.last_rate);
        if run.rate.is_relative() {
            let mut planned_jobs = match (&self.earlier.shares, run.rate) {
                (Some(shares), Rate::CurvePoint(_)) => shares.clone(),
                _ => self.run.planned_jobs.clone(),
            };
            planned_jobs.retain(|planned_job| !self.earlier.removed.contains(&planned_job.sd));
            // A share of a very slow maximum can be below 1; a rate of 0 would never end.
            set_rate(case, run, &planned_jobs, self.run.reqrate.max(1.0));
        }
        true
    }
}

impl Observer for Reporter<'_> {
    fn event(&mut self, event: Event<'_>) {
        self.spooling.event(event);
        match event {
            Event::Begins { .. } => self.begins(),
            Event::Slice(slice) => self.unless_failed(|reporter| {
                reporter.interval_ended(slice)?;
                reporter.report_wrong_blocks()
            }),
            Event::Ended(record) => self.ended(record),
            _ => {}
        }
    }
}

impl Reporter<'_> {
    /// Takes an event of a run on several hosts.
    pub fn gathered(&mut self, gathered: Gathered) {
        match gathered {
            Gathered::Begins(index) => {
                let mut case = self.prepared.plan.cases[index].clone();
                self.enter(index, &mut case);
                self.begins();
            }
            Gathered::Slice(slice) => {
                self.unless_failed(|reporter| reporter.interval_ended(&slice));
            }
            Gathered::Measured(measurement) => self.measured(&measurement),
        }
    }

    /// The hosts, if several share the load.
    fn hosts(&self) -> impl Iterator<Item = Part> + use<> {
        (0..self.file.hosts.len()).map(Part::Host)
    }

    fn begins(&mut self) {
        self.run.counted = Counted::default();
        self.run.warming = Counted::default();
        self.unless_failed(Self::write_beginning);
        // The result does not matter: the first interval counts from here.
        self.processors.since_last();
    }

    fn ended(&mut self, record: &Record) {
        match record.measurements.get(self.run.measured) {
            Some(measurement) => self.measured(measurement),
            None => {
                self.unless_failed(|reporter| reporter.report_no_start(record.failure.as_deref()))
            }
        }
    }

    fn measured(&mut self, measurement: &Measurement) {
        self.unless_failed(|reporter| {
            reporter.report_wrong_blocks()?;
            reporter.write_end(measurement)?;
            reporter.report_settled()
        });
        self.passed = self.passed + Nanos(measurement.elapsed_ns);
    }
}

#[cfg(test)]
mod tests;
