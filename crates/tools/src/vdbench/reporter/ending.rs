//! The rows, histograms and summaries that are written when a run has ended.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use blocklab_console::terminal;
use blocklab_record::{JobResult, Measurement};
use blocklab_stats::Histogram;
use blocklab_units::Nanos;
use blocklab_vdbench::{
    CurvePoint, Figures, NO_STATISTICS, Rate, Skew, SkewRow, histogram, interval_row, observed,
};
use blocklab_workload::Direction;

use super::super::commands;
use super::super::times::Moment;
use super::{Part, Reporter};

impl Reporter<'_> {
    /// Writes everything about a run that has ended, and remembers what later runs need.
    pub(super) fn write_end(&mut self, measurement: &Measurement) -> Result<()> {
        if self.run.counted.last == 0 {
            // The run ended within its warm-up: its average is that of all it has.
            self.run.counted = std::mem::take(&mut self.run.warming);
        }
        self.set_exact_maxima(measurement);
        let run = &self.planned().run;
        let moment = self.moment(Nanos(measurement.elapsed_ns));
        let label = format!("avg_{}-{}", self.run.counted.first, self.run.counted.last);
        let average = self.run.counted.all;
        let row = interval_row(&moment.clock, &label, &average);
        self.folder.append("totals", &row)?;
        self.append_rows(&moment, &label, &self.run.counted)?;
        terminal::print("\n")?;
        self.append_histograms(measurement)?;
        self.append_skew(&moment)?;
        self.report_errors(measurement, &moment)?;
        self.warn_of_busy_processors()?;
        self.remember(measurement, &average);
        self.run_status("Workload done")?;
        self.run_status("Slaves done")?;
        commands::run(&run.options.endcmd, self.folder)?;
        // As in the original, storage rests before the next run: there is none after the last.
        if self.run.index + 1 < self.prepared.runs.len() {
            self.rest();
        }
        Ok(())
    }

    /// Waits for the `pause=` of the current run. In virtual time, there is nothing to wait for.
    pub fn rest(&self) {
        let pause = self.planned().run.options.pause;
        if pause > 0 && self.in_real_time {
            thread::sleep(Duration::from_secs(pause));
        }
    }

    /// The results of the jobs of a part; `None`: of all jobs.
    fn jobs<'m>(&self, measurement: &'m Measurement, part: Option<&Part>) -> Vec<&'m JobResult> {
        let pairs = measurement.jobs.iter().zip(&self.run.planned_jobs);
        let own = pairs.filter(|(_, planned)| part.is_none_or(|part| part.has(planned)));
        own.map(|(job, _)| job).collect()
    }

    /// Replaces the maxima by exact ones: intervals know them only to a histogram bucket.
    fn set_exact_maxima(&mut self, measurement: &Measurement) {
        let mut counted = std::mem::take(&mut self.run.counted);
        put_maxima(&self.jobs(measurement, None), &mut counted.all);
        for (part, figures) in &mut counted.parts {
            put_maxima(&self.jobs(measurement, Some(part)), figures);
        }
        self.run.counted = counted;
    }

    /// Writes the histograms of the whole run and of its parts.
    fn append_histograms(&self, measurement: &Measurement) -> Result<()> {
        let all = self.histogram_sections(&self.jobs(measurement, None));
        self.folder.append("histogram", &all)?;
        for part in Part::of_jobs(self.run.planned_jobs.iter()) {
            let own = self.histogram_sections(&self.jobs(measurement, Some(&part)));
            let name = format!("{}.histogram", self.report_name(&part));
            self.folder.append(&name, &own)?;
        }
        Ok(())
    }

    /// The histograms of these jobs as text: of all operations, of reads and of writes.
    fn histogram_sections(&self, jobs: &[&JobResult]) -> String {
        const SECTIONS: [(&str, &[Direction]); 3] = [
            ("Reads and writes:", &[Direction::Read, Direction::Write]),
            ("Reads:", &[Direction::Read]),
            ("Writes:", &[Direction::Write]),
        ];
        let mut text = String::new();
        for (title, directions) in SECTIONS {
            let mut sum = Histogram::new();
            for direction in directions {
                let results = jobs.iter().filter_map(|job| job.directions.get(direction));
                for histogram in results.filter_map(|result| result.service.histogram().ok()) {
                    sum.merge(&histogram);
                }
            }
            text.push_str(&histogram(title, &sum, &self.file.general.histogram));
        }
        if text.is_empty() {
            NO_STATISTICS.to_owned()
        } else {
            text
        }
    }

    /// Writes how the load was shared among hosts, storage definitions and workloads.
    fn append_skew(&mut self, moment: &Moment) -> Result<()> {
        let mut lines = self.shares().lines();
        if !std::mem::replace(&mut self.earlier.has_skew, true) {
            lines.insert(0, String::new());
            lines.insert(1, "Warm-up intervals are not counted here.".to_owned());
        }
        let clock = &moment.clock;
        let lines = lines.iter().map(|line| format!("{clock} {line}\n"));
        self.folder.append("skew", &lines.collect::<String>())
    }

    /// What each host, storage definition and workload did, and which share was requested of it.
    pub(super) fn shares(&self) -> Skew {
        let (mut slaves, mut sds, mut wds) = (Vec::new(), Vec::new(), Vec::new());
        for (part, figures) in &self.run.counted.parts {
            let (rows, suffix) = match part {
                Part::Host(_) => (&mut slaves, "-0"),
                Part::Storage(_) => (&mut sds, ""),
                Part::Workload(_) => (&mut wds, ""),
            };
            let jobs = self.run.planned_jobs.iter().filter(|job| part.has(job));
            // A fixed rate is not shared by skew, and no skew is requested of a whole host.
            let has_none =
                matches!(part, Part::Host(_)) || jobs.clone().any(|job| job.fixed.is_some());
            rows.push(SkewRow {
                name: format!("{}{suffix}", self.name(part)),
                figures: *figures,
                requested: (!has_none).then(|| jobs.map(|job| job.skew).sum()),
            });
        }
        let hosts = self.host_names();
        let hosts = hosts.iter().map(|host| host.len() + "-0".len());
        let parts = self.parts.iter().map(|part| self.name(part).len());
        Skew {
            slaves,
            width: hosts.chain(parts).max().unwrap_or(0),
            sds,
            wds,
            total: self.run.counted.all,
            controlled: self.planned().run.controlled,
        }
    }

    /// Remembers what later runs and the curve need of this run.
    fn remember(&mut self, measurement: &Measurement, average: &Figures) {
        let planned = self.planned();
        self.earlier.last_rate = average.rate();
        let jobs = measurement.jobs.iter();
        let results = jobs.flat_map(|job| job.directions.values());
        let (mut sum, mut count) = (0.0, 0.0);
        for response in results.filter_map(|result| result.response.as_ref()) {
            sum += response.mean_ns * response.count as f64;
            count += response.count as f64;
        }
        let point = CurvePoint {
            run: planned.run.name.clone(),
            requested: (!planned.run.rate.is_max()).then_some(self.run.reqrate),
            rate: average.rate(),
            service_ms: average.both().mean_ms(),
            response_ms: (count > 0.0).then(|| sum / count / 1e6),
        };
        match planned.run.rate {
            Rate::CurveMax => {
                self.earlier.curve_max = point.rate;
                self.earlier.is_curve_over = false;
                let ios =
                    |job: &JobResult| job.directions.values().map(|direction| direction.ios).sum();
                let ios: Vec<u64> = measurement.jobs.iter().map(ios).collect();
                self.earlier.shares = Some(observed(&self.run.planned_jobs, &ios));
                self.earlier.curves.push((
                    self.prepared.plan.cases[self.run.index].name.clone(),
                    vec![point],
                ));
            }
            Rate::CurvePoint(_) => {
                let limit = planned.run.options.stopcurve;
                self.earlier.is_curve_over |= limit.is_some_and(|limit| point.service_ms > limit);
                if let Some((_, points)) = self.earlier.curves.last_mut() {
                    points.push(point);
                }
            }
            _ => {}
        }
    }

    /// Writes that a run failed before its first operation. It gets no row, because it has no figures.
    pub(super) fn report_no_start(&mut self, failure: Option<&str>) -> Result<()> {
        let name = &self.planned().run.name;
        let clock = self.moment(Nanos::ZERO).clock;
        let reason = failure.unwrap_or("it could not begin");
        let text = format!("{clock} rd={name} did not start: {reason}\n");
        terminal::print(&text)?;
        self.folder.append("histogram", NO_STATISTICS)?;
        self.folder.append("logfile", &text)?;
        self.folder.append("errorlog", &text)
    }

    /// Warns if the processors may have limited the run.
    fn warn_of_busy_processors(&self) -> Result<()> {
        // Per cent; Vdbench warns from there on.
        const BUSY: f64 = 80.0;
        let used = self.run.counted.all.cpu.map_or(0.0, |cpu| cpu.used());
        if used <= BUSY {
            return Ok(());
        }
        let text = format!(
            "*\n* Average processor use was {used:.1} %: above {BUSY} the processors may hold the \
             storage back.\n*\n"
        );
        terminal::print(&text)?;
        self.folder.append("summary", &text)
    }
}

/// Sets the longest service time of reads and of writes.
fn put_maxima(jobs: &[&JobResult], figures: &mut Figures) {
    let sums = [
        (Direction::Read, &mut figures.read),
        (Direction::Write, &mut figures.write),
    ];
    for (direction, sum) in sums {
        let results = jobs.iter().filter_map(|job| job.directions.get(&direction));
        if let Some(max) = results.map(|result| result.service.max_ns).max() {
            sum.max_ns = max;
        }
    }
}
