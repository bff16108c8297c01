//! Keys of a job: what an operation is, and when the next one begins.

use std::sync::Arc;

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    BlockSizes, Content, Flow, IoPriority, Job, LatencyTarget, MinRate, Mix, MovingWindow, Pace,
    Pattern, Rate, SizeMix, Think, Zone,
};

use super::super::value::{Value, fields, optional};
use super::words::{
    self, ARRIVALS, Arrivals, CLASSES, CONTENTS, MIXES, PATTERNS, SIZE_DRAWS, list, names, number,
    or, pair, pattern_name, shown_table, size, size_mix, time, within, word_for,
};
use super::{Allowed, Key, Need, Section, called, keys, put, quoted, row, text};
use blocklab_syntax::toml_tree::Complaint;

pub const OPERATIONS: Section<Job> = Section {
    title: "Operations",
    keys: keys! { Job:
        "pattern" = "\"random\"",
            (own "word",
                |job, value| put(&mut job.pattern, value.word(&PATTERNS).map(|open| open())),
                |job| Some(quoted(pattern_name(&job.pattern)))),
            "Offsets of the operations. `random-once` hits every block once a pass; with several sizes it shortens a block that would reach into one already hit; if sizes differ only by direction, each keeps its size and some pieces are hit twice. From `strided` on, each pattern needs one of the keys below.",
            allowed: Allowed::Words(&names(&PATTERNS)), other_names: &["random_distribution", "seekpct"];
        "stride" = "\"1MiB\"", (size in Strided stride),
            "Distance between the starts of two operations.",
            allowed: Allowed::Text("a size above 0"), need: Need::Completes("pattern", "strided");
        "back" = "\"8KiB\"", (size in Backward back),
            "How far before the end of an operation the next one starts.",
            allowed: Allowed::Text("a size above 0"), need: Need::Completes("pattern", "backward");
        "percent_random" = "30",
            (own "per cent",
                |job, value| put(&mut job.pattern, value.percent().map(Pattern::PercentRandom)),
                |job| match job.pattern {
                    Pattern::PercentRandom(percent) => Some(percent.to_string()),
                    _ => None,
                }),
            "Share of operations that go to a random offset instead of the next one.",
            allowed: Allowed::Text("0 to 100"), need: Need::Completes("pattern", "percent-random"), other_names: &["percentage_random"];
        "theta" = "1.2", (number in Zipf theta),
            "Exponent of Zipf's law: the block of rank k is hit in proportion to k^-theta.",
            allowed: Allowed::Text("above 0, below 100, not 1"), need: Need::Completes("pattern", "zipf");
        "h" = "0.2", (number in Pareto h),
            "Skew of Pareto's rule: a share 1 - h of the accesses goes to a share h of the blocks. 0.2 is the 80/20 rule, 0.5 is even.",
            allowed: Allowed::Text("above 0, below 1"), need: Need::Completes("pattern", "pareto");
        "deviation" = "15", (number in Normal deviation_percent),
            "Standard deviation around the middle, in per cent of the region.",
            allowed: Allowed::Text("above 0, at most 100"), need: Need::Completes("pattern", "normal");
        "zones" = "[[80, 20], [20, 80]]",
            (own "list of pairs",
                |job, value| put(&mut job.pattern, zones(value).map(Pattern::Zones)),
                |job| match &job.pattern {
                    Pattern::Zones(zones) => list(zones, shown_zone),
                    _ => None,
                }),
            "Consecutive zones: share of the operations and share of the region, in per cent.",
            allowed: Allowed::Text("pairs whose first and whose second numbers add up to 100"),
            need: Need::Completes("pattern", "zones"), other_names: &["hotband"];
        "mix" = "{ read = 70, write = 30 }",
            (own "word or table",
                |job, value| put(&mut job.mix, mix(value)),
                |job| word_for(&MIXES, &job.mix).or_else(|| Some(shown_mix(job.mix)))),
            "Kind of the operations, or shares in per cent.",
            allowed: Allowed::WordsOr(&names(&MIXES), "a table whose shares add up to 100"),
            other_names: &["rw", "readwrite", "operation"], group: Some("mix");
        "read_percent" = "70",
            (own "per cent",
                |job, value| put(&mut job.mix, value.percent().map(Mix::reads)),
                |_| None),
            "Instead of `mix`: the share of reads; the rest are writes.",
            allowed: Allowed::Text("0 to 100"), default: Some("none"),
            other_names: &["rwmixread", "rdpct", "readpct"], group: Some("mix");
        "block_size" = "\"64KiB\"",
            (own "size, list or table",
                |job, value| put(&mut job.sizes, block_sizes(value)),
                |job| Some(shown_sizes(&job.sizes))),
            "Size of the operations: a size, a list of sizes with weights, or a table of either by direction (trims as writes by default).",
            allowed: Allowed::Text("\"4KiB\", [[\"4KiB\", 60], [\"64KiB\", 40]], { read = \"4KiB\", write = \"64KiB\" }; at most 1 GiB"),
            other_names: &["bs", "blocksize", "bssplit", "xfersize", "bsrange"];
        "content" = "{ compress = 50, dedupe = 20 }",
            (own "word or table",
                |job, value| put(&mut job.content, content(value)),
                |job| word_for(&CONTENTS, &job.content).or_else(|| shown_content(job.content))),
            "Written data: zeros (`zero`); random bytes made once, each block unique (`random`); random bytes made once, the same in each write (`same`); new random bytes for every write (`fresh`); or a share that compresses and a share of blocks that repeat earlier ones, in per cent.",
            allowed: Allowed::WordsOr(&names(&CONTENTS), "a table with `compress` or `dedupe`"),
            other_names: &["refill_buffers", "scramble_buffers", "zero_buffers", "buffer_compress_percentage", "dedupe_percentage", "compratio", "dedupratio"];
    },
};

pub const DETAILS: Section<Job> = Section {
    title: "Operations: details",
    keys: keys! { Job:
        "size_draw" = "\"multiples\"", (word SIZE_DRAWS size_draw),
            "How sizes are drawn from `block_size`: one of the list by weight (`listed`); a multiple of the smallest up to the largest (`multiples`); any number of bytes between the two (`any-byte`).",
            other_names: &["bs_unaligned"];
        "align" = "\"512\"",
            (own "size",
                |job, value| put(&mut job.align, value.unless_none(|size| size.size().map(|all| [all; 3]))),
                |job| job.align.filter(|align| *align == [align[0]; 3]).map(|align| size(align[0]))),
            "Alignment of random offsets; if smaller than a block, blocks may overlap.",
            allowed: Allowed::Text("a size above 0, or \"none\""), default: Some("the smallest block"), other_names: &["blockalign", "ba"];
        "window" = "{ bytes = \"1MiB\", range = \"2MiB\", skip = \"0\" }", (table window, window, shown_window),
            "A window that moves over the region: operations stay within its `range` until `bytes` were moved; the next window starts `skip` after its end.",
            allowed: Allowed::Text("sizes for `bytes`, `range` and `skip`, or \"none\""), other_names: &["zonesize", "zoneskip", "zonerange"];
        "per_direction_position" = "true", (rare flag per_direction_position),
            "Reads, writes and trims each have a sequential position of their own.",
            former: Some("positions_apart");
        "trim_first" = "true", (rare flag trim_first),
            "Each write follows a trim of the same range.",
            other_names: &["trimwrite"];
        "no_overlap" = "true", (rare flag no_overlap),
            "An operation waits while an overlapping one of its thread is in flight.",
            other_names: &["serialize_overlap"];
        "drop_cache_every" = "\"1GiB\"", (maybe size drop_cache_every),
            "For buffered access: drops the targets from the page cache after this many bytes of a thread, so that each pass reads the device.",
            allowed: Allowed::Text("a size above 0, or \"none\""), former: Some("forget_every"), other_names: &["invalidate"];
        "fill" = "\"deadbeef\"",
            (own "text",
                |job, value| put(&mut job.fill, value.unless_none(hex)),
                |job| job.fill.as_deref().map(shown_hex)),
            "Writes these bytes, repeated, instead of `content`, or in the share of it that compresses away.",
            allowed: Allowed::Text("two hexadecimal digits a byte, or \"none\""), default: Some("none"), other_names: &["buffer_pattern"];
        "content_unit" = "\"8KiB\"", (rare size content_unit),
            "The unit in which `content` compresses and repeats.",
            allowed: Allowed::Text("from 512 bytes"), other_names: &["buffer_compress_chunk", "dedupunit"];
    },
};

pub const PACE: Section<Job> = Section {
    title: "Rate",
    keys: keys! { Job:
        "rate_iops" = "3000",
            (own "number or table",
                |job, value| put(&mut job.pace, pace(value, iops)),
                |job| shown_rate(job.pace, as_iops)),
            "Operations per second of the whole job, shared evenly by its threads. A table gives each direction its own schedule.",
            allowed: Allowed::Text("above 0, { read, write, trim }, or \"none\""), default: Some("none"),
            other_names: &["iorate", "iops", "fwdrate"], group: Some("rate");
        "rate_bytes" = "\"100MB\"",
            (own "size a second or table",
                |job, value| put(&mut job.pace, pace(value, bytes)),
                |job| shown_rate(job.pace, as_bytes)),
            "Bytes per second of the whole job, shared evenly by its threads. A table gives each direction its own schedule.",
            allowed: Allowed::Text("above 0, { read, write, trim }, or \"none\""), default: Some("none"),
            other_names: &["rate", "throughput"], group: Some("rate");
        "arrivals" = "\"poisson\"",
            (own "word",
                |job, value| value.word(&ARRIVALS).map(|how| job.pace = with_arrivals(how, job.pace)),
                |job| word_for(&ARRIVALS, &arrivals(job.pace))),
            "`closed`: the next operation starts when one ends, never faster than the rate; the job does not catch up after a stall. `fixed` and `poisson`: operations arrive at the rate, at even or random intervals, whatever the target does. Response latency counts from the moment an operation was due; operations that never started enter it with the time they waited.",
            allowed: Allowed::Words(&names(&ARRIVALS)), other_names: &["rate_process", "distribution"];
        "think" = "\"10ms\"",
            (own "time",
                |job, value| {
                    let pause = value.unless_none(|time| time.time());
                    put(&mut job.think, pause.map(|pause| pause.map(|pause| Think { pause, every: 1 })))
                },
                |job| job.think.map(|think| time(think.pause))),
            "Pause of a thread between its operations.",
            allowed: Allowed::Text("a time, or \"none\""), default: Some("none"), other_names: &["thinktime"];
        "think_every" = "64",
            (own "whole number",
                |job, value| {
                    let pause = job.think.map_or(Nanos::ZERO, |think| think.pause);
                    put(&mut job.think, value.count().map(|every| Some(Think { pause, every })))
                },
                |job| job.think.map(|think| think.every.to_string())),
            "Operations between two pauses.",
            allowed: Allowed::Text("from 1"), default: Some("1"), need: Need::Given("think"), other_names: &["thinktime_blocks"];
    },
};

pub const THROTTLING: Section<Job> = Section {
    title: "Throttling",
    keys: keys! { Job:
        "start_delay" = "\"5s\"", (rare time start_delay),
            "Starts the job this much later than the run.",
            default: Some("none"), other_names: &["startdelay"];
        "min_iops" = "{ read = 1000 }",
            (own "table",
                |job, value| put(&mut job.min_rate, value.unless_none(|table| min_rate(table, iops))),
                |job| shown_min_rate(job.min_rate?, as_iops)),
            "Fails the job below this many operations per second, by direction, in any `cycle`.",
            allowed: Allowed::Text("`read`, `write`, `trim`, `cycle` (1 s), `settle` (0), or \"none\""), default: Some("none"),
            former: Some("least_iops"), other_names: &["rate_iops_min"], group: Some("min_rate");
        "min_bytes" = "{ write = \"50MiB\", cycle = \"5s\" }",
            (own "table",
                |job, value| put(&mut job.min_rate, value.unless_none(|table| min_rate(table, bytes))),
                |job| shown_min_rate(job.min_rate?, as_bytes)),
            "Fails the job below this many bytes per second, by direction, in any `cycle`.",
            allowed: Allowed::Text("`read`, `write`, `trim`, `cycle` (1 s), `settle` (0), or \"none\""), default: Some("none"),
            former: Some("least_bytes"), other_names: &["rate_min", "rate_cycle"], group: Some("min_rate");
        "flow" = "{ group = 1, weight = 3, pause = \"0\" }", (table flow, flow, shown_flow),
            "Jobs of one `group` do operations in proportion to their `weight`; a job that is ahead waits for `pause` and checks again.",
            allowed: Allowed::Text("whole numbers and a time, or \"none\"");
        "latency_target" = "{ limit = \"1ms\", window = \"2s\", percentile = 99.0 }", (table latency_target, latency_target, shown_latency_target),
            "Searches the depth at which `percentile` per cent of the operations take at most `limit` over a `window`; with `go_on` the job continues at this depth, else it ends after one more window, which alone is its result (with several threads, the search is).",
            allowed: Allowed::Text("times, a number and a flag, or \"none\""), other_names: &["latency_window", "latency_percentile", "latency_run"];
        "nice" = "5", (rare signed priority.nice),
            "CPU priority of the threads, added to the program's own.",
            allowed: Allowed::Text("-20 (first) to 19 (last)");
        "io_priority" = "{ class = \"best-effort\", level = 4 }", (table priority.io, io_priority, shown_io_priority),
            "I/O priority of the operations; most devices ignore it.",
            allowed: Allowed::Text("`class`: realtime, best-effort or idle; `level`: 0 (first) to 7; or \"none\""),
            other_names: &["prio", "prioclass", "priority"];
    },
};

/// `[[60, 10], [40, 90]]`: per cent of the operations, in per cent of the space.
fn zones(value: Value<'_>) -> Result<Vec<Zone>, Complaint> {
    let mut zones = Vec::new();
    for zone in value.list()? {
        let [access, space] = zone.pair()?;
        zones.push(Zone {
            access_percent: access.number()?,
            space_percent: space.number()?,
        });
    }
    Ok(zones)
}

fn shown_zone(zone: &Zone) -> String {
    pair(number(zone.access_percent), number(zone.space_percent))
}

/// A word such as `"read"`, or `{ read = 70, write = 30 }`.
fn mix(value: Value<'_>) -> Result<Mix, Complaint> {
    if !value.is_table() {
        return value.word(&MIXES);
    }
    fields!(value; read, write, trim);
    Ok(Mix {
        read: or(read, Value::percent, 0)?,
        write: or(write, Value::percent, 0)?,
        trim: or(trim, Value::percent, 0)?,
    })
}

fn shown_mix(mix: Mix) -> String {
    let shares = [mix.read, mix.write, mix.trim];
    by_direction(shares.map(|share| (share > 0).then(|| share.to_string())))
}

fn by_direction([read, write, trim]: [Option<String>; 3]) -> String {
    shown_table(&[("read", read), ("write", write), ("trim", trim)])
}

/// A size, or a list of `[size, weight]`.
fn sizes(value: Value<'_>) -> Result<SizeMix, Complaint> {
    if !value.is_list() {
        return value.size().map(SizeMix::fixed);
    }
    let mut weighted = Vec::new();
    for pair in value.list()? {
        let [size, weight] = pair.pair()?;
        weighted.push((size.size()?, weight.count()?));
    }
    Ok(SizeMix(weighted))
}

/// Sizes for all directions, or a table with sizes by direction.
fn block_sizes(value: Value<'_>) -> Result<BlockSizes, Complaint> {
    if !value.is_table() {
        return sizes(value).map(BlockSizes::same);
    }
    fields!(value; read, write, trim);
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
    let own_trim = (trim != write).then(|| size_mix(trim));
    by_direction([Some(size_mix(read)), Some(size_mix(write)), own_trim])
}

/// A word, or `{ compress = 50, dedupe = 20 }`.
fn content(value: Value<'_>) -> Result<Content, Complaint> {
    if !value.is_table() {
        return value.word(&CONTENTS);
    }
    fields!(value; compress, dedupe);
    Ok(Content::Shaped {
        compress_percent: or(compress, Value::percent, 0)?,
        dedupe_percent: or(dedupe, Value::percent, 0)?,
    })
}

/// `{ compress = 50, dedupe = 0 }`; `None` for the contents that are a word.
fn shown_content(content: Content) -> Option<String> {
    let Content::Shaped {
        compress_percent,
        dedupe_percent,
    } = content
    else {
        return None;
    };
    Some(shown_table(&[
        ("compress", Some(compress_percent.to_string())),
        ("dedupe", Some(dedupe_percent.to_string())),
    ]))
}

/// `{ bytes = "1MiB", range = "4MiB", skip = "1MiB" }`.
fn window(value: Value<'_>) -> Result<MovingWindow, Complaint> {
    fields!(value; bytes, range, skip);
    let (Some(bytes), Some(range)) = (bytes, range) else {
        return Err(value.complaint("a window needs `bytes` and `range`"));
    };
    Ok(MovingWindow {
        bytes: bytes.size()?,
        range: range.size()?,
        skip: or(skip, Value::size, Bytes::ZERO)?,
    })
}

fn shown_window(window: &MovingWindow) -> String {
    shown_table(&[
        ("bytes", Some(size(window.bytes))),
        ("range", Some(size(window.range))),
        ("skip", Some(size(window.skip))),
    ])
}

/// Bytes from pairs of hexadecimal digits.
fn hex(value: Value<'_>) -> Result<Arc<[u8]>, Complaint> {
    let text = value.text()?;
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    match digits {
        Some(digits) if !digits.is_empty() && digits.len().is_multiple_of(2) => {
            let pairs = digits.chunks_exact(2);
            Ok(pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
        }
        _ => Err(value.complaint(format!("`{text}` is not pairs of hexadecimal digits"))),
    }
}

fn shown_hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    quoted(&digits)
}

/// How a rate is read: as operations or as bytes a second.
type ParseRate = fn(Value<'_>) -> Result<Rate, Complaint>;

/// The number of a rate of one of the two kinds.
type NumberOf = fn(Rate) -> Option<f64>;

fn iops(value: Value<'_>) -> Result<Rate, Complaint> {
    value.number().map(Rate::Iops)
}

fn bytes(value: Value<'_>) -> Result<Rate, Complaint> {
    value.bytes_per_second().map(Rate::Bytes)
}

const fn as_iops(rate: Rate) -> Option<f64> {
    match rate {
        Rate::Iops(rate) => Some(rate),
        Rate::Bytes(_) => None,
    }
}

const fn as_bytes(rate: Rate) -> Option<f64> {
    match rate {
        Rate::Bytes(rate) => Some(rate),
        Rate::Iops(_) => None,
    }
}

/// Rates of reads, writes and trims, in this order as in `fields`; one at least.
fn rates(
    table: Value<'_>,
    fields: [Option<Value<'_>>; 3],
    parse_rate: ParseRate,
) -> Result<[Option<Rate>; 3], Complaint> {
    let mut rates = [None; 3];
    for (rate, field) in rates.iter_mut().zip(fields) {
        *rate = field.map(parse_rate).transpose()?;
    }
    if rates.iter().any(Option::is_some) {
        Ok(rates)
    } else {
        Err(table.complaint("a rate is needed for `read`, `write` or `trim`"))
    }
}

/// The numbers of those rates, if there are any of this kind.
fn numbers(rates: [Option<Rate>; 3], kind: NumberOf) -> Option<[Option<String>; 3]> {
    let shown = rates.map(|rate| rate.and_then(kind).map(number));
    shown.iter().any(Option::is_some).then_some(shown)
}

/// A rate, a table of rates by direction, or none.
fn pace(value: Value<'_>, parse_rate: ParseRate) -> Result<Pace, Complaint> {
    if value.is_table() {
        let fields = optional(value, ["read", "write", "trim"])?;
        return Ok(Pace::ByDirection {
            rates: rates(value, fields, parse_rate)?,
            poisson: false,
        });
    }
    let rate = value.unless_none(parse_rate)?;
    Ok(rate.map_or(Pace::Closed, Pace::Capped))
}

fn shown_rate(pace: Pace, kind: NumberOf) -> Option<String> {
    match pace {
        Pace::ByDirection { rates, .. } => numbers(rates, kind).map(by_direction),
        Pace::Closed => None,
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => {
            kind(rate).map(number)
        }
    }
}

/// The pace with other arrivals. Without a rate there are none to space out: the loop stays closed.
const fn with_arrivals(how: Arrivals, pace: Pace) -> Pace {
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

const fn arrivals(pace: Pace) -> Arrivals {
    match pace {
        Pace::Closed | Pace::Capped(_) => Arrivals::Closed,
        Pace::OpenFixed(_) | Pace::ByDirection { poisson: false, .. } => Arrivals::Fixed,
        Pace::OpenPoisson(_) | Pace::ByDirection { poisson: true, .. } => Arrivals::Poisson,
    }
}

fn min_rate(value: Value<'_>, parse_rate: ParseRate) -> Result<MinRate, Complaint> {
    fields!(value; read, write, trim, cycle, settle);
    Ok(MinRate {
        rates: rates(value, [read, write, trim], parse_rate)?,
        cycle: or(cycle, Value::time, Nanos::from_secs(1))?,
        settle: or(settle, Value::time, Nanos::ZERO)?,
    })
}

fn shown_min_rate(rule: MinRate, kind: NumberOf) -> Option<String> {
    let [read, write, trim] = numbers(rule.rates, kind)?;
    let settle = (rule.settle > Nanos::ZERO).then(|| time(rule.settle));
    Some(shown_table(&[
        ("read", read),
        ("write", write),
        ("trim", trim),
        ("cycle", Some(time(rule.cycle))),
        ("settle", settle),
    ]))
}

/// `{ group = 1, weight = 3, pause = "1ms" }`.
fn flow(value: Value<'_>) -> Result<Flow, Complaint> {
    fields!(value; group, weight, pause);
    let Some(weight) = weight else {
        return Err(value.complaint("a flow needs a `weight`"));
    };
    Ok(Flow {
        group: or(group, Value::count, 0)?,
        weight: weight.count()?,
        pause: or(pause, Value::time, Nanos::ZERO)?,
    })
}

fn shown_flow(flow: &Flow) -> String {
    shown_table(&[
        ("group", Some(flow.group.to_string())),
        ("weight", Some(flow.weight.to_string())),
        ("pause", Some(time(flow.pause))),
    ])
}

/// `{ limit = "2ms", window = "1s", percentile = 99, go_on = true }`.
fn latency_target(value: Value<'_>) -> Result<LatencyTarget, Complaint> {
    fields!(value; limit, window, percentile, go_on);
    let (Some(limit), Some(window)) = (limit, window) else {
        return Err(value.complaint("a latency target needs `limit` and `window`"));
    };
    Ok(LatencyTarget {
        limit: limit.time()?,
        window: window.time()?,
        percentile: or(percentile, Value::number, 100.0)?,
        go_on: or(go_on, Value::flag, false)?,
    })
}

fn shown_latency_target(target: &LatencyTarget) -> String {
    shown_table(&[
        ("limit", Some(time(target.limit))),
        ("window", Some(time(target.window))),
        ("percentile", Some(number(target.percentile))),
        ("go_on", target.go_on.then(|| "true".to_owned())),
    ])
}

fn io_priority(value: Value<'_>) -> Result<IoPriority, Complaint> {
    fields!(value; class, level);
    Ok(IoPriority {
        class: or(class, |class| class.word(&CLASSES), 2)?,
        level: or(level, |level| within(level, 0..=7), 4)? as u8,
    })
}

fn shown_io_priority(priority: &IoPriority) -> String {
    shown_table(&[
        ("class", word_for(&CLASSES, &priority.class)),
        ("level", Some(priority.level.to_string())),
    ])
}
