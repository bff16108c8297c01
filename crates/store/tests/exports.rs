//! The tables that other programs read.

mod sample;

use std::process::Command;

use blocklab_record::{Origin, Statistic, Unknown};
use blocklab_store::export::{self, Rows};
use blocklab_workload::Direction;
use sample::record;

fn run() -> blocklab_record::Record {
    record("20261120-190142-k3f", "2026-11-20T19:01:42Z")
}

fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let fields = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    let rows = reader.records().map(|row| row.expect("as many fields"));
    rows.map(fields).collect()
}

#[track_caller]
fn check(rows: &[Vec<String>], row: usize, column: &str, expected: &str) {
    let index = rows[0].iter().position(|name| name == column);
    let index = index.unwrap_or_else(|| panic!("no column {column} in {:?}", rows[0]));
    assert_eq!(rows[row + 1][index], expected, "row {row}, {column}");
}

#[test]
fn a_row_is_a_measurement_a_job_and_a_direction() {
    let rows = rows(&export::csv(&run(), Rows::Figures));
    assert_eq!(
        rows.len(),
        1 + 2 * 3,
        "two passes of read, write and the failed job"
    );
    check(&rows, 0, "run", "20261120-190142-k3f");
    check(&rows, 0, "run_started_at", "2026-11-20T19:01:42Z");
    check(&rows, 0, "target", "/data/a, \"b\"");
    check(&rows, 0, "case", "mixed");
    check(&rows, 0, "direction", "read");
    check(&rows, 0, "iops", "500");
    check(&rows, 0, "bytes_per_s", "2048000");
    check(&rows, 0, "service_ns_max", "1000000");
    check(&rows, 0, "service_ns_mean", "500500");
    check(&rows, 0, "response_ns_p99", "");
    // A Record keeps no p95 by itself: it comes out of the histogram.
    check(&rows, 0, "service_ns_p95", "946175");
    check(&rows, 0, "service_ns_p75", "749567");
    check(&rows, 0, "direct", "true");
    check(&rows, 0, "stopped", "runtime");
    check(&rows, 0, "origin", "measured");
    check(&rows, 0, "setting_depth", "32");
    check(&rows, 1, "direction", "write");
    check(&rows, 1, "ios", "500");
    check(&rows, 2, "job", "broken");
    check(&rows, 2, "direction", "");
    check(&rows, 2, "job_errors", "EIO write 1");
    check(&rows, 3, "pass", "2");
}

#[test]
fn a_row_of_the_series_is_a_slice() {
    let rows = rows(&export::csv(&run(), Rows::Series));
    assert_eq!(rows.len(), 1 + 4);
    check(&rows, 0, "ramp", "true");
    check(&rows, 1, "ramp", "false");
    check(&rows, 1, "end_ns", "2000000000");
    check(&rows, 1, "read_iops", "500");
    check(&rows, 1, "read_service_ns_p99", "120000");
    check(&rows, 1, "write_ios", "0");
    check(&rows, 1, "write_service_ns_p50", "");
}

/// Somebody averaged a column of imported runs in which "p99 = 0 ns" stood for "unknown".
#[test]
fn what_another_program_did_not_tell_is_an_empty_cell() {
    let mut run = run();
    run.origin = Origin::Imported;
    let measurement = &mut run.measurements[0];
    measurement.jobs[0].accounting.failed = 0;
    measurement.cpu.unknown = Unknown::from_iter([Statistic::Process, Statistic::MachineBusy]);
    let job = &mut measurement.jobs[0];
    (job.direct, job.depth, job.threads) = (None, 0, 0);
    let read = job.directions.get_mut(&Direction::Read).expect("reads");
    read.service.unknown = Unknown::from_iter([Statistic::Min, Statistic::Stddev, Statistic::P99]);
    for interval in &mut measurement.series {
        interval.read.unknown = Unknown::from_iter([Statistic::P99, Statistic::Bytes]);
    }
    let figures = rows(&export::csv(&run, Rows::Figures));
    for column in [
        "direct",
        "depth",
        "threads",
        "service_ns_min",
        "service_ns_stddev",
        "service_ns_p99",
        "machine_busy_percent",
        "process_cpu_user_ns",
        "job_issued",
        "job_completed_in_ramp",
        "job_failed",
        "job_in_flight",
        "job_overdue",
    ] {
        check(&figures, 0, column, "");
    }
    check(&figures, 0, "service_ns_mean", "500500");
    let series = rows(&export::csv(&run, Rows::Series));
    check(&series, 1, "read_iops", "500");
    for column in ["read_service_ns_p99", "read_bytes", "process_cpu_ns"] {
        check(&series, 1, column, "");
    }
    // The stored form is equal, and is read again as it was.
    let text = run.to_json();
    let stored: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let job = &stored["measurements"][0]["jobs"][0];
    assert!(job["direct"].is_null() && job["depth"].is_null(), "{job}");
    assert!(
        job["directions"]["read"]["service"]["p99_ns"].is_null(),
        "{job}"
    );
    assert_eq!(
        blocklab_record::Record::from_json(&text)
            .expect("a record")
            .to_json(),
        text
    );
}

#[test]
fn an_empty_run_has_the_same_columns() {
    let mut empty = run();
    empty.measurements.clear();
    for table in [Rows::Figures, Rows::Series] {
        let head = rows(&export::csv(&empty, table));
        assert_eq!(head.len(), 1);
        let mut full = rows(&export::csv(&run(), table)).swap_remove(0);
        // Only a run that measured something has settings; its note comes behind them.
        let setting = full.len() - 2;
        assert_eq!(full.remove(setting), "setting_depth");
        assert_eq!(head[0], full);
        assert!(export::parquet(&empty, table).is_ok());
    }
}

#[test]
fn lines_end_as_in_the_rfc() {
    let text = export::csv(&run(), Rows::Figures);
    assert_eq!(text.matches("\r\n").count(), text.matches('\n').count());
    assert!(text.contains("\"/data/a, \"\"b\"\"\""));
}

#[test]
fn a_parquet_file_opens_and_closes_with_its_magic() {
    let bytes = export::parquet(&run(), Rows::Figures).expect("made");
    assert_eq!(
        (&bytes[..4], &bytes[bytes.len() - 4..]),
        (b"PAR1".as_slice(), b"PAR1".as_slice())
    );
}

/// Another implementation reads the file and finds the values and types of the CSV.
#[test]
fn another_reader_finds_the_same_table() {
    const SCRIPT: &str = r#"
import sys, csv, datetime
import pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
assert table.column_names == list(rows[0]), table.column_names
assert table.num_rows == len(rows)
def shown(v):
    if v is None: return ""
    if isinstance(v, bool): return str(v).lower()
    if isinstance(v, datetime.datetime): return v.strftime("%Y-%m-%dT%H:%M:%SZ")
    return v
for got, want in zip(table.to_pylist(), rows):
    for name, value in got.items():
        value, text = shown(value), want[name]
        same = float(text) == value if isinstance(value, (int, float)) else text == value
        assert same, (name, value, text)
print({str(f.type) for f in table.schema})
"#;
    let Some(python) = python_with_pyarrow() else {
        println!("skipped: reading Parquet with another program: no python3 with pyarrow here");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    for table in [Rows::Figures, Rows::Series] {
        let (parquet, csv) = (folder.path().join("t.parquet"), folder.path().join("t.csv"));
        let bytes = export::parquet(&run(), table).expect("made");
        std::fs::write(&parquet, bytes).expect("written");
        std::fs::write(&csv, export::csv(&run(), table)).expect("written");
        let mut reader = Command::new(&python);
        reader.args(["-c", SCRIPT]).args([&parquet, &csv]);
        let output = reader.output().expect("python3 runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
    }
}

fn python_with_pyarrow() -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let probe = Command::new(&python)
        .args(["-c", "import pyarrow.parquet"])
        .output();
    probe.ok()?.status.success().then_some(python)
}

/// A simulation uses no processor, but its passes begin at moments of virtual time.
#[test]
fn a_simulated_pass_has_a_start_and_no_processor() {
    let mut run = run();
    run.origin = Origin::Simulated;
    let measurement = &mut run.measurements[1];
    measurement.started_ns = 7;
    measurement.cpu.unknown = Unknown::from_iter([Statistic::Process, Statistic::MachineBusy]);
    measurement.model = Some(Box::default());
    let figures = rows(&export::csv(&run, Rows::Figures));
    check(&figures, 3, "measurement_started_ns", "7");
    for column in [
        "process_cpu_user_ns",
        "busiest_thread_percent",
        "uring_workers_max",
    ] {
        check(&figures, 3, column, "");
    }
}
