//! The files of an output directory before the first run.

use anyhow::Result;
use blocklab_dialect::vdbench::flat_header;

use super::Reporter;

impl Reporter<'_> {
    pub(super) fn create_files(&self) -> Result<()> {
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
            self.folder.create_plain(name)?;
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
            if !names.contains(&lane.wd) && !lane.wd.is_empty() {
                names.push(lane.wd.clone());
            }
        }
        names
    }
}
