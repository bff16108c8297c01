//! fio's results, whatever their form.

use std::collections::BTreeMap;

use super::figures::Figures;
use super::fio_json;
use super::fio_text;
use super::not_a_result;
use super::record::{Case, Found, Job};
use super::scan::size;
use super::terse;
use blocklab_syntax::Mistake;
use blocklab_workload::Pattern;

type Reader = fn(&str) -> Result<Vec<Found>, Mistake>;

/// fio can print a result in several forms at once: the most exact one is read.
pub(super) fn read(text: &str) -> Result<Vec<Found>, Mistake> {
    let forms: [(&str, bool, Reader); 3] = [
        ("JSON", fio_json::is_json(text), fio_json::read),
        ("terse lines", terse::is_terse(text), terse::read),
        ("normal text", fio_text::is_text(text), fio_text::read),
    ];
    let mut there = forms.into_iter().filter(|(_, is_there, _)| *is_there);
    let Some((form, _, reader)) = there.next() else {
        return Err(not_a_result(
            "neither JSON nor terse output of fio, nor its normal text",
        ));
    };
    let found = reader(text)?;
    for (other, _, reader) in there {
        if jobs(&reader(text)?) != jobs(&found) {
            return Err(not_a_result(format!(
                "it holds results as {form} and others as {other}: put them into files of their own"
            )));
        }
    }
    Ok(found)
}

fn jobs(runs: &[Found]) -> usize {
    let cases = runs.iter().flat_map(|run| &run.cases);
    cases.map(|case| case.jobs.len()).sum()
}

/// A group of one job is called as its job, where that is unique.
pub(super) fn names(cases: &mut [Case]) {
    for at in 0..cases.len() {
        let [job] = &cases[at].jobs[..] else { continue };
        let name = job.name.clone();
        if !cases.iter().any(|case| case.name == name) {
            cases[at].name = name;
        }
    }
}

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
        depth: match WAITING.contains(&engine) {
            true => 1,
            false => one("iodepth").map_or(1, |text| text.trim().parse().unwrap_or(0)),
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

/// Old versions print whole operations a second, and times are whole milliseconds.
pub(super) fn agree(what: [&str; 3], rate: f64, amount: f64, seconds: f64) -> Result<(), String> {
    let worked_out = amount / seconds;
    let tolerance = worked_out * (0.01 + 1.5e-3 / seconds) + 1.0;
    match (rate - worked_out).abs() <= tolerance {
        true => Ok(()),
        false => {
            let [figure, of, time] = what;
            Err(format!(
                "`{figure}` says {rate}, and `{of}` by `{time}` {worked_out:.1}: the result \
                 contradicts itself"
            ))
        }
    }
}

impl Job {
    /// Takes figures of reads and writes together, each as its share of the mixture.
    pub fn divide(&mut self, both: Figures, found: &mut Found) {
        let reads = self.read_percent.unwrap_or(50);
        if !matches!(reads, 0 | 100) {
            found.note(&format!(
                "the file counts reads and writes together (unified_rw_reporting): {reads} % of \
                 them are taken for reads, and each has the latencies of both"
            ));
        }
        let share = f64::from(reads) / 100.0;
        self.read = both.part(share);
        self.write = Figures {
            ios: both.ios - self.read.ios,
            bytes: both.bytes - self.read.bytes,
            ..both.part(1.0 - share)
        };
    }
}
