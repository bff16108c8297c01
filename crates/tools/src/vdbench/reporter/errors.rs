//! Failed operations and wrong blocks: how they are reported, and what `data_errors=` does about them.

use anyhow::Result;
use blocklab_console::terminal;
use blocklab_record::{ErrorKind, Measurement, Stopped};
use blocklab_vdbench::{RECOVERY, miscompare_text, settled_text};
use blocklab_workload::Case;

use super::super::commands::{self, ErrorPlace};
use super::super::times::{self, Moment};
use super::Reporter;

impl Reporter<'_> {
    /// Leaves the jobs whose storage was removed after errors out of the case and of the current
    /// run. False, when no job is left.
    pub(super) fn leave_out_removed(&mut self, case: &mut Case) -> bool {
        let mut planned_jobs = self.planned().planned_jobs.clone();
        let removed = &self.earlier.removed;
        // The jobs of the case are in the order of the planned ones.
        let mut kept = planned_jobs
            .iter()
            .map(|planned| !removed.contains(&planned.sd));
        case.workload.jobs.retain(|_| kept.next().unwrap_or(true));
        planned_jobs.retain(|planned| !removed.contains(&planned.sd));
        self.run.planned_jobs = planned_jobs;
        !self.run.planned_jobs.is_empty()
    }

    /// Reports failed operations, and does what `data_errors=` requests.
    pub(super) fn report_errors(
        &mut self,
        measurement: &Measurement,
        moment: &Moment,
    ) -> Result<()> {
        let mut text = String::new();
        for (job, planned_job) in measurement.jobs.iter().zip(&self.run.planned_jobs) {
            let sd = &self.file.sds[planned_job.sd];
            // Wrong blocks were reported when they were found.
            let others = job.errors.iter();
            for error in others.filter(|error| error.kind != ErrorKind::Verify) {
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
                self.earlier.first_error.get_or_insert_with(|| ErrorPlace {
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

    /// With `data_errors=remove`, storage whose jobs ended because of errors is not used any more.
    fn remove_failed(&mut self, measurement: &Measurement, moment: &Moment) -> String {
        let mut text = String::new();
        for (job, planned_job) in measurement.jobs.iter().zip(&self.run.planned_jobs) {
            let is_removed = self.file.general.data_errors.remove
                && job.stopped == Stopped::Error
                && self.earlier.removed.insert(planned_job.sd);
            if is_removed {
                text.push_str(&format!(
                    "{} sd={} had as many errors as data_errors= allows and is used no more\n",
                    moment.clock, self.file.sds[planned_job.sd].name
                ));
            }
        }
        text
    }

    /// Without `remove`, too many errors end all runs, and then the command of `data_errors=` runs.
    fn end_after_errors(&mut self, measurement: &Measurement) -> Result<()> {
        let requested = &self.file.general.data_errors;
        let mut jobs = measurement.jobs.iter();
        let ended = jobs.any(|job| job.stopped == Stopped::Error);
        if requested.remove || !ended {
            return Ok(());
        }
        self.earlier.is_over = true;
        match (&requested.command, &self.earlier.first_error) {
            (Some(command), Some(place)) => commands::after_error(command, place, self.folder),
            _ => Ok(()),
        }
    }

    /// Reports the wrong blocks since the last call, on the console and in the error log.
    pub(super) fn report_wrong_blocks(&mut self) -> Result<()> {
        let mut text = String::new();
        for (index, validated) in self.validated.iter().enumerate() {
            let Some(validated) = validated else { continue };
            let lun = &self.file.sds[index].lun;
            for block in validated.keys.wrong_blocks(self.reported[index]) {
                text.push_str(&miscompare_text(&block, lun, &times::at_micros));
                self.earlier.first_error.get_or_insert_with(|| ErrorPlace {
                    lun: lun.clone(),
                    lba: block.offset,
                    size: Some(u64::from(block.len)),
                });
                self.reported[index] += 1;
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        terminal::print(&text)?;
        self.folder.append("errorlog", &text)
    }

    /// Whether any block was wrong; all storage definitions share one counter.
    pub(super) fn has_wrong_blocks(&self) -> bool {
        self.keys().next().is_some_and(|keys| keys.wrongs() > 0)
    }

    /// After a recovery, reports whether the writes that were in flight had reached the storage.
    pub(super) fn report_settled(&self) -> Result<()> {
        if self.planned().run.name != RECOVERY {
            return Ok(());
        }
        let mut text = String::new();
        for keys in self.keys() {
            text.push_str(&settled_text(keys.name(), keys.settled()));
        }
        terminal::print(&text)?;
        self.folder.append("logfile", &text)
    }
}
