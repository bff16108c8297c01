//! Creates the files of an output directory with their headings.

use std::collections::{BTreeMap, BTreeSet};
use std::process;

use anyhow::Result;
use blocklab_host::environment;
use blocklab_vdbench::{ParameterFile, Run, SKEW_HEAD, flat_header, links, run_links};

use super::super::own_options::WRITTEN_BY;
use super::super::times;
use super::{Part, Reporter};

/// A titled link to the report of this name.
fn link(title: &str, name: &str) -> String {
    links_by_name(title, &[name])
}

/// Titled links to the reports of these names.
fn links_by_name(title: &str, names: &[&str]) -> String {
    let links_to_names: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
    links(title, &links_to_names)
}

/// The names of the reports that are about no part.
const WHOLE_REPORTS: [&str; 11] = [
    "summary",
    "totals",
    "flatfile",
    "histogram",
    "skew",
    "status",
    "logfile",
    "parmfile",
    "parmscan",
    "errorlog",
    "config",
];

/// The names of the reports of parts, without the ending: their own names, unless another report has that
/// one: of the whole, of a host or of a part before.
pub(super) fn report_names(file: &ParameterFile, parts: &[Part]) -> BTreeMap<Part, String> {
    let mut taken: BTreeSet<String> = WHOLE_REPORTS.map(str::to_owned).into();
    let hosts = file.hosts.iter().map(|host| &host.name);
    for host in hosts.chain([&file.host]) {
        taken.extend([
            host.clone(),
            format!("{host}-0"),
            format!("{host}-0.stdout"),
        ]);
    }
    let mut names = BTreeMap::new();
    for part in parts {
        let (prefix, name) = match part {
            Part::Storage(sd) => ("sd", &file.sds[*sd].name),
            Part::Workload(name) => ("wd", name),
            Part::Host(_) => continue,
        };
        // As `Folder` names its files.
        let mut name = name.replace('/', "_");
        while taken.contains(&name) || taken.contains(&format!("{name}.histogram")) {
            name = format!("{prefix}_{name}");
        }
        taken.extend([name.clone(), format!("{name}.histogram")]);
        names.insert(part.clone(), name);
    }
    names
}

impl Reporter<'_> {
    /// Creates all reports.
    pub(super) fn create_files(&self) -> Result<()> {
        let runs: Vec<&Run> = self.prepared.runs.iter().map(|run| &run.run).collect();
        let runs = run_links(&runs) + "\n";
        let create = |name: &str, begin: &str| {
            let text = format!("{begin}\n{runs}");
            self.folder.create(name, &text)
        };
        self.create_summary(&runs)?;
        create("totals", "Run totals\n\n")?;
        self.create_hosts(&runs)?;
        create("histogram", "Total response time histogram.\n\n")?;
        create("skew", &format!("Workload skew report\n\n{SKEW_HEAD}\n"))?;
        for part in &self.parts {
            let name = self.name(part);
            let (title, subject) = match part {
                Part::Storage(_) => ("SD report for sd=", "SD".to_owned()),
                Part::Workload(_) => ("Workload Report for wd=", format!("wd={name}")),
                // `create_hosts` has created theirs.
                Part::Host(_) => continue,
            };
            let report = self.report_name(part);
            let file = format!("{report}.histogram");
            let link = links("Link to response time histogram:", &[(&file, "histogram")]);
            create(report, &format!("{title}{name}\n\n{link}"))?;
            create(&file, &format!("{subject} response time histogram.\n\n"))?;
        }
        self.folder.create("flatfile", &flat_header())?;
        // Vdbench always leaves these two, which are for another program and stay empty here.
        for name in ["swat_mon.txt", "swat_mon_total.txt"] {
            self.folder.create_plain(name)?;
        }
        self.append_connected()
    }

    /// Creates `summary.html`, with links to all other reports. `runs`: the links to the runs in
    /// it.
    fn create_summary(&self, runs: &str) -> Result<()> {
        let created = times::created();
        let mut text = format!("{WRITTEN_BY}\nVdbench summary report, created {created}\n\n");
        for (title, name) in [
            ("Link to logfile:", "logfile"),
            ("Run totals:", "totals"),
            ("Vdbench status:", "status"),
            ("Copy of input parameter files:", "parmfile"),
            ("Copy of parameter scan detail:", "parmscan"),
            ("Link to errorlog:", "errorlog"),
            ("Link to flatfile:", "flatfile"),
        ] {
            text.push_str(&link(title, name));
        }
        text.push('\n');
        let hosts = self.host_names();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        text.push_str(&links_by_name("Link to HOST reports:", &hosts));
        text.push_str(&link("Link to response time histogram:", "histogram"));
        text.push_str(&link("Link to workload skew report:", "skew"));
        let parts = self.parts.iter();
        let (sds, wds): (Vec<_>, Vec<_>) = parts.partition(|part| matches!(part, Part::Storage(_)));
        let link_of = |part| (self.report_name(part), self.name(part));
        let sds: Vec<(&str, &str)> = sds.into_iter().map(link_of).collect();
        text.push_str(&links("Link to SD reports:", &sds));
        text.push('\n');
        for part in wds {
            text.push_str(&links("Link to workload report:", &[link_of(part)]));
        }
        text.push_str(&format!("\n{runs}"));
        text.push_str(&link("Link to config output:", "config"));
        self.folder.create("summary", &(text + "\n"))
    }

    /// The names of all hosts; without host definitions, that of this machine.
    pub(super) fn host_names(&self) -> Vec<String> {
        let several = self.file.hosts.iter().map(|host| host.name.clone());
        let several: Vec<String> = several.collect();
        if several.is_empty() {
            vec![self.file.host.clone()]
        } else {
            several
        }
    }

    /// Creates the reports of hosts, and `config` with facts of the machines.
    fn create_hosts(&self, runs: &str) -> Result<()> {
        for host in self.host_names() {
            self.create_host(&host, runs)?;
        }
        if !self.file.hosts.is_empty() {
            let hosts = self.file.hosts.iter();
            let text: String = hosts
                .map(|host| format!("host: {:<20} address: {}\n", host.name, host.address))
                .collect();
            return self.folder.create("config", &text);
        }
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

    /// Creates the reports of a host and of its only process.
    fn create_host(&self, host: &str, runs: &str) -> Result<()> {
        let slave = format!("{host}-0");
        let stdout = format!("{slave}.stdout");
        let summary = format!("{slave} summary");
        let link = links("Link to slave summary report:", &[(&slave, &summary)]);
        let text = format!(
            "Host summary report(s) for host={host}\n\n{}   <A HREF=\"{stdout}.html\">{slave} \
             stdout</A>\n\n{runs}",
            link.trim_end()
        );
        self.folder.create(host, &text)?;
        let console = links("Console log:", &[(&stdout, "Slave stdout/stderr")]);
        let text = format!("Slave summary report for slave={slave}\n\n{console}\n{runs}");
        self.folder.create(&slave, &text)?;
        let text = format!(
            "stdout/stderr for slave={slave}\n\nblocklab runs in one process, whose messages are in \
             logfile.html.\n"
        );
        self.folder.create(&stdout, &text)
    }

    /// Adds the status lines about the start of processes, for scripts that wait for them. In truth one
    /// process is both the master and its slave.
    fn append_connected(&self) -> Result<()> {
        let own = process::id();
        self.folder.status("Starting slaves", None)?;
        for host in self.host_names() {
            // The number of a process on another host is unknown here.
            let slave = if self.file.hosts.is_empty() {
                format!("Slave {host}-0 (pid {own:>6}) connected to master {own}")
            } else {
                format!("Slave {host}-0 connected to master {own}")
            };
            self.folder.status(&slave, None)?;
        }
        for event in [
            "Slaves connected",
            "Query host configuration started",
            "Query host configuration completed",
        ] {
            self.folder.status(event, None)?;
        }
        Ok(())
    }

    /// The reports that get an anchor at the beginning of each run, to which links lead.
    pub(super) fn anchored_reports(&self) -> Vec<String> {
        let mut names = self.whole_reports();
        names.extend(self.hosts().flat_map(|host| self.reports_of(&host)));
        names.extend(["totals", "histogram", "skew"].map(str::to_owned));
        for name in self.parts.iter().map(|part| self.report_name(part)) {
            names.extend([name.to_owned(), format!("{name}.histogram")]);
        }
        names
    }

    /// The reports that get every row about the whole run.
    pub(super) fn whole_reports(&self) -> Vec<String> {
        let mut names = vec!["summary".to_owned(), "logfile".to_owned()];
        if self.file.hosts.is_empty() {
            let host = &self.file.host;
            names.extend([host.clone(), format!("{host}-0")]);
        }
        names
    }
}
