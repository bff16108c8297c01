//! The result as XML.

use blocklab_record::Record;

use super::plan::Prepared;
use super::profile_xml::write_profile;
use super::results::{
    Outcome, Processor, Rate, ReadWrite, Row, System, Usage, average, deviation, distinct, outcomes,
};
use super::sheet::{Sheet, escaped};
use super::spec::{Profile, TimeSpan};
use super::text::started;

/// The release whose layout is written, and its day.
const VERSION: (&str, &str) = ("2.2", "2024/6/3");

/// The result of a run.
pub fn xml(record: &Record, profile: &Profile, prepared: &Prepared, system: &System) -> String {
    let mut sheet = Sheet::default();
    sheet.nest("Results", |sheet| {
        machine(sheet, record, system);
        write_profile(sheet, profile);
        let outcomes = outcomes(record, profile, prepared, system);
        outcomes
            .flatten()
            .for_each(|outcome| time_span(sheet, &outcome));
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
        let governor = record.environment.processor.governor.as_deref();
        let governor = escaped(governor.unwrap_or_default());
        sheet.line(&format!("<PowerScheme Name=\"{governor}\" Guid=\"\"/>"));
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
    sheet.nest("ProcessorTopology Heterogeneous=\"false\"", |sheet| {
        let (count, all) = (processors.len(), mask(processors.iter()));
        sheet.line(&format!(
            "<Group Group=\"0\" MaximumProcessors=\"{count}\" ActiveProcessors=\"{count}\" \
             ActiveProcessorMask=\"{all}\"/>"
        ));
        let nodes = masks(processors, |cpu| cpu.node).map(|node| ("Node", node));
        let sockets = masks(processors, |cpu| cpu.socket).map(|socket| ("Socket", socket));
        for (name, (number, mask)) in nodes.chain(sockets) {
            sheet.nest(&format!("{name} {name}=\"{number}\""), |sheet| {
                sheet.line(&format!("<Group Group=\"0\" Mask=\"{mask}\"/>"));
            });
        }
        for ((_, core), mask) in masks(processors, |cpu| (cpu.socket, cpu.core)) {
            sheet.line(&format!(
                "<Core Group=\"0\" Core=\"{core}\" Mask=\"{mask}\" EfficiencyClass=\"0\"/>"
            ));
        }
    });
}

/// The different values, each with the mask of its processors.
fn masks<T: Ord>(
    processors: &[Processor],
    value_of: fn(&Processor) -> T,
) -> impl Iterator<Item = (T, String)> {
    let values = distinct(processors, value_of).into_iter();
    values.map(move |value| {
        let with_value = processors.iter().filter(|cpu| value_of(cpu) == value);
        let mask = mask(with_value);
        (value, mask)
    })
}

fn time_span(sheet: &mut Sheet, outcome: &Outcome<'_>) {
    let requested = outcome.requested;
    sheet.nest("TimeSpan", |sheet| {
        sheet.leaf("TestTimeSeconds", format_args!("{:.2}", outcome.seconds));
        sheet.leaf("ThreadCount", outcome.threads);
        sheet.leaf("RequestCount", requested.request_count);
        sheet.leaf("ProcCount", outcome.processors.len());
        if !outcome.processors.is_empty() {
            sheet.nest("CpuUtilization", |sheet| usage(sheet, outcome.processors));
        }
        if requested.measure_latency {
            sheet.nest("Latency", |sheet| latency(sheet, &outcome.sum));
        }
        if requested.iops_std_dev {
            sheet.nest("Iops", |sheet| series(sheet, &outcome.rates));
        }
        threads(sheet, outcome);
    });
}

fn usage(sheet: &mut Sheet, processors: &[Processor]) {
    for cpu in processors {
        sheet.nest("CPU", |sheet| {
            sheet.leaf("Socket", cpu.socket);
            sheet.leaf("Node", cpu.node);
            sheet.leaf("Group", 0);
            sheet.leaf("Core", cpu.core);
            sheet.leaf("EfficiencyClass", 0);
            sheet.leaf("Id", cpu.id);
            percents(sheet, cpu.usage);
        });
    }
    sheet.nest("Average", |sheet| percents(sheet, average(processors)));
}

fn percents(sheet: &mut Sheet, usage: Usage) {
    for (name, value) in [
        ("UsagePercent", usage.busy()),
        ("UserPercent", usage.user),
        ("KernelPercent", usage.kernel),
        ("IdlePercent", usage.idle),
    ] {
        sheet.leaf(name, format_args!("{value:.2}"));
    }
}

/// Means and deviations of one thread's target, or of all; in a result of all the names of means
/// are shorter.
fn moments(sheet: &mut Sheet, both: &ReadWrite, means: [&str; 3]) {
    let deviations = ["ReadLatencyStdev", "WriteLatencyStdev", "LatencyStdev"];
    let directions = [&both.read, &both.write, &both.total()];
    for ((direction, mean), deviation) in directions.into_iter().zip(means).zip(deviations) {
        let [mean_ms, stddev_ms] = direction.moments_ms();
        sheet.figure(mean, mean_ms);
        sheet.figure(deviation, stddev_ms);
    }
}

fn latency(sheet: &mut Sheet, both: &ReadWrite) {
    let means = [
        "AverageReadMilliseconds",
        "AverageWriteMilliseconds",
        "AverageTotalMilliseconds",
    ];
    moments(sheet, both, means);
    let total = both.total();
    let whole = (0..100).map(|percent| percent.to_string());
    let nines = (1..8).map(|nines| format!("99.{}", "9".repeat(nines)));
    for percentile in whole.chain(nines).chain(["100".to_owned()]) {
        let share = percentile.parse::<f64>().unwrap_or(0.0) / 100.0;
        sheet.nest("Bucket", |sheet| {
            sheet.leaf("Percentile", &percentile);
            sheet.figure("ReadMilliseconds", both.read.quantile_ms(share));
            sheet.figure("WriteMilliseconds", both.write.quantile_ms(share));
            sheet.figure("TotalMilliseconds", total.quantile_ms(share));
        });
    }
}

/// Deviations of the rate, of what there is, and the intervals.
fn series(sheet: &mut Sheet, rates: &[Rate]) {
    if rates.iter().any(|rate| rate.read > 0.0) {
        sheet.figure("ReadIopsStdDev", deviation(rates, |rate| rate.read));
    }
    if rates.iter().any(|rate| rate.write > 0.0) {
        sheet.figure("WriteIopsStdDev", deviation(rates, |rate| rate.write));
    }
    let of_all = deviation(rates, |rate| rate.read + rate.write);
    sheet.figure("IopsStdDev", of_all);
    for rate in rates {
        let (read, write) = (rate.read.round() as u64, rate.write.round() as u64);
        let (ms, total) = (rate.end_ns / 1_000_000, read + write);
        let mut line = format!(
            "<Bucket SampleMillisecond=\"{ms}\" Read=\"{read}\" Write=\"{write}\" Total=\"{total}\""
        );
        for (direction, served) in ["Read", "Write"].into_iter().zip(rate.served) {
            let (least, most) = (served.min_ns as f64 / 1e6, served.max_ms());
            let (mean, deviation) = (served.mean_ms(), served.stddev_ms());
            line.push_str(&format!(
                " {direction}MinLatencyMilliseconds=\"{least:.3}\" {direction}MaxLatencyMilliseconds=\"{most:.3}\" \
                 {direction}AvgLatencyMilliseconds=\"{mean:.3}\" {direction}LatencyStdDev=\"{deviation:.3}\""
            ));
        }
        sheet.line(&format!("{line}/>"));
    }
}

fn threads(sheet: &mut Sheet, outcome: &Outcome<'_>) {
    for rows in outcome.rows.chunk_by(|a, b| a.pair.thread == b.pair.thread) {
        sheet.nest("Thread", |sheet| {
            sheet.leaf("Id", rows[0].pair.thread);
            for row in rows {
                sheet.nest("Target", |sheet| {
                    thread_target(sheet, row, outcome.requested)
                });
            }
        });
    }
}

fn thread_target(sheet: &mut Sheet, row: &Row<'_>, requested: &TimeSpan) {
    let (read, write) = (&row.both.read.served, &row.both.write.served);
    sheet.leaf("Path", row.path);
    sheet.leaf("BytesCount", read.bytes + write.bytes);
    sheet.leaf("FileSize", row.file_size);
    sheet.leaf("IOCount", read.ios + write.ios);
    sheet.leaf("ReadBytes", read.bytes);
    sheet.leaf("ReadCount", read.ios);
    sheet.leaf("WriteBytes", write.bytes);
    sheet.leaf("WriteCount", write.ios);
    if requested.measure_latency {
        let means = [
            "AverageReadLatencyMilliseconds",
            "AverageWriteLatencyMilliseconds",
            "AverageLatencyMilliseconds",
        ];
        moments(sheet, &row.both, means);
    }
    if requested.iops_std_dev {
        sheet.nest("Iops", |sheet| series(sheet, &row.rates));
    }
}
