//! The text of a result, in the layout of 2.2 or of 2.0.21a.

use blocklab_record::{Record, Served};

use super::plan::Prepared;
use super::profile_text::{Layout, profile_text};
use super::ranges::effective;
use super::results::{
    DirectionTotals, Outcome, Processor, Rate, ReadWrite, System, Usage, average, deviation,
    distinct, outcomes,
};
use super::spec::Profile;
use super::units::{kmgt, old_file_size};

/// The result of a run as DiskSpd prints it.
pub fn text(
    record: &Record,
    profile: &Profile,
    prepared: &Prepared,
    system: &System,
    layout: Layout,
) -> String {
    let mut text = profile_text(profile, &system.command_line, layout);
    text.push_str(&machine(record, system, layout));
    let mut reached = Vec::new();
    for (index, outcome) in outcomes(record, profile, prepared, system).enumerate() {
        let head = format!("\nResults for timespan {}:\n", index + 1);
        text.push_str(&format!("{head}{}\n\n", "*".repeat(79)));
        let Some(outcome) = outcome else {
            text.push_str("The test was interrupted before the measurements began. No results are displayed.\n");
            continue;
        };
        text.push_str(&time_span(&outcome, layout));
        reached.push(outcome);
    }
    if prepared.spans.len() > 1 {
        text.push_str(&totals(&reached));
    }
    text
}

/// What several time spans did together.
fn totals(outcomes: &[Outcome<'_>]) -> String {
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let mut sum = ReadWrite::default();
    outcomes.iter().for_each(|outcome| sum.merge(&outcome.sum));
    let dashes = "-".repeat(79);
    // If no time span was reached there is no time, and the rates are 0.
    let divisor_s = seconds.max(1e-9);
    let row = |name: &str, direction: &DirectionTotals| {
        format!("{name:<7}| {}\n", amounts(direction, divisor_s))
    };
    format!(
        "\n\nTotals:\n{}\n\ntype   |       bytes     |     I/Os     |    MiB/s   |  I/O per s\n\
         {dashes}\n{}{}{dashes}\n{}\ntotal test time:\t{seconds:.2}s\n",
        "*".repeat(79),
        row("write", &sum.write),
        row("read", &sum.read),
        row("total", &sum.total()),
    )
}

/// `2024-09-09T02:02:42Z` as `2024/09/09 02:02:42 UTC`.
pub(super) fn started(record: &Record) -> String {
    let at = record.started_at.replace('-', "/").replace('T', " ");
    format!("{} UTC", at.trim_end_matches('Z'))
}

/// The section on the machine, whose facts are in the layout of 2.2 alone.
fn machine(record: &Record, system: &System, layout: Layout) -> String {
    let mut text = format!(
        "\nSystem information:\n\n\tcomputer name: {}\n\tstart time: {}\n",
        system.computer,
        started(record)
    );
    if layout == Layout::V2_0_21a {
        return text;
    }
    let known = system.processors.first().map_or(&[][..], Vec::as_slice);
    let count = match known.len() {
        0 => record.environment.processor.count as usize,
        count => count,
    };
    text.push_str(&format!("\n\tcpu count:\t\t{count}\n"));
    if !known.is_empty() {
        let cores = distinct(known, |cpu| (cpu.socket, cpu.core)).len();
        let nodes = distinct(known, |cpu| cpu.node).len();
        let sockets = distinct(known, |cpu| cpu.socket).len();
        text.push_str(&format!("\tcore count:\t\t{cores}\n\tgroup count:\t\t1\n"));
        text.push_str(&format!(
            "\tnode count:\t\t{nodes}\n\tsocket count:\t\t{sockets}\n"
        ));
    }
    text.push_str("\theterogeneous cores:\tn\n");
    // Without frequency scaling, as in most virtual machines, there is no governor to name.
    let governor = record.environment.processor.governor.as_deref();
    let scheme = governor.unwrap_or("unknown");
    text.push_str(&format!("\n\tactive power scheme:\t{scheme}\n"));
    text
}

/// A table: its title, what of the figures it shows, and the same of an interval.
type Table = (
    &'static str,
    fn(&ReadWrite) -> DirectionTotals,
    fn(&Rate) -> f64,
);

/// A column before the usage: whether it is shown, its name, its value.
type Column = (bool, &'static str, fn(&Processor) -> u32);

/// The results of a time span.
fn time_span(outcome: &Outcome<'_>, layout: Layout) -> String {
    let (requested, seconds, threads) = (outcome.requested, outcome.seconds, outcome.threads);
    let mut text = format!("actual test time:\t{seconds:.2}s\nthread count:\t\t{threads}\n");
    if requested.thread_count > 0 && requested.request_count > 0 {
        text.push_str(&format!("request count:\t\t{}\n", requested.request_count));
    }
    if layout == Layout::V2_0_21a {
        text.push_str(&format!("proc count:\t\t{}\n", outcome.processors.len()));
    }
    text.push('\n');
    text.push_str(&usage_table(outcome.processors, layout));
    text.push_str(&effective(outcome));
    let tables: [Table; 3] = [
        ("Total IO", ReadWrite::total, |rate| rate.read + rate.write),
        ("Read IO", |both| both.read.clone(), |rate| rate.read),
        ("Write IO", |both| both.write.clone(), |rate| rate.write),
    ];
    for (title, pick, ios) in tables {
        let rows = table(outcome, layout, pick, ios);
        text.push_str(&format!("\n{title}\n{rows}"));
    }
    if requested.measure_latency {
        text.push_str(&latency_tables(outcome, layout));
    }
    text
}

/// The table of processor usage. Socket and node are shown if there are several, and the core if processors
/// share one.
fn usage_table(processors: &[Processor], layout: Layout) -> String {
    if processors.is_empty() {
        return String::new();
    }
    let sockets = distinct(processors, |cpu| cpu.socket).len();
    let nodes = distinct(processors, |cpu| cpu.node).len();
    let cores = distinct(processors, |cpu| (cpu.socket, cpu.core)).len();
    let shares_cores = cores < processors.len();
    let all: [Column; 4] = [
        (sockets > 1, "Socket", |cpu| cpu.socket),
        (nodes > 1, "Node", |cpu| cpu.node),
        (shares_cores, "Core", |cpu| cpu.core),
        (true, "CPU", |cpu| cpu.id),
    ];
    let new = layout == Layout::V2_2;
    let shown: Vec<_> = all
        .into_iter()
        .filter(|(shown, name, _)| *name == "CPU" || (new && *shown))
        .collect();
    let (mut head, mut widths) = (String::new(), Vec::new());
    for (_, name, _) in &shown {
        let before = head.len();
        let blank = if head.is_empty() { "" } else { " " };
        head.push_str(&format!("{blank}{name} |"));
        widths.push(head.len() - before - 1);
    }
    let lead = head.len();
    let kernel = if new { 7 } else { 8 };
    let kernel_head = if new { " Kernel |" } else { "  Kernel |" };
    // As many as the original prints: two more than the head is wide, or always 43.
    let dashes = "-".repeat(if new { lead + 35 } else { 43 });
    let mut text = format!("{head}  Usage |  User  |{kernel_head}  Idle\n{dashes}\n");
    for processor in processors {
        for ((_, _, value), width) in shown.iter().zip(&widths) {
            text.push_str(&format!("{:>width$}|", value(processor)));
        }
        text.push_str(&usage(processor.usage, kernel));
    }
    let mean = usage(average(processors), kernel);
    text.push_str(&format!("{dashes}\n{:>lead$}{mean}", "avg.|"));
    text
}

/// The figures of a processor; `width` is that of the time in the kernel.
fn usage(usage: Usage, width: usize) -> String {
    let (busy, user, kernel, idle) = (usage.busy(), usage.user, usage.kernel, usage.idle);
    format!("{busy:>7.2}%|{user:>7.2}%|{kernel:>width$.2}%|{idle:>7.2}%\n")
}

/// A table of the threads and targets. `pick` and `ios` choose reads, writes or both.
fn table(
    outcome: &Outcome<'_>,
    layout: Layout,
    pick: fn(&ReadWrite) -> DirectionTotals,
    ios: fn(&Rate) -> f64,
) -> String {
    let requested = outcome.requested;
    let file_size = match layout {
        Layout::V2_2 => kmgt,
        Layout::V2_0_21a => old_file_size,
    };
    let mut head =
        String::from("thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |");
    for (is_shown, column) in [
        (requested.measure_latency, "  AvgLat  |"),
        (requested.iops_std_dev, " IopsStdDev |"),
        (requested.measure_latency, " LatStdDev |"),
        (true, "  file"),
    ] {
        head.push_str(if is_shown { column } else { "" });
    }
    let dashes = "-".repeat(head.len() + 5);
    let mut text = format!("{head}\n{dashes}\n");
    for row in &outcome.rows {
        let own = deviation(&row.rates, ios);
        let figures = figures(&pick(&row.both), outcome, own);
        let (thread, path, size) = (row.pair.thread, row.path, file_size(row.file_size));
        text.push_str(&format!("{thread:>6} | {figures} | {path} ({size})\n"));
    }
    let all = deviation(&outcome.rates, ios);
    let sum = figures(&pick(&outcome.sum), outcome, all);
    text.push_str(&format!("{dashes}\ntotal:   {sum}\n"));
    text
}

/// A figure with these columns and decimals, or that there is none.
fn figure(value: Option<f64>, width: usize, decimals: usize) -> String {
    match value {
        Some(value) => format!("{value:>width$.decimals$}"),
        None => format!("{:>width$}", "N/A"),
    }
}

fn amounts(direction: &DirectionTotals, seconds: f64) -> String {
    let Served { bytes, ios, .. } = direction.served;
    format!(
        "{:>15} | {:>12} | {:>10.2} | {:>10.2}",
        bytes,
        ios,
        bytes as f64 / 1_048_576.0 / seconds,
        ios as f64 / seconds
    )
}

/// The columns of a direction. `of_rate`: the standard deviation of its IOPS.
fn figures(direction: &DirectionTotals, outcome: &Outcome<'_>, of_rate: Option<f64>) -> String {
    let requested = outcome.requested;
    let [mean, of_latency] = direction.moments_ms();
    let mut text = amounts(direction, outcome.seconds.max(1e-9));
    if requested.measure_latency {
        text.push_str(&format!(" | {:>8.3}", mean.unwrap_or(0.0)));
    }
    if requested.iops_std_dev {
        text.push_str(&format!(" | {}", figure(of_rate, 10, 2)));
    }
    if requested.measure_latency {
        text.push_str(&format!(" |  {}", figure(of_latency, 8, 3)));
    }
    text
}

/// Names and shares of the rows.
const QUANTILES: [(&str, f64); 15] = [
    ("min", 0.0),
    ("25th", 0.25),
    ("50th", 0.5),
    ("75th", 0.75),
    ("90th", 0.9),
    ("95th", 0.95),
    ("99th", 0.99),
    ("3-nines", 0.999),
    ("4-nines", 0.9999),
    ("5-nines", 0.99999),
    ("6-nines", 0.999_999),
    ("7-nines", 0.999_999_9),
    ("8-nines", 0.999_999_99),
    ("9-nines", 0.999_999_999),
    ("max", 1.0),
];

/// The table of percentiles of each target, if there are several, and of all together.
fn latency_tables(outcome: &Outcome<'_>, layout: Layout) -> String {
    let mut text = String::new();
    let targets = &outcome.requested.targets;
    if targets.len() > 1 {
        for (index, target) in targets.iter().enumerate() {
            let mut both = ReadWrite::default();
            let own = outcome.rows.iter().filter(|row| row.pair.target == index);
            own.for_each(|row| both.merge(&row.both));
            let title = match layout {
                Layout::V2_2 => "\nLatency distribution: ",
                Layout::V2_0_21a => "\n\n",
            };
            text.push_str(&format!("{title}{}\n{}", target.path, quantiles(&both)));
        }
    }
    text.push_str(match layout {
        Layout::V2_2 => "\nTotal latency distribution:\n",
        Layout::V2_0_21a => "\n\n\ntotal:\n",
    });
    text.push_str(&quantiles(&outcome.sum));
    text
}

fn quantiles(both: &ReadWrite) -> String {
    let directions = [&both.read, &both.write, &both.total()];
    let dashes = "-".repeat(46);
    let mut text = format!("  %-ile |  Read (ms) | Write (ms) | Total (ms)\n{dashes}\n");
    for (name, share) in QUANTILES {
        let [read, write, total] =
            directions.map(|direction| figure(direction.quantile_ms(share), 10, 3));
        text.push_str(&format!("{name:>7} | {read} | {write} | {total}\n"));
    }
    text
}
