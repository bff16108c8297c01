//! The head of the text: the command line and the block `Input parameters:`.

use super::ranges;
use super::spec::{Buffers, Cache, MapFlush, Profile, Target, Throughput, TimeSpan};
use super::units::kmgt;

/// Which text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// 2.1 and later.
    #[default]
    V2_2,
    /// 2.0.21a.
    V2_0_21a,
}

/// The command line and the profile that it gives, as the head of a result and as `-Rptext` print
/// it.
pub fn profile_text(profile: &Profile, command_line: &str, layout: Layout) -> String {
    let parameters = input_parameters(profile, layout);
    match layout {
        Layout::V2_2 => format!("\nCommand Line: {command_line}\n\n{parameters}"),
        Layout::V2_0_21a => format!("\n{parameters}"),
    }
}

/// The section with the settings of all time spans and targets.
fn input_parameters(profile: &Profile, layout: Layout) -> String {
    let mut text = String::from("Input parameters:\n\n");
    if profile.verbose {
        text.push_str("\tusing verbose mode\n");
    }
    for (index, span) in profile.timespans.iter().enumerate() {
        let number = index + 1;
        text.push_str(&format!("\ttimespan: {number:>3}\n\t-------------\n"));
        for line in time_span(span) {
            text.push_str(&format!("\t{line}\n"));
        }
        for target in &span.targets {
            text.push_str(&match target.path.strip_prefix('*') {
                Some(number) => format!("\tpath: template target '{number}'\n"),
                None => format!("\tpath: '{}'\n", target.path),
            });
            for line in target_lines(span, target, layout) {
                text.push_str(&format!("\t\t{line}\n"));
            }
        }
        if number < profile.timespans.len() {
            text.push('\n');
        }
    }
    text
}

/// Lines of a block, those that apply.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn add(&mut self, line: impl Into<String>) {
        self.0.push(line.into());
    }

    fn add_if(&mut self, applies: bool, line: impl Into<String>) {
        if applies {
            self.add(line);
        }
    }
}

/// The lines of a time span, without those of its targets.
fn time_span(span: &TimeSpan) -> Vec<String> {
    let affinity: Vec<String> = span
        .affinity
        .iter()
        .map(|(group, cpu)| format!("{group}/{cpu}"))
        .collect();
    let affinity = affinity.join(", ");
    let (bucket_ms, threads, requests) = (span.bucket_ms, span.thread_count, span.request_count);
    let mut lines = Lines::default();
    lines.add(format!("duration: {}s", span.duration));
    lines.add(format!("warm up time: {}s", span.warmup));
    lines.add(format!("cool down time: {}s", span.cooldown));
    lines.add_if(span.disable_affinity, "affinity disabled");
    lines.add_if(span.measure_latency, "measuring latency");
    lines.add_if(
        span.iops_std_dev,
        format!("gathering IOPS at intervals of {bucket_ms}ms"),
    );
    lines.add(format!("random seed: {}", span.seed.unwrap_or(0)));
    lines.add_if(
        !affinity.is_empty(),
        format!("advanced affinity round robin (group/core): {affinity}"),
    );
    if span.random_write_data {
        lines.add("generating random data for each write IO");
        lines.add("  WARNING: this increases the CPU cost of issuing writes and should only");
        lines.add("           be compared to other results using the -Zr flag");
    }
    lines.add_if(threads > 0, format!("thread pool with {threads} threads"));
    lines.add_if(
        requests > 0,
        format!("number of outstanding I/O operations per thread: {requests}"),
    );
    lines.0
}

/// The lines about a target, in the words of this version.
fn target_lines(span: &TimeSpan, target: &Target, layout: Layout) -> Vec<String> {
    let old = layout == Layout::V2_0_21a;
    let size: fn(u64) -> String = if old { |bytes| bytes.to_string() } else { kmgt };
    let mut lines = Lines::default();
    lines.add(format!("think time: {}ms", target.think_ms));
    lines.add(format!("burst size: {}", target.burst));
    lines.0.extend(caches(target));
    lines.0.extend(contents(target, size, old));
    lines.add(mix(target));
    lines.add(format!("block size: {}", size(target.block)));
    lines.add(pattern(target, size));
    let each = if old { "" } else { " per thread" };
    let (requests, weight) = (target.requests, target.weight);
    lines.add(match span.request_count {
        0 => format!("number of outstanding I/O operations{each}: {requests}"),
        _ => format!("relative IO weight in thread pool: {weight}"),
    });
    let (base, end, stride) = (target.base, target.max_file_size, target.thread_stride);
    lines.add_if(base > 0, format!("base file offset: {}", size(base)));
    lines.add_if(end > 0, format!("max file size: {}", size(end)));
    lines.add_if(
        old || stride > 0,
        format!("thread stride size: {}", size(stride)),
    );
    let [sequential, random, temporary] = target.hints;
    lines.add_if(sequential, "using FILE_FLAG_SEQUENTIAL_SCAN hint");
    lines.add_if(random, "using FILE_FLAG_RANDOM_ACCESS hint");
    lines.add_if(temporary, "using FILE_ATTRIBUTE_TEMPORARY hint");
    let own_threads = span.thread_count == 0;
    lines.add_if(own_threads, format!("threads per file: {}", target.threads));
    let completion = if span.completion_routines {
        "using completion routines (ReadFileEx/WriteFileEx)"
    } else {
        "using I/O Completion Ports"
    };
    lines.add_if(own_threads && requests > 1, completion);
    lines.add(match target.priority {
        1 => "IO priority: very low",
        2 => "IO priority: low",
        _ => "IO priority: normal",
    });
    lines.0.extend(target.throughput.map(|limit| match limit {
        Throughput::Iops(iops) => format!("throughput rate-limited to {iops} IOPS"),
        Throughput::BytesPerMs(bytes) => format!("throughput rate-limited to {bytes} B/ms"),
    }));
    lines.0.extend(ranges::requested(target));
    lines.0
}

fn caches(target: &Target) -> Vec<String> {
    let mut lines = Lines::default();
    lines.add(match target.cache {
        Cache::Cached => "using software cache",
        Cache::NotLocal => "local software cache disabled, remote cache enabled",
        Cache::None => "software cache disabled",
    });
    lines.add(match (target.write_through, target.cache) {
        (false, _) => "using hardware write cache, writethrough off",
        (true, Cache::None) => "hardware write cache disabled, writethrough on",
        (true, _) => "hardware and software write caches disabled, writethrough on",
    });
    let mode = match target.map_flush {
        None => "",
        Some(MapFlush::View) => ", flush mode: FlushViewOfFile",
        Some(MapFlush::NonVolatile) => ", flush mode: FlushNonVolatileMemory",
        Some(MapFlush::NonVolatileNoDrain) => ", flush mode: FlushNonVolatileMemory with no drain",
    };
    lines.add_if(target.mapped, format!("memory mapped I/O enabled{mode}"));
    lines.0
}

fn contents(target: &Target, size: impl Fn(u64) -> String, old: bool) -> Vec<String> {
    let mut lines = Lines::default();
    match &target.buffers {
        Buffers::Pattern => {}
        Buffers::Zero => lines.add("zeroing write buffers"),
        Buffers::Source { size: bytes, file } => {
            lines.add(format!("write buffer size: {}", size(*bytes)));
            match file {
                Some(file) => lines.add(format!("write buffer source: '{file}'")),
                None => lines.add_if(!old, "write buffer source: random fill"),
            }
        }
    }
    lines.add_if(target.parallel, "using parallel async I/O");
    lines.0
}

fn mix(target: &Target) -> String {
    match target.write_ratio {
        0 => "performing read test".to_owned(),
        100 => "performing write test".to_owned(),
        write => {
            let read = 100 - write;
            format!("performing mix test (read/write ratio: {read}/{write})")
        }
    }
}

fn pattern(target: &Target, size: impl Fn(u64) -> String) -> String {
    let step = size(target.step());
    match (target.random_ratio, target.interlocked) {
        (100, _) => format!("using random I/O (alignment: {step})"),
        (0, true) => format!("using interlocked sequential I/O (stride: {step})"),
        (0, false) => format!("using sequential I/O (stride: {step})"),
        (ratio, _) => {
            format!(
                "using mixed random/sequential I/O ({ratio}% random) (alignment/stride: {step})"
            )
        }
    }
}
