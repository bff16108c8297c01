//! The sample as if a model had answered.

use blocklab_record::{Cpu, LimitFact, Origin, Record, TargetFacts, TargetKind};
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

fn target(road: &str) -> TargetFacts {
    let limit = |name: &str, value, unit: &str, origin: &str| LimitFact {
        name: name.to_owned(),
        value,
        unit: unit.to_owned(),
        origin: origin.to_owned(),
        bound: false,
    };
    let guide = "documented: a guide, chapter 3, 2024-08-02";
    let assumed = "assumed: nobody measured it";
    TargetFacts {
        path: format!("{road}:gp2:100GiB@m5.large"),
        kind: TargetKind::Model,
        size_bytes: Bytes(100 << 30),
        limits: vec![
            limit("gp2: volume throughput", 128.0, "MiB/s", guide),
            limit("gp2: burst credits (baseline)", 300.0, "IOPS", guide),
            limit("gp2: burst credits (burst)", 3000.0, "IOPS", guide),
            limit("gp2: burst credits (bucket)", 5.4e6, "operations", guide),
            limit("gp2: read latency", 1000.0, "µs", assumed),
            limit("m5.large: EBS throughput (baseline)", 81.25, "MB/s", guide),
            limit("m5.large: EBS throughput (burst)", 593.75, "MB/s", guide),
            LimitFact {
                bound: true,
                ..limit("gp2: max IOPS", 16_000.0, "IOPS", guide)
            },
        ],
        assumptions: vec![
            "gp2: read latency 1000 µs: assumed: nobody measured it".to_owned(),
            "gp2: scatter of latencies, sigma 0.3: assumed: as that of another type, which is \
             the only one that was ever measured"
                .to_owned(),
        ],
        ..TargetFacts::default()
    }
}
