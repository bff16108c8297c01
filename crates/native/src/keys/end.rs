//! Keys of a job: when it begins and ends, and what a failure means.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, EndsOthers, ErrorPolicy, Job, Limit, Steady, SteadyVariable};

use super::super::error::Complaint;
use super::super::value::{Value, Word};
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

/// The same, for the keys that the SNIA rule has not.
fn drifting(job: &mut Job) -> &mut Steady {
    job.stop.steady.get_or_insert(steady_rule(Rule::Slope))
}

const fn parts(steady: &mut Steady) -> (&mut SteadyVariable, &mut Nanos) {
    match steady {
        Steady::Snia { variable, round }
        | Steady::Slope {
            variable, round, ..
        }
        | Steady::Deviation {
            variable, round, ..
        } => (variable, round),
    }
}

/// Rounds and limit of the rules that have them.
const fn drift(steady: &mut Steady) -> Option<(&mut u32, &mut Limit)> {
    match steady {
        Steady::Slope { rounds, limit, .. } | Steady::Deviation { rounds, limit, .. } => {
            Some((rounds, limit))
        }
        Steady::Snia { .. } => None,
    }
}

fn limit(job: &Job) -> Option<Limit> {
    let mut steady = job.stop.steady?;
    drift(&mut steady).map(|(_, limit)| *limit)
}

fn steady_rule(rule: Rule) -> Steady {
    let (variable, round) = (SteadyVariable::Iops, Nanos::from_secs(60));
    match rule {
        Rule::Snia => Steady::Snia { variable, round },
        Rule::Slope => Steady::Slope {
            variable,
            round,
            rounds: 5,
            limit: Limit::Percent(10.0),
        },
        Rule::Deviation => Steady::Deviation {
            variable,
            round,
            rounds: 5,
            limit: Limit::Percent(10.0),
        },
    }
}

const OWN: &str = "the SNIA rule has its own";

fn set_limit(job: &mut Job, value: Value<'_>, of: fn(f64) -> Limit) -> Result<(), Complaint> {
    let limit = value.number()?;
    if limit <= 0.0 {
        return Err(value.complaint("the limit must be above 0"));
    }
    let Some((_, place)) = drift(drifting(job)) else {
        return Err(value.complaint(OWN));
    };
    *place = of(limit);
    Ok(())
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
            name: "cool_down",
            kind: "time",
            meaning: "Load after the measured time; in no result. It needs a runtime.",
            default: Some("none"),
            example: "\"1s\"",
            set: |job, value| put(&mut job.cool_down, value.time()),
            show: |job| (job.cool_down > Nanos::ZERO).then(|| time(job.cool_down)),
            ..Key::ROW
        },
        Key {
            name: "ends_others",
            kind: "word",
            meaning: "What the end of the job means for the jobs that run beside it: nothing, \
                      their end where it failed, or their end always.",
            allowed: Allowed::Words(&names(&ENDS)),
            default: Some("\"never\""),
            example: "\"always\"",
            elsewhere: &["exitall", "exitall_on_error"],
            set: |job, value| put(&mut job.ends_others, value.word(&ENDS)),
            show: |job| spoken(&ENDS, &job.ends_others),
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
            name: "stop_ios",
            kind: "whole number",
            meaning: "Ends a thread when it has issued so many operations, flushes aside.",
            allowed: Allowed::Said("a number above 0, or \"none\""),
            default: Some("none"),
            example: "100000",
            elsewhere: &["number_ios"],
            set: |job, value| put(&mut job.stop.ios, value.unless_none(|count| count.whole())),
            show: |job| job.stop.ios.map(|ios| ios.to_string()),
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
                      the slope over the window within 10 %. `slope`: the slope alone. \
                      `deviation`: the largest deviation from the mean alone.",
            allowed: Allowed::WordsOr(&names(&RULES), "\"none\""),
            default: Some("none"),
            example: "\"slope\"",
            elsewhere: &["steadystate", "ss"],
            set: |job, value| {
                let rule = value.unless_none(|word| word.word(&RULES))?;
                put(&mut job.stop.steady, Ok(rule.map(steady_rule)))
            },
            show: |job| {
                job.stop.steady.map(|steady| match steady {
                    Steady::Snia { .. } => quoted("snia"),
                    Steady::Slope { .. } => quoted("slope"),
                    Steady::Deviation { .. } => quoted("deviation"),
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
            allowed: Allowed::Said("1 to 10000; a slope needs 3"),
            default: Some("5"),
            example: "10",
            elsewhere: &["ss_dur"],
            need: Need::Given("steady"),
            set: |job, value| {
                let count = value.count()?;
                let Some((rounds, _)) = drift(drifting(job)) else {
                    return Err(value.complaint(OWN));
                };
                *rounds = count;
                at_most(value, u64::from(count), 1, 10_000)
            },
            show: |job| {
                let mut steady = job.stop.steady?;
                drift(&mut steady).map(|(rounds, _)| rounds.to_string())
            },
            ..Key::ROW
        },
        Key {
            name: "steady_limit_percent",
            kind: "number",
            meaning: "Largest slope per round, or deviation, in per cent of the mean.",
            allowed: Allowed::Said("above 0"),
            default: Some("10.0"),
            example: "2.5",
            need: Need::Given("steady"),
            set: |job, value| set_limit(job, value, Limit::Percent),
            show: |job| match limit(job)? {
                Limit::Percent(limit) => Some(number(limit)),
                Limit::Absolute(_) => None,
            },
            ..Key::ROW
        },
        Key {
            name: "steady_limit",
            kind: "number",
            meaning: "The same in operations or bytes a second, or nanoseconds.",
            allowed: Allowed::Said("above 0"),
            example: "500.0",
            need: Need::Given("steady"),
            set: |job, value| set_limit(job, value, Limit::Absolute),
            show: |job| match limit(job)? {
                Limit::Absolute(limit) => Some(number(limit)),
                Limit::Percent(_) => None,
            },
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
            name: "flush_after_reads",
            kind: "true or false",
            meaning: "A flush that followed a write is repeated after each read up to the next \
                      write, as fio does.",
            default: Some("false"),
            example: "true",
            set: |job, value| put(&mut job.flush.after_reads, value.flag()),
            show: |job| job.flush.after_reads.then(|| "true".to_owned()),
            ..Key::ROW
        },
        Key {
            name: "sync_range_every",
            kind: "whole number",
            meaning: "A sync_file_range after so many writes of a thread, over all of them; 0 is \
                      never.",
            default: Some("0"),
            example: "32",
            elsewhere: &["sync_file_range"],
            set: |job, value| put(&mut job.flush.range_every, value.count()),
            show: |job| (job.flush.range_every > 0).then(|| job.flush.range_every.to_string()),
            ..Key::ROW
        },
        Key {
            name: "sync_range_flags",
            kind: "whole number",
            meaning: "Its flags: 1 waits for what is on its way, 2 begins writing, 4 waits for \
                      that.",
            allowed: Allowed::Said("0 to 7"),
            default: Some("0"),
            example: "2",
            need: Need::Given("sync_range_every"),
            set: |job, value| {
                let flags = value.count()?;
                job.flush.range_flags = flags;
                at_most(value, u64::from(flags), 0, 7)
            },
            show: |job| {
                let flags = job.flush.range_flags;
                (job.flush.range_every > 0 && flags > 0).then(|| flags.to_string())
            },
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
                      the job goes on until 1,000 fail in a row; or it goes on after failures \
                      that the medium causes (EIO, EILSEQ) of these kinds alone: reads, writes (trims and flushes too), data that is not \
                      what was written.",
            allowed: Allowed::WordsOr(
                &names(&POLICIES),
                "a list of \"read\", \"write\", \"verify\"",
            ),
            example: "\"continue\"",
            elsewhere: &["continue_on_error", "data_errors"],
            set: |job, value| {
                let policy = match value.is_list() {
                    true => policy(value),
                    false => value.word(&POLICIES),
                };
                put(&mut job.on_error, policy)
            },
            show: |job| spoken(&POLICIES, &job.on_error).or_else(|| shown_policy(job.on_error)),
            ..Key::ROW
        },
        Key {
            name: "max_latency",
            kind: "time",
            meaning: "An operation that takes longer counts as failed (ETIMEDOUT).",
            allowed: Allowed::Said("a time, or \"none\""),
            default: Some("none"),
            example: "\"1s\"",
            set: |job, value| put(&mut job.max_latency, value.unless_none(|time| time.time())),
            show: |job| job.max_latency.map(time),
            ..Key::ROW
        },
        Key {
            name: "ignored_errors",
            kind: "list of pairs",
            meaning: "Failures that count as success: a direction and the number of the error.",
            allowed: Allowed::Said("pairs such as [\"read\", 5]"),
            default: Some("none"),
            example: "[[\"read\", 5], [\"write\", 28]]",
            elsewhere: &["ignore_error"],
            set: |job, value| {
                let pair = |pair: Value<'_>| {
                    let [direction, errno] = pair.pair()?;
                    Ok((direction.word(&DIRECTIONS)?, errno.signed()?))
                };
                put(
                    &mut job.ignored_errors,
                    value.list()?.into_iter().map(pair).collect(),
                )
            },
            show: |job| {
                let pair = |(direction, errno): &(Direction, i32)| {
                    format!("[\"{}\", {errno}]", direction.name())
                };
                let pairs: Vec<String> = job.ignored_errors.iter().map(pair).collect();
                (!pairs.is_empty()).then(|| format!("[{}]", pairs.join(", ")))
            },
            ..Key::ROW
        },
        Key {
            name: "until_full",
            kind: "true or false",
            meaning: "A write that finds no space ends the job, and is no failure.",
            default: Some("false"),
            example: "true",
            elsewhere: &["fill_device"],
            set: |job, value| put(&mut job.stop_on_enospc, value.flag()),
            show: |job| job.stop_on_enospc.then(|| "true".to_owned()),
            ..Key::ROW
        },
    ],
};

const DIRECTIONS: [Word<Direction>; 4] = [
    ("read", Direction::Read),
    ("write", Direction::Write),
    ("trim", Direction::Trim),
    ("sync", Direction::Sync),
];

const ENDS: [Word<EndsOthers>; 3] = [
    ("never", EndsOthers::Never),
    ("on-error", EndsOthers::OnError),
    ("always", EndsOthers::Always),
];

const KINDS: [Word<usize>; 3] = [("read", 0), ("write", 1), ("verify", 2)];

fn policy(value: Value<'_>) -> Result<ErrorPolicy, Complaint> {
    let mut goes_on = [false; 3];
    for kind in value.list()? {
        goes_on[kind.word(&KINDS)?] = true;
    }
    let [read, write, verify] = goes_on;
    Ok(ErrorPolicy::ContinueOn {
        read,
        write,
        verify,
    })
}

fn shown_policy(policy: ErrorPolicy) -> Option<String> {
    let ErrorPolicy::ContinueOn {
        read,
        write,
        verify,
    } = policy
    else {
        return None;
    };
    let goes_on = [read, write, verify];
    let kinds = KINDS.iter().filter(|(_, kind)| goes_on[*kind]);
    let kinds: Vec<String> = kinds.map(|(word, _)| quoted(word)).collect();
    Some(format!("[{}]", kinds.join(", ")))
}
