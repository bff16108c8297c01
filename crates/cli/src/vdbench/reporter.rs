//! Writes Vdbench's reports while its runs go on, and sets the rates that depend on earlier ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, thread};

use anyhow::Result;
use blocklab_dialect::vdbench::{
    CurvePoint, Figures, FlatRow, LoopKind, Planned, Prepared, Rate, Script, SkewRow, Sum, Terms,
    curve_text, flat_header, flat_row, heading, histogram, interval_row, observed, set_rate,
    skew_table,
};
use blocklab_engine::{DirectionSlice, Slice};
use blocklab_record::{DirectionResult, Interval, JobResult, Measurement, Record};
use blocklab_stats::Histogram;
use blocklab_store::Store;
use blocklab_study::Observer;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Case;
use jiff::Zoned;

use super::commands;
use super::cpu::Machine;
use super::folder::Folder;
use super::house::House;
use super::times::{self, Moment};
use crate::terminal;

/// Sees every run of a sitting.
pub struct Reporter<'a> {
    script: &'a Script,
    prepared: &'a Prepared,
    terms: &'a Terms,
    folder: &'a Folder,
    store: Option<&'a Store>,
    /// Nothing of a run in virtual time, whose clock it is not.
    in_real_time: bool,
    /// Where simulated time began, and how much of it has passed.
    start: Zoned,
    passed: Nanos,
    current: usize,
    /// The rate that the current run asks for.
    reqrate: f64,
    counted: Counted,
    machine: Machine,
    curve_max: f64,
    last_rate: f64,
    /// Of the curve's maximum: the jobs and their operations.
    shares: Option<(Vec<blocklab_dialect::vdbench::Lane>, Vec<u64>)>,
    /// A point was slower than stopcurve allows.
    stopped: bool,
    curves: Vec<(String, Vec<CurvePoint>)>,
    /// What could not be written.
    pub trouble: Option<anyhow::Error>,
}

/// The counted intervals of the current run.
#[derive(Default)]
struct Counted {
    all: Figures,
    by_sd: BTreeMap<usize, Figures>,
    by_wd: BTreeMap<String, Figures>,
    first: u32,
    last: u32,
}

impl<'a> Reporter<'a> {
    pub fn new(
        script: &'a Script,
        prepared: &'a Prepared,
        terms: &'a Terms,
        folder: &'a Folder,
        store: &'a Store,
        house: &House,
    ) -> Result<Self> {
        let reporter = Self {
            script,
            prepared,
            terms,
            folder,
            store: (!house.no_save).then_some(store),
            in_real_time: !script.sds.iter().any(|sd| sd.lun.starts_with("sim:")),
            start: Zoned::now(),
            passed: Nanos::ZERO,
            current: 0,
            reqrate: 0.0,
            counted: Counted::default(),
            machine: Machine::default(),
            curve_max: 0.0,
            last_rate: 0.0,
            shares: None,
            stopped: false,
            curves: Vec::new(),
            trouble: None,
        };
        reporter.create_files()?;
        Ok(reporter)
    }

    fn create_files(&self) -> Result<()> {
        let mut links = String::new();
        for (title, name) in [
            ("Link to logfile:", "logfile"),
            ("Run totals:", "totals"),
            ("Copy of input parameter files:", "parmfile"),
            ("Copy of parameter scan detail:", "parmscan"),
            ("Link to errorlog:", "errorlog"),
            ("Link to flatfile:", "flatfile"),
            ("Link to HOST reports:", "localhost"),
            ("Link to response time histogram:", "histogram"),
            ("Link to workload skew report:", "skew"),
        ] {
            links.push_str(&format!("{title:<40} <A HREF=\"{name}.html\">{name}</A>\n"));
        }
        for name in self.storage_names().iter().chain(&self.workload_names()) {
            links.push_str(&format!(
                "{:<40} <A HREF=\"{name}.html\">{name}</A>\n",
                "Link to report:"
            ));
        }
        links.push('\n');
        links.push_str(&self.run_links());
        self.folder.create("summary", &links)?;
        let runs = self.run_links();
        for name in ["totals", "localhost", "localhost-0", "histogram", "skew"] {
            self.folder.create(name, &runs)?;
        }
        for name in self.storage_names().iter().chain(&self.workload_names()) {
            self.folder.create(name, &runs)?;
            self.folder.create(&format!("{name}.histogram"), &runs)?;
        }
        self.folder.create("flatfile", &flat_header())?;
        for name in ["swat_mon.txt", "swat_mon_total.txt"] {
            fs::write(self.folder.path().join(name), "")?;
        }
        self.folder.status("Starting slaves", None)?;
        self.folder.status("Slave localhost-0 connected", None)?;
        self.folder.status("Slaves connected", None)?;
        self.folder
            .status("Query host configuration started", None)?;
        self.folder
            .status("Query host configuration completed", None)
    }

    fn run_links(&self) -> String {
        let runs = self.prepared.runs.iter().enumerate();
        let links = runs.map(|(index, planned)| {
            let (name, loops) = (&planned.run.name, planned.run.loops.text());
            format!("<A HREF=\"#_{index}\">{name} {loops}</A>\n")
        });
        links.collect::<String>() + "\n"
    }

    fn storage_names(&self) -> Vec<String> {
        let mut used: Vec<usize> = Vec::new();
        for lane in self.prepared.runs.iter().flat_map(|planned| &planned.lanes) {
            if !used.contains(&lane.sd) {
                used.push(lane.sd);
            }
        }
        used.sort_unstable();
        used.iter()
            .map(|sd| self.script.sds[*sd].name.clone())
            .collect()
    }

    fn workload_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for lane in self.prepared.runs.iter().flat_map(|planned| &planned.lanes) {
            if !names.contains(&lane.wd) && lane.wd != "format" {
                names.push(lane.wd.clone());
            }
        }
        names
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
        let anchored = format!(
            "\n<a name=\"_{}\"></a><i><b>{} {banner}</b></i>\n\n",
            self.current, moment.clock
        );
        let head = heading(&moment.date);
        for name in ["summary", "totals", "localhost", "localhost-0"] {
            self.folder.append(name, &format!("{anchored}{head}"))?;
        }
        for name in self.current_names() {
            self.folder.append(&name, &format!("{anchored}{head}"))?;
        }
        self.folder
            .append("logfile", &format!("{} {banner}\n", moment.clock))?;
        terminal::print(format!("{} {banner}\n\n{head}", moment.clock))?;
        self.folder
            .status("Starting", Some((&run.name, &run.loops.text())))?;
        commands::run(&run.startcmd, self.folder)
    }

    fn current_names(&self) -> Vec<String> {
        let lanes = &self.planned().lanes;
        let mut names = Vec::new();
        for lane in lanes {
            for name in [&self.script.sds[lane.sd].name, &lane.wd] {
                if !names.contains(name) && name != "format" {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    fn interval_ended(&mut self, slice: &Slice) -> Result<()> {
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
        for (lane, [read, write]) in planned.lanes.iter().zip(&slice.jobs) {
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
            let sd = by_sd.entry(lane.sd).or_insert(fresh);
            *sd = sd.plus(figures);
            let wd = by_wd.entry(lane.wd.clone()).or_insert(fresh);
            *wd = wd.plus(figures);
        }
        let moment = self.moment(slice.end);
        let label = slice.number.to_string();
        let row = interval_row(&moment.clock, &label, &all);
        for name in ["summary", "localhost", "localhost-0"] {
            self.folder.append(name, &row)?;
        }
        terminal::print(&row)?;
        let flat = self.flat(&moment, label.clone());
        self.folder.append("flatfile", &flat_row(&flat, &all))?;
        for (sd, figures) in &by_sd {
            let name = &self.script.sds[*sd].name;
            self.folder
                .append(name, &interval_row(&moment.clock, &label, figures))?;
        }
        for (wd, figures) in by_wd.iter().filter(|(name, _)| *name != "format") {
            self.folder
                .append(wd, &interval_row(&moment.clock, &label, figures))?;
        }
        self.count(slice.number, all, by_sd, by_wd);
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

    fn count(
        &mut self,
        number: u32,
        all: Figures,
        by_sd: BTreeMap<usize, Figures>,
        by_wd: BTreeMap<String, Figures>,
    ) {
        if number <= self.warm() {
            return;
        }
        let counted = &mut self.counted;
        if counted.first == 0 {
            counted.first = number;
        }
        counted.last = number;
        counted.all = counted.all.plus(all);
        for (sd, figures) in by_sd {
            let sum = counted.by_sd.entry(sd).or_default();
            *sum = sum.plus(figures);
        }
        for (wd, figures) in by_wd {
            let sum = counted.by_wd.entry(wd).or_default();
            *sum = sum.plus(figures);
        }
    }

    fn flat(&self, moment: &Moment, label: String) -> FlatRow {
        let planned = self.planned();
        let run = &planned.run;
        let same = |of: &dyn Fn(&blocklab_dialect::vdbench::Use) -> f64| {
            let first = run.uses.first().map(of)?;
            run.uses.iter().all(|one| of(one) == first).then_some(first)
        };
        let mut used: Vec<usize> = planned.lanes.iter().map(|lane| lane.sd).collect();
        used.sort_unstable();
        used.dedup();
        let threads: Vec<u32> = used.iter().map(|sd| self.script.sds[*sd].threads).collect();
        let alike = threads.windows(2).all(|pair| pair[0] == pair[1]);
        let own = threads.first().copied().filter(|_| alike).map(f64::from);
        let general = &self.script.general;
        FlatRow {
            time: moment.clock.clone(),
            timestamp: moment.stamp.clone(),
            run: run.name.clone(),
            label,
            reqrate: self.reqrate,
            xfersize: same(&|one| one.wd.xfersize.named() as f64),
            threads: run.loops.value(LoopKind::Threads).or(own),
            rdpct: same(&|one| one.wd.rdpct),
            rhpct: same(&|one| one.wd.rhpct),
            whpct: same(&|one| one.wd.whpct),
            seekpct: same(&|one| one.wd.seek.number()),
            lunsize: used.iter().map(|sd| self.terms.sizes[*sd]).sum::<u64>() as f64
                / 1_073_741_824.0,
            compratio: run.compratio.or(general.compratio).unwrap_or(1.0),
            dedupratio: general.dedupratio.unwrap_or(1.0),
        }
    }

    fn end(&mut self, measurement: &Measurement) -> Result<()> {
        let planned = self.planned();
        let run = &planned.run;
        let moment = self.moment(Nanos(measurement.elapsed_ns));
        let label = format!("avg_{}-{}", self.counted.first, self.counted.last);
        let mut average = self.counted.all;
        self.exact_maxima(measurement, &mut average);
        let row = interval_row(&moment.clock, &label, &average);
        for name in ["summary", "totals", "localhost", "localhost-0"] {
            self.folder.append(name, &row)?;
        }
        terminal::print(format!("{row}\n"))?;
        let flat = self.flat(&moment, label.clone());
        self.folder.append("flatfile", &flat_row(&flat, &average))?;
        for (sd, figures) in &self.counted.by_sd {
            let name = &self.script.sds[*sd].name;
            self.folder
                .append(name, &interval_row(&moment.clock, &label, figures))?;
        }
        for (wd, figures) in self
            .counted
            .by_wd
            .iter()
            .filter(|(name, _)| *name != "format")
        {
            self.folder
                .append(wd, &interval_row(&moment.clock, &label, figures))?;
        }
        self.histograms(measurement, &moment)?;
        self.skew(&moment)?;
        self.errors(measurement, &moment)?;
        self.busy_machine()?;
        self.remember(measurement, &average);
        let loops = run.loops.text();
        self.folder
            .status("Workload done", Some((&run.name, &loops)))?;
        self.folder
            .status("Slaves done", Some((&run.name, &loops)))?;
        commands::run(&run.endcmd, self.folder)?;
        if run.pause > 0 && self.in_real_time {
            thread::sleep(std::time::Duration::from_secs(run.pause));
        }
        Ok(())
    }

    /// The slices know maxima to a bucket; the record knows them exactly.
    fn exact_maxima(&self, measurement: &Measurement, average: &mut Figures) {
        for (name, sum) in [("read", &mut average.read), ("write", &mut average.write)] {
            let of = |job: &JobResult| job.directions.get(name).map(|d| d.service.max_ns);
            if let Some(max) = measurement.jobs.iter().filter_map(of).max() {
                sum.max_ns = max;
            }
        }
    }

    fn histograms(&self, measurement: &Measurement, moment: &Moment) -> Result<()> {
        let banner = format!(
            "\n<a name=\"_{}\"></a><i><b>{} {}</b></i>\n\n",
            self.current,
            moment.clock,
            self.planned().run.banner(self.reqrate)
        );
        let all: Vec<&JobResult> = measurement.jobs.iter().collect();
        self.folder
            .append("histogram", &(banner.clone() + &self.sections(&all)))?;
        let lanes = &self.planned().lanes;
        for name in self.current_names() {
            let pairs = measurement.jobs.iter().zip(lanes);
            let mine =
                pairs.filter(|(_, lane)| lane.wd == name || self.script.sds[lane.sd].name == name);
            let jobs: Vec<&JobResult> = mine.map(|(job, _)| job).collect();
            let text = banner.clone() + &self.sections(&jobs);
            self.folder.append(&format!("{name}.histogram"), &text)?;
        }
        Ok(())
    }

    fn sections(&self, jobs: &[&JobResult]) -> String {
        let of = |names: &[&str]| {
            let mut sum = Histogram::new();
            for name in names {
                let results = jobs.iter().filter_map(|job| job.directions.get(*name));
                for histogram in
                    results.filter_map(|r: &DirectionResult| r.service.histogram().ok())
                {
                    sum.merge(&histogram);
                }
            }
            sum
        };
        let words = self.script.general.histogram.as_deref();
        histogram("Reads and writes:", &of(&["read", "write"]), words)
            + &histogram("Reads:", &of(&["read"]), words)
            + &histogram("Writes:", &of(&["write"]), words)
    }

    fn skew(&self, moment: &Moment) -> Result<()> {
        let planned = self.planned();
        let asked = |is_mine: &dyn Fn(&blocklab_dialect::vdbench::Lane) -> bool| {
            let sum: f64 = planned
                .lanes
                .iter()
                .filter(|lane| is_mine(lane))
                .map(|lane| lane.skew)
                .sum();
            planned.run.controlled.then_some(sum)
        };
        let wds = self.counted.by_wd.iter().map(|(name, figures)| SkewRow {
            name: name.clone(),
            figures: *figures,
            asked: asked(&|lane| lane.wd == *name),
        });
        let sds = self.counted.by_sd.iter().map(|(sd, figures)| SkewRow {
            name: self.script.sds[*sd].name.clone(),
            figures: *figures,
            asked: asked(&|lane| lane.sd == *sd),
        });
        let text = format!(
            "\n<a name=\"_{}\"></a><i><b>{} {}</b></i>\n\n{}{}",
            self.current,
            moment.clock,
            planned.run.banner(self.reqrate),
            skew_table("wd", &wds.collect::<Vec<_>>()),
            skew_table("sd", &sds.collect::<Vec<_>>()),
        );
        self.folder.append("skew", &text)
    }

    fn errors(&self, measurement: &Measurement, moment: &Moment) -> Result<()> {
        let mut text = String::new();
        for (job, lane) in measurement.jobs.iter().zip(&self.planned().lanes) {
            let sd = &self.script.sds[lane.sd];
            for error in &job.errors {
                text.push_str(&format!(
                    "{} sd={},lun={}: {} of {} ({}), first at byte {:#x}, {} in all\n",
                    moment.clock,
                    sd.name,
                    sd.lun,
                    error.kind,
                    error.direction,
                    error.message,
                    error.first_offset,
                    error.count
                ));
            }
        }
        if !text.is_empty() {
            terminal::print(&text)?;
        }
        self.folder.append("errorlog", &text)
    }

    fn busy_machine(&self) -> Result<()> {
        let used = self.counted.all.cpu.map_or(0.0, |cpu| cpu.used());
        if used <= 80.0 {
            return Ok(());
        }
        let text = format!(
            "*\n* Average processor use was {used:.1} %: above 80 the processors may hold the \
             storage back.\n*\n"
        );
        terminal::print(&text)?;
        self.folder.append("summary", &text)
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
                    planned.lanes.clone(),
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

fn sum(slice: &DirectionSlice) -> Sum {
    Sum {
        ios: slice.ios,
        bytes: slice.bytes,
        sum_ns: slice.sum_ns,
        sum_squares: slice.sum_squares,
        max_ns: slice.max_ns,
    }
}

impl Observer for Reporter<'_> {
    fn laying_out(&mut self, _: &Path, _: Bytes, _: Bytes) {}

    fn adapt(&mut self, case: &mut Case, _: &Record) -> bool {
        let found = self
            .prepared
            .runs
            .iter()
            .position(|planned| planned.case == case.name);
        self.current = found.unwrap_or(self.current);
        let planned = self.planned();
        let run = &planned.run;
        if self.trouble.is_some() || (self.stopped && matches!(run.rate, Rate::CurvePoint(_))) {
            return false;
        }
        self.reqrate = run.rate.number(self.curve_max, self.last_rate);
        if run.rate.is_relative() {
            let lanes = match (&self.shares, run.rate) {
                (Some((lanes, ios)), Rate::CurvePoint(_)) => observed(lanes, ios),
                _ => planned.lanes.clone(),
            };
            set_rate(case, run, &lanes, self.reqrate.max(1.0));
        }
        true
    }

    fn begins(&mut self, _: &Case, _: u32, _: usize, _: usize) {
        self.counted = Counted::default();
        self.guarded(Self::begin);
        self.machine.since_last();
    }

    fn interval(&mut self, _: &Interval, _: Nanos) {}

    fn rhythm(&self) -> Option<Nanos> {
        Some(Nanos::from_secs(self.planned().run.interval.max(1)))
    }

    fn slice(&mut self, slice: &Slice) {
        self.guarded(|reporter| reporter.interval_ended(slice));
    }

    fn ended(&mut self, record: &Record) {
        let Some(measurement) = record.measurements.last() else {
            return;
        };
        self.guarded(|reporter| reporter.end(measurement));
        self.passed = self.passed + Nanos(measurement.elapsed_ns);
        if let Some(Err(error)) = self.store.map(|store| store.checkpoint(record)) {
            terminal::warn(&format!("cannot keep what is measured so far: {error}"));
        }
    }
}
