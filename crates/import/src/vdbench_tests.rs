//! Output directories of Vdbench, shortened, and what comes out of them.

use blocklab_record::Record;
use blocklab_workload::Direction;

use crate::tests::{near, only, source};
use crate::{Source, Tool, import};

pub(crate) const VDBENCH: &str = "<title>Vdbench out/flatfile.html</title><pre>\n\
* tod: time of day\n\
           tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max resp_std xfersize threads rdpct rhpct whpct seekpct lunsize version\n\
  16:09:10.032 11/20/2026-16:09:10-UTC rd1_(10%) 1 2700 2600 10.1 4096 50 0.2 0.1 0.3 4 0.3 4096 8 50 0 0 100 1 50407\n\
  16:09:12.030 11/20/2026-16:09:12-UTC rd1_(10%) 2 2700 2700 10.5 4096 50 0.2 0.1 0.3 4 0.3 4096 8 50 0 0 100 1 50407\n\
  16:09:12.040 11/20/2026-16:09:12-UTC rd1_(10%) avg_2-2 2700 2700 10.5 4096 50 0.2 0.1 0.3 4 0.3 4096 8 50 0 0 100 1 50407\n";

pub(crate) const VDBENCH_HISTOGRAM: &str = "<a name=\"_1\"></a><i><b>16:09:08.000 Starting RD=rd1_(10%); I/O rate: 2700; elapsed=4</b></i>\n\
Reads:\n      min(ms) <    max(ms)        count   %%    cum%%\n\
\x20       0.000 <      0.200         2000  74.1    74.1\n\
\x20       0.200 <      0.400          700  25.9   100.0\n\
Writes:\n\
\x20       0.200 <      0.400         2700 100.0   100.0\n";

#[test]
fn vdbench_with_and_without_its_histogram() {
    let flat = source("out/flatfile.html", VDBENCH);
    let record = only(import(Tool::Vdbench, std::slice::from_ref(&flat)).expect("sound"));
    let job = &record.measurements[0].jobs[0];
    assert_eq!(record.measurements[0].case, "rd1_(10%)");
    assert_eq!(record.tool, "Vdbench 50407");
    assert_eq!(record.started_at, "2026-11-20T16:09:10Z");
    assert_eq!(job.requested_iops, Some(2700.0));
    // One interval of two seconds.
    assert_eq!(job.elapsed_ns, 2_000_000_000);
    near(job.iops(), 2700.0);
    near(job.directions[&Direction::Write].service.mean_ns, 300_000.0);
    assert_eq!(record.measurements[0].series.len(), 2);
    assert!(record.measurements[0].series[0].ramp);
    let histogram = source("out/histogram.html", VDBENCH_HISTOGRAM);
    let record = only(import(Tool::Vdbench, &[flat, histogram]).expect("sound"));
    let read = &record.measurements[0].jobs[0].directions[&Direction::Read].service;
    near(read.p50_ns as f64, 200_000.0);
    near(read.p90_ns as f64, 400_000.0);
}

/// The story: a run with `xfersize=(4k,50,8k,50)` was shown with blocks of 4 KiB, the first of its sizes.
#[test]
fn a_mix_of_sizes_is_no_block_size() {
    let mixed = VDBENCH_LOOPS.replace("0.4 4096 100", "0.6 6136 100");
    let jobs = vdbench(&[("flatfile.html", &mixed)]);
    let sizes = |at: usize| jobs.measurements[at].jobs[0].block_size_name();
    assert_eq!((&*sizes(0), &*sizes(1)), ("unknown", "4 KiB"));
}

/// The story: an interval at 1e30 operations a second was exported with 18446744073709551615 of them.
#[test]
fn an_interval_that_cannot_be_is_refused() {
    for (from, to, wrong) in [
        (
            "rd1 2 100 100 ",
            "rd1 2 100 1e30 ",
            " operations is impossible",
        ),
        ("0.4 4096", "0.4 1e17", " bytes is impossible"),
    ] {
        let text = VDBENCH_LOOPS.replacen(from, to, 1);
        let error = import(Tool::Vdbench, &[source("flatfile.html", &text)]).expect_err(to);
        assert!(error.to_string().contains(wrong), "{error}");
    }
}

/// Two runs of one name, as `iorate=(100,200)` or `forthreads=(1,8)` leave them.
pub(crate) const VDBENCH_LOOPS: &str = "<pre>\n\
tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp xfersize threads rdpct seekpct\n\
07:22:29.084 n/a rd1 1 100 90 0.3 4096 100 0.2 4096 8 100 100\n\
07:22:30.047 n/a rd1 2 100 100 0.4 4096 100 0.2 4096 8 100 100\n\
07:22:31.047 n/a rd1 3 100 100 0.4 4096 100 0.2 4096 8 100 100\n\
07:22:31.050 n/a rd1 avg_2-3 100 100 0.4 4096 100 0.2 4096 8 100 100\n\
07:22:33.084 n/a rd1 1 200 180 0.3 4096 100 0.4 4096 8 100 100\n\
07:22:34.047 n/a rd1 2 200 200 0.8 4096 100 0.4 4096 8 100 100\n\
07:22:35.047 n/a rd1 3 200 200 0.8 4096 100 0.4 4096 8 100 100\n\
07:22:35.050 n/a rd1 avg_2-3 200 200 0.8 4096 100 0.4 4096 8 100 100\n";

pub(crate) fn vdbench_summary(first: &str, second: &str) -> String {
    format!(
        "<pre>\nVdbench summary report, created 07:22:26 Dec 03 2016 PST\n\n\
         <i><b>07:22:28.002 Starting RD=rd1; I/O rate: 100; elapsed=3; For loops: {first}</b></i>\n\
         <i><b>07:22:32.002 Starting RD=rd1; I/O rate: 200; elapsed=3; For loops: {second}</b></i>\n"
    )
}

pub(crate) const VDBENCH_LOOPS_HISTOGRAM: &str = "\
<i><b>07:22:28.002 Starting RD=rd1; I/O rate: 100; elapsed=3; For loops: iorate=100</b></i>\n\
Reads:\n      0.100 <      0.200          200  100.0   100.0\n\
<i><b>07:22:32.002 Starting RD=rd1; I/O rate: 200; elapsed=3; For loops: iorate=200</b></i>\n\
Reads:\n      0.200 <      0.400          400  100.0   100.0\n";

pub(crate) fn vdbench(files: &[(&str, &str)]) -> Record {
    let sources: Vec<Source> = files
        .iter()
        .map(|(name, text)| source(name, text))
        .collect();
    only(import(Tool::Vdbench, &sources).expect("sound"))
}

/// Somebody asked for 100 and for 200 operations a second in one run definition and got "150
/// IOPS ± 247 %": loops give many runs one name, and runs of one name were passes of one case.
#[test]
fn each_loop_of_vdbench_is_a_case_of_its_own() {
    let summary = vdbench_summary("iorate=100 threads=8", "iorate=200 threads=8");
    let files = [
        ("o/flatfile.html", VDBENCH_LOOPS),
        ("o/histogram.html", VDBENCH_LOOPS_HISTOGRAM),
        ("o/summary.html", &summary),
    ];
    let record = vdbench(&files);
    let [first, second] = &record.measurements[..] else {
        panic!("two runs");
    };
    assert_eq!(first.case, "rd1 iorate=100 threads=8");
    assert_eq!(second.case, "rd1 iorate=200 threads=8");
    assert_eq!(
        (first.pass, second.pass, record.requested.passes),
        (1, 1, 1)
    );
    let pairs = [("iorate", "200"), ("threads", "8")];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(second.settings, pairs);
    near(first.jobs[0].iops(), 100.0);
    near(second.jobs[0].iops(), 200.0);
    // The histogram of the second run was never read.
    let median = |at: usize| {
        record.measurements[at].jobs[0].directions[&Direction::Read]
            .service
            .p50_ns
    };
    near(median(0) as f64, 200_000.0);
    near(median(1) as f64, 400_000.0);
    assert_eq!(record.started_at, "2016-12-03T07:22:26Z");
    let local = |note: &&blocklab_record::Note| note.text.contains("local time");
    assert!(
        record.notes.iter().any(|note| local(&note)),
        "{:?}",
        record.notes
    );
}

/// A run that is simply repeated, as `-l` does, is a pass of the same case.
#[test]
fn the_same_loops_again_are_another_pass() {
    let summary = vdbench_summary("None", "None");
    let record = vdbench(&[
        ("o/flatfile.html", VDBENCH_LOOPS),
        ("o/summary.html", &summary),
    ]);
    let passes: Vec<_> = record
        .measurements
        .iter()
        .map(|m| (&*m.case, m.pass))
        .collect();
    assert_eq!(passes, [("rd1", 1), ("rd1", 2)]);
    assert_eq!(record.requested.passes, 2);
}

#[test]
fn without_a_summary_runs_of_one_name_stay_separate() {
    let record = vdbench(&[("o/flatfile.html", VDBENCH_LOOPS)]);
    let cases: Vec<_> = record
        .measurements
        .iter()
        .map(|m| (&*m.case, m.pass))
        .collect();
    assert_eq!(cases, [("rd1 reqrate=100", 1), ("rd1 reqrate=200", 1)]);
    let same = VDBENCH_LOOPS.replace(" 200 ", " 100 ");
    let record = vdbench(&[("o/flatfile.html", &same)]);
    let cases: Vec<_> = record
        .measurements
        .iter()
        .map(|m| (&*m.case, m.pass))
        .collect();
    assert_eq!(cases, [("rd1", 1), ("rd1 (2)", 1)]);
}

/// A run that was stopped has an announcement and no average.
#[test]
fn a_stopped_run_takes_nothing_from_the_others() {
    let summary = vdbench_summary("iorate=100", "iorate=200");
    let stopped = "<b>07:22:36.002 Starting RD=rd1; I/O rate: 300; For loops: iorate=300</b>\n";
    let summary = format!("{summary}{stopped}");
    let record = vdbench(&[
        ("o/flatfile.html", VDBENCH_LOOPS),
        ("o/summary.html", &summary),
    ]);
    let cases: Vec<_> = record.measurements.iter().map(|m| &*m.case).collect();
    assert_eq!(cases, ["rd1 iorate=100", "rd1 iorate=200"]);
}

/// All directories of before 5.04.07 were dated 1970: their rows have no date, but summary.html has.
#[test]
fn a_vdbench_run_has_the_date_of_its_summary() {
    for (head, expected) in [
        (
            "Vdbench summary report, created 23:04:10 Apr 03 2019 ICT (16:04:10 Apr 03 2019 UTC)\n",
            "2019-04-03T16:04:10Z",
        ),
        (
            "Dec 03, 2016  interval        i/o   MB/sec   bytes\n",
            "2016-12-03T07:22:29Z",
        ),
    ] {
        let record = vdbench(&[("flatfile.html", VDBENCH_LOOPS), ("summary.html", head)]);
        assert_eq!(record.started_at, expected, "{head}");
    }
}

/// `avg_2-60` counts 59 intervals, so that is the time, and the operations are those of it; what
/// comes before the first counted interval is warm-up.
#[test]
fn the_time_of_a_vdbench_run_is_that_of_its_average() {
    let head = "tod Run Interval reqrate rate MB/sec bytes/io read% resp\n";
    let row = |n: u32| {
        format!(
            "07:{:02}:{:02}.02 rd1 {n} 999988 2180 17 8192 100 14\n",
            n / 60,
            n % 60
        )
    };
    let rows: String = (1..=60).map(row).collect();
    let text = format!("{head}{rows}07:01:00.05 rd1 avg_4-60 999988 2180.0678 17 8192 100 14\n");
    let record = vdbench(&[("flatfile.html", &text)]);
    let job = &record.measurements[0].jobs[0];
    assert_eq!(job.elapsed_ns, 57_000_000_000);
    assert_eq!(job.directions[&Direction::Read].ios, 124_264);
    let ramp = record.measurements[0]
        .series
        .iter()
        .filter(|interval| interval.ramp)
        .count();
    assert_eq!(ramp, 3);
}

/// A format was called random, with the workload's block and mixture.
#[test]
fn a_format_is_no_workload() {
    let text = VDBENCH_LOOPS
        .replace("rd1", "SD_format")
        .replace("0.4 4096 100", "12.5 131072 0");
    let record = vdbench(&[("flatfile.html", &text)]);
    let job = &record.measurements[0].jobs[0];
    assert_eq!(
        (
            &*job.pattern_name(),
            &*job.block_size_name(),
            &*job.mix_name()
        ),
        ("sequential", "128 KiB", "write")
    );
}
