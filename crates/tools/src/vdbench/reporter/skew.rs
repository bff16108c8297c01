//! What each storage definition and workload did of a run.

use anyhow::Result;
use blocklab_vdbench::{Figures, PlannedJob, Skew, SkewRow};

use super::super::times::Moment;
use super::Reporter;

impl Reporter<'_> {
    pub(super) fn skew(&mut self, moment: &Moment) -> Result<()> {
        let mut lines = self.shares().lines();
        if !std::mem::replace(&mut self.has_skew, true) {
            lines.insert(0, String::new());
            lines.insert(1, "Warm-up intervals are not counted here.".to_owned());
        }
        let lines = lines
            .iter()
            .map(|line| format!("{} {line}\n", moment.clock));
        self.folder.append("skew", &lines.collect::<String>())
    }

    fn shares(&self) -> Skew {
        let sds = self.counted.by_sd.iter().map(|(sd, figures)| {
            let name = &self.script.sds[*sd].name;
            self.share(name, figures, &|planned_job| planned_job.sd == *sd)
        });
        let wds = self
            .counted
            .by_wd
            .iter()
            .filter(|(name, _)| !name.is_empty());
        let wds = wds.map(|(name, figures)| {
            self.share(name, figures, &|planned_job| planned_job.wd == *name)
        });
        let slave = format!("{}-0", self.script.host);
        let names = self
            .storage_names()
            .into_iter()
            .chain(self.workload_names());
        Skew {
            width: names
                .chain([slave])
                .map(|name| name.len())
                .max()
                .unwrap_or(0),
            sds: sds.collect(),
            wds: wds.collect(),
            total: self.counted.all,
            controlled: self.planned().run.controlled,
        }
    }

    fn share(
        &self,
        name: &str,
        figures: &Figures,
        is_own: &dyn Fn(&PlannedJob) -> bool,
    ) -> SkewRow {
        let own = || {
            self.planned_jobs
                .iter()
                .filter(|planned_job| is_own(planned_job))
        };
        let has_rate = own().any(|planned_job| planned_job.fixed.is_some());
        SkewRow {
            name: name.to_owned(),
            figures: *figures,
            asked: (!has_rate).then(|| own().map(|planned_job| planned_job.skew).sum()),
        }
    }
}
