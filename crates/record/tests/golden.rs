//! What was written is read, and the shape changes only with the format's number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use blocklab_device::{Covers, LimitKind, LimitUnit, Operation};
use blocklab_record::{
    BadRecord, FORMAT, NoteLevel, Origin, PaceKind, Record, Status, Stopped, TargetKind,
};
use blocklab_workload::{Access, Direction, Durability, EngineKind, Pattern};
use serde::de::DeserializeOwned;
use serde_json::Value;

fn folder(format: u32) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    golden.join(format!("v{format}"))
}

/// The records of a format: path and text.
fn records(format: u32) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder(format)).expect("a folder for every format");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let json = paths.filter(|path| path.extension().is_some_and(|e| e == "json"));
    let found: Vec<_> = json
        .map(|path| (path.clone(), fs::read_to_string(path).expect("readable")))
        .collect();
    assert!(!found.is_empty(), "no record of format {format}");
    found
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// What the code writes of a golden record of the present format.
fn written_again() -> Vec<Value> {
    let texts = records(FORMAT).into_iter().map(|(_, text)| text);
    let read = texts.map(|text| Record::from_json(&text).expect("a record"));
    read.map(|record| value(&record.to_json())).collect()
}

#[test]
fn every_golden_record_is_read() {
    for (path, text) in records(FORMAT) {
        let read = Record::from_json(&text);
        let record = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!record.measurements.is_empty(), "{}", path.display());
    }
}

#[test]
fn what_is_read_is_written_the_same() {
    for ((path, text), again) in records(FORMAT).iter().zip(written_again()) {
        assert!(
            value(text) == again,
            "{} comes back changed",
            path.display()
        );
    }
}

#[test]
fn what_is_no_record_is_refused() {
    for text in [
        "[2]",
        "{\"format\": 2}",
        "{\"format\": 2, \"targets\": [1]}",
    ] {
        let error = Record::from_json(text).expect_err(text);
        assert!(matches!(error, BadRecord::Shape(_)), "{text}: {error}");
    }
}

/// Format 1, of builds before the first release, had limits and loads as texts. Whatever else is in
/// the record, its number is what is reported, and what would work.
#[test]
fn an_older_format_is_refused_by_its_number() {
    let (_, text) = records(FORMAT).remove(0);
    let older = text.replacen(&format!("\"format\": {FORMAT}"), "\"format\": 1", 1);
    for text in [
        &*older,
        "{\"format\": 1}",
        "{\"format\": 1, \"targets\": [1]}",
    ] {
        let error = Record::from_json(text).expect_err("is older");
        assert!(matches!(error, BadRecord::Older(1)), "{error}");
        assert!(error.to_string().contains("repeat the run"), "{error}");
    }
}

#[test]
fn a_newer_format_is_refused_by_its_number() {
    let (_, text) = records(FORMAT).remove(0);
    let ours = format!("\"format\": {FORMAT}");
    assert!(text.contains(&ours));
    let newer = text.replacen(&ours, "\"format\": 4000000000", 1);
    let error = Record::from_json(&newer).expect_err("is newer");
    assert!(matches!(error, BadRecord::Newer(4_000_000_000)));
}

/// Fields got other names after records of this format had been written.
#[test]
fn former_names_of_fields_are_read() {
    const FORMER: [(&str, &str); 5] = [
        ("requested", "asked"),
        ("requested_iops", "asked_iops"),
        ("requested_bytes_per_s", "asked_bytes_per_s"),
        ("address", "asked"),
        ("miscompared", "flawed"),
    ];
    let read = |text: &str| Record::from_json(text).expect("a record");
    let mut found = BTreeSet::new();
    for (path, text) in records(FORMAT) {
        let mut former = text.clone();
        for (name, before) in FORMER {
            let (name, before) = (format!("\"{name}\": "), format!("\"{before}\": "));
            former = former.replace(&name, &before);
            found.extend(text.contains(&name).then_some(name));
        }
        assert_eq!(read(&former), read(&text), "{}", path.display());
    }
    assert_eq!(found.len(), FORMER.len(), "{found:?}");
}

/// A study `a: b` was taken for the study `a` on the system `b`. A record from before the system had
/// a field has nothing else to go by.
#[test]
fn the_system_of_a_run_is_not_read_from_its_name() {
    let text = fs::read_to_string(folder(FORMAT).join("planned.json")).expect("a record");
    let check = |system: Option<Value>, study: &str, expected: Option<&str>| {
        let mut json = value(&text);
        let requested = json["requested"].as_object_mut().expect("an object");
        match system {
            Some(system) => requested.insert("system".to_owned(), system),
            None => requested.remove("system"),
        };
        let record = Record::from_json(&json.to_string()).expect("a record");
        assert_eq!(record.requested.study(), study);
        assert_eq!(record.requested.system.as_deref(), expected);
    };
    check(Some("bought".into()), "limits", Some("bought"));
    check(Some(Value::Null), "limits: bought", None);
    check(None, "limits", Some("bought"));
}

#[test]
fn a_newer_plan_is_refused_by_its_number() {
    let planned = folder(FORMAT).join("planned.json");
    let text = fs::read_to_string(planned).expect("a record with a plan");
    assert!(Record::from_json(&text).is_ok_and(|record| record.requested.plan.is_some()));
    let newer = text.replacen("\"plan_format\": 1", "\"plan_format\": 4000000000", 1);
    let error = Record::from_json(&newer).expect_err("is newer");
    assert!(error.to_string().contains("its plan has format 4000000000"));
}

#[test]
fn the_histograms_of_golden_records_are_read() {
    for (path, text) in records(FORMAT) {
        let record = Record::from_json(&text).expect("a record");
        let jobs = record.jobs();
        let mut latencies = 0;
        for direction in jobs.flat_map(|job| job.directions.values()) {
            let all = [Some(&direction.service), direction.response.as_ref()];
            for latency in all.into_iter().flatten() {
                let histogram = latency.histogram().expect("sound");
                assert_eq!(histogram.count(), latency.count, "{}", path.display());
                let p99 = histogram.quantile(0.99);
                assert_eq!(p99.clamp(latency.min_ns, latency.max_ns), latency.p99_ns);
                latencies += 1;
            }
        }
        assert!(latencies > 0, "{}", path.display());
    }
}

/// The kind of value at every path, `null` aside; nothing where no value was ever seen.
type Shape = BTreeMap<String, Option<&'static str>>;

/// Maps whose keys are names that a run chose.
const MAPS: [&str; 1] = [".directions"];

fn shape(records: &[Value]) -> Shape {
    let mut shape = Shape::new();
    for record in records {
        walk("", record, &mut shape);
    }
    shape
}

/// What has a number and a golden file of its own.
const NUMBERED: &str = ".requested.plan";

fn walk(path: &str, value: &Value, shape: &mut Shape) {
    let kind = match value {
        Value::Null => None,
        Value::Bool(_) => Some("flag"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("text"),
        Value::Array(items) => Some(if items.is_empty() { "empty" } else { "list" }),
        Value::Object(_) => Some("object"),
    };
    let seen = shape.entry(path.to_owned()).or_default();
    *seen = match (*seen, kind) {
        (None | Some("empty"), kind @ Some(_)) => kind,
        // A choice of which some have figures and others none.
        (Some("text" | "object" | "text or object"), Some("text" | "object")) if *seen != kind => {
            Some("text or object")
        }
        (seen, None | Some("empty")) => seen,
        (seen, kind) => {
            assert_eq!(seen, kind, "{path} has two kinds");
            kind
        }
    };
    match value {
        _ if path == NUMBERED => {}
        Value::Array(items) => {
            let inner = format!("{path}[]");
            items.iter().for_each(|item| walk(&inner, item, shape));
        }
        Value::Object(fields) => {
            let is_map = MAPS.iter().any(|map| path.ends_with(map));
            for (key, item) in fields {
                let key = if is_map { "*" } else { key };
                walk(&format!("{path}.{key}"), item, shape);
            }
        }
        _ => {}
    }
}

/// The words of a choice, as the reader names them when it meets one that it does not know.
fn words<T: DeserializeOwned + Debug>() -> String {
    words_after::<T>("\"?\"")
}

fn words_after<T: DeserializeOwned + Debug>(unknown: &str) -> String {
    let error = serde_json::from_str::<T>(unknown).expect_err("no such word");
    let text = error.to_string();
    let quoted: Vec<&str> = text.split('`').skip(3).step_by(2).collect();
    assert!(quoted.len() > 1, "{text}");
    quoted.join(", ")
}

/// The shape of the format that this code writes, a line for each path and each choice.
fn keys() -> String {
    let paths = shape(&written_again());
    let line = |(path, kind): (&String, &Option<&str>)| {
        let kind = kind.unwrap_or_else(|| panic!("no golden record has a value at {path}"));
        assert_ne!(kind, "empty", "no golden record has an element in {path}");
        format!("{path} {kind}")
    };
    let mut lines: Vec<String> = paths.iter().skip(1).map(line).collect();
    lines.push(format!("origin: {}", words::<Origin>()));
    lines.push(format!("status: {}", words::<Status>()));
    lines.push(format!("note level: {}", words::<NoteLevel>()));
    lines.push(format!("target kind: {}", words::<TargetKind>()));
    let kinds = words_after::<LimitKind>("{\"kind\": \"?\"}");
    lines.push(format!("limit kind: {kinds}"));
    lines.push(format!("limit covers: {}", words::<Covers>()));
    lines.push(format!("limit operation: {}", words::<Operation>()));
    lines.push(format!("limit unit: {}", words::<LimitUnit>()));
    lines.push(format!("stopped: {}", words::<Stopped>()));
    lines.push(format!("engine: {}", words::<EngineKind>()));
    lines.push(format!("pattern: {}", words::<Pattern>()));
    lines.push(format!("direction: {}", words::<Direction>()));
    lines.push(format!("access: {}", words::<Access>()));
    lines.push(format!("durability: {}", words::<Durability>()));
    lines.push(format!("pace: {}", words::<PaceKind>()));
    lines.join("\n") + "\n"
}

/// With BLESS=1, the list of a new format is written. One that is there never changes.
#[test]
fn the_shape_changes_only_with_the_number_of_the_format() {
    let file = folder(FORMAT).join("keys.txt");
    let keys = keys();
    let blessed = std::env::var("BLESS").is_ok_and(|value| value == "1");
    if blessed && !file.exists() {
        fs::write(&file, &keys).expect("written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; BLESS=1 writes it for a new format",
            file.display()
        )
    });
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (kept, now) = (lines(&kept), lines(&keys));
    let gone: Vec<_> = kept.difference(&now).collect();
    let new: Vec<_> = now.difference(&kept).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "records have another shape than format {FORMAT}: gone {gone:#?}, new {new:#?}. \
         golden/README.md describes how a new format is made"
    );
}
