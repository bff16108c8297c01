//! Keys of the whole study, and of a case.

use blocklab_units::{Nanos, with_defaults};
use blocklab_workload::{Order, Plan};

use super::super::value::Value;
use super::trace::{self, WantedTrace};
use super::words::{self, AGGREGATES, ORDERS, PAUSES, list, names, pair, within, word_for};
use super::{Allowed, Key, called, keys, put, quoted, row, text};
use blocklab_syntax::toml_tree::Complaint;

with_defaults! {
    /// The keys above the first section.
    pub struct Study {
        /// Without its cases; its name is empty where none is given.
        pub plan: Plan = Plan {
            order: Order::Interleaved,
            ..Plan::default()
        },
        pub seed: Option<u64> = None,
    }
}

/// What a case holds in addition to its load.
#[derive(Default)]
pub struct Case {
    pub name: String,
    pub settings: Vec<(String, String)>,
    pub seed: Option<u64>,
    /// Shares of the full rate, in per cent, at which the case runs again.
    pub rate_percent: Vec<f64>,
    /// The ramp of the runs at those shares, where it is not that of the jobs.
    pub rate_ramp: Option<Nanos>,
    /// The recorded load that it replays.
    pub trace: Option<WantedTrace>,
}

/// Larger numbers than TOML's own are written as texts.
fn shown_seed(seed: Option<u64>) -> Option<String> {
    seed.map(|seed| match i64::try_from(seed) {
        Ok(seed) => seed.to_string(),
        Err(_) => format!("\"{seed}\""),
    })
}

pub static STUDY: &[Key<Study>] = keys! { Study:
    "name" = "\"my-study\"",
        (own "text",
            |study, value| put(&mut study.plan.name, value.name()),
            |study| (!study.plan.name.is_empty()).then(|| quoted(&study.plan.name))),
        "A short name, shown above the results.",
        default: Some("the file's name");
    "description" = "\"How deep must the queue be?\"",
        (own "text",
            |study, value| put(&mut study.plan.description, value.text().map(str::to_owned)),
            |study| Some(quoted(&study.plan.description))),
        "One or two sentences for people.",
        default: Some("none");
    "seed" = "42",
        (own "whole number",
            |study, value| put(&mut study.seed, value.seed().map(Some)),
            |study| shown_seed(study.seed)),
        "Random seed: the same seed gives the same offsets, sizes and content. Each pass draws its own, except for verified data.",
        allowed: Allowed::Text("0 to 2^64 - 1; from 2^63 on in quotes"),
        default: Some("drawn anew for each run, and recorded"), other_names: &["randseed"];
    "passes" = "3",
        (own "whole number",
            |study, value| put(&mut study.plan.passes, within(value, 1..=100_000)),
            |study| Some(study.plan.passes.to_string())),
        "How often each case is measured; with three or more, results have a confidence interval.",
        allowed: Allowed::Text("1 to 100000"), other_names: &["repeat", "repeats", "runs", "iterations"];
    "discard" = "1",
        (own "whole number",
            |study, value| put(&mut study.plan.discard, within(value, 0..=1000)),
            |study| Some(study.plan.discard.to_string())),
        "Warm-up passes of each case; they are recorded as pass 0 and enter no figure.",
        allowed: Allowed::Text("0 to 1000");
    "aggregate" = "\"median\"", (word AGGREGATES plan.aggregate),
        "How the passes of a case become one figure.";
    "order" = "\"interleaved\"", (word ORDERS plan.order),
        "`interleaved`: every case once, then every case again, so that drift hits all alike; `grouped`: all passes of a case, then the next case.";
    "pause" = "\"5s\"", (time plan.pause),
        "Rest between two measurements.";
    "pause_before" = "\"case\"", (word PAUSES plan.pause_before),
        "`measurement`: the pause stands between all measurements; `case`: only where the next one is of another case.";
};

pub static CASE: &[Key<Case>] = keys! { Case:
    "name" = "\"rand4k-read\"",
        (own "text",
            |case, value| put(&mut case.name, value.name()),
            |case| Some(quoted(&case.name))),
        "Unique in the study. A sweep adds its settings to it: `rand4k-depth16`.",
        default: Some("must be given");
    "seed" = "7",
        (own "whole number",
            |case, value| put(&mut case.seed, value.seed().map(Some)),
            |case| shown_seed(case.seed)),
        "A seed for this case only.",
        allowed: Allowed::Text("0 to 2^64 - 1; from 2^63 on in quotes"), default: Some("the study's"), other_names: &["randseed"];
    "settings" = "[[\"depth\", \"32\"]]",
        (own "list of pairs",
            |case, value| put(&mut case.settings, settings(value)),
            |case| list(&case.settings, |(axis, value)| pair(quoted(axis), quoted(value)))),
        "Settings that distinguish the case in tables and charts. A sweep fills them in; write them by hand for cases that no sweep can make.",
        default: Some("what the sweep sets");
    "rate_percent" = "[10, 50, 90, 100, 120]",
        (own "list of numbers",
            |case, value| put(&mut case.rate_percent, shares(value)),
            |_| None),
        "Repeats the case at these shares, in per cent, of the rate that it reached at full speed. Operations arrive at random intervals, whatever the target does; shares above 100 overload it.",
        allowed: Allowed::Text("above 0, at most 1000"), default: Some("none"), other_names: &["curve"];
    "rate_ramp" = "\"500ms\"",
        (own "time",
            |case, value| put(&mut case.rate_ramp, value.time().map(Some)),
            |_| None),
        "Replaces `ramp` in the runs at those shares. It can be short if `ramp` is long and the shares descend: the run at full speed has then spent what a limiter saved up.",
        default: Some("as `ramp`");
    "trace" = "{ file = \"night.trace\", speed = 200 }",
        (own "text or table",
            |case, value| put(&mut case.trace, trace::read(value).map(Some)),
            |_| None),
        "Replays a recorded load on the one target of the case, with the choices of `blocklab run --trace`. A path is one from the current directory. The case has no jobs, no sweep, and of the keys of a job only those of `targets`, `engine` and `access`; it ends with the trace.",
        allowed: Allowed::Text(trace::TAKES), default: Some("none");
};

/// Shares in per cent, each above 0 and at most 1000.
fn shares(value: Value<'_>) -> Result<Vec<f64>, Complaint> {
    let mut shares = Vec::new();
    for value in value.list()? {
        let share = value.number()?;
        if share <= 0.0 || share > 1000.0 {
            return Err(value.complaint(format!("`{share}` is not above 0 and at most 1000")));
        }
        shares.push(share);
    }
    Ok(shares)
}

/// The names and values that a case has in its sweep: `[["depth", "8"], …]`.
fn settings(value: Value<'_>) -> Result<Vec<(String, String)>, Complaint> {
    let mut settings = Vec::new();
    for pair in value.list()? {
        let [axis, setting] = pair.pair()?;
        settings.push((axis.text()?.to_owned(), setting.text()?.to_owned()));
    }
    Ok(settings)
}
