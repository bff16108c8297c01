//! Figures compared with witnesses that are not ours: the kernel's counters, fio, another reader
//! of histograms, and laws that hold for every load.

mod stand;

use std::fs;
use std::process::Command;

use blocklab_record::{JobResult, Latency, Record};
use blocklab_stats::Histogram;
use blocklab_workload::Direction;
use serde_json::Value;
use stand::kernel::Loop;
use stand::{KIB, MIB, Stand, ios, skip, tool};

/// Operations and bytes of one direction.
type Moved = (u64, u64);

/// What the kernel's block layer has moved for a device since that is there. `stat` has
/// requests, requests that were merged into them, sectors and milliseconds of reads, then the
/// same of writes.
fn seen_by_kernel(device: &Loop, direction: &str) -> Moved {
    let stat = fs::read_to_string(format!("/sys/block/{}/stat", device.name()));
    let stat = stat.expect("the kernel's counters");
    let fields = stat
        .split_whitespace()
        .map_while(|field| field.parse().ok());
    let fields: Vec<u64> = fields.collect();
    let at = if direction == "read" { 0 } else { 4 };
    (fields[at] + fields[at + 1], fields[at + 2] * 512)
}

/// The same as the record tells it, of the one disk below its target.
fn known_by_record(record: &Record, direction: &str) -> Moved {
    let disk = &record.measurements[0].disks[0];
    match direction {
        "read" => (disk.read_ios + disk.read_merges, disk.read_bytes),
        _ => (disk.write_ios + disk.write_merges, disk.write_bytes),
    }
}

/// A loop device at which nobody else looks any more.
fn quiet_loop(size: u64) -> Option<Loop> {
    let device = Loop::attach(size, &["--direct-io=off"])?;
    if fs::exists("/run/udev/control").is_ok_and(|there| there) {
        tool("udevadm", &["settle"]);
    }
    // The kernel looks for partitions when a device is opened for the first time.
    fs::File::open(device.path()).expect("root opens devices");
    Some(device)
}

/// Direct operations reach the device as many and as large as they were requested.
#[test]
fn the_block_layer_counts_the_same() {
    let Some(device) = quiet_loop(16 * MIB) else {
        return;
    };
    for (engine, depth) in [("psync", 1), ("libaio", 8), ("io_uring", 8)] {
        for direction in ["read", "write"] {
            for end in [
                "stop_bytes = \"4MiB\"",
                "runtime = \"20ms\"\nramp = \"20ms\"",
            ] {
                let study = format!(
                    "[[case]]\nname = \"random\"\nengine = \"{engine}\"\ndepth = {depth}\n\
                     mix = \"{direction}\"\naccess = \"direct\"\n{end}\n"
                );
                if !is_witnessed(&device, &study, direction) {
                    return skip("io_uring", "this machine does not offer it");
                }
            }
        }
    }
}

/// Runs a study; the kernel, the record's account of the disk and its account of the load must
/// say the same. False where the engine is not to be had.
#[track_caller]
fn is_witnessed(device: &Loop, study: &str, direction: &str) -> bool {
    let stand = Stand::new();
    let named = ["--target", device.path(), "--destroy-data", device.name()];
    let before = seen_by_kernel(device, direction);
    let ran = stand.run(study, &named);
    let after = seen_by_kernel(device, direction);
    if ran.err.contains("engine io_uring cannot be used here") {
        return false;
    }
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let record = stand.latest();
    stand::assert_sound(&record);
    let completed = record
        .jobs()
        .map(|job| job.accounting.completed)
        .sum::<u64>();
    assert!(completed > 0, "{study}");
    // Before a direct load, one block is read to see whether that works at all.
    let probes = u64::from(direction == "read");
    let expected = (completed + probes, (completed + probes) * 4 * KIB);
    let printed = known_by_record(&record, direction);
    assert_eq!(printed, expected, "the record of\n{study}");
    let seen = (after.0 - before.0, after.1 - before.1);
    assert_eq!(seen, expected, "the kernel's counters over\n{study}");
    true
}

/// As many writes as there are blocks, and no block is as it was: each was hit exactly once.
#[test]
fn every_block_is_written_exactly_once() {
    for (engine, depth) in [("psync", 1), ("libaio", 16)] {
        let stand = Stand::new();
        let file = stand.hole("once", 2 * MIB);
        let study = format!(
            "[[case]]\nname = \"once\"\nengine = \"{engine}\"\ndepth = {depth}\nmix = \"write\"\n\
             pattern = \"random-once\"\nloops = 1\n"
        );
        let record = stand.record(&study, &["--target", &file]);
        let writes = record.jobs().map(|job| ios(job, "write")).sum::<u64>();
        assert_eq!(writes, 512, "{engine}");
        let bytes = fs::read(&file).expect("the file");
        let untouched = bytes.chunks(4096).filter(|block| **block == [0; 4096]);
        assert_eq!(untouched.count(), 0, "{engine}");
    }
}

/// Two tools get the same load, and both report that they did just that.
#[test]
fn fio_and_blocklab_count_the_same_load() {
    let job = "--name=zero --ioengine=psync --filename=/dev/zero --rw=randread --bs=4k --size=64m";
    let options = "--number_ios=5000 --output-format=json";
    let args: Vec<&str> = job.split(' ').chain(options.split(' ')).collect();
    let Some(ran) = tool("fio", &args) else {
        return;
    };
    let fio: Value = serde_json::from_str(&ran).expect("JSON");
    let fio = &fio["jobs"][0]["read"];
    let stand = Stand::new();
    let study = "[[case]]\nname = \"zero\"\nengine = \"psync\"\naccess = \"buffered\"\n\
                 size = \"64MiB\"\nstop_bytes = \"20000KiB\"\n";
    let record = stand.record(study, &["--target", "/dev/zero"]);
    let reads = &record.jobs().next().expect("a job").directions[&Direction::Read];
    assert_eq!((reads.ios, reads.bytes), (5000, 20_000 * KIB));
    let theirs = (&fio["total_ios"], &fio["io_bytes"]);
    assert_eq!(theirs, (&Value::from(5000), &Value::from(20_000 * KIB)));
}

/// The reader of HdrHistogram's own project for Python. For each text a line: the count, the
/// quantiles 0.5, 0.99 and 0.999, then every value with its count.
const DECODE: &str = "
import sys
from hdrh.histogram import HdrHistogram
for text in sys.argv[1:]:
    found = HdrHistogram.decode(text)
    numbers = [found.get_total_count()]
    numbers += [found.get_value_at_percentile(p) for p in (50, 99, 99.9)]
    for step in found.get_recorded_iterator():
        numbers += [step.value_iterated_to, step.count_added_in_this_iter_step]
    print(*numbers)
";

#[test]
fn another_reader_finds_the_same_in_a_histogram() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let probe = Command::new(&python)
        .args(["-c", "import hdrh.histogram"])
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        let why = "no python3 with the package hdrhistogram here";
        return skip("reading a histogram with another program", why);
    }
    let stand = Stand::new();
    let study = "[[case]]\nname = \"rate\"\nengine = \"psync\"\nsize = \"4MiB\"\n\
                 rate_iops = 5000\narrivals = \"poisson\"\nmix = { read = 50, write = 50 }\n\
                 depth = 1\nstop_bytes = \"8MiB\"\n[[case]]\nname = \"fast\"\nengine = \"null\"\n\
                 stop_bytes = \"256MiB\"\n";
    let record = stand.record(study, &["--target", stand.disk_text()]);
    let directions = record.jobs().flat_map(|job| job.directions.values());
    let latencies: Vec<&Latency> = directions
        .flat_map(|direction| [Some(&direction.service), direction.response.as_ref()])
        .flatten()
        .collect();
    assert_eq!(
        latencies.len(),
        5,
        "reads, writes and their responses; reads"
    );
    let mut reader = Command::new(&python);
    reader.args(["-c", DECODE]);
    reader.args(latencies.iter().map(|latency| &latency.histogram_hdr));
    let output = reader.output().expect("python3 starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let found = String::from_utf8(output.stdout).expect("text");
    assert_eq!(found.lines().count(), latencies.len());
    for (line, latency) in found.lines().zip(latencies) {
        let numbers = line
            .split(' ')
            .map(|number| number.parse().expect("a number"));
        assert_same(&numbers.collect::<Vec<u64>>(), latency);
    }
}

/// What the other reader printed is what we hold.
#[track_caller]
fn assert_same(theirs: &[u64], ours: &Latency) {
    let histogram = ours.histogram().expect("our own");
    assert_eq!(theirs[0], ours.count);
    let mut again = Histogram::new().counts().to_vec();
    for pair in theirs[4..].chunks(2) {
        again[Histogram::index(pair[0])] += pair[1];
    }
    assert!(histogram.counts() == again, "other values or counts");
    for (share, theirs) in [0.5, 0.99, 0.999].into_iter().zip(&theirs[1..4]) {
        // They round the rank where we take the next one; each names another point of a bucket,
        // which is 1/64 of its value wide.
        let beside = |ranks: f64| histogram.quantile(share + ranks / ours.count as f64) as f64;
        let range =
            beside(-1.0) * (1.0 - 1.0 / 64.0) - 1.0..=beside(1.0) * (1.0 + 1.0 / 64.0) + 1.0;
        assert!(
            range.contains(&(*theirs as f64)),
            "{share}: {theirs} is not in {range:?}"
        );
    }
}

/// Mean operations in flight, by Little's law: how many come a second, times how long one stays.
fn in_flight(job: &JobResult) -> f64 {
    let moved = job.directions.values();
    let stays: f64 = moved.map(|d| d.service.mean_ns * d.ios as f64).sum();
    stays / job.elapsed_ns as f64
}

/// No machine is so slow or so loaded that more operations are in flight than there is room for.
#[test]
fn no_more_is_in_flight_than_was_requested() {
    let stand = Stand::new();
    for (engine, depth, threads) in [("psync", 1, 4), ("libaio", 16, 2), ("io_uring", 16, 2)] {
        let study = format!(
            "[[case]]\nname = \"a\"\nengine = \"{engine}\"\ndepth = {depth}\n\
             threads = {threads}\nsize = \"4MiB\"\nruntime = \"50ms\"\n"
        );
        let ran = stand.run(&study, &["--target", stand.disk_text()]);
        if ran.err.contains("engine io_uring cannot be used here") {
            skip("io_uring", "this machine does not offer it");
            continue;
        }
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let record = stand.latest();
        let job = record.jobs().next().expect("a job");
        let room = f64::from(depth * threads);
        // A clock that is read twice for one moment may differ by a little.
        assert!(
            in_flight(job) <= room * 1.01,
            "{engine}: {}",
            in_flight(job)
        );
    }
}

/// In virtual time nothing else runs, so that the law holds to the last operation.
#[test]
fn in_virtual_time_the_queue_is_always_full() {
    let stand = Stand::new();
    for depth in [1, 8, 32] {
        let study =
            format!("[[case]]\nname = \"a\"\ndepth = {depth}\nruntime = \"20s\"\nmix = \"read\"\n");
        let record = stand.record(&study, &["--target", "sim:gp3:1TiB@r5d.xlarge"]);
        let found = in_flight(record.jobs().next().expect("a job"));
        let share = found / f64::from(depth);
        assert!(
            (0.99..=1.000_001).contains(&share),
            "depth {depth}: {found}"
        );
    }
}
