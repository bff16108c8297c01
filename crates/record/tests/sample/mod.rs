//! A measured second and a run of such, for the tests of those who write reports of runs.

use std::collections::BTreeMap;

use blocklab_record::{
    Carrier, DirectionResult, Environment, FileSystem, JobResult, Latency, Measurement, Record,
    Requested, Stopped, TargetFacts,
};
use blocklab_stats::Histogram;
use blocklab_units::Bytes;
use blocklab_workload::{Case, Direction, EngineKind};

fn direction(ios: u64, block: u64, mean_ns: f64) -> DirectionResult {
    let mut histogram = Histogram::new();
    histogram.record(mean_ns as u64);
    DirectionResult::new(
        ios,
        ios * block,
        Latency {
            mean_ns,
            ..Latency::new(&histogram, mean_ns as u64, mean_ns as u64, mean_ns, 0.0)
        },
    )
}

/// One second in which `ios` operations of the case's direction came back.
pub fn measurement(case: &Case, pass: u32, ios: u64, mean_ns: f64) -> Measurement {
    let job = &case.workload.jobs[0];
    let block = job.sizes.largest().0;
    let names = match job.mix.read {
        100 => vec![Direction::Read],
        0 => vec![Direction::Write],
        _ => vec![Direction::Read, Direction::Write],
    };
    let share = ios / names.len() as u64;
    let directions = names
        .iter()
        .map(|name| (*name, Box::new(direction(share, block, mean_ns))));
    let result = JobResult {
        name: job.name.clone(),
        engine: Carrier::Engine(EngineKind::IoUring),
        threads: job.threads,
        depth: job.depth,
        effective_depth: job.depth,
        direct: Some(true),
        elapsed_ns: 1_000_000_000,
        stopped: Stopped::Runtime,
        directions: directions.collect::<BTreeMap<_, _>>(),
        ..JobResult::default()
    };
    Measurement {
        case: case.name.clone(),
        pass,
        elapsed_ns: 1_000_000_000,
        jobs: vec![result],
        ..Measurement::default()
    }
}

/// A complete run of these measurements.
pub fn record_of(measurements: Vec<Measurement>) -> Record {
    Record {
        id: "x".to_owned(),
        tool: "blocklab 0.1.0".to_owned(),
        started_at: "2024-05-25T09:00:00Z".to_owned(),
        finished_at: "2024-05-25T09:26:52Z".to_owned(),
        requested: Requested {
            name: "cdm".to_owned(),
            description: String::new(),
            seed: "1".to_owned(),
            aggregate: "best".to_owned(),
            passes: 3,
            ..Requested::default()
        },
        environment: Environment {
            kernel: "6.1.0-18-amd64".to_owned(),
            os: "Debian GNU/Linux 12".to_owned(),
            ..Environment::default()
        },
        targets: vec![TargetFacts {
            path: "/data/x".to_owned(),
            file_system: Some(FileSystem {
                mount_point: "/data".to_owned(),
                size_bytes: Bytes(932 << 30),
                free_bytes: Bytes(38 << 30),
                ..FileSystem::default()
            }),
            ..TargetFacts::default()
        }],
        measurements,
        ..Record::default()
    }
}
