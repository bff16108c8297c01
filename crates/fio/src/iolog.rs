//! Traces of operations, one a line, in fio's formats of version 2 and 3.
//!
//! ```text
//!   fio version 3 iolog
//!   0 /dev/sdb add
//!   0 /dev/sdb open
//!   95 /dev/sdb read 4096 8192       microseconds, file, action, first byte, bytes
//!   120 /dev/sdb close
//! ```
//!
//! Version 2 has no times, but the action `wait`: as in fio 3.33 itself, and against its manual,
//! until so many milliseconds after the start.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    BlockSizes, Direction, Job, Replay, Replayed, Stop, TraceChanges, TraceFile,
};

use super::blktrace;
use super::files::{Ground, Layout, Planned, is_model};
use super::mistake::{Mistake, Place};
use super::spec::Spec;
use super::terms::Terms;
pub use super::trace::Trace;
use super::trace::operation;

/// Reads a trace.
///
/// # Errors
/// What is wrong, with the line.
pub fn parse(name: &str, text: &str) -> Result<Trace, Mistake> {
    let file: Arc<str> = name.into();
    let mistake = |index: usize, message: String| {
        let at = Place {
            file: Some(Arc::clone(&file)),
            line: index + 1,
        };
        Mistake::new(&at, message)
    };
    let mut lines = text.lines().enumerate();
    let head = lines.next().map_or("", |(_, line)| line.trim());
    let timed = match head {
        "fio version 3 iolog" => true,
        "fio version 2 iolog" => false,
        _ => {
            let message = "no iolog: the first line of one is `fio version 2 iolog` or \
                           `fio version 3 iolog`";
            return Err(mistake(0, message.to_owned()));
        }
    };
    let mut reading = Reading {
        timed,
        ..Reading::default()
    };
    reading.trace.is_untimed = !timed;
    for (index, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            reading.line(&words).map_err(|why| mistake(index, why))?;
        }
    }
    Ok(reading.trace)
}

#[derive(Default)]
struct Reading {
    timed: bool,
    now: Nanos,
    index: HashMap<String, u32>,
    trace: Trace,
}

impl Reading {
    fn line(&mut self, words: &[&str]) -> Result<(), String> {
        let words = match self.timed {
            true => {
                self.now = Nanos(number(words[0], "time")?.saturating_mul(1000));
                &words[1..]
            }
            false => words,
        };
        let [name, action, rest @ ..] = words else {
            return Err("a line tells a file and an action".to_owned());
        };
        let bytes = |at: usize, what: &str| {
            let word = rest.get(at).ok_or(format!("{action} lacks its {what}"))?;
            number(word, what)
        };
        let direction = match *action {
            "add" => {
                self.add(name);
                return Ok(());
            }
            "open" | "close" => return self.target(name).map(|_| ()),
            "wait" if self.timed => return Err("version 3 has no wait, but times".to_owned()),
            "wait" if rest.len() < 2 => {
                self.trace.passed_over += 1;
                return Ok(());
            }
            "wait" => {
                let until = bytes(0, "time")?;
                self.now = self.now.max(Nanos(until.saturating_mul(1_000_000)));
                return Ok(());
            }
            "read" => Direction::Read,
            "write" => Direction::Write,
            "trim" => Direction::Trim,
            "sync" | "datasync" => Direction::Sync,
            other => {
                return Err(format!(
                    "bad iolog file action `{other}`: it is none of add, open, close, wait, \
                     read, write, trim, sync, datasync"
                ));
            }
        };
        let (offset, len) = match direction {
            Direction::Sync => (0, 0),
            _ => (bytes(0, "offset")?, bytes(1, "length")?),
        };
        let target = self.target(name)?;
        operation(&mut self.trace, self.now, target, (direction, offset, len))
    }

    fn add(&mut self, name: &str) {
        if !self.index.contains_key(name) {
            self.index
                .insert(name.to_owned(), self.trace.files.len() as u32);
            self.trace.files.push(name.to_owned());
        }
    }

    fn target(&self, name: &str) -> Result<u32, String> {
        let known = self.index.get(name).copied();
        known.ok_or_else(|| format!("file {name} was not added before"))
    }
}

fn number(word: &str, what: &str) -> Result<u64, String> {
    word.parse()
        .map_err(|_| format!("`{word}` is no {what}: a whole number is expected"))
}

/// The trace of clone `number`, with what `replay_*` changes in it.
pub(super) fn read(spec: &Spec, number: u32, terms: &Terms<'_>) -> Result<Option<Trace>, Mistake> {
    if !spec.values.is_given("read_iolog") {
        return Ok(None);
    }
    let path = path(spec, number);
    let path = path.ok_or_else(|| spec.mistake("read_iolog", "no file is named"))?;
    let wrong = |why: String| spec.mistake("read_iolog", format!("{path}: {why}"));
    let bytes = (terms.bytes_of)(path).map_err(wrong)?;
    let is_binary = blktrace::is_one(&bytes);
    if !is_binary && str::from_utf8(&bytes).is_err() {
        return Err(wrong("no text, so no iolog".to_owned()));
    }
    let mut trace = match is_binary {
        true => blktrace::parse(&bytes, terms.device_of).map_err(wrong)?,
        false => parse(path, &String::from_utf8_lossy(&bytes))?,
    };
    if let Some(target) = spec.values.text("replay_redirect") {
        trace.files = vec![target.to_owned()];
    }
    let changes = changes(spec, &trace)?;
    change(&mut trace, &changes);
    if trace.operations.is_empty() {
        return Err(wrong("nothing is left to replay".to_owned()));
    }
    trace.source = Some(TraceFile {
        path: path.to_owned(),
        sha256: TraceFile::checksum(&bytes),
        changes,
    });
    Ok(Some(trace))
}

/// The operations of a trace that was read before, from the bytes of its file.
///
/// # Errors
/// What is wrong, with the place.
pub fn read_again(source: &TraceFile, bytes: &[u8]) -> Result<Vec<Replayed>, String> {
    let mut trace = match blktrace::is_one(bytes) {
        true => blktrace::parse(bytes, &|_, _| String::new())?,
        false => {
            let parsed = parse(&source.path, &String::from_utf8_lossy(bytes));
            parsed.map_err(|mistake| mistake.to_string())?
        }
    };
    change(&mut trace, &source.changes);
    Ok(trace.operations)
}

/// The trace that this clone replays.
pub(super) fn path(spec: &Spec, number: u32) -> Option<&str> {
    let given = spec.values.text("read_iolog")?;
    let paths: Vec<&str> = given.split(':').filter(|path| !path.is_empty()).collect();
    paths.get(number as usize % paths.len().max(1)).copied()
}

/// What stands for a trace that a job before this one will write, until it has.
pub(super) fn stand_in(writer: &Job) -> Trace {
    let direction = match writer.writes() {
        true => Direction::Write,
        false => Direction::Read,
    };
    Trace {
        files: writer.targets.clone(),
        operations: vec![Replayed {
            at: Nanos::ZERO,
            target: 0,
            direction,
            len: 512,
            offset: 0,
        }],
        ..Trace::default()
    }
}

fn changes(spec: &Spec, trace: &Trace) -> Result<TraceChanges, Mistake> {
    let at_least_one = |name| spec.values.number(name).unwrap_or(0).max(0) as u64;
    let (scale, align) = (
        at_least_one("replay_scale").max(1),
        at_least_one("replay_align"),
    );
    if align > 0 && !align.is_power_of_two() {
        return Err(spec.mistake("replay_align", format!("{align} is no power of two")));
    }
    let speed = spec
        .values
        .number("replay_time_scale")
        .unwrap_or(100)
        .max(1) as u64;
    Ok(TraceChanges {
        skip: skipped(spec)?,
        scale,
        align,
        speed_percent: speed,
        to_one_target: trace.files.len() == 1,
    })
}

fn change(trace: &mut Trace, changes: &TraceChanges) {
    let speed = u128::from(changes.speed_percent.max(1));
    trace
        .operations
        .retain(|operation| !changes.skip.contains(&operation.direction));
    for operation in &mut trace.operations {
        if !trace.is_untimed {
            operation.at = Nanos((u128::from(operation.at.0) * 100 / speed) as u64);
        }
        operation.offset /= changes.scale.max(1);
        if changes.align > 0 {
            operation.offset &= !(changes.align - 1);
        }
        if changes.to_one_target {
            operation.target = 0;
        }
    }
}

fn skipped(spec: &Spec) -> Result<Vec<Direction>, Mistake> {
    let words = spec.values.text("replay_skip").unwrap_or_default();
    let words = words.split(',').filter(|word| !word.is_empty());
    let direction = |word: &str| {
        let mut all = Direction::ALL.into_iter();
        all.find(|direction| direction.name() == word.trim())
            .ok_or_else(|| {
                let wrong = format!("`{word}` is none of read, write, trim, sync");
                spec.mistake("replay_skip", wrong)
            })
    };
    words.map(direction).collect()
}

/// What a clone works on that replays: what is written may make a file, and make it longer.
pub(super) fn ground(spec: &Spec, trace: &Trace, terms: &Terms<'_>) -> Result<Ground, Mistake> {
    let mut planned = Vec::new();
    for (path, target) in trace.files.iter().zip(0..) {
        let of_file = trace.operations.iter().filter(|op| op.target == target);
        let end = |op: &Replayed| op.offset + u64::from(op.len);
        let writes = of_file
            .clone()
            .filter(|op| op.direction == Direction::Write);
        let written = writes.map(end).max();
        let used = of_file.map(end).max();
        let there = (terms.size_of)(path);
        if written.is_none() && used.is_some() && there.is_none() && !is_model(path) {
            let wrong = format!("{path} is not there, and the trace does not write it");
            return Err(spec.mistake("read_iolog", wrong));
        }
        let is_file = !path.starts_with("/dev/") && !is_model(path);
        if let Some(length) = written.filter(|_| is_file) {
            planned.push(Planned {
                path: path.clone(),
                length: Bytes(length),
                layout: Layout::Length,
                unlink: spec.values.flag("unlink"),
            });
        }
    }
    let ends = trace
        .operations
        .iter()
        .map(|op| op.offset + u64::from(op.len));
    Ok(Ground {
        targets: trace.files.clone(),
        offset: 0,
        size: None,
        most: None,
        space: ends.max().unwrap_or(0).max(4096),
        planned,
    })
}

/// Makes the job replay.
pub(super) fn apply(spec: &Spec, job: &mut Job, trace: Trace) {
    let largest = trace.operations.iter().map(|op| u64::from(op.len)).max();
    job.sizes = BlockSizes::fixed(Bytes(largest.unwrap_or(0).max(512)));
    job.stop = Stop {
        runtime: job.stop.runtime,
        ..Stop::default()
    };
    job.replay = Some(Arc::new(Replay {
        operations: trace.operations,
        keeps_time: !spec.values.flag("replay_no_stall"),
        source: trace.source,
    }));
}

/// One operation of a trace that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traced<'a> {
    /// Since the beginning.
    pub at: Nanos,
    /// The file.
    pub file: &'a str,
    /// What it did.
    pub direction: Direction,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

/// A trace of version 3. `operations` stand in the order of their issue.
#[must_use]
pub fn render<'a>(files: &[String], operations: impl Iterator<Item = Traced<'a>>) -> String {
    let mut text = String::from("fio version 3 iolog\n");
    let mut end = 0;
    // Writing to a text does not fail.
    let manage = |text: &mut String, us: u64, action: &str| {
        for file in files {
            let _ = writeln!(text, "{us} {file} {action}");
        }
    };
    manage(&mut text, 0, "add");
    manage(&mut text, 0, "open");
    for operation in operations {
        end = operation.at.0 / 1000;
        let action = operation.direction.name();
        let (file, offset, len) = (operation.file, operation.offset, operation.len);
        let _ = writeln!(text, "{end} {file} {action} {offset} {len}");
    }
    manage(&mut text, end, "close");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn refused(text: &str, line: usize, words: &str) {
        let mistake = parse("t.log", text).expect_err(text).to_string();
        assert!(mistake.starts_with(&format!("t.log:{line}: ")), "{mistake}");
        assert!(mistake.contains(words), "{mistake}");
    }

    #[test]
    fn both_versions_are_read() {
        let second = "fio version 2 iolog\na add\na open\na read 0 4096\na wait 500 0\n\
                      a wait 300 0\na wait 900\na write 4096 512\na sync 0 0\na close\n";
        let trace = parse("t.log", second).expect("it is sound");
        assert_eq!(trace.files, ["a"]);
        let moments: Vec<u64> = trace.operations.iter().map(|op| op.at.0).collect();
        assert_eq!(moments, [0, 500_000_000, 500_000_000]);
        assert_eq!(trace.passed_over, 1);
        let third = "fio version 3 iolog\n1 a add\n2 a open\n99 a trim 8192 4096\n100 a close\n";
        let trace = parse("t.log", third).expect("it is sound");
        let expected = Replayed {
            at: Nanos(99_000),
            target: 0,
            direction: Direction::Trim,
            len: 4096,
            offset: 8192,
        };
        assert_eq!(trace.operations, [expected]);
    }

    #[test]
    fn damage_is_told_with_its_line() {
        refused("nonsense\n", 1, "no iolog");
        refused("", 1, "no iolog");
        let two = "fio version 2 iolog\na add\n";
        refused(
            &format!("{two}a wriite 0 1\n"),
            3,
            "bad iolog file action `wriite`",
        );
        refused(&format!("{two}a write 0\n"), 3, "lacks its length");
        refused(&format!("{two}b write 0 1\n"), 3, "b was not added");
        refused(&format!("{two}a write 0 0\n"), 3, "from 1 byte");
        refused(&format!("{two}a\n"), 3, "a file and an action");
        refused("fio version 3 iolog\nx a add\n", 2, "`x` is no time");
        refused("fio version 3 iolog\n1 a add\n2 a wait 3\n", 3, "no wait");
        refused(
            &format!("{two}a read {} 4096\n", u64::MAX),
            3,
            "no file has a byte",
        );
    }

    #[test]
    fn what_is_written_is_read() {
        let files = ["x".to_owned(), "y".to_owned()];
        let traced = Traced {
            at: Nanos(7000),
            file: "y",
            direction: Direction::Write,
            offset: 512,
            len: 1024,
        };
        let text = render(&files, std::iter::once(traced));
        let trace = parse("t.log", &text).expect("it is sound");
        assert_eq!(trace.files, files);
        assert_eq!(trace.operations[0].target, 1);
        assert_eq!(trace.operations[0].at, traced.at);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "\\PC{0,200}", version in 2..4) {
            let _ = parse("t.log", &text);
            let _ = parse("t.log", &format!("fio version {version} iolog\n{text}"));
        }

        #[test]
        fn any_lines_can_be_read(
            lines in proptest::collection::vec(
                ("[0-9]{0,21}", "[ab]", "(add|open|read|write|trim|sync|wait|close)",
                 "[0-9]{0,21}", "[0-9]{0,21}"), 0..12),
            version in 2..4,
        ) {
            let mut text = format!("fio version {version} iolog\n");
            for (time, file, action, offset, len) in lines {
                text.push_str(&format!("{time} {file} {action} {offset} {len}\n"));
            }
            let _ = parse("t.log", &text);
        }
    }
}
