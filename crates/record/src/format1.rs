//! Records of format 1. There limits and loads are texts for people, and this is the one place that
//! still parses those. The words of a limit's name are not unique: the other limits decide what a
//! doubtful one means.

use blocklab_device::{Covers, Limit, LimitKind, LimitName, LimitUnit, Operation, Origin};
use blocklab_units::Bytes;
use blocklab_workload::{BlockSizes, Direction, Mix, Pattern, Runs, SizeMix};
use serde::Deserialize;
use serde_json::{Value, json};

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
        if let Some(limits) = target.get_mut("limits")
            && let Ok(named) = Vec::<NamedLimit>::deserialize(&*limits)
        {
            *limits = serde_json::to_value(typed(&named))?;
        }
    }
    loads(&mut record)?;
    // Through text: a second way to read a record would double the time that this crate takes to build.
    serde_json::from_str(&record.to_string())
}

/// Turns the texts of every job into what they mean.
pub(crate) fn loads(record: &mut Value) -> Result<(), serde_json::Error> {
    let measurements = record.get_mut("measurements").and_then(Value::as_array_mut);
    for measurement in measurements.into_iter().flatten() {
        let jobs = measurement.get_mut("jobs").and_then(Value::as_array_mut);
        for job in jobs.into_iter().flatten().filter_map(Value::as_object_mut) {
            let mut text = |key: &str| match job.remove(key) {
                Some(Value::String(text)) => text,
                _ => String::new(),
            };
            let (of, sizes, shares) = (text("pattern"), text("block_size"), text("mix"));
            let (pattern, runs) = pattern(&of);
            if let Some(runs) = runs {
                job.insert("runs".to_owned(), serde_json::to_value(runs)?);
            }
            job.insert("pattern".to_owned(), serde_json::to_value(pattern)?);
            job.insert("block_sizes".to_owned(), json!(block_sizes(&sizes)));
            job.insert("mix".to_owned(), json!(mix(&shares)));
            if job.get("access") == Some(&json!("not told")) {
                job.insert("access".to_owned(), Value::Null);
            }
        }
    }
    Ok(())
}

/// `zipf 1.2`, and with sequential runs `80 % zipf 1.2`. Zones are kept as their number, which is no
/// pattern.
fn pattern(text: &str) -> (Option<Pattern>, Option<Runs>) {
    let share = text.split_once(" % ");
    if let Some((Ok(percent), law)) = share.map(|(share, law)| (share.parse::<f64>(), law)) {
        let percent = percent.round() as u8;
        let runs = Runs {
            follow_percent: 100_u8.saturating_sub(percent),
            ..Runs::default()
        };
        return match law {
            "random" => (Some(Pattern::PercentRandom(percent)), None),
            _ => (pattern(law).0, Some(runs)),
        };
    }
    let (word, figure) = text.split_once(' ').unwrap_or((text, ""));
    let number = figure.trim_end_matches(" %").parse().ok();
    let bytes = figure.strip_prefix("by ").and_then(|it| it.parse().ok());
    let random = |every_block_once| Some(Pattern::Random { every_block_once });
    let pattern = match word {
        "sequential" => Some(Pattern::Sequential),
        "random" => random(false),
        "random," => random(true),
        "strided" => bytes.map(|stride| Pattern::Strided { stride }),
        "backward" => bytes.map(|back| Pattern::Backward { back }),
        "zipf" => number.map(|theta| Pattern::Zipf { theta }),
        "pareto" => number.map(|h| Pattern::Pareto { h }),
        "normal" => number.map(|deviation_percent| Pattern::Normal { deviation_percent }),
        _ => None,
    };
    (pattern, None)
}

fn direction(word: &str) -> Option<Direction> {
    Direction::ALL.into_iter().find(|it| it.name() == word)
}

/// `70 % read, 30 % write`.
fn mix(text: &str) -> Option<Mix> {
    let mut shares = [0; 4];
    for part in text.split(", ") {
        let (share, word) = part.split_once(" % ").unwrap_or(("100", part));
        shares[direction(word)? as usize] = share.parse().ok()?;
    }
    let [read, write, trim, _] = shares;
    Some(Mix { read, write, trim })
}

/// `4 KiB 60 %, 64 KiB 40 %`, and where the directions differ `read 4 KiB, write 64 KiB`. The text
/// lacks directions that did not occur: they get the first sizes.
fn block_sizes(text: &str) -> Option<BlockSizes> {
    let mut found: Vec<(Option<Direction>, SizeMix)> = Vec::new();
    for part in text.split(", ") {
        let (first, rest) = part.split_once(' ')?;
        let of = direction(first);
        let size = if of.is_some() { rest } else { part };
        let (size, weight) = match size.strip_suffix(" %") {
            Some(weighed) => weighed.rsplit_once(' ')?,
            None => (size, "1"),
        };
        let entry = (size.parse::<Bytes>().ok()?, weight.parse().ok()?);
        match found.last_mut() {
            Some((_, sizes)) if of.is_none() => sizes.0.push(entry),
            _ => found.push((of, SizeMix(vec![entry]))),
        }
    }
    let sizes = |wanted| {
        let own = found.iter().find(|(of, _)| *of == Some(wanted));
        Some(own.or(found.first())?.1.clone())
    };
    Some(BlockSizes {
        read: sizes(Direction::Read)?,
        write: sizes(Direction::Write)?,
        trim: sizes(Direction::Trim)?,
    })
}

fn typed(all: &[NamedLimit]) -> Vec<Limit> {
    // Volumes come first, and none could be simulated without its latency: an owner further down
    // that has none is the instance.
    let mut in_force = all.iter().filter(|limit| !limit.bound).peekable();
    let first = in_force.peek().map(|limit| parts(&limit.name).0);
    let with_latency = in_force.filter_map(|limit| limit.name.strip_suffix(": read latency"));
    let volumes: Vec<&str> = with_latency.chain(first).collect();
    let limit = |named: &NamedLimit| Limit {
        name: name(named, &volumes, all),
        value: named.value,
        unit: named.unit,
        origin: origin(&named.origin),
    };
    all.iter().map(limit).collect()
}

/// The system of a study that joined the name of a run before it had a field of its own.
pub(crate) fn system(name: &str) -> Option<String> {
    name.split_once(": ").map(|(_, system)| system.to_owned())
}

/// Owner and what it has: `gp3: max IOPS`.
fn parts(name: &str) -> (&str, &str) {
    name.split_once(": ").unwrap_or(("", name))
}

fn name(named: &NamedLimit, volumes: &[&str], all: &[NamedLimit]) -> LimitName {
    let of = |owner: &&str| named.name.strip_prefix(*owner)?.strip_prefix(": ");
    let owners = volumes.iter().filter(|owner| of(owner).is_some());
    let volume = owners.max_by_key(|owner| owner.len());
    let volume = volume.filter(|_| !named.bound);
    let (owner, what) = match volume {
        Some(volume) => (*volume, of(volume).unwrap_or_default()),
        None => parts(&named.name),
    };
    // The kind may itself begin with a number and an x: format 1 does not tell the two apart.
    let counted = volume.and_then(|volume| volume.split_once(" x "));
    let counted = counted.and_then(|(count, kind)| Some((count.parse().ok()?, kind)));
    let (count, plain) = counted.unwrap_or((1, owner));
    let kind = kind(named, what, owner, all).filter(|_| !named.bound);
    LimitName {
        owner: plain.to_owned(),
        volumes: volume.map(|_| count),
        kind: kind.unwrap_or_else(|| LimitKind::Bound {
            what: what.to_owned(),
        }),
    }
}

/// `None`: the words of a document.
fn kind(named: &NamedLimit, what: &str, owner: &str, all: &[NamedLimit]) -> Option<LimitKind> {
    let operation = |words: &str| {
        let what = what.strip_suffix(words)?;
        OPERATIONS.into_iter().find(|it| it.text() == what)
    };
    let limiter = || what.strip_suffix(" (bucket)").map(str::to_owned);
    match named.unit {
        LimitUnit::Micros => {
            operation(" latency").map(|operation| LimitKind::Latency { operation })
        }
        LimitUnit::MicrosPerKib => {
            operation(" latency per KiB").map(|operation| LimitKind::LatencyPerKib { operation })
        }
        LimitUnit::Operations | LimitUnit::Bytes => {
            limiter().map(|limiter| LimitKind::Bucket { limiter })
        }
        _ => Some(rate(what, |other| {
            let name = format!("{owner}: {other}");
            all.iter().any(|limit| !limit.bound && limit.name == name)
        })),
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

/// A text of another form is kept as an assumption.
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
    fn the_suffix_decides_the_kind() {
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

    /// A suffix counts only where the limit without it exists.
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
    fn loads_are_read_back_from_their_texts() {
        for text in [
            "sequential",
            "random",
            "random, every block once",
            "30 % random",
            "strided by 1 MiB",
            "backward by 64 KiB",
            "zipf 1.2",
            "pareto 0.2",
            "normal 12.5 %",
        ] {
            let (found, runs) = pattern(text);
            assert_eq!(found.map(|it| it.to_string()).as_deref(), Some(text));
            assert_eq!(runs, None);
        }
        let (found, runs) = pattern("80 % zipf 1.2");
        assert_eq!(found, Some(Pattern::Zipf { theta: 1.2 }));
        assert_eq!(runs.map(|runs| runs.follow_percent), Some(20));
        assert_eq!(pattern("3 zones").0, None);
        for (shares, sizes) in [
            ("read", "4 KiB"),
            ("70 % read, 30 % write", "4 KiB 60 %, 64 KiB 40 %"),
            (
                "50 % read, 50 % write",
                "read 4 KiB, write 4 KiB 75 %, 64 KiB 25 %",
            ),
        ] {
            let mix = mix(shares).expect("a mix");
            assert_eq!(mix.to_string(), shares);
            assert_eq!(block_sizes(sizes).expect("sizes").text(mix), sizes);
        }
        assert_eq!((mix("mixed"), block_sizes("not told")), (None, None));
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
