//! Runs of another machine: what `export --format json` wrote, or the lines of `run --json-lines`.

use blocklab_record::{BadRecord, Record};
use serde_json::Value;

use blocklab_syntax::Mistake;

use crate::{Source, named, not_a_result, not_a_result_at};

/// How a line of `run --json-lines` begins.
const BEGINNING: &str = "{\"line_format\"";

/// The newest form of those lines that is read.
const LINE_FORMAT: u64 = 1;

/// More of anything was never measured: sums of it would overflow.
const MOST: u64 = 1 << 56;

/// The runs that a text holds, as they are: a record, or lines of which some are one. What else a
/// log holds (the words of a shell, the name of a container before each line) is passed over.
///
/// # Errors
/// A text without a run; a line that is cut off; a record that is newer than this version, or
/// holds figures that nobody can have measured.
pub fn stored(source: &Source) -> Result<Vec<Record>, Mistake> {
    let text = source.text.trim();
    let found = match Record::from_json(text) {
        Ok(record) => {
            let known = serde_json::from_str(text).map_err(|error| error.to_string());
            let sane = known.and_then(|value: Value| sane(&value["measurements"]));
            sane.map(|()| vec![record]).map_err(not_a_result)
        }
        Err(BadRecord::Shape(_)) => in_lines(&source.text),
        Err(newer) => Err(not_a_result(newer.to_string())),
    };
    found.map_err(|wrong| named(wrong, &source.name))
}

fn sane(figures: &Value) -> Result<(), String> {
    match figures {
        Value::Array(all) => all.iter().try_for_each(sane),
        Value::Object(all) => all.values().try_for_each(sane),
        figure => match figure.as_u64().filter(|it| *it > MOST) {
            Some(found) => Err(format!(
                "a figure of {found} cannot be: the record is damaged"
            )),
            None => Ok(()),
        },
    }
}

fn in_lines(text: &str) -> Result<Vec<Record>, Mistake> {
    let mut records = Vec::new();
    let mut is_one = false;
    for (number, line) in text.lines().enumerate() {
        let Some(start) = line.find(BEGINNING) else {
            continue;
        };
        is_one = true;
        let wrong = |message: String| not_a_result_at(number + 1, message);
        let line: Value = serde_json::from_str(line[start..].trim_end()).map_err(|error| {
            wrong(format!(
                "the line of a run is damaged or cut off ({error}); take the log anew"
            ))
        })?;
        let found = line["line_format"].as_u64().unwrap_or_default();
        if found > LINE_FORMAT {
            return Err(wrong(format!(
                "lines of form {found} are newer than this version reads (up to {LINE_FORMAT}); a \
                 newer blocklab can"
            )));
        }
        if let Some(record) = line.get("record") {
            sane(&record["measurements"]).map_err(&wrong)?;
            let record = Record::from_json(&record.to_string());
            records.push(record.map_err(|error| wrong(error.to_string()))?);
        }
    }
    match (records.is_empty(), is_one) {
        (false, _) => Ok(records),
        (true, true) => Err(not_a_result(
            "these lines end before the record: the run was cut off or is not finished",
        )),
        (true, false) => Err(not_a_result(
            "no run is in it; `blocklab export RUN --format json` and `blocklab run --json-lines` \
             write what this reads",
        )),
    }
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
        stored(&source).map_err(|error| error.to_string())
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
        let mut value: Value = serde_json::from_str(RECORD).expect("a golden record");
        value["measurements"][0]["elapsed_ns"] = u64::MAX.into();
        let damaged = value.to_string();
        for text in [line(&damaged), damaged] {
            let error = read(&text).expect_err("a damaged record");
            assert!(error.contains("18446744073709551615 cannot be"), "{error}");
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
}
