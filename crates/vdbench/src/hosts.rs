//! In: parameter files of several hosts. Out: which host runs what, and the plan of one of them.
//!
//! All other modules plan the load of all hosts together, as if there were one.

use super::ParameterFile;
use super::defs::{Seek, Wd};
use super::error::Mistake;
use super::plan::{Inputs, LEAST_MAXDATA_BYTES, Planned, Prepared};

impl ParameterFile {
    /// The indices of the hosts that run a workload on a storage definition. A sequential workload runs
    /// on the first of them alone: on each it would pass the same blocks.
    pub fn hosts_of(&self, wd: &Wd, sd: usize) -> Vec<usize> {
        if self.hosts.is_empty() {
            return vec![0];
        }
        let lists = [&self.sds[sd].hosts, &wd.hosts];
        let all = self.hosts.iter().enumerate();
        // A definition without a list of hosts is for all of them.
        let found = all.filter(|(_, host)| {
            let mut lists = lists.iter();
            lists.all(|names| names.is_empty() || names.contains(&host.name))
        });
        let indices = found.map(|(index, _)| index);
        let most = match wd.seek {
            Seek::Eof | Seek::SequentialAnywhere => 1,
            Seek::Percent(percent) if percent <= 0.0 => 1,
            _ => usize::MAX,
        };
        indices.take(most).collect()
    }

    /// Whether a host uses a storage definition in any run.
    pub fn is_used_by(&self, host: usize, sd: usize) -> bool {
        let mut uses = self.runs.iter().flat_map(|run| &run.uses);
        uses.any(|workload| {
            workload.sds.contains(&sd) && self.hosts_of(&workload.wd, sd).contains(&host)
        })
    }

    /// Refuses what cannot run on several hosts.
    ///
    /// # Errors
    /// [`Mistake`] about the first such setting, and a run without storage for one of the hosts.
    pub fn refuse_for_several(&self, inputs: &Inputs) -> Result<(), Mistake> {
        let first = &self.hosts[0].name;
        let one_host = "one host would work";
        if inputs.validation.validate || inputs.validation.recover {
            let words = format!("each host would know its own writes only; {one_host}");
            return Err(Mistake::new("validate=", words));
        }
        if self.general.repeat.is_some() {
            let words = format!("hosts make all runs once; {one_host}, or the command in a loop");
            return Err(Mistake::new("loop=", words));
        }
        if self.general.concatenate {
            let words = format!("hd={first} and others are no one device; {one_host}");
            return Err(Mistake::new("concatenatesds=", words));
        }
        for run in &self.runs {
            let mistake = |words: &str| Mistake::new(format!("rd={}", run.name), words);
            if run.rate.is_relative() {
                return Err(mistake(
                    "iorate=curve and iorate=n% take rates from a run before, which hosts learn of too \
                     late: the rates as a list would work, iorate=(1000,2000)",
                ));
            }
            let most = run.options.maxdata;
            if [most.all, most.read, most.written]
                .iter()
                .flatten()
                .any(|most| *most < LEAST_MAXDATA_BYTES)
            {
                return Err(mistake(
                    "maxdata= as a multiple of all storage is of one host; bytes would work",
                ));
            }
            for (host, defined) in self.hosts.iter().enumerate() {
                let mut uses = run.uses.iter();
                let works = uses.any(|workload| {
                    workload
                        .sds
                        .iter()
                        .any(|sd| self.hosts_of(&workload.wd, *sd).contains(&host))
                });
                if !works {
                    return Err(mistake(&format!(
                        "it has no storage for hd={}: all hosts take part in each run, so that they \
                         begin together",
                        defined.name
                    )));
                }
            }
        }
        Ok(())
    }
}

impl Prepared {
    /// The part of one host: its jobs, with the rates that they have in the whole.
    #[must_use]
    pub fn of_host(&self, host: usize) -> Self {
        let mut own = self.clone();
        for (case, Planned { planned_jobs, .. }) in own.plan.cases.iter_mut().zip(&mut own.runs) {
            let mut is_own = planned_jobs.iter().map(|job| job.host == host);
            case.workload
                .jobs
                .retain(|_| is_own.next().unwrap_or(false));
            planned_jobs.retain(|job| job.host == host);
        }
        own
    }
}
