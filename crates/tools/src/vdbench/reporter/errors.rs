//! What failed operations and wrong blocks lead to: `data_errors=`.

use anyhow::Result;
use blocklab_record::ErrorKind;
use blocklab_record::{Measurement, Stopped};
use blocklab_vdbench::PlannedJob;
use blocklab_workload::Case;

use super::super::commands::{self, ErrorPlace};
use super::super::times::Moment;
use super::Reporter;
use blocklab_console::terminal;

impl Reporter<'_> {
    /// Leaves the jobs out whose storage definition is used no more. Returns whether any is left.
    pub(super) fn leave_out_removed(&mut self, case: &mut Case) -> bool {
        let planned_jobs = &self.planned().planned_jobs;
        let keeps = |planned_job: &PlannedJob| !self.removed.contains(&planned_job.sd);
        let mut kept = planned_jobs.iter().map(keeps);
        case.workload.jobs.retain(|_| kept.next().unwrap_or(true));
        self.planned_jobs = planned_jobs
            .iter()
            .filter(|planned_job| keeps(planned_job))
            .cloned()
            .collect();
        !self.planned_jobs.is_empty()
    }

    /// Tells failed operations, and does what `data_errors=` asks for.
    pub(super) fn errors(&mut self, measurement: &Measurement, moment: &Moment) -> Result<()> {
        let mut text = String::new();
        for (job, planned_job) in measurement.jobs.iter().zip(&self.planned_jobs) {
            let sd = &self.script.sds[planned_job.sd];
            // Wrong blocks were told as they came.
            for error in job
                .errors
                .iter()
                .filter(|error| error.kind != ErrorKind::Verify)
            {
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
                self.first_error.get_or_insert_with(|| ErrorPlace {
                    lun: sd.lun.clone(),
                    lba: error.first_offset,
                    size: None,
                });
            }
        }
        text.push_str(&self.remove_failed(measurement, moment));
        if !text.is_empty() {
            terminal::print(&text)?;
        }
        self.folder.append("errorlog", &text)?;
        self.end_after_errors(measurement)
    }

    /// With `remove`, storage whose jobs ended by errors is used no more.
    fn remove_failed(&mut self, measurement: &Measurement, moment: &Moment) -> String {
        let asked = &self.script.general.data_errors;
        let mut text = String::new();
        let pairs = measurement.jobs.iter().zip(&self.planned_jobs);
        for (_, planned_job) in
            pairs.filter(|(job, _)| asked.remove && job.stopped == Stopped::Error)
        {
            if self.removed.insert(planned_job.sd) {
                text.push_str(&format!(
                    "{} sd={} had as many errors as data_errors= allows and is used no more\n",
                    moment.clock, self.script.sds[planned_job.sd].name
                ));
            }
        }
        text
    }

    /// Without `remove`, too many errors end all runs; a command then tells somebody.
    fn end_after_errors(&mut self, measurement: &Measurement) -> Result<()> {
        let asked = &self.script.general.data_errors;
        let ended = measurement
            .jobs
            .iter()
            .any(|job| job.stopped == Stopped::Error);
        if asked.remove || !ended {
            return Ok(());
        }
        self.is_over = true;
        match (&asked.command, &self.first_error) {
            (Some(command), Some(place)) => commands::after_error(command, place, self.folder),
            _ => Ok(()),
        }
    }
}
