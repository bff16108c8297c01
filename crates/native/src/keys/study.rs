//! Keys of the whole study, and of a case.

use blocklab_units::Nanos;
use blocklab_workload::{Aggregate, Order, PauseBefore};

use super::super::error::Complaint;
use super::super::value::Value;
use super::words::{AGGREGATES, ORDERS, PAUSES, names, spoken, time};
use super::{Allowed, Key, put, quoted};

/// What stands above the first section.
pub struct Study {
    pub name: Option<String>,
    pub description: String,
    pub seed: Option<u64>,
    pub passes: u32,
    pub discard: u32,
    pub aggregate: Aggregate,
    pub order: Order,
    pub pause: Nanos,
    pub pause_before: PauseBefore,
}

impl Default for Study {
    fn default() -> Self {
        Self {
            name: None,
            description: String::new(),
            seed: None,
            passes: 1,
            discard: 0,
            aggregate: Aggregate::Mean,
            order: Order::Interleaved,
            pause: Nanos::ZERO,
            pause_before: PauseBefore::Measurement,
        }
    }
}

/// What a case says besides its load.
#[derive(Default)]
pub struct Case {
    pub name: String,
    pub settings: Vec<(String, String)>,
    pub seed: Option<u64>,
    /// Shares of the full rate, in per cent, at which the case runs again.
    pub rate_percent: Vec<f64>,
    /// Of the runs at those shares, where it is not that of the jobs.
    pub rate_ramp: Option<Nanos>,
}

/// Larger numbers than TOML's own are written as texts.
fn shown_seed(seed: Option<u64>) -> Option<String> {
    seed.map(|seed| match i64::try_from(seed) {
        Ok(seed) => seed.to_string(),
        Err(_) => format!("\"{seed}\""),
    })
}

pub static STUDY: [Key<Study>; 9] = [
    Key {
        name: "name",
        kind: "text",
        meaning: "A short name: it heads the results.",
        default: Some("the file's name"),
        example: "\"my-study\"",
        set: |study, value| put(&mut study.name, value.name().map(Some)),
        show: |study| study.name.as_deref().map(quoted),
        ..Key::ROW
    },
    Key {
        name: "description",
        kind: "text",
        meaning: "One or two sentences for people.",
        default: Some("none"),
        example: "\"How deep must the queue be?\"",
        set: |study, value| put(&mut study.description, value.text().map(str::to_owned)),
        show: |study| Some(quoted(&study.description)),
        ..Key::ROW
    },
    Key {
        name: "seed",
        kind: "whole number",
        meaning: "The root of all chance: with the same seed, the same offsets, sizes and content \
                  are used again. Each pass draws anew from it, except what is verified.",
        allowed: Allowed::Said("0 to 2^64 - 1; from 2^63 on in quotes"),
        default: Some("drawn anew for each run, and recorded"),
        example: "42",
        elsewhere: &["randseed"],
        set: |study, value| put(&mut study.seed, value.seed().map(Some)),
        show: |study| shown_seed(study.seed),
        ..Key::ROW
    },
    Key {
        name: "passes",
        kind: "whole number",
        meaning: "How often each case is measured; with three or more, results carry an interval.",
        allowed: Allowed::Said("1 to 100000"),
        example: "3",
        elsewhere: &["repeat", "repeats", "runs", "iterations"],
        set: |study, value| {
            study.passes = value.count()?;
            at_most(value, u64::from(study.passes), 1, 100_000)
        },
        show: |study| Some(study.passes.to_string()),
        ..Key::ROW
    },
    Key {
        name: "discard",
        kind: "whole number",
        meaning: "So many passes of each case come before the first one, are recorded as pass 0, \
                  and enter no figure.",
        allowed: Allowed::Said("0 to 1000"),
        example: "1",
        set: |study, value| {
            study.discard = value.count()?;
            at_most(value, u64::from(study.discard), 0, 1000)
        },
        show: |study| Some(study.discard.to_string()),
        ..Key::ROW
    },
    Key {
        name: "aggregate",
        kind: "word",
        meaning: "How the passes of a case become one figure.",
        allowed: Allowed::Words(&names(&AGGREGATES)),
        example: "\"median\"",
        set: |study, value| put(&mut study.aggregate, value.word(&AGGREGATES)),
        show: |study| spoken(&AGGREGATES, &study.aggregate),
        ..Key::ROW
    },
    Key {
        name: "order",
        kind: "word",
        meaning: "`interleaved`: every case once, then every case again, so that drift hits all \
                  alike; `grouped`: all passes of a case, then the next case.",
        allowed: Allowed::Words(&names(&ORDERS)),
        example: "\"interleaved\"",
        set: |study, value| put(&mut study.order, value.word(&ORDERS)),
        show: |study| spoken(&ORDERS, &study.order),
        ..Key::ROW
    },
    Key {
        name: "pause",
        kind: "time",
        meaning: "Rest between two measurements.",
        example: "\"5s\"",
        set: |study, value| put(&mut study.pause, value.time()),
        show: |study| Some(time(study.pause)),
        ..Key::ROW
    },
    Key {
        name: "pause_before",
        kind: "word",
        meaning: "`measurement`: the pause stands between all measurements; `case`: only where the \
                  next one is of another case.",
        allowed: Allowed::Words(&names(&PAUSES)),
        example: "\"case\"",
        set: |study, value| put(&mut study.pause_before, value.word(&PAUSES)),
        show: |study| spoken(&PAUSES, &study.pause_before),
        ..Key::ROW
    },
];

pub static CASE: [Key<Case>; 5] = [
    Key {
        name: "name",
        kind: "text",
        meaning: "Unique in the study. A sweep adds its settings to it: `rand4k-depth16`.",
        default: Some("must be given"),
        example: "\"rand4k-read\"",
        set: |case, value| put(&mut case.name, value.name()),
        show: |case| Some(quoted(&case.name)),
        ..Key::ROW
    },
    Key {
        name: "seed",
        kind: "whole number",
        meaning: "A seed for this case alone.",
        allowed: Allowed::Said("0 to 2^64 - 1; from 2^63 on in quotes"),
        default: Some("the study's"),
        example: "7",
        elsewhere: &["randseed"],
        set: |case, value| put(&mut case.seed, value.seed().map(Some)),
        show: |case| shown_seed(case.seed),
        ..Key::ROW
    },
    Key {
        name: "settings",
        kind: "list of pairs",
        meaning: "What tells the case from its siblings, for tables and charts. A sweep writes it \
                  by itself; by hand it labels cases that no sweep can make.",
        default: Some("what the sweep sets"),
        example: "[[\"depth\", \"32\"]]",
        set: |case, value| put(&mut case.settings, settings(value)),
        show: |case| shown_settings(&case.settings),
        ..Key::ROW
    },
    Key {
        name: "rate_percent",
        kind: "list of numbers",
        meaning: "After the case has run as fast as it can, it runs again at these shares of the \
                  rate that it reached, in per cent; operations arrive at random distances, \
                  whatever the target does, and those above 100 drive it too hard.",
        allowed: Allowed::Said("above 0, at most 1000"),
        default: Some("none"),
        example: "[10, 50, 90, 100, 120]",
        elsewhere: &["curve"],
        set: |case, value| put(&mut case.rate_percent, shares(value)),
        show: |_| None,
        ..Key::ROW
    },
    Key {
        name: "rate_ramp",
        kind: "time",
        meaning: "Instead of `ramp`, in the runs at those shares. What a limiter saved up is gone \
                  after the run at full speed, if that ramp is long, and the shares go down.",
        default: Some("as `ramp`"),
        example: "\"500ms\"",
        set: |case, value| put(&mut case.rate_ramp, value.time().map(Some)),
        show: |_| None,
        ..Key::ROW
    },
];

fn shares(value: Value<'_>) -> Result<Vec<f64>, Complaint> {
    let share = |value: Value<'_>| match value.number()? {
        share if share > 0.0 && share <= 1000.0 => Ok(share),
        share => Err(value.complaint(format!("`{share}` is not above 0 and at most 1000"))),
    };
    value.list()?.into_iter().map(share).collect()
}

/// A number outside its limits.
pub fn at_most(value: Value<'_>, number: u64, least: u64, most: u64) -> Result<(), Complaint> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(value.complaint(format!("`{number}` is not from {least} to {most}")))
}

fn settings(value: Value<'_>) -> Result<Vec<(String, String)>, Complaint> {
    let pair = |pair: Value<'_>| {
        let [axis, setting] = pair.pair()?;
        Ok((axis.text()?.to_owned(), setting.text()?.to_owned()))
    };
    value.list()?.into_iter().map(pair).collect()
}

fn shown_settings(settings: &[(String, String)]) -> Option<String> {
    let pair = |(axis, value): &(String, String)| format!("[{}, {}]", quoted(axis), quoted(value));
    let pairs: Vec<String> = settings.iter().map(pair).collect();
    (!pairs.is_empty()).then(|| format!("[{}]", pairs.join(", ")))
}
