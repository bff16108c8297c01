//! fio's JSON and json+.

use serde_json::{Map, Value};

use super::Wrong;
use super::figures::{Figures, Shape};
use blocklab_workload::Pattern;

use super::record::{Case, Found, Job, RANDOM};
use super::scan::size;

type Object = Map<String, Value>;

pub(super) fn read(text: &str) -> Result<Found, Wrong> {
    // fio prints its warnings before the document, and status output in several documents.
    let document = last_document(text)?;
    let root: Value = serde_json::from_str(document).map_err(|error| {
        let before = text.len() - text[text.find(document).unwrap_or(0)..].len();
        let line = text[..before].matches('\n').count() + error.line();
        Wrong::at(
            line,
            format!("{error}; is it fio's --output-format=json, and whole?"),
        )
    })?;
    let version = root.get("fio version").and_then(Value::as_str);
    let Some(version) = version else {
        return Err(Wrong::whole("no `fio version` in it: not fio's JSON"));
    };
    let global = global_options(&root);
    let jobs = list(&root, "jobs");
    let mut jobs = if jobs.is_empty() {
        list(&root, "client_stats")
    } else {
        jobs
    };
    // The sum over all hosts would count everything twice.
    if jobs.len() > 1 {
        jobs.retain(|job| text_of(job, "jobname") != Some("All clients"));
    }
    let mut found = Found {
        tool: version.replacen("fio-", "fio ", 1),
        started_at: started(&root),
        ..Found::default()
    };
    for object in jobs {
        let options = options(object, &global);
        let job = job(object, &options);
        if let Some(path) = options.get("filename").or(options.get("directory"))
            && !found.targets.iter().any(|(known, _)| known == path)
        {
            found.targets.push((path.clone(), 0));
        }
        let group = object.get("groupid").and_then(Value::as_u64).unwrap_or(0);
        let name = format!("group-{group}");
        match found.cases.iter_mut().find(|case| case.name == name) {
            Some(case) => case.jobs.push(job),
            None => found.cases.push(Case {
                name,
                jobs: vec![job],
                ..Case::default()
            }),
        }
    }
    names(&mut found.cases);
    Ok(found)
}

/// A group of one job is called as its job, where that is unique.
pub(super) fn names(cases: &mut [Case]) {
    for at in 0..cases.len() {
        let [job] = &cases[at].jobs[..] else { continue };
        let name = job.name.clone();
        if !cases.iter().any(|case| case.name == name) {
            cases[at].name = name;
        }
    }
}

fn last_document(text: &str) -> Result<&str, Wrong> {
    let starts = |line: &str| line.trim_end() == "{";
    let mut begin = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if starts(line) {
            begin = Some(at);
        }
        at += line.len();
    }
    let begin = begin.or_else(|| text.find('{'));
    let Some(begin) = begin else {
        return Err(Wrong::whole("neither JSON nor terse output of fio"));
    };
    // What follows the last brace is no part of it.
    let end = text.rfind('}').map_or(text.len(), |end| end + 1);
    Ok(&text[begin..end.max(begin)])
}

fn list<'a>(root: &'a Value, name: &str) -> Vec<&'a Object> {
    let all = root.get(name).and_then(Value::as_array);
    all.map_or_else(Vec::new, |all| {
        all.iter().filter_map(Value::as_object).collect()
    })
}

fn text_of<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

fn started(root: &Value) -> String {
    let seconds = root.get("timestamp").and_then(Value::as_i64);
    let seconds = seconds.filter(|it| (0..250_000_000_000).contains(it));
    let moment = seconds.and_then(|it| jiff::Timestamp::from_second(it).ok());
    moment.map(|it| it.to_string()).unwrap_or_default()
}

type Options = std::collections::BTreeMap<String, String>;

fn strings(object: Option<&Value>) -> Options {
    let object = object.and_then(Value::as_object);
    let pairs = object.into_iter().flatten();
    pairs
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// With several hosts, a list of them.
fn global_options(root: &Value) -> Options {
    let value = root.get("global options");
    match value.and_then(Value::as_array) {
        Some(all) => strings(all.first()),
        None => strings(value),
    }
}

fn options(job: &Object, global: &Options) -> Options {
    let mut all = global.clone();
    all.extend(strings(job.get("job options")));
    all
}

fn job(object: &Object, options: &Options) -> Job {
    let told = Job {
        name: text_of(object, "jobname").unwrap_or("job").to_owned(),
        engine: "fio".to_owned(),
        seconds: seconds(object),
        errors: object.get("total_err").and_then(Value::as_u64).unwrap_or(0),
        read: figures(object.get("read")),
        write: figures(object.get("write")),
        trim: figures(object.get("trim")),
        ..Job::default()
    };
    // Before 3.0, a result has no options: what was asked for is not known.
    match options.is_empty() {
        true => told,
        false => asked(told, options),
    }
}

/// With what the options say, and fio's own defaults where they say nothing.
fn asked(told: Job, options: &Options) -> Job {
    let number = |name: &str| {
        options
            .get(name)
            .and_then(|text| text.trim().parse::<u32>().ok())
    };
    let engine = options.get("ioengine").map_or("psync", |it| it.as_str());
    let rw = options.get("rw").or(options.get("readwrite"));
    let rw = rw.map_or("read", |it| it.split(':').next().unwrap_or_default());
    let on = |name: &str| {
        options
            .get(name)
            .is_some_and(|it| !matches!(it.as_str(), "0" | "false"))
    };
    let grouped = options.contains_key("group_reporting");
    let asynchronous = ["libaio", "io_uring", "posixaio", "windowsaio", "null"].contains(&engine);
    let depth = number("iodepth").unwrap_or(1);
    let mixed = rw.contains("rw") || rw == "readwrite";
    Job {
        engine: engine.to_owned(),
        pattern: Some(match rw.starts_with("rand") {
            true => RANDOM,
            false => Pattern::Sequential,
        }),
        block: options
            .get("bs")
            .or(options.get("blocksize"))
            .and_then(|it| size(it))
            .unwrap_or(4096),
        read_percent: match () {
            () if mixed => Some(number("rwmixread").map_or(50, |it| it.min(100) as u8)),
            () if rw.contains("write") => Some(0),
            () if rw.contains("read") => Some(100),
            () => None,
        },
        threads: if grouped {
            number("numjobs").unwrap_or(1)
        } else {
            1
        },
        depth: if asynchronous { depth } else { 1 },
        direct: Some(on("direct")),
        write_through: on("sync"),
        asked_iops: options.get("rate_iops").and_then(|it| it.parse().ok()),
        asked_bytes_per_s: options
            .get("rate")
            .and_then(|it| size(it))
            .map(|it| it as f64),
        think: options.contains_key("thinktime"),
        ..told
    }
}

/// The longest direction: fio measures each from its first operation on.
fn seconds(object: &Object) -> f64 {
    let runtime = |name: &str| {
        object
            .get(name)
            .and_then(|it| it.get("runtime"))
            .and_then(Value::as_f64)
    };
    let all = ["read", "write", "trim"].into_iter().filter_map(runtime);
    let longest = all.fold(0.0, f64::max) / 1e3;
    match longest > 0.0 {
        true => longest,
        // Less than a millisecond.
        false => {
            object
                .get("job_runtime")
                .and_then(Value::as_f64)
                .unwrap_or(1.0)
                .max(1.0)
                / 1e3
        }
    }
}

fn figures(side: Option<&Value>) -> Figures {
    let number = |key: &str| side.and_then(|it| it.get(key)).and_then(Value::as_f64);
    let count = |key: &str| number(key).unwrap_or(0.0).max(0.0) as u64;
    // Before 3.0, in microseconds; the whole of an operation is `lat`, and `clat` has the
    // percentiles.
    let latency = |name: &str| {
        let of = |key: String| side.and_then(|it| it.get(key)).and_then(Value::as_object);
        match of(format!("{name}_ns")) {
            Some(found) => Some((found, 1.0)),
            None => Some((of(name.to_owned())?, 1e3)),
        }
    };
    // With `gtod_reduce` or `disable_clat`, zeros of no sample.
    let sampled = |(object, _): &(&Object, f64)| object.get("N").and_then(Value::as_u64) != Some(0);
    let measured = |name: &str| latency(name).filter(sampled);
    let completion = measured("clat").or_else(|| measured("lat"));
    let ios = count("total_ios");
    let moment = |key: &str| {
        let (object, factor) = completion?;
        let value = object.get(key).and_then(Value::as_f64)?;
        (ios > 0).then_some(value * factor)
    };
    Figures {
        ios,
        bytes: match number("io_bytes") {
            Some(bytes) if number("io_kbytes").is_some() || number("bw_bytes").is_some() => {
                bytes as u64
            }
            // Before 3.0, the key was in KiB.
            Some(kib) => (kib * 1024.0) as u64,
            None => 0,
        },
        mean: moment("mean"),
        stddev: moment("stddev"),
        min: moment("min"),
        max: moment("max"),
        shape: completion.map_or(Shape::Unknown, |(object, factor)| shape(object, factor)),
    }
}

fn shape(object: &Object, factor: f64) -> Shape {
    let pairs = |key: &str| {
        let object = object.get(key).and_then(Value::as_object);
        let pairs = object.into_iter().flatten();
        let pairs =
            pairs.filter_map(|(key, value)| Some((key.parse::<f64>().ok()?, value.as_f64()?)));
        let mut pairs: Vec<(f64, f64)> = pairs.collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs
    };
    let bins = pairs("bins");
    if !bins.is_empty() {
        let counts = bins
            .into_iter()
            .map(|(at, count)| (at * factor, count.max(0.0) as u64));
        return Shape::Counts(counts.collect());
    }
    let list = pairs("percentile").into_iter();
    let list = list.filter(|(percent, _)| *percent > 0.0 && *percent <= 100.0);
    Shape::Percentiles(
        list.map(|(percent, at)| (percent / 100.0, at * factor))
            .collect(),
    )
}
