//! One line a job, versions 2 to 5.

use blocklab_record::Measurement;

use super::super::VERSION;
use super::super::plan::Prepared;
use super::Disk;
use super::figures::{Figures, LEAST_OF_DEPTHS, report_entries, shares};
use super::flow::{Flow, LatencySummary};
use super::percentiles::percentiles;
use super::style::{Style, Unified};

/// Places for percentiles, used or not.
const PERCENTILES: usize = 20;

/// The report.
pub fn terse(measurements: &[Measurement], prepared: &Prepared, version: u8) -> String {
    let mut text = String::new();
    for entry in report_entries(&prepared.clones, measurements) {
        let mut fields = line(&entry, version);
        if version > 2 {
            let disks = super::disks(measurements, prepared);
            fields.extend(disks.iter().flat_map(disk));
        }
        if entry.clone.counts_errors {
            fields.extend([
                entry.errors.count.to_string(),
                entry.errors.first.to_string(),
            ]);
        }
        text.push_str(&fields.join(";"));
        if let Some(description) = &entry.clone.style.description {
            // In version 2 it has a line of its own.
            text.push_str(if version == 2 { "\n;" } else { ";" });
            text.push_str(description);
        }
        text.push('\n');
    }
    text
}

/// The fields of a job's line.
fn line(figures: &Figures<'_>, version: u8) -> Vec<String> {
    let style = &figures.clone.style;
    let mut fields = vec![version.to_string()];
    if version > 2 {
        fields.push(VERSION.to_owned());
    }
    fields.extend([
        figures.clone.name.clone(),
        figures.clone.group.to_string(),
        figures.error.to_string(),
    ]);
    let directions = match (style.unified, version) {
        (Unified::Mixed, _) => 1,
        // Version 3 leaves trims out.
        (_, 3) => 2,
        _ => 3,
    };
    for direction in &figures.flows[..directions] {
        flow(direction, style, version, &mut fields);
    }
    if style.unified == Unified::Both {
        flow(&figures.mixed(), style, version, &mut fields);
    }
    let [user, system] = figures.processor();
    fields.extend([
        format!("{user:.6}%"),
        format!("{system:.6}%"),
        figures.switches().to_string(),
        figures.used.major_faults.to_string(),
        figures.used.minor_faults.to_string(),
    ]);
    fields.extend(
        shares(&figures.depths.in_flight, LEAST_OF_DEPTHS)
            .iter()
            .map(|share| format!("{share:.1}%")),
    );
    let latencies = figures.latencies();
    // What took less than 2 us is one.
    let below: f64 = latencies[..11].iter().sum();
    fields.push(format!("{below:.2}%"));
    fields.extend(latencies[11..].iter().map(|share| format!("{share:.2}%")));
    fields
}

/// Adds the fields of one direction.
fn flow(flow: &Flow, style: &Style, version: u8, fields: &mut Vec<String>) {
    let kib = flow.bytes_per_second() >> 10;
    fields.extend([
        (flow.bytes >> 10).to_string(),
        kib.to_string(),
        (flow.iops() as u64).to_string(),
        flow.runtime_ms.to_string(),
    ]);
    let [with_slat, with_clat, with_lat] = style.latencies;
    push_latency(&flow.slat, with_slat, fields);
    push_latency(&flow.clat, with_clat, fields);
    // One list for both: that of the total latency wins, as in fio.
    let with_percentiles = style.percentiles_of[1] || style.percentiles_of[2];
    let latency = if style.percentiles_of[2] {
        &flow.lat
    } else {
        &flow.clat
    };
    let wanted = if with_percentiles {
        &*style.percentiles
    } else {
        &[]
    };
    let found = percentiles(&latency.histogram, wanted);
    for index in 0..PERCENTILES {
        fields.push(match found.get(index) {
            Some((percent, ns)) => format!("{percent:.6}%={}", ns / 1000),
            None => "0%=0".to_owned(),
        });
    }
    push_latency(&flow.lat, with_lat, fields);
    let (bw, iops) = (flow.bw, flow.iops);
    // The mean of the samples (in bytes) in per cent of the bandwidth of the run (in KiB). The samples
    // are not weighted, so their mean may be the larger one.
    let share = if kib == 0 {
        0.0
    } else {
        (bw.mean / 10.24 / kib as f64).min(100.0)
    };
    fields.extend([
        format!("{:.0}", bw.min / 1024.0),
        format!("{:.0}", bw.max / 1024.0),
        format!("{share:.6}%"),
        format!("{:.6}", bw.mean / 1024.0),
        format!("{:.6}", bw.stddev / 1024.0),
    ]);
    if version == 5 {
        fields.extend([
            bw.count.to_string(),
            format!("{:.0}", iops.min),
            format!("{:.0}", iops.max),
            format!("{:.6}", iops.mean),
            format!("{:.6}", iops.stddev),
            iops.count.to_string(),
        ]);
    }
}

/// Adds the fields of a latency, in microseconds.
fn push_latency(figures: &LatencySummary, shown: bool, fields: &mut Vec<String>) {
    let none = LatencySummary::default();
    let figures = if shown { figures } else { &none };
    fields.extend([
        (figures.min / 1000).to_string(),
        (figures.max / 1000).to_string(),
        format!("{:.6}", figures.mean / 1000.0),
        format!("{:.6}", figures.stddev / 1000.0),
    ]);
}

fn disk(Disk { used, util }: &Disk) -> Vec<String> {
    let counts = [
        used.read_ios,
        used.write_ios,
        used.read_merges,
        used.write_merges,
        used.read_ticks_ms,
        used.write_ticks_ms,
        used.queue_ms,
    ];
    let name = std::iter::once(used.name.clone());
    let fields = name.chain(counts.iter().map(u64::to_string));
    fields.chain([format!("{util:.2}%")]).collect()
}
