//! What is written when a run has ended.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use blocklab_dialect::vdbench::{
    Figures, Lane, SkewRow, flat_row, histogram, interval_row, skew_table,
};
use blocklab_record::{DirectionResult, JobResult, Measurement};
use blocklab_stats::Histogram;
use blocklab_units::Nanos;

use super::super::commands;
use super::super::times::Moment;
use super::Reporter;
use crate::terminal;

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
            .filter(|(name, _)| !name.is_empty())
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
            thread::sleep(Duration::from_secs(run.pause));
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
        let lanes = &self.lanes;
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
        let buckets = &self.script.general.histogram;
        histogram("Reads and writes:", &of(&["read", "write"]), buckets)
            + &histogram("Reads:", &of(&["read"]), buckets)
            + &histogram("Writes:", &of(&["write"]), buckets)
    }

    fn skew(&self, moment: &Moment) -> Result<()> {
        let planned = self.planned();
        let asked = |is_mine: &dyn Fn(&Lane) -> bool| {
            let sum: f64 = self
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
