//! What was requested of a job, by the options that a result holds.

use std::collections::BTreeMap;

use crate::record::{Found, Job, random_percent};
use blocklab_fio::Scale;
use blocklab_workload::Pattern;

/// Options of a job by their names.
pub(super) type Options = BTreeMap<String, String>;

/// Engines that wait for each operation, whatever depth was requested.
const SYNCHRONOUS: [&str; 13] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "splice",
    "libpmem",
    "dev-dax",
    "ftruncate",
    "falloc",
    "e4defrag",
    "libhdfs",
];

/// Whether a job with this `rw` reads, writes and trims.
fn allowed_directions(rw: &str) -> [bool; 3] {
    let is_mixed = rw.contains("rw") || rw == "readwrite";
    let is_trim = rw.contains("trim");
    [
        is_mixed || rw.contains("read"),
        is_mixed || rw.contains("write"),
        is_trim,
    ]
}

/// Adds to a job what its options request, with fio's defaults for those that are missing. Before
/// 3.0, a result has no options: the request is unknown. `threads` is 0 where that is not known.
///
/// Where an entry sums up several sections of a group, it has the options of the first of them, and
/// they are not used: they do not describe its figures.
pub(super) fn requested(printed: Job, options: &Options, threads: u32, found: &mut Found) -> Job {
    if options.is_empty() {
        return printed;
    }
    let engine = options.get("ioengine").map_or("psync", String::as_str);
    let rw = options
        .get("rw")
        .or(options.get("readwrite"))
        .map_or("read", |rw| rw.split(':').next().unwrap_or_default());
    let can = allowed_directions(rw);
    // With `verify`, reads check what was written and trims (`trim_percentage`) precede such checks:
    // neither are load. Writes have no part in a check.
    let is_checked = is_on(options, "verify");
    let is_other = (printed.read.ios > 0 && !can[0] && !is_checked)
        || (printed.write.ios > 0 && !can[1])
        || (printed.trim.ios > 0 && !can[2] && !is_checked);
    if threads == 0 || is_other {
        found.note(&format!(
            "the figures of {} are of several jobs of its group, and the file has the options of \
             one: depth, threads and pattern are unknown",
            printed.name
        ));
        return printed;
    }
    Job {
        engine: engine.to_owned(),
        pattern: pattern(options, rw),
        block: block(options, &printed),
        read_percent: match can {
            [true, true, _] => read_percent(options),
            [false, true, false] => Some(0),
            [true, false, _] => Some(100),
            _ => None,
        },
        threads,
        depth: if SYNCHRONOUS.contains(&engine) {
            1
        } else {
            // 0: not known.
            options
                .get("iodepth")
                .map_or(1, |text| text.trim().parse().unwrap_or(0))
        },
        direct: is_direct(options),
        write_through: is_on(options, "sync"),
        requested_iops: requested_rate(options, "rate_iops", can, threads),
        requested_bytes_per_s: requested_rate(options, "rate", can, threads),
        think: is_on(options, "thinktime"),
        ..printed
    }
}

/// The order of the offsets; `None` where reads, writes and trims have shares of their own.
fn pattern(options: &Options, rw: &str) -> Option<Pattern> {
    if !rw.starts_with("rand") {
        return Some(Pattern::Sequential);
    }
    let Some(percent) = options.get("percentage_random") else {
        return Some(Pattern::RANDOM);
    };
    percent.trim().parse().ok().map(random_percent)
}

/// Share of reads of a job that mixes both. Of two options that contradict each other fio takes the
/// later one, but a result has them without their order: then the share is unknown.
fn read_percent(options: &Options) -> Option<u8> {
    let percent = |name: &str| {
        let number: Option<u32> = options.get(name)?.trim().parse().ok();
        number.map(|percent| percent.min(100) as u8)
    };
    let by_writes = percent("rwmixwrite").map(|writes| 100 - writes);
    match (percent("rwmixread"), by_writes) {
        (None, None) => Some(50),
        (Some(read), Some(other)) if read != other => None,
        (read, other) => read.or(other),
    }
}

/// Whether O_DIRECT was requested; `None` where `direct` and its contrary, `buffered`, are both given and
/// contradict each other.
fn is_direct(options: &Options) -> Option<bool> {
    let direct = is_on(options, "direct");
    if !options.contains_key("buffered") {
        return Some(direct);
    }
    let unbuffered = !is_on(options, "buffered");
    let is_sole = !options.contains_key("direct");
    (is_sole || direct == unbuffered).then_some(unbuffered)
}

/// The requested rate of all threads and directions together, a second. Fio's options hold for each
/// thread and each direction. `None` where a direction has no limit.
fn requested_rate(options: &Options, name: &str, can: [bool; 3], threads: u32) -> Option<f64> {
    // Reads, writes, trims; the last number holds for the directions after it, too.
    let numbers: Vec<&str> = options.get(name)?.split(',').collect();
    let mut sum = 0.0;
    for (index, _) in can.iter().enumerate().filter(|(_, can)| **can) {
        let number = numbers.get(index).or(numbers.last())?;
        // 0 and an empty part are no limit.
        sum += amount(number, scale(options)).filter(|rate| *rate > 0)? as f64;
    }
    (sum > 0.0).then_some(sum * f64::from(threads))
}

/// Whether `k` is 1024 or 1000.
fn scale(options: &Options) -> Scale {
    match options.get("kb_base").map(String::as_str) {
        Some("1000") => Scale { kilo: 1000 },
        _ => Scale::default(),
    }
}

/// A number as fio reads it.
fn amount(text: &str, scale: Scale) -> Option<u64> {
    blocklab_fio::amount(text, scale).ok()?.try_into().ok()
}

fn is_on(options: &Options, name: &str) -> bool {
    let value = options.get(name).map(String::as_str);
    !matches!(value, None | Some("0" | "false" | "none"))
}

/// One size, where all operations have it; 0: unknown. `printed`: what they moved.
fn block(options: &Options, printed: &Job) -> u64 {
    let several = ["bsrange", "blocksize_range", "bssplit", "bs_unaligned"];
    if several.iter().any(|name| options.contains_key(*name)) {
        return 0;
    }
    match options.get("bs").or(options.get("blocksize")) {
        // Sizes of their own for reads, writes and trims.
        Some(text) if text.contains([',', '-']) => 0,
        Some(text) => {
            let moved = [&printed.read, &printed.write, &printed.trim];
            let ios: f64 = moved.iter().map(|figures| figures.ios as f64).sum();
            let bytes: f64 = moved.iter().map(|figures| figures.bytes as f64).sum();
            // On a command line, `kb_base` holds for the options after it alone, and a result has them
            // without their order: what was moved shows it.
            let sizes = [scale(options), Scale::default()].map(|scale| amount(text, scale));
            let mut known = sizes.into_iter().flatten();
            let fitting = known.find(|size| *size as f64 * ios == bytes);
            fitting.or(sizes[0]).unwrap_or(0)
        }
        None => 4096,
    }
}
