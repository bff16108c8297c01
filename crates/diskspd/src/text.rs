//! The text of a result, in the layout of 2.2 or of 2.0.21a.

use blocklab_record::Record;

use super::number::{kmgt, old_file_size};
use super::plan::Prepared;
use super::profile_text::{Layout, profile_text};
use super::ranges::effective;
use super::results::{Both, Outcome, Processor, Rate, System, Tally, Usage, deviation, outcome};
use super::spec::{Profile, TimeSpan};

/// The result of a run as DiskSpd prints it.
#[must_use]
pub fn text(
    record: &Record,
    profile: &Profile,
    prepared: &Prepared,
    system: &System,
    layout: Layout,
) -> String {
    let mut text = profile_text(profile, &system.command_line, layout);
    text.push_str(&machine(record, system, layout));
    let mut outcomes = Vec::new();
    for (index, (span, asked)) in prepared.spans.iter().zip(&profile.timespans).enumerate() {
        let head = format!("\nResults for timespan {}:\n", index + 1);
        text.push_str(&format!("{head}{}\n\n", "*".repeat(79)));
        let buckets = system.buckets.get(index).map_or(&[][..], Vec::as_slice);
        let Some(outcome) = outcome(record, span, buckets) else {
            text.push_str("The test was interrupted before the measurements began. No results are displayed.\n");
            continue;
        };
        let processors = system.processors.get(index).map_or(&[][..], Vec::as_slice);
        text.push_str(&time_span(&outcome, asked, processors, layout));
        outcomes.push(outcome);
    }
    if prepared.spans.len() > 1 {
        text.push_str(&totals(&outcomes));
    }
    text.push('\n');
    text
}

/// What several time spans did together.
fn totals(outcomes: &[Outcome<'_>]) -> String {
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let mut sum = Both::default();
    outcomes.iter().for_each(|outcome| sum.merge(&outcome.sum));
    let dashes = "-".repeat(79);
    let row =
        |name: &str, tally: &Tally| format!("{name:<7}| {}\n", amounts(tally, seconds.max(1e-9)));
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

/// Different values of something, among processors.
fn different(processors: &[Processor], what: fn(&Processor) -> (u32, u32)) -> usize {
    let mut all: Vec<_> = processors.iter().map(what).collect();
    all.sort_unstable();
    all.dedup();
    all.len().max(1)
}

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
        text.push_str(&format!(
            "\tcore count:\t\t{}\n\tgroup count:\t\t1\n\tnode count:\t\t{}\n\tsocket count:\t\t{}\n",
            different(known, |cpu| (cpu.socket, cpu.core)),
            different(known, |cpu| (cpu.node, 0)),
            different(known, |cpu| (cpu.socket, 0)),
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
type Table = (&'static str, fn(&Both) -> Tally, fn(&Rate) -> f64);

/// A column before the usage: whether it is shown, its name, its value.
type Column = (bool, &'static str, fn(&Processor) -> u32);

fn time_span(
    outcome: &Outcome<'_>,
    asked: &TimeSpan,
    processors: &[Processor],
    layout: Layout,
) -> String {
    let mut text = format!(
        "actual test time:\t{:.2}s\nthread count:\t\t{}\n",
        outcome.seconds, outcome.threads
    );
    if asked.thread_count > 0 && asked.request_count > 0 {
        text.push_str(&format!("request count:\t\t{}\n", asked.request_count));
    }
    if layout == Layout::V2_0_21a {
        text.push_str(&format!("proc count:\t\t{}\n", processors.len()));
    }
    text.push('\n');
    text.push_str(&usage_table(processors, layout));
    text.push_str(&effective(outcome, asked));
    let tables: [Table; 3] = [
        ("Total IO", Both::total, |rate| rate.read + rate.write),
        ("Read IO", |both| both.read.clone(), |rate| rate.read),
        ("Write IO", |both| both.write.clone(), |rate| rate.write),
    ];
    for (title, pick, ios) in tables {
        let rows = table(outcome, asked, layout, pick, ios);
        text.push_str(&format!("\n{title}\n{rows}"));
    }
    if asked.measure_latency {
        text.push_str(&latency_tables(outcome, asked, layout));
    }
    text
}

/// The columns before the usage: those of which there is more than one, and the processor.
fn usage_table(processors: &[Processor], layout: Layout) -> String {
    if processors.is_empty() {
        return String::new();
    }
    let many = |what: fn(&Processor) -> (u32, u32)| different(processors, what) > 1;
    let shares_cores = different(processors, |cpu| (cpu.socket, cpu.core)) < processors.len();
    let all: [Column; 4] = [
        (many(|cpu| (cpu.socket, 0)), "Socket", |cpu| cpu.socket),
        (many(|cpu| (cpu.node, 0)), "Node", |cpu| cpu.node),
        (shares_cores, "Core", |cpu| cpu.core),
        (true, "CPU", |cpu| cpu.id),
    ];
    let new = layout == Layout::V2_2;
    let shown: Vec<_> = all
        .into_iter()
        .filter(|(shown, name, _)| *name == "CPU" || (new && *shown))
        .collect();
    let (mut head, mut lead, mut widths) = (String::new(), 0, Vec::new());
    for (index, (_, name, _)) in shown.iter().enumerate() {
        let blank = if index == 0 { "" } else { " " };
        head.push_str(&format!("{blank}{name} |"));
        widths.push(blank.len() + name.len() + 1);
        lead += blank.len() + name.len() + 2;
    }
    let kernel = if new { 7 } else { 8 };
    let kernel_head = if new { " Kernel |" } else { "  Kernel |" };
    let dashes = "-".repeat(if new { lead + 35 } else { 43 });
    let figures = |usage: Usage| {
        format!(
            "{:>7.2}%|{:>7.2}%|{:>kernel$.2}%|{:>7.2}%\n",
            usage.busy(),
            usage.user,
            usage.kernel,
            usage.idle
        )
    };
    let mut text = format!("{head}  Usage |  User  |{kernel_head}  Idle\n{dashes}\n");
    for processor in processors {
        for ((_, _, value), width) in shown.iter().zip(&widths) {
            text.push_str(&format!("{:>width$}|", value(processor)));
        }
        text.push_str(&figures(processor.usage));
    }
    text.push_str(&format!(
        "{dashes}\n{:>lead$}{}",
        "avg.|",
        figures(average(processors))
    ));
    text
}

/// The mean over all processors.
pub(super) fn average(processors: &[Processor]) -> Usage {
    let number = processors.len().max(1) as f64;
    let mean = |what: fn(&Usage) -> f64| {
        processors.iter().map(|cpu| what(&cpu.usage)).sum::<f64>() / number
    };
    Usage {
        user: mean(|usage| usage.user),
        kernel: mean(|usage| usage.kernel),
        idle: mean(|usage| usage.idle),
    }
}

fn table(
    outcome: &Outcome<'_>,
    asked: &TimeSpan,
    layout: Layout,
    pick: fn(&Both) -> Tally,
    ios: fn(&Rate) -> f64,
) -> String {
    let file_size = match layout {
        Layout::V2_2 => kmgt,
        Layout::V2_0_21a => old_file_size,
    };
    let mut head =
        String::from("thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |");
    if asked.measure_latency {
        head.push_str("  AvgLat  |");
    }
    if asked.iops_std_dev {
        head.push_str(" IopsStdDev |");
    }
    if asked.measure_latency {
        head.push_str(" LatStdDev |");
    }
    head.push_str("  file");
    let dashes = "-".repeat(head.len() + 5);
    let mut text = format!("{head}\n{dashes}\n");
    for row in &outcome.rows {
        let own = deviation(&row.rates, ios);
        let figures = figures(&pick(&row.both), outcome.seconds, asked, own);
        let path = asked
            .targets
            .get(row.pair.target)
            .map_or("", |target| &target.path);
        text.push_str(&format!(
            "{:>6} | {figures} | {path} ({})\n",
            row.pair.thread,
            file_size(row.file_size)
        ));
    }
    let all = deviation(&outcome.rates, ios);
    let sum = figures(&pick(&outcome.sum), outcome.seconds, asked, all);
    text.push_str(&format!("{dashes}\ntotal:   {sum}\n"));
    text
}

/// A figure of so many columns and decimals, or that there is none.
fn figure(value: Option<f64>, width: usize, decimals: usize) -> String {
    match value {
        Some(value) => format!("{value:>width$.decimals$}"),
        None => format!("{:>width$}", "N/A"),
    }
}

fn amounts(tally: &Tally, seconds: f64) -> String {
    format!(
        "{:>15} | {:>12} | {:>10.2} | {:>10.2}",
        tally.bytes,
        tally.ios,
        tally.bytes as f64 / 1_048_576.0 / seconds,
        tally.ios as f64 / seconds
    )
}

fn figures(tally: &Tally, seconds: f64, asked: &TimeSpan, deviation: Option<f64>) -> String {
    let mut text = amounts(tally, seconds.max(1e-9));
    if asked.measure_latency {
        text.push_str(&format!(
            " | {}",
            figure(Some(tally.mean_ms().unwrap_or(0.0)), 8, 3)
        ));
    }
    if asked.iops_std_dev {
        text.push_str(&format!(" | {}", figure(deviation, 10, 2)));
    }
    if asked.measure_latency {
        text.push_str(&format!(" |  {}", figure(tally.deviation_ms(), 8, 3)));
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

fn latency_tables(outcome: &Outcome<'_>, asked: &TimeSpan, layout: Layout) -> String {
    let mut text = String::new();
    if asked.targets.len() > 1 {
        for (index, target) in asked.targets.iter().enumerate() {
            let mut both = Both::default();
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

fn quantiles(both: &Both) -> String {
    let total = both.total();
    let mut text = format!(
        "  %-ile |  Read (ms) | Write (ms) | Total (ms)\n{}\n",
        "-".repeat(46)
    );
    for (name, share) in QUANTILES {
        let cell = |tally: &Tally| figure(tally.quantile_ms(share), 10, 3);
        text.push_str(&format!(
            "{name:>7} | {} | {} | {}\n",
            cell(&both.read),
            cell(&both.write),
            cell(&total)
        ));
    }
    text
}
