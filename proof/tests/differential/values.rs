//! One case of `proof/data/exact/fio.txt`: an option with two values, and what is looked at. fio
//! must show a difference between the values there, or the case could not tell whether the option
//! is obeyed; and the program must show for both what fio shows.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use blocklab_proof::{Lab, root};
use serde_json::Value;

use super::{blocks, calls, columns_and_lines, copied_traces, traced};

pub struct Case {
    pub option: String,
    /// `-` is the option not given.
    values: [String; 2],
    /// What is looked at, by its name, and with what arguments.
    probe: Vec<String>,
    /// The rest of the command line; the option is put where `{}` is, or at its end.
    rest: String,
}

/// All cases, in the order of the file: `option: VALUE | VALUE; PROBE; REST`.
pub fn cases() -> Vec<Case> {
    let path = root().join("proof/data/exact/fio.txt");
    let text = fs::read_to_string(path).expect("the list of cases");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| case(line).expect(line)).collect()
}

fn case(line: &str) -> Option<Case> {
    let (option, line) = line.split_once(": ")?;
    let (values, line) = line.split_once("; ")?;
    let (probe, rest) = line.split_once(';')?;
    let (one, other) = values.split_once(" | ")?;
    Some(Case {
        option: option.to_owned(),
        values: [one.to_owned(), other.to_owned()],
        probe: probe.split(' ').map(str::to_owned).collect(),
        rest: rest.trim().to_owned(),
    })
}

impl Case {
    /// What is wrong with it.
    pub fn faults(&self, lab: &Lab, number: usize) -> Vec<String> {
        let seen = |who: &str, program: fn(&Lab) -> Command| {
            [0, 1].map(|value| {
                let folder = lab.path().join(format!("values-{number}-{value}-{who}"));
                self.seen(program(lab), &folder, &self.values[value])
            })
        };
        let theirs = seen("fio", |_| Command::new("fio"));
        let ours = seen("ours", |lab| {
            let mut command = lab.command();
            command.args(["fio", "--no-save"]);
            command
        });
        let mut faults = Vec::new();
        if self.agree(&theirs[0], &theirs[1]) {
            faults.push(format!("fio shows the same for both: {:?}", theirs[0]));
        }
        for (value, (theirs, ours)) in self.values.iter().zip(theirs.iter().zip(&ours)) {
            if !self.agree(theirs, ours) {
                faults.push(format!("{value}: {ours:?} for {theirs:?}"));
            }
        }
        let label = |fault| format!("{} ({}): {fault}", self.option, self.probe.join(" "));
        faults.into_iter().map(label).collect()
    }

    /// Runs the command line in a new folder: `traces` in it is that of the traces, `there` a file of
    /// 256 KiB, `d` a folder.
    fn seen(&self, mut command: Command, folder: &Path, value: &str) -> Vec<String> {
        fs::create_dir(folder).expect("a new folder");
        copied_traces(&folder.with_extension("traces"));
        symlink(folder.with_extension("traces"), folder.join("traces")).expect("a link");
        fs::create_dir(folder.join("d")).expect("a new folder");
        fs::write(folder.join("there"), vec![1; 256 << 10]).expect("a new file");
        command.args(self.arguments(value));
        let strace = folder.with_extension("strace");
        match self.probe[0].as_str() {
            "calls" => command = traced(&command, &self.probe[1], &strace),
            "ranges" => command = traced(&command, "sync_file_range", &strace),
            _ => {}
        }
        let output = command.current_dir(folder).stdin(Stdio::null()).output();
        let output = output.expect("it starts");
        let words: Vec<&str> = self.probe[1..].iter().map(String::as_str).collect();
        let mut seen = match self.probe[0].as_str() {
            "json" | "near" | "count" => values(&json(&output), &words),
            "keys" => keys(&json(&output), &words),
            "text" => lines_with(&output, &words),
            "code" => Vec::new(),
            "names" => each_file(folder, |_| String::new()),
            "files" => each_file(folder, |bytes| bytes.len().to_string()),
            "content" => each_file(folder, digest),
            "blocks" => vec![format!("{:?}", blocks(&folder.join("f")))],
            "pieces" => pieces(folder, &words),
            "unique" => pieces(folder, &words)[..1].to_vec(),
            "trace" => trace(folder, &words),
            "places" => places(&trace(folder, &words)),
            "different" => {
                let all = trace(folder, &words);
                let different: BTreeSet<&String> = all.iter().collect();
                vec![all.len().to_string(), different.len().to_string()]
            }
            "log" => columns(folder, &words),
            "logged" => vec![columns_and_lines(&text(folder, words[0]))],
            "lines" => vec![text(folder, words[0]).lines().count().to_string()],
            "width" => {
                let text = text(folder, words[0]);
                let first = text.lines().next().unwrap_or_default();
                vec![first.split(", ").count().to_string()]
            }
            "ranges" => ranges(&fs::read_to_string(&strace).unwrap_or_default()),
            "calls" => {
                let trace = fs::read_to_string(&strace).unwrap_or_default();
                with_flags(calls(&trace), &words[1..])
            }
            unknown => panic!("there is no probe {unknown}"),
        };
        seen.push(format!("exit {}", output.status.code().unwrap_or(-1)));
        seen
    }

    fn arguments(&self, value: &str) -> Vec<String> {
        let given = match value {
            "-" => None,
            value => Some(format!("--{}={value}", self.option)),
        };
        let mut arguments = vec!["--output-format=json".to_owned()];
        if !self.rest.starts_with("--name") && self.option != "name" {
            arguments.extend(["--name=a".to_owned(), "--filename=f".to_owned()]);
        }
        let has_place = self.rest.split(' ').any(|word| word == "{}");
        for word in self.rest.split(' ').filter(|word| !word.is_empty()) {
            match word {
                "{}" => arguments.extend(given.clone()),
                word => arguments.push(word.to_owned()),
            }
        }
        if !has_place {
            arguments.extend(given);
        }
        arguments
    }

    /// Whether two outcomes are the same: numbers of what is drawn or what the clock decides within
    /// a fifth, with room for 2 of a count and 100 of milliseconds.
    fn agree(&self, theirs: &[String], ours: &[String]) -> bool {
        let room = match self.probe[0].as_str() {
            "near" => 100.0,
            "different" | "lines" | "count" | "unique" => 2.0,
            _ => return theirs == ours,
        };
        let is_near = |(theirs, ours): (&String, &String)| {
            let numbers = theirs.parse::<f64>().ok().zip(ours.parse::<f64>().ok());
            let within = |(a, b): (f64, f64)| (a - b).abs() <= a / 5.0 + room;
            theirs == ours || numbers.is_some_and(within)
        };
        theirs.len() == ours.len() && theirs.iter().zip(ours).all(is_near)
    }
}

/// Those of the calls that have one of these flags, if there are any, and of their flags these.
fn with_flags(calls: BTreeSet<String>, flags: &[&str]) -> Vec<String> {
    if flags.is_empty() {
        return calls.into_iter().collect();
    }
    let named = calls.iter().flat_map(|call| call.split(' '));
    let found: BTreeSet<&str> = named.filter(|word| flags.contains(word)).collect();
    found.into_iter().map(str::to_owned).collect()
}

/// The first byte, the length and the flags of each sync_file_range, in order.
fn ranges(trace: &str) -> Vec<String> {
    let range = |line: &str| {
        let (_, arguments) = line.split_once("sync_file_range(")?;
        let (_, range) = arguments.split_once(", ")?;
        Some(range.split_once(')')?.0.to_owned())
    };
    trace.lines().filter_map(range).collect()
}

fn json(output: &Output) -> Value {
    let out = String::from_utf8_lossy(&output.stdout);
    let at = out.find('{').unwrap_or(out.len());
    serde_json::from_str(&out[at..]).unwrap_or_default()
}

/// What is at a path of keys and positions with dots between them; `jobs` are all of them.
fn at<'j>(json: &'j Value, path: &str) -> Vec<&'j Value> {
    let step = |found: Vec<&'j Value>, key: &str| {
        let below = found.into_iter().flat_map(|value| match (key, value) {
            ("*", Value::Array(items)) => items.iter().collect(),
            (key, Value::Array(items)) => key
                .parse()
                .ok()
                .and_then(|at: usize| items.get(at))
                .into_iter()
                .collect(),
            (key, value) => value.get(key).into_iter().collect::<Vec<_>>(),
        });
        below.collect()
    };
    path.split('.')
        .filter(|key| !key.is_empty())
        .fold(vec![json], step)
}

fn values(json: &Value, paths: &[&str]) -> Vec<String> {
    let found = paths.iter().flat_map(|path| at(json, path));
    found.map(ToString::to_string).collect()
}

fn keys(json: &Value, paths: &[&str]) -> Vec<String> {
    let found = paths.iter().flat_map(|path| at(json, path));
    let keys = |value: &Value| {
        let members = value
            .as_object()
            .map(|members| members.keys().cloned().collect());
        members
            .unwrap_or_else(|| vec!["no object".to_owned()])
            .join(" ")
    };
    found.map(keys).collect()
}

/// The words of the output in lines that have one of these, without the figures that differ from
/// run to run.
fn lines_with(output: &Output, words: &[&str]) -> Vec<String> {
    let out = String::from_utf8_lossy(&output.stdout);
    let lines = out
        .lines()
        .filter(|line| words.iter().any(|word| line.contains(word)));
    let plain = |line: &str| {
        let letters = |sign: char| if sign.is_ascii_digit() { ' ' } else { sign };
        let text: String = line.chars().map(letters).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    lines.map(plain).collect()
}

/// All files below a folder with what is told of each, in the order of their names.
fn each_file(folder: &Path, told: fn(&[u8]) -> String) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(&below).expect("a folder").flatten() {
            let kind = entry.file_type().expect("it is there");
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).expect("it is there");
                let name = path.strip_prefix(folder).expect("it lies within");
                found.push(format!("{} {}", name.display(), told(&bytes)));
            }
        }
    }
    found.sort();
    found
}

fn digest(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:x}", hasher.finish())
}

/// How many different pieces of this many bytes a file has, and how many of zeros alone.
fn pieces(folder: &Path, words: &[&str]) -> Vec<String> {
    let length = words[0].parse().expect("a length");
    let bytes = fs::read(folder.join("f")).unwrap_or_default();
    let different: BTreeSet<&[u8]> = bytes.chunks(length).collect();
    let zeros = bytes
        .chunks(length)
        .filter(|piece| piece.iter().all(|byte| *byte == 0));
    vec![different.len().to_string(), zeros.count().to_string()]
}

/// The operations of the trace `t`, without their times and the moments at which files are
/// opened; `WORD`s leave those alone that contain one of them.
fn trace(folder: &Path, words: &[&str]) -> Vec<String> {
    let text = text(folder, "t");
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let lines = lines.map(|(_, operation)| operation);
    let wanted = |line: &&str| words.is_empty() || words.iter().any(|word| line.contains(word));
    lines.filter(wanted).map(str::to_owned).collect()
}

/// How many operations, and the different places that they go to, in order.
fn places(trace: &[String]) -> Vec<String> {
    let all: BTreeSet<&String> = trace.iter().collect();
    let mut places = vec![format!("{} operations", trace.len())];
    places.extend(all.into_iter().cloned());
    places
}

/// Columns of a log, by their numbers: `log FILE COLUMN…`.
fn columns(folder: &Path, words: &[&str]) -> Vec<String> {
    let picked = |line: &str| {
        let cells: Vec<&str> = line.split(", ").collect();
        let cell = |column: &&str| {
            let cell = column.parse().ok().and_then(|at: usize| cells.get(at));
            cell.copied().unwrap_or("-").to_owned()
        };
        words[1..].iter().map(cell).collect::<Vec<_>>().join(" ")
    };
    text(folder, words[0]).lines().map(picked).collect()
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}
