//! Writes Vdbench's reports while its runs go on, and sets the rates that depend on earlier ones.

mod ending;
mod errors;
mod opening;
mod skew;
mod wrongs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use blocklab_driver::{DirectionInterval, IntervalData};
use blocklab_record::{Interval, JobResult, Measurement, Record};
use blocklab_store::Store;
use blocklab_study::Observer;
use blocklab_units::{Bytes, Nanos};
use blocklab_vdbench::{
    CurvePoint, Figures, FlatRow, Planned, PlannedJob, Prepared, Rate, Script, Sum, Terms, Watched,
    anchor, concatenated_threads, curve_text, flat_row, heading, interval_row, observed, set_rate,
};
use blocklab_verify::KeyMap;
use blocklab_workload::Case;
use jiff::Zoned;

use super::commands::{self, ErrorPlace};
use super::cpu::Machine;
use super::folder::Folder;
use super::house::House;
use super::times::{self, Moment};
use crate::keeping::Checkpoints;
use blocklab_console::terminal;

/// Sees every run of a tool_run.
pub struct Reporter<'a> {
    script: &'a Script,
    prepared: &'a Prepared,
    terms: &'a Terms,
    folder: &'a Folder,
    checkpoints: Checkpoints<'a>,
    /// Nothing of a run in virtual time, whose clock it is not.
    in_real_time: bool,
    /// Where simulated time began, and how much of it has passed.
    start: Zoned,
    passed: Nanos,
    current: usize,
    /// What the jobs of the current run are: as planned, without what is used no more.
    planned_jobs: Vec<PlannedJob>,
    /// Measurements before the current one.
    measured: usize,
    /// The rate that the current run asks for.
    reqrate: f64,
    counted: Counted,
    /// Those that enter no average, unless the run has no others.
    warming: Counted,
    machine: Machine,
    curve_max: f64,
    last_rate: f64,
    /// Of the curve's maximum: the jobs and their operations.
    shares: Option<(Vec<PlannedJob>, Vec<u64>)>,
    /// A point was slower than stopcurve allows.
    stopped: bool,
    curves: Vec<(String, Vec<CurvePoint>)>,
    /// By storage definition: its keys, where data is validated, and how many wrong blocks of it
    /// were told.
    watched: &'a [Option<Watched>],
    told: Vec<usize>,
    /// Storage definitions that are used no more after errors.
    removed: BTreeSet<usize>,
    first_error: Option<ErrorPlace>,
    /// Errors have ended all runs.
    is_over: bool,
    /// The heads that stand once in a file are there.
    has_totals: bool,
    has_skew: bool,
    /// What could not be written.
    pub trouble: Option<anyhow::Error>,
}

/// Intervals of the current run, added up.
#[derive(Default)]
struct Counted {
    all: Figures,
    by_sd: BTreeMap<usize, Figures>,
    by_wd: BTreeMap<String, Figures>,
    first: u32,
    last: u32,
}

impl Counted {
    fn add(
        &mut self,
        number: u32,
        all: Figures,
        by_sd: &BTreeMap<usize, Figures>,
        by_wd: &BTreeMap<String, Figures>,
    ) {
        if self.first == 0 {
            self.first = number;
        }
        self.last = number;
        self.all = self.all.plus(all);
        for (sd, figures) in by_sd {
            let sum = self.by_sd.entry(*sd).or_default();
            *sum = sum.plus(*figures);
        }
        for (wd, figures) in by_wd {
            let sum = self.by_wd.entry(wd.clone()).or_default();
            *sum = sum.plus(*figures);
        }
    }
}

impl<'a> Reporter<'a> {
    pub fn new(
        script: &'a Script,
        prepared: &'a Prepared,
        terms: &'a Terms,
        folder: &'a Folder,
        store: &'a Store,
        house: &House,
        watched: &'a [Option<Watched>],
    ) -> Result<Self> {
        let told = |watched: &Option<Watched>| {
            let keys = watched.as_ref().map(|watched| &watched.keys);
            keys.map_or(0, |keys| keys.wrong_blocks(0).len())
        };
        let reporter = Self {
            script,
            prepared,
            terms,
            folder,
            checkpoints: Checkpoints::new((!house.no_save).then_some(store)),
            in_real_time: !script.sds.iter().any(|sd| sd.lun.starts_with("sim:")),
            start: Zoned::now(),
            passed: Nanos::ZERO,
            current: 0,
            planned_jobs: Vec::new(),
            measured: 0,
            reqrate: 0.0,
            counted: Counted::default(),
            warming: Counted::default(),
            machine: Machine::default(),
            curve_max: 0.0,
            last_rate: 0.0,
            shares: None,
            stopped: false,
            curves: Vec::new(),
            told: watched.iter().map(told).collect(),
            removed: BTreeSet::new(),
            first_error: None,
            is_over: false,
            has_totals: false,
            has_skew: false,
            watched,
            trouble: None,
        };
        reporter.create_files()?;
        Ok(reporter)
    }

    fn planned(&self) -> &'a Planned {
        &self.prepared.runs[self.current]
    }

    /// So long after the current run's begin.
    fn moment(&self, elapsed: Nanos) -> Moment {
        match self.in_real_time {
            true => times::now(),
            false => times::after(&self.start, self.passed + elapsed),
        }
    }

    /// Curves in words, of all runs that had one.
    pub fn curves(&self) -> impl Iterator<Item = String> + '_ {
        self.curves
            .iter()
            .map(|(name, points)| curve_text(name, points))
    }

    fn guarded(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) {
        if self.trouble.is_none()
            && let Err(error) = work(self)
        {
            self.trouble = Some(error);
        }
    }

    fn begin(&mut self) -> Result<()> {
        let planned = self.planned();
        let run = &planned.run;
        let moment = self.moment(Nanos::ZERO);
        let banner = run.banner(self.reqrate);
        let anchored = anchor(self.current, &moment.clock, &banner);
        for name in self.reports() {
            self.folder.append(&name, &anchored)?;
        }
        let head = heading(&moment.date, self.in_real_time);
        let with_head = self.whole_reports().into_iter().chain(self.current_names());
        for name in with_head {
            self.folder.append(&name, &format!("\n{head}"))?;
        }
        if !std::mem::replace(&mut self.has_totals, true) {
            self.folder.append("totals", &format!("\n{head}"))?;
        }
        terminal::print(format!("{} {banner}\n\n{head}", moment.clock))?;
        self.folder
            .status("Starting", Some((&run.name, &run.loops.text())))?;
        for watched in self.watched.iter().flatten() {
            watched.keys.begin_run(&run.name);
        }
        commands::run(&run.startcmd, self.folder)
    }

    fn current_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for planned_job in &self.planned_jobs {
            for name in [&self.script.sds[planned_job.sd].name, &planned_job.wd] {
                if !names.contains(name) && !name.is_empty() {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    fn interval_ended(&mut self, slice: &IntervalData) -> Result<()> {
        let planned = self.planned();
        let seconds = slice.length.0 as f64 / 1e9;
        let cpu = self.in_real_time.then(|| self.machine.since_last());
        let mut all = Figures {
            seconds,
            cpu,
            ..Figures::default()
        };
        let mut by_sd: BTreeMap<usize, Figures> = BTreeMap::new();
        let mut by_wd: BTreeMap<String, Figures> = BTreeMap::new();
        for (planned_job, [read, write]) in self.planned_jobs.iter().zip(&slice.jobs) {
            let figures = Figures {
                seconds: 0.0,
                read: sum(read),
                write: sum(write),
                cpu: None,
            };
            all = all.plus(figures);
            let fresh = Figures {
                seconds,
                cpu,
                ..Figures::default()
            };
            let sd = by_sd.entry(planned_job.sd).or_insert(fresh);
            *sd = sd.plus(figures);
            let wd = by_wd.entry(planned_job.wd.clone()).or_insert(fresh);
            *wd = wd.plus(figures);
        }
        let moment = self.moment(slice.end);
        let label = slice.number.to_string();
        let row = interval_row(&moment.clock, &label, &all);
        for name in self.whole_reports() {
            self.folder.append(&name, &row)?;
        }
        terminal::print(&row)?;
        let flat = self.flat(&moment, label.clone());
        self.folder.append("flatfile", &flat_row(&flat, &all))?;
        for (sd, figures) in &by_sd {
            let name = &self.script.sds[*sd].name;
            self.folder
                .append(name, &interval_row(&moment.clock, &label, figures))?;
        }
        for (wd, figures) in by_wd.iter().filter(|(name, _)| !name.is_empty()) {
            self.folder
                .append(wd, &interval_row(&moment.clock, &label, figures))?;
        }
        match slice.number > self.warm() {
            true => &mut self.counted,
            false => &mut self.warming,
        }
        .add(slice.number, all, &by_sd, &by_wd);
        if slice.number == self.warm() {
            let run = &planned.run;
            self.folder
                .status("Warmup done", Some((&run.name, &run.loops.text())))?;
        }
        Ok(())
    }

    /// Intervals that enter no average.
    fn warm(&self) -> u32 {
        let run = &self.planned().run;
        match (run.elapsed, run.warmup) {
            (None, _) => 0,
            (_, 0) => 1,
            (_, warmup) => (warmup / run.interval.max(1)) as u32,
        }
    }

    fn flat(&self, moment: &Moment, label: String) -> FlatRow {
        let planned = self.planned();
        let run = &planned.run;
        let same = |of: &dyn Fn(&blocklab_vdbench::Use) -> f64| {
            let first = run.uses.first().map(of)?;
            run.uses.iter().all(|one| of(one) == first).then_some(first)
        };
        let mut used: Vec<usize> = self
            .planned_jobs
            .iter()
            .map(|planned_job| planned_job.sd)
            .collect();
        used.sort_unstable();
        used.dedup();
        let threads: Vec<u32> = used.iter().map(|sd| self.script.sds[*sd].threads).collect();
        let alike = threads.windows(2).all(|pair| pair[0] == pair[1]);
        let own = threads.first().copied().filter(|_| alike);
        let threads = same(&|one| {
            let of_all = concatenated_threads(self.script, run, one);
            of_all.or(own).map_or(0.0, f64::from)
        });
        let general = &self.script.general;
        FlatRow {
            time: moment.clock.clone(),
            timestamp: moment.stamp.clone(),
            run: run.name.clone(),
            label,
            reqrate: self.reqrate,
            xfersize: same(&|one| one.wd.xfersize.named() as f64),
            threads: run
                .threads
                .map(f64::from)
                .or(threads.filter(|threads| *threads > 0.0)),
            rdpct: same(&|one| one.wd.rdpct),
            rhpct: same(&|one| one.wd.rhpct),
            whpct: same(&|one| one.wd.whpct),
            // Of a run that ends at the end of its range the original says nothing.
            seekpct: same(&|one| one.wd.seek.number()).filter(|seek| *seek >= 0.0),
            lunsize: used.iter().map(|sd| self.terms.sizes[*sd]).sum::<u64>() as f64
                / 1_073_741_824.0,
            compratio: run.compratio.or(general.compratio).unwrap_or(1.0),
            dedupratio: general.dedupratio,
        }
    }

    /// What later runs and the curve need of this one.
    fn remember(&mut self, measurement: &Measurement, average: &Figures) {
        let planned = self.planned();
        let rate = average.rate();
        self.last_rate = rate;
        let (mut sum, mut count) = (0.0, 0.0);
        for result in measurement
            .jobs
            .iter()
            .flat_map(|job| job.directions.values())
        {
            if let Some(response) = &result.response {
                sum += response.mean_ns * response.count as f64;
                count += response.count as f64;
            }
        }
        let point = CurvePoint {
            run: planned.run.name.clone(),
            asked: (!planned.run.rate.is_max()).then_some(self.reqrate),
            rate,
            service_ms: average.both().resp(),
            response_ms: (count > 0.0).then(|| sum / count / 1e6),
        };
        match planned.run.rate {
            Rate::CurveMax => {
                self.curve_max = rate;
                self.stopped = false;
                let ios = |job: &JobResult| job.directions.values().map(|d| d.ios).sum();
                self.shares = Some((
                    self.planned_jobs.clone(),
                    measurement.jobs.iter().map(ios).collect(),
                ));
                self.curves.push((planned.case.clone(), vec![point]));
            }
            Rate::CurvePoint(_) => {
                let limit = planned.run.stopcurve;
                self.stopped |= limit.is_some_and(|limit| point.service_ms > limit);
                if let Some((_, points)) = self.curves.last_mut() {
                    points.push(point);
                }
            }
            _ => {}
        }
    }
}

fn sum(slice: &DirectionInterval) -> Sum {
    Sum {
        ios: slice.ios,
        bytes: slice.bytes,
        sum_ns: slice.sum_ns,
        sum_squares: slice.sum_squares,
        max_ns: slice.max_ns,
    }
}

impl Observer for Reporter<'_> {
    fn keys(&self, storage: &str) -> Option<Arc<KeyMap>> {
        let mut keys = self.watched.iter().flatten().map(|watched| &watched.keys);
        keys.find(|keys| keys.name() == storage).map(Arc::clone)
    }

    fn laying_out(&mut self, _: &Path, _: Bytes, _: Bytes) {}

    fn adapt(&mut self, case: &mut Case, record: &Record) -> bool {
        let found = self
            .prepared
            .runs
            .iter()
            .position(|planned| planned.case == case.name);
        self.current = found.unwrap_or(self.current);
        self.measured = record.measurements.len();
        let run = &self.planned().run;
        if self.trouble.is_some()
            || self.is_over
            || (self.has_wrong_blocks() && !self.script.general.data_errors.remove)
            || !self.leave_out_removed(case)
            || (self.stopped && matches!(run.rate, Rate::CurvePoint(_)))
        {
            return false;
        }
        self.reqrate = run.rate.number(self.curve_max, self.last_rate);
        if run.rate.is_relative() {
            let planned_jobs = match (&self.shares, run.rate) {
                (Some((planned_jobs, ios)), Rate::CurvePoint(_)) => observed(planned_jobs, ios),
                _ => self.planned_jobs.clone(),
            };
            let mut planned_jobs = planned_jobs;
            planned_jobs.retain(|planned_job| !self.removed.contains(&planned_job.sd));
            set_rate(case, run, &planned_jobs, self.reqrate.max(1.0));
        }
        true
    }

    fn begins(&mut self, _: &Case, _: u32, _: usize, _: usize) {
        self.counted = Counted::default();
        self.warming = Counted::default();
        self.guarded(Self::begin);
        self.machine.since_last();
    }

    fn interval(&mut self, _: &Interval, _: Nanos) {}

    fn interval_length(&self) -> Option<Nanos> {
        Some(Nanos::from_secs(self.planned().run.interval.max(1)))
    }

    fn slice(&mut self, slice: &IntervalData) {
        self.guarded(|reporter| {
            reporter.interval_ended(slice)?;
            reporter.tell_wrong_blocks()
        });
    }

    fn ended(&mut self, record: &Record) {
        let Some(measurement) = record.measurements.get(self.measured) else {
            self.guarded(|reporter| reporter.did_not_start(record.failure.as_deref()));
            return;
        };
        self.guarded(|reporter| {
            reporter.tell_wrong_blocks()?;
            reporter.end(measurement)?;
            reporter.tell_settled()
        });
        self.passed = self.passed + Nanos(measurement.elapsed_ns);
        self.checkpoints.keep(record);
    }
}

#[cfg(test)]
mod tests;
