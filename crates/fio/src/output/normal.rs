//! The output for people.

use blocklab_record::Measurement;
use blocklab_workload::errno;

use super::super::VERSION;
use super::super::plan::{CloneFacts, Prepared};
use super::amount::{Base, short};
use super::figures::{
    BATCHES, DEPTHS, EDGES, Errors, Figures, LEAST_OF_DEPTHS, report_entries, shares,
};
use super::flow::{Flow, LatencySummary};
use super::percentiles::percentiles;
use super::steady;
use super::style::{Style, Unified};
use super::{Disk, Moment};

/// What is printed before the run: a line a job, dots for its clones.
pub fn header(prepared: &Prepared) -> String {
    let preamble = prepared.preamble.iter();
    let mut text: String = preamble.map(|words| format!("fio: {words}\n")).collect();
    let mut last = None;
    let mut dotted = None;
    for clone in &prepared.clones {
        if last == Some(clone.spec) {
            if dotted != last {
                text.push_str("...\n");
                dotted = last;
            }
            continue;
        }
        last = Some(clone.spec);
        text.push_str(&introduction(clone));
    }
    text.push_str(&format!(
        "{VERSION}\nStarting {}\n",
        clones_started(&prepared.clones)
    ));
    text
}

/// A line for each job that requests a depth its engine cannot have.
pub fn capped(prepared: &Prepared) -> String {
    let line = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will \
                be capped at 1\n";
    let clones = prepared.clones.iter();
    line.repeat(
        clones
            .filter(|clone| clone.depth > 1 && !clone.is_asynchronous)
            .count(),
    )
}

/// `1 thread and 2 processes`, as the jobs request them.
fn clones_started(clones: &[CloneFacts]) -> String {
    let threads = clones.iter().filter(|clone| clone.thread).count();
    let kinds = [
        (threads, "thread", "threads"),
        (clones.len() - threads, "process", "processes"),
    ];
    let mut parts = Vec::new();
    for (count, one, more) in kinds {
        match count {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            _ => parts.push(format!("{count} {more}")),
        }
    }
    parts.join(" and ")
}

/// `j: (g=0): rw=read, bs=(R) 4096B-4096B, (W) …, (T) …, ioengine=psync, iodepth=1`.
fn introduction(clone: &CloneFacts) -> String {
    let [base, _] = clone.style.bases();
    let [read, write, trim] = clone.blocks.map(|(low, high)| {
        let [low, high] = [low, high].map(|size| short(size as f64, 4, base));
        format!("{low}B-{high}B")
    });
    let third = if clone.style.by_order {
        "bs_is_seq_rand".to_owned()
    } else {
        format!("(T) {trim}")
    };
    format!(
        "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, {third}, ioengine={}, iodepth={}\n",
        clone.name, clone.group, clone.rw, clone.engine, clone.depth
    )
}

/// The whole output of `--output-format=normal`.
pub fn normal(measurements: &[Measurement], prepared: &Prepared, moment: &Moment) -> String {
    let entries = report_entries(&prepared.clones, measurements);
    let mut text = String::from("\n");
    for entry in &entries {
        // As with fio, a job that has not begun or could not, or whose files were only made or hold
        // no block, has no paragraph.
        let clone = entry.clone;
        let did_nothing = !clone.is_run() || !entry.ran;
        if !did_nothing || entry.flows.iter().any(|flow| flow.ios > 0) {
            text.push_str(&job(entry, moment));
        }
    }
    let groups = entries.iter().map(|entry| entry.clone.group).max();
    for group in 0..=groups.unwrap_or(0) {
        let members: Vec<_> = entries.iter().filter(|e| e.clone.group == group).collect();
        if !members.is_empty() {
            text.push_str(&summary(group, &members));
        }
    }
    text.push_str(&disks(&super::disks(measurements, prepared)));
    if let Some(idleness) = &moment.idleness {
        text.push('\n');
        text.push_str(&idleness.normal());
    }
    text
}

/// The block of a job in the report for people.
pub(super) fn job(figures: &Figures<'_>, moment: &Moment) -> String {
    let clone = figures.clone;
    let style = &clone.style;
    let why = match figures.error {
        0 => String::new(),
        error => format!(" (error={})", strerror(error)),
    };
    let mut text = format!(
        "{}: (groupid={}, jobs={}): err={:2}{why}: pid={}: {}\n",
        clone.name, clone.group, figures.members, figures.error, moment.pid, moment.text
    );
    if let Some(description) = &style.description {
        text.push_str(&format!("  Description  : [{description}]\n"));
    }
    let names = match style.unified {
        Unified::Mixed => ["mixed", "", ""],
        _ => ["read", "write", "trim"],
    };
    let mut flows: Vec<(&str, Flow)> = names.into_iter().zip(figures.flows.clone()).collect();
    if style.unified == Unified::Both {
        flows.push(("mixed", figures.mixed()));
    }
    for (name, flow) in flows.iter().filter(|(_, flow)| flow.ios > 0) {
        text.push_str(&direction(name, flow, style));
    }
    text.push_str(&latencies(&figures.latencies()));
    if figures.syncs.count > 0 {
        text.push_str("  fsync/fdatasync/sync_file_range:\n");
        text.push_str(&latency_line("sync", &figures.syncs));
        text.push_str(&table("sync", &figures.syncs, style));
    }
    text.push_str(&closing(figures));
    text.extend(steady::line(figures));
    text
}

/// `  read: IOPS=…, BW=…` and the lines about that direction.
fn direction(name: &str, flow: &Flow, style: &Style) -> String {
    let digits = style.figures;
    let [base, other] = style.bases();
    let trailer = match name {
        "write" => "; 0 zone resets",
        _ => "",
    };
    let mut text = format!(
        "  {name}: IOPS={}, BW={} ({})({}/{}msec){trailer}\n",
        short(flow.iops(), digits, Base::Decimal),
        rate(flow.bytes_per_second(), style, base),
        rate(flow.bytes_per_second(), style, other),
        format_args!("{}B", short(flow.bytes as f64, digits, base)),
        flow.runtime_ms,
    );
    let rows = [
        ("slat", &flow.slat),
        ("clat", &flow.clat),
        (" lat", &flow.lat),
    ];
    for ((label, figures), shown) in rows.iter().zip(style.latencies) {
        if shown && figures.count > 0 {
            text.push_str(&latency_line(label, figures));
        }
    }
    text.push_str(&priorities(flow, style));
    for ((label, figures), wanted) in rows.iter().zip(style.percentiles_of) {
        if wanted && figures.count > 0 {
            text.push_str(&table(label.trim(), figures, style));
        }
    }
    text.push_str(&priority_tables(flow, style));
    if flow.bw.count > 0 {
        text.push_str(&samples(flow, style));
    }
    text
}

/// A line for each priority, where there are several.
fn priorities(flow: &Flow, style: &Style) -> String {
    let Some(latency) = style.by_priority() else {
        return String::new();
    };
    let mut lines = String::new();
    for row in flow.shown_priorities() {
        let label = format!("{} prio {}/{}", latency.name(), row.class, row.level);
        lines.push_str(&latency_line(&label, &row.latency));
    }
    lines
}

/// A table of percentiles for each priority.
fn priority_tables(flow: &Flow, style: &Style) -> String {
    let latency = style.by_priority();
    let Some(latency) = latency.filter(|latency| style.percentiles_of[latency.place()]) else {
        return String::new();
    };
    let rows = flow.shown_priorities();
    let all: u64 = rows.iter().map(|row| row.latency.count).sum();
    let mut tables = String::new();
    for row in rows {
        let share = row.latency.count as f64 * 100.0 / all.max(1) as f64;
        let (name, class, level) = (latency.name(), row.class, row.level);
        let label = format!("{name} prio {class}/{level} ({share:3.2}% of IOs)");
        tables.push_str(&table(&label, &row.latency, style));
    }
    tables
}

/// `53.8MiB/s`, or in bits.
fn rate(bytes: u64, style: &Style, base: Base) -> String {
    let (factor, unit) = if style.bits { (8.0, "bit") } else { (1.0, "B") };
    format!(
        "{}{unit}/s",
        short(bytes as f64 * factor, style.figures, base)
    )
}

/// Nanoseconds as they are, or in larger units where nothing is lost.
fn unit(figures: &LatencySummary) -> (&'static str, f64) {
    for (name, factor) in [("msec", 1e6), ("usec", 1e3)] {
        if figures.min as f64 > 2.0 * factor
            && figures.max as f64 > 99.999 * factor
            && figures.stddev > factor
        {
            return (name, factor);
        }
    }
    ("nsec", 1.0)
}

/// `    clat (usec): min=…, max=…, avg=…, stdev=…`.
fn latency_line(label: &str, figures: &LatencySummary) -> String {
    let (unit, factor) = unit(figures);
    let [min, max] =
        [figures.min, figures.max].map(|ns| short((ns as f64 / factor).floor(), 6, Base::Decimal));
    format!(
        "    {label} ({unit}): min={min}, max={max}, avg={:5.2}, stdev={:5.2}\n",
        figures.mean / factor,
        figures.stddev / factor
    )
}

/// The lines below `    clat percentiles (usec):`.
fn table(label: &str, figures: &LatencySummary, style: &Style) -> String {
    let found = percentiles(&figures.histogram, &style.percentiles);
    let (low, high) = match (found.first(), found.last()) {
        (Some(first), Some(last)) => (first.1, last.1),
        _ => return String::new(),
    };
    // fio's thresholds: a larger unit is taken only if the lowest value is above 2 in it and the
    // highest would have more than five digits without it.
    let (unit, factor) = if low > 2_000_000 && high > 99_999_999 {
        ("msec", 1_000_000)
    } else if low > 2_000 && high > 99_999 {
        ("usec", 1_000)
    } else {
        ("nsec", 1)
    };
    let scaled = |ns: u64| (ns + factor / 2) / factor;
    let width = scaled(high).to_string().len().max(5);
    let precision = precision(&style.percentiles);
    // 80 columns less the margin of 7, in cells of label, `th=[` value `]` and comma.
    let a_line = (73 / (precision + 10 + width)).max(1);
    let mut text = format!("    {label} percentiles ({unit}):\n");
    for (index, (percent, ns)) in found.iter().enumerate() {
        let is_first = index % a_line == 0;
        let is_last = index + 1 == found.len();
        text.push_str(if is_first { "     | " } else { "" });
        let label = precision + 3;
        text.push_str(&format!(
            "{percent:label$.precision$}th=[{:width$}]",
            scaled(*ns)
        ));
        text.push_str(match (is_last, (index + 1) % a_line == 0) {
            (true, _) => "\n",
            (_, true) => ",\n",
            _ => ", ",
        });
    }
    text
}

/// Places after the point that the list needs.
fn precision(list: &[f64]) -> usize {
    let texts = list.iter().map(f64::to_string);
    let places = texts.map(|text| text.split_once('.').map_or(0, |(_, places)| places.len()));
    places.max().unwrap_or(0)
}

/// By what bytes a second are multiplied in the line of samples, and their unit there.
///
/// Programs that read the line take KiB/s for granted. So it has bytes also where the other lines
/// have bits, and the larger unit only where the mean is a thousand of it.
fn unit_of_samples(mean: f64, kilo: u32) -> (f64, &'static str) {
    let step = f64::from(kilo);
    let [small, large] = match kilo {
        1000 => ["kB", "MB"],
        _ => ["KiB", "MiB"],
    };
    if mean > step.powi(3) {
        (1.0 / step.powi(2), large)
    } else {
        (1.0 / step, small)
    }
}

/// The lines `bw (KiB/s): min=…` and `iops: min=…`, of the samples of throughput.
fn samples(flow: &Flow, style: &Style) -> String {
    let share = flow.bw_share();
    let (factor, unit) = unit_of_samples(flow.bw.mean, style.kilo);
    let (bw, iops) = (flow.bw, flow.iops);
    format!(
        "   bw ({unit:>5}/s): min={:5.0}, max={:5.0}, per={share:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}\n\
         \x20  iops        : min={:5.0}, max={:5.0}, avg={:5.2}, stdev={:5.2}, samples={}\n",
        bw.min * factor,
        bw.max * factor,
        bw.mean * factor,
        bw.stddev * factor,
        bw.count,
        iops.min,
        iops.max,
        iops.mean,
        iops.stddev,
        iops.count,
    )
}

/// Three units, a few entries a line, only what occurred.
fn latencies(shares: &[f64; 32]) -> String {
    let mut text = String::new();
    for (unit, from, to) in [("nsec", 0, 10), ("usec", 10, 20), ("msec", 20, 32)] {
        let hit: Vec<String> = shares[from..to]
            .iter()
            .zip(EDGES)
            .filter(|(share, _)| **share > 0.0)
            .map(|(share, edge)| format!("{edge}={share:3.2}%"))
            .collect();
        for line in hit.chunks(5) {
            text.push_str(&format!("  lat ({unit})   : {}\n", line.join(", ")));
        }
    }
    text
}

/// The lines of a job from `cpu` to the end of its block.
fn closing(figures: &Figures<'_>) -> String {
    let style = &figures.clone.style;
    let [user, system] = figures.processor();
    let [read, write, trim] = &figures.flows;
    let errors = if figures.clone.counts_errors {
        let Errors { count, first } = figures.errors;
        format!(
            "     errors    : total={count}, first_error={first}/<{}>\n",
            strerror(first)
        )
    } else {
        String::new()
    };
    let depth = if figures.ran {
        format!(
            "     latency   : target={}, window={}, percentile={:.2}%, depth={}\n",
            style.latency_goal.limit_ns,
            style.latency_goal.window_us,
            style.latency_goal.percentile,
            figures.depth()
        )
    } else {
        String::new()
    };
    format!(
        "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf={}\n\
         \x20 IO depths    : {}\n\
         \x20    submit    : {}\n\
         \x20    complete  : {}\n\
         \x20    issued rwts: total={},{},{},{} short={},{},{},0 dropped=0,0,0,0\n\
         {errors}{depth}",
        user,
        system,
        figures.switches(),
        figures.used.major_faults,
        figures.used.minor_faults,
        named_shares(&DEPTHS, &figures.depths.in_flight),
        named_shares(&BATCHES, &figures.depths.submitted),
        named_shares(&BATCHES, &figures.depths.completed),
        read.ios,
        write.ios,
        trim.ios,
        figures.syncs.count,
        read.short,
        write.short,
        trim.short,
    )
}

/// `1=50.0%, 2=50.0%, 4=0.0%`: the share of each count.
fn named_shares(names: &[&str], counts: &[u64; 7]) -> String {
    let pairs = names.iter().zip(shares(counts, LEAST_OF_DEPTHS));
    let texts = pairs.map(|(name, value)| format!("{name}={value:3.1}%"));
    texts.collect::<Vec<_>>().join(", ")
}

/// `Run status group 0 (all jobs):` with a line for each direction.
fn summary(group: u32, members: &[&Figures<'_>]) -> String {
    let mut text = format!("\nRun status group {group} (all jobs):\n");
    let style = &members[0].clone.style;
    let unified: Vec<Unified> = members.iter().map(|m| m.clone.style.unified).collect();
    let first = if unified.contains(&Unified::Mixed) {
        "  MIXED"
    } else {
        "   READ"
    };
    for (index, name) in [first, "  WRITE", "   TRIM"].into_iter().enumerate() {
        let flows = members.iter().map(|member| &member.flows[index]);
        text.push_str(&total(name, flows, style));
    }
    if unified.contains(&Unified::Both) {
        let flows = members.iter().flat_map(|member| &member.flows);
        text.push_str(&total("  MIXED", flows, style));
    }
    text
}

/// The line of a group's summary; empty where no flow has an operation.
fn total<'a>(name: &str, flows: impl Iterator<Item = &'a Flow>, style: &Style) -> String {
    let flows: Vec<&Flow> = flows.filter(|flow| flow.ios > 0).collect();
    let rates = flows.iter().map(|flow| flow.bytes_per_second());
    let times = flows.iter().map(|flow| flow.runtime_ms);
    let (Some(slowest), Some(fastest)) = (rates.clone().min(), rates.max()) else {
        return String::new();
    };
    let (shortest, longest) = (times.clone().min().unwrap_or(0), times.max().unwrap_or(0));
    let bytes: u64 = flows.iter().map(|flow| flow.bytes).sum();
    let all = (bytes as f64 * 1000.0 / longest.max(1) as f64) as u64;
    // Each figure with a decimal and with a binary prefix.
    let bases = style.bases();
    let [moved, moved_other] = bases.map(|base| short(bytes as f64, style.figures, base));
    let [[all, all_other], [low, low_other], [high, high_other]] =
        [all, slowest, fastest].map(|value| bases.map(|base| rate(value, style, base)));
    format!(
        "{name}: bw={all} ({all_other}), {low}-{high} ({low_other}-{high_other}), io={moved}B \
         ({moved_other}B), run={shortest}-{longest}msec\n"
    )
}

fn disks(disks: &[Disk]) -> String {
    let mut text = String::new();
    for (index, Disk { used, util }) in disks.iter().enumerate() {
        if index == 0 {
            text.push_str("\nDisk stats (read/write):\n");
        }
        text.push_str(&format!(
            "  {}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={util:3.2}%\n",
            used.name,
            used.read_ios,
            used.write_ios,
            used.read_merges,
            used.write_merges,
            used.read_ticks_ms,
            used.write_ticks_ms,
            used.queue_ms,
        ));
    }
    text
}

/// The C library's words for an error's number.
fn strerror(number: i32) -> String {
    match number {
        0 => "Success".to_owned(),
        number => errno::message(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above 98 MiB/s the line was in MiB/s, where that of fio is in KiB/s up to 1 GiB/s: what a
    /// program read there was too small by the factor 1024.
    #[test]
    fn samples_are_in_the_unit_that_fio_has() {
        let mib = f64::from(1 << 20);
        for (mean, kilo, unit) in [
            (50.0 * mib, 1024, "KiB"),
            (900.0 * mib, 1024, "KiB"),
            (1100.0 * mib, 1024, "MiB"),
            (900e6, 1000, "kB"),
            (1100e6, 1000, "MB"),
        ] {
            let (factor, found) = unit_of_samples(mean, kilo);
            assert_eq!(found, unit, "{mean}");
            assert!(mean * factor < 1_048_577.0, "{mean}: {factor}");
        }
    }
}
