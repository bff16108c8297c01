//! A small record maker for tests: sketches of cases in, a sound Record out.

use blocklab_record::{
    Accounting, BlockDevice, Carrier, Cpu, DirectionResult, DiskUse, Environment, FileSystem,
    Interval, IntervalDirection, JobResult, Latency, Measurement, Processor, Record, Requested,
    Stopped, TargetFacts, TargetKind,
};
use blocklab_stats::Histogram;
use blocklab_units::Bytes;
use blocklab_workload::{Access, BlockSizes, Direction, Mix, Pattern};

/// One case; the default is a healthy one: direct 4 KiB random reads at depth 32, 10,000 IOPS,
/// three passes of ten seconds.
#[derive(Debug, Clone)]
pub struct Sketch {
    pub case: String,
    pub engine: &'static str,
    pub direction: &'static str,
    pub block: u64,
    pub depth: u32,
    pub threads: u32,
    pub seconds: u32,
    /// One a pass.
    pub iops: Vec<f64>,
    /// Mean latency; `None`: what Little's law gives.
    pub latency_ns: Option<f64>,
    /// Shares of latencies at multiples of the mean.
    pub spread: &'static [(f64, f64)],
    pub direct: bool,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            case: "rand4k-q32-read".to_owned(),
            engine: "io_uring",
            direction: "read",
            block: 4096,
            depth: 32,
            threads: 1,
            seconds: 10,
            iops: vec![10_000.0; 3],
            latency_ns: None,
            spread: &[
                (0.6, 0.1),
                (0.85, 0.25),
                (1.0, 0.3),
                (1.15, 0.25),
                (1.4, 0.1),
            ],
            direct: true,
        }
    }
}

impl Sketch {
    /// A healthy case with this rate in each pass.
    pub fn of_rates(iops: &[f64]) -> Self {
        Self {
            iops: iops.to_vec(),
            ..Self::default()
        }
    }

    /// A healthy case of this name.
    pub fn named(case: &str) -> Self {
        Self {
            case: case.to_owned(),
            ..Self::default()
        }
    }
}

fn direction(name: &str) -> Direction {
    let mut all = Direction::ALL.into_iter();
    all.find(|it| it.name() == name).expect("a direction")
}

impl Sketch {
    fn measurement(&self, pass: u32, iops: f64) -> Measurement {
        let job = self.job(iops);
        let bytes = job.directions[&direction(self.direction)].bytes;
        let reads = self.direction == "read";
        let elapsed = u64::from(self.seconds) * 1_000_000_000;
        Measurement {
            case: self.case.clone(),
            pass,
            started_ns: u64::from(pass) * 20_000_000_000,
            elapsed_ns: elapsed,
            setup_ns: 1_000_000,
            jobs: vec![job],
            series: vec![self.interval(iops); self.seconds as usize]
                .into_iter()
                .zip(1u64..)
                .map(|(slice, second)| Interval {
                    end_ns: second * 1_000_000_000,
                    ..slice
                })
                .collect(),
            cpu: Cpu {
                user_ns: elapsed / 10,
                system_ns: elapsed / 10,
                machine_busy_percent: 15,
                busiest_thread_percent: 20,
                ..Cpu::default()
            },
            disks: vec![DiskUse {
                name: "nvme0n1".to_owned(),
                read_bytes: if reads { bytes } else { 0 },
                write_bytes: if reads { 0 } else { bytes },
                ..DiskUse::default()
            }],
            ..Measurement::default()
        }
    }

    fn interval(&self, iops: f64) -> Interval {
        let moved = IntervalDirection {
            ios: iops as u64,
            bytes: iops as u64 * self.block,
            ..IntervalDirection::default()
        };
        let mut interval = Interval {
            length_ns: 1_000_000_000,
            ..Interval::default()
        };
        match self.direction {
            "read" => interval.read = moved,
            _ => interval.write = moved,
        }
        interval
    }

    fn job(&self, iops: f64) -> JobResult {
        let asynchronous = ["io_uring", "libaio", "null"].contains(&self.engine);
        let effective_depth = if asynchronous { self.depth } else { 1 };
        let slots = f64::from(self.threads * effective_depth);
        let service = self.latency(
            iops,
            self.latency_ns.unwrap_or(slots * 1e9 / iops.max(1e-3)),
        );
        let result = DirectionResult::new(service.count, service.count * self.block, service);
        JobResult {
            name: "load".to_owned(),
            engine: Carrier::named(self.engine),
            pattern: Some(Pattern::RANDOM),
            block_sizes: Some(BlockSizes::fixed(Bytes(self.block))),
            mix: Some(match direction(self.direction) {
                Direction::Read => Mix::READ,
                Direction::Trim => Mix::TRIM,
                _ => Mix::WRITE,
            }),
            access: Some(if self.direct {
                Access::Direct
            } else {
                Access::Buffered
            }),
            threads: self.threads,
            depth: self.depth,
            effective_depth,
            direct: Some(self.direct),
            elapsed_ns: u64::from(self.seconds) * 1_000_000_000,
            stopped: Stopped::Runtime,
            accounting: Accounting {
                issued: result.ios,
                completed: result.ios,
                ..Accounting::default()
            },
            directions: [(direction(self.direction), Box::new(result))].into(),
            ..JobResult::default()
        }
    }

    fn latency(&self, iops: f64, mean: f64) -> Latency {
        let total = iops * f64::from(self.seconds);
        let mut counts = vec![0; Histogram::BUCKETS];
        let (mut least, mut most) = (u64::MAX, 0);
        for (multiple, share) in self.spread {
            let value = (mean * multiple) as u64;
            counts[Histogram::index(value)] += (share * total).round() as u64;
            (least, most) = (least.min(value), most.max(value));
        }
        let histogram = Histogram::from_counts(counts);
        let sum = mean * histogram.count() as f64;
        Latency::new(&histogram, least, most, sum, sum * mean)
    }
}

/// A complete record of these cases on an NVMe device below ext4, each pass in turn.
pub fn record(sketches: &[Sketch]) -> Record {
    let passes = sketches.iter().map(|sketch| sketch.iops.len()).max();
    let passes = passes.unwrap_or(0);
    let steps = (0..passes).flat_map(|pass| sketches.iter().map(move |sketch| (pass, sketch)));
    let taken = steps.filter_map(|(pass, sketch)| {
        let iops = *sketch.iops.get(pass)?;
        Some(sketch.measurement(pass as u32 + 1, iops))
    });
    Record {
        id: "t3st".to_owned(),
        tool: "blocklab 0".to_owned(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        finished_at: "2026-01-01T00:10:00Z".to_owned(),
        requested: Requested {
            name: "test".to_owned(),
            description: String::new(),
            seed: "1".to_owned(),
            aggregate: "mean".to_owned(),
            passes: passes as u32,
            ..Requested::default()
        },
        environment: Environment {
            processor: Processor {
                count: 4,
                ..Processor::default()
            },
            ..Environment::default()
        },
        targets: vec![TargetFacts {
            path: "/data/scratch".to_owned(),
            kind: TargetKind::Scratch,
            file_system: Some(FileSystem {
                kind: "ext4".to_owned(),
                ..FileSystem::default()
            }),
            devices: vec![BlockDevice {
                name: "nvme0n1".to_owned(),
                ..BlockDevice::default()
            }],
            ..TargetFacts::default()
        }],
        measurements: taken.collect(),
        ..Record::default()
    }
}
