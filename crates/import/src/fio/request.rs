//! What was requested of a job, by the options that a result holds.

use std::collections::BTreeMap;

use crate::record::{Found, Job};
use crate::scan::size;
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
    let did = [&printed.read, &printed.write, &printed.trim].map(|figures| figures.ios > 0);
    // Reads of a check of what was written are no load.
    let is_other = did.iter().zip(can).any(|(did, can)| *did && !can) && !is_on(options, "verify");
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
        pattern: Some(if rw.starts_with("rand") {
            Pattern::RANDOM
        } else {
            Pattern::Sequential
        }),
        block: block(options),
        read_percent: match can {
            [true, true, _] => {
                let percent = options
                    .get("rwmixread")
                    .and_then(|text| text.trim().parse().ok());
                Some(percent.map_or(50, |percent: u32| percent.min(100) as u8))
            }
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
        direct: Some(is_on(options, "direct")),
        write_through: is_on(options, "sync"),
        requested_iops: options.get("rate_iops").and_then(|text| text.parse().ok()),
        requested_bytes_per_s: options
            .get("rate")
            .and_then(|text| size(text))
            .map(|bytes| bytes as f64),
        think: options.contains_key("thinktime"),
        ..printed
    }
}

fn is_on(options: &Options, name: &str) -> bool {
    let value = options.get(name).map(String::as_str);
    !matches!(value, None | Some("0" | "false" | "none"))
}

/// One size, where all operations have it; 0: unknown.
fn block(options: &Options) -> u64 {
    let several = ["bsrange", "blocksize_range", "bssplit", "bs_unaligned"];
    if several.iter().any(|name| options.contains_key(*name)) {
        return 0;
    }
    match options.get("bs").or(options.get("blocksize")) {
        Some(text) => size(text).unwrap_or(0),
        None => 4096,
    }
}
