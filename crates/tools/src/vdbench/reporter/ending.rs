//! What is written when a run has ended.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use blocklab_record::{DirectionResult, JobResult, Measurement};
use blocklab_stats::Histogram;
use blocklab_units::Nanos;
use blocklab_vdbench::{Figures, NO_STATISTICS, PlannedJob, flat_row, histogram, interval_row};
use blocklab_workload::Direction;

use super::super::commands;
use super::Reporter;
use blocklab_console::terminal;

impl Reporter<'_> {
    pub(super) fn end(&mut self, measurement: &Measurement) -> Result<()> {
        if self.counted.last == 0 {
            // It ended before its first counted interval began.
            self.counted = std::mem::take(&mut self.warming);
        }
        let planned = self.planned();
        let run = &planned.run;
        let moment = self.moment(Nanos(measurement.elapsed_ns));
        let label = format!("avg_{}-{}", self.counted.first, self.counted.last);
        let mut average = self.counted.all;
        exact_maxima(measurement.jobs.iter(), &mut average);
        let row = interval_row(&moment.clock, &label, &average);
        for name in self
            .whole_reports()
            .iter()
            .map(String::as_str)
            .chain(["totals"])
        {
            self.folder.append(name, &row)?;
        }
        terminal::print(format!("{row}\n"))?;
        let flat = self.flat(&moment, label.clone());
        self.folder.append("flatfile", &flat_row(&flat, &average))?;
        self.exact_parts(measurement);
        for (sd, figures) in &self.counted.by_sd {
            let name = &self.script.sds[*sd].name;
            self.folder
                .append(name, &interval_row(&moment.clock, &label, figures))?;
        }
        for (wd, figures) in self
            .counted
            .by_wd
            .iter()
            .filter(|(name, _)| !name.is_empty())
        {
            self.folder
                .append(wd, &interval_row(&moment.clock, &label, figures))?;
        }
        self.histograms(measurement)?;
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
            thread::sleep(Duration::from_secs(run.pause));
        }
        Ok(())
    }

    /// The reports of storage and workloads show the same maxima as those of the whole.
    fn exact_parts(&mut self, measurement: &Measurement) {
        let planned_jobs = &self.planned_jobs;
        let jobs_of = |is_mine: &dyn Fn(&PlannedJob) -> bool| -> Vec<&JobResult> {
            let pairs = measurement.jobs.iter().zip(planned_jobs);
            let mine = pairs.filter(|(_, planned_job)| is_mine(planned_job));
            mine.map(|(job, _)| job).collect()
        };
        for (sd, figures) in &mut self.counted.by_sd {
            exact_maxima(
                jobs_of(&|planned_job| planned_job.sd == *sd).into_iter(),
                figures,
            );
        }
        for (wd, figures) in &mut self.counted.by_wd {
            exact_maxima(
                jobs_of(&|planned_job| planned_job.wd == *wd).into_iter(),
                figures,
            );
        }
    }

    fn histograms(&self, measurement: &Measurement) -> Result<()> {
        let all: Vec<&JobResult> = measurement.jobs.iter().collect();
        self.folder.append("histogram", &self.sections(&all))?;
        for name in self.current_names() {
            let pairs = measurement.jobs.iter().zip(&self.planned_jobs);
            let mine = pairs.filter(|(_, planned_job)| {
                planned_job.wd == name || self.script.sds[planned_job.sd].name == name
            });
            let jobs: Vec<&JobResult> = mine.map(|(job, _)| job).collect();
            self.folder
                .append(&format!("{name}.histogram"), &self.sections(&jobs))?;
        }
        Ok(())
    }

    fn sections(&self, jobs: &[&JobResult]) -> String {
        let of = |ways: &[Direction]| {
            let mut sum = Histogram::new();
            for way in ways {
                let results = jobs.iter().filter_map(|job| job.directions.get(way));
                for histogram in
                    results.filter_map(|r: &DirectionResult| r.service.histogram().ok())
                {
                    sum.merge(&histogram);
                }
            }
            sum
        };
        let buckets = &self.script.general.histogram;
        let text = histogram(
            "Reads and writes:",
            &of(&[Direction::Read, Direction::Write]),
            buckets,
        ) + &histogram("Reads:", &of(&[Direction::Read]), buckets)
            + &histogram("Writes:", &of(&[Direction::Write]), buckets);
        match text.is_empty() {
            true => NO_STATISTICS.to_owned(),
            false => text,
        }
    }

    /// A run that failed before its first operation has no figures; those of the run before are
    /// not its own.
    pub(super) fn did_not_start(&mut self, failure: Option<&str>) -> Result<()> {
        let name = &self.planned().run.name;
        let why = failure.unwrap_or("it could not begin");
        let text = format!(
            "{} rd={name} did not start: {why}\n",
            self.moment(Nanos::ZERO).clock
        );
        terminal::print(&text)?;
        self.folder.append("histogram", NO_STATISTICS)?;
        self.folder.append("logfile", &text)?;
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
}

/// The slices know maxima to a bucket; the record knows them exactly.
fn exact_maxima<'a>(jobs: impl Iterator<Item = &'a JobResult> + Clone, average: &mut Figures) {
    let sums = [
        (Direction::Read, &mut average.read),
        (Direction::Write, &mut average.write),
    ];
    for (way, sum) in sums {
        let of = |job: &JobResult| job.directions.get(&way).map(|d| d.service.max_ns);
        if let Some(max) = jobs.clone().filter_map(of).max() {
            sum.max_ns = max;
        }
    }
}
