//! `--debug`: the lines about a run that scripts look for.
//!
//! They are printed job by job when the jobs between two stonewalls have ended. Printing them while
//! jobs run would slow these down.

use std::fmt::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::{fs, process};

use blocklab_fio::{CloneFacts, DEBUG_WORDS, General, Section};
use blocklab_record::Measurement;
use blocklab_worker::{JobLog, LogEntry};
use blocklab_workload::{Case, Direction, Job, Log, Plan, Steady};

use blocklab_console::terminal;

/// Adds a line about a debug word to a text, if that word was given.
macro_rules! line {
    ($debug:expr, $to:expr, $word:literal, $($line:tt)*) => {
        $debug.write($to, $word, format_args!($($line)*))
    };
}

/// What `--debug` prints.
#[derive(Debug, Default)]
pub struct Debug {
    words: Vec<&'static str>,
    /// `job:2`: number of the only clone that is printed, from 1; 0 if the number is missing.
    only: Option<usize>,
}

impl Debug {
    pub fn new(general: &General) -> Self {
        let all = DEBUG_WORDS.split(',');
        let words = all.filter(|word| {
            let mut given = general.debug.iter();
            !["all", "job"].contains(word)
                && given.any(|given| given == "all" || given.split(':').next() == Some(word))
        });
        let mut jobs = general
            .debug
            .iter()
            .filter_map(|word| word.strip_prefix("job"));
        let only = jobs.next().map(|number| {
            let number = number.trim_start_matches(':');
            number.parse().unwrap_or(0)
        });
        Self {
            words: words.collect(),
            only,
        }
    }

    fn wants(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Adds a line about `word`, if it was given.
    fn write(&self, to: &mut String, word: &str, line: std::fmt::Arguments<'_>) {
        if self.wants(word) {
            // Writing to a text does not fail.
            let _ = writeln!(to, "{word:<8} {:<5} {line}", process::id());
        }
    }

    /// The lines before everything else: which words were given, and how the jobs were parsed.
    pub fn opening(&self, sections: &[Section]) -> String {
        let mut text = String::new();
        for word in &self.words {
            let _ = writeln!(text, "fio: set debug option {word}");
        }
        match self.only {
            None => {}
            Some(0) => terminal::inform("fio: missing job number"),
            Some(number) => {
                let _ = writeln!(text, "fio: set debug jobno {number}");
            }
        }
        for setting in sections.iter().flat_map(|section| &section.settings) {
            let value = setting.value.as_deref().unwrap_or_default();
            let key = &setting.key;
            line!(self, &mut text, "parse", "handle_option={key}, ptr={value}");
            if let "ss" | "steadystate" = &**key
                && let Some(threshold) = threshold(value)
            {
                line!(self, &mut text, "parse", "{threshold}");
            }
        }
        text
    }

    /// The seed of each case, in the lines that scripts compare between two runs.
    pub fn seeds(&self, cases: &[Case]) -> String {
        let mut text = String::new();
        for case in cases {
            line!(self, &mut text, "random", "FIO_RAND_NR_OFFS=1");
            line!(
                self,
                &mut text,
                "random",
                "rand_seeds[0]={}",
                case.workload.seed
            );
        }
        text
    }

    /// Makes jobs record single operations, if a word prints them.
    pub fn prepare(&self, plan: &mut Plan) {
        let of_operations = ["io", "random", "verify"];
        if !of_operations.iter().any(|word| self.wants(word)) {
            return;
        }
        let jobs = plan.jobs_mut();
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

    /// The lines about what a clone did; `number` is that of the clone, from 1.
    pub fn job(
        &self,
        number: usize,
        clone: &CloneFacts,
        job: &Job,
        log: Option<&JobLog>,
    ) -> String {
        let mut text = String::new();
        // 0: the number is missing, and no clone is left out.
        if self.only.is_some_and(|only| only > 0 && only != number) {
            return text;
        }
        let to = &mut text;
        self.disks(to, job);
        let buffers = u64::from(job.effective_depth()) * job.sizes.largest().0;
        line!(self, to, "mem", "Alloc {buffers} for buffers");
        line!(self, to, "io", "load ioengine {}", clone.engine);
        self.states(to, ["NOT_CREATED", "CREATED", "INITIALIZED", "RUNNING"]);
        for (index, path) in job.targets.iter().enumerate() {
            line!(self, to, "file", "add file {path}");
            line!(
                self,
                to,
                "file",
                "file {index:#x} \"{path}\" added at {index}"
            );
            line!(self, to, "file", "fd open {path}");
        }
        for entry in log.into_iter().flat_map(|log| &log.entries) {
            self.operation(to, job, entry);
        }
        if job.verify.is_some() {
            let entries = log.map_or(&[][..], |log| &log.entries);
            self.verification(to, &clone.verify, entries);
        }
        for path in &job.targets {
            line!(self, to, "file", "fd close {path}");
        }
        line!(self, to, "mem", "free malloc mem");
        line!(self, to, "io", "close ioengine {}", clone.engine);
        self.states(to, ["RUNNING", "FINISHING", "EXITED", "REAPED"]);
        text
    }

    /// Adds the changes from each state to the next.
    fn states(&self, to: &mut String, states: [&str; 4]) {
        let pid = process::id();
        for pair in states.windows(2) {
            let [from, next] = [pair[0], pair[1]];
            line!(self, to, "process", "pid={pid}: runstate {from} -> {next}");
        }
    }

    /// Adds the disks below a job's files, with their current counters.
    fn disks(&self, to: &mut String, job: &Job) {
        if !self.wants("diskutil") {
            return;
        }
        let mut known = Vec::new();
        for path in &job.targets {
            let Some(BlockDevice { number, disk }) = device_below(path) else {
                continue;
            };
            line!(self, to, "diskutil", "{path} belongs to maj/min {number}");
            if known.contains(&disk) {
                continue;
            }
            let folder = format!("/sys/block/{disk}");
            line!(self, to, "diskutil", "add maj/min {number}: {folder}");
            line!(self, to, "diskutil", "add {disk} to list");
            line!(self, to, "diskutil", "open stat file: {folder}/stat");
            if let Ok(counters) = fs::read_to_string(format!("{folder}/stat")) {
                let counters = counters.trim_end();
                line!(self, to, "diskutil", "{folder}/stat: {counters}");
            }
            known.push(disk);
        }
    }

    /// Adds the blocks that got a verification header, and those that were compared. `method`: the
    /// job's `verify`.
    fn verification(&self, to: &mut String, method: &str, entries: &[LogEntry]) {
        let mut has_read = false;
        for entry in entries {
            let io = format!("io_u {:#x}, len {}", entry.target, entry.len);
            match entry.direction {
                Direction::Write => line!(self, to, "verify", "fill {method} {io}"),
                Direction::Read => {
                    if !has_read {
                        line!(self, to, "verify", "starting loop");
                    }
                    has_read = true;
                    line!(self, to, "verify", "{method} verify {io}");
                }
                Direction::Trim | Direction::Sync => {}
            }
        }
        if has_read {
            line!(self, to, "verify", "exiting loop");
        }
    }

    /// Adds the steps of one operation.
    fn operation(&self, to: &mut String, job: &Job, entry: &LogEntry) {
        let number = entry.direction as u8;
        if !job.pattern.is_sequential() {
            line!(self, to, "random", "off rand {}", entry.offset);
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
            self.write(to, "io", what);
        }
    }

    /// A line for each interval by which the steady state was judged.
    pub fn steady_intervals(&self, clones: &[&CloneFacts], measured: &Measurement) -> String {
        let mut text = String::new();
        for clone in clones {
            let rounds = match clone.steady {
                None => continue,
                Some(Steady::Slope { rounds, .. } | Steady::Deviation { rounds, .. }) => rounds,
                // No option of fio asks for the SNIA rule.
                Some(Steady::Snia { .. }) => 1,
            };
            let counted = measured.series.iter().filter(|slice| !slice.ramp);
            for (number, slice) in counted.enumerate() {
                let tail = number % rounds.max(1) as usize;
                let flows = [&slice.read, &slice.write, &slice.trim];
                let ms = slice.length_ns / 1_000_000;
                let iops = flows.iter().map(|flow| flow.ios).sum::<u64>() * 1000 / ms.max(1);
                let bw = flows.iter().map(|flow| flow.bytes).sum::<u64>() * 1000 / ms.max(1);
                let group = clone.group;
                let line = format_args!(
                    "steadystate_check() thread: 0, groupid: {group}, rate_msec: {ms}, \
                     iops: {iops}, bw: {bw}, head: 0, tail: {tail}"
                );
                self.write(&mut text, "steadystate", line);
            }
        }
        text
    }
}

/// Fio's line about a steady-state setting such as `iops:10%` or `bw_slope:1m`.
fn threshold(text: &str) -> Option<String> {
    let (what, limit) = text.split_once(':')?;
    if let Some(percent) = limit.strip_suffix('%') {
        let percent: f64 = percent.parse().ok()?;
        return Some(format!("set steady state threshold to {percent:.6}%"));
    }
    if what.starts_with("bw") {
        Some(format!("set steady state BW threshold to {limit}"))
    } else {
        let limit: f64 = limit.parse().ok()?;
        Some(format!("set steady state IOPS threshold to {limit:.6}"))
    }
}

/// The device that a path is, or that its file is stored on.
struct BlockDevice {
    /// Its number, as `major/minor`.
    number: String,
    /// The name of the disk that it is or is a part of.
    disk: String,
}

/// The block device of a path; `None` for network and memory file systems.
fn device_below(path: &str) -> Option<BlockDevice> {
    let metadata = fs::metadata(path).ok()?;
    let number = if metadata.file_type().is_block_device() {
        metadata.rdev()
    } else {
        metadata.dev()
    };
    let number = format!("{}/{}", libc::major(number), libc::minor(number));
    let link = fs::read_link(format!("/sys/dev/block/{}", number.replace('/', ":"))).ok()?;
    let mut names = link.iter().rev().filter_map(|name| name.to_str());
    // In sysfs, the folder of a partition is inside that of its disk.
    let disk = names.find(|name| fs::exists(format!("/sys/block/{name}")).unwrap_or(false))?;
    let disk = disk.to_owned();
    Some(BlockDevice { number, disk })
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_units::Nanos;

    fn debug(words: &[&str]) -> Debug {
        Debug::new(&General {
            debug: words.iter().map(|word| (*word).to_owned()).collect(),
            ..General::default()
        })
    }

    fn entry(direction: Direction) -> LogEntry {
        LogEntry {
            begin: Nanos::ZERO,
            end: Nanos::ZERO,
            service: Nanos::ZERO,
            submit: Nanos::ZERO,
            direction,
            target: 0,
            len: 4096,
            offset: 0,
            priority: 0,
        }
    }

    #[test]
    fn thresholds_of_steady_states_are_printed() {
        for (text, expected) in [
            ("iops:10", "set steady state IOPS threshold to 10.000000"),
            ("bw_slope:.1%", "set steady state threshold to 0.100000%"),
            ("bw:12", "set steady state BW threshold to 12"),
        ] {
            assert_eq!(threshold(text).as_deref(), Some(expected));
        }
    }

    /// `--debug=random` printed no seeds, and another `randseed` looked like the same one.
    #[test]
    fn another_seed_is_another_line() {
        let seeds = |seed| debug(&["random"]).seeds(&[Case::new("1", seed, Vec::new())]);
        assert!(seeds(5).contains("FIO_RAND_NR_OFFS=1\n"));
        assert!(seeds(5).ends_with("rand_seeds[0]=5\n"));
        assert_ne!(seeds(5), seeds(6));
    }

    #[test]
    fn a_number_chooses_the_clone() {
        assert_eq!(debug(&["io", "job:2"]).only, Some(2));
        assert_eq!(debug(&["io:1", "job"]).only, Some(0));
        assert_eq!(debug(&["io"]).only, None);
        assert_eq!(debug(&["all"]).only, None);
        assert!(debug(&["io:1"]).wants("io"));
    }

    #[test]
    fn blocks_that_are_written_get_a_header_and_those_that_are_read_are_compared() {
        let mut text = String::new();
        let entries = [entry(Direction::Write), entry(Direction::Read)];
        debug(&["verify"]).verification(&mut text, "md5", &entries);
        let head = format!("{:<8} {:<5} ", "verify", process::id());
        let lines: Vec<_> = text.lines().map(|line| line.strip_prefix(&*head)).collect();
        assert_eq!(
            lines,
            [
                Some("fill md5 io_u 0x0, len 4096"),
                Some("starting loop"),
                Some("md5 verify io_u 0x0, len 4096"),
                Some("exiting loop"),
            ]
        );
    }
}
