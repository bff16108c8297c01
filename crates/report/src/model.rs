//! The words for what a modelled device rests on: its limits and its assumptions.

use blocklab_record::{LimitFact, Origin, Record, TargetFacts, TargetKind};
use blocklab_units::stated;

/// Where a figure comes from, in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source<'a> {
    /// `documented`, `measured`, `assumed`, `given`.
    pub how: &'a str,
    /// The document, the measurement, the reason; empty where the user gave it.
    pub what: &'a str,
    /// Of a document.
    pub date: Option<&'a str>,
}

/// A limit for people, with what belongs to it.
pub struct Line {
    /// `r5d.xlarge: EBS IOPS`
    pub name: String,
    /// `6,000 IOPS, in a burst 18,750 IOPS`
    pub text: String,
}

/// The modelled devices of a run.
pub fn targets(record: &Record) -> impl Iterator<Item = &TargetFacts> {
    let modelled = |target: &&TargetFacts| {
        target.kind == TargetKind::Model
            || !target.limits.is_empty()
            || !target.assumptions.is_empty()
    };
    record.targets.iter().filter(modelled)
}

/// What the model did in this run, and what it did not.
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

/// `125 MiB/s`
pub fn value(fact: &LimitFact) -> String {
    format!("{} {}", stated(fact.value), fact.unit)
}

/// `documented: GUIDE, 2024-08-02` in its parts. What is of another form is what it is.
pub fn source(fact: &LimitFact) -> Source<'_> {
    let (how, what) = fact.origin.split_once(": ").unwrap_or((&fact.origin, ""));
    let dated = what.rsplit_once(", ").filter(|_| how == "documented");
    match dated {
        Some((what, date)) => Source {
            how,
            what,
            date: Some(date),
        },
        None => Source {
            how,
            what,
            date: None,
        },
    }
}

/// An assumption without the word that stands before it wherever it is shown.
pub fn assumption(sentence: &str) -> String {
    sentence.replacen(": assumed: ", ": ", 1)
}

/// The limits that can hold a load back, a burst in one line with what it leaves: no latencies,
/// no buckets, no bounds of what may be bought.
pub fn binding(target: &TargetFacts) -> Vec<Line> {
    let limits = target.limits.iter();
    let rates = limits.filter(|it| !it.bound && ["IOPS", "MiB/s", "MB/s"].contains(&&*it.unit));
    let burst = |name: &str| {
        let name = format!("{name} (burst)");
        target.limits.iter().find(|it| it.name == name)
    };
    let line = |fact: &LimitFact| {
        if fact.name.ends_with(" (burst)") {
            return None;
        }
        let name = fact.name.strip_suffix(" (baseline)");
        let more = name.and_then(burst);
        let more = more.map(|it| format!(", in a burst {}", value(it)));
        Some(Line {
            name: name.unwrap_or(&fact.name).to_owned(),
            text: value(fact) + &more.unwrap_or_default(),
        })
    };
    rates.filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(name: &str, value: f64, unit: &str, origin: &str) -> LimitFact {
        LimitFact {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            origin: origin.to_owned(),
            bound: false,
        }
    }

    #[test]
    fn a_source_has_parts() {
        let check = |origin: &str, how: &str, what: &str, date: Option<&str>| {
            let fact = fact("x", 1.0, "IOPS", origin);
            assert_eq!(source(&fact), Source { how, what, date });
        };
        let documented = "documented: guide, chapter 3, 2024-08";
        check(
            documented,
            "documented",
            "guide, chapter 3",
            Some("2024-08"),
        );
        check("measured: study, fio", "measured", "study, fio", None);
        check("assumed: nobody knows", "assumed", "nobody knows", None);
        check("given", "given", "", None);
    }

    #[test]
    fn a_burst_is_one_line_and_a_latency_none() {
        let target = TargetFacts {
            limits: vec![
                fact("gp2: burst credits (baseline)", 300.0, "IOPS", "given"),
                fact("gp2: burst credits (burst)", 3000.0, "IOPS", "given"),
                fact("gp2: burst credits (bucket)", 5.4e6, "operations", "given"),
                fact("gp2: read latency", 1000.0, "µs", "given"),
                fact("m5.large: EBS throughput", 593.75, "MB/s", "given"),
                LimitFact {
                    bound: true,
                    ..fact("gp2: max IOPS", 16_000.0, "IOPS", "given")
                },
            ],
            ..TargetFacts::default()
        };
        let lines = binding(&target).into_iter();
        let lines: Vec<_> = lines.map(|line| (line.name, line.text)).collect();
        let expected = [
            ("gp2: burst credits", "300 IOPS, in a burst 3,000 IOPS"),
            ("m5.large: EBS throughput", "593.75 MB/s"),
        ];
        assert_eq!(lines, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
