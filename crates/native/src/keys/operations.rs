//! Keys of a job: what an operation is, and when the next one begins.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{BlockSizes, Content, Job, Mix, Pace, Pattern, Rate, SizeMix, Think, Zone};

use super::super::error::Complaint;
use super::super::value::Value;
use super::restraint::{as_bytes, as_iops, by_direction, bytes, iops, scheduled, shown_rates};
use super::words::{
    ARRIVALS, Arrivals, CONTENTS, PATTERNS, names, number, pattern_name, size, size_mix, spoken,
    time,
};
use super::{Allowed, Key, Need, Section, put, quoted};

pub const OPERATIONS: Section<Job> = Section {
    title: "What an operation is",
    keys: &[
        Key {
            name: "pattern",
            kind: "word",
            meaning: "Where operations go. `random-once` hits every block once a pass, and cuts \
                      those of several sizes where one follows that was hit; from \
                      `strided` on, each needs a detail, one of the keys below.",
            allowed: Allowed::Words(&names(&PATTERNS)),
            example: "\"random\"",
            elsewhere: &["random_distribution", "seekpct"],
            set: |job, value| put(&mut job.pattern, value.word(&PATTERNS).map(|open| open())),
            show: |job| Some(quoted(pattern_name(&job.pattern))),
            ..Key::ROW
        },
        Key {
            name: "stride",
            kind: "size",
            meaning: "Distance between the beginnings of two operations.",
            allowed: Allowed::Said("a size above 0"),
            example: "\"1MiB\"",
            need: Need::Completes("pattern", "strided"),
            set: |job, value| {
                let pattern = |stride| Pattern::Strided { stride };
                put(&mut job.pattern, value.size().map(pattern))
            },
            show: |job| match job.pattern {
                Pattern::Strided { stride } => Some(size(stride)),
                _ => None,
            },
            ..Key::ROW
        },
        Key {
            name: "back",
            kind: "size",
            meaning: "How far before the end of an operation the next one begins.",
            allowed: Allowed::Said("a size above 0"),
            example: "\"8KiB\"",
            need: Need::Completes("pattern", "backward"),
            set: |job, value| {
                let pattern = |back| Pattern::Backward { back };
                put(&mut job.pattern, value.size().map(pattern))
            },
            show: |job| match job.pattern {
                Pattern::Backward { back } => Some(size(back)),
                _ => None,
            },
            ..Key::ROW
        },
        Key {
            name: "percent_random",
            kind: "per cent",
            meaning: "How often an operation goes to a random place instead of the next one.",
            allowed: Allowed::Said("0 to 100"),
            example: "30",
            elsewhere: &["percentage_random"],
            need: Need::Completes("pattern", "percent-random"),
            set: |job, value| {
                put(
                    &mut job.pattern,
                    value.percent().map(Pattern::PercentRandom),
                )
            },
            show: |job| match job.pattern {
                Pattern::PercentRandom(percent) => Some(percent.to_string()),
                _ => None,
            },
            ..Key::ROW
        },
        Key {
            name: "theta",
            kind: "number",
            meaning: "How steep Zipf's law is: the block of rank k is hit in proportion to \
                      k^-theta.",
            allowed: Allowed::Said("above 0, below 100, not 1"),
            example: "1.2",
            need: Need::Completes("pattern", "zipf"),
            set: |job, value| {
                let pattern = |theta| Pattern::Zipf { theta };
                put(&mut job.pattern, value.number().map(pattern))
            },
            show: |job| match job.pattern {
                Pattern::Zipf { theta } => Some(number(theta)),
                _ => None,
            },
            ..Key::ROW
        },
        Key {
            name: "h",
            kind: "number",
            meaning: "How uneven Pareto's rule is: a share 1 - h of the accesses goes to a share h \
                      of the blocks. 0.2 is the 80/20 rule, 0.5 is even.",
            allowed: Allowed::Said("above 0, below 1"),
            example: "0.2",
            need: Need::Completes("pattern", "pareto"),
            set: |job, value| {
                let pattern = |h| Pattern::Pareto { h };
                put(&mut job.pattern, value.number().map(pattern))
            },
            show: |job| match job.pattern {
                Pattern::Pareto { h } => Some(number(h)),
                _ => None,
            },
            ..Key::ROW
        },
        Key {
            name: "deviation",
            kind: "number",
            meaning: "Standard deviation around the middle, in per cent of the region.",
            allowed: Allowed::Said("above 0, at most 100"),
            example: "15",
            need: Need::Completes("pattern", "normal"),
            set: |job, value| {
                let pattern = |deviation_percent| Pattern::Normal { deviation_percent };
                put(&mut job.pattern, value.number().map(pattern))
            },
            show: |job| match job.pattern {
                Pattern::Normal { deviation_percent } => Some(number(deviation_percent)),
                _ => None,
            },
            ..Key::ROW
        },
        Key {
            name: "zones",
            kind: "list of pairs",
            meaning: "Hot spots, one behind the other: share of the operations and share of the \
                      region, in per cent.",
            allowed: Allowed::Said("pairs whose first and whose second numbers add up to 100"),
            example: "[[80, 20], [20, 80]]",
            elsewhere: &["hotband"],
            need: Need::Completes("pattern", "zones"),
            set: |job, value| put(&mut job.pattern, zones(value).map(Pattern::Zones)),
            show: |job| match &job.pattern {
                Pattern::Zones(zones) => Some(shown_zones(zones)),
                _ => None,
            },
            ..Key::ROW
        },
        Key {
            name: "mix",
            kind: "word or table",
            meaning: "What operations do: all the same, or shares in per cent.",
            allowed: Allowed::WordsOr(&names(&MIXES), "a table whose shares add up to 100"),
            example: "{ read = 70, write = 30 }",
            elsewhere: &["rw", "readwrite", "operation"],
            group: Some("mix"),
            set: |job, value| put(&mut job.mix, mix(value)),
            show: |job| spoken(&MIXES, &job.mix).or_else(|| Some(shown_mix(job.mix))),
            ..Key::ROW
        },
        Key {
            name: "read_percent",
            kind: "per cent",
            meaning: "Instead of `mix`: the share of reads; the rest are writes.",
            allowed: Allowed::Said("0 to 100"),
            default: Some("none"),
            example: "70",
            elsewhere: &["rwmixread", "rdpct", "readpct"],
            group: Some("mix"),
            set: |job, value| {
                let mix = |read| Mix {
                    read,
                    write: 100 - read,
                    trim: 0,
                };
                put(&mut job.mix, value.percent().map(mix))
            },
            ..Key::ROW
        },
        Key {
            name: "block_size",
            kind: "size, list or table",
            meaning: "How big operations are: a size, a list of sizes with weights, or a table of \
                      either by direction (trims as writes, unless said).",
            allowed: Allowed::Said(
                "\"4KiB\", [[\"4KiB\", 60], [\"64KiB\", 40]], { read = \"4KiB\", write = \"64KiB\" }; \
                 at most 1 GiB",
            ),
            example: "\"64KiB\"",
            elsewhere: &["bs", "blocksize", "bssplit", "xfersize", "bsrange"],
            set: |job, value| put(&mut job.sizes, block_sizes(value)),
            show: |job| Some(shown_sizes(&job.sizes)),
            ..Key::ROW
        },
        Key {
            name: "content",
            kind: "word or table",
            meaning: "What is written: zeros; random bytes made once, each block unique; random \
                      bytes made once, the same in each write; random bytes made anew for every write; parts of one buffer of so many random bytes \
                      (or those of `fill`); or a share, in per cent, that compresses away and a \
                      share of the blocks that repeat earlier ones, or (`repeat`) of the writes \
                      that repeat the last new one as a whole.",
            allowed: Allowed::WordsOr(
                &names(&CONTENTS),
                "a table with `compress`, `dedupe` or `repeat`, or with `window`",
            ),
            example: "{ compress = 50, dedupe = 20 }",
            elsewhere: &[
                "refill_buffers",
                "scramble_buffers",
                "zero_buffers",
                "buffer_compress_percentage",
                "dedupe_percentage",
                "compratio",
                "dedupratio",
                "buffer_pattern",
            ],
            set: |job, value| put(&mut job.content, content(value)),
            show: |job| spoken(&CONTENTS, &job.content).or_else(|| shown_content(job.content)),
            ..Key::ROW
        },
    ],
};

pub const PACE: Section<Job> = Section {
    title: "How fast it goes",
    keys: &[
        Key {
            name: "rate_iops",
            kind: "number or table",
            meaning: "Operations per second of the whole job: its threads share them evenly. A \
                      table gives each direction a schedule of its own.",
            allowed: Allowed::Said("above 0, { read, write, trim }, or \"none\""),
            default: Some("none"),
            example: "3000",
            elsewhere: &["iorate", "iops", "fwdrate"],
            group: Some("rate"),
            set: |job, value| put(&mut job.pace, pace(value, iops)),
            show: |job| shown_rate(job.pace, as_iops),
            ..Key::ROW
        },
        Key {
            name: "rate_bytes",
            kind: "size a second or table",
            meaning: "Bytes per second of the whole job: its threads share them evenly. A table \
                      gives each direction a schedule of its own.",
            allowed: Allowed::Said("above 0, { read, write, trim }, or \"none\""),
            default: Some("none"),
            example: "\"100MB\"",
            elsewhere: &["rate", "throughput"],
            group: Some("rate"),
            set: |job, value| put(&mut job.pace, pace(value, bytes)),
            show: |job| shown_rate(job.pace, as_bytes),
            ..Key::ROW
        },
        Key {
            name: "arrivals",
            kind: "word",
            meaning: "`closed`: the next operation begins when one ends, never faster than the \
                      rate; what a stall lets pass is not made up for. `fixed` and `poisson`: \
                      operations arrive at the rate, at even or at random distances, whatever the \
                      target does. Response latency counts from the moment an operation was due; \
                      what never began is in it with the time that it had waited.",
            allowed: Allowed::Words(&names(&ARRIVALS)),
            example: "\"poisson\"",
            elsewhere: &["rate_process", "distribution"],
            set: |job, value| {
                let how = value.word(&ARRIVALS)?;
                job.pace = arriving(how, job.pace);
                Ok(())
            },
            show: |job| {
                let arrivals = match job.pace {
                    Pace::Closed | Pace::Capped(_) => Arrivals::Closed,
                    Pace::OpenFixed(_) | Pace::ByDirection { poisson: false, .. } => {
                        Arrivals::Fixed
                    }
                    Pace::OpenPoisson(_) | Pace::ByDirection { poisson: true, .. } => {
                        Arrivals::Poisson
                    }
                };
                spoken(&ARRIVALS, &arrivals)
            },
            ..Key::ROW
        },
        Key {
            name: "think",
            kind: "time",
            meaning: "A pause of a thread between its operations.",
            allowed: Allowed::Said("a time, or \"none\""),
            default: Some("none"),
            example: "\"10ms\"",
            elsewhere: &["thinktime"],
            set: |job, value| {
                let pause = value.unless_none(|time| time.time());
                let think = |pause| Think { pause, every: 1 };
                put(&mut job.think, pause.map(|pause| pause.map(think)))
            },
            show: |job| job.think.map(|think| time(think.pause)),
            ..Key::ROW
        },
        Key {
            name: "think_every",
            kind: "whole number",
            meaning: "The pause comes after so many operations.",
            allowed: Allowed::Said("from 1"),
            default: Some("1"),
            example: "64",
            elsewhere: &["thinktime_blocks"],
            need: Need::Given("think"),
            set: |job, value| {
                let pause = job.think.map_or(Nanos::ZERO, |think| think.pause);
                let think = |every| Some(Think { pause, every });
                put(&mut job.think, value.count().map(think))
            },
            show: |job| job.think.map(|think| think.every.to_string()),
            ..Key::ROW
        },
    ],
};

const MIXES: [(&str, Mix); 3] = [
    ("read", Mix::READ),
    ("write", Mix::WRITE),
    ("trim", Mix::TRIM),
];

fn pace(
    value: Value<'_>,
    read: fn(Value<'_>) -> Result<Rate, Complaint>,
) -> Result<Pace, Complaint> {
    if value.is_table() {
        return by_direction(value, read).map(scheduled);
    }
    let rate = value.unless_none(read)?;
    Ok(rate.map_or(Pace::Closed, Pace::Capped))
}

fn shown_rate(pace: Pace, kind: fn(Rate) -> Option<f64>) -> Option<String> {
    match pace {
        Pace::ByDirection { rates, .. } => shown_rates(rates, kind),
        Pace::Closed => None,
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => {
            kind(rate).map(number)
        }
    }
}

/// Without a rate, there is nothing to arrive at: the loop stays closed.
const fn arriving(how: Arrivals, pace: Pace) -> Pace {
    let rate = match pace {
        Pace::Closed => return pace,
        Pace::ByDirection { rates, .. } => {
            let poisson = matches!(how, Arrivals::Poisson);
            return Pace::ByDirection { rates, poisson };
        }
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => rate,
    };
    match how {
        Arrivals::Closed => Pace::Capped(rate),
        Arrivals::Fixed => Pace::OpenFixed(rate),
        Arrivals::Poisson => Pace::OpenPoisson(rate),
    }
}

fn zones(value: Value<'_>) -> Result<Vec<Zone>, Complaint> {
    let zone = |pair: Value<'_>| {
        let [access, space] = pair.pair()?;
        Ok(Zone {
            access_percent: access.number()?,
            space_percent: space.number()?,
        })
    };
    value.list()?.into_iter().map(zone).collect()
}

fn shown_zones(zones: &[Zone]) -> String {
    let pair = |zone: &Zone| {
        let (access, space) = (number(zone.access_percent), number(zone.space_percent));
        format!("[{access}, {space}]")
    };
    format!(
        "[{}]",
        zones.iter().map(pair).collect::<Vec<_>>().join(", ")
    )
}

fn mix(value: Value<'_>) -> Result<Mix, Complaint> {
    if !value.is_table() {
        return value.word(&MIXES);
    }
    let shares = value.fields(["read", "write", "trim"])?;
    let share = |share: Option<Value<'_>>| share.map_or(Ok(0), Value::percent);
    Ok(Mix {
        read: share(shares[0])?,
        write: share(shares[1])?,
        trim: share(shares[2])?,
    })
}

fn shown_mix(mix: Mix) -> String {
    let shares = [("read", mix.read), ("write", mix.write), ("trim", mix.trim)];
    let named: Vec<String> = shares
        .iter()
        .filter(|(_, share)| *share > 0)
        .map(|(name, share)| format!("{name} = {share}"))
        .collect();
    format!("{{ {} }}", named.join(", "))
}

fn sizes(value: Value<'_>) -> Result<SizeMix, Complaint> {
    if !value.is_list() {
        return value.size().map(SizeMix::fixed);
    }
    let weighted = |pair: Value<'_>| {
        let [size, weight] = pair.pair()?;
        Ok((size.size()?, weight.count()?))
    };
    let pairs: Result<Vec<(Bytes, u32)>, Complaint> =
        value.list()?.into_iter().map(weighted).collect();
    Ok(SizeMix(pairs?))
}

fn block_sizes(value: Value<'_>) -> Result<BlockSizes, Complaint> {
    if !value.is_table() {
        let all = sizes(value)?;
        return Ok(BlockSizes {
            read: all.clone(),
            write: all.clone(),
            trim: all,
        });
    }
    let [read, write, trim] = value.fields(["read", "write", "trim"])?;
    let (Some(read), Some(write)) = (read, write) else {
        return Err(value.complaint("a table of block sizes needs both `read` and `write`"));
    };
    Ok(BlockSizes {
        read: sizes(read)?,
        write: sizes(write)?,
        trim: sizes(trim.unwrap_or(write))?,
    })
}

fn shown_sizes(sizes: &BlockSizes) -> String {
    let BlockSizes { read, write, trim } = sizes;
    if read == write && write == trim {
        return size_mix(read);
    }
    let mut text = format!("{{ read = {}, write = {}", size_mix(read), size_mix(write));
    if trim != write {
        text.push_str(&format!(", trim = {}", size_mix(trim)));
    }
    text + " }"
}

fn content(value: Value<'_>) -> Result<Content, Complaint> {
    if !value.is_table() {
        return value.word(&CONTENTS);
    }
    let [compress, dedupe, repeat, window] =
        value.fields(["compress", "dedupe", "repeat", "window"])?;
    if let Some(window) = window {
        if compress.is_some() || dedupe.is_some() || repeat.is_some() {
            return Err(value.complaint("`window` excludes `compress`, `dedupe` and `repeat`"));
        }
        let size = window.size()?;
        return Ok(Content::Window { size });
    }
    let compress_percent = compress.map_or(Ok(0), Value::percent)?;
    if let Some(repeat) = repeat {
        if dedupe.is_some() {
            return Err(value.complaint("`repeat` excludes `dedupe`"));
        }
        return Ok(Content::Repeating {
            compress_percent,
            repeat_percent: repeat.percent()?,
        });
    }
    Ok(Content::Shaped {
        compress_percent,
        dedupe_percent: dedupe.map_or(Ok(0), Value::percent)?,
    })
}

fn shown_content(content: Content) -> Option<String> {
    match content {
        Content::Window { size } => Some(format!("{{ window = {} }}", super::words::size(size))),
        Content::Shaped {
            compress_percent,
            dedupe_percent,
        } => Some(format!(
            "{{ compress = {compress_percent}, dedupe = {dedupe_percent} }}"
        )),
        Content::Repeating {
            compress_percent,
            repeat_percent,
        } => Some(format!(
            "{{ compress = {compress_percent}, repeat = {repeat_percent} }}"
        )),
        _ => None,
    }
}
