//! What was requested of a job, by the options that a result holds.

use std::collections::BTreeMap;

use crate::record::{Found, Job};
use crate::scan::size;
use blocklab_workload::Pattern;

/// Options of a job by their names.
pub(super) type Options = BTreeMap<String, String>;

/// Engines that wait for each operation, whatever depth was requested.
const WAITING: [&str; 13] = [
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

/// What `rw` lets happen: reads, writes, trims.
fn ways(rw: &str) -> [bool; 3] {
    let is_mixed = rw.contains("rw") || rw == "readwrite";
    let is_trim = rw.contains("trim");
    [
        is_mixed || rw.contains("read"),
        is_mixed || rw.contains("write"),
        is_trim,
    ]
}

/// Adds the options that are given, and fio's own defaults for the others. Before 3.0, a result
/// has no options: the request is unknown. Where an entry stands for several sections of a group,
/// it has the options of the first of them: they are not those of its figures.
pub(super) fn requested(printed: Job, options: &Options, threads: u32, found: &mut Found) -> Job {
    if options.is_empty() {
        return printed;
    }
    let text = |names: [&str; 2]| {
        let value = options.get(names[0]).or(options.get(names[1]));
        value.map(String::as_str)
    };
    let one = |name: &'static str| text([name, name]);
    let number = |name| one(name).and_then(|text| text.trim().parse::<u32>().ok());
    let on = |name| one(name).is_some_and(|value| !matches!(value, "0" | "false" | "none"));
    let engine = one("ioengine").unwrap_or("psync");
    let rw = text(["rw", "readwrite"]).unwrap_or("read");
    let rw = rw.split(':').next().unwrap_or_default();
    let can = ways(rw);
    let did = [&printed.read, &printed.write, &printed.trim].map(|figures| figures.ios > 0);
    // Reads of a check of what was written are no load.
    let is_other = did.iter().zip(can).any(|(did, can)| *did && !can) && !on("verify");
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
            [true, true, _] => Some(number("rwmixread").map_or(50, |it| it.min(100) as u8)),
            [false, true, false] => Some(0),
            [true, false, _] => Some(100),
            _ => None,
        },
        threads,
        depth: if WAITING.contains(&engine) {
            1
        } else {
            one("iodepth").map_or(1, |text| text.trim().parse().unwrap_or(0))
        },
        direct: Some(on("direct")),
        write_through: on("sync"),
        requested_iops: one("rate_iops").and_then(|text| text.parse().ok()),
        requested_bytes_per_s: one("rate").and_then(size).map(|bytes| bytes as f64),
        think: one("thinktime").is_some(),
        ..printed
    }
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
