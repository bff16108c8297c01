//! The result as XML.

use blocklab_record::Record;

use super::plan::Prepared;
use super::profile_xml::profile_of;
use super::results::{Both, Outcome, Processor, Rate, Row, System, Usage, deviation, outcome};
use super::sheet::{Sheet, escaped};
use super::spec::{Profile, TimeSpan};
use super::text::{average, started};

/// The version whose structure this is.
const VERSION: (&str, &str) = ("2.2", "2024/6/3");

/// The result of a run.
#[must_use]
pub fn xml(record: &Record, profile: &Profile, prepared: &Prepared, system: &System) -> String {
    let mut sheet = Sheet::default();
    sheet.nest("Results", |sheet| {
        machine(sheet, record, system);
        profile_of(sheet, profile);
        for (index, (span, asked)) in prepared.spans.iter().zip(&profile.timespans).enumerate() {
            let processors = system.processors.get(index).map_or(&[][..], Vec::as_slice);
            let buckets = system.buckets.get(index).map_or(&[][..], Vec::as_slice);
            if let Some(outcome) = outcome(record, span, buckets) {
                time_span(sheet, &outcome, asked, processors);
            }
        }
    });
    sheet.text
}

fn machine(sheet: &mut Sheet, record: &Record, system: &System) {
    sheet.nest("System", |sheet| {
        sheet.leaf("ComputerName", &system.computer);
        sheet.nest("Tool", |sheet| {
            sheet.leaf("Version", VERSION.0);
            sheet.leaf("VersionDate", VERSION.1);
        });
        sheet.leaf("RunTime", started(record));
        let governor = record
            .environment
            .processor
            .governor
            .as_deref()
            .unwrap_or_default();
        sheet.line(&format!(
            "<PowerScheme Name=\"{}\" Guid=\"\"/>",
            escaped(governor)
        ));
        let processors = system.processors.first().map_or(&[][..], Vec::as_slice);
        if !processors.is_empty() {
            topology(sheet, processors);
        }
    });
}

/// A mask of processors, of the first 64 as in a group of Windows.
fn mask<'a>(processors: impl Iterator<Item = &'a Processor>) -> String {
    let bits = processors
        .filter(|cpu| cpu.id < 64)
        .fold(0_u64, |mask, cpu| mask | 1 << cpu.id);
    format!("0x{bits:x}")
}

fn topology(sheet: &mut Sheet, processors: &[Processor]) {
    let values = |what: fn(&Processor) -> (u32, u32)| {
        let mut values: Vec<_> = processors.iter().map(what).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    sheet.nest("ProcessorTopology Heterogeneous=\"false\"", |sheet| {
        let (count, all) = (processors.len(), mask(processors.iter()));
        sheet.line(&format!(
            "<Group Group=\"0\" MaximumProcessors=\"{count}\" ActiveProcessors=\"{count}\" \
             ActiveProcessorMask=\"{all}\"/>"
        ));
        for (name, what) in [
            (
                "Node",
                (|cpu| (cpu.node, 0)) as fn(&Processor) -> (u32, u32),
            ),
            ("Socket", |cpu| (cpu.socket, 0)),
        ] {
            for value in values(what) {
                let own = mask(processors.iter().filter(|cpu| what(cpu) == value));
                sheet.nest(&format!("{name} {name}=\"{}\"", value.0), |sheet| {
                    sheet.line(&format!("<Group Group=\"0\" Mask=\"{own}\"/>"));
                });
            }
        }
        for core in values(|cpu| (cpu.socket, cpu.core)) {
            let own = mask(
                processors
                    .iter()
                    .filter(|cpu| (cpu.socket, cpu.core) == core),
            );
            sheet.line(&format!(
                "<Core Group=\"0\" Core=\"{}\" Mask=\"{own}\" EfficiencyClass=\"0\"/>",
                core.1
            ));
        }
    });
}

fn time_span(sheet: &mut Sheet, outcome: &Outcome<'_>, asked: &TimeSpan, processors: &[Processor]) {
    sheet.nest("TimeSpan", |sheet| {
        sheet.leaf("TestTimeSeconds", format_args!("{:.2}", outcome.seconds));
        sheet.leaf("ThreadCount", outcome.threads);
        sheet.leaf("RequestCount", asked.request_count);
        sheet.leaf("ProcCount", processors.len());
        if !processors.is_empty() {
            sheet.nest("CpuUtilization", |sheet| usage(sheet, processors));
        }
        if asked.measure_latency {
            sheet.nest("Latency", |sheet| latency(sheet, &outcome.sum));
        }
        if asked.iops_std_dev {
            sheet.nest("Iops", |sheet| series(sheet, &outcome.rates));
        }
        threads(sheet, outcome, asked);
    });
}

fn usage(sheet: &mut Sheet, processors: &[Processor]) {
    let figures = |sheet: &mut Sheet, usage: Usage| {
        for (name, value) in [
            ("UsagePercent", usage.busy()),
            ("UserPercent", usage.user),
            ("KernelPercent", usage.kernel),
            ("IdlePercent", usage.idle),
        ] {
            sheet.leaf(name, format_args!("{value:.2}"));
        }
    };
    for cpu in processors {
        sheet.nest("CPU", |sheet| {
            sheet.leaf("Socket", cpu.socket);
            sheet.leaf("Node", cpu.node);
            sheet.leaf("Group", 0);
            sheet.leaf("Core", cpu.core);
            sheet.leaf("EfficiencyClass", 0);
            sheet.leaf("Id", cpu.id);
            figures(sheet, cpu.usage);
        });
    }
    sheet.nest("Average", |sheet| figures(sheet, average(processors)));
}

/// Means and deviations of one thread's target, or of all.
fn moments(sheet: &mut Sheet, both: &Both, names: [&str; 6]) {
    let total = both.total();
    for (tally, pair) in [&both.read, &both.write, &total]
        .into_iter()
        .zip(names.chunks(2))
    {
        sheet.figure(pair[0], tally.mean_ms());
        sheet.figure(pair[1], tally.deviation_ms());
    }
}

fn latency(sheet: &mut Sheet, both: &Both) {
    let names = [
        "AverageReadMilliseconds",
        "ReadLatencyStdev",
        "AverageWriteMilliseconds",
        "WriteLatencyStdev",
        "AverageTotalMilliseconds",
        "LatencyStdev",
    ];
    moments(sheet, both, names);
    let total = both.total();
    let nines = [
        "99.9",
        "99.99",
        "99.999",
        "99.9999",
        "99.99999",
        "99.999999",
        "99.9999999",
    ];
    let whole = (0..100).map(|percent| percent.to_string());
    let all = whole
        .chain(nines.map(str::to_owned))
        .chain(["100".to_owned()]);
    for percentile in all {
        let share = percentile.parse::<f64>().unwrap_or(0.0) / 100.0;
        sheet.nest("Bucket", |sheet| {
            sheet.leaf("Percentile", &percentile);
            sheet.figure("ReadMilliseconds", both.read.quantile_ms(share));
            sheet.figure("WriteMilliseconds", both.write.quantile_ms(share));
            sheet.figure("TotalMilliseconds", total.quantile_ms(share));
        });
    }
}

/// Deviations of the rate, of what there is.
fn deviations(sheet: &mut Sheet, rates: &[Rate]) {
    if rates.iter().any(|rate| rate.read > 0.0) {
        sheet.figure("ReadIopsStdDev", deviation(rates, |rate| rate.read));
    }
    if rates.iter().any(|rate| rate.write > 0.0) {
        sheet.figure("WriteIopsStdDev", deviation(rates, |rate| rate.write));
    }
    sheet.figure(
        "IopsStdDev",
        deviation(rates, |rate| rate.read + rate.write),
    );
}

fn series(sheet: &mut Sheet, rates: &[Rate]) {
    deviations(sheet, rates);
    for rate in rates {
        let (read, write) = (rate.read.round() as u64, rate.write.round() as u64);
        let mut line = format!(
            "<Bucket SampleMillisecond=\"{}\" Read=\"{read}\" Write=\"{write}\" Total=\"{}\"",
            rate.end_ns / 1_000_000,
            read + write
        );
        for (way, served) in ["Read", "Write"].into_iter().zip(rate.served) {
            let names = [
                "MinLatencyMilliseconds",
                "MaxLatencyMilliseconds",
                "AvgLatencyMilliseconds",
            ];
            let names = names.into_iter().chain(["LatencyStdDev"]);
            for (name, ms) in names.zip(served.latency_ms()) {
                line.push_str(&format!(" {way}{name}=\"{ms:.3}\""));
            }
        }
        sheet.line(&format!("{line}/>"));
    }
}

fn threads(sheet: &mut Sheet, outcome: &Outcome<'_>, asked: &TimeSpan) {
    let mut rows = &outcome.rows[..];
    while let Some(first) = rows.first() {
        let thread = first.pair.thread;
        let own = rows
            .iter()
            .take_while(|row| row.pair.thread == thread)
            .count();
        sheet.nest("Thread", |sheet| {
            sheet.leaf("Id", thread);
            for row in &rows[..own] {
                sheet.nest("Target", |sheet| {
                    let path = asked.targets.get(row.pair.target).map_or("", |t| &t.path);
                    sheet.leaf("Path", path);
                    thread_target(sheet, row, asked);
                });
            }
        });
        rows = &rows[own..];
    }
}

fn thread_target(sheet: &mut Sheet, row: &Row<'_>, asked: &TimeSpan) {
    let both = &row.both;
    sheet.leaf("BytesCount", both.read.bytes + both.write.bytes);
    sheet.leaf("FileSize", row.file_size);
    sheet.leaf("IOCount", both.read.ios + both.write.ios);
    sheet.leaf("ReadBytes", both.read.bytes);
    sheet.leaf("ReadCount", both.read.ios);
    sheet.leaf("WriteBytes", both.write.bytes);
    sheet.leaf("WriteCount", both.write.ios);
    if asked.measure_latency {
        let names = [
            "AverageReadLatencyMilliseconds",
            "ReadLatencyStdev",
            "AverageWriteLatencyMilliseconds",
            "WriteLatencyStdev",
            "AverageLatencyMilliseconds",
            "LatencyStdev",
        ];
        moments(sheet, both, names);
    }
    if asked.iops_std_dev {
        sheet.nest("Iops", |sheet| series(sheet, &row.rates));
    }
}
