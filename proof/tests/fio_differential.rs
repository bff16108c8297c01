//! Beside Debian's fio: the same job files are taken and refused, and what is printed has the same
//! keys, types and counts, and the same files are left.
//!
//! The first line of a file in `corpus/fio` may say `; counts: near` (the same bytes within a
//! tenth, since both draw their own sizes), `; counts: by the clock` (within a half: at a pace, but
//! for a time, in which a busy machine holds either back) or `; ours alone` (fio is laxer or
//! stricter, and the next words say how).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use blocklab_proof::{Lab, root};
use serde_json::Value;

/// What one of the two made of a job file.
struct Answer {
    code: i32,
    json: Option<Value>,
    /// The keys, line by line, with their indentation.
    keys: Vec<String>,
    err: String,
    files: BTreeMap<String, u64>,
}

fn answer(mut command: Command, folder: &Path, file: &Path) -> Answer {
    fs::create_dir(folder).expect("a new folder");
    command.arg("--output-format=json").arg(file);
    command.env("FIO_SIZE", "64k");
    command.env("FIO_TRACES", root().join("proof/corpus/fio-traces"));
    command.current_dir(folder);
    let output = command.output().expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout);
    let json = out
        .find('{')
        .and_then(|at| serde_json::from_str(&out[at..]).ok());
    let mut files = BTreeMap::new();
    sizes(folder, folder, &mut files);
    Answer {
        code: output.status.code().unwrap_or(-1),
        json,
        keys: keys(&out),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        files,
    }
}

fn sizes(root: &Path, folder: &Path, files: &mut BTreeMap<String, u64>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, metadata) = (entry.path(), entry.metadata().expect("it is there"));
        if metadata.is_dir() {
            sizes(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("it lies within");
            let extent = match path.extension().and_then(|kind| kind.to_str()) {
                Some("log") => {
                    columns_and_lines(&fs::read_to_string(&path).expect("a log is text"))
                }
                Some("fz") => columns_and_lines(&inflated(&path)),
                _ => metadata.len(),
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

/// Of a log: a million for each column, and one for each line where a line is one operation. Lines
/// of spans, which tell no block, are as many as the clock makes them.
fn columns_and_lines(text: &str) -> u64 {
    let first: Vec<&str> = text
        .lines()
        .next()
        .map_or(Vec::new(), |line| line.split(", ").collect());
    let is_of_spans = first.get(3) == Some(&"0");
    let lines = if is_of_spans { 0 } else { text.lines().count() };
    (first.len() * 1_000_000 + lines) as u64
}

fn keys(text: &str) -> Vec<String> {
    let key = |line: &str| line.split_once("\" :").map(|(key, _)| key.to_owned());
    text.lines().filter_map(key).collect()
}

/// Keys and types: what programs that read the JSON rely on.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{key}:{}", shape(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.first().map(shape).unwrap_or_default()),
        Value::Number(number) if number.is_f64() => "float".to_owned(),
        Value::Number(_) => "int".to_owned(),
        Value::String(_) => "text".to_owned(),
        _ => "other".to_owned(),
    }
}

const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

fn moved(job: &Value, what: &str) -> Vec<u64> {
    let of = |direction: &&str| job[direction][what].as_u64().unwrap_or(0);
    DIRECTIONS.iter().map(of).collect()
}

/// What is wrong with ours, beside theirs.
fn compare(text: &str, theirs: &Answer, ours: &Answer) -> Vec<String> {
    if text.starts_with("; ours alone") {
        return Vec::new();
    }
    if theirs.code != ours.code {
        return vec![format!(
            "exit {} for {}: {}",
            ours.code, theirs.code, ours.err
        )];
    }
    let mut wrong = Vec::new();
    let mut check = |holds: bool, words: String| {
        if !holds {
            wrong.push(words);
        }
    };
    if theirs.code != 0 {
        check(!ours.err.is_empty(), "refused without a word".to_owned());
        return wrong;
    }
    check(
        ours.err.is_empty() || !theirs.err.is_empty(),
        format!("said {}", ours.err),
    );
    check(
        theirs.files == ours.files,
        format!("files {:?} for {:?}", ours.files, theirs.files),
    );
    check(
        theirs.keys == ours.keys,
        "keys in another order or layout".to_owned(),
    );
    let (Some(theirs), Some(ours)) = (&theirs.json, &ours.json) else {
        check(false, "no JSON".to_owned());
        return wrong;
    };
    let jobs = |json: &Value| json["jobs"].as_array().cloned().unwrap_or_default();
    let (their_jobs, our_jobs) = (jobs(theirs), jobs(ours));
    check(
        their_jobs.len() == our_jobs.len(),
        format!("{} jobs", our_jobs.len()),
    );
    check(
        theirs["global options"] == ours["global options"],
        format!("global options {}", ours["global options"]),
    );
    for (theirs, ours) in their_jobs.iter().zip(&our_jobs) {
        let (a, b) = (shape(theirs), shape(ours));
        check(a == b, format!("shape\n  {b}\nfor\n  {a}"));
        for key in [
            "jobname",
            "groupid",
            "error",
            "job options",
            "desc",
            "latency_depth",
        ] {
            check(
                theirs[key] == ours[key],
                format!("{key} {} for {}", ours[key], theirs[key]),
            );
        }
        let (a, b) = (moved(theirs, "io_bytes"), moved(ours, "io_bytes"));
        check(agree(text, &a, &b), format!("bytes {b:?} for {a:?}"));
        let syncs = |job: &Value| job["sync"]["total_ios"].as_u64().unwrap_or(0);
        // fio ends before the flush that would follow the last write.
        let (a, b) = (syncs(theirs), syncs(ours));
        check(a.abs_diff(b) <= 1, format!("{b} flushes for {a}"));
    }
    wrong
}

/// Totals agree, to the byte unless the file says otherwise; of a mix, each draws its own, and the
/// share of reads agrees within 20 per cent of the total.
fn agree(text: &str, theirs: &[u64], ours: &[u64]) -> bool {
    let total = |moved: &[u64]| moved.iter().sum::<u64>();
    let (a, b) = (total(theirs), total(ours));
    let slack = match text.lines().next() {
        Some("; counts: near") => a / 10,
        Some("; counts: by the clock") => a / 2,
        _ => 0,
    };
    let is_mixed = theirs.iter().filter(|bytes| **bytes > 0).count() > 1;
    let shares = if is_mixed { a / 5 } else { slack };
    a.abs_diff(b) <= slack && theirs[0].abs_diff(ours[0]) <= shares
}

fn corpus() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("proof/corpus/fio")).expect("the corpus is there");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn every_job_file_of_the_corpus_gives_what_fio_gives() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    let lab = Lab::new();
    let _ = lab.blocklab(["fio", "--version"]);
    let files = corpus();
    assert!(files.len() >= 100, "only {} files", files.len());
    let next = AtomicUsize::new(0);
    let wrong: Vec<String> = thread::scope(|scope| {
        // Both sleep more than they work.
        let lanes: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| lane(&lab, &files, &next)))
            .collect();
        lanes
            .into_iter()
            .flat_map(|lane| lane.join().expect("a lane ends"))
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        wrong.len(),
        files.len(),
        wrong.join("\n")
    );
}

fn lane(lab: &Lab, files: &[PathBuf], next: &AtomicUsize) -> Vec<String> {
    let mut wrong = Vec::new();
    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let name = file
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        let text = fs::read_to_string(file).expect("a text");
        let folder = |who: &str| lab.path().join(format!("{name}-{who}"));
        let theirs = answer(Command::new("fio"), &folder("fio"), file);
        let mut command = lab.command();
        command.arg("fio");
        let ours = answer(command, &folder("ours"), file);
        let found = compare(&text, &theirs, &ours);
        wrong.extend(found.into_iter().map(|words| format!("{name}: {words}")));
    }
    wrong
}

/// Results so far came out empty once, because a measurement under way has no name yet.
#[test]
fn results_so_far_tell_what_was_moved() {
    let lab = Lab::new();
    let said = lab.blocklab([
        "fio",
        "--no-save",
        "--name=a",
        "--rw=read",
        "--size=1m",
        "--ioengine=null",
        "--rate_iops=1000",
        "--time_based",
        "--runtime=3",
        "--status-interval=1",
        "--output-format=json",
    ]);
    let documents = serde_json::Deserializer::from_str(&said.out).into_iter::<Value>();
    let moved: Vec<u64> = documents
        .map(|json| json.expect("JSON")["jobs"][0]["read"]["io_bytes"].as_u64())
        .map(|bytes| bytes.expect("a number"))
        .collect();
    assert!(moved.len() >= 2, "{moved:?}");
    assert!(moved[0] > 0 && moved.is_sorted(), "{moved:?}");
}
