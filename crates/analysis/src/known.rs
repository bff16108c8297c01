//! The limits that a record carries, as numbers to compare with.

use blocklab_record::{LimitFact, Record};

/// What is known of the only target of a run.
#[derive(Default)]
pub(crate) struct KnownLimits<'a> {
    /// Everything that binds a rate.
    pub(crate) list: Vec<Limit<'a>>,
    latencies: Vec<&'a LimitFact>,
}

/// A rate that is not exceeded, for the whole target.
pub(crate) struct Limit<'a> {
    /// As in the record: `30 x gp2: volume IOPS`.
    pub(crate) name: &'a str,
    /// In `unit`.
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// Operations or bytes a second for each `unit`.
    scale: f64,
    pub(crate) covers: Covers,
    pub(crate) level: Level,
    /// `documented`, `measured`, `assumed` or `given`.
    pub(crate) known: &'a str,
}

/// What kind of limit it is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Level {
    /// Holds always.
    Steady,
    /// Holds while something is saved up; after so many seconds at it, this remains.
    Burst { lasts: f64, leaves: f64 },
    /// Holds when nothing is saved up any more.
    Baseline,
}

/// Which operations it counts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Covers {
    All,
    Reads,
    Writes,
}

impl<'a> KnownLimits<'a> {
    /// Of several targets nothing is known: how the load fell on them is not recorded.
    pub(crate) fn of(record: &'a Record) -> Self {
        let [target] = &*record.targets else {
            return Self::default();
        };
        let in_force: Vec<&LimitFact> = target.limits.iter().filter(|it| !it.bound).collect();
        let list = in_force.iter().filter_map(|fact| limit(fact, &in_force));
        Self {
            list: list.collect(),
            latencies: in_force
                .iter()
                .copied()
                .filter(|fact| fact.unit.starts_with("µs"))
                .collect(),
        }
    }

    /// Nanoseconds that a random operation takes where nothing waits in line.
    pub(crate) fn latency_ns(&self, direction: &str, bytes: f64) -> Option<f64> {
        let ends = |what: &str| {
            let what = format!(": {direction} {what}");
            let mut found = self.latencies.iter();
            found.find(|fact| fact.name.ends_with(&what))
        };
        let per_kib = ends("latency per KiB").map_or(0.0, |fact| fact.value);
        Some((ends("latency")?.value + per_kib * bytes / 1024.0) * 1e3)
    }
}

impl Limit<'_> {
    /// Of so many operations and bytes a second, how many of its units.
    pub(crate) fn counted(&self, iops: f64, bytes_per_s: f64) -> f64 {
        match self.unit {
            "IOPS" => iops,
            _ => bytes_per_s / self.scale,
        }
    }
}

/// `None` for what is no rate, such as a latency, and for buckets, which belong to their burst.
fn limit<'a>(fact: &'a LimitFact, all: &[&LimitFact]) -> Option<Limit<'a>> {
    let (unit, scale) = match &*fact.unit {
        "IOPS" => ("IOPS", 1.0),
        "MiB/s" => ("MiB/s", 1_048_576.0),
        "MB/s" => ("MB/s", 1e6),
        _ => return None,
    };
    let volumes = volumes(&fact.name);
    let (plain, level) = level(fact, all, scale)?;
    Some(Limit {
        name: &fact.name,
        value: fact.value * volumes,
        unit,
        scale,
        covers: covers(plain),
        level: match level {
            Level::Burst { lasts, leaves } => Level::Burst {
                lasts,
                leaves: leaves * volumes,
            },
            other => other,
        },
        known: fact.origin.split([':', ',']).next().unwrap_or_default(),
    })
}

/// A name without the word for its level, and that level; `None` for a peak, which lasts as long
/// as nobody tells.
fn level<'n>(fact: &'n LimitFact, all: &[&LimitFact], scale: f64) -> Option<(&'n str, Level)> {
    if let Some(name) = fact.name.strip_suffix(" (baseline)") {
        return Some((name, Level::Baseline));
    }
    let Some(name) = fact.name.strip_suffix(" (burst)") else {
        return (!fact.name.ends_with(" (peak)")).then_some((&fact.name, Level::Steady));
    };
    let beside = |what: &str| {
        let name = format!("{name} ({what})");
        Some(all.iter().find(|other| other.name == name)?.value)
    };
    let (leaves, bucket) = (beside("baseline")?, beside("bucket")?);
    let lasts = bucket / ((fact.value - leaves) * scale);
    Some((name, Level::Burst { lasts, leaves }))
}

fn covers(name: &str) -> Covers {
    match name {
        n if n.ends_with(" (reads)") => Covers::Reads,
        n if n.ends_with(" (writes)") => Covers::Writes,
        _ => Covers::All,
    }
}

/// 30 of `30 x gp2: volume IOPS`, whose value holds for each of them.
fn volumes(name: &str) -> f64 {
    let count = name.split_once(" x ").and_then(|(n, _)| n.parse().ok());
    count.unwrap_or(1.0)
}
