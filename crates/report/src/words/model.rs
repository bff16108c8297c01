//! The words for the limits and assumptions of a modelled device.

use blocklab_device::{Limit, LimitKind, LimitName, LimitUnit, Origin as Evidence};
use blocklab_record::{Origin, Record, TargetFacts, TargetKind};
use blocklab_units::stated;

/// The targets of a run that a model describes, wholly or by its limits.
pub fn targets(record: &Record) -> impl Iterator<Item = &TargetFacts> {
    record.targets.iter().filter(|target| {
        target.kind == TargetKind::Model
            || !target.limits.is_empty()
            || !target.assumptions.is_empty()
    })
}

/// What the model did in a run of this origin.
pub const fn meaning(origin: Origin) -> &'static str {
    match origin {
        Origin::Simulated => {
            "No device took part: the model answered in virtual time, where nothing else disturbs. \
             The figures are predictions."
        }
        Origin::Emulated => {
            "No device took part: the model paced every operation in real time, inside this \
             program. Latencies include what this machine added."
        }
        Origin::Measured | Origin::Imported => "What is known of the target's limits.",
    }
}

/// The value of a limit with its unit: `125 MiB/s`; bytes of a bucket as `810 GB`.
pub fn value(limit: &Limit) -> String {
    match limit.unit {
        LimitUnit::Bytes if limit.value >= 1e9 => format!("{} GB", stated(limit.value / 1e9)),
        unit => format!("{} {unit}", stated(limit.value)),
    }
}

/// Where the value of a limit comes from: the document, the measurement or the reason, which is
/// empty if the user gave the value; and the date of a document.
pub fn source(limit: &Limit) -> (&str, Option<&str>) {
    match &limit.origin {
        Evidence::Documented { source, date } => (source, Some(date)),
        Evidence::Measured { by } => (by, None),
        Evidence::Assumed { because } => (because, None),
        Evidence::Given => ("", None),
    }
}

/// An assumption without the word "assumed", which every view shows in front of it. Older runs have
/// the word in the sentence.
pub fn assumption(sentence: &str) -> String {
    sentence.replacen(": assumed: ", ": ", 1)
}

/// The limits that can hold a load back, by name and value: `r5d.xlarge: EBS IOPS` and `6,000 IOPS,
/// in a burst 18,750 IOPS`. Latencies, buckets and bounds of what may be bought are left out.
pub fn binding(target: &TargetFacts) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for limit in &target.limits {
        match &limit.name.kind {
            LimitKind::Rate { .. }
            | LimitKind::Peak { .. }
            | LimitKind::PhysicalMaximum { .. }
            | LimitKind::QueueDepth => {
                lines.push((limit.name.to_string(), value(limit)));
            }
            LimitKind::Baseline { limiter } => {
                let mut text = value(limit);
                if let Some(burst) = burst(target, &limit.name, limiter) {
                    text += &format!(", in a burst {}", value(burst));
                }
                lines.push((limit.name.with_owner(limiter), text));
            }
            // A burst is shown with its baseline.
            LimitKind::Burst { .. }
            | LimitKind::Bucket { .. }
            | LimitKind::Latency { .. }
            | LimitKind::LatencyPerKib { .. }
            | LimitKind::Bound { .. } => {}
        }
    }
    lines
}

/// The burst limit of a limiter, which holds while its bucket lasts.
fn burst<'a>(target: &'a TargetFacts, name: &LimitName, limiter: &str) -> Option<&'a Limit> {
    target.limits.iter().find(|other| {
        let same = other.name.owner == name.owner && other.name.volumes == name.volumes;
        same && matches!(&other.name.kind, LimitKind::Burst { limiter: other } if other == limiter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_device::{Covers, Operation};

    fn limit(owner: &str, kind: LimitKind, value: f64, unit: LimitUnit) -> Limit {
        Limit {
            name: LimitName {
                owner: owner.to_owned(),
                volumes: Some(1),
                kind,
            },
            value,
            unit,
            origin: Evidence::Given,
        }
    }

    /// The story: "810,000,000,000 bytes" was cut off on a telephone.
    #[test]
    fn a_bucket_of_bytes_is_in_gigabytes() {
        let bytes = |number| {
            let kind = LimitKind::Bucket {
                limiter: "EBS throughput".to_owned(),
            };
            value(&limit("r5d.xlarge", kind, number, LimitUnit::Bytes))
        };
        assert_eq!(bytes(810_000_000_000.0), "810 GB");
        assert_eq!(bytes(4_096.0), "4,096 bytes");
    }

    #[test]
    fn a_source_has_parts() {
        let check = |origin: Evidence, how: &str, what: &str, date: Option<&str>| {
            let operation = Operation::Read;
            let limit = Limit {
                origin,
                ..limit(
                    "x",
                    LimitKind::Latency { operation },
                    1.0,
                    LimitUnit::Micros,
                )
            };
            assert_eq!((limit.origin.how(), source(&limit)), (how, (what, date)));
        };
        let guide = "guide, chapter 3";
        let documented = Evidence::documented(guide, "2024-08");
        check(documented, "documented", guide, Some("2024-08"));
        let measured = Evidence::measured("study, fio");
        check(measured, "measured", "study, fio", None);
        let assumed = Evidence::assumed("nobody knows");
        check(assumed, "assumed", "nobody knows", None);
        check(Evidence::Given, "given", "", None);
    }

    #[test]
    fn a_burst_is_one_line_and_a_latency_none() {
        let limiter = || "burst credits".to_owned();
        let operation = Operation::Read;
        let baseline = LimitKind::Baseline { limiter: limiter() };
        let burst = LimitKind::Burst { limiter: limiter() };
        let bucket = LimitKind::Bucket { limiter: limiter() };
        let cap = LimitKind::Rate {
            limiter: "EBS throughput".to_owned(),
            covers: Covers::All,
        };
        let what = "max IOPS".to_owned();
        let target = TargetFacts {
            limits: vec![
                limit("gp2", baseline, 300.0, LimitUnit::Iops),
                limit("gp2", burst, 3000.0, LimitUnit::Iops),
                limit("gp2", bucket, 5.4e6, LimitUnit::Operations),
                limit(
                    "gp2",
                    LimitKind::Latency { operation },
                    1000.0,
                    LimitUnit::Micros,
                ),
                limit("m5.large", cap, 593.75, LimitUnit::MbPerS),
                limit("gp2", LimitKind::Bound { what }, 16_000.0, LimitUnit::Iops),
            ],
            ..TargetFacts::default()
        };
        let lines = binding(&target);
        let expected = [
            ("gp2: burst credits", "300 IOPS, in a burst 3,000 IOPS"),
            ("m5.large: EBS throughput", "593.75 MB/s"),
        ];
        assert_eq!(lines, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
