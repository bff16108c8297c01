//! Operations that carry priorities of their own, next to Debian's fio: which of them are reported
//! apart, how they are counted, printed and logged, and that the kernel hears of them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use blocklab_proof::{Lab, fio, fio_is_there, good};
use blocklab_workload::Direction;
use serde_json::Value;

#[path = "stand/mod.rs"]
mod stand;

/// 512 reads and writes. Best effort and idle are classes that anybody may have.
const JOB: [&str; 8] = [
    "--name=a",
    "--ioengine=libaio",
    "--rw=randrw",
    "--bs=4k",
    "--size=2m",
    "--filename=a.data",
    "--percentile_list=50:99.9",
    "--disk_util=0",
];

const SHARES: [&[&str]; 4] = [
    &[
        "--cmdprio_percentage=30,60",
        "--cmdprio_class=2",
        "--cmdprio=1,6",
    ],
    &["--cmdprio_percentage=50", "--cmdprio_class=3", "--prio=2"],
    &["--cmdprio_bssplit=4k/20/3/7:4k/50/2/0,4k/40/2/5"],
    &[
        "--cmdprio_bssplit=,4k/40",
        "--cmdprio_class=2",
        "--lat_percentiles=1",
    ],
];

fn ours(lab: &Lab, words: &[&str]) -> String {
    let before = ["fio", "--no-save"];
    good(lab.blocklab(before.iter().chain(words).copied()))
}

fn json(text: &str) -> Value {
    serde_json::from_str::<Value>(text).expect("JSON")["jobs"][0].clone()
}

fn words<'a>(shares: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&JOB, shares, more].concat()
}

/// Class, level, name of the latency and its operations, of each priority of a direction.
fn told(job: &Value, direction: &str) -> Vec<(u64, u64, String, u64)> {
    let entries = job[direction]["prios"].as_array();
    let entry = |entry: &Value| {
        let number = |key: &str| entry[key].as_u64().expect("a number");
        let latencies = entry.as_object().expect("an object").iter();
        let (name, latency) = latencies
            .rev()
            .find(|(name, _)| name.ends_with("_ns"))
            .expect("a latency");
        let count = latency["N"].as_u64().expect("a count");
        (number("prioclass"), number("prio"), name.clone(), count)
    };
    entries.map_or(Vec::new(), |entries| entries.iter().map(entry).collect())
}

#[test]
fn the_same_priorities_are_reported_and_have_the_same_shares() {
    if !fio_is_there() {
        return;
    }
    let lab = Lab::new();
    for shares in SHARES {
        let words = words(shares, &["--output-format=json+"]);
        let theirs = json(&fio(&lab, &words));
        let ours = json(&ours(&lab, &words));
        for direction in ["read", "write"] {
            let (a, b) = (told(&theirs, direction), told(&ours, direction));
            let names = |told: &[(u64, u64, String, u64)]| -> Vec<(u64, u64, String)> {
                let names = told.iter().cloned();
                names
                    .map(|(class, level, name, _)| (class, level, name))
                    .collect()
            };
            assert_eq!(names(&a), names(&b), "{shares:?} {direction}");
            let all = |job: &Value| job[direction]["total_ios"].as_u64().expect("a count");
            let share = |count: u64, all: u64| count as f64 / all as f64;
            for ((.., a), (.., b)) in a.iter().zip(&b) {
                let [a, b] = [share(*a, all(&theirs)), share(*b, all(&ours))];
                assert!((a - b).abs() < 0.15, "{shares:?} {direction}: {b} for {a}");
            }
            let sum: u64 = b.iter().map(|(.., count)| count).sum();
            assert!(b.is_empty() || sum == all(&ours), "{shares:?} {direction}");
        }
    }
}

/// The lines about priorities, without their figures: `clat prio 2/1`, and whether they begin a
/// table.
fn lines(text: &str) -> Vec<(String, bool)> {
    let about = text
        .lines()
        .map(str::trim)
        .filter(|line| line.contains("lat prio "));
    let name = |line: &str| line.split(" (").next().unwrap_or_default().to_owned();
    let line = |line: &str| (name(line), line.contains("% of IOs) percentiles ("));
    about.map(line).collect()
}

#[test]
fn people_read_the_same_lines() {
    if !fio_is_there() {
        return;
    }
    let lab = Lab::new();
    for shares in SHARES {
        for more in [
            "--clat_percentiles=1",
            "--clat_percentiles=0",
            "--unified_rw_reporting=1",
        ] {
            let words = words(shares, &[more]);
            let (theirs, ours) = (lines(&fio(&lab, &words)), lines(&ours(&lab, &words)));
            assert!(!theirs.is_empty(), "{words:?}");
            assert_eq!(theirs, ours, "{words:?}");
        }
    }
}

#[test]
fn logs_and_counts_are_of_the_same_operations() {
    let lab = Lab::new();
    let more = [
        "--write_lat_log=a",
        "--log_prio=1",
        "--output-format=json",
        "--prio=2",
    ];
    let job = json(&ours(&lab, &words(SHARES[2], &more)));
    let log = lab.read("a_clat.1.log");
    let mut logged: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in log.lines() {
        let columns: Vec<&str> = line.split(", ").collect();
        let key = (columns[2].to_owned(), columns[4].to_owned());
        *logged.entry(key).or_default() += 1;
    }
    let mut counted = BTreeMap::new();
    for (number, direction) in ["read", "write"].into_iter().enumerate() {
        for (class, level, _, count) in told(&job, direction) {
            let priority = format!("{:#06x}", class << 13 | level);
            counted.insert((number.to_string(), priority), count);
        }
    }
    assert_eq!(logged, counted);
    assert_eq!(
        logged.len(),
        5,
        "three priorities of reads, two of writes: {logged:?}"
    );
}

const EPERM: i64 = 1;

/// Class 1 is root's alone: of anybody else the kernel refuses such an operation, and it can only
/// know of it from the operation itself.
#[test]
fn the_kernel_hears_of_each_operation() {
    if !stand::is_root("priorities that the kernel refuses") {
        return;
    }
    for engine in ["libaio", "io_uring"] {
        let lab = Lab::new();
        let file = lab.path().join("a.data");
        fs::write(&file, [0; 65536]).expect("written");
        for path in [lab.path(), &*file] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("allowed");
        }
        let engine = format!("--ioengine={engine}");
        let words = [
            "fio",
            "--no-save",
            "--name=a",
            &engine,
            "--rw=read",
            "--bs=4k",
            "--size=64k",
            "--filename=a.data",
            "--uid=65534",
            "--output-format=json",
        ];
        let error = |share: &str| {
            let run = lab.blocklab(words.iter().copied().chain([share]));
            let at = run.out.find('{').expect("JSON");
            json(&run.out[at..])["error"].as_i64()
        };
        assert_eq!(error("--cmdprio_percentage=0"), Some(0), "{engine}");
        assert_eq!(error("--cmdprio_percentage=100"), Some(EPERM), "{engine}");
    }
}

/// The native format has no key for them, and says so; a model counts them and says that it does not
/// order by them.
#[test]
fn they_are_counted_by_a_model_and_refused_by_the_native_format() {
    let lab = Lab::new();
    let job = "[a]\nioengine=libaio\nrw=randread\nfilename=sim:gp3:1GiB\nsize=16m\n\
               cmdprio_bssplit=4k/20/2/1:4k/30/1/0\n";
    lab.write("a.fio", job);
    let refused = lab.blocklab(["convert", "a.fio", "--to", "native"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let words = "priorities of single operations";
    assert!(refused.err.contains(words), "{}", refused.err);
    assert_eq!(refused.out, "");
    good(lab.blocklab(["fio", "a.fio"]));
    let record = lab.store().load("latest").expect("a run").record;
    let direction = &record.measurements[0].jobs[0].directions[&Direction::Read];
    let detail = direction.detail.as_ref().expect("details");
    let rows: Vec<(u8, u8)> = detail
        .by_priority
        .iter()
        .map(|row| (row.class, row.level))
        .collect();
    assert_eq!(rows, [(0, 0), (2, 1), (1, 0)]);
    let counts = detail.by_priority.iter().map(|row| row.service.count);
    assert_eq!(counts.sum::<u64>(), direction.ios);
    let mut notes = record.notes.iter();
    assert!(
        notes.any(|note| note.subject.starts_with("priorities of job")),
        "{:?}",
        record.notes
    );
}
