//! fio's JSON, shortened, and what comes out of it.

use blocklab_record::{Statistic, Status};
use blocklab_units::Bytes;
use blocklab_workload::{BlockSizes, Direction, Mix, Pattern};

use crate::tests::{near, read, source};
use crate::{Tool, import};

#[test]
fn old_fio_counts_in_microseconds_and_kib() {
    let text = r#"fio: some warning
{
  "fio version" : "fio-2.1.5",
  "jobs" : [ {
    "jobname" : "a", "groupid" : 0, "error" : 0,
    "read" : { "io_bytes" : 4000, "bw" : 400, "iops" : 100.0, "runtime" : 10000,
      "total_ios" : 1000,
      "clat" : { "min" : 10, "max" : 900, "mean" : 100.0, "stddev" : 5.0,
        "percentile" : { "50.000000" : 99, "99.000000" : 200, "0.00" : 0 } } },
    "write" : { "io_bytes" : 0, "runtime" : 0, "total_ios" : 0 }
  } ]
}
"#;
    let record = read(Tool::Fio, text);
    let job = &record.measurements[0].jobs[0];
    assert_eq!(record.measurements[0].case, "a");
    near(job.iops(), 100.0);
    near(job.bytes_per_s(), 409_600.0);
    let service = &job.directions[&Direction::Read].service;
    near(service.mean_ns, 100_000.0);
    near(service.p50_ns as f64, 99_000.0);
    near(service.p99_ns as f64, 200_000.0);
    // The story: such a result, of a job at depth 32, was shown as 4 KiB sequential reads
    // by psync, one in flight, and a finding doubted its latencies for that.
    assert_eq!(
        (
            &*job.engine.to_string(),
            &*job.pattern_name(),
            &*job.block_size_name()
        ),
        ("fio", "unknown", "unknown")
    );
    assert_eq!((job.depth, job.effective_depth, job.threads), (0, 0, 0));
    assert_eq!((job.direct, &*job.mix_name()), (None, "read"));
}

/// The story: without percentiles (`clat_percentiles=0`), each operation was counted at the maximum, and
/// the chart of latencies showed all of them there.
#[test]
fn a_maximum_alone_is_no_distribution() {
    let text = r#"{ "fio version" : "fio-3.33", "jobs" : [ {
  "jobname" : "a", "job options" : { "rw" : "randread", "clat_percentiles" : "0" },
  "read" : { "io_bytes" : 4096000, "bw_bytes" : 409600, "runtime" : 10000, "total_ios" : 1000,
    "clat_ns" : { "min" : 50000, "max" : 90000000, "mean" : 100000.0, "stddev" : 5.0, "N" : 1000 } } } ] }"#;
    let record = read(Tool::Fio, text);
    let service = &record.measurements[0].jobs[0].directions[&Direction::Read].service;
    assert_eq!(service.histogram().expect("readable").count(), 0);
    assert_eq!((service.count, service.max_ns), (1000, 90_000_000));
    let terse = read(
        Tool::Fio,
        &crate::fio::terse_tests::terse("a", 4000, 100, 10_000),
    );
    let service = &terse.measurements[0].jobs[0].directions[&Direction::Read].service;
    assert_eq!(service.histogram().expect("readable").count(), 0);
}

/// The story: fio ended a job with an error, and its run was complete, without a failure. A job whose first
/// write failed, of which fio counts the operation and no byte, made the whole result unreadable.
#[test]
fn a_job_that_an_error_ended_is_of_a_failed_run() {
    let job = |name: &str, error: u32, write: &str| {
        format!(r#"{{ "jobname" : "{name}", "error" : {error}, "write" : {{ {write} }} }}"#)
    };
    let sound = job(
        "a",
        0,
        r#""io_bytes" : 4096000, "bw_bytes" : 409600, "runtime" : 10000, "total_ios" : 1000"#,
    );
    let full = job(
        "b",
        28,
        r#""io_bytes" : 0, "bw_bytes" : 0, "iops" : 0.0, "runtime" : 0, "total_ios" : 1"#,
    );
    let record = read(
        Tool::Fio,
        &format!(r#"{{ "fio version" : "fio-3.33", "jobs" : [ {sound}, {full} ] }}"#),
    );
    assert_eq!(record.status, Status::Failed);
    assert_eq!(record.failure.as_deref(), Some("job b ended early: ENOSPC"));
    let jobs: Vec<(&str, u64)> = record
        .measurements
        .iter()
        .flat_map(|measurement| &measurement.jobs)
        .map(|job| (job.name.as_str(), job.accounting.failed))
        .collect();
    assert_eq!(jobs, [("a", 0), ("b", 1)]);
}

/// The story: the sum of counts that no run has was too large for a number, and the command panicked.
#[test]
fn a_count_of_errors_that_cannot_be_is_refused() {
    let text = r#"{ "fio version" : "fio-3.33", "jobs" : [ {
  "jobname" : "a", "total_err" : 18446744073709551615,
  "read" : { "io_bytes" : 4096000, "bw_bytes" : 409600, "runtime" : 10000, "total_ios" : 1000 } } ] }"#;
    let error = import(Tool::Fio, &[source("it", text)]).expect_err("no such count");
    assert!(
        error.to_string().contains("18446744073709551615 errors"),
        "{error}"
    );
}

/// The story: counts in the buckets of json+ that no run has overflowed when the report added them up, and
/// the command panicked.
#[test]
fn counts_of_buckets_that_cannot_be_are_refused() {
    let bins = "\"bins\": {\"10\": 1e19, \"20\": 1e19}, \"percentile\"";
    let text = document(&[entry("", &SIDE.replace("\"percentile\"", bins))]);
    let error = import(Tool::Fio, &[source("it", &text)]).expect_err("no such count");
    assert!(error.to_string().contains("in a histogram"), "{error}");
}

/// The story: a job under `gtod_reduce` measures no latency, and fio prints zeros of it. They were
/// exported as a latency of 0 ns, and a finding took them for time between operations.
#[test]
fn zeros_of_no_sample_are_no_latency() {
    let text = r#"{ "fio version" : "fio-3.33", "jobs" : [ {
  "jobname" : "a", "job options" : { "rw" : "randread", "gtod_reduce" : "1" },
  "read" : { "io_bytes" : 4096000, "bw_bytes" : 409600, "runtime" : 10000, "total_ios" : 1000,
    "clat_ns" : { "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0 },
    "lat_ns" : { "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0 } } } ] }"#;
    let record = read(Tool::Fio, text);
    let service = &record.measurements[0].jobs[0].directions[&Direction::Read].service;
    for of in [Statistic::Mean, Statistic::Min, Statistic::Max] {
        assert!(service.unknown.has(of), "{of:?}");
    }
}

/// One entry of fio's JSON: job options and what moved.
pub(crate) fn entry(options: &str, sides: &str) -> String {
    format!("{{\"jobname\": \"g\", \"groupid\": 0, \"job options\": {{{options}}}, {sides}}}")
}

pub(crate) fn document(entries: &[String]) -> String {
    let entries = entries.join(",\n");
    format!("{{\n\"fio version\": \"fio-3.33\", \"jobs\": [{entries}]}}\n")
}

pub(crate) const SIDE: &str = r#""read": {"io_bytes": 40960000, "io_kbytes": 40000, "bw_bytes": 4096000, "bw": 4000,
  "iops": 1000.0, "runtime": 10000, "total_ios": 10000,
  "clat_ns": {"min": 10000, "max": 900000, "mean": 100000.0, "stddev": 5.0, "N": 10000,
  "percentile": {"50.000000": 90000, "99.000000": 200000}}}"#;

pub(crate) const GROUPED: &str =
    r#""rw": "randread", "ioengine": "libaio", "iodepth": "16", "numjobs": "8""#;

/// The story: fio writes an option that was given without a value into no result, so every file of
/// `numjobs=8 --group_reporting` was judged as one thread's, 695 % above its depth.
#[test]
fn one_entry_of_many_clones_is_about_all_of_them() {
    let one = entry(GROUPED, SIDE);
    let job = |text: &str| read(Tool::Fio, text).measurements[0].jobs[0].clone();
    let grouped = job(&document(std::slice::from_ref(&one)));
    assert_eq!((grouped.threads, grouped.depth), (8, 16));
    // Eight entries are eight threads.
    let clones: Vec<String> = (0..8)
        .map(|n| one.replace("100000.0", &format!("10000{n}.0")))
        .collect();
    let all = read(Tool::Fio, &document(&clones));
    let jobs = &all.measurements[0].jobs;
    assert!(jobs.len() == 8 && jobs.iter().all(|job| job.threads == 1));
    // Sixteen threads' time in an entry that names eight: another section is in it, too.
    let merged = one.replace("\"groupid\"", "\"job_runtime\": 160000, \"groupid\"");
    let merged = job(&document(&[merged]));
    assert_eq!((merged.threads, merged.depth, merged.pattern), (0, 0, None));
    let whole = one.replace("\"groupid\"", "\"job_runtime\": 80000, \"groupid\"");
    assert_eq!(job(&document(&[whole])).threads, 8);
}

/// The story: `rwmixwrite=30` came out as a mix of 50 %, `buffered=0` as buffered access, and four threads
/// with `rate_iops=1k` as a load without a rate. With `verify`, a section that only reads lent its options
/// to the writes of another one.
#[test]
fn what_was_requested_is_read_as_fio_reads_it() {
    let options = r#""rw": "randrw", "rwmixwrite": "30", "buffered": "0", "rate_iops": "1k,500",
        "numjobs": "4""#;
    let sides = format!("{SIDE}, {}", SIDE.replace("\"read\"", "\"write\""));
    let record = read(Tool::Fio, &document(&[entry(options, &sides)]));
    let job = &record.measurements[0].jobs[0];
    assert_eq!(job.mix, Some(Mix::reads(70)));
    assert_eq!((job.direct, job.threads), (Some(true), 4));
    assert_eq!(job.requested_iops, Some(4.0 * (1024.0 + 500.0)));
    let merged = entry(r#""rw": "read", "verify": "md5""#, &sides);
    let record = read(Tool::Fio, &document(&[merged]));
    assert_eq!(record.measurements[0].jobs[0].threads, 0);
}

/// The story: a job of `kb_base=1000` with `rate=4m` moved its 4.0 MB/s, and a finding said that of
/// the requested 4.2 MB/s only 4.0 were delivered; its blocks of 4,000 bytes were 4,096, as those of
/// `bs=4KiB` were, which fio takes for 4,000 bytes by default.
#[test]
fn units_are_those_of_kb_base() {
    for (base, size, bytes, rate) in [
        ("1000", "4k", 4_000, 4e6),
        // On a command line, before `kb_base`.
        ("1000", "4k", 4_096, 4e6),
        ("1000", "4KiB", 4_096, 4e6),
        ("1024", "4k", 4_096, 4_194_304.0),
        ("1024", "4KiB", 4_000, 4_194_304.0),
    ] {
        let options = format!(
            "\"rw\": \"randread\", \"kb_base\": \"{base}\", \"bs\": \"{size}\", \"rate\": \"4m\""
        );
        let side = SIDE
            .replace("40960000", &(bytes * 10_000).to_string())
            .replace("4096000,", &format!("{},", bytes * 1000));
        let record = read(Tool::Fio, &document(&[entry(&options, &side)]));
        let job = &record.measurements[0].jobs[0];
        assert_eq!(job.block_sizes, Some(BlockSizes::fixed(Bytes(bytes))));
        assert_eq!(job.requested_bytes_per_s, Some(rate));
    }
    let sizes = entry(r#""rw": "randread", "bs": "4k,8k""#, SIDE);
    let record = read(Tool::Fio, &document(&[sizes]));
    assert_eq!(record.measurements[0].jobs[0].block_sizes, None);
}

/// The story: a job of `percentage_random=30` was shown as random, and one of `thinktime=0` as one that
/// pauses between its operations.
#[test]
fn a_share_of_random_operations_and_no_pause_are_read() {
    let job = |options: &str| {
        let text = document(&[entry(options, SIDE)]);
        read(Tool::Fio, &text).measurements[0].jobs[0].clone()
    };
    let mixed = job(r#""rw": "randread", "percentage_random": "30", "thinktime": "0""#);
    assert_eq!(mixed.pattern, Some(Pattern::PercentRandom(30)));
    assert!(!mixed.think);
    let shares = job(r#""rw": "randread", "percentage_random": "30,50""#);
    assert_eq!(shares.pattern, None);
}

/// The story: a job with `directory=/data` and `filename=f` had `f` for its target.
#[test]
fn a_file_is_in_its_directory() {
    let options = r#""directory": "/data/", "filename": "f""#;
    let record = read(Tool::Fio, &document(&[entry(options, SIDE)]));
    assert_eq!(record.targets[0].path, "/data/f");
}

/// The story: a run was shown as started when it had ended.
#[test]
fn a_run_started_before_its_output() {
    let stamp = "\"timestamp\": 1795909312, \"jobs\"";
    let text = document(&[entry("", SIDE)]).replace("\"jobs\"", stamp);
    assert_eq!(read(Tool::Fio, &text).started_at, "2026-11-28T23:41:42Z");
}

/// The story: a job that failed before its first operation lasted 60 s, and so did the case of the others,
/// which had run for ten.
#[test]
fn a_job_that_did_nothing_took_no_time() {
    let nothing =
        r#""read": {"io_bytes": 0, "bw_bytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}"#;
    let failed = entry("", nothing).replace("\"g\"", "\"b\", \"error\": 1");
    let record = read(Tool::Fio, &document(&[entry("", SIDE), failed]));
    assert_eq!(record.measurements[0].elapsed_ns, 10_000_000_000);
    assert_eq!(record.measurements[0].jobs.len(), 2);
}

/// The story: `unified_rw_reporting`, results without `total_ios`, and flushes came out as "nothing
/// was measured" or not at all, with exit code 0.
#[test]
fn what_has_another_key_is_read_all_the_same() {
    let options = r#""rw": "randrw", "rwmixread": "75""#;
    let mixed = document(&[entry(options, &SIDE.replace("\"read\"", "\"mixed\""))]);
    let record = read(Tool::Fio, &mixed);
    let job = &record.measurements[0].jobs[0];
    near(job.iops(), 1000.0);
    let ios = |job: &blocklab_record::JobResult, way| job.directions[&way].ios;
    let (reads, writes) = (ios(job, Direction::Read), ios(job, Direction::Write));
    assert_eq!((reads, writes), (7500, 2500));
    assert!(
        record
            .notes
            .iter()
            .any(|note| note.text.contains("unified_rw_reporting"))
    );

    let old = SIDE.replace("\"total_ios\": 10000,", "");
    let job = &read(Tool::Fio, &document(&[entry("", &old)])).measurements[0].jobs[0];
    assert_eq!(ios(job, Direction::Read), 10_000);

    let sync = r#", "sync": {"total_ios": 0, "lat_ns": {"min": 1, "max": 9000000, "mean": 5e6,
      "stddev": 1.0, "N": 400, "percentile": {"99.000000": 8600000}}}"#;
    let text = document(&[entry("", &format!("{SIDE}{sync}"))]);
    let job = &read(Tool::Fio, &text).measurements[0].jobs[0];
    let sync = &job.directions[&Direction::Sync];
    assert_eq!(sync.ios, 400);
    near(sync.service.p99_ns as f64, 8.6e6);
    near(job.iops(), 1000.0);

    let clat = "\"clat_ns\": {\"min\": 1, \"max\": 9, \"mean\": 5.0, \"N\": 10000}, \"lat_ns\"";
    let lat = SIDE.replace("\"clat_ns\"", clat);
    let job = &read(Tool::Fio, &document(&[entry("", &lat)])).measurements[0].jobs[0];
    let service = &job.directions[&Direction::Read].service;
    near(service.p99_ns as f64, 200_000.0);
    near(service.mean_ns, 100_000.0);

    let sum = document(&[entry("", SIDE).replace("\"g\"", "\"All clients\"")]);
    near(read(Tool::Fio, &sum).measurements[0].jobs[0].iops(), 1000.0);
}

/// The story: without `runtime`, 266 million operations a second were shown where the file says
/// 132,742; without `io_bytes`, 0 MB/s.
#[test]
fn each_key_may_lack_and_no_figure_changes() {
    let fields = [
        "\"io_bytes\": 40960000, \"io_kbytes\": 40000,",
        "\"io_bytes\": 40960000,",
        "\"bw_bytes\": 4096000,",
        "\"bw\": 4000,",
        "\"runtime\": 10000,",
        "\"total_ios\": 10000,",
        "\"iops\": 1000.0,",
    ];
    // The lack of any two of them.
    for first in fields {
        for second in fields {
            let side = SIDE.replace('\n', "").replace("  ", " ");
            let side = side.replace(first, "").replace(second, "");
            let text = document(&[entry("", &side)]);
            match import(Tool::Fio, &[source("it", &text)]) {
                Ok(runs) => {
                    let job = &runs[0].measurements[0].jobs[0];
                    near(job.iops(), 1000.0);
                    near(job.bytes_per_s(), 4_096_000.0);
                }
                Err(error) => assert!(error.to_string().contains("neither"), "{error}"),
            }
        }
    }
    let rates = r#""read": {"iops": 250.4, "bw": 1000}"#;
    let job = &read(Tool::Fio, &document(&[entry("", rates)])).measurements[0].jobs[0];
    near(job.iops(), 250.4);
    near(job.bytes_per_s(), 1_024_000.0);
    // Another unit of a time is a contradiction, and nothing that could be shown.
    for (from, to, words) in [
        (
            "\"runtime\": 10000",
            "\"runtime\": 10",
            "contradicts itself",
        ),
        ("\"iops\": 1000.0", "\"iops\": 1.0", "contradicts itself"),
        (
            "\"bw_bytes\": 4096000",
            "\"bw_bytes\": 4096",
            "`bw_bytes` says 4096",
        ),
        ("\"read\"", "\"reads\"", "none of `read`"),
    ] {
        let text = document(&[entry("", &SIDE.replace(from, to))]);
        let error = import(Tool::Fio, &[source("it", &text)]).expect_err(to);
        assert!(error.to_string().contains(words), "{error}");
    }
    let one = entry("", SIDE);
    let error = import(Tool::Fio, &[source("it", &document(&[one.clone(), one]))]);
    assert!(error.expect_err("doubled").to_string().contains("twice"));
}

/// The story: of results that a script had appended to one file or put into an array, all but the
/// last were dropped without a word.
#[test]
fn each_document_of_a_file_is_a_run_or_a_pass() {
    let reads = document(&[entry(GROUPED, SIDE)]);
    let writes = reads
        .replace("randread", "randwrite")
        .replace("\"read\"", "\"write\"");
    let again = reads.replace("\"mean\": 100000.0", "\"mean\": 90000.0");
    for text in [
        format!("fio: a warning\n{reads}{writes}{again}"),
        format!("[{reads},{writes},{again}]"),
        format!("[{reads},{writes},{again}]").replace('\n', " "),
    ] {
        let runs = import(Tool::Fio, &[source("it", &text)]).expect(&text);
        let passes: Vec<usize> = runs.iter().map(|run| run.measurements.len()).collect();
        assert_eq!(passes, [2, 1], "{text}");
        assert_eq!(runs[0].requested.passes, 2);
    }
    // Printed every five seconds, of which the last counts.
    let half = reads
        .replace(
            "\"io_bytes\": 40960000, \"io_kbytes\": 40000",
            "\"io_bytes\": 20480000",
        )
        .replace(
            "\"runtime\": 10000, \"total_ios\": 10000",
            "\"runtime\": 5000, \"total_ios\": 5000",
        );
    let record = read(Tool::Fio, &format!("{half}{reads}"));
    assert_eq!(record.measurements.len(), 1);
    assert_eq!(
        record.measurements[0].jobs[0].directions[&Direction::Read].ios,
        10_000
    );
}
