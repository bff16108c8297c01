//! JSON of fio 3.33.

use blocklab_record::Measurement;
use blocklab_units::SECTOR;

use super::super::VERSION;
use super::super::plan::{CloneFacts, Prepared};
use super::figures::{
    BATCHES, DEPTHS, EDGES, Errors, Figures, LEAST_OF_DEPTHS, report_entries, shares,
};
use super::flow::{Flow, LatencySummary};
use super::percentiles::{middle, percentiles};
use super::steady;
use super::style::{Style, Unified};
use super::tree::{Members, Tree, members};
use super::{Disk, Moment};

/// The report. `bins`: with all buckets (`json+`).
pub fn json(
    measurements: &[Measurement],
    prepared: &Prepared,
    moment: &Moment,
    bins: bool,
) -> String {
    let mut members = members! {
        "fio version": VERSION,
        "timestamp": moment.unix_ms / 1000,
        "timestamp_ms": moment.unix_ms,
        "time": &moment.text,
    };
    if !prepared.globals.is_empty() {
        members.extend(members! { "global options": options(&prepared.globals) });
    }
    let entries = report_entries(&prepared.clones, measurements);
    let jobs = entries
        .iter()
        .map(|entry| Tree::from(job(entry, moment, bins)));
    members.extend(members! { "jobs": jobs.collect::<Vec<_>>() });
    let disks = super::disks(measurements, prepared);
    if !disks.is_empty() {
        let disks = disks
            .iter()
            .map(|disk| Tree::from(disk_members(disk, moment)));
        members.extend(members! { "disk_util": disks.collect::<Vec<_>>() });
    }
    if let Some(idleness) = &moment.idleness {
        members.extend(members! { "cpu_idleness": idleness.json() });
    }
    Tree::from(members).print()
}

/// The options as they were given, duplicates as well; flags without a value are not repeated.
pub(super) fn options(given: &[(String, String)]) -> Members {
    let reported = given.iter().filter(|(_, value)| !value.is_empty());
    reported
        .map(|(key, value)| (key.clone(), Tree::from(value)))
        .collect()
}

/// The entry of a job in `jobs`. `bins`: with all buckets of the latencies (`json+`).
pub(super) fn job(figures: &Figures<'_>, moment: &Moment, bins: bool) -> Members {
    let CloneFacts { style, .. } = figures.clone;
    let mut members = members! {
        "jobname": &figures.clone.name,
        "groupid": u64::from(figures.clone.group),
    };
    if let Some(start) = moment.starts.get(&figures.clone.job) {
        members.extend(members! { "job_start": *start });
    }
    members.extend(members! {
        "error": figures.error,
        "eta": 0,
        "elapsed": moment.elapsed_s,
    });
    // Flags are not repeated, but it shows that there were some.
    if !figures.last.options.is_empty() {
        members.extend(members! { "job options": options(&figures.last.options) });
    }
    members.extend(flows(figures, bins));
    let [user, system] = figures.processor();
    let latencies = figures.latencies();
    members.extend(members! {
        "job_runtime": figures.runtime_ms,
        "usr_cpu": user,
        "sys_cpu": system,
        "ctx": figures.switches(),
        "majf": figures.used.major_faults,
        "minf": figures.used.minor_faults,
        "iodepth_level": named(&DEPTHS, &shares(&figures.depths.in_flight, LEAST_OF_DEPTHS)),
        "iodepth_submit": named(&BATCHES, &shares(&figures.depths.submitted, LEAST_OF_DEPTHS)),
        "iodepth_complete": named(&BATCHES, &shares(&figures.depths.completed, LEAST_OF_DEPTHS)),
        "latency_ns": named(&EDGES[..10], &latencies[..10]),
        "latency_us": named(&EDGES[..10], &latencies[10..20]),
        "latency_ms": named(&EDGES, &latencies[20..]),
    });
    if figures.clone.counts_errors {
        let Errors { count, first } = figures.errors;
        members.extend(members! { "total_err": count, "first_error": first });
    }
    if figures.ran || figures.clone.holds_no_block {
        members.extend(members! {
            "latency_depth": u64::from(figures.depth()),
            "latency_target": style.latency_goal.limit_ns,
            "latency_percentile": style.latency_goal.percentile,
            "latency_window": style.latency_goal.window_us,
        });
    }
    // A later fio writes two of them once more, with their units in the names.
    if moment.starts.contains_key(&figures.clone.job) && figures.ran {
        members.extend(members! {
            "latency_target_ns": style.latency_goal.limit_ns,
            "latency_window_us": style.latency_goal.window_us,
        });
    }
    if let Some(description) = &style.description {
        members.extend(members! { "desc": description });
    }
    if let Some(steady) = steady::members(figures) {
        members.extend(members! { "steadystate": steady });
    }
    members
}

/// What a job moved, by direction.
fn flows(figures: &Figures<'_>, bins: bool) -> Members {
    let style = &figures.clone.style;
    let [read, write, trim] = &figures.flows;
    if style.unified == Unified::Mixed {
        return members! { "mixed": flow(read, style, bins) };
    }
    // 0 where the job does not count its flushes.
    let syncs = if figures.clone.counts_flushes {
        figures.syncs.count
    } else {
        0
    };
    let mut members = members! {
        "read": flow(read, style, bins),
        "write": flow(write, style, bins),
        "trim": flow(trim, style, bins),
        "sync": members! { "total_ios": syncs, "lat_ns": latency_members(&figures.syncs, style, true, bins) },
    };
    if style.unified == Unified::Both {
        members.extend(members! { "mixed": flow(&figures.mixed(), style, bins) });
    }
    members
}

fn named(names: &[&str], values: &[f64]) -> Members {
    let pairs = names.iter().zip(values);
    pairs
        .map(|(name, value)| ((*name).to_owned(), Tree::from(*value)))
        .collect()
}

fn flow(flow: &Flow, style: &Style, bins: bool) -> Members {
    let none = LatencySummary::default();
    let latencies = [&flow.slat, &flow.clat, &flow.lat];
    let [slat, clat, lat] = [0, 1, 2].map(|at| {
        let shown = if style.latencies[at] {
            latencies[at]
        } else {
            &none
        };
        latency_members(shown, style, style.percentiles_of[at], bins)
    });
    let mut members = members! {
        "io_bytes": flow.bytes,
        "io_kbytes": flow.bytes >> 10,
        "bw_bytes": flow.bytes_per_second(),
        "bw": flow.bytes_per_second() >> 10,
        "iops": flow.iops(),
        "runtime": flow.runtime_ms,
        "total_ios": flow.ios,
        "short_ios": flow.short,
        "drop_ios": 0,
        "slat_ns": slat,
        "clat_ns": clat,
        "lat_ns": lat,
    };
    if let Some(prios) = priorities(flow, style, bins) {
        members.extend(members! { "prios": prios });
    }
    let (bw, iops) = (flow.bw, flow.iops);
    members.extend(members! {
        "bw_min": bw.min as u64 >> 10,
        "bw_max": bw.max as u64 >> 10,
        "bw_agg": flow.bw_share(),
        "bw_mean": bw.mean / 1024.0,
        "bw_dev": bw.stddev / 1024.0,
        "bw_samples": bw.count,
        "iops_min": iops.min as u64,
        "iops_max": iops.max as u64,
        "iops_mean": iops.mean,
        "iops_stddev": iops.stddev,
        "iops_samples": iops.count,
    });
    members
}

/// An entry for each priority, where there are several.
fn priorities(flow: &Flow, style: &Style, bins: bool) -> Option<Vec<Tree>> {
    let kind = style.by_priority()?;
    let mut entries = Vec::new();
    for row in flow.shown_priorities() {
        let mut members =
            members! { "prioclass": i32::from(row.class), "prio": i32::from(row.level) };
        let latency = latency_members(
            &row.latency,
            style,
            style.percentiles_of[kind.place()],
            bins,
        );
        members.push((format!("{}_ns", kind.name()), latency.into()));
        entries.push(members.into());
    }
    (!entries.is_empty()).then_some(entries)
}

/// Latencies in ns. `bins`: the percentiles bring all buckets along.
fn latency_members(
    figures: &LatencySummary,
    style: &Style,
    with_percentiles: bool,
    bins: bool,
) -> Members {
    let mut members = members! {
        "min": figures.min,
        "max": figures.max,
        "mean": figures.mean,
        "stddev": figures.stddev,
        "N": figures.count,
    };
    if with_percentiles && figures.count > 0 {
        let percentiles: Members = percentiles(&figures.histogram, &style.percentiles)
            .into_iter()
            .map(|(percent, ns)| (format!("{percent:.6}"), ns.into()))
            .collect();
        members.extend(members! { "percentile": percentiles });
        if bins {
            let edges = figures.histogram.edges();
            let buckets: Members = edges
                .map(|(low, high, count)| (middle(low, high).to_string(), count.into()))
                .collect();
            members.extend(members! { "bins": buckets });
        }
    }
    members
}

pub(super) fn disk_members(Disk { used, util }: &Disk, moment: &Moment) -> Members {
    let mut members = members! {
        "name": &used.name,
        "read_ios": used.read_ios,
        "write_ios": used.write_ios,
    };
    if moment.is_of_later_fio() {
        members.extend(members! {
            "read_sectors": used.read_bytes / SECTOR,
            "write_sectors": used.write_bytes / SECTOR,
        });
    }
    members.extend(members! {
        "read_merges": used.read_merges,
        "write_merges": used.write_merges,
        "read_ticks": used.read_ticks_ms,
        "write_ticks": used.write_ticks_ms,
        "in_queue": used.queue_ms,
        "util": *util,
    });
    members
}
