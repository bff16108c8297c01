//! fio's normal text, shortened, and what comes out of it.

use blocklab_workload::Direction;

use super::json_tests::{SIDE, document, entry};
use crate::tests::{near, read, reads, source};
use crate::{Tool, import};

pub(crate) const TEXT_3: &str = "\
g: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16
...
fio-3.33
Starting 4 processes

g: (groupid=0, jobs=4): err= 0: pid=9029: Wed Nov 25 19:51:48 2026
  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(391MiB/10001msec)
    slat (usec): min=1, max=3, avg= 2.00, stdev= 0.10
    clat (usec): min=50, max=1993.5k, avg=714.03, stdev=1424.65
     lat (usec): min=52, max=1993.5k, avg=716.03, stdev=1424.65
    clat percentiles (usec):
     |  1.00th=[   60], 50.00th=[  500], 99.00th=[ 4146],
     | 99.99th=[ 9765]
   bw (  KiB/s): min=  433, max=  624, per=97.11%, avg=503.67, stdev=104.74, samples=3
  write: IOPS=2500, BW=9.77MiB/s (10.2MB/s)(97.7MiB/10001msec); 0 zone resets
    clat (nsec): min=500, max=9000, avg=800.00, stdev= 1.00
  lat (usec)   : 4=5.71%, 10=15.60%
  fsync/fdatasync/sync_file_range:
    sync (msec): min=1, max=17, avg= 3.62, stdev= 2.85
    sync percentiles (usec):
     | 50.00th=[ 3785], 99.00th=[12387]
  cpu          : usr=0.00%, sys=2.89%, ctx=1513, majf=0, minf=17
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=109.6%, 32=0.0%, >=64=0.0%
     issued rwts: total=100100,25020,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=39.1MiB/s (41.0MB/s), 39.1MiB/s-39.1MiB/s (41.0MB/s-41.0MB/s), io=391MiB
";

pub(crate) const TEXT_2: &str = "\
a: (g=0): rw=read, bs=64K-64K/64K-64K/64K-64K, ioengine=sync, iodepth=32
fio-2.1.3
Starting 1 process

a: (groupid=0, jobs=1): err= 0: pid=7491: Wed Mar  3 19:50:22 2016
  read : io=640.0MB, bw=65536KB/s, iops=1024, runt= 10000msec
    clat (usec): min=22 , max=9955 , avg=93.13, stdev=21.16
    clat percentiles (usec):
     |  1.00th=[   86], 99.00th=[  100]
     issued    : total=r=10240/w=0/d=0, short=r=0/w=0/d=0
";

/// The story: bandwidths in bits (`unit_base=1`) were taken for bytes, and a run that moved 2.0 MB/s moved
/// 17 MB/s.
#[test]
fn bandwidths_in_bits_are_eighths_of_bytes() {
    let text = TEXT_3
        .replace("BW=39.1MiB/s (41.0MB/s)", "BW=312Mibit/s (328Mbit/s)")
        .replace("BW=9.77MiB/s (10.2MB/s)", "BW=78.2Mibit/s (81.9Mbit/s)");
    let record = read(Tool::Fio, &text);
    near(record.measurements[0].jobs[0].bytes_per_s(), 51.2e6);
}

/// The story: the results of a job called `g: (g=0) x` were taken for requests. Nothing was imported, nothing
/// was reported, and the exit code was 0.
#[test]
fn a_job_may_be_called_as_a_request_begins() {
    let text = TEXT_3.replace("\ng: (", "\ng: (g=0) x: (");
    let text = text.replacen("g: (g=0)", "g: (g=0) x: (g=0)", 1);
    let job = &read(Tool::Fio, &text).measurements[0].jobs[0];
    assert_eq!((&*job.name, job.depth), ("g: (g=0) x", 16));
}

/// The story: a text of `unified_rw_reporting=both` was refused, because its line of all directions together
/// says 0 IOPS.
#[test]
fn directions_count_where_they_are_printed_both_ways() {
    let mixed = "  mixed: IOPS=0, BW=0 (0)(0B/10001msec)\n  cpu ";
    let text = TEXT_3.replace("  cpu ", mixed);
    near(
        read(Tool::Fio, &text).measurements[0].jobs[0].iops(),
        12_510.7,
    );
}

/// The story: next to a job that failed before its first operation, and that fio's text leaves out, another one
/// had no depth and no pattern, and a file with the JSON of the same run was refused.
#[test]
fn a_job_that_failed_leaves_the_others_as_they_are() {
    let request = "b: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\n";
    let text = TEXT_3.replace("jobs=4", "jobs=1");
    let text = format!("{request}{text}");
    let job = &read(Tool::Fio, &text).measurements[0].jobs[0];
    assert_eq!((job.threads, job.depth), (1, 16));
    let failed = r#""read": {"io_bytes": 0, "runtime": 0, "total_ios": 0}"#;
    let failed = entry("", failed).replace("\"g\"", "\"b\", \"error\": 1");
    let json = document(&[entry("", SIDE), failed]);
    let record = read(Tool::Fio, &format!("{json}{text}"));
    assert_eq!(record.measurements[0].jobs.len(), 2);
}

/// The story: of two jobs in a group that is reported in one block, one has the name of a job of the next
/// group. It was taken for one with a block of its own, and the sum of both had the depth of the other.
#[test]
fn a_name_of_another_group_is_no_block_of_this_one() {
    let (request, _) = TEXT_3.split_once("\n...").expect("a request");
    let named = |group| request.replace("g: (g=0)", &format!("h: (g={group})"));
    let requests = format!("{}\n{}\n", named(0), named(1));
    let (_, result) = TEXT_3.split_once("\n\n").expect("a gap");
    let (block, _) = result.split_once("\n\n").expect("a gap");
    let next = block
        .replace("g: (groupid=0", "h: (groupid=1")
        .replace("jobs=4", "jobs=1");
    let text = TEXT_3.replace("\n\nRun status", &format!("\n{next}\n\nRun status"));
    let record = read(Tool::Fio, &format!("{requests}{text}"));
    let jobs = record.jobs();
    let depths: Vec<_> = jobs.map(|job| (&*job.name, job.depth)).collect();
    // 0 is unknown: two jobs are in one block.
    assert_eq!(depths, [("g", 0), ("h", 16)]);
}

/// The story: the sum that fio's client prints after the results of its hosts was a second run, and the jobs
/// had no depth, because their requests begin with the name of the host.
#[test]
fn the_text_of_a_client_is_one_run() {
    let (_, result) = TEXT_3.split_once("\n\n").expect("a gap");
    let sum = result.replace("g: (groupid", "All clients: (groupid");
    let record = read(Tool::Fio, &format!("<h1> {TEXT_3}{sum}"));
    let job = &record.measurements[0].jobs[0];
    assert_eq!((&*job.name, job.depth), ("g", 16));
    near(job.iops(), 12_510.7);
    near(
        read(Tool::Fio, &sum).measurements[0].jobs[0].iops(),
        12_510.7,
    );
}

#[test]
fn the_normal_text_of_fio() {
    let record = read(Tool::Fio, TEXT_3);
    assert_eq!(
        (&*record.tool, &*record.started_at),
        ("fio 3.33", "2026-11-25T19:51:48Z")
    );
    let job = &record.measurements[0].jobs[0];
    assert_eq!((job.threads, job.depth, job.direct), (4, 16, None));
    assert_eq!(
        (&*job.block_size_name(), &*job.pattern_name()),
        ("4 KiB", "random")
    );
    let way = |way| &job.directions[&way];
    assert_eq!(
        (way(Direction::Read).ios, way(Direction::Write).ios),
        (100_100, 25_020)
    );
    near(way(Direction::Read).bytes as f64, 391.0 * 1_048_576.0);
    near(way(Direction::Read).service.mean_ns, 714_030.0);
    near(way(Direction::Read).service.p99_ns as f64, 4_146_000.0);
    near(way(Direction::Read).service.max_ns as f64, 1_993_500_000.0);
    near(way(Direction::Write).service.mean_ns, 800.0);
    // 10 % more than what was issued.
    near(way(Direction::Sync).ios as f64, 12_512.0);
    near(way(Direction::Sync).service.p99_ns as f64, 12_387_000.0);
    near(way(Direction::Sync).service.mean_ns, 3_620_000.0);

    let record = read(Tool::Fio, TEXT_2);
    let job = &record.measurements[0].jobs[0];
    assert_eq!((job.threads, job.depth), (1, 1));
    near(job.iops(), 1024.0);
    near(job.bytes_per_s(), 67_108_864.0);
    near(
        job.directions[&Direction::Read].service.p99_ns as f64,
        100_000.0,
    );
}

#[test]
fn texts_behind_each_other_are_runs_passes_or_states() {
    let runs = reads(Tool::Fio, &format!("$ fio a\n{TEXT_3}\n```\n{TEXT_2}"));
    assert_eq!(runs.len(), 2);
    let later = TEXT_3
        .replace("19:51:48", "19:52:48")
        .replace("total=100100", "total=100000");
    assert_eq!(
        read(Tool::Fio, &format!("{TEXT_3}{later}"))
            .requested
            .passes,
        2
    );
    let (request, result) = TEXT_3.split_once("\n\n").expect("a gap");
    let state = result
        .replace("19:51:48", "19:51:43")
        .replace("391MiB/10001msec", "195MiB/5001msec")
        .replace("97.7MiB/10001msec", "48.8MiB/5001msec")
        .replace("total=100100,25020", "total=50050,12510");
    let record = read(Tool::Fio, &format!("{request}\n\n{state}\n{result}"));
    assert_eq!(record.measurements.len(), 1);
    assert_eq!(
        record.measurements[0].jobs[0].directions[&Direction::Read].ios,
        100_100
    );
    // JSON beside a text is the same result, unless there are more of one kind.
    let json = document(&[entry("", SIDE)]);
    assert_eq!(reads(Tool::Fio, &format!("{TEXT_2}{json}")).len(), 1);
    let text = format!("{TEXT_2}{TEXT_3}{json}");
    let error = import(Tool::Fio, &[source("it", &text)]).expect_err("three results");
    assert!(error.to_string().contains("files of their own"), "{error}");
    for (from, to, words) in [
        (
            "issued rwts: total=100100",
            "issued rwts: total=900",
            "contradicts itself",
        ),
        (
            "BW=39.1MiB/s (41.0MB/s)(391MiB/10001msec)",
            "BW=39.1",
            "no line of fio's text",
        ),
        ("avg=714.03", "avg=x", "no line of latencies"),
        ("99.00th=[ 4146]", "99.00th=[ x]", "no percentile"),
    ] {
        let text = TEXT_3.replace(from, to);
        let error = import(Tool::Fio, &[source("it", &text)]).expect_err(to);
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// The story: a job that fio ended with an error was imported as a complete run, without a failure.
#[test]
fn the_error_that_ended_a_job_is_that_of_the_run() {
    let error = "err=28 (file:io_u.c:1876, func=io_u error, error=No space left on device)";
    let text = read(Tool::Fio, &TEXT_3.replace("err= 0", error));
    let line = super::terse_tests::terse("g", 40_000, 1000, 10_000);
    let line = read(Tool::Fio, &line.replacen("g;0;0;", "g;0;28;", 1));
    for record in [text, line] {
        let why = record.failure.as_deref();
        assert_eq!(why, Some("job g ended early: ENOSPC"));
    }
}

/// The story: errors after which fio went on (`continue_on_error`) were those of JSON alone, and the case
/// of a text was imported without a failure.
#[test]
fn errors_after_which_a_job_went_on_are_counted() {
    let line = "     issued rwts: total=100100,25020,0,0 short=0,0,0,0 dropped=0,0,0,0\n";
    let errors = "     errors    : total=7, first_error=5/<Input/output error>\n";
    let record = read(
        Tool::Fio,
        &TEXT_3.replace(line, &(line.to_owned() + errors)),
    );
    let job = &record.measurements[0].jobs[0];
    assert_eq!(job.accounting.failed, 7);
    assert_eq!(record.failure, None);
}

/// The story: fio 3.33 gives the first error of a job that goes on after errors as that of the job, which
/// had "ended early" although it read all there was.
#[test]
fn an_error_after_which_a_job_went_on_did_not_end_it() {
    let errors = "\n     errors    : total=2, first_error=84/<Invalid character>\n\nRun status";
    let text = TEXT_3
        .replace("err= 0", "err=84 ()")
        .replace("\n\nRun status", errors);
    let line = super::terse_tests::terse("g", 40_000, 1000, 10_000);
    let line = line.replacen("g;0;0;", "g;0;84;", 1);
    let disks = ";0".repeat(31) + ";vda;25650;0;0;0;1334;0;1334;64.19%";
    let line = format!("{}{disks};2;84\n", line.trim_end());
    let json = r#"{ "fio version" : "fio-3.33", "jobs" : [ { "jobname" : "g", "error" : 84,
        "total_err" : 2, "first_error" : 84,
        "read" : { "io_bytes" : 4096, "bw_bytes" : 409, "runtime" : 10000, "total_ios" : 1 } } ] }"#;
    for text in [&text, &line, json] {
        let record = read(Tool::Fio, text);
        assert_eq!(record.failure, None);
        assert_eq!(record.status, blocklab_record::Status::Complete);
        assert_eq!(record.measurements[0].jobs[0].accounting.failed, 2);
    }
}
