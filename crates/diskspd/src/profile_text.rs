//! The head of the text: the command line and the block `Input parameters:`.

use super::number::kmgt;
use super::ranges;
use super::spec::{Buffers, Cache, MapFlush, Profile, Target, Throughput, TimeSpan};

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
#[must_use]
pub fn profile_text(profile: &Profile, command_line: &str, layout: Layout) -> String {
    let parameters = input_parameters(profile, layout);
    match layout {
        Layout::V2_2 => format!("\nCommand Line: {command_line}\n\n{parameters}"),
        Layout::V2_0_21a => format!("\n{parameters}"),
    }
}

/// The block `Input parameters:`.
fn input_parameters(profile: &Profile, layout: Layout) -> String {
    let mut text = String::from("Input parameters:\n\n");
    if profile.verbose {
        text.push_str("\tusing verbose mode\n");
    }
    for (index, span) in profile.timespans.iter().enumerate() {
        text.push_str(&format!("\ttimespan: {:>3}\n\t-------------\n", index + 1));
        for line in time_span(span) {
            text.push_str(&format!("\t{line}\n"));
        }
        for target in &span.targets {
            text.push_str(&format!("\t{}\n", path(target)));
            for line in target_lines(span, target, layout) {
                text.push_str(&format!("\t\t{line}\n"));
            }
        }
        if index + 1 < profile.timespans.len() {
            text.push('\n');
        }
    }
    text
}

fn path(target: &Target) -> String {
    match target.path.strip_prefix('*') {
        Some(number) => format!("path: template target '{number}'"),
        None => format!("path: '{}'", target.path),
    }
}

/// Lines that apply.
fn chosen<const N: usize>(lines: [(bool, String); N]) -> Vec<String> {
    let applying = lines.into_iter().filter(|(applies, _)| *applies);
    applying.map(|(_, line)| line).collect()
}

fn time_span(span: &TimeSpan) -> Vec<String> {
    let affinity: Vec<String> = span
        .affinity
        .iter()
        .map(|(group, cpu)| format!("{group}/{cpu}"))
        .collect();
    chosen([
        (true, format!("duration: {}s", span.duration)),
        (true, format!("warm up time: {}s", span.warmup)),
        (true, format!("cool down time: {}s", span.cooldown)),
        (span.disable_affinity, "affinity disabled".to_owned()),
        (span.measure_latency, "measuring latency".to_owned()),
        (
            span.iops_std_dev,
            format!("gathering IOPS at intervals of {}ms", span.bucket_ms),
        ),
        (true, format!("random seed: {}", span.seed.unwrap_or(0))),
        (
            !affinity.is_empty(),
            format!(
                "advanced affinity round robin (group/core): {}",
                affinity.join(", ")
            ),
        ),
        (
            span.random_write_data,
            "generating random data for each write IO".to_owned(),
        ),
        (
            span.random_write_data,
            "  WARNING: this increases the CPU cost of issuing writes and should only".to_owned(),
        ),
        (
            span.random_write_data,
            "           be compared to other results using the -Zr flag".to_owned(),
        ),
        (
            span.thread_count > 0,
            format!("thread pool with {} threads", span.thread_count),
        ),
        (
            span.request_count > 0,
            format!(
                "number of outstanding I/O operations per thread: {}",
                span.request_count
            ),
        ),
    ])
}

fn target_lines(span: &TimeSpan, target: &Target, layout: Layout) -> Vec<String> {
    let old = layout == Layout::V2_0_21a;
    let size = |bytes: u64| if old { bytes.to_string() } else { kmgt(bytes) };
    let own_threads = span.thread_count == 0;
    let mut lines = vec![
        format!("think time: {}ms", target.think_ms),
        format!("burst size: {}", target.burst),
    ];
    lines.extend(caches(target));
    lines.extend(contents(target, size, old));
    lines.push(mix(target));
    lines.push(format!("block size: {}", size(target.block)));
    lines.push(pattern(target, size));
    let each = if old { "" } else { " per thread" };
    lines.extend(chosen([
        (
            span.request_count == 0,
            format!(
                "number of outstanding I/O operations{each}: {}",
                target.requests
            ),
        ),
        (
            span.request_count > 0,
            format!("relative IO weight in thread pool: {}", target.weight),
        ),
        (
            target.base > 0,
            format!("base file offset: {}", size(target.base)),
        ),
        (
            target.max_file_size > 0,
            format!("max file size: {}", size(target.max_file_size)),
        ),
        (
            old || target.thread_stride > 0,
            format!("thread stride size: {}", size(target.thread_stride)),
        ),
        (
            target.hints[0],
            "using FILE_FLAG_SEQUENTIAL_SCAN hint".to_owned(),
        ),
        (
            target.hints[1],
            "using FILE_FLAG_RANDOM_ACCESS hint".to_owned(),
        ),
        (
            target.hints[2],
            "using FILE_ATTRIBUTE_TEMPORARY hint".to_owned(),
        ),
        (own_threads, format!("threads per file: {}", target.threads)),
        (
            own_threads && target.requests > 1,
            completion(span).to_owned(),
        ),
        (true, format!("IO priority: {}", priority(target))),
    ]));
    lines.extend(rate(target));
    lines.extend(ranges::asked(target));
    lines
}

const fn completion(span: &TimeSpan) -> &'static str {
    match span.completion_routines {
        true => "using completion routines (ReadFileEx/WriteFileEx)",
        false => "using I/O Completion Ports",
    }
}

const fn priority(target: &Target) -> &'static str {
    match target.priority {
        1 => "very low",
        2 => "low",
        _ => "normal",
    }
}

fn caches(target: &Target) -> Vec<String> {
    let cache = match target.cache {
        Cache::Cached => "using software cache",
        Cache::NotLocal => "local software cache disabled, remote cache enabled",
        Cache::None => "software cache disabled",
    };
    let through = match (target.write_through, target.cache) {
        (false, _) => "using hardware write cache, writethrough off",
        (true, Cache::None) => "hardware write cache disabled, writethrough on",
        (true, _) => "hardware and software write caches disabled, writethrough on",
    };
    let mut lines = vec![cache.to_owned(), through.to_owned()];
    if target.mapped {
        let flush = match target.map_flush {
            None => "",
            Some(MapFlush::View) => ", flush mode: FlushViewOfFile",
            Some(MapFlush::NonVolatile) => ", flush mode: FlushNonVolatileMemory",
            Some(MapFlush::NonVolatileNoDrain) => {
                ", flush mode: FlushNonVolatileMemory with no drain"
            }
        };
        lines.push(format!("memory mapped I/O enabled{flush}"));
    }
    lines
}

fn contents(target: &Target, size: impl Fn(u64) -> String, old: bool) -> Vec<String> {
    let mut lines = match &target.buffers {
        Buffers::Pattern => Vec::new(),
        Buffers::Zero => vec!["zeroing write buffers".to_owned()],
        Buffers::Source { size: bytes, file } => {
            let source = match file {
                Some(file) => Some(format!("write buffer source: '{file}'")),
                None => (!old).then(|| "write buffer source: random fill".to_owned()),
            };
            let first = format!("write buffer size: {}", size(*bytes));
            std::iter::once(first).chain(source).collect()
        }
    };
    if target.parallel {
        lines.push("using parallel async I/O".to_owned());
    }
    lines
}

fn mix(target: &Target) -> String {
    match target.write_ratio {
        0 => "performing read test".to_owned(),
        100 => "performing write test".to_owned(),
        write => format!(
            "performing mix test (read/write ratio: {}/{write})",
            100 - write
        ),
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

fn rate(target: &Target) -> Option<String> {
    Some(match target.throughput? {
        Throughput::Iops(iops) => format!("throughput rate-limited to {iops} IOPS"),
        Throughput::BytesPerMs(bytes) => format!("throughput rate-limited to {bytes} B/ms"),
    })
}
