//! A Record as a run leaves it, small and made by hand.

use std::collections::BTreeMap;

use blocklab_record::{
    Accounting, Carrier, DirectionResult, ErrorCount, ErrorKind, Interval, IntervalDirection,
    JobResult, Latency, Measurement, Record, Requested, Stopped, TargetFacts, TargetKind,
};
use blocklab_stats::Histogram;
use blocklab_units::Bytes;
use blocklab_workload::{Access, BlockSizes, Direction, EngineKind, Mix, Pattern, errno};

/// Two passes of a case that reads and writes, and a job that failed at once.
pub fn record(id: &str, started_at: &str) -> Record {
    Record {
        id: id.into(),
        tool: "blocklab 0.1.0".into(),
        started_at: started_at.into(),
        finished_at: started_at.into(),
        requested: requested(),
        targets: vec![TargetFacts {
            path: "/data/a, \"b\"".into(),
            kind: TargetKind::Scratch,
            size_bytes: Bytes::GIB,
            ..TargetFacts::default()
        }],
        measurements: vec![measurement(1), measurement(2)],
        ..Record::default()
    }
}

fn requested() -> Requested {
    Requested {
        name: "quick".into(),
        description: "A first look.".into(),
        native: "name = \"quick\"\n".into(),
        seed: "18446744073709551615".into(),
        aggregate: "mean".into(),
        passes: 2,
        ..Requested::default()
    }
}

fn measurement(pass: u32) -> Measurement {
    Measurement {
        case: "mixed".into(),
        settings: vec![("depth".into(), "32".into())],
        pass,
        started_ns: u64::from(pass) * 10_000_000_000,
        elapsed_ns: 2_000_000_000,
        setup_ns: 5_000,
        jobs: vec![good(), failed()],
        series: vec![interval(1, true), interval(2, false)],
        ..Measurement::default()
    }
}

fn good() -> JobResult {
    let both = [(Direction::Read, 1_000), (Direction::Write, 500)];
    let directions = both.map(|(way, ios)| (way, Box::new(direction(ios))));
    JobResult {
        directions: BTreeMap::from(directions),
        accounting: Accounting {
            issued: 1_500,
            completed: 1_500,
            ..Accounting::default()
        },
        ..job("load", Stopped::Runtime)
    }
}

fn failed() -> JobResult {
    let error = ErrorCount {
        kind: ErrorKind::Errno(errno::EIO),
        message: "Input/output error".into(),
        direction: Direction::Write,
        count: 1,
        first_at_ns: 7,
        first_offset: 4096,
    };
    JobResult {
        errors: vec![error],
        accounting: Accounting {
            issued: 1,
            failed: 1,
            ..Accounting::default()
        },
        ..job("broken", Stopped::Error)
    }
}

fn job(name: &str, stopped: Stopped) -> JobResult {
    JobResult {
        name: name.into(),
        engine: Carrier::Engine(EngineKind::IoUring),
        pattern: Some(Pattern::RANDOM),
        block_sizes: Some(BlockSizes::fixed(Bytes(4096))),
        mix: Some(Mix::reads(70)),
        access: Some(Access::Direct),
        threads: 1,
        depth: 32,
        effective_depth: 32,
        direct: Some(true),
        elapsed_ns: 2_000_000_000,
        stopped,
        ..JobResult::default()
    }
}

/// Latencies of 1, 2, 3 … µs.
fn direction(ios: u64) -> DirectionResult {
    let values = (1..=ios).map(|value| value * 1_000);
    let mut histogram = Histogram::new();
    values.clone().for_each(|value| histogram.record(value));
    let sum = values.clone().sum::<u64>() as f64;
    let squares = values.map(|value| (value * value) as f64).sum();
    let service = Latency::new(&histogram, 1_000, ios * 1_000, sum, squares);
    DirectionResult::new(ios, ios * 4096, service)
}

fn interval(second: u64, ramp: bool) -> Interval {
    Interval {
        end_ns: second * 1_000_000_000,
        length_ns: 1_000_000_000,
        ramp,
        read: IntervalDirection {
            ios: 500,
            bytes: 500 * 4096,
            mean_ns: 90_000,
            p50_ns: 88_000,
            p99_ns: 120_000,
            max_ns: 130_000,
            ..IntervalDirection::default()
        },
        ..Interval::default()
    }
}
