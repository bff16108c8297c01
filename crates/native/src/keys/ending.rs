//! Keys of a job: when it begins and ends, what a failure means, and what is kept of it.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, ErrorPolicy, Job, Limit, Steady, SteadyVariable, Verify, When};

use super::super::value::{Value, fields, optional};
use super::words::{
    self, CHECKSUMS, DIRECTIONS, ENDS, KINDS, POLICIES, RULES, Rule, SYNC_RANGES, VARIABLES, WHENS,
    list, names, number, or, pair, shown_table, size, time, within, word_for,
};
use super::{Allowed, Key, Need, Section, called, keys, put, quoted, row, text};
use blocklab_syntax::toml_tree::Complaint;

pub const END: Section<Job> = Section {
    title: "Start and end",
    keys: keys! { Job:
        "ramp" = "\"300ms\"", (time ramp),
            "Load before the measured time; not in any result.",
            other_names: &["ramp_time", "warmup"];
        "runtime" = "\"2s\"",
            (own "time",
                |job, value| put(&mut job.stop.runtime, value.unless_none(|time| time.time())),
                |job| Some(job.stop.runtime.map_or_else(|| quoted("none"), time))),
            "Measured time, after the ramp. The first end that is reached counts.",
            allowed: Allowed::Text("a time, or \"none\" with `stop_bytes`, `stop_ios` or `loops`"),
            default: Some("\"10s\"; none where `stop_bytes`, `stop_ios` or `loops` is given"), other_names: &["duration", "elapsed", "time_based"];
        "cool_down" = "\"1s\"", (rare time cool_down),
            "Load after the measured time; not in any result. Needs a runtime, and no `verify`.",
            default: Some("none");
        "ends_others" = "\"always\"", (word ENDS ends_others),
            "Whether the end of this job ends the jobs that run at the same time: never, only if it failed, or always.",
            other_names: &["exitall", "exitall_on_error"];
        "stop_bytes" = "\"20GiB\"", (maybe size stop.bytes),
            "Ends a thread after this many bytes.",
            allowed: Allowed::Text("a size above 0, or \"none\""), other_names: &["io_size", "io_limit"];
        "stop_ios" = "100000", (maybe whole stop.ios),
            "Ends a thread after this many operations, not counting flushes.",
            allowed: Allowed::Text("a number above 0, or \"none\""), other_names: &["number_ios"];
        "loops" = "1", (maybe count stop.loops),
            "Ends a thread after this many passes over the region.",
            allowed: Allowed::Text("a number above 0, or \"none\"");
        "steady" = "\"slope\"",
            (own "word",
                |job, value| {
                    let rule = value.unless_none(|word| word.word(&RULES));
                    put(&mut job.stop.steady, rule.map(|rule| rule.map(steady_rule)))
                },
                |job| word_for(&RULES, &rule(&job.stop.steady?))),
            "Ends the job as soon as it is steady; `runtime` is then the longest wait. `snia`: over five rounds, largest and smallest are within 20 % of the mean and the slope over the window is within 10 %. `slope`: only the slope. `deviation`: only the largest deviation from the mean.",
            allowed: Allowed::WordsOr(&names(&RULES), "\"none\""), default: Some("none"), other_names: &["steadystate", "ss"];
        "steady_variable" = "\"latency\"",
            (own "word",
                |job, value| put(variable_and_round(steady(job)).0, value.word(&VARIABLES)),
                |job| word_for(&VARIABLES, variable_and_round(&mut job.stop.steady?).0)),
            "The figure that must be steady.",
            allowed: Allowed::Words(&names(&VARIABLES)), default: Some("\"iops\""), need: Need::Given("steady");
        "steady_round" = "\"10s\"",
            (own "time",
                |job, value| match value.time()? {
                    Nanos::ZERO => Err(value.complaint("a round must be longer than 0")),
                    round => put(variable_and_round(steady(job)).1, Ok(round)),
                },
                |job| Some(time(*variable_and_round(&mut job.stop.steady?).1))),
            "Length of a round; the rule is checked once a round.",
            default: Some("\"60s\""), need: Need::Given("steady");
        "steady_after" = "\"30s\"", (rare time stop.steady_after),
            "Measured time before the first round; it counts in results but not for the rule.",
            default: Some("none"), need: Need::Given("steady"), other_names: &["ss_ramp"];
        "steady_rounds" = "10",
            (own "whole number",
                |job, value| {
                    let Some((rounds, _)) = drift(drifting(job)) else {
                        return Err(value.complaint(OWN));
                    };
                    put(rounds, within(value, 1..=10_000))
                },
                |job| drift(&mut job.stop.steady?).map(|(rounds, _)| rounds.to_string())),
            "Rounds in the window.",
            allowed: Allowed::Text("1 to 10000; a slope needs 3"), default: Some("5"), need: Need::Given("steady"), other_names: &["ss_dur"];
        "steady_limit_percent" = "2.5",
            (own "number",
                |job, value| set_limit(job, value, Limit::Percent),
                |job| match *drift(&mut job.stop.steady?)?.1 {
                    Limit::Percent(limit) => Some(number(limit)),
                    Limit::Absolute(_) => None,
                }),
            "Largest slope per round, or deviation, in per cent of the mean.",
            allowed: Allowed::Text("above 0"), default: Some("10.0"), need: Need::Given("steady"), group: Some("steady_limit");
        "steady_limit" = "500.0",
            (own "number",
                |job, value| set_limit(job, value, Limit::Absolute),
                |job| match *drift(&mut job.stop.steady?)?.1 {
                    Limit::Absolute(limit) => Some(number(limit)),
                    Limit::Percent(_) => None,
                }),
            "The same limit in operations or bytes a second, or in nanoseconds.",
            allowed: Allowed::Text("above 0"), need: Need::Given("steady"), group: Some("steady_limit");
    },
};

pub const FAILURES: Section<Job> = Section {
    title: "Flushes and failures",
    keys: keys! { Job:
        "fsync_every" = "32", (count flush.fsync_every),
            "An fsync after this many writes of a thread; 0 is never.",
            other_names: &["fsync"];
        "fdatasync_every" = "1", (count flush.fdatasync_every),
            "An fdatasync after this many writes of a thread; 0 is never.",
            other_names: &["fdatasync"];
        "fsync_at_end" = "true", (flag flush.at_end),
            "An fsync at the end of a thread, within the measured time.",
            other_names: &["end_fsync"];
        "flush_after_reads" = "true", (rare flag flush.after_reads),
            "Repeats the flush that followed a write after each read up to the next write, as fio does.";
        "sync_range_every" = "8",
            (own "whole number",
                |job, value| {
                    if job.flush.range_flags == 0 {
                        job.flush.range_flags = BEGIN_WRITING;
                    }
                    put(&mut job.flush.range_every, value.count())
                },
                |job| (job.flush.range_every > 0).then(|| job.flush.range_every.to_string())),
            "A sync_file_range after this many writes to a file, from the first byte of them to the last, if another write follows; 0 is never.",
            default: Some("0"), other_names: &["sync_file_range"];
        "sync_range" = "[\"wait-before\", \"write\"]",
            (own "list of words",
                |job, value| put(&mut job.flush.range_flags, sync_range(value)),
                |job| (job.flush.range_every > 0).then(|| shown_sync_range(job.flush.range_flags))),
            "What it does: wait for what is on its way, begin writing, wait for that.",
            allowed: Allowed::Text("a list of \"wait-before\", \"write\", \"wait-after\""), default: Some("[\"write\"]"), need: Need::Given("sync_range_every");
        "on_error" = "\"continue\"",
            (own "word",
                |job, value| put(&mut job.on_error, policy(value)),
                |job| word_for(&POLICIES, &job.on_error).or_else(|| shown_policy(job.on_error))),
            "After a failed operation: end the job, or count the failure and continue until 1,000 fail in a row. A list continues only after failures of the medium (EIO, EILSEQ) of these kinds: reads, writes (also trims and flushes), wrong data.",
            allowed: Allowed::WordsOr(&names(&POLICIES), "a list of \"read\", \"write\", \"verify\""), other_names: &["continue_on_error", "data_errors"];
        "max_latency" = "\"1s\"", (maybe time max_latency),
            "An operation that takes longer counts as failed (ETIMEDOUT).",
            allowed: Allowed::Text("a time, or \"none\"");
        "ignored_errors" = "[[\"read\", 5], [\"write\", 28]]",
            (own "list of pairs",
                |job, value| put(&mut job.ignored_errors, value.list()?.into_iter().map(ignored).collect()),
                |job| list(&job.ignored_errors, |(of, errno)| pair(quoted(of.name()), errno.to_string()))),
            "Failures that count as success: a direction and an error number.",
            allowed: Allowed::Text("pairs such as [\"read\", 5]"), default: Some("none"), other_names: &["ignore_error"];
        "stop_on_enospc" = "true", (rare flag stop_on_enospc),
            "A write that finds no space ends the job without a failure.",
            former: Some("until_full"), other_names: &["fill_device"];
    },
};

pub const VERIFICATION: Section<Job> = Section {
    title: "Verification and samples",
    keys: keys! { Job:
        "verify" = "\"crc32c\"",
            (own "word or table",
                |job, value| put(&mut job.verify, value.unless_none(verify)),
                |job| shown_verify(job.verify.as_ref()?)),
            "Written data carries a checksum and is compared when it is read back; rates are over the time of both. A table: `checksum`; `interval` (bytes that a header covers); `when` (after-writes, never, or { every, batch } writes; only: data that an earlier run of this job with the same seed wrote); `fatal` (the first miscompare ends the job).",
            allowed: Allowed::WordsOr(&names(&CHECKSUMS), "a table, or \"none\""), default: Some("none"),
            other_names: &["verify_interval", "verify_fatal", "do_verify", "verify_backlog"];
        "measure_depths" = "true", (rare flag measure.depths),
            "Counts how many operations were in flight at each issue, and how many each call moved.";
        "sample_bandwidth" = "\"500ms\"", (maybe time measure.bandwidth_every),
            "Samples the bandwidth of each direction at this interval, where anything completed in it.",
            allowed: Allowed::Text("from 1 ms, or \"none\""), other_names: &["bwavgtime"];
        "sample_iops" = "\"500ms\"", (maybe time measure.iops_every),
            "Samples the operations per second of each direction at this interval, where any completed in it.",
            allowed: Allowed::Text("from 1 ms, or \"none\""), other_names: &["iopsavgtime"];
    },
};

/// The steady rule of a job; begins with the SNIA rule where it has none.
fn steady(job: &mut Job) -> &mut Steady {
    job.stop.steady.get_or_insert(steady_rule(Rule::Snia))
}

/// The same, for the keys that the SNIA rule has not.
fn drifting(job: &mut Job) -> &mut Steady {
    job.stop.steady.get_or_insert(steady_rule(Rule::Slope))
}

const fn rule(steady: &Steady) -> Rule {
    match steady {
        Steady::Snia { .. } => Rule::Snia,
        Steady::Slope { .. } => Rule::Slope,
        Steady::Deviation { .. } => Rule::Deviation,
    }
}

/// The figure that must be steady, and the length of a round; each rule has both.
const fn variable_and_round(steady: &mut Steady) -> (&mut SteadyVariable, &mut Nanos) {
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

/// The rule that a word names, with the defaults of its settings.
fn steady_rule(rule: Rule) -> Steady {
    let (variable, round) = (SteadyVariable::Iops, Nanos::from_secs(60));
    let (rounds, limit) = (5, Limit::Percent(10.0));
    match rule {
        Rule::Snia => Steady::Snia { variable, round },
        Rule::Slope => Steady::Slope {
            variable,
            round,
            rounds,
            limit,
        },
        Rule::Deviation => Steady::Deviation {
            variable,
            round,
            rounds,
            limit,
        },
    }
}

/// Refuses `steady_rounds` and the limits for the SNIA rule.
const OWN: &str = "the SNIA rule has its own";

/// Sets the limit of the rule, where that has one: `of` makes it, in per cent or absolute.
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

/// A word, or a list of the kinds of operations that may fail.
fn policy(value: Value<'_>) -> Result<ErrorPolicy, Complaint> {
    if !value.is_list() {
        return value.word(&POLICIES);
    }
    // By the indexes that KINDS gives: reads, writes, verification.
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

/// The list of errors after which a job goes on; `None` for the policies that are a word.
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

/// SYNC_FILE_RANGE_WRITE.
const BEGIN_WRITING: u32 = 2;

/// A list of words, as the flags of sync_file_range.
fn sync_range(value: Value<'_>) -> Result<u32, Complaint> {
    let mut flags = 0;
    for word in value.list()? {
        flags |= word.word(&SYNC_RANGES)?;
    }
    match flags {
        0 => Err(value.complaint("it must do something")),
        flags => Ok(flags),
    }
}

fn shown_sync_range(flags: u32) -> String {
    let words = SYNC_RANGES.iter().filter(|(_, flag)| flags & flag != 0);
    let words: Vec<String> = words.map(|(word, _)| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

fn ignored(pair: Value<'_>) -> Result<(Direction, i32), Complaint> {
    let [direction, errno] = pair.pair()?;
    Ok((direction.word(&DIRECTIONS)?, errno.signed()?))
}

/// The name of a checksum, or a table with it and more settings.
fn verify(value: Value<'_>) -> Result<Verify, Complaint> {
    if !value.is_table() {
        return value.word(&CHECKSUMS).map(Verify::new);
    }
    fields!(value; checksum, interval, when, fatal);
    let Some(checksum) = checksum else {
        return Err(value.complaint("a table of `verify` needs the `checksum`"));
    };
    Ok(Verify {
        interval: interval.map(Value::size).transpose()?,
        when: or(when, read_when, When::AfterWrites)?,
        fatal: or(fatal, Value::flag, false)?,
        ..Verify::new(checksum.word(&CHECKSUMS)?)
    })
}

/// A word, or `{ every = 8, batch = 4 }`.
fn read_when(value: Value<'_>) -> Result<When, Complaint> {
    if !value.is_table() {
        return value.word(&WHENS);
    }
    let [Some(every), Some(batch)] = optional(value, ["every", "batch"])? else {
        return Err(value.complaint("both `every` and `batch` are needed"));
    };
    Ok(When::Backlog {
        every: every.whole()?,
        batch: batch.whole()?,
    })
}

/// The checksum alone if all else is the default, or a table.
fn shown_verify(verify: &Verify) -> Option<String> {
    let when = match verify.when {
        When::AfterWrites => None,
        When::Backlog { every, batch } => Some(shown_table(&[
            ("every", Some(every.to_string())),
            ("batch", Some(batch.to_string())),
        ])),
        when => word_for(&WHENS, &when),
    };
    let details = [
        ("interval", verify.interval.map(size)),
        ("when", when),
        ("fatal", verify.fatal.then(|| "true".to_owned())),
    ];
    let checksum = word_for(&CHECKSUMS, &verify.checksum)?;
    if details.iter().all(|(_, value)| value.is_none()) {
        return Some(checksum);
    }
    let [interval, when, fatal] = details;
    Some(shown_table(&[
        ("checksum", Some(checksum)),
        interval,
        when,
        fatal,
    ]))
}
