//! What fio and the program make of a job file, and how the file wants that to be compared.

pub mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use blocklab_proof::root;
use serde_json::Value;

/// What one of the two made of a job file.
pub struct Answer {
    pub code: i32,
    pub json: Option<Value>,
    /// The keys, line by line, with their indentation.
    pub keys: Vec<String>,
    pub err: String,
    /// Of each file its length; of a log its columns and lines.
    pub files: BTreeMap<String, String>,
    pub blocks: BTreeMap<String, Blocks>,
    /// The system calls that the job file wants to be compared.
    pub calls: BTreeSet<String>,
}

/// A copy of the traces of the corpus: what a program writes there shall not change the corpus.
pub fn copied_traces(into: &Path) {
    fs::create_dir_all(into).expect("a new folder");
    let all = fs::read_dir(root().join("proof/corpus/fio-traces")).expect("the traces");
    for trace in all.map(|entry| entry.expect("a trace").path()) {
        let name = trace.file_name().expect("a file");
        fs::copy(&trace, into.join(name)).expect("a copy");
    }
}

pub fn answer(command: Command, folder: &Path, file: &Path, rules: &Rules) -> Answer {
    let trace = folder.join("calls");
    // The traces have one name for both, as it is among the options that are printed again.
    copied_traces(&folder.join("traces"));
    let folder = &folder.join("run");
    fs::create_dir(folder).expect("a new folder");
    let mut command = match rules.calls.as_str() {
        "" => command,
        calls => traced(&command, calls, &trace),
    };
    command.arg("--output-format=json").arg(file);
    command.env("FIO_SIZE", "64k");
    command.env("FIO_TRACES", "../traces");
    command.current_dir(folder);
    let output = command.output().expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout);
    let json = out
        .find('{')
        .and_then(|at| serde_json::from_str(&out[at..]).ok());
    let mut files = BTreeMap::new();
    sizes(folder, folder, &mut files);
    let data = files.keys().filter(|_| rules.has_blocks);
    let blocks = data.map(|name| (name.clone(), blocks(&folder.join(name))));
    Answer {
        blocks: blocks.collect(),
        calls: calls(&fs::read_to_string(&trace).unwrap_or_default()),
        code: output.status.code().unwrap_or(-1),
        json,
        keys: keys(&out),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        files,
    }
}

/// The same command under strace.
fn traced(command: &Command, calls: &str, trace: &Path) -> Command {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", &format!("trace={calls}"), "-o"]);
    traced.arg(trace).arg(command.get_program());
    traced.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    traced
}

/// The calls of a trace, by their flags: numbers of processes and files, addresses and lengths are
/// those of each program. Of files that are opened, those that are opened past the caches count; of
/// `fcntl`, what is told of a file's data; of rank and processors, the numbers.
fn calls(trace: &str) -> BTreeSet<String> {
    let call = |line: &str| {
        // A call during which another thread makes one is printed in two parts: its flags are in the first.
        let ends = [" = ", " <unfinished"];
        let (call, _) = ends.into_iter().find_map(|end| line.split_once(end))?;
        let (name, arguments) = call.split_once('(')?;
        let name = name.split_whitespace().last()?;
        let is_flag = |word: &&str| word.len() > 3 && !word.contains(char::is_lowercase);
        let words = arguments.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
        let words = words.filter(|word| !word.starts_with(|sign: char| sign.is_ascii_digit()));
        let wanted = |word: &&str| match name {
            "openat" => matches!(*word, "O_DIRECT" | "O_SYNC" | "O_DSYNC"),
            "fcntl" => word.contains("HINT") || word.contains("LIFE"),
            _ => true,
        };
        let mut printed: Vec<&str> = words.filter(is_flag).filter(wanted).collect();
        let is_rank = matches!(name, "setpriority" | "ioprio_set" | "sched_setaffinity");
        if is_rank {
            printed.push(arguments.rsplit([',', '[']).next()?.trim());
        }
        let has_result = !printed.is_empty() || !matches!(name, "openat" | "fcntl");
        has_result.then(|| format!("{name} {}", printed.join(" ")))
    };
    trace.lines().filter_map(call).collect()
}

/// What a file holds, in blocks of 4 KiB.
#[derive(Debug, PartialEq)]
pub struct Blocks {
    pub different: usize,
    pub zeros: usize,
    /// Where in a block headers of verification lie: fio's magic, a small
    /// number for the kind and a length.
    pub headers: BTreeSet<usize>,
}

fn blocks(file: &Path) -> Blocks {
    let bytes = fs::read(file).expect("it is there");
    let all: BTreeSet<&[u8]> = bytes.chunks(4096).collect();
    let is_zero = |block: &&[u8]| block.iter().all(|byte| *byte == 0);
    let is_header = |at: &usize| matches!(bytes[*at..], [0xca, 0xac, _, 0, _, _, 0, 0, ..]);
    Blocks {
        different: all.len(),
        zeros: bytes.chunks(4096).filter(is_zero).count(),
        headers: (0..bytes.len())
            .filter(is_header)
            .map(|at| at % 4096)
            .collect(),
    }
}

/// How a job file wants to be compared.
#[derive(Default)]
pub struct Rules {
    pub is_ours_alone: bool,
    pub both_refuse: bool,
    pub is_near: bool,
    pub is_by_the_clock: bool,
    pub has_blocks: bool,
    pub are_blocks_near: bool,
    pub takes_as_long: bool,
    pub fails_alike: bool,
    /// Ours says something where fio is silent.
    pub says_more: bool,
    /// With commas between them.
    pub calls: String,
}

impl Rules {
    /// What the first lines of a job file say.
    pub fn parse(text: &str) -> Self {
        let mut rules = Self::default();
        for line in text.lines().map_while(|line| line.strip_prefix("; ")) {
            match line.split_once(": ").unwrap_or((line, "")) {
                ("ours alone", _) => rules.is_ours_alone = true,
                ("both refuse it", _) => rules.both_refuse = true,
                ("counts", "near") => rules.is_near = true,
                ("counts", "by the clock") => rules.is_by_the_clock = true,
                ("blocks", "compared") => rules.has_blocks = true,
                ("blocks", "near") => {
                    rules.has_blocks = true;
                    rules.are_blocks_near = true;
                }
                ("takes", "as long") => rules.takes_as_long = true,
                ("fails alike", _) => rules.fails_alike = true,
                ("says", "more") => rules.says_more = true,
                ("calls", names) => rules.calls = names.replace(' ', ","),
                (head @ ("counts" | "blocks" | "takes" | "says"), what) => {
                    panic!("there is no rule `; {head}: {what}`")
                }
                _ => {}
            }
        }
        rules
    }
}

fn sizes(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, metadata) = (entry.path(), entry.metadata().expect("it is there"));
        if metadata.is_dir() {
            sizes(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("it lies within");
            let extent = match path.extension().and_then(|kind| kind.to_str()) {
                Some("log") => columns_and_lines(&String::from_utf8_lossy(
                    &fs::read(&path).expect("it is there"),
                )),
                Some("fz") => columns_and_lines(&inflated(&path)),
                _ => metadata.len().to_string(),
            };
            files.insert(name.display().to_string(), extent);
        }
    }
}

/// The text of a compressed log, as fio reads it.
fn inflated(log: &Path) -> String {
    let option = format!("--inflate-log={}", log.display());
    let output = Command::new("fio").arg(option).output();
    String::from_utf8(output.expect("fio starts").stdout).expect("text")
}

/// Of a log: its columns, whether its times count from 1970, the priorities in it, and its lines
/// where a line is one operation. Lines of spans, which tell no block, are as many as the clock
/// makes them.
fn columns_and_lines(text: &str) -> String {
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split(", ").collect())
        .collect();
    let Some(first) = rows.first() else {
        return "empty".to_owned();
    };
    let is_of_spans = first.get(3) == Some(&"0");
    let lines = if is_of_spans { 0 } else { rows.len() };
    let since_1970 = first[0].len() > 12;
    let priorities = rows.iter().filter(|row| (5..7).contains(&row.len()));
    let priorities: BTreeSet<&str> = priorities.filter_map(|row| row.last().copied()).collect();
    let has_offsets = first.len() == 5 && first[4].len() > 3 && first[4].parse::<u64>().is_ok();
    let priorities = if has_offsets {
        BTreeSet::new()
    } else {
        priorities
    };
    format!(
        "{} columns, {lines} lines, since 1970: {since_1970}, priorities {priorities:?}",
        first.len()
    )
}

pub fn keys(text: &str) -> Vec<String> {
    let key = |line: &str| line.split_once("\" :").map(|(key, _)| key.to_owned());
    text.lines().filter_map(key).collect()
}
