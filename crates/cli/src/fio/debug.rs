//! `--debug`: what a run did, in the lines that scripts look for.
//!
//! They are written when the jobs between two stonewalls have ended, job by job: telling them while
//! the clock runs would be measured, too.

use std::fmt::Write;
use std::process;

use blocklab_dialect::fio::{CloneFacts, DEBUG_WORDS, General, Section};
use blocklab_engine::{JobLog, LogEntry};
use blocklab_record::Measurement;
use blocklab_workload::{Direction, Job, Log, Plan, Steady};

/// What is told.
#[derive(Debug, Default)]
pub struct Debug {
    words: Vec<&'static str>,
}

impl Debug {
    pub fn of(general: &General) -> Self {
        let asked = |word: &str| {
            let mut given = general.debug.iter();
            given.any(|it| it == "all" || it.split(':').next() == Some(word))
        };
        let words = DEBUG_WORDS.into_iter().filter(|word| *word != "all");
        Self {
            words: words.filter(|word| asked(word)).collect(),
        }
    }

    fn wants(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Adds a line about `word`, where it is wanted.
    fn tell(&self, to: &mut String, word: &str, line: std::fmt::Arguments<'_>) {
        if self.wants(word) {
            // Writing to a text does not fail.
            let _ = writeln!(to, "{word:<8} {:<5} {line}", process::id());
        }
    }

    /// What stands before everything else: what is told, and how the jobs were read.
    pub fn opening(&self, sections: &[Section]) -> String {
        let mut text = String::new();
        for word in &self.words {
            let _ = writeln!(text, "fio: set debug option {word}");
        }
        for setting in sections.iter().flat_map(|section| &section.settings) {
            let value = setting.value.as_deref().unwrap_or_default();
            let key = &setting.key;
            self.tell(
                &mut text,
                "parse",
                format_args!("handle_option={key}, ptr={value}"),
            );
        }
        text
    }

    /// Single operations are told only where they are kept.
    pub fn prepare(&self, plan: &mut Plan) {
        if !(self.wants("io") || self.wants("random")) {
            return;
        }
        let jobs = plan
            .cases
            .iter_mut()
            .flat_map(|case| &mut case.workload.jobs);
        for job in jobs {
            job.log
                .get_or_insert(Log {
                    entries: false,
                    average: None,
                    histogram: None,
                })
                .entries = true;
        }
    }

    /// What a clone did.
    pub fn job(&self, clone: &CloneFacts, job: &Job, log: Option<&JobLog>) -> String {
        let mut text = String::new();
        let to = &mut text;
        let pid = process::id();
        self.tell(to, "io", format_args!("load ioengine {}", clone.engine));
        for state in [
            "NOT_CREATED -> CREATED",
            "CREATED -> INITIALIZED",
            "INITIALIZED -> RUNNING",
        ] {
            self.tell(to, "process", format_args!("pid={pid}: runstate {state}"));
        }
        for (index, path) in job.targets.iter().enumerate() {
            self.tell(to, "file", format_args!("add file {path}"));
            self.tell(
                to,
                "file",
                format_args!("file {index:#x} \"{path}\" added at {index}"),
            );
            self.tell(to, "file", format_args!("fd open {path}"));
        }
        for entry in log.into_iter().flat_map(|log| &log.entries) {
            self.operation(to, job, entry);
        }
        if job.verify.is_some() {
            let kind = &clone.verify;
            self.tell(to, "verify", format_args!("{kind} of job {}", clone.name));
        }
        for path in &job.targets {
            self.tell(to, "file", format_args!("fd close {path}"));
        }
        self.tell(to, "io", format_args!("close ioengine {}", clone.engine));
        for state in [
            "RUNNING -> FINISHING",
            "FINISHING -> EXITED",
            "EXITED -> REAPED",
        ] {
            self.tell(to, "process", format_args!("pid={pid}: runstate {state}"));
        }
        text
    }

    fn operation(&self, to: &mut String, job: &Job, entry: &LogEntry) {
        let number = match entry.direction {
            Direction::Read => 0,
            Direction::Write => 1,
            Direction::Trim => 2,
            Direction::Sync => 3,
        };
        if !job.pattern.is_sequential() {
            self.tell(to, "random", format_args!("off rand {}", entry.offset));
        }
        let file = job
            .targets
            .get(entry.target as usize)
            .map_or("", |path| path);
        for step in ["fill", "prep", "queue", "complete"] {
            let what = format_args!(
                "{step}: io_u {:#x}: off={:#x},len={:#x},ddir={number},file={file}",
                entry.target, entry.offset, entry.len
            );
            self.tell(to, "io", what);
        }
    }

    /// By what a steady state was judged.
    pub fn rounds(&self, clones: &[&CloneFacts], measured: &Measurement) -> String {
        let mut text = String::new();
        let judged = clones.iter().filter(|clone| clone.steady.is_some());
        for clone in judged {
            let rounds = match clone.steady {
                Some(Steady::Slope { rounds, .. } | Steady::Deviation { rounds, .. }) => rounds,
                _ => 1,
            };
            let counted = measured.series.iter().filter(|slice| !slice.ramp);
            for (number, slice) in counted.enumerate() {
                let tail = number % rounds.max(1) as usize;
                let flows = [&slice.read, &slice.write, &slice.trim];
                let ms = slice.length_ns / 1_000_000;
                let per_second = |sum: u64| sum * 1000 / ms.max(1);
                let iops = per_second(flows.iter().map(|flow| flow.ios).sum());
                let bw = per_second(flows.iter().map(|flow| flow.bytes).sum());
                let group = clone.group;
                let line = format_args!(
                    "steadystate_check() thread: 0, groupid: {group}, rate_msec: {ms}, \
                     iops: {iops}, bw: {bw}, head: 0, tail: {tail}"
                );
                self.tell(&mut text, "steadystate", line);
            }
        }
        text
    }
}
