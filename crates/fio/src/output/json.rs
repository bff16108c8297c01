//! JSON of fio 3.33.

use blocklab_record::{DiskUse, Measurement, Samples};

use super::super::VERSION;
use super::super::plan::{CloneFacts, Prepared};
use super::Moment;
use super::figures::{Figures, all, shares};
use super::flow::{Flow, OfPriority, Spread};
use super::percentiles::{middle, percentiles};
use super::steady;
use super::style::{ByPriority, Style, Unified};
use super::tree::Tree;

/// The report. `bins`: with all buckets (`json+`).
#[must_use]
pub fn json(
    measurements: &[Measurement],
    prepared: &Prepared,
    moment: &Moment,
    bins: bool,
) -> String {
    let mut members = vec![
        ("fio version", Tree::text(VERSION)),
        ("timestamp", Tree::Int((moment.unix_ms / 1000) as i64)),
        ("timestamp_ms", Tree::Int(moment.unix_ms as i64)),
        ("time", Tree::text(&moment.text)),
    ];
    if !prepared.globals.is_empty() {
        members.push(("global options", options(&prepared.globals)));
    }
    let entries = all(&prepared.clones, measurements);
    let jobs = entries.iter().map(|entry| job(entry, moment, bins));
    members.push(("jobs", Tree::Array(jobs.collect())));
    if prepared.clones.iter().any(|clone| clone.style.disks) {
        let disks = super::figures_of_disks(measurements);
        if !disks.is_empty() {
            members.push(("disk_util", Tree::Array(disks.iter().map(disk).collect())));
        }
    }
    if let Some(idleness) = &moment.idleness {
        members.push(("cpu_idleness", idleness.json()));
    }
    Tree::object(members).print()
}

/// As given, also what was given twice; flags without a value are not repeated.
fn options(given: &[(String, String)]) -> Tree {
    let told = given.iter().filter(|(_, value)| !value.is_empty());
    Tree::Object(
        told.map(|(key, value)| (key.clone(), Tree::text(value)))
            .collect(),
    )
}

fn job(figures: &Figures<'_>, moment: &Moment, bins: bool) -> Tree {
    let CloneFacts { style, .. } = figures.clone;
    let int = |value: u64| Tree::Int(value as i64);
    let mut members = vec![
        ("jobname", Tree::text(&figures.clone.name)),
        ("groupid", int(figures.clone.group.into())),
        ("error", Tree::Int(figures.error.into())),
        ("eta", Tree::Int(0)),
        ("elapsed", int(moment.elapsed_s)),
    ];
    // Flags are not repeated, but it shows that there were some.
    if !figures.last.options.is_empty() {
        members.push(("job options", options(&figures.last.options)));
    }
    members.extend(flows(figures, bins));
    let [user, system] = figures.processor();
    members.extend([
        ("job_runtime", int(figures.runtime_ms)),
        ("usr_cpu", Tree::Float(user)),
        ("sys_cpu", Tree::Float(system)),
        ("ctx", int(figures.switches())),
        ("majf", int(figures.used.major_faults)),
        ("minf", int(figures.used.minor_faults)),
        ("iodepth_level", named(&DEPTHS, &shares(&figures.depths))),
        ("iodepth_submit", named(&BATCHES, &shares(&figures.submits))),
        (
            "iodepth_complete",
            named(&BATCHES, &shares(&figures.completes)),
        ),
    ]);
    let latencies = figures.latencies();
    members.extend([
        ("latency_ns", named(&EDGES[..10], &latencies[..10])),
        ("latency_us", named(&EDGES[..10], &latencies[10..20])),
        ("latency_ms", named(&EDGES, &latencies[20..])),
    ]);
    if figures.clone.counts_errors {
        let (total, first) = figures.errors;
        members.extend([
            ("total_err", int(total)),
            ("first_error", Tree::Int(first.into())),
        ]);
    }
    if figures.ran {
        members.extend([
            ("latency_depth", int(figures.clone.depth_had().into())),
            ("latency_target", int(style.sought.limit_ns)),
            ("latency_percentile", Tree::Float(style.sought.percentile)),
            ("latency_window", int(style.sought.window_us)),
        ]);
    }
    if let Some(description) = &style.description {
        members.push(("desc", Tree::text(description)));
    }
    if let Some(steady) = steady::tree(figures) {
        members.push(("steadystate", steady));
    }
    Tree::object(members)
}

/// What a job moved, by direction.
fn flows(figures: &Figures<'_>, bins: bool) -> Vec<(&'static str, Tree)> {
    let style = &figures.clone.style;
    let [read, write, trim] = &figures.flows;
    if style.unified == Unified::Mixed {
        return vec![("mixed", flow(read, style, bins))];
    }
    let flushes = figures.clone.flushes[0];
    let mut members = vec![
        ("read", flow(read, style, bins)),
        ("write", flow(write, style, bins)),
        ("trim", flow(trim, style, bins)),
        ("sync", syncs(&figures.syncs, flushes, style, bins)),
    ];
    if style.unified == Unified::Both {
        members.push(("mixed", flow(&figures.mixed(), style, bins)));
    }
    members
}

const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
const EDGES: [&str; 12] = [
    "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
];

fn named(names: &[&str], values: &[f64]) -> Tree {
    let pairs = names.iter().zip(values);
    Tree::object(pairs.map(|(name, value)| (*name, Tree::Float(*value))))
}

fn flow(flow: &Flow, style: &Style, bins: bool) -> Tree {
    let int = |value: u64| Tree::Int(value as i64);
    let mut members = vec![
        ("io_bytes", int(flow.bytes)),
        ("io_kbytes", int(flow.bytes >> 10)),
        ("bw_bytes", int(flow.bytes_per_second())),
        ("bw", int(flow.bytes_per_second() >> 10)),
        ("iops", Tree::Float(flow.iops())),
        ("runtime", int(flow.runtime_ms)),
        ("total_ios", int(flow.ios)),
        ("short_ios", int(flow.short)),
        ("drop_ios", int(flow.dropped)),
    ];
    let [slat, clat, lat] = style.percentiles_of;
    let [with_slat, with_clat, with_lat] = style.latencies;
    let none = Spread::default();
    let shown = |spread, with: bool| if with { spread } else { &none };
    members.extend([
        (
            "slat_ns",
            spread(shown(&flow.slat, with_slat), style, slat, bins),
        ),
        (
            "clat_ns",
            spread(shown(&flow.clat, with_clat), style, clat, bins),
        ),
        (
            "lat_ns",
            spread(shown(&flow.lat, with_lat), style, lat, bins),
        ),
    ]);
    if let Some(prios) = priorities(flow, style, bins) {
        members.push(("prios", prios));
    }
    let Samples {
        count,
        min,
        max,
        mean,
        stddev,
    } = flow.bw;
    // Of the throughput over all its time.
    let agg = match flow.bytes_per_second() {
        0 => 0.0,
        all => (mean * 100.0 / all as f64).min(100.0),
    };
    members.extend([
        ("bw_min", int(min as u64 >> 10)),
        ("bw_max", int(max as u64 >> 10)),
        ("bw_agg", Tree::Float(agg)),
        ("bw_mean", Tree::Float(mean / 1024.0)),
        ("bw_dev", Tree::Float(stddev / 1024.0)),
        ("bw_samples", int(count)),
    ]);
    let Samples {
        count,
        min,
        max,
        mean,
        stddev,
    } = flow.iops;
    members.extend([
        ("iops_min", int(min as u64)),
        ("iops_max", int(max as u64)),
        ("iops_mean", Tree::Float(mean)),
        ("iops_stddev", Tree::Float(stddev)),
        ("iops_samples", int(count)),
    ]);
    Tree::object(members)
}

/// One entry a priority, where there are several.
fn priorities(flow: &Flow, style: &Style, bins: bool) -> Option<Tree> {
    let told = style.by_priority()?;
    let name = match told {
        ByPriority::Completion => "clat_ns",
        ByPriority::Total => "lat_ns",
    };
    let entry = |of: &OfPriority| {
        let with_percentiles = style.percentiles_of[told.place()];
        Tree::object([
            ("prioclass", Tree::Int(of.class.into())),
            ("prio", Tree::Int(of.level.into())),
            (name, spread(&of.spread, style, with_percentiles, bins)),
        ])
    };
    let entries: Vec<Tree> = flow.told_priorities().iter().map(entry).collect();
    (!entries.is_empty()).then_some(Tree::Array(entries))
}

/// Nothing where they are not wanted.
fn syncs(figures: &Spread, counted: bool, style: &Style, bins: bool) -> Tree {
    let counted = if counted { figures.count } else { 0 };
    Tree::object([
        ("total_ios", Tree::Int(counted as i64)),
        ("lat_ns", spread(figures, style, true, bins)),
    ])
}

fn spread(figures: &Spread, style: &Style, with_percentiles: bool, bins: bool) -> Tree {
    let mut members = vec![
        ("min", Tree::Int(figures.min as i64)),
        ("max", Tree::Int(figures.max as i64)),
        ("mean", Tree::Float(figures.mean)),
        ("stddev", Tree::Float(figures.stddev)),
        ("N", Tree::Int(figures.count as i64)),
    ];
    if with_percentiles && figures.count > 0 {
        let found = percentiles(&figures.histogram, &style.percentiles).into_iter();
        let found = found.map(|(percent, ns)| (format!("{percent:.6}"), Tree::Int(ns as i64)));
        members.push(("percentile", Tree::Object(found.collect())));
        if bins {
            let buckets = figures.histogram.edges();
            let buckets = buckets
                .map(|(low, high, count)| (middle(low, high).to_string(), Tree::Int(count as i64)));
            members.push(("bins", Tree::Object(buckets.collect())));
        }
    }
    Tree::object(members)
}

fn disk((disk, elapsed_ms): &(DiskUse, u64)) -> Tree {
    let int = |value: u64| Tree::Int(value as i64);
    Tree::object([
        ("name", Tree::text(&disk.name)),
        ("read_ios", int(disk.read_ios)),
        ("write_ios", int(disk.write_ios)),
        ("read_merges", int(disk.read_merges)),
        ("write_merges", int(disk.write_merges)),
        ("read_ticks", int(disk.read_ticks_ms)),
        ("write_ticks", int(disk.write_ticks_ms)),
        ("in_queue", int(disk.queue_ms)),
        (
            "util",
            Tree::Float((disk.busy_ms as f64 * 100.0 / (*elapsed_ms).max(1) as f64).min(100.0)),
        ),
    ])
}
