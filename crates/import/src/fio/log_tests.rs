//! fio's logs and what comes out of them.

use blocklab_record::{Record, Statistic};
use blocklab_workload::Direction;

use crate::tests::{near, only, source};
use crate::{Tool, import, together};

fn logs(files: &[(&str, &str)]) -> Record {
    let sources: Vec<_> = files
        .iter()
        .map(|(name, text)| source(name, text))
        .collect();
    only(import(Tool::Fio, &sources).unwrap_or_else(|error| panic!("{error}")))
}

#[track_caller]
fn refused(files: &[(&str, &str)], words: &str) {
    let sources: Vec<_> = files
        .iter()
        .map(|(name, text)| source(name, text))
        .collect();
    let error = import(Tool::Fio, &sources).expect_err(words).to_string();
    assert!(error.contains(words), "{error}");
}

/// Four operations of two directions, as `log_offset=1 log_prio=1` writes them.
pub(crate) const LAT: &str = "\
1, 1000000, 0, 4096, 61440, 0x0000
500, 2000000, 0, 4096, 774144, 0x4001
1500, 3000000, 0, 4096, 880640, 0x0000
2000, 7000, 1, 4096, 491520, 0x0000
";

fn way(record: &Record, job: usize, way: Direction) -> &blocklab_record::DirectionResult {
    &record.measurements[0].jobs[job].directions[&way]
}

/// Logs of a run were refused: "neither JSON nor terse output of fio, nor its normal text".
#[test]
fn each_line_of_a_log_is_an_operation() {
    let record = logs(&[("d/x_clat.1.log", LAT)]);
    let case = &record.measurements[0];
    assert_eq!((&*case.case, &*case.jobs[0].name), ("x", "x"));
    assert_eq!((case.jobs[0].threads, case.jobs[0].depth), (1, 0));
    assert_eq!(&*case.jobs[0].block_size_name(), "4 KiB");
    let reads = way(&record, 0, Direction::Read);
    assert_eq!((reads.ios, reads.bytes), (3, 12_288));
    assert_eq!(
        (reads.service.min_ns, reads.service.max_ns),
        (1_000_000, 3_000_000)
    );
    near(reads.service.mean_ns, 2e6);
    near(reads.service.p50_ns as f64, 2e6);
    near(way(&record, 0, Direction::Write).service.mean_ns, 7e3);
    near(case.jobs[0].iops(), 2.0);
    let slices: Vec<_> = case
        .series
        .iter()
        .map(|slice| (slice.read.ios, slice.read.mean_ns))
        .collect();
    assert_eq!(slices, [(2, 1_500_000), (1, 3_000_000)]);

    // The older forms: without an offset, and without a priority.
    for columns in [5, 4] {
        let cut = |line: &str| {
            let fields: Vec<&str> = line.split(", ").take(columns).collect();
            fields.join(", ").replace(", 61440", ", 0") + "\n"
        };
        let text: String = LAT.lines().map(cut).collect();
        assert_eq!(
            way(&logs(&[("x_lat.1.log", &text)]), 0, Direction::Read).ios,
            3
        );
    }
    // Latencies of fio 2 are microseconds; the bandwidths of the operations tell.
    let bandwidth = "1, 4000, 0, 4096, 0\n500, 2000, 0, 4096, 0\n1500, 1333, 0, 4096, 0\n\
                     2000, 571428, 1, 4096, 0\n";
    let old = LAT
        .replace("000, 0, 4096", ", 0, 4096")
        .replace("7000", "7");
    let record = logs(&[("x_bw.log", bandwidth), ("x_lat.log", &old)]);
    near(way(&record, 0, Direction::Read).service.mean_ns, 2e6);
    assert_eq!(record.measurements[0].jobs[0].threads, 0);
}

const IOPS: &str = "250, 1000, 0, 0, 0\n500, 2000, 0, 0, 0\n1000, 3000, 0, 0, 0\n";
const BANDWIDTH: &str = "250, 4000, 0, 0, 0\n500, 8000, 0, 0, 0\n1000, 12000, 0, 0, 0\n";
const MEANS: &str = "250, 100000, 0, 0, 0\n502, 200000, 0, 0, 0\n1000, 300000, 0, 0, 0\n\
                     1000, 9000, 0, 0, 0\n";

#[test]
fn windows_of_a_log_have_their_lengths() {
    let files = [
        ("x_bw.1.log", BANDWIDTH),
        ("x_iops.1.log", IOPS),
        ("x_lat.1.log", MEANS),
    ];
    let record = logs(&files);
    let reads = way(&record, 0, Direction::Read);
    // 250 ms of 1000 a second, 250 ms of 2000 and 500 ms of 3000.
    assert_eq!((reads.ios, reads.bytes), (2250, 9_216_000));
    // By how many there were in each window.
    near(reads.service.mean_ns, 255_556.0);
    assert!(reads.service.unknown.has(Statistic::P99) && reads.service.unknown.has(Statistic::Max));
    let case = &record.measurements[0];
    assert_eq!(case.elapsed_ns, 1_000_000_000);
    let slices: Vec<_> = case.series.iter().map(|slice| slice.read.ios).collect();
    assert_eq!(slices, [2250]);
    // Times since 1970.
    let epoch = |text: &str| -> String {
        let lines = text.lines().map(|line| {
            let (ms, rest) = line.split_once(',').expect("fields");
            format!(
                "{},{rest}\n",
                1_795_727_596_000 + ms.parse::<u64>().expect("ms")
            )
        });
        lines.collect()
    };
    let late = files.map(|(name, text)| (name, epoch(text)));
    let late = logs(&late.each_ref().map(|(name, text)| (*name, &**text)));
    assert_eq!(late.started_at, "2026-11-26T21:13:16Z");
    assert_eq!(way(&late, 0, Direction::Read).ios, 2250);
    // The mean and the largest.
    let both = MEANS.replace("000, 0, 0, 0", "000, 900000, 0, 0, 0");
    let record = logs(&[files[0], files[1], ("x_lat.1.log", &both)]);
    assert_eq!(way(&record, 0, Direction::Read).service.max_ns, 900_000);
}

/// The story: with `log_unix_epoch`, seconds were counted from 1970, and a job of 100 operations a second
/// had 185 of them in its first second and 15 in its last one.
#[test]
fn seconds_since_1970_are_counted_from_the_first_operation() {
    let ends_ms = (0..300).map(|operation| 1_795_909_309_155_u64 + operation * 10);
    let text: String = ends_ms
        .map(|ms| format!("{ms}, 5000, 0, 4096, 0\n"))
        .collect();
    let record = logs(&[("x_clat.1.log", &text)]);
    let series = &record.measurements[0].series;
    let seconds: Vec<_> = series.iter().map(|slice| slice.read.ios).collect();
    // The first operation is at the beginning of the first second, and another one at its end.
    assert_eq!(seconds, [101, 100, 99]);
}

/// The story: with `log_alternate_epoch=1` and the clock that counts from the start of the machine, a run of two
/// seconds lasted as long as the machine was up, at 0.01 operations a second.
#[test]
fn a_run_by_another_clock_begins_with_its_first_line() {
    let shifted = |text: &str, ms: u64| -> String {
        let lines = text.lines().map(|line| {
            let (end_ms, rest) = line.split_once(',').expect("fields");
            format!("{},{rest}\n", ms + end_ms.parse::<u64>().expect("ms"))
        });
        lines.collect()
    };
    let record = logs(&[("x_clat.1.log", &shifted(LAT, 74_500_000))]);
    let case = &record.measurements[0];
    assert_eq!((case.elapsed_ns, case.series.len()), (1_999_000_000, 2));
    assert_eq!(record.started_at, "");
    let (iops, bandwidth) = (shifted(IOPS, 74_500_000), shifted(BANDWIDTH, 74_500_000));
    let windows = [("x_iops.1.log", &*iops), ("x_bw.1.log", &*bandwidth)];
    assert_eq!(logs(&windows).measurements[0].elapsed_ns, 1_000_000_000);
    // Windows of an hour by the clock of the job.
    let hours = "3600000, 1000, 0, 0, 0\n7200000, 1000, 0, 0, 0\n";
    let record = logs(&[("x_iops.1.log", hours), ("x_bw.1.log", hours)]);
    assert_eq!(record.measurements[0].elapsed_ns, 7_200_000_000_000);
}

/// The story: the bytes of reads and writes together were too many for a number, and the report panicked.
#[test]
fn bytes_that_cannot_be_are_refused() {
    let text = LAT.replacen("4096", "18446744073709551615", 1);
    refused(
        &[("x_clat.1.log", &text)],
        "18446744073709551615 bytes cannot be",
    );
}

/// The story: a last operation at a whole second was in no interval, and the intervals lacked it.
#[test]
fn an_operation_at_the_end_of_the_run_is_in_its_last_interval() {
    let text =
        "500, 9, 0, 4096, 0\n1000, 9, 0, 4096, 0\n1500, 9, 0, 4096, 0\n2000, 9, 0, 4096, 0\n";
    let record = logs(&[("x_clat.1.log", text)]);
    let series = &record.measurements[0].series;
    let seconds: Vec<_> = series.iter().map(|slice| slice.read.ios).collect();
    assert_eq!(seconds, [2, 2]);
}

#[test]
fn logs_of_several_jobs_are_one_run() {
    let paths = [
        "a/x_bw.1.log",
        "a/x_bw.2.log",
        "a/lat_lat.1.log",
        "r.json",
        "b/x_bw.1.log",
        "b/y_bw.1.log",
        "a/x_clat_hist.1.log",
        "b/y_bw.1.log.host",
    ];
    assert_eq!(
        together(Tool::Fio, &paths),
        [vec![0, 1, 2], vec![3], vec![4], vec![5, 7], vec![6]]
    );
    let files = [
        ("x_bw.1.log", BANDWIDTH),
        ("x_bw.2.log", BANDWIDTH),
        ("x_iops.1.log", IOPS),
        ("x_iops.2.log", IOPS),
    ];
    let record = logs(&files);
    let jobs = &record.measurements[0].jobs;
    let names: Vec<_> = jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(names, ["x.1", "x.2"]);
    assert_eq!(record.measurements[0].series[0].read.ios, 4500);
    let first = &record.notes[0].text;
    assert!(first.contains("x_bw.1.log and 3 more"), "{first}");
}

#[test]
fn what_a_log_alone_cannot_tell_is_refused() {
    let two_jobs = format!("{IOPS}{IOPS}");
    let lines = LAT.lines().take(1).collect::<String>();
    let mixed = format!("{LAT}3000, 5, 0, 0, 0\n");
    for (files, words) in [
        (&[("x_bw.1.log", BANDWIDTH)][..], "NAME_iops.N.log"),
        (&[("x_iops.1.log", IOPS)], "NAME_bw.N.log"),
        (&[("x_lat.1.log", MEANS)], "NAME_iops.N.log"),
        (
            &[("x_iops.log", &*two_jobs)],
            "x_iops.log:4: the times go back",
        ),
        (&[("x_lat.1.log", "")], "the log is empty"),
        (&[("x_slat.1.log", LAT)], "submission latencies alone"),
        (
            &[("x_lat.1.log", "1, 2, 3\n")],
            "x_lat.1.log:1: `1, 2, 3` is no line",
        ),
        (&[("x_lat.1.log", "1, 2, 3, 4, 5\n")], "is no line"),
        (
            &[("x_lat.1.log", &*mixed)],
            "x_lat.1.log:5: one log holds both single operations and windows",
        ),
        (
            &[("x_lat.1.log", LAT), ("x_iops.1.log", &lines)],
            "of different runs",
        ),
        (
            &[("x_lat.1.log", LAT), ("x_iops.1.log", IOPS)],
            "of different runs",
        ),
        (&[("renamed", LAT)], "as fio calls it"),
    ] {
        refused(files, words);
    }
    // An output may have such a name, too.
    let json =
        super::json_tests::document(&[super::json_tests::entry("", super::json_tests::SIDE)]);
    near(
        logs(&[("run_lat.log", &json)]).measurements[0].jobs[0].iops(),
        1000.0,
    );
}
