//! Keys of a job: what holds it back, beside a plain rate.

use blocklab_units::Nanos;
use blocklab_workload::{Credentials, Flow, Job, LatencyTarget, MinRate, Pace, Rate, ThinkStyle};

use super::super::error::Complaint;
use super::super::value::Value;
use super::priority::{self, io_priority};
use super::words::{number, shown_table, time};
use super::{Allowed, Key, Need, Section, put, quoted};

/// What a detail of `think` has in common with its siblings.
const PAUSE: Key<Job> = Key {
    kind: "time",
    default: Some("none"),
    need: Need::Given("think"),
    ..Key::ROW
};

pub const RESTRAINT: Section<Job> = Section {
    title: "Throttling",
    keys: &[
        Key {
            name: "think_spin",
            meaning: "The first part of each pause burns the processor instead of sleeping.",
            example: "\"1ms\"",
            elsewhere: &["thinktime_spin"],
            set: |job, value| put(&mut job.think_style.spin, value.time()),
            show: |job| given(job.think_style.spin),
            ..PAUSE
        },
        Key {
            name: "think_on_completion",
            kind: "true or false",
            meaning: "Operations count for a pause when they complete, not when they are issued.",
            default: Some("false"),
            example: "true",
            set: |job, value| put(&mut job.think_style.on_completion, value.flag()),
            show: |job| job.think_style.on_completion.then(|| "true".to_owned()),
            ..PAUSE
        },
        Key {
            name: "think_work",
            meaning: "A pause also follows after so much time of work.",
            example: "\"100ms\"",
            elsewhere: &["thinktime_iotime"],
            set: |job, value| {
                let work = value.unless_none(|work| work.time());
                let style = job.think_style;
                put(
                    &mut job.think_style,
                    work.map(|work| ThinkStyle { work, ..style }),
                )
            },
            show: |job| job.think_style.work.map(time),
            ..PAUSE
        },
        Key {
            name: "start_delay",
            kind: "time",
            meaning: "The job begins so much later than the run.",
            default: Some("none"),
            example: "\"5s\"",
            elsewhere: &["startdelay"],
            set: |job, value| put(&mut job.start_delay, value.time()),
            show: |job| given(job.start_delay),
            ..Key::ROW
        },
        Key {
            name: "least_iops",
            kind: "table",
            meaning: "Operations per second below which the job fails, by direction; they must \
                      hold over each `cycle`.",
            allowed: Allowed::Said(
                "`read`, `write`, `trim`, `cycle` (1 s), `settle` (0), or \"none\"",
            ),
            default: Some("none"),
            example: "{ read = 1000 }",
            elsewhere: &["rate_iops_min"],
            group: Some("least"),
            set: |job, value| {
                put(
                    &mut job.min_rate,
                    value.unless_none(|table| least(table, iops)),
                )
            },
            show: |job| shown_least(job.min_rate?, as_iops),
            ..Key::ROW
        },
        Key {
            name: "least_bytes",
            kind: "table",
            meaning: "Bytes per second below which the job fails, by direction; they must hold \
                      over each `cycle`.",
            allowed: Allowed::Said(
                "`read`, `write`, `trim`, `cycle` (1 s), `settle` (0), or \"none\"",
            ),
            default: Some("none"),
            example: "{ write = \"50MiB\", cycle = \"5s\" }",
            elsewhere: &["rate_min", "rate_cycle"],
            group: Some("least"),
            set: |job, value| {
                put(
                    &mut job.min_rate,
                    value.unless_none(|table| least(table, bytes)),
                )
            },
            show: |job| shown_least(job.min_rate?, as_bytes),
            ..Key::ROW
        },
        Key {
            name: "flow",
            kind: "table",
            meaning: "Jobs of one `group` move operations in proportion to their `weight`; one \
                      that is ahead looks again after `pause`.",
            allowed: Allowed::Said("whole numbers and a time, or \"none\""),
            default: Some("none"),
            example: "{ group = 1, weight = 3, pause = \"0\" }",
            set: |job, value| put(&mut job.flow, value.unless_none(flow)),
            show: |job| {
                job.flow.map(|flow| {
                    shown_table(&[
                        ("group", Some(flow.group.to_string())),
                        ("weight", Some(flow.weight.to_string())),
                        ("pause", Some(time(flow.pause))),
                    ])
                })
            },
            ..Key::ROW
        },
        Key {
            name: "latency_target",
            kind: "table",
            meaning: "Looks for the depth at which `percentile` per cent of the operations take at \
                      most `limit`, judged over `window`; with `go_on` the job stays there, else \
                      it ends.",
            allowed: Allowed::Said("times, a number and a flag, or \"none\""),
            default: Some("none"),
            example: "{ limit = \"1ms\", window = \"2s\", percentile = 99.0 }",
            elsewhere: &["latency_window", "latency_percentile", "latency_run"],
            set: |job, value| put(&mut job.latency_target, value.unless_none(latency_target)),
            show: |job| {
                job.latency_target.map(|target| {
                    shown_table(&[
                        ("limit", Some(time(target.limit))),
                        ("window", Some(time(target.window))),
                        ("percentile", Some(number(target.percentile))),
                        ("go_on", target.go_on.then(|| "true".to_owned())),
                    ])
                })
            },
            ..Key::ROW
        },
        Key {
            name: "nice",
            kind: "whole number",
            meaning: "Priority of the threads with the processor's scheduler, added to the \
                      program's own.",
            allowed: Allowed::Said("-20 (first) to 19 (last)"),
            default: Some("0"),
            example: "5",
            set: |job, value| put(&mut job.priority.nice, value.signed()),
            show: |job| (job.priority.nice != 0).then(|| job.priority.nice.to_string()),
            ..Key::ROW
        },
        Key {
            name: "io_priority",
            kind: "table",
            meaning: "Priority of the operations with the block layer's scheduler; most devices \
                      ignore it.",
            allowed: Allowed::Said(
                "`class`: realtime, best-effort or idle; `level`: 0 (first) to 7; or \"none\"",
            ),
            default: Some("none"),
            example: "{ class = \"best-effort\", level = 4 }",
            elsewhere: &["prio", "prioclass", "priority"],
            set: |job, value| put(&mut job.priority.io, value.unless_none(io_priority)),
            show: |job| job.priority.io.map(priority::shown),
            ..Key::ROW
        },
        Key {
            name: "io_priority_shares",
            kind: "list of tables",
            meaning: "Shares of the operations that carry a priority of their own, drawn one by \
                      one; latencies are then counted by priority as well. With `libaio` and \
                      `io_uring` only.",
            allowed: Allowed::Said(
                "`of`: read or write; `percent`; `size`: only operations of it; `class` and \
                 `level` as in `io_priority`",
            ),
            default: Some("none"),
            example: "[{ of = \"read\", percent = 20, class = \"realtime\", level = 0 }]",
            elsewhere: &[
                "cmdprio",
                "cmdprio_percentage",
                "cmdprio_class",
                "cmdprio_bssplit",
            ],
            set: |job, value| {
                let shares = value.list()?.into_iter().map(priority::share);
                put(&mut job.priority_shares, shares.collect())
            },
            show: |job| {
                let shares = job.priority_shares.iter().map(priority::shown_share);
                let shares: Vec<String> = shares.collect();
                (!shares.is_empty()).then(|| format!("[{}]", shares.join(", ")))
            },
            ..Key::ROW
        },
        Key {
            name: "standing",
            kind: "table",
            meaning: "User, group and cgroup of the threads: `user` and `group` by number; `control_group`, the \
                      directory of a version 1 cgroup.",
            allowed: Allowed::Said("numbers and a path, or \"none\""),
            default: Some("none"),
            example: "{ user = 65534, group = 65534 }",
            elsewhere: &["uid", "gid", "cgroup"],
            set: |job, value| {
                let credentials = value.unless_none(credentials);
                put(
                    &mut job.credentials,
                    credentials.map(Option::unwrap_or_default),
                )
            },
            show: |job| {
                (job.credentials != Credentials::default())
                    .then(|| shown_standing(&job.credentials))
            },
            ..Key::ROW
        },
    ],
};

fn credentials(value: Value<'_>) -> Result<Credentials, Complaint> {
    let [user, group, control_group] = value.fields(["user", "group", "control_group"])?;
    Ok(Credentials {
        user: user.map(Value::count).transpose()?,
        group: group.map(Value::count).transpose()?,
        control_group: control_group.map(Value::name).transpose()?,
    })
}

fn shown_standing(credentials: &Credentials) -> String {
    let number = |id: Option<u32>| id.map(|id| id.to_string());
    shown_table(&[
        ("user", number(credentials.user)),
        ("group", number(credentials.group)),
        (
            "control_group",
            credentials.control_group.as_deref().map(quoted),
        ),
    ])
}

fn given(span: Nanos) -> Option<String> {
    (span > Nanos::ZERO).then(|| time(span))
}

type Read = fn(Value<'_>) -> Result<Rate, Complaint>;

fn least(value: Value<'_>, read: Read) -> Result<MinRate, Complaint> {
    let [reads, writes, trims, cycle, settle] =
        value.fields(["read", "write", "trim", "cycle", "settle"])?;
    Ok(MinRate {
        rates: rates(value, [reads, writes, trims], read)?,
        cycle: cycle.map_or(Ok(Nanos::from_secs(1)), Value::time)?,
        settle: settle.map_or(Ok(Nanos::ZERO), Value::time)?,
    })
}

fn shown_least(least: MinRate, kind: fn(Rate) -> Option<f64>) -> Option<String> {
    let [read, write, trim] = numbers(least.rates, kind)?;
    let cycle = Some(time(least.cycle));
    Some(shown_table(&[
        ("read", read),
        ("write", write),
        ("trim", trim),
        ("cycle", cycle),
        ("settle", given(least.settle)),
    ]))
}

pub(super) fn iops(value: Value<'_>) -> Result<Rate, Complaint> {
    value.number().map(Rate::Iops)
}

pub(super) fn bytes(value: Value<'_>) -> Result<Rate, Complaint> {
    value.bytes_per_second().map(Rate::Bytes)
}

/// The number of a rate of operations.
pub(super) const fn as_iops(rate: Rate) -> Option<f64> {
    match rate {
        Rate::Iops(rate) => Some(rate),
        Rate::Bytes(_) => None,
    }
}

/// The number of a rate of bytes.
pub(super) const fn as_bytes(rate: Rate) -> Option<f64> {
    match rate {
        Rate::Bytes(rate) => Some(rate),
        Rate::Iops(_) => None,
    }
}

/// Rates of reads, writes and trims.
pub(super) fn by_direction(value: Value<'_>, read: Read) -> Result<[Option<Rate>; 3], Complaint> {
    rates(value, value.fields(["read", "write", "trim"])?, read)
}

fn rates(
    table: Value<'_>,
    fields: [Option<Value<'_>>; 3],
    read: Read,
) -> Result<[Option<Rate>; 3], Complaint> {
    let mut rates = [None; 3];
    for (rate, field) in rates.iter_mut().zip(fields) {
        *rate = field.map(read).transpose()?;
    }
    match rates.iter().any(Option::is_some) {
        true => Ok(rates),
        false => Err(table.complaint("a rate is needed for `read`, `write` or `trim`")),
    }
}

/// The numbers of those rates, if there are any of this kind.
fn numbers(rates: [Option<Rate>; 3], kind: fn(Rate) -> Option<f64>) -> Option<[Option<String>; 3]> {
    let shown = rates.map(|rate| rate.and_then(kind).map(number));
    shown.iter().any(Option::is_some).then_some(shown)
}

/// Their table.
pub(super) fn shown_rates(
    rates: [Option<Rate>; 3],
    kind: fn(Rate) -> Option<f64>,
) -> Option<String> {
    let [read, write, trim] = numbers(rates, kind)?;
    Some(shown_table(&[
        ("read", read),
        ("write", write),
        ("trim", trim),
    ]))
}

/// A pace that gives each direction a schedule of its own.
pub(super) const fn scheduled(rates: [Option<Rate>; 3]) -> Pace {
    Pace::ByDirection {
        rates,
        poisson: false,
    }
}

fn flow(value: Value<'_>) -> Result<Flow, Complaint> {
    let [group, weight, pause] = value.fields(["group", "weight", "pause"])?;
    let Some(weight) = weight else {
        return Err(value.complaint("a flow needs a `weight`"));
    };
    Ok(Flow {
        group: group.map_or(Ok(0), Value::count)?,
        weight: weight.count()?,
        pause: pause.map_or(Ok(Nanos::ZERO), Value::time)?,
    })
}

fn latency_target(value: Value<'_>) -> Result<LatencyTarget, Complaint> {
    let [limit, window, percentile, go_on] =
        value.fields(["limit", "window", "percentile", "go_on"])?;
    let (Some(limit), Some(window)) = (limit, window) else {
        return Err(value.complaint("a latency target needs `limit` and `window`"));
    };
    Ok(LatencyTarget {
        limit: limit.time()?,
        window: window.time()?,
        percentile: percentile.map_or(Ok(100.0), Value::number)?,
        go_on: go_on.map_or(Ok(false), Value::flag)?,
    })
}
