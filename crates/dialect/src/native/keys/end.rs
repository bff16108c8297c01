//! Keys of a job: when it begins and ends, and what a failure means.

use blocklab_units::Nanos;
use blocklab_workload::{Job, Steady, SteadyVariable};

use super::study::at_most;
use super::words::{POLICIES, RULES, Rule, VARIABLES, names, number, size, spoken, time};
use super::{Allowed, Key, Need, Section, put, quoted};

/// The steady rule of a job; begins with the SNIA rule where it has none.
fn steady(job: &mut Job) -> &mut Steady {
    job.stop.steady.get_or_insert(Steady::Snia {
        variable: SteadyVariable::Iops,
        round: Nanos::from_secs(60),
    })
}

const fn parts(steady: &mut Steady) -> (&mut SteadyVariable, &mut Nanos) {
    match steady {
        Steady::Snia { variable, round }
        | Steady::Slope {
            variable, round, ..
        } => (variable, round),
    }
}

/// Rounds and limit of a slope rule.
fn slope(job: &Job) -> Option<(u32, f64)> {
    match job.stop.steady {
        Some(Steady::Slope {
            rounds,
            limit_percent,
            ..
        }) => Some((rounds, limit_percent)),
        _ => None,
    }
}

fn steady_rule(rule: Rule) -> Steady {
    let (variable, round) = (SteadyVariable::Iops, Nanos::from_secs(60));
    match rule {
        Rule::Snia => Steady::Snia { variable, round },
        Rule::Slope => Steady::Slope {
            variable,
            round,
            rounds: 5,
            limit_percent: 10.0,
        },
    }
}

pub const END: Section<Job> = Section {
    title: "When it begins and ends",
    keys: &[
        Key {
            name: "ramp",
            kind: "time",
            meaning: "Load before the measured time begins; in no result.",
            example: "\"300ms\"",
            elsewhere: &["ramp_time", "warmup"],
            set: |job, value| put(&mut job.ramp, value.time()),
            show: |job| Some(time(job.ramp)),
            ..Key::ROW
        },
        Key {
            name: "runtime",
            kind: "time",
            meaning: "Measured time, after the ramp. Of several ends the first one counts.",
            allowed: Allowed::Said("a time, or \"none\" beside `stop_bytes` or `loops`"),
            default: Some("\"10s\"; none where `stop_bytes` or `loops` is given"),
            example: "\"2s\"",
            elsewhere: &["duration", "elapsed", "time_based"],
            set: |job, value| put(&mut job.stop.runtime, value.unless_none(|time| time.time())),
            show: |job| Some(job.stop.runtime.map_or_else(|| quoted("none"), time)),
            ..Key::ROW
        },
        Key {
            name: "stop_bytes",
            kind: "size",
            meaning: "Ends a thread when it has moved so many bytes.",
            allowed: Allowed::Said("a size above 0, or \"none\""),
            default: Some("none"),
            example: "\"20GiB\"",
            elsewhere: &["io_size", "io_limit"],
            set: |job, value| put(&mut job.stop.bytes, value.unless_none(|size| size.size())),
            show: |job| job.stop.bytes.map(size),
            ..Key::ROW
        },
        Key {
            name: "loops",
            kind: "whole number",
            meaning: "Ends a thread when it has gone so often over the region.",
            allowed: Allowed::Said("a number above 0, or \"none\""),
            default: Some("none"),
            example: "1",
            set: |job, value| {
                put(
                    &mut job.stop.loops,
                    value.unless_none(|count| count.count()),
                )
            },
            show: |job| job.stop.loops.map(|loops| loops.to_string()),
            ..Key::ROW
        },
        Key {
            name: "steady",
            kind: "word",
            meaning: "Ends the job as soon as it has settled; `runtime` is then the longest wait. \
                      `snia`: over five rounds, largest and smallest within 20 % of the mean and \
                      the slope over the window within 10 %. `slope`: the slope alone.",
            allowed: Allowed::WordsOr(&names(&RULES), "\"none\""),
            default: Some("none"),
            example: "\"snia\"",
            elsewhere: &["steadystate", "ss"],
            set: |job, value| {
                let rule = value.unless_none(|word| word.word(&RULES))?;
                put(&mut job.stop.steady, Ok(rule.map(steady_rule)))
            },
            show: |job| {
                job.stop.steady.map(|steady| match steady {
                    Steady::Snia { .. } => quoted("snia"),
                    Steady::Slope { .. } => quoted("slope"),
                })
            },
            ..Key::ROW
        },
        Key {
            name: "steady_variable",
            kind: "word",
            meaning: "What has to settle.",
            allowed: Allowed::Words(&names(&VARIABLES)),
            default: Some("\"iops\""),
            example: "\"latency\"",
            need: Need::Given("steady"),
            set: |job, value| put(parts(steady(job)).0, value.word(&VARIABLES)),
            show: |job| {
                let variable = *parts(job.stop.steady.clone().as_mut()?).0;
                spoken(&VARIABLES, &variable)
            },
            ..Key::ROW
        },
        Key {
            name: "steady_round",
            kind: "time",
            meaning: "Length of a round; the rule is applied once a round.",
            default: Some("\"60s\""),
            example: "\"10s\"",
            need: Need::Given("steady"),
            set: |job, value| {
                let round = value.time()?;
                if round == Nanos::ZERO {
                    return Err(value.complaint("a round must be longer than 0"));
                }
                put(parts(steady(job)).1, Ok(round))
            },
            show: |job| Some(time(*parts(job.stop.steady.clone().as_mut()?).1)),
            ..Key::ROW
        },
        Key {
            name: "steady_rounds",
            kind: "whole number",
            meaning: "Rounds in the window.",
            allowed: Allowed::Said("3 to 10000"),
            default: Some("5"),
            example: "10",
            elsewhere: &["ss_dur"],
            need: Need::With("steady", "slope"),
            set: |job, value| {
                let count = value.count()?;
                if let Steady::Slope { rounds, .. } = steady(job) {
                    *rounds = count;
                }
                at_most(value, u64::from(count), 3, 10_000)
            },
            show: |job| slope(job).map(|(rounds, _)| rounds.to_string()),
            ..Key::ROW
        },
        Key {
            name: "steady_limit_percent",
            kind: "number",
            meaning: "Largest slope per round, in per cent of the mean.",
            allowed: Allowed::Said("above 0"),
            default: Some("10.0"),
            example: "2.5",
            need: Need::With("steady", "slope"),
            set: |job, value| {
                let limit = value.number()?;
                if limit <= 0.0 {
                    return Err(value.complaint("the limit must be above 0"));
                }
                if let Steady::Slope { limit_percent, .. } = steady(job) {
                    *limit_percent = limit;
                }
                Ok(())
            },
            show: |job| slope(job).map(|(_, limit)| number(limit)),
            ..Key::ROW
        },
    ],
};

pub const CARE: Section<Job> = Section {
    title: "Flushes and failures",
    keys: &[
        Key {
            name: "fsync_every",
            kind: "whole number",
            meaning: "An fsync after so many writes of a thread; 0 is never.",
            example: "32",
            elsewhere: &["fsync"],
            set: |job, value| put(&mut job.flush.fsync_every, value.count()),
            show: |job| Some(job.flush.fsync_every.to_string()),
            ..Key::ROW
        },
        Key {
            name: "fdatasync_every",
            kind: "whole number",
            meaning: "An fdatasync after so many writes of a thread; 0 is never.",
            example: "1",
            elsewhere: &["fdatasync"],
            set: |job, value| put(&mut job.flush.fdatasync_every, value.count()),
            show: |job| Some(job.flush.fdatasync_every.to_string()),
            ..Key::ROW
        },
        Key {
            name: "fsync_at_end",
            kind: "true or false",
            meaning: "An fsync when a thread ends, inside the measured time.",
            example: "true",
            elsewhere: &["end_fsync"],
            set: |job, value| put(&mut job.flush.at_end, value.flag()),
            show: |job| Some(job.flush.at_end.to_string()),
            ..Key::ROW
        },
        Key {
            name: "on_error",
            kind: "word",
            meaning: "What a failed operation means: the job ends, or the failure is counted and \
                      the job goes on until 1,000 fail in a row.",
            allowed: Allowed::Words(&names(&POLICIES)),
            example: "\"continue\"",
            elsewhere: &["continue_on_error", "data_errors"],
            set: |job, value| put(&mut job.on_error, value.word(&POLICIES)),
            show: |job| spoken(&POLICIES, &job.on_error),
            ..Key::ROW
        },
    ],
};
