//! fio's terse lines and what comes out of them.

use blocklab_record::Statistic;
use blocklab_units::Bytes;
use blocklab_workload::{BlockSizes, Direction};

use crate::tests::{near, read, reads, source};
use crate::{Tool, import};

/// One terse line of version 3 without counts of disks: KiB, KiB/s, IOPS, ms.
pub(crate) fn terse(name: &str, kib: u32, iops: u32, ms: u32) -> String {
    let latency = ["10", "900", "100.0", "5.0"].join(";");
    let list = (0..20).map(|_| "0%=0").collect::<Vec<_>>().join(";");
    let kib_per_s = kib * 1000 / ms;
    let side =
        format!("{kib};{kib_per_s};{iops};{ms};{latency};{latency};{list};{latency};0;0;0%;0;0");
    let none = "0;".repeat(12) + &list + &";0".repeat(9);
    format!("3;fio-3.33;{name};0;0;{side};{none};0;0;0\n")
}

/// The story: lines that followed each other in one file were added up: 10,666 and 1,684 operations
/// a second became 12,351, and the states of one job of 100 became 393.
#[test]
fn terse_lines_are_never_added_up_unless_they_are_of_one_run() {
    let text = terse("a", 40_000, 1000, 10_000) + &terse("b", 80_000, 2000, 10_000);
    let rates: Vec<f64> = reads(Tool::Fio, &text)
        .iter()
        .map(|run| run.measurements[0].jobs[0].iops().round())
        .collect();
    assert_eq!(rates, [1000.0, 2000.0]);
    let states = terse("a", 4000, 1000, 1000) + &terse("a", 8000, 1000, 2000);
    let states = states + &terse("a", 8040, 999, 2012);
    let record = read(Tool::Fio, &states);
    assert_eq!(record.measurements.len(), 1);
    near(record.measurements[0].jobs[0].iops(), 999.0);
    let passes = terse("a", 40_000, 1000, 10_000) + &terse("a", 41_000, 1025, 10_001);
    assert_eq!(read(Tool::Fio, &passes).measurements.len(), 2);
    // The same counts of disks: jobs that ran side by side.
    let disks = ";0".repeat(31) + ";vda;25650;0;0;0;1334;0;1334;64.19%\n";
    let parallel = text.replace('\n', &disks);
    let record = read(Tool::Fio, &parallel);
    assert_eq!(record.measurements[0].jobs.len(), 2);
}

/// The story: a line of `unified_rw_reporting=1`, which has one direction, was refused as cut off, and so was
/// an output that has it next to JSON.
#[test]
fn one_direction_for_all_is_divided() {
    let line = terse("a", 40_000, 1000, 10_000);
    let fields: Vec<&str> = line.trim().split(';').collect();
    let others = "0;".repeat(33);
    let unified = format!("{};{others}0\n", fields[..46].join(";"));
    let job = &read(Tool::Fio, &unified).measurements[0].jobs[0];
    let [reads, writes] = [Direction::Read, Direction::Write].map(|way| job.directions[&way].ios);
    assert_eq!((reads, writes), (5000, 5000));
}

/// The story: the first line of fio's client follows its progress on the same line and was lost without a word;
/// the sum of all its lines was a run of its own.
#[test]
fn each_line_of_a_client_is_read() {
    let lines = ["a", "b", "All clients"].map(|name| terse(name, 40_000, 1000, 10_000));
    let text = format!("Jobs: 2 (f=2), 0-600 IOPS\r{}", lines.concat());
    let runs = reads(Tool::Fio, &text);
    let names: Vec<_> = runs.iter().map(|run| &*run.measurements[0].case).collect();
    assert_eq!(names, ["a", "b"]);
    let sum = read(Tool::Fio, &lines[2]);
    near(sum.measurements[0].jobs[0].iops(), 1000.0);
}

/// The story: the figures of a job called `a;b` were read a field too early, and it was refused as one that
/// contradicts itself.
#[test]
fn a_name_may_contain_what_separates_fields() {
    let record = read(Tool::Fio, &terse("a;b", 40_000, 1000, 10_000));
    let job = &record.measurements[0].jobs[0];
    assert_eq!(job.name, "a;b");
    near(job.iops(), 1000.0);
}

/// The story: without any sample (`gtod_reduce`), the mean latency was 0 ns.
#[test]
fn zeros_of_no_sample_are_no_latency() {
    let line = terse("a", 40_000, 1000, 10_000).replace("10;900;100.0;5.0", "0;0;0.0;0.0");
    let service =
        &read(Tool::Fio, &line).measurements[0].jobs[0].directions[&Direction::Read].service;
    assert!(service.unknown.has(Statistic::Mean) && service.unknown.has(Statistic::Max));
}

/// The story: blocks of 4,000 bytes (`bs=4k kb_base=1000`) were 4,096, and blocks of 1 MiB at 50.9 operations
/// a second, which are 50 in the line, were 1,068,032 bytes.
#[test]
fn sizes_are_round() {
    for (kib, iops, bytes) in [
        (7816, 1000, 4000),
        (8196, 1023, 4096),
        (104_296, 50, 1 << 20),
    ] {
        let record = read(Tool::Fio, &terse("a", kib, iops, 2001));
        let sizes = &record.measurements[0].jobs[0].block_sizes;
        assert_eq!(*sizes, Some(BlockSizes::fixed(Bytes(bytes))));
    }
}

/// The story: operations of reads and writes were added up in 64 bits before they were checked, and the
/// command panicked.
#[test]
fn rates_that_cannot_be_are_refused() {
    let text = terse("a", 0, 1000, 1000);
    let fields: Vec<&str> = text.trim().split(';').collect();
    let reads = fields[5..46].join(";").replacen("1000", "1e30", 1);
    let text = format!("{};{reads};{reads};0;0;0\n", fields[..5].join(";"));
    let error = import(Tool::Fio, &[source("it", &text)]).expect_err("no such rate");
    assert!(
        error.to_string().contains("operations cannot be"),
        "{error}"
    );
}
