//! The result and the profile as XML, two blanks a level.

use blocklab_record::Record;

use super::plan::Prepared;
use super::results::{Both, Outcome, Processor, Rate, Row, System, Usage, deviation, outcome};
use super::spec::{
    Buffers, Cache, Distribution, Format, MapFlush, Profile, Target, Throughput, TimeSpan,
};
use super::text::{average, started};

/// The version whose structure this is.
const VERSION: (&str, &str) = ("2.2", "2024/6/3");

/// Lines with their indentation.
#[derive(Default)]
struct Sheet {
    text: String,
    depth: usize,
}

impl Sheet {
    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn leaf(&mut self, name: &str, value: impl std::fmt::Display) {
        let value = escaped(&value.to_string());
        self.line(&format!("<{name}>{value}</{name}>"));
    }

    fn figure(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.leaf(name, format_args!("{value:.3}"));
        }
    }

    fn nest(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("<{name}>"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        let name = name.split(' ').next().unwrap_or(name);
        self.line(&format!("</{name}>"));
    }
}

/// Text that XML takes for nothing but text; what it cannot hold at all is left out.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            control if control.is_control() => {}
            other => safe.push(other),
        }
    }
    safe
}

/// The profile alone, as `-Rpxml` prints it.
#[must_use]
pub fn profile_xml(profile: &Profile) -> String {
    let mut sheet = Sheet::default();
    profile_of(&mut sheet, profile);
    sheet.text
}

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

fn profile_of(sheet: &mut Sheet, profile: &Profile) {
    sheet.nest("Profile", |sheet| {
        sheet.leaf("Progress", profile.progress);
        sheet.leaf(
            "ResultFormat",
            if profile.format == Format::Xml {
                "xml"
            } else {
                "text"
            },
        );
        sheet.leaf("Verbose", profile.verbose);
        sheet.nest("TimeSpans", |sheet| {
            profile
                .timespans
                .iter()
                .for_each(|span| span_of(sheet, span));
        });
    });
}

fn span_of(sheet: &mut Sheet, span: &TimeSpan) {
    sheet.nest("TimeSpan", |sheet| {
        sheet.leaf("CompletionRoutines", span.completion_routines);
        sheet.leaf("MeasureLatency", span.measure_latency);
        sheet.leaf("CalculateIopsStdDev", span.iops_std_dev);
        sheet.leaf("DisableAffinity", span.disable_affinity);
        sheet.leaf("Duration", span.duration);
        sheet.leaf("Warmup", span.warmup);
        sheet.leaf("Cooldown", span.cooldown);
        sheet.leaf("ThreadCount", span.thread_count);
        sheet.leaf("RequestCount", span.request_count);
        sheet.leaf("IoBucketDuration", span.bucket_ms);
        sheet.leaf("RandSeed", span.seed.unwrap_or(0));
        if span.random_write_data {
            sheet.leaf("RandomWriteData", true);
        }
        if !span.affinity.is_empty() {
            sheet.nest("Affinity", |sheet| {
                for (group, cpu) in &span.affinity {
                    let line =
                        format!("<AffinityGroupAssignment Group=\"{group}\" Processor=\"{cpu}\"/>");
                    sheet.line(&line);
                }
            });
        }
        sheet.nest("Targets", |sheet| {
            for target in &span.targets {
                sheet.nest("Target", |sheet| target_of(sheet, target));
            }
        });
    });
}

fn target_of(sheet: &mut Sheet, target: &Target) {
    sheet.leaf("Path", &target.path);
    sheet.leaf("BlockSize", target.block);
    sheet.leaf("BaseFileOffset", target.base);
    sheet.leaf("SequentialScan", target.hints[0]);
    sheet.leaf("RandomAccess", target.hints[1]);
    sheet.leaf("TemporaryFile", target.hints[2]);
    sheet.leaf("UseLargePages", target.large_pages);
    match target.cache {
        Cache::Cached => {}
        Cache::None => sheet.leaf("DisableOSCache", true),
        Cache::NotLocal => sheet.leaf("DisableLocalCache", true),
    }
    if target.write_through {
        sheet.leaf("WriteThrough", true);
    }
    if target.mapped {
        sheet.leaf("MemoryMappedIo", true);
    }
    if let Some(flush) = target.map_flush {
        let mode = match flush {
            MapFlush::View => "ViewOfFile",
            MapFlush::NonVolatile => "NonVolatileMemory",
            MapFlush::NonVolatileNoDrain => "NonVolatileMemoryNoDrain",
        };
        sheet.leaf("FlushType", mode);
    }
    sheet.nest("WriteBufferContent", |sheet| contents(sheet, target));
    sheet.leaf("ParallelAsyncIO", target.parallel);
    if target.burst > 0 {
        sheet.leaf("BurstSize", target.burst);
        sheet.leaf("ThinkTime", target.think_ms);
    }
    if target.file_size > 0 {
        sheet.leaf("FileSize", target.file_size);
    }
    pattern(sheet, target);
    sheet.leaf("ThreadStride", target.thread_stride);
    sheet.leaf("MaxFileSize", target.max_file_size);
    sheet.leaf("RequestCount", target.requests);
    sheet.leaf("WriteRatio", target.write_ratio);
    match target.throughput {
        Some(Throughput::Iops(iops)) => {
            sheet.line(&format!("<Throughput unit=\"IOPS\">{iops}</Throughput>"))
        }
        Some(Throughput::BytesPerMs(bytes)) => sheet.leaf("Throughput", bytes),
        None => sheet.leaf("Throughput", 0),
    }
    sheet.leaf("ThreadsPerFile", target.threads);
    sheet.leaf("IOPriority", target.priority);
    sheet.leaf("Weight", target.weight);
    if !target.threads_of_pool.is_empty() {
        sheet.nest("ThreadTargets", |sheet| {
            for (thread, weight) in &target.threads_of_pool {
                sheet.nest("ThreadTarget", |sheet| {
                    sheet.leaf("Thread", thread);
                    if *weight > 0 {
                        sheet.leaf("Weight", weight);
                    }
                });
            }
        });
    }
}

fn contents(sheet: &mut Sheet, target: &Target) {
    match &target.buffers {
        Buffers::Zero => sheet.leaf("Pattern", "zero"),
        Buffers::Pattern => sheet.leaf("Pattern", "sequential"),
        Buffers::Source { size, file } => {
            sheet.leaf("Pattern", "random");
            sheet.nest("RandomDataSource", |sheet| {
                sheet.leaf("SizeInBytes", size);
                if let Some(file) = file {
                    sheet.leaf("FilePath", file);
                }
            });
        }
    }
}

fn pattern(sheet: &mut Sheet, target: &Target) {
    match target.random_ratio {
        0 => {
            sheet.leaf("StrideSize", target.step());
            sheet.leaf("InterlockedSequential", target.interlocked);
        }
        ratio => {
            sheet.leaf("Random", target.step());
            if ratio < 100 {
                sheet.leaf("RandomRatio", ratio);
            }
        }
    }
    if let Some(distribution) = &target.distribution {
        let (name, list) = match distribution {
            Distribution::Percent(list) => ("Percent", list),
            Distribution::Absolute(list) => ("Absolute", list),
        };
        sheet.nest("Distribution", |sheet| {
            sheet.nest(name, |sheet| {
                for (io, width) in list {
                    sheet.line(&format!("<Range IO=\"{io}\">{width}</Range>"));
                }
            });
        });
    }
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
