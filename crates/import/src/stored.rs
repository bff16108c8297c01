//! Runs of another machine: what `export --format json` wrote, or the lines of `run --json-lines`.

use blocklab_record::{BadRecord, Record};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use blocklab_syntax::Mistake;

use crate::{Source, named, not_a_result, not_a_result_at};

/// How a line of `run --json-lines` begins.
const BEGINNING: &str = "{\"line_format\"";

/// The key in such a line whose value is the record.
const RECORD: &str = "\"record\":";

/// The newest form of those lines that is read.
const LINE_FORMAT: u64 = 1;

/// More of anything was never measured: sums of it would overflow.
const MOST: u64 = 1 << 56;

/// The runs of a text.
#[derive(Debug, PartialEq, Default)]
pub struct Stored {
    /// As they are in it.
    pub runs: Vec<Record>,
    /// Lines of other runs that are damaged.
    pub damaged: Vec<Mistake>,
}

/// Bytes as the text of a log, in which an invalid byte becomes U+FFFD.
pub fn decode_log(name: &str, bytes: Vec<u8>) -> Source {
    Source {
        name: name.to_owned(),
        text: blocklab_syntax::encoding::text_of_log(bytes),
    }
}

/// The runs that a text holds, as they are: a record, or lines of which some are one. What else a
/// log holds (the words of a shell, the name of a container before each line) is passed over.
///
/// # Errors
/// A text without a whole run; a record of a format that this version does not read, or with figures that
/// cannot have been measured.
pub fn stored(source: &Source) -> Result<Stored, Mistake> {
    let text = source.text.trim();
    let found = match record(text) {
        Ok(record) => Ok(Stored {
            runs: vec![record],
            damaged: Vec::new(),
        }),
        Err(NoRecord::Shape) => in_lines(source),
        Err(NoRecord::Other(message)) => Err(not_a_result(message)),
    };
    found.map_err(|wrong| named(wrong, &source.name))
}

enum NoRecord {
    Shape,
    Other(String),
}

fn record(text: &str) -> Result<Record, NoRecord> {
    let record = Record::from_json(text).map_err(|error| match error {
        BadRecord::Shape(_) => NoRecord::Shape,
        other_format => NoRecord::Other(other_format.to_string()),
    })?;
    // One after the other: a record can be large.
    let mut values = record.measurements.iter().map(serde_json::to_value);
    match values.find_map(|value| impossible(&value.ok()?)) {
        Some(figure) => Err(NoRecord::Other(format!(
            "a figure of {figure} cannot be: the record is damaged"
        ))),
        None => Ok(record),
    }
}

/// A figure of any depth in a value that is none that can be.
fn impossible(value: &Value) -> Option<u64> {
    match value {
        Value::Number(figure) => figure.as_u64().filter(|figure| *figure > MOST),
        Value::Array(values) => values.iter().find_map(impossible),
        Value::Object(fields) => fields.values().find_map(impossible),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// A line of `run --json-lines`.
#[derive(Deserialize)]
struct Line {
    line_format: u64,
    record: Option<IgnoredAny>,
}

/// The runs of a text with a record, or a part of one, on some of its lines.
fn in_lines(source: &Source) -> Result<Stored, Mistake> {
    let mut found = Stored::default();
    let mut has_line = false;
    for (number, text) in source.text.lines().enumerate() {
        let Some(start) = text.find(BEGINNING) else {
            continue;
        };
        has_line = true;
        let (message, is_newer) = match line(text[start..].trim_end()) {
            Ok(record) => {
                found.runs.extend(record);
                continue;
            }
            Err(NotALine::Newer(message)) => (message, true),
            Err(NotALine::Damaged(message)) => (message, false),
        };
        let mistake = named(not_a_result_at(number + 1, message), &source.name);
        if is_newer {
            return Err(mistake);
        }
        found.damaged.push(mistake);
    }
    match (found.runs.is_empty(), found.damaged.first(), has_line) {
        (false, _, _) => Ok(found),
        (true, Some(first), _) => Err(first.clone()),
        (true, None, true) => Err(not_a_result(
            "these lines end before the record: the run was cut off or is not finished",
        )),
        (true, None, false) => Err(not_a_result(
            "no run is in it; `blocklab export RUN --format json` and `blocklab run --json-lines` \
             write what this reads",
        )),
    }
}

enum NotALine {
    Newer(String),
    Damaged(String),
}

/// The record of a line, if it has one. Lines before it show how a run went, and are not needed.
fn line(text: &str) -> Result<Option<Record>, NotALine> {
    let place = text.find(RECORD).map(|at| at + RECORD.len());
    let line: Line = match serde_json::from_str(text) {
        Ok(line) => line,
        Err(_) if place.is_none() => return Ok(None),
        Err(error) => {
            return Err(NotALine::Damaged(format!(
                "the line of a run is damaged or cut off ({error}); take the log anew"
            )));
        }
    };
    if line.line_format > LINE_FORMAT {
        return Err(NotALine::Newer(format!(
            "lines of form {} are newer than this version reads (up to {LINE_FORMAT}); a newer \
             blocklab can",
            line.line_format
        )));
    }
    let Some((_, start)) = line.record.zip(place) else {
        return Ok(None);
    };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
    values.next();
    let end = start + values.byte_offset();
    record(&text[start..end]).map(Some).map_err(|error| {
        NotALine::Damaged(match error {
            NoRecord::Other(message) => message,
            NoRecord::Shape => "the record in this line is damaged; take the log anew".to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = include_str!("../../record/golden/v2/everything.json");

    fn read(text: &str) -> Result<Vec<Record>, String> {
        let source = Source {
            name: "log".to_owned(),
            text: text.to_owned(),
        };
        let found = stored(&source).map_err(|error| error.to_string())?;
        assert_eq!(found.damaged, [], "{text}");
        Ok(found.runs)
    }

    fn line(record: &str) -> String {
        let value: Value = serde_json::from_str(record).expect("a golden record");
        format!("{BEGINNING}: 1, \"kind\": \"record\", \"record\": {value}}}")
    }

    #[test]
    fn a_record_and_the_log_that_holds_one_are_the_same_run() {
        let whole = read(RECORD).expect("a record");
        let log = format!(
            "Pulling image\n[pod/x] {}\n[pod/x] {BEGINNING}: 1, \"kind\": \"begun\"}}\nbye\n",
            line(RECORD)
        );
        assert_eq!(read(&log).expect("a log"), whole);
    }

    /// Sums of such figures overflowed, and the command panicked.
    #[test]
    fn figures_that_cannot_be_are_refused() {
        for place in [
            "/measurements/0/elapsed_ns",
            "/measurements/0/jobs/0/directions/read/ios",
            "/measurements/0/series/1/write/bytes",
        ] {
            let mut value: Value = serde_json::from_str(RECORD).expect("a golden record");
            *value.pointer_mut(place).expect("a figure") = u64::MAX.into();
            let damaged = value.to_string();
            for text in [line(&damaged), damaged] {
                let error = read(&text).expect_err(place);
                assert!(error.contains("18446744073709551615 cannot be"), "{error}");
            }
        }
    }

    #[test]
    fn what_is_no_run_is_reported_as_what_it_is() {
        let cut = line(RECORD);
        for (text, words) in [
            ("", "no run is in it"),
            ("{\"fio version\": \"fio-3.33\"}", "no run is in it"),
            (
                &cut[..cut.len() - 40],
                "log:1: the line of a run is damaged",
            ),
            (
                "{\"line_format\": 1, \"kind\": \"begun\"}",
                "end before the record",
            ),
            ("{\"line_format\": 9}", "newer than this version"),
            ("{\"format\": 99}", "newer than this version"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
    /// One stray byte, or one line that was torn, lost all the runs of a log.
    #[test]
    fn a_damaged_line_loses_its_own_run_alone() {
        let whole = line(RECORD);
        let torn = &whole[..whole.len() - 40];
        let log = format!("{whole}\n{torn}\n{BEGINNING}: 1, \"kind\": \"measu\n{whole}\n");
        let mut bytes = log.into_bytes();
        bytes.extend([0xff, 0xfe]);
        let found = stored(&decode_log("log", bytes)).expect("two runs");
        assert_eq!(found.runs.len(), 2);
        let [damaged] = &found.damaged[..] else {
            panic!("one line");
        };
        assert!(damaged.to_string().starts_with("log:2: the line of a run"));
    }
}
