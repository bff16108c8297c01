//! Beside Debian's fio: the same job files are taken and refused, and what is printed has the same
//! keys, types and counts, and the same files are left.
//!
//! A file in `corpus/fio` may begin with lines that say how it is compared:
//!
//! - `; counts: near`: the same bytes within a twentieth, since both draw their own sizes, or work for
//!   a time at a pace that any machine keeps; `; counts: by the clock`: within a tenth, since the
//!   moment decides at which the job is ended;
//! - `; blocks: compared`: the files left have as many different blocks of 4 KiB, and as many of
//!   zeros alone, and headers of verification at the same places; `; blocks: near`: as many
//!   different ones within a twentieth, since each draws which are;
//! - `; takes: as long`: each job runs as long, within a fifth and 100 ms, as the clock decides;
//! - `; calls: NAME NAME`: these system calls are made with the same flags;
//! - `; fails alike`: what was done before both failed is compared, too;
//! - `; ours alone`: nothing is compared, for fio is laxer or stricter; the next words say how;
//! - `; both refuse it`.
//!
//! `data/exact/fio.txt` has the cases that show an option: see `differential/values.rs`.

mod differential;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use blocklab_proof::{Lab, fio_is_there, root, strace_is_there};
use differential::{Answer, Blocks, Rules, answer, values};
use serde_json::Value;

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

/// What is wrong with ours, next to theirs.
fn compare(rules: &Rules, theirs: &Answer, ours: &Answer) -> Vec<String> {
    if rules.is_ours_alone {
        return Vec::new();
    }
    let mut wrong = differences(rules, theirs, ours);
    if theirs.code != ours.code || theirs.code != 0 {
        if ours.code != 0 && ours.err.is_empty() {
            wrong.push("refused without a word".to_owned());
        }
        return wrong;
    }
    if rules.both_refuse {
        wrong.push("both take it".to_owned());
    }
    let has_more = !ours.err.is_empty() && theirs.err.is_empty();
    if has_more != rules.says_more {
        wrong.push(format!("said `{}`", ours.err));
    }
    if theirs.keys != ours.keys {
        wrong.push("keys in another order or layout".to_owned());
    }
    let echo = |answer: &Answer| {
        let json = answer.json.as_ref()?;
        let jobs = json["jobs"].as_array()?.iter();
        let options: Vec<Value> = jobs.map(|job| job["job options"].clone()).collect();
        Some((json["global options"].clone(), options))
    };
    if echo(theirs) != echo(ours) {
        wrong.push(format!("options {:?} for {:?}", echo(ours), echo(theirs)));
    }
    wrong
}

/// In what two outcomes differ, but for the options that are printed again.
fn differences(rules: &Rules, theirs: &Answer, ours: &Answer) -> Vec<String> {
    if theirs.code != ours.code {
        return vec![format!(
            "exit {} for {}: {}",
            ours.code, theirs.code, ours.err
        )];
    }
    let mut wrong = Vec::new();
    if theirs.code != 0 && !rules.fails_alike {
        return wrong;
    }
    if theirs.files != ours.files {
        wrong.push(format!("files {:?} for {:?}", ours.files, theirs.files));
    }
    let near = |(theirs, ours): (&Blocks, &Blocks)| {
        theirs.different.abs_diff(ours.different) <= theirs.different / 20
    };
    let mut pairs = theirs.blocks.values().zip(ours.blocks.values());
    let agree = if rules.are_blocks_near {
        theirs.blocks.len() == ours.blocks.len() && pairs.all(near)
    } else {
        theirs.blocks == ours.blocks
    };
    if !agree {
        wrong.push(format!("blocks {:?} for {:?}", ours.blocks, theirs.blocks));
    }
    if theirs.calls != ours.calls {
        wrong.push(format!("calls {:?} for {:?}", ours.calls, theirs.calls));
    }
    let (Some(theirs), Some(ours)) = (&theirs.json, &ours.json) else {
        wrong.push("no JSON".to_owned());
        return wrong;
    };
    let jobs = |json: &Value| json["jobs"].as_array().cloned().unwrap_or_default();
    let (their_jobs, our_jobs) = (jobs(theirs), jobs(ours));
    if their_jobs.len() != our_jobs.len() {
        wrong.push(format!("{} jobs for {}", our_jobs.len(), their_jobs.len()));
    }
    for (theirs, ours) in their_jobs.iter().zip(&our_jobs) {
        wrong.extend(job_differences(rules, theirs, ours));
    }
    wrong
}

fn job_differences(rules: &Rules, theirs: &Value, ours: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |holds: bool, words: String| {
        if !holds {
            wrong.push(words);
        }
    };
    let (a, b) = (outcome_shape(theirs), outcome_shape(ours));
    check(a == b, format!("shape\n  {b}\nfor\n  {a}"));
    for key in ["jobname", "groupid", "error", "desc", "latency_depth"] {
        check(
            theirs[key] == ours[key],
            format!("{key} {} for {}", ours[key], theirs[key]),
        );
    }
    let (a, b) = (moved(theirs, "io_bytes"), moved(ours, "io_bytes"));
    let operations: u64 = moved(theirs, "total_ios").iter().sum();
    check(
        agree(rules, &a, &b, operations),
        format!("bytes {b:?} for {a:?}"),
    );
    let syncs = |job: &Value| job["sync"]["total_ios"].as_u64().unwrap_or(0);
    // fio ends before the flush that would follow the last write.
    let flushes = syncs(ours).abs_diff(syncs(theirs));
    check(
        flushes <= 1,
        format!("{} flushes for {}", syncs(ours), syncs(theirs)),
    );
    let length = |job: &Value| job["job_runtime"].as_u64().unwrap_or(0);
    let (a, b) = (length(theirs), length(ours));
    check(
        !rules.takes_as_long || a.abs_diff(b) <= a / 5 + 100,
        format!("{b} ms for {a}"),
    );
    wrong
}

/// The shape of a job without the options that it printed again.
fn outcome_shape(job: &Value) -> String {
    let mut job = job.clone();
    if let Some(members) = job.as_object_mut() {
        members.remove("job options");
    }
    shape(&job)
}

/// Totals agree, to the byte unless the file says otherwise. Of a mix, each draws its own: the share
/// of reads agrees within 5 per cent of the total, or three standard deviations of the difference of
/// two such draws where operations are few, but never worse than 20 per cent.
fn agree(rules: &Rules, theirs: &[u64], ours: &[u64], operations: u64) -> bool {
    let total = |moved: &[u64]| moved.iter().sum::<u64>();
    let (a, b) = (total(theirs), total(ours));
    let slack = if rules.is_by_the_clock {
        a / 10
    } else if rules.is_near {
        a / 20
    } else {
        0
    };
    let is_mixed = theirs.iter().filter(|bytes| **bytes > 0).count() > 1;
    let shares = if is_mixed {
        let deviation = (0.5 / operations.max(1) as f64).sqrt();
        (a as f64 * (3.0 * deviation).clamp(0.05, 0.2)) as u64
    } else {
        slack
    };
    a.abs_diff(b) <= slack && theirs[0].abs_diff(ours[0]) <= shares
}

fn corpus() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("proof/corpus/fio")).expect("the corpus is there");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 100, "only {} files", files.len());
    // `CASE=rate,log` runs those alone that have one of these in their name.
    if let Ok(parts) = std::env::var("CASE") {
        let is_wanted = |file: &PathBuf| {
            let name = file.display().to_string();
            parts.split(',').any(|part| name.contains(part))
        };
        files.retain(is_wanted);
    }
    files
}

#[test]
fn every_job_file_of_the_corpus_gives_what_fio_gives() {
    if !fio_is_there() {
        return;
    }
    let lab = Lab::new();
    let _ = lab.blocklab(["fio", "--version"]);
    let files = corpus();
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
        let rules = Rules::parse(&text);
        if !rules.calls.is_empty() && !strace_is_there() {
            continue;
        }
        // What a second holds is the machine's, and either side may stand still for a tenth of one.
        let tries = if rules.is_near || rules.is_by_the_clock {
            3
        } else {
            1
        };
        let mut found = Vec::new();
        for attempt in 0..tries {
            let folder = |who: &str| lab.path().join(format!("{name}-{who}-{attempt}"));
            let theirs = answer(Command::new("fio"), &folder("fio"), file, &rules);
            let mut command = lab.command();
            command.arg("fio");
            let ours = answer(command, &folder("ours"), file, &rules);
            found = compare(&rules, &theirs, &ours);
            if found.is_empty() {
                break;
            }
        }
        wrong.extend(found.into_iter().map(|words| format!("{name}: {words}")));
    }
    wrong
}

/// The story: the table called `scramble_buffers`, `rate_min` and `dedupe_percentage` exact. No
/// case had them, no code read the first, and fio did otherwise in all three. Later each had a
/// case, but one in five of the rows was obeyed at the one value that its case had.
#[test]
fn an_option_is_exact_where_two_values_are_told_apart_and_nowhere_else() {
    let exact = blocklab_fio::options().iter();
    let exact = exact.filter(|option| option.support == blocklab_fio::Support::Exact);
    let exact: BTreeSet<&str> = exact.map(|option| option.name).collect();
    let cases = values::cases();
    let named: BTreeSet<&str> = cases.iter().map(|case| case.option.as_str()).collect();
    assert_eq!(
        exact, named,
        "the rows of crates/fio/src/options/table.rs that are called exact, and those of \
         proof/data/exact/fio.txt"
    );
}

#[test]
fn both_values_of_an_exact_option_do_what_they_do_in_fio() {
    if !fio_is_there() {
        return;
    }
    let lab = Lab::new();
    let mut cases = values::cases();
    // `CASE=rate,offset` tries those alone.
    if let Ok(wanted) = std::env::var("CASE") {
        cases.retain(|case| wanted.split(',').any(|option| option == case.option));
    }
    let next = AtomicUsize::new(0);
    let lane = || {
        let mut wrong = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(number) else {
                return wrong;
            };
            wrong.extend(case.faults(&lab, number));
        }
    };
    // Both sleep more than they work.
    let wrong: Vec<String> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..6).map(|_| scope.spawn(lane)).collect();
        let ended = lanes
            .into_iter()
            .map(|lane| lane.join().expect("a lane ends"));
        ended.flatten().collect()
    });
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// Results so far came out empty once, because a measurement under way has no name yet.
#[test]
fn results_so_far_tell_what_was_moved() {
    let lab = Lab::new();
    let run = lab.blocklab(
        "fio --no-save --name=a --rw=read --size=1m --ioengine=null --rate_iops=1000 --time_based \
         --runtime=3 --status-interval=1 --output-format=json"
            .split(' '),
    );
    let documents = serde_json::Deserializer::from_str(&run.out).into_iter::<Value>();
    let moved: Vec<u64> = documents
        .map(|json| json.expect("JSON")["jobs"][0]["read"]["io_bytes"].as_u64())
        .map(|bytes| bytes.expect("a number"))
        .collect();
    assert!(moved.len() >= 2, "{moved:?}");
    assert!(moved[0] > 0 && moved.is_sorted(), "{moved:?}");
}
