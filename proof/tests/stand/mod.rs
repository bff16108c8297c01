//! A lab next to a folder on the disk of the build tree, and what this machine lends to tests.
//!
//! Each test binary uses its own part of it.
#![allow(dead_code)]

pub mod kernel;
pub mod running;
pub mod serving;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use blocklab_proof::{Lab, Printed};
use blocklab_record::{JobResult, Record};
use tempfile::TempDir;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// Overwrites the first 64 KiB.
pub const WRITE: &str = r#"
    name = "write"
    [[case]]
    name = "write"
    engine = "psync"
    mix = "write"
    pattern = "sequential"
    block_size = "16KiB"
    size = "64KiB"
    stop_bytes = "64KiB"
"#;

/// Reads them.
pub const READ: &str = r#"
    name = "read"
    [[case]]
    name = "read"
    engine = "psync"
    pattern = "sequential"
    block_size = "16KiB"
    size = "64KiB"
    stop_bytes = "64KiB"
"#;

/// A short case, then one that lasts for a day; `keys` are those of the long one.
pub fn short_then_long(keys: &str) -> String {
    format!(
        r#"
        name = "two"
        order = "grouped"
        [[case]]
        name = "short"
        engine = "null"
        targets = ["null"]
        stop_bytes = "64KiB"
        [[case]]
        name = "long"
        runtime = "24h"
        size = "1MiB"
        {keys}
        "#
    )
}

/// A lab, and a folder that is measured. Both are removed with the value.
pub struct Stand {
    pub lab: Lab,
    disk: TempDir,
}

impl Stand {
    pub fn new() -> Self {
        // The temporary folder of the system is often in memory; this one is where programs are
        // built, so on a disk.
        let disk = TempDir::with_prefix_in("disk-", env!("CARGO_TARGET_TMPDIR"));
        Self {
            lab: Lab::new(),
            disk: disk.expect("a folder on the disk"),
        }
    }

    /// The folder that is measured.
    pub fn disk(&self) -> &Path {
        self.disk.path()
    }

    /// Its path as an argument.
    pub fn disk_text(&self) -> &str {
        text(self.disk())
    }

    /// Names in the measured folder.
    pub fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.disk()).expect("the folder");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }

    /// A file in the measured folder.
    pub fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.disk().join(name);
        fs::write(&path, content).expect("written");
        text(&path).to_owned()
    }

    /// A file in the measured folder that is one hole: free to be written to.
    pub fn hole(&self, name: &str, size: u64) -> String {
        let path = self.file(name, b"");
        let file = fs::File::options().write(true).open(&path);
        file.and_then(|file| file.set_len(size)).expect("a hole");
        path
    }

    /// Writes `study` to `study.toml`, where the program runs.
    pub fn study(&self, study: &str) -> &'static str {
        let name = "study.toml";
        self.lab.write(name, study);
        name
    }

    /// Runs a study to its end, without progress.
    pub fn run(&self, study: &str, args: &[&str]) -> Printed {
        let always = ["run", self.study(study), "--quiet"];
        self.lab.blocklab([&always, args].concat())
    }

    /// Runs a study that must succeed, and gives what it left.
    #[track_caller]
    pub fn record(&self, study: &str, args: &[&str]) -> Record {
        let ran = self.run(study, args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{study}");
        let record = self.latest();
        assert_sound(&record);
        record
    }

    /// A run that cannot be made: exit code 2, an error with these words, nothing kept, nothing
    /// left on the disk.
    #[track_caller]
    pub fn refused(&self, study: &str, args: &[&str], words: &[&str]) {
        let before = self.left();
        let always = ["run", self.study(study), "--quiet"];
        self.lab.refused([&always, args].concat(), words);
        assert!(self.lab.store().load("latest").is_err(), "{study}");
        assert_eq!(self.left(), before, "{study}");
    }

    /// The run that was kept last. Ids tell runs apart to 1/32 s only, and simulated ones are
    /// faster than that.
    #[track_caller]
    pub fn latest(&self) -> Record {
        let store = self.lab.store();
        let runs = fs::read_dir(store.root()).expect("a store").flatten();
        let kept = |run: &fs::DirEntry| {
            let record = fs::metadata(run.path().join("record.json"));
            record.and_then(|metadata| metadata.modified()).ok()
        };
        let last = runs.max_by_key(kept).expect("a kept run").path();
        store.load(text(&last)).expect("a run").record
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Completed operations of a direction.
pub fn ios(job: &JobResult, direction: &str) -> u64 {
    let mut all = job.directions.iter();
    let found = all.find(|(its, _)| its.name() == direction);
    found.map_or(0, |(_, found)| found.ios)
}

/// One truth in several places: the census balances, the directions add up to it, and so do the
/// histograms.
#[track_caller]
pub fn assert_sound(record: &Record) {
    for job in record.jobs() {
        let census = job.accounting;
        assert!(census.balances(), "{}: {census:?}", job.name);
        let counted: u64 = job.directions.values().map(|direction| direction.ios).sum();
        let expected = census.completed - census.completed_in_ramp;
        assert_eq!(counted, expected, "{}: {census:?}", job.name);
        for direction in job.directions.values() {
            let histogram = direction.service.histogram().expect("a histogram");
            assert_eq!(histogram.count(), direction.ios, "{}", job.name);
            assert_eq!(direction.service.count, direction.ios, "{}", job.name);
        }
    }
}

/// Tells that something was not tested, and why. `scripts/test` shows all of these at its end.
pub fn skip(what: &str, why: &str) {
    println!("skipped: {what}: {why}");
}

/// Standard output of a program of the system; nothing, and a line that tells so, where it is not
/// to be had or fails.
pub fn tool(program: &str, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    command.env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/bin");
    match command.output() {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr);
            let line = error.lines().next().unwrap_or("it fails").to_owned();
            skip(&format!("what needs `{program}`"), &line);
            None
        }
        Err(error) => {
            skip(&format!("what needs `{program}`"), &error.to_string());
            None
        }
    }
}

/// Whether the tests run as root; what is skipped otherwise is reported.
pub fn is_root(what: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !root {
        skip(what, "only root can do that");
    }
    root
}
