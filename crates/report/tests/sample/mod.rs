//! A Record and its Assessment as a run of `quick` on a small NVMe disk could leave them. Every
//! number follows from a seed in this file; nothing here is a measurement.

// Each test binary uses its own part.
#![allow(dead_code, unused_imports)]

mod findings;
mod history;
mod modelled;
mod study;

use std::collections::BTreeMap;

use blocklab_findings::{Assessment, Estimate, OnlyJob, ResponseNs, Row, RowDirection};
use blocklab_record::{
    Accounting, BlockDevice, Carrier, ClockFacts, Cpu, DeviceHealth, DirectionResult, DiskUse,
    Environment, ErrorCount, ErrorKind, FileSystem, Interval, IntervalDirection, JobResult,
    Latency, Measurement, Note, NoteLevel, Origin, Overhead, Percentiles, Processor, Record,
    Requested, Status, Stopped, TargetFacts, TargetKind, Unknown,
};
use blocklab_stats::Histogram;
use blocklab_units::Bytes;
use blocklab_workload::{Access, BlockSizes, Direction, EngineKind, Mix, Pattern, errno};
pub use findings::*;
pub use history::*;
pub use modelled::*;
pub use study::outcome;

/// A case of the sample.
struct Shape {
    name: &'static str,
    direction: &'static str,
    block: u64,
    depth: u32,
    iops: f64,
    tail: f64,
}

const QUICK: [Shape; 8] = [
    shape("seq1m-q8-read", "read", 1 << 20, 8, 3_065.0, 1.0),
    shape("seq1m-q8-write", "write", 1 << 20, 8, 1_912.0, 2.5),
    shape("seq128k-q32-read", "read", 1 << 17, 32, 24_710.0, 1.0),
    shape("seq128k-q32-write", "write", 1 << 17, 32, 15_240.0, 3.0),
    shape("rnd4k-q32-read", "read", 4096, 32, 281_400.0, 1.5),
    shape("rnd4k-q32-write", "write", 4096, 32, 198_300.0, 4.0),
    shape("rnd4k-q1-read", "read", 4096, 1, 11_830.0, 1.2),
    shape("rnd4k-q1-write", "write", 4096, 1, 42_120.0, 2.0),
];

const fn shape(
    name: &'static str,
    direction: &'static str,
    block: u64,
    depth: u32,
    iops: f64,
    tail: f64,
) -> Shape {
    Shape {
        name,
        direction,
        block,
        depth,
        iops,
        tail,
    }
}

/// Passes of each case.
pub const PASSES: u32 = 3;
/// Seconds of each pass.
pub const SECONDS: u64 = 12;

/// A small generator, so that the sample is the same everywhere.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal, mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// The run and what is said of it. `factor` scales the speed, `id` names the run.
pub fn run(id: &str, factor: f64) -> (Record, Assessment) {
    let mut dice = Dice(u64::from(id.len() as u32) + (factor * 1000.0) as u64);
    let mut measurements = Vec::new();
    let mut rows = Vec::new();
    for shape in &QUICK {
        let passes: Vec<_> = (1..=PASSES)
            .map(|pass| measure(shape, pass, factor, &mut dice))
            .collect();
        rows.push(row(shape, &passes));
        measurements.extend(passes.into_iter().map(|(measurement, _)| measurement));
    }
    let record = Record {
        measurements,
        ..empty(id)
    };
    let assessment = Assessment {
        rows,
        findings: findings(),
        quantile_error_percent: Some(Histogram::ERROR_BOUND * 100.0),
    };
    (record, assessment)
}

/// The rows as those of a matrix: four depths by two sizes, all of them reads.
pub fn sweep(assessment: &mut Assessment) {
    for (index, row) in assessment.rows.iter_mut().enumerate() {
        let depth = ["1", "8", "32", "64"][index % 4];
        let size = ["4KiB", "64KiB"][index / 4];
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        row.settings = vec![setting("depth", depth), setting("block_size", size)];
        row.case = format!("rnd-depth{depth}-block_size{size}");
        row.directions[0].direction = Direction::Read;
    }
}

/// The sweep as on a volume of 3,000 IOPS and 128 MiB/s.
pub fn slow_down(assessment: &mut Assessment) {
    for (index, row) in assessment.rows.iter_mut().enumerate() {
        let block = [4096.0, 65536.0][index / 4];
        let moved = &mut row.directions[0];
        let iops = [1_640.0, 3_000.0, 3_000.0, 3_000.0][index % 4];
        let iops = f64::min(iops, 128.0 * 1_048_576.0 / block);
        moved.iops = estimate(&[iops; 3]);
        moved.bytes_per_s = estimate(&[iops * block; 3]);
    }
}

/// The sweep as the reads of a mixed load, each at half of the rate.
pub fn mix_all(assessment: &mut Assessment) {
    for moved in assessment.rows.iter_mut().map(|row| &mut row.directions[0]) {
        for estimate in [&mut moved.iops, &mut moved.bytes_per_s] {
            estimate.value /= 2.0;
        }
    }
}

/// Every case under other names as well, this many times: more than there are colours.
pub fn repeat(record: &mut Record, assessment: &mut Assessment, times: usize) {
    let (rows, measurements) = (assessment.rows.clone(), record.measurements.clone());
    for copy in 1..times {
        let named = |case: &str| format!("{case}-{copy}");
        assessment.rows.extend(rows.iter().cloned().map(|mut row| {
            row.case = named(&row.case);
            row
        }));
        let copies = measurements.iter().cloned().map(|mut measurement| {
            measurement.case = named(&measurement.case);
            measurement
        });
        record.measurements.extend(copies);
    }
}

/// The passes of the first case again and again, up to this many.
pub fn add_passes(record: &mut Record, passes: u32) {
    let first = record.measurements[0].clone();
    for pass in PASSES + 1..=passes {
        let mut measurement = first.clone();
        measurement.pass = pass;
        measurement.started_ns = u64::from(pass) * 60_000_000_000;
        record.measurements.push(measurement);
    }
}

/// This many runs of the same load on slower and slower disks.
pub fn many(runs: usize) -> Vec<(Record, Assessment)> {
    let each = |run: usize| self::run(&format!("7f3a{run}c"), 1.0 / (1.0 + run as f64));
    (0..runs).map(each).collect()
}

/// Base latency of an operation by Little's law, spread, with a rare slow mode.
fn histogram(shape: &Shape, iops: f64, count: u64, dice: &mut Dice) -> (Histogram, [f64; 4]) {
    let base = f64::from(shape.depth) / iops * 1e9 * 0.93;
    let mut counts = vec![0u64; Histogram::BUCKETS];
    let (mut min, mut max, mut sum, mut squares) = (f64::MAX, 0.0f64, 0.0, 0.0);
    // A draw stands for several operations, so that large counts stay cheap.
    let draws = count.min(4000);
    for _ in 0..draws {
        let slow = if dice.unit() < 0.004 {
            3.0 + 9.0 * dice.unit() * shape.tail
        } else {
            1.0
        };
        let value = base * slow * (0.16 * shape.tail.sqrt() * dice.normal()).exp();
        counts[Histogram::index(value as u64)] += count / draws;
        min = min.min(value);
        max = max.max(value);
        sum += value;
        squares += value * value;
    }
    counts[Histogram::index(base as u64)] += count % draws;
    let each = count as f64 / draws as f64;
    let moments = [min, max, sum * each, squares * each];
    (Histogram::from_counts(counts), moments)
}

fn measure(shape: &Shape, pass: u32, factor: f64, dice: &mut Dice) -> (Measurement, Histogram) {
    let iops = shape.iops * factor * (1.0 + 0.011 * dice.normal());
    let ios = (iops * SECONDS as f64) as u64;
    let (histogram, [min, max, sum, squares]) = histogram(shape, iops, ios, dice);
    let service = Latency::new(&histogram, min as u64, max as u64, sum, squares);
    let series = series(shape, iops, &service, dice);
    let direction = DirectionResult::new(ios, ios * shape.block, service);
    let measurement = Measurement {
        case: shape.name.to_owned(),
        pass,
        started_ns: u64::from(pass) * 60_000_000_000,
        elapsed_ns: (SECONDS + 1) * 1_000_000_000,
        setup_ns: 1_200_000,
        jobs: vec![job(shape, direction)],
        series,
        cpu: Cpu {
            user_ns: ios * 400,
            system_ns: ios * 2_100,
            voluntary_switches: ios / 20,
            machine_busy_percent: 22,
            busiest_thread_percent: 71,
            ..Cpu::default()
        },
        disks: vec![DiskUse {
            name: "nvme0n1".to_owned(),
            ..DiskUse::default()
        }],
        ..Measurement::default()
    };
    (measurement, histogram)
}

fn way(shape: &Shape) -> Direction {
    match shape.direction {
        "read" => Direction::Read,
        _ => Direction::Write,
    }
}

fn job(shape: &Shape, direction: DirectionResult) -> JobResult {
    let ios = direction.ios;
    JobResult {
        name: shape.name.to_owned(),
        engine: Carrier::Engine(EngineKind::IoUring),
        pattern: Some(if shape.name.starts_with("rnd") {
            Pattern::RANDOM
        } else {
            Pattern::Sequential
        }),
        block_sizes: Some(BlockSizes::fixed(Bytes(shape.block))),
        mix: Some(match way(shape) {
            Direction::Read => Mix::READ,
            _ => Mix::WRITE,
        }),
        access: Some(Access::Direct),
        threads: 1,
        depth: shape.depth,
        effective_depth: shape.depth,
        direct: Some(true),
        elapsed_ns: SECONDS * 1_000_000_000,
        stopped: Stopped::Runtime,
        directions: BTreeMap::from([(way(shape), Box::new(direction))]),
        accounting: Accounting {
            issued: ios + 2_000,
            completed: ios + 2_000,
            completed_in_ramp: 2_000,
            ..Accounting::default()
        },
        ..JobResult::default()
    }
}

fn series(shape: &Shape, iops: f64, latency: &Latency, dice: &mut Dice) -> Vec<Interval> {
    (0..=SECONDS)
        .map(|second| interval(shape, second, iops, latency, dice))
        .collect()
}

fn interval(shape: &Shape, second: u64, iops: f64, latency: &Latency, dice: &mut Dice) -> Interval {
    let dip = if second == 7 && shape.direction == "write" {
        0.72
    } else {
        1.0
    };
    let speed = dip * (1.0 + 0.02 * dice.normal());
    let ios = (iops * speed) as u64;
    let direction = IntervalDirection {
        ios,
        bytes: ios * shape.block,
        mean_ns: (latency.mean_ns / speed) as u64,
        p50_ns: (latency.p50_ns as f64 / speed) as u64,
        p99_ns: (latency.p99_ns as f64 / speed / speed) as u64,
        max_ns: latency.max_ns,
        ..IntervalDirection::default()
    };
    let mut interval = Interval {
        end_ns: (second + 1) * 1_000_000_000,
        length_ns: 1_000_000_000,
        ramp: second == 0,
        cpu_ns: ios * 2_500,
        ..Interval::default()
    };
    match shape.direction {
        "read" => interval.read = direction,
        _ => interval.write = direction,
    }
    interval
}

/// An estimate from the passes, with Student's t for three of them.
pub fn estimate(values: &[f64]) -> Estimate {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let half = 4.303 * (variance / n).sqrt();
    let several = values.len() > 1;
    Estimate {
        value: mean,
        low: several.then_some(mean - half),
        high: several.then_some(mean + half),
        min: values.iter().copied().fold(f64::MAX, f64::min),
        max: values.iter().copied().fold(0.0, f64::max),
        cv_percent: variance.sqrt() / mean * 100.0,
        passes: values.len() as u32,
    }
}

fn row(shape: &Shape, passes: &[(Measurement, Histogram)]) -> Row {
    let jobs: Vec<&JobResult> = passes.iter().map(|(m, _)| &m.jobs[0]).collect();
    let of = |figure: &dyn Fn(&JobResult) -> f64| {
        estimate(&jobs.iter().map(|job| figure(job)).collect::<Vec<_>>())
    };
    let mut merged = Histogram::new();
    passes
        .iter()
        .for_each(|(_, histogram)| merged.merge(histogram));
    let mut direction = direction(way(shape), &merged);
    direction.iops = of(&JobResult::iops);
    direction.bytes_per_s = of(&JobResult::bytes_per_s);
    direction.each_iops = jobs.iter().map(|job| job.iops()).collect();
    direction.each_bytes_per_s = jobs.iter().map(|job| job.bytes_per_s()).collect();
    direction.mean_ns = of(&|job: &JobResult| job.directions[&way(shape)].service.mean_ns);
    let random = if shape.name.starts_with("rnd") {
        "random"
    } else {
        "sequential"
    };
    let (size, direction_name) = (Bytes(shape.block), shape.direction);
    let other_settings = format!("io_uring, {size} {random} {direction_name}");
    Row {
        case: shape.name.to_owned(),
        settings: Vec::new(),
        what: format!("{other_settings}, depth {}, 1 thread", shape.depth),
        only_job: Some(OnlyJob {
            depth: shape.depth,
            threads: 1,
            block_bytes: Some(shape.block),
            other_settings,
        }),
        directions: vec![direction],
        errors: 0,
        cpu_ns_per_io: 2_500.0,
    }
}

/// A direction of a row whose percentiles come from this histogram; the estimates are zero.
pub fn direction(way: Direction, histogram: &Histogram) -> RowDirection {
    let q = |q| histogram.quantile(q);
    RowDirection {
        direction: way,
        iops: estimate(&[0.0]),
        bytes_per_s: estimate(&[0.0]),
        each_iops: Vec::new(),
        each_bytes_per_s: Vec::new(),
        mean_ns: estimate(&[0.0]),
        service_ns: Percentiles::new(histogram, 0, u64::MAX),
        min_ns: q(0.0),
        max_ns: q(1.0),
        response_ns: None,
        response_curve: Vec::new(),
        response_bins: Vec::new(),
        ios: histogram.count(),
        unknown: Unknown::default(),
        curve: histogram.curve().collect(),
        bins: histogram.edges().collect(),
    }
}

/// Gives the first case a response latency, as under an open-loop pace: twice the service latency.
pub fn pace(assessment: &mut Assessment) {
    let direction = &mut assessment.rows[0].directions[0];
    let twice = direction.bins.iter();
    direction.response_bins = twice
        .map(|(low, high, n)| (low * 2, high * 2, *n))
        .collect();
    let twice = direction.curve.iter();
    direction.response_curve = twice.map(|(share, ns)| (*share, ns * 2)).collect();
    direction.response_ns = Some(ResponseNs {
        percentiles: Percentiles::each(|it| direction.service_ns.at(it.name) * 2),
        max: direction.max_ns * 2,
    });
}

/// A record of this run before anything was measured.
pub fn empty(id: &str) -> Record {
    Record {
        id: id.to_owned(),
        tool: "blocklab 0.1.0".to_owned(),
        started_at: "2025-11-20T14:03:22Z".to_owned(),
        finished_at: "2025-11-20T14:08:41Z".to_owned(),
        requested: Requested {
            name: "quick".to_owned(),
            description: "the eight numbers that people compare, in about a minute".to_owned(),
            native: NATIVE.to_owned(),
            seed: "11400714819323198485".to_owned(),
            aggregate: "mean".to_owned(),
            passes: PASSES,
            ..Requested::default()
        },
        environment: environment(),
        targets: vec![target()],
        overhead: Some(Overhead {
            depth1_ns: 61.0,
            depth32_ns: 38.0,
            clock: ClockFacts {
                source: "tsc".to_owned(),
                read_ns: 11.2,
                error_ppm: 0.4,
            },
        }),
        notes: vec![Note {
            level: NoteLevel::Assumed,
            subject: "size".to_owned(),
            text: "the scratch file is 1 GiB, since none was asked for".to_owned(),
        }],
        ..Record::default()
    }
}

const NATIVE: &str = "# quick: the eight numbers that people compare\nname = \"quick\"\n\
passes = 3\naggregate = \"mean\"\nseed = \"11400714819323198485\"\n\n[[case]]\n\
name = \"seq1m-q8-read\"\nengine = \"io_uring\"\npattern = \"sequential\"\nread = \"100%\"\n\
block = \"1MiB\"\ndepth = 8\nruntime = \"12s\"\nramp = \"1s\"\n";

fn environment() -> Environment {
    Environment {
        kernel: "6.1.0-18-amd64".to_owned(),
        os: "Debian GNU/Linux 12".to_owned(),
        processor: Processor {
            frequency_mhz: Some(2_900),
            model: "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz".to_owned(),
            count: 8,
            governor: None,
            hypervisor: Some("KVM".to_owned()),
        },
        memory_bytes: Bytes(32 << 30),
        instance: Some("m5d.2xlarge".to_owned()),
        clocksource: "tsc".to_owned(),
        ..Environment::default()
    }
}

fn target() -> TargetFacts {
    TargetFacts {
        path: "/data/blocklab.scratch".to_owned(),
        kind: TargetKind::Scratch,
        size_bytes: Bytes(1 << 30),
        file_system: Some(FileSystem {
            kind: "ext4".to_owned(),
            mount_point: "/data".to_owned(),
            options: "rw,relatime".to_owned(),
            size_bytes: Bytes(270 << 30),
            free_bytes: Bytes(201 << 30),
        }),
        devices: vec![BlockDevice {
            firmware: Some("GDC5602Q".to_owned()),
            health: Some(DeviceHealth {
                temperature_celsius: Some(41),
                wear_percent: Some(3),
                ..DeviceHealth::default()
            }),
            name: "nvme1n1".to_owned(),
            number: "259:1".to_owned(),
            model: Some("Amazon EC2 NVMe Instance Storage".to_owned()),
            serial: Some("AWS22AAE6D1BC5A1B2C3".to_owned()),
            size_bytes: Bytes(300_000_000_000),
            logical_block_bytes: Bytes(512),
            physical_block_bytes: Bytes(512),
            rotational: false,
            scheduler: Some("none".to_owned()),
            queue_requests: Some(1023),
            read_ahead_bytes: Bytes(128 << 10),
            write_cache: Some("write through".to_owned()),
            discard_max_bytes: Bytes(0),
            cloud: Some("instance-store".to_owned()),
            transport: "nvme".to_owned(),
            loop_direct: None,
        }],
        direct_memory_align: Some(4),
        direct_offset_align: Some(512),
        ..TargetFacts::default()
    }
}

/// Adds a failed operation to the first measurement, and stops the run there.
pub fn fail(record: &mut Record) {
    record.status = Status::Failed;
    record.failure = Some("the device no longer answers".to_owned());
    let job = &mut record.measurements[0].jobs[0];
    job.accounting.issued += 3;
    job.accounting.failed += 3;
    job.errors.push(ErrorCount {
        kind: ErrorKind::Errno(errno::EIO),
        message: "Input/output error".to_owned(),
        direction: Direction::Read,
        count: 3,
        first_at_ns: 2_500_000_000,
        first_offset: 1 << 21,
    });
}

/// A run of format 2, whose assumptions say "assumed" themselves.
pub fn described() -> Record {
    let golden = include_str!("../../../record/golden/v2/described.json");
    let record = Record::from_json(golden).expect("a golden record");
    assert!(record.targets[0].assumptions[0].contains(": assumed: as gp3"));
    record
}
