//! Records of format 1. There a limit had a name for people, and its kind had to be read from that:
//! this is the one place where it still is. The words of such a name were not unique, so a doubtful
//! one is settled by what stands beside it.

use blocklab_device::{Covers, Limit, LimitKind, LimitName, LimitUnit, Operation, Origin};
use serde::Deserialize;
use serde_json::Value;

use crate::{FORMAT, Record};

const OPERATIONS: [Operation; 6] = [
    Operation::Read,
    Operation::Write,
    Operation::SequentialRead,
    Operation::SequentialWrite,
    Operation::InterleavedRead,
    Operation::InterleavedWrite,
];

/// A limit as format 1 has it.
#[derive(Deserialize)]
struct NamedLimit {
    /// `30 x gp2: burst credits (baseline)`
    name: String,
    value: f64,
    unit: LimitUnit,
    /// `documented: GUIDE, 2024-08-02`
    origin: String,
    bound: bool,
}

/// A record of format 1 as one of the present format.
pub(crate) fn read(text: &str) -> Result<Record, serde_json::Error> {
    let mut record: Value = serde_json::from_str(text)?;
    if let Some(format) = record.get_mut("format") {
        *format = FORMAT.into();
    }
    let targets = record.get_mut("targets").and_then(Value::as_array_mut);
    for target in targets.into_iter().flatten() {
        if let Some(limits) = target.get_mut("limits") {
            let named: Vec<NamedLimit> = serde_json::from_value(limits.take())?;
            *limits = serde_json::to_value(typed(&named))?;
        }
    }
    serde_json::from_value(record)
}

fn typed(all: &[NamedLimit]) -> Vec<Limit> {
    // Volumes come first, and none could be simulated without its latency: an owner further down
    // that has none is the instance.
    let mut in_force = all.iter().filter(|limit| !limit.bound).peekable();
    let first = in_force.peek().map(|limit| parts(&limit.name).0);
    let with_latency = in_force.filter_map(|limit| limit.name.strip_suffix(": read latency"));
    let volumes: Vec<&str> = with_latency.chain(first).collect();
    let limit = |named: &NamedLimit| Limit {
        name: match named.bound {
            true => bound(&named.name),
            false => name(named, &volumes, all),
        },
        value: named.value,
        unit: named.unit,
        origin: origin(&named.origin),
    };
    all.iter().map(limit).collect()
}

/// Owner and what it has: `gp3: max IOPS`.
fn parts(name: &str) -> (&str, &str) {
    name.split_once(": ").unwrap_or(("", name))
}

fn bound(name: &str) -> LimitName {
    let (owner, what) = parts(name);
    LimitName {
        owner: owner.to_owned(),
        volumes: None,
        kind: LimitKind::Bound {
            what: what.to_owned(),
        },
    }
}

fn name(named: &NamedLimit, volumes: &[&str], all: &[NamedLimit]) -> LimitName {
    let of = |owner: &&str| named.name.strip_prefix(*owner)?.strip_prefix(": ");
    let owners = volumes.iter().filter(|owner| of(owner).is_some());
    let Some(owner) = owners.max_by_key(|owner| owner.len()) else {
        let (owner, what) = parts(&named.name);
        return LimitName {
            owner: owner.to_owned(),
            volumes: None,
            kind: kind(named, what, owner, all),
        };
    };
    // The kind may itself begin with a number and an x: nothing in format 1 tells.
    let counted = owner.split_once(" x ");
    let counted = counted.and_then(|(count, kind)| Some((count.parse().ok()?, kind)));
    let (count, plain) = counted.unwrap_or((1, owner));
    LimitName {
        owner: plain.to_owned(),
        volumes: Some(count),
        kind: kind(named, of(owner).unwrap_or_default(), owner, all),
    }
}

fn kind(named: &NamedLimit, what: &str, owner: &str, all: &[NamedLimit]) -> LimitKind {
    let bound = || LimitKind::Bound {
        what: what.to_owned(),
    };
    let operation = |words: &str| {
        let what = what.strip_suffix(words)?;
        OPERATIONS.into_iter().find(|it| it.text() == what)
    };
    match named.unit {
        LimitUnit::Micros => {
            operation(" latency").map_or_else(bound, |operation| LimitKind::Latency { operation })
        }
        LimitUnit::MicrosPerKib => operation(" latency per KiB")
            .map_or_else(bound, |operation| LimitKind::LatencyPerKib { operation }),
        LimitUnit::Operations | LimitUnit::Bytes => {
            let limiter = what.strip_suffix(" (bucket)").map(str::to_owned);
            limiter.map_or_else(bound, |limiter| LimitKind::Bucket { limiter })
        }
        _ => rate(what, |other| {
            let name = format!("{owner}: {other}");
            all.iter().any(|limit| !limit.bound && limit.name == name)
        }),
    }
}

/// A word at the end counts only where the limits are there that come with it.
fn rate(what: &str, has: impl Fn(&str) -> bool) -> LimitKind {
    let credits = |word: &str, other: &str| {
        let limiter = what.strip_suffix(word)?;
        let is_there = has(&format!("{limiter} ({other})")) && has(&format!("{limiter} (bucket)"));
        is_there.then(|| limiter.to_owned())
    };
    if let Some(limiter) = credits(" (baseline)", "burst") {
        return LimitKind::Baseline { limiter };
    }
    if let Some(limiter) = credits(" (burst)", "baseline") {
        return LimitKind::Burst { limiter };
    }
    let steady = what.strip_suffix(" (peak)").filter(|steady| has(steady));
    let (limiter, covers) = covers(steady.unwrap_or(what));
    match (steady, limiter, covers) {
        (None, "physical maximum", Covers::Reads | Covers::Writes) => {
            LimitKind::PhysicalMaximum { covers }
        }
        (None, ..) => LimitKind::Rate {
            limiter: limiter.to_owned(),
            covers,
        },
        (Some(_), ..) => LimitKind::Peak {
            limiter: limiter.to_owned(),
            covers,
        },
    }
}

fn covers(name: &str) -> (&str, Covers) {
    let of = |word: &str, covers| Some((name.strip_suffix(word)?, covers));
    of(" (reads)", Covers::Reads)
        .or_else(|| of(" (writes)", Covers::Writes))
        .unwrap_or((name, Covers::All))
}

/// Words of another form are kept as what somebody assumed.
fn origin(text: &str) -> Origin {
    match text.split_once(": ") {
        Some(("documented", what)) => {
            let (source, date) = what.rsplit_once(", ").unwrap_or((what, ""));
            Origin::documented(source, date)
        }
        Some(("measured", by)) => Origin::measured(by),
        Some(("assumed", because)) => Origin::assumed(because),
        _ if text == "given" => Origin::Given,
        _ => Origin::assumed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, unit: LimitUnit) -> NamedLimit {
        NamedLimit {
            name: name.to_owned(),
            value: 1.0,
            unit,
            origin: "given".to_owned(),
            bound: false,
        }
    }

    fn all(names: &[(&str, LimitUnit)]) -> Vec<LimitName> {
        let named: Vec<_> = names
            .iter()
            .map(|(name, unit)| named(name, *unit))
            .collect();
        typed(&named).into_iter().map(|limit| limit.name).collect()
    }

    #[track_caller]
    fn check(found: &LimitName, owner: &str, volumes: Option<u32>, kind: LimitKind) {
        let expected = LimitName {
            owner: owner.to_owned(),
            volumes,
            kind,
        };
        assert_eq!(*found, expected);
    }

    #[test]
    fn words_at_the_end_tell_the_kind() {
        let found = all(&[
            ("30 x gp2: volume IOPS", LimitUnit::Iops),
            ("30 x gp2: volume IOPS (peak)", LimitUnit::Iops),
            ("30 x gp2: burst credits (baseline)", LimitUnit::Iops),
            ("30 x gp2: burst credits (burst)", LimitUnit::Iops),
            ("30 x gp2: burst credits (bucket)", LimitUnit::Operations),
            ("30 x gp2: read latency", LimitUnit::Micros),
            (
                "30 x gp2: interleaved sequential read latency per KiB",
                LimitUnit::MicrosPerKib,
            ),
            ("30 x gp2: physical maximum (reads)", LimitUnit::Iops),
            ("r5d.xlarge: EBS throughput (writes)", LimitUnit::MbPerS),
        ]);
        let limiter = |name: &str| name.to_owned();
        let kinds = [
            LimitKind::Rate {
                limiter: limiter("volume IOPS"),
                covers: Covers::All,
            },
            LimitKind::Peak {
                limiter: limiter("volume IOPS"),
                covers: Covers::All,
            },
            LimitKind::Baseline {
                limiter: limiter("burst credits"),
            },
            LimitKind::Burst {
                limiter: limiter("burst credits"),
            },
            LimitKind::Bucket {
                limiter: limiter("burst credits"),
            },
            LimitKind::Latency {
                operation: Operation::Read,
            },
            LimitKind::LatencyPerKib {
                operation: Operation::InterleavedRead,
            },
            LimitKind::PhysicalMaximum {
                covers: Covers::Reads,
            },
        ];
        for (found, kind) in found.iter().zip(kinds) {
            check(found, "gp2", Some(30), kind);
        }
        let kind = LimitKind::Rate {
            limiter: limiter("EBS throughput"),
            covers: Covers::Writes,
        };
        check(&found[8], "r5d.xlarge", None, kind);
    }

    /// A cap of that name has no rate without the word beside it.
    #[test]
    fn a_word_that_belongs_to_the_name_stays_in_it() {
        let latency = ("a: b: read latency", LimitUnit::Micros);
        for limiter in [
            "volume IOPS (peak)",
            "volume IOPS (burst)",
            "IOPS (baseline)",
        ] {
            let name = format!("a: b: {limiter}");
            let found = all(&[(&name, LimitUnit::Iops), latency]);
            let kind = LimitKind::Rate {
                limiter: limiter.to_owned(),
                covers: Covers::All,
            };
            check(&found[0], "a: b", Some(1), kind);
        }
    }

    #[test]
    fn an_origin_is_read_back() {
        for origin in [
            Origin::documented("guide, chapter 3", "2024-08"),
            Origin::measured("study: fio, 3 rows"),
            Origin::assumed("nobody knows: as gp3"),
            Origin::Given,
        ] {
            assert_eq!(super::origin(&origin.to_string()), origin);
        }
    }
}
