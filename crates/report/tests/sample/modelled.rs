//! The sample as if a model had answered.

use blocklab_compare::expect::{Compared, LimitCheck, State};
use blocklab_device::{self as device, Covers, Limit, LimitKind, LimitName, LimitUnit, Operation};
use blocklab_record::{Cpu, Origin, Record, TargetFacts, TargetKind};
use blocklab_units::Bytes;

/// Makes the record one of a model, in virtual time or in real time.
pub fn model(record: &mut Record, origin: Origin) {
    let road = match origin {
        Origin::Emulated => "emu",
        _ => "sim",
    };
    record.origin = origin;
    record.notes.clear();
    record.targets = vec![target(road)];
    if origin == Origin::Emulated {
        return;
    }
    record.overhead = None;
    for measurement in &mut record.measurements {
        measurement.cpu = Cpu::default();
        measurement.disks.clear();
        measurement
            .series
            .iter_mut()
            .for_each(|slice| slice.cpu_ns = 0);
    }
}

fn limit(owner: &str, kind: LimitKind, value: f64, unit: LimitUnit) -> Limit {
    let is_volume = owner == "gp2" && !matches!(kind, LimitKind::Bound { .. });
    Limit {
        name: LimitName {
            owner: owner.to_owned(),
            volumes: is_volume.then_some(1),
            kind,
        },
        value,
        unit,
        origin: device::Origin::documented("a guide, chapter 3", "2024-08-02"),
    }
}

fn limits() -> Vec<Limit> {
    let cap = LimitKind::Rate {
        limiter: "volume throughput".to_owned(),
        covers: Covers::All,
    };
    let limiter = || "burst credits".to_owned();
    let baseline = LimitKind::Baseline { limiter: limiter() };
    let burst = LimitKind::Burst { limiter: limiter() };
    let bucket = LimitKind::Bucket { limiter: limiter() };
    let operation = Operation::Read;
    let latency = LimitKind::Latency { operation };
    let granted = || "EBS throughput".to_owned();
    let less = LimitKind::Baseline { limiter: granted() };
    let more = LimitKind::Burst { limiter: granted() };
    let what = "max IOPS".to_owned();
    vec![
        limit("gp2", cap, 128.0, LimitUnit::MibPerS),
        limit("gp2", baseline, 300.0, LimitUnit::Iops),
        limit("gp2", burst, 3000.0, LimitUnit::Iops),
        limit("gp2", bucket, 5.4e6, LimitUnit::Operations),
        Limit {
            origin: device::Origin::assumed("nobody measured it"),
            ..limit("gp2", latency, 1000.0, LimitUnit::Micros)
        },
        limit("m5.large", less, 81.25, LimitUnit::MbPerS),
        limit("m5.large", more, 593.75, LimitUnit::MbPerS),
        limit("gp2", LimitKind::Bound { what }, 16_000.0, LimitUnit::Iops),
    ]
}

fn target(road: &str) -> TargetFacts {
    TargetFacts {
        path: format!("{road}:gp2:100GiB@m5.large"),
        kind: TargetKind::Model,
        size_bytes: Bytes(100 << 30),
        limits: limits(),
        assumptions: vec![
            "gp2: read latency 1000 µs: nobody measured it".to_owned(),
            "gp2: scatter of latencies, sigma 0.3: as that of another type, which is \
             the only one that was ever measured"
                .to_owned(),
        ],
        ..TargetFacts::default()
    }
}

/// A volume sold with 8,000 IOPS that gave 6,000.
pub fn missed() -> Compared {
    let cap = LimitKind::Rate {
        limiter: "volume IOPS".to_owned(),
        covers: Covers::All,
    };
    let documented = limit("gp3", cap, 8_000.0, LimitUnit::Iops);
    Compared {
        address: "gp3:1TiB,iops=8000".to_owned(),
        cases: Vec::new(),
        limits: vec![LimitCheck {
            limit: documented.name.to_string(),
            target: None,
            value: documented.value,
            unit: documented.unit.text(),
            origin: documented.origin.to_string(),
            documented,
            state: State::Missed,
            case: None,
            delivered: Some(6_000.0),
            delivered_ci95_low: Some(5_990.0),
            delivered_ci95_high: Some(6_010.0),
            scatter: None,
            how_to_test: None,
        }],
    }
}
