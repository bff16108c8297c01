//! `blocklab run` on real targets: what it moves, counts, keeps, says and leaves behind.

mod stand;

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use blocklab_proof::good;
use blocklab_record::{Origin, Status, TargetKind};
use blocklab_workload::Direction;
use serde_json::Value;
use stand::kernel::Mount;
use stand::{KIB, MIB, Stand, ios, skip, tool};

/// Two passes of reads and writes of 64 blocks each.
const TINY: &str = r#"
name = "tiny"
passes = 2
[defaults]
engine = "psync"
size = "1MiB"
stop_bytes = "256KiB"
[[case]]
name = "reads"
pattern = "random"
[[case]]
name = "writes"
pattern = "sequential"
mix = "write"
"#;

#[test]
fn a_directory_is_measured_kept_shown_and_left_as_it_was() {
    let stand = Stand::new();
    let table = good(stand.run(TINY, &["--target", stand.disk_text()]));
    for words in ["tiny", "complete", "reads read", "writes write", "IOPS"] {
        assert!(table.contains(words), "no {words} in {table}");
    }
    assert!(stand.left().is_empty(), "{:?}", stand.left());

    let record = stand.latest();
    stand::assert_sound(&record);
    let (status, origin) = (record.status, record.origin);
    assert_eq!((status, origin), (Status::Complete, Origin::Measured));
    assert_eq!(record.targets[0].kind, TargetKind::Scratch);
    let cases = record
        .measurements
        .iter()
        .map(|m| (m.case.as_str(), m.pass));
    let expected = [("reads", 1), ("writes", 1), ("reads", 2), ("writes", 2)];
    assert_eq!(cases.collect::<Vec<_>>(), expected);
    for job in record.jobs() {
        assert_eq!(ios(job, "read") + ios(job, "write"), 64, "{}", job.name);
    }

    let lab = &stand.lab;
    let shown = good(lab.blocklab(["show", "latest"]));
    assert!(table.starts_with(&shown), "{table}\n{shown}");
    let page = good(lab.blocklab(["report", "latest", "--html", "-"]));
    assert!(page.contains("<html") && page.contains(&record.id));
    let csv = good(lab.blocklab(["export", "latest", "--format", "csv"]));
    assert_eq!(csv.lines().count(), 1 + 4);
    let exported = good(lab.blocklab(["export", "latest", "--format", "json"]));
    let exported = blocklab_record::Record::from_json(&exported);
    assert_eq!(exported.expect("a record"), record);
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let stand = Stand::new();
    let ran = good(stand.run(TINY, &["--target", stand.disk_text(), "--json"]));
    let value: Value = serde_json::from_str(&ran).expect("one value");
    let rows = value["rows"].as_array().expect("rows");
    let rows: Vec<_> = rows.iter().map(|row| (&row["case"], &row["ios"])).collect();
    let expected = [("reads", 128), ("writes", 128)];
    let expected = expected.map(|(case, ios)| (Value::from(case), Value::from(ios)));
    assert_eq!(rows, expected.each_ref().map(|(case, ios)| (case, ios)));
}

/// Every way to move bytes that this machine offers, on what it can be aimed at.
#[test]
fn every_engine_and_access_reaches_every_kind_of_target() {
    let stand = Stand::new();
    let file = stand.file("content", &vec![7; MIB as usize]);
    let mut engines = vec!["sync", "psync", "pvsync2", "libaio", "mmap"];
    let tried = stand.run(&sweep(&["io_uring"], &["auto"]), &["--target", "/dev/zero"]);
    match tried.code {
        Some(0) => engines.push("io_uring"),
        _ => skip("io_uring", tried.err.trim()),
    }
    for target in ["null", &file, stand.disk_text(), "/dev/zero"] {
        let moved = every_case(&stand, &sweep(&engines, &["buffered", "auto"]), target);
        assert_eq!(moved, 4 * engines.len(), "{target}");
        // A mapping is always of the page cache.
        engines.retain(|engine| *engine != "mmap");
        let direct = sweep(&engines, &["direct"]);
        let tried = stand.run(&direct, &["--target", target]);
        if tried.code == Some(0) {
            assert_eq!(every_case(&stand, &direct, target), 2 * engines.len());
        } else {
            assert!(tried.err.contains("access = \"auto\""), "{}", tried.err);
            if target != "/dev/zero" {
                skip("direct access", tried.err.trim());
            }
        }
        engines.push("mmap");
    }
    assert_eq!(stand.left().len(), 1, "the user's file: {:?}", stand.left());
    assert!(fs::read(file).expect("the file") == vec![7; MIB as usize]);
}

fn sweep(engines: &[&str], accesses: &[&str]) -> String {
    format!(
        r#"
        name = "sweep"
        [defaults]
        size = "1MiB"
        stop_bytes = "128KiB"
        [matrix]
        engine = {engines:?}
        access = {accesses:?}
        [[case]]
        name = "random"
        pattern = "random"
        [[case]]
        name = "sequential"
        pattern = "sequential"
        "#
    )
}

/// Runs a study of reads. Every case moves 32 blocks without a failure, by the engine it asks
/// for. Gives the number of cases.
fn every_case(stand: &Stand, study: &str, target: &str) -> usize {
    let record = stand.record(study, &["--target", target]);
    for measurement in &record.measurements {
        let job = &measurement.jobs[0];
        let moved = (ios(job, "read"), job.accounting.failed);
        assert_eq!(moved, (32, 0), "{target} {}", job.name);
        let (_, wanted) = &measurement.settings[0];
        let used = if target == "null" { "null" } else { wanted };
        assert_eq!(job.engine.to_string(), used, "{target} {}", job.name);
        let (_, access) = &measurement.settings[1];
        let direct = job.direct.expect("known of our own runs");
        assert!(direct || access != "direct" || target == "null");
        assert!(!direct || access != "buffered", "{target} {}", job.name);
    }
    record.measurements.len()
}

/// Three files in turn, each block once: all of them are full afterwards.
#[test]
fn a_job_goes_over_several_targets() {
    let stand = Stand::new();
    let files = ["a", "b", "c"].map(|name| stand.hole(name, 64 * KIB));
    for order in ["round-robin", "per-thread"] {
        let study = format!(
            r#"
            name = "several"
            [[case]]
            name = "fill"
            engine = "psync"
            mix = "write"
            pattern = "random-once"
            loops = 1
            threads = 3
            spread = "same"
            target_order = "{order}"
            targets = {files:?}
            "#
        );
        let given_up: Vec<_> = files
            .iter()
            .map(|f| format!("--destroy-data={f}"))
            .collect();
        let args: Vec<&str> = given_up.iter().map(String::as_str).collect();
        let record = stand.record(&study, &args);
        assert_eq!(record.targets.len(), 3, "{order}");
        // In turn, every thread goes over all files; else each has its own.
        let expected = if order == "per-thread" { 48 } else { 3 * 48 };
        let writes: u64 = record.jobs().map(|job| ios(job, "write")).sum();
        assert_eq!(writes, expected, "{order}");
        for file in &files {
            let bytes = fs::read(file).expect("the file");
            let untouched = bytes.chunks(4096).filter(|block| **block == [0; 4096]);
            assert_eq!(untouched.count(), 0, "{order} {file}");
            fs::write(file, vec![0; bytes.len()]).expect("written");
        }
    }
}

#[test]
fn a_matrix_makes_every_combination_and_distinguishes_them() {
    let stand = Stand::new();
    let study = r#"
        name = "sweep"
        [defaults]
        engine = "null"
        stop_bytes = "64KiB"
        [matrix]
        depth = [1, 8]
        block_size = ["4KiB", "16KiB"]
        [[case]]
        name = "c"
    "#;
    let record = stand.record(study, &["--target", "null"]);
    let settings = record.measurements.iter().map(|m| m.settings.clone());
    let pair = |depth: &str, size: &str| {
        let pairs = [("depth", depth), ("block_size", size)];
        pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec()
    };
    let expected = [("1", "4KiB"), ("1", "16KiB"), ("8", "4KiB"), ("8", "16KiB")];
    let expected = expected.map(|(depth, size)| pair(depth, size));
    assert_eq!(settings.collect::<Vec<_>>(), expected);
    let counts: Vec<u64> = record.jobs().map(|job| ios(job, "read")).collect();
    assert_eq!(counts, [16, 4, 16, 4]);
    assert_eq!(record.jobs().map(|job| job.depth).max(), Some(8));
}

/// Arrivals do not wait for the target, so the schedule is a floor for the time, and the response
/// counts from it.
#[test]
fn arrivals_at_a_rate_have_a_response_latency() {
    let stand = Stand::new();
    for arrivals in ["fixed", "poisson"] {
        let study = format!(
            r#"
            name = "rate"
            [[case]]
            name = "c"
            engine = "null"
            rate_iops = 2000
            arrivals = "{arrivals}"
            stop_bytes = "1600KiB"
            depth = 4
            "#
        );
        let record = stand.record(&study, &["--target", "null", "--seed", "1"]);
        let job = record.jobs().next().expect("a job");
        let reads = &job.directions[&Direction::Read];
        let response = reads.response.as_ref().expect("a response latency");
        assert_eq!((reads.ios, response.count), (400, 400), "{arrivals}");
        assert!(response.mean_ns >= reads.service.mean_ns, "{arrivals}");
        assert!(response.max_ns >= reads.service.max_ns, "{arrivals}");
        assert_eq!(job.requested_iops, Some(2000.0));
        // 400 arrivals at 2000 a second; at random distances within five standard deviations.
        assert!(
            job.elapsed_ns >= 150_000_000,
            "{arrivals}: {}",
            job.elapsed_ns
        );
    }
}

#[test]
fn a_closed_loop_at_a_rate_is_held_back() {
    let stand = Stand::new();
    let study = r#"
        name = "rate"
        [[case]]
        name = "c"
        engine = "null"
        rate_bytes = "4MiB"
        stop_bytes = "1MiB"
    "#;
    let record = stand.record(study, &["--target", "null"]);
    let job = record.jobs().next().expect("a job");
    assert_eq!((job.pace.name(), ios(job, "read")), ("capped", 256));
    assert_eq!(job.requested_bytes_per_s, Some(4.0 * MIB as f64));
    assert!(job.elapsed_ns >= 240_000_000, "{}", job.elapsed_ns);
}

/// As many threads as for large hosts, and as many jobs.
#[test]
fn a_hundred_and_twenty_eight_jobs_lose_nothing() {
    let stand = Stand::new();
    let threads = r#"
        name = "threads"
        [[case]]
        name = "all"
        engine = "psync"
        mix = { read = 70, write = 30 }
        size = "1MiB"
        threads = 128
        stop_bytes = "64KiB"
    "#;
    let jobs_of_one: String = (0..128)
        .map(|n| format!("[[case.job]]\nname = \"j{n}\"\n"))
        .collect();
    let separate = format!(
        "name = \"jobs\"\n[defaults]\nengine = \"psync\"\nsize = \"1MiB\"\n\
         stop_bytes = \"64KiB\"\n[[case]]\nname = \"all\"\n{jobs_of_one}"
    );
    for study in [threads, &separate] {
        let record = stand.record(study, &["--target", stand.disk_text()]);
        let total: u64 = record.jobs().map(|job| job.accounting.completed).sum();
        assert_eq!(total, 128 * 16);
        let issued: u64 = record.jobs().map(|job| job.accounting.issued).sum();
        assert_eq!(issued, total);
    }
    assert!(stand.left().is_empty());
}

#[test]
fn a_mistake_in_a_study_is_shown_where_it_stands() {
    let stand = Stand::new();
    for (study, words) in [
        (
            "[[case]]\nname = \"a\"\nblok_size = \"4KiB\"\n",
            &["study.toml:3:1", "blok_size", "did you mean `block_size`"][..],
        ),
        (
            "[[case]]\nname = \"a\"\nblock_size = \"4kk\"\n",
            &["study.toml:3:14", "4kk", "64KiB"],
        ),
        ("[[case]\n", &["study.toml:1:"]),
        (
            "[[case]]\nname = \"a\"\nengine = \"uring\"\n",
            &["study.toml:3:10", "io_uring"],
        ),
        (
            "[[case]]\nname = \"a\"\nmix = { read = 50, write = 40 }\n",
            &["study.toml:3:", "100"],
        ),
        (
            "[[case]]\nname = \"a\"\n[[case]]\nname = \"a\"\n",
            &["study.toml:4:"],
        ),
        ("passes = 3\n", &["study.toml", "case"]),
    ] {
        stand.refused(study, &["--target", "null"], words);
        stand.refused(study, &["--target", stand.disk_text()], words);
    }
}

#[test]
fn only_reads_are_left_of_a_read_only_run() {
    let stand = Stand::new();
    let file = stand.file("mine", &vec![7; MIB as usize]);
    let record = stand.record(TINY, &["--target", &file, "--read-only"]);
    let cases: BTreeSet<_> = record.measurements.iter().map(|m| m.case.clone()).collect();
    assert_eq!(cases, BTreeSet::from(["reads".to_owned()]));
    assert!(record.jobs().all(|job| ios(job, "write") == 0));
    assert!(fs::read(&file).expect("the file") == vec![7; MIB as usize]);

    let stand = Stand::new();
    let writes = "name = \"w\"\n[[case]]\nname = \"a\"\nmix = \"write\"\n";
    let target = stand.disk_text();
    let words = ["`w`", "read-only", "nothing is left"];
    stand.refused(writes, &["--target", target, "--read-only"], &words);
}

#[test]
fn a_study_may_come_through_a_pipe() {
    let stand = Stand::new();
    let mut command = stand.lab.command();
    command.args(["run", "-", "--quiet", "--target", stand.disk_text()]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(TINY.as_bytes()).expect("taken");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stand.latest().requested.name, "tiny");
}

#[test]
fn the_example_is_a_study_that_runs() {
    let stand = Stand::new();
    let example = good(stand.lab.blocklab(["run", "--example"]));
    let short = ["--runtime", "1ms", "--repeat", "1", "--target", "null"];
    let record = stand.record(&example, &short);
    assert_eq!(record.requested.name, "example");
    assert!(record.measurements.len() > 5);
    let built_in = good(stand.lab.blocklab(["run", "--example", "im4gn"]));
    assert!(built_in.contains("\nname = \"im4gn\"\n"), "{built_in}");
    stand
        .lab
        .refused(["run", "--example", "im5"], &["r5d-vs-gp3"]);
}

#[test]
fn what_is_no_target_is_reported() {
    let stand = Stand::new();
    let fifo = stand.disk().join("pipe");
    let fifo = stand::text(&fifo);
    let empty = stand.file("empty", b"");
    for (target, words) in [
        ("no/such/thing", &["no/such/thing", "is ., on"][..]),
        (&empty, &[&empty, "is empty"]),
        ("sim:gp9:1TiB", &["sim:gp9:1TiB", "no volume type gp9"]),
        ("sim:", &["an address is missing"]),
        ("gp3:1TiB", &["sim:gp3:1TiB simulates the volume"]),
    ] {
        stand.refused(TINY, &["--target", target], words);
    }
    if tool("mkfifo", &[fifo]).is_some() {
        stand.refused(TINY, &["--target", fifo], &[fifo, "pipe"]);
    }
    let ran = stand
        .lab
        .blocklab(["run", "no-such-study", "--target", "null"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no-such-study") && ran.err.contains("quick"));
}

/// `--target /mnt/dta`, mistyped or not mounted, once made a file on the disk below and measured
/// that, without a word. Asked for by --create, the file is made, and gone after the run.
#[test]
fn a_target_that_does_not_exist_is_made_only_when_requested() {
    let stand = Stand::new();
    let new = stand.disk().join("new");
    let target = ["--target", stand::text(&new)];
    let words = ["does not exist", stand.disk_text(), " on ", "--create"];
    stand.refused(TINY, &target, &words);
    stand
        .lab
        .refused(["cdm", target[0], target[1]], &["--create"]);
    let record = stand.record(TINY, &[&target[..], &["--create"]].concat());
    assert_eq!(record.targets[0].kind, TargetKind::Scratch);
    assert!(stand.left().is_empty());
}

/// Without rights the run reports that, and leaves nothing. Root has all rights, but writes to no
/// file system that is read-only.
#[test]
fn a_directory_that_may_not_be_written_to_is_reported() {
    let stand = Stand::new();
    let folder = stand.disk().join("closed");
    fs::create_dir(&folder).expect("a folder");
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).expect("mine");
    let folder = stand::text(&folder);
    if fs::write(format!("{folder}/probe"), "").is_err() {
        return stand.refused(TINY, &["--target", folder], &[folder, "Permission denied"]);
    }
    let Some(mount) = Mount::memory("8m") else {
        return;
    };
    let point = stand::text(mount.path());
    if tool("mount", &["-o", "remount,ro", point]).is_some() {
        stand.refused(
            TINY,
            &["--target", point],
            &[point, "Read-only file system"],
        );
    }
}
