//! fio's JSON and json+.

use serde_json::{Map, Value};

use super::figures::{Figures, Shape};
use super::{not_a_result, not_a_result_at};
use blocklab_syntax::Mistake;
use blocklab_workload::Pattern;

use super::record::{Case, Found, Job};
use super::scan::size;

type Object = Map<String, Value>;

pub(super) fn read(text: &str) -> Result<Found, Mistake> {
    // fio prints its warnings before the document, and status output in several documents.
    let document = last_document(text)?;
    let root: Value = serde_json::from_str(document).map_err(|error| {
        let before = text.len() - text[text.find(document).unwrap_or(0)..].len();
        let line = text[..before].matches('\n').count() + error.line();
        not_a_result_at(
            line,
            format!("{error}; is it fio's --output-format=json, and whole?"),
        )
    })?;
    let version = root.get("fio version").and_then(Value::as_str);
    let Some(version) = version else {
        return Err(not_a_result("no `fio version` in it: not fio's JSON"));
    };
    let global = global_options(&root);
    let mut jobs = list(&root, "jobs");
    if jobs.is_empty() {
        jobs = list(&root, "client_stats");
    }
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
        if let Some(path) = options.get("filename").or(options.get("directory")) {
            found.target(path, 0);
        }
        let group = object.get("groupid").and_then(Value::as_u64).unwrap_or(0);
        found.job(format!("group-{group}"), job);
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

fn last_document(text: &str) -> Result<&str, Mistake> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    let opening = lines.filter(|(_, line)| line.trim_end() == "{");
    let begin = opening.last().map(|(at, _)| at).or_else(|| text.find('{'));
    let neither = "neither JSON nor terse output of fio";
    let begin = begin.ok_or_else(|| not_a_result(neither))?;
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

/// A list of hosts, where there are several.
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
    let printed = Job {
        name: text_of(object, "jobname").unwrap_or("job").to_owned(),
        engine: "fio".to_owned(),
        seconds: seconds(object),
        errors: object.get("total_err").and_then(Value::as_u64).unwrap_or(0),
        read: figures(object.get("read")),
        write: figures(object.get("write")),
        trim: figures(object.get("trim")),
        ..Job::default()
    };
    // Before 3.0, a result has no options: the request is unknown.
    match options.is_empty() {
        true => printed,
        false => requested(printed, options),
    }
}

/// Adds the options that are given, and fio's own defaults for the others.
fn requested(printed: Job, options: &Options) -> Job {
    let text = |names: [&str; 2]| {
        let found = options.get(names[0]).or(options.get(names[1]));
        found.map(String::as_str)
    };
    let one = |name: &'static str| text([name, name]);
    let number = |name| one(name).and_then(|text| text.trim().parse::<u32>().ok());
    let on = |name| one(name).is_some_and(|it| !matches!(it, "0" | "false"));
    let engine = one("ioengine").unwrap_or("psync");
    let rw = text(["rw", "readwrite"]).unwrap_or("read");
    let rw = rw.split(':').next().unwrap_or_default();
    let asynchronous = ["libaio", "io_uring", "posixaio", "windowsaio", "null"].contains(&engine);
    let mixed = rw.contains("rw") || rw == "readwrite";
    let is_random = rw.starts_with("rand");
    Job {
        engine: engine.to_owned(),
        pattern: Some(if is_random {
            Pattern::RANDOM
        } else {
            Pattern::Sequential
        }),
        block: text(["bs", "blocksize"]).and_then(size).unwrap_or(4096),
        read_percent: match () {
            () if mixed => Some(number("rwmixread").map_or(50, |it| it.min(100) as u8)),
            () if rw.contains("write") => Some(0),
            () if rw.contains("read") => Some(100),
            () => None,
        },
        threads: match one("group_reporting") {
            Some(_) => number("numjobs").unwrap_or(1),
            None => 1,
        },
        depth: number("iodepth").filter(|_| asynchronous).unwrap_or(1),
        direct: Some(on("direct")),
        write_through: on("sync"),
        requested_iops: one("rate_iops").and_then(|it| it.parse().ok()),
        requested_bytes_per_s: one("rate").and_then(size).map(|it| it as f64),
        think: one("thinktime").is_some(),
        ..printed
    }
}

/// The longest direction: fio measures each from its first operation on.
fn seconds(object: &Object) -> f64 {
    let runtime = |name: &str| object.get(name)?.get("runtime")?.as_f64();
    let all = ["read", "write", "trim"].into_iter().filter_map(runtime);
    let longest = all.fold(0.0, f64::max);
    let ms = match longest > 0.0 {
        true => longest,
        // Less than a millisecond.
        false => {
            let whole = object.get("job_runtime").and_then(Value::as_f64);
            whole.unwrap_or(1.0).max(1.0)
        }
    };
    ms / 1e3
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
    // `gtod_reduce` or `disable_clat` leave zeros without a sample.
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
        // Before 3.0, the key was in KiB.
        bytes: match number("io_kbytes").or(number("bw_bytes")) {
            Some(_) => count("io_bytes"),
            None => (number("io_bytes").unwrap_or(0.0) * 1024.0) as u64,
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
        let numbers = pairs.filter_map(|(key, value)| Some((key.parse().ok()?, value.as_f64()?)));
        let mut numbers: Vec<(f64, f64)> = numbers.collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        numbers
    };
    let bins = pairs("bins").into_iter();
    if bins.len() > 0 {
        let counts = bins.map(|(at, count)| (at * factor, count.max(0.0) as u64));
        return Shape::Counts(counts.collect());
    }
    let list = pairs("percentile").into_iter();
    let list = list.filter(|(percent, _)| *percent > 0.0 && *percent <= 100.0);
    let list = list.map(|(percent, at)| (percent / 100.0, at * factor));
    Shape::Percentiles(list.collect())
}
