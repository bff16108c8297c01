//! The files of an output directory before the first run.

use std::process;

use anyhow::Result;
use blocklab_host::environment;
use blocklab_vdbench::{Run, SKEW_HEAD, flat_header, links, run_links};

use super::super::house::WRITTEN_BY;
use super::super::times;
use super::Reporter;

impl Reporter<'_> {
    pub(super) fn create_files(&self) -> Result<()> {
        let runs: Vec<&Run> = self
            .prepared
            .runs
            .iter()
            .map(|planned| &planned.run)
            .collect();
        let runs = run_links(&runs) + "\n";
        self.create_summary(&runs)?;
        self.folder
            .create("totals", &format!("Run totals\n\n\n{runs}"))?;
        self.create_hosts(&runs)?;
        let title = "Total response time histogram.";
        self.folder
            .create("histogram", &format!("{title}\n\n\n{runs}"))?;
        let head = format!("Workload skew report\n\n{SKEW_HEAD}\n\n{runs}");
        self.folder.create("skew", &head)?;
        let sds = self.storage_names();
        for (name, title) in sds.iter().map(|name| (name, "SD report for sd=")) {
            self.create_named(name, title, "SD response time histogram.", &runs)?;
        }
        for name in &self.workload_names() {
            let histogram = format!("wd={name} response time histogram.");
            self.create_named(name, "Workload Report for wd=", &histogram, &runs)?;
        }
        self.folder.create("flatfile", &flat_header())?;
        for name in ["swat_mon.txt", "swat_mon_total.txt"] {
            self.folder.create_plain(name)?;
        }
        self.connected()
    }

    fn create_summary(&self, runs: &str) -> Result<()> {
        let mut text = format!(
            "{WRITTEN_BY}\nVdbench summary report, created {}\n\n",
            times::created()
        );
        for (title, name) in [
            ("Link to logfile:", "logfile"),
            ("Run totals:", "totals"),
            ("Vdbench status:", "status"),
            ("Copy of input parameter files:", "parmfile"),
            ("Copy of parameter scan detail:", "parmscan"),
            ("Link to errorlog:", "errorlog"),
            ("Link to flatfile:", "flatfile"),
        ] {
            text.push_str(&links(title, &[(name, name)]));
        }
        let host = &*self.script.host;
        text.push('\n');
        text.push_str(&links("Link to HOST reports:", &[(host, host)]));
        let histogram = [("histogram", "histogram")];
        text.push_str(&links("Link to response time histogram:", &histogram));
        text.push_str(&links("Link to workload skew report:", &[("skew", "skew")]));
        let sds = self.storage_names();
        let sds: Vec<(&str, &str)> = sds.iter().map(|name| (&**name, &**name)).collect();
        text.push_str(&links("Link to SD reports:", &sds));
        text.push('\n');
        for name in &self.workload_names() {
            text.push_str(&links("Link to workload report:", &[(name, name)]));
        }
        text.push_str(&format!("\n{runs}"));
        text.push_str(&links("Link to config output:", &[("config", "config")]));
        self.folder.create("summary", &(text + "\n"))
    }

    /// The host, its one process and the machine.
    fn create_hosts(&self, runs: &str) -> Result<()> {
        let host = &*self.script.host;
        let slave = format!("{host}-0");
        let stdout = format!("{slave}.stdout");
        let summary = format!("{slave} summary");
        let both = links("Link to slave summary report:", &[(&slave, &summary)]);
        let console = format!("   <A HREF=\"{stdout}.html\">{slave} stdout</A>\n");
        let both = both.trim_end().to_owned() + &console;
        let title = format!("Host summary report(s) for host={host}");
        self.folder
            .create(host, &format!("{title}\n\n{both}\n{runs}"))?;
        let title = format!("Slave summary report for slave={slave}");
        let console = links("Console log:", &[(&*stdout, "Slave stdout/stderr")]);
        self.folder
            .create(&slave, &format!("{title}\n\n{console}\n{runs}"))?;
        let text = "blocklab runs in one process, whose messages are in logfile.html.";
        let title = format!("stdout/stderr for slave={slave}");
        self.folder
            .create(&stdout, &format!("{title}\n\n{text}\n"))?;
        let machine = environment();
        let text = format!(
            "kernel:     {}\nsystem:     {}\nprocessors: {} x {}\nmemory:     {} bytes\n",
            machine.kernel,
            machine.os,
            machine.processor.count,
            machine.processor.model,
            machine.memory_bytes.0
        );
        self.folder.create("config", &text)
    }

    fn create_named(&self, name: &str, title: &str, histogram: &str, runs: &str) -> Result<()> {
        let file = format!("{name}.histogram");
        let link = links("Link to response time histogram:", &[(&*file, "histogram")]);
        self.folder
            .create(name, &format!("{title}{name}\n\n{link}\n{runs}"))?;
        self.folder
            .create(&file, &format!("{histogram}\n\n\n{runs}"))
    }

    /// One process is both the master and its slave.
    fn connected(&self) -> Result<()> {
        let own = process::id();
        let slave = format!(
            "Slave {}-0 (pid {own:>6}) connected to master {own}",
            self.script.host
        );
        for event in [
            "Starting slaves",
            &slave,
            "Slaves connected",
            "Query host configuration started",
            "Query host configuration completed",
        ] {
            self.folder.status(event, None)?;
        }
        Ok(())
    }

    /// All reports that tell where each run begins.
    pub(super) fn reports(&self) -> Vec<String> {
        let host = &self.script.host;
        let mut names: Vec<String> = ["summary", "totals", "histogram", "skew", "logfile"]
            .map(str::to_owned)
            .to_vec();
        names.extend([host.clone(), format!("{host}-0")]);
        for name in self
            .storage_names()
            .into_iter()
            .chain(self.workload_names())
        {
            names.push(format!("{name}.histogram"));
            names.push(name);
        }
        names
    }

    /// Reports in which every line about the whole run stands.
    pub(super) fn whole_reports(&self) -> [String; 4] {
        let host = &self.script.host;
        [
            "summary".to_owned(),
            "logfile".to_owned(),
            host.clone(),
            format!("{host}-0"),
        ]
    }

    pub(super) fn storage_names(&self) -> Vec<String> {
        let mut used: Vec<usize> = Vec::new();
        for planned_job in self
            .prepared
            .runs
            .iter()
            .flat_map(|planned| &planned.planned_jobs)
        {
            if !used.contains(&planned_job.sd) {
                used.push(planned_job.sd);
            }
        }
        used.sort_unstable();
        used.iter()
            .map(|sd| self.script.sds[*sd].name.clone())
            .collect()
    }

    pub(super) fn workload_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for planned_job in self
            .prepared
            .runs
            .iter()
            .flat_map(|planned| &planned.planned_jobs)
        {
            if !names.contains(&planned_job.wd) && !planned_job.wd.is_empty() {
                names.push(planned_job.wd.clone());
            }
        }
        names
    }
}
