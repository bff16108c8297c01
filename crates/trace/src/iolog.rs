//! In: a trace in fio's format, version 2 or 3, with one operation a line. Out: its operations. And the
//! other way: operations as a text of version 3.
//!
//! ```text
//!   fio version 3 iolog
//!   0 /dev/sdb add
//!   0 /dev/sdb open
//!   95 /dev/sdb read 4096 8192       microseconds, file, action, first byte, bytes
//!   120 /dev/sdb close
//! ```
//!
//! Version 2 has no times, but the action `wait`. As in fio 3.33 itself, and unlike its manual, the
//! number is milliseconds since the start of the trace.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::BufRead;

use blocklab_units::{Nanos, agreeing, plural};
use blocklab_workload::Direction;

use super::{Clock, Trace, TraceError};
use crate::lines::Lines;
use crate::operation::{Raw, RawSource, Split};

/// Reads a whole trace for a replay.
///
/// # Errors
/// When a line is invalid; the error has its number.
pub fn parse(text: &str) -> Result<Trace, TraceError> {
    let mut iolog = Iolog::new(text.as_bytes());
    let mut trace = Trace::from_source(&mut iolog)?;
    // A text without a single line is no trace either.
    is_timed(&iolog.source.head)?;
    trace.is_untimed = !iolog.source.reading.timed;
    trace.passed_over = iolog.source.reading.passed_over;
    Ok(trace)
}

/// Reads a trace as a stream of operations.
pub struct Iolog<R> {
    lines: Lines<R>,
    /// The first line, which may be repeated.
    head: String,
    reading: Reading,
}

impl<R: BufRead> Iolog<R> {
    /// Reads a trace of either version.
    pub fn new(input: R) -> Split<Self> {
        Split::new(Self {
            lines: Lines::new(input),
            head: String::new(),
            reading: Reading::default(),
        })
    }
}

impl<R: BufRead> RawSource for Iolog<R> {
    /// The next operation, as its line has it; `None` at the end of the text.
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        while self.lines.next()?.is_some() {
            let text = std::str::from_utf8(self.lines.line()).map_err(|_| TraceError::NoText)?;
            let text = text.trim();
            if self.lines.number() == 1 {
                self.head = text.to_owned();
                self.reading.timed = is_timed(text)?;
            } else if !text.is_empty() && text != self.head {
                // fio writes the head again for each job that appends to a trace.
                let words: Vec<&str> = text.split_whitespace().collect();
                let read = self.reading.line(&words);
                let raw = read.map_err(|why| self.lines.wrong(why))?;
                if raw.is_some() {
                    return Ok(raw);
                }
            }
        }
        Ok(None)
    }

    fn targets(&self) -> &[String] {
        &self.reading.files
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if !self.reading.timed {
            remarks.push(
                "version 2 of fio's format has no times but waits: rates and bursts are not those of \
                 the recording"
                    .to_owned(),
            );
        }
        if self.reading.passed_over > 0 {
            let waits = self.reading.passed_over as usize;
            remarks.push(format!(
                "{} without {} fourth word {} skipped, as fio does",
                plural(waits, "wait"),
                agreeing(waits, "its", "their"),
                agreeing(waits, "is", "are")
            ));
        }
        remarks
    }
}

/// Whether the first line is that of version 3, which has times.
fn is_timed(head: &str) -> Result<bool, TraceError> {
    match head {
        "fio version 3 iolog" => Ok(true),
        "fio version 2 iolog" => Ok(false),
        _ => {
            let message = "not an iolog, which begins with the line `fio version 2 iolog` or \
                           `fio version 3 iolog`";
            Err(TraceError::Line(1, message.to_owned()))
        }
    }
}

/// The state between two lines.
#[derive(Default)]
struct Reading {
    /// Whether lines have times: version 3.
    timed: bool,
    /// The time of the current line.
    now: Nanos,
    /// The index of each file.
    index: HashMap<String, u32>,
    /// The files, in the order in which they were added.
    files: Vec<String>,
    /// Number of `wait` lines of version 2 without their fourth word.
    passed_over: u32,
}

impl Reading {
    /// Reads the words of a line; `None`: it has no operation.
    fn line(&mut self, words: &[&str]) -> Result<Option<Raw>, String> {
        let words = if self.timed {
            self.now = Nanos(number(words[0], "time")?.saturating_mul(1000));
            &words[1..]
        } else {
            words
        };
        let [name, action, rest @ ..] = words else {
            return Err("a line names a file and an action".to_owned());
        };
        let direction = match *action {
            "add" => {
                self.add(name);
                return Ok(None);
            }
            "open" | "close" => return self.target(name).map(|_| None),
            "wait" if self.timed => {
                return Err("version 3 has a time on every line and no wait".to_owned());
            }
            "wait" if rest.len() < 2 => {
                self.passed_over += 1;
                return Ok(None);
            }
            "wait" => {
                let until = argument(action, rest.first(), "time")?;
                // Waits are until a moment, not for a time; one in the past changes nothing.
                self.now = self.now.max(Nanos(until.saturating_mul(1_000_000)));
                return Ok(None);
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
            _ => (
                argument(action, rest.first(), "offset")?,
                argument(action, rest.get(1), "length")?,
            ),
        };
        let raw = Raw {
            at: self.now,
            took: None,
            direction,
            offset,
            len,
            target: self.target(name)?,
        };
        raw.checked().map(Some)
    }

    /// Adds a file; a repeated one is ignored, as each job that appends to a trace adds its files.
    fn add(&mut self, name: &str) {
        if !self.index.contains_key(name) {
            self.index.insert(name.to_owned(), self.files.len() as u32);
            self.files.push(name.to_owned());
        }
    }

    /// The index of a file that was added.
    fn target(&self, name: &str) -> Result<u32, String> {
        let known = self.index.get(name).copied();
        known.ok_or_else(|| format!("file {name} was not added before"))
    }
}

fn argument(action: &str, word: Option<&&str>, what: &str) -> Result<u64, String> {
    let word = word.ok_or_else(|| format!("{action} lacks its {what}"))?;
    number(word, what)
}

fn number(word: &str, what: &str) -> Result<u64, String> {
    word.parse()
        .map_err(|_| format!("{what} `{word}` is not a whole number"))
}

/// An operation to write into a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traced<'a> {
    /// Since the start of the trace.
    pub at: Nanos,
    /// The file.
    pub file: &'a str,
    /// The format's word for the operation.
    pub action: &'a str,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

/// The text of a trace of version 3. `operations` must be in the order in which they were issued.
pub fn render<'a>(files: &[String], operations: impl Iterator<Item = Traced<'a>>) -> String {
    let mut text = String::from("fio version 3 iolog\n");
    let mut at_us = 0;
    add_for_each_file(&mut text, files, 0, "add");
    add_for_each_file(&mut text, files, 0, "open");
    for operation in operations {
        at_us = operation.at.0 / 1000;
        let action = operation.action;
        let (file, offset, len) = (operation.file, operation.offset, operation.len);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{at_us} {file} {action} {offset} {len}");
    }
    add_for_each_file(&mut text, files, at_us, "close");
    text
}

/// Adds a line with this action for each file.
fn add_for_each_file(text: &mut String, files: &[String], us: u64, action: &str) {
    for file in files {
        let _ = writeln!(text, "{us} {file} {action}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_workload::Replayed;
    use proptest::prelude::*;

    #[track_caller]
    fn refused(text: &str, line: usize, words: &str) {
        let mistake = parse(text).expect_err(text).to_string();
        assert!(mistake.starts_with(&format!("line {line}: ")), "{mistake}");
        assert!(mistake.contains(words), "{mistake}");
    }

    #[test]
    fn both_versions_are_read() {
        let second = "fio version 2 iolog\na add\na open\na read 0 4096\na wait 500 0\n\
                      a wait 300 0\na wait 900\na write 4096 512\na sync 0 0\na close\n";
        let trace = parse(second).expect("it is sound");
        assert_eq!(trace.files, ["a"]);
        let moments: Vec<u64> = trace.operations.iter().map(|op| op.at.0).collect();
        assert_eq!(moments, [0, 500_000_000, 500_000_000]);
        assert_eq!(trace.passed_over, 1);
        let third = "fio version 3 iolog\n1 a add\n2 a open\n99 a trim 8192 4096\n100 a close\n";
        let trace = parse(third).expect("it is sound");
        let expected = Replayed::new(Nanos(99_000), Direction::Trim, 8192, 4096);
        assert_eq!(trace.operations, [expected]);
    }

    /// Several jobs add to one file, each with the head of its own.
    #[test]
    fn a_trace_of_several_recordings_is_read() {
        let one = "fio version 3 iolog\n1 a add\n2 a open\n99 a write 0 4096\n100 a close\n";
        let trace = parse(&one.repeat(2)).expect("it is sound");
        assert_eq!((trace.files.len(), trace.operations.len()), (1, 2));
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        refused("nonsense\n", 1, "not an iolog");
        refused("", 1, "not an iolog");
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
        refused("fio version 3 iolog\nx a add\n", 2, "time `x` is not");
        refused(
            "fio version 3 iolog\n1 a add\n2 a wait 3\n",
            3,
            "and no wait",
        );
        refused(
            &format!("{two}a read {} 4096\n", u64::MAX),
            3,
            "is beyond the end of any device",
        );
    }

    #[test]
    fn what_is_written_is_read() {
        let files = ["x".to_owned(), "y".to_owned()];
        let traced = Traced {
            at: Nanos(7000),
            file: "y",
            action: "write",
            offset: 512,
            len: 1024,
        };
        let text = render(&files, std::iter::once(traced));
        let trace = parse(&text).expect("it is sound");
        assert_eq!(trace.files, files);
        assert_eq!(trace.operations[0].target, 1);
        assert_eq!(trace.operations[0].at, traced.at);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "\\PC{0,200}", version in 2..4) {
            let _ = parse(&text);
            let _ = parse(&format!("fio version {version} iolog\n{text}"));
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
            let _ = parse(&text);
        }
    }
}
