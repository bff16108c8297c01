//! Simulated runs for tests: sketches of cases, and what the model counted of them.

use blocklab_device::{Covers, Limit, LimitKind, LimitName, LimitUnit, Origin};
use blocklab_record::{LimitUse, Measurement, ModelUse, Record, TargetUse};

use super::{Sketch, record};

pub(crate) fn limit(
    owner: &str,
    volumes: Option<u32>,
    kind: LimitKind,
    value: f64,
    unit: LimitUnit,
) -> Limit {
    Limit {
        name: LimitName {
            owner: owner.to_owned(),
            volumes,
            kind,
        },
        value,
        unit,
        origin: Origin::documented("guide", "2024"),
    }
}

pub(crate) fn rate(limiter: &str) -> LimitKind {
    LimitKind::Rate {
        limiter: limiter.to_owned(),
        covers: Covers::All,
    }
}

pub(crate) fn volume_iops(value: f64) -> Limit {
    limit("gp3", Some(1), rate("volume IOPS"), value, LimitUnit::Iops)
}

pub(crate) fn volume_throughput(value: f64) -> Limit {
    limit(
        "gp3",
        Some(1),
        rate("volume throughput"),
        value,
        LimitUnit::MibPerS,
    )
}

pub(crate) fn instance_throughput() -> Limit {
    limit(
        "m5.4xlarge",
        None,
        rate("EBS throughput"),
        593.75,
        LimitUnit::MbPerS,
    )
}

/// Baseline, burst and bucket of credits.
pub(crate) fn credits(
    owner: &str,
    volumes: Option<u32>,
    values: [f64; 3],
    unit: LimitUnit,
) -> Vec<Limit> {
    let limiter = "credits".to_owned();
    let bucket_unit = match unit {
        LimitUnit::Iops => LimitUnit::Operations,
        _ => LimitUnit::Bytes,
    };
    let [baseline, burst, bucket] = values;
    vec![
        limit(
            owner,
            volumes,
            LimitKind::Baseline {
                limiter: limiter.clone(),
            },
            baseline,
            unit,
        ),
        limit(
            owner,
            volumes,
            LimitKind::Burst {
                limiter: limiter.clone(),
            },
            burst,
            unit,
        ),
        limit(
            owner,
            volumes,
            LimitKind::Bucket { limiter },
            bucket,
            bucket_unit,
        ),
    ]
}

pub(crate) fn reads(case: &str, iops: f64, kib: u64, depth: u32) -> Sketch {
    Sketch {
        iops: vec![iops; 3],
        block: kib * 1024,
        depth,
        ..Sketch::named(case)
    }
}

/// A simulated run: of each target its limits, each with the share of the time for which
/// operations waited for it. Targets share the load evenly.
pub(crate) fn simulated(targets: &[Vec<(Limit, f64)>], sketches: &[Sketch]) -> Record {
    let mut record = record(sketches);
    record.origin = blocklab_record::Origin::Simulated;
    let facts = targets
        .iter()
        .zip(["sim:gp3:1TiB@m5.4xlarge", "sim:gp3:2TiB@m5.4xlarge"]);
    record.targets = facts
        .map(|(limits, path)| blocklab_record::TargetFacts {
            path: path.to_owned(),
            limits: limits.iter().map(|(limit, _)| limit.clone()).collect(),
            ..facts_of_model()
        })
        .collect();
    for pass in &mut record.measurements {
        pass.model = Some(Box::new(model_use(targets, pass)));
    }
    record
}

fn facts_of_model() -> blocklab_record::TargetFacts {
    blocklab_record::TargetFacts {
        kind: blocklab_record::TargetKind::Model,
        ..Default::default()
    }
}

fn model_use(targets: &[Vec<(Limit, f64)>], pass: &Measurement) -> ModelUse {
    let moved = pass.jobs[0]
        .directions
        .values()
        .next()
        .expect("a direction");
    let many = targets.len() as u64;
    let in_device_ns = pass.elapsed_ns * u64::from(pass.jobs[0].depth) / many;
    let mut limits = Vec::new();
    for (target, own) in targets.iter().enumerate() {
        for (limit, share) in own {
            let is_own = limit.name.volumes.is_some();
            // A limit of the instance binds all targets and is counted with the first.
            if !(is_own || target == 0) || limit.unit.per_second().is_none() {
                continue;
            }
            let units = match limit.unit {
                LimitUnit::Iops => moved.ios,
                _ => moved.bytes,
            };
            let waited_ns = (in_device_ns as f64 * share) as u64;
            limits.push(LimitUse {
                targets: if is_own {
                    vec![target as u32]
                } else {
                    (0..many as u32).collect()
                },
                limit: limit.name.clone(),
                units: if is_own { units / many } else { units },
                busiest_units: None,
                waited_ns: if is_own { waited_ns } else { waited_ns * many },
                emptied_at_ns: Vec::new(),
            });
        }
    }
    ModelUse {
        targets: (0..many as u32)
            .map(|target| TargetUse {
                target,
                ios: moved.ios / many,
                bytes: moved.bytes / many,
                in_device_ns,
            })
            .collect(),
        limits,
    }
}

/// `gp3:1TiB,iops=6000,throughput=500`, of which these hold operations back.
pub(crate) fn gp3(iops: f64, throughput: f64) -> Vec<(Limit, f64)> {
    vec![
        (volume_iops(6000.0), iops),
        (volume_throughput(500.0), throughput),
    ]
}
