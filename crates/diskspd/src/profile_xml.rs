//! A profile as XML, read and written: the elements of the published schema, nothing else. Each element
//! has a row in one of the tables below.

use std::ops::RangeInclusive;

use blocklab_syntax::Mistake;
use blocklab_syntax::xml_tree::{Element, document};

use super::command::Overrides;
use super::sheet::Sheet;
use super::spec::{
    Buffers, Cache, Distribution, Format, IoRange, MapFlush, Profile, Target, Throughput, TimeSpan,
};
use super::validate::validate;

/// One or several elements, and how their content is read and written.
struct Field<T> {
    /// Names of the elements; more than one where they set one thing together.
    names: &'static [&'static str],
    read: fn(&mut T, &Element) -> Result<(), Mistake>,
    write: fn(&T, &mut Sheet),
}

/// Elements with a `number` or a `flag` are written always, or only `if_set`: neither 0 nor false.
/// Elements whose text is no plain value have a function that reads and one that writes.
macro_rules! fields {
    ($($how:ident($($what:tt)*) $($names:literal)+;)*) => {
        &[$(fields!(@ $how($($what)*) $($names)+)),*]
    };
    (@ by($read:expr, $write:expr) $($names:literal)+) => {
        Field { names: &[$($names),+], read: $read, write: $write }
    };
    (@ $kind:ident(if_set $($field:tt)+) $name:literal) => {
        fields!(@ plain($kind, false, $($field)+) $name)
    };
    (@ plain($kind:ident, $always:literal, $($field:tt)+) $name:literal) => {
        Field {
            names: &[$name],
            read: |to, parent| {
                to.$($field)+ = parent.$kind($name)?.unwrap_or(to.$($field)+);
                Ok(())
            },
            write: |from, sheet| {
                if $always || is_set(from.$($field)+) {
                    sheet.leaf($name, from.$($field)+);
                }
            },
        }
    };
    (@ $kind:ident($($field:tt)+) $name:literal) => {
        fields!(@ plain($kind, true, $($field)+) $name)
    };
}

fn is_set<T: Default + PartialEq>(value: T) -> bool {
    value != T::default()
}

/// The elements of a time span, in their order.
#[rustfmt::skip]
const TIME_SPAN: &[Field<TimeSpan>] = fields! {
    flag(completion_routines) "CompletionRoutines";
    flag(measure_latency) "MeasureLatency";
    flag(iops_std_dev) "CalculateIopsStdDev";
    flag(disable_affinity) "DisableAffinity";
    by(read_round_robin, |_, _| {}) "GroupAffinity";
    number(duration) "Duration";
    number(warmup) "Warmup";
    number(cooldown) "Cooldown";
    number(thread_count) "ThreadCount";
    number(request_count) "RequestCount";
    number(bucket_ms) "IoBucketDuration";
    by(read_seed, |from, sheet| sheet.leaf("RandSeed", from.seed.unwrap_or(0))) "RandSeed";
    flag(if_set random_write_data) "RandomWriteData";
    by(read_affinity, write_affinity) "Affinity";
    by(read_targets, write_targets) "Targets";
};

/// The elements of a target, in their order.
#[rustfmt::skip]
const TARGET: &[Field<Target>] = fields! {
    by(read_path, |from, sheet| sheet.leaf("Path", &from.path)) "Path";
    number(block) "BlockSize";
    number(base) "BaseFileOffset";
    flag(hints[0]) "SequentialScan";
    flag(hints[1]) "RandomAccess";
    flag(hints[2]) "TemporaryFile";
    flag(large_pages) "UseLargePages";
    by(read_cache, write_cache) "DisableAllCache" "DisableOSCache" "DisableLocalCache" "WriteThrough";
    flag(if_set mapped) "MemoryMappedIo";
    by(read_flush, write_flush) "FlushType" "MemoryMappedIoFlushMode";
    by(read_content, write_content) "WriteBufferContent";
    flag(parallel) "ParallelAsyncIO";
    number(if_set burst) "BurstSize";
    number(if_set think_ms) "ThinkTime";
    number(if_set file_size) "FileSize";
    by(read_offsets, write_offsets) "StrideSize" "Random" "RandomRatio" "InterlockedSequential";
    by(read_distribution, write_distribution) "Distribution";
    number(thread_stride) "ThreadStride";
    number(max_file_size) "MaxFileSize";
    number(requests) "RequestCount";
    number(write_ratio) "WriteRatio";
    by(read_throughput, write_throughput) "Throughput";
    number(threads) "ThreadsPerFile";
    number(priority) "IOPriority";
    number(weight) "Weight";
    by(read_threads, write_threads) "ThreadTargets";
};

/// Elements of a profile that the schema knows and nothing here needs.
const IGNORED: [(&str, &str); 6] = [
    ("Progress", "the progress is that of blocklab"),
    ("Verbose", "`blocklab show` has more on every run"),
    ("VerboseStats", "`blocklab show` has more on every run"),
    (
        "PrecreateFiles",
        "all files are made before the first time span",
    ),
    ("ETW", "Linux has no ETW"),
    ("ExperimentFlags", "there are none"),
];

/// A profile, with the overrides of the command line.
///
/// # Errors
/// Text that is no XML, a document type, elements that the schema does not know, values that do
/// not fit, and everything that [`validate`] refuses.
pub fn read_xml(text: &str, overrides: &Overrides) -> Result<Profile, Mistake> {
    let root = document(text)?;
    let found = match &*root.name {
        "Profile" => Some(&root),
        // A result holds its profile.
        "Results" => root.child("Profile"),
        _ => None,
    };
    let Some(element) = found else {
        let name = &root.name;
        let wrong = format!("the document is a <{name}>, and a <Profile> is wanted");
        return Err(Mistake::new("XML", wrong));
    };
    let profile = overrides.apply(read_profile(element)?)?;
    validate(&profile)?;
    Ok(profile)
}

/// The profile alone, as `-Rpxml` prints it.
pub fn profile_xml(profile: &Profile) -> String {
    let mut sheet = Sheet::default();
    write_profile(&mut sheet, profile);
    sheet.text
}

/// Refuses elements that no field reads: a misspelt one would be lost in silence.
fn refuse_unknown(element: &Element, names: &[&str]) -> Result<(), Mistake> {
    let mut children = element.children.iter();
    let Some(child) = children.find(|child| !names.contains(&&*child.name)) else {
        return Ok(());
    };
    let near = blocklab_units::nearest(&child.name, names.iter().copied());
    let hint = near.map_or(String::new(), |near| format!("; did you mean <{near}>?"));
    let wrong = format!("<{}> has no such element{hint}", element.name);
    Err(Mistake::new(format!("<{}>", child.name), wrong))
}

/// Reads the elements that the fields name, and refuses every other one.
fn read_fields<T>(to: &mut T, fields: &[Field<T>], element: &Element) -> Result<(), Mistake> {
    let names: Vec<&str> = fields
        .iter()
        .flat_map(|field| field.names)
        .copied()
        .collect();
    refuse_unknown(element, &names)?;
    fields
        .iter()
        .try_for_each(|field| (field.read)(to, element))
}

fn write_fields<T>(from: &T, fields: &[Field<T>], sheet: &mut Sheet) {
    fields.iter().for_each(|field| (field.write)(from, sheet));
}

/// Reads a profile. An element without effect is kept as a note, an unknown one is a mistake.
fn read_profile(element: &Element) -> Result<Profile, Mistake> {
    let names = IGNORED.map(|(name, _)| name);
    let own = ["ResultFormat", "TimeSpans"];
    refuse_unknown(element, &[&names[..], &own[..]].concat())?;
    let mut timespans = Vec::new();
    for spans in element.all("TimeSpans") {
        refuse_unknown(spans, &["TimeSpan"])?;
        for child in spans.all("TimeSpan") {
            let mut span = TimeSpan::default();
            read_fields(&mut span, TIME_SPAN, child)?;
            check_time_span(&span)?;
            timespans.push(span);
        }
    }
    Ok(Profile {
        timespans,
        format: match element.text_of("ResultFormat") {
            None | Some("text" | "") => Format::Text,
            Some("xml") => Format::Xml,
            Some(other) => {
                let wrong = format!("`{other}` is neither text nor xml");
                return Err(Mistake::new("ResultFormat", wrong));
            }
        },
        progress: element.number("Progress")?.unwrap_or(0),
        verbose: element.flag("Verbose")?.unwrap_or(false),
        profile_only: false,
        ignored: ignored(element),
    })
}

/// The elements without use here that request something, each with the reason.
fn ignored(element: &Element) -> Vec<(&'static str, &'static str)> {
    let mut ignored = IGNORED.to_vec();
    ignored.retain(|(name, _)| {
        let child = element.child(name);
        let texts = child.into_iter().flat_map(|child| {
            let inner = child.children.iter().map(|inner| inner.text.trim());
            std::iter::once(child.text.trim()).chain(inner)
        });
        let mut texts = texts.filter(|text| !text.is_empty());
        texts.any(|text| !matches!(text, "0" | "false"))
    });
    ignored
}

pub(super) fn write_profile(sheet: &mut Sheet, profile: &Profile) {
    let format = match profile.format {
        Format::Text => "text",
        Format::Xml => "xml",
    };
    sheet.nest("Profile", |sheet| {
        sheet.leaf("Progress", profile.progress);
        sheet.leaf("ResultFormat", format);
        sheet.leaf("Verbose", profile.verbose);
        sheet.nest("TimeSpans", |sheet| {
            for span in &profile.timespans {
                sheet.nest("TimeSpan", |sheet| write_fields(span, TIME_SPAN, sheet));
            }
        });
    });
}

/// `-ag`, which old profiles have as an element. DiskSpd reads it and does not write it.
fn read_round_robin(span: &mut TimeSpan, element: &Element) -> Result<(), Mistake> {
    span.round_robin = element.flag("GroupAffinity")?.unwrap_or(false);
    Ok(())
}

fn read_seed(span: &mut TimeSpan, element: &Element) -> Result<(), Mistake> {
    span.seed = Some(element.number("RandSeed")?.unwrap_or(0));
    Ok(())
}

fn read_affinity(span: &mut TimeSpan, element: &Element) -> Result<(), Mistake> {
    let affinity = element.child("Affinity").into_iter();
    for entry in affinity.flat_map(|affinity| &affinity.children) {
        let group = entry.attribute("Group");
        let number = match (&*entry.name, group, entry.attribute("Processor")) {
            ("AffinityAssignment", ..) => entry.text.trim().parse().ok(),
            ("AffinityGroupAssignment", None | Some("0"), Some(processor)) => {
                processor.parse().ok()
            }
            _ => None,
        };
        let wrong = "group 0 and the number of a processor would work";
        let number = number.ok_or_else(|| Mistake::new("Affinity", wrong))?;
        span.affinity.push((0, number));
    }
    Ok(())
}

fn write_affinity(span: &TimeSpan, sheet: &mut Sheet) {
    if span.affinity.is_empty() {
        return;
    }
    sheet.nest("Affinity", |sheet| {
        for (group, cpu) in &span.affinity {
            sheet.line(&format!(
                "<AffinityGroupAssignment Group=\"{group}\" Processor=\"{cpu}\"/>"
            ));
        }
    });
}

fn read_targets(span: &mut TimeSpan, element: &Element) -> Result<(), Mistake> {
    for targets in element.all("Targets") {
        refuse_unknown(targets, &["Target"])?;
        for child in targets.all("Target") {
            let mut target = Target::default();
            read_fields(&mut target, TARGET, child)?;
            check_target(&target)?;
            span.random_write_data |= is_fresh(child);
            span.targets.push(target);
        }
    }
    Ok(())
}

fn write_targets(span: &TimeSpan, sheet: &mut Sheet) {
    sheet.nest("Targets", |sheet| {
        for target in &span.targets {
            sheet.nest("Target", |sheet| write_fields(target, TARGET, sheet));
        }
    });
}

/// Refuses numbers that a command line would refuse, too.
fn check_time_span(span: &TimeSpan) -> Result<(), Mistake> {
    for (name, is_zero) in [
        ("Duration", span.duration == 0),
        ("IoBucketDuration", span.iops_std_dev && span.bucket_ms == 0),
    ] {
        if is_zero {
            return Err(Mistake::new(name, "it must be above 0"));
        }
    }
    check_limits([
        ("ThreadCount", span.thread_count, 0..=4096),
        ("RequestCount", span.request_count, 0..=32768),
    ])
}

/// Refuses numbers that a command line would refuse, too.
fn check_target(target: &Target) -> Result<(), Mistake> {
    check_limits([
        ("WriteRatio", target.write_ratio, 0..=100),
        ("RandomRatio", target.random_ratio, 0..=100),
        ("RequestCount", target.requests, 1..=32768),
        ("ThreadsPerFile", target.threads, 1..=4096),
        ("IOPriority", target.priority, 1..=3),
    ])
}

/// Refuses the value of an element beyond its limits.
fn check_limits<const N: usize>(
    values: [(&str, u32, RangeInclusive<u32>); N],
) -> Result<(), Mistake> {
    for (name, value, limits) in values {
        if !limits.contains(&value) {
            let (least, most) = limits.into_inner();
            let wrong = format!("{value} is not from {least} to {most}");
            return Err(Mistake::new(name, wrong));
        }
    }
    Ok(())
}

fn read_path(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    let path = element
        .text_of("Path")
        .filter(|path| !path.is_empty())
        .ok_or_else(|| Mistake::new("Target", "it has no <Path>"))?;
    path.clone_into(&mut target.path);
    Ok(())
}

fn read_cache(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    let all_off = element.flag("DisableAllCache")? == Some(true);
    let os_off = element.flag("DisableOSCache")? == Some(true);
    let local_off = element.flag("DisableLocalCache")? == Some(true);
    target.write_through = all_off || element.flag("WriteThrough")? == Some(true);
    target.cache = if all_off || os_off {
        Cache::None
    } else if local_off {
        Cache::NotLocal
    } else {
        Cache::Cached
    };
    Ok(())
}

fn write_cache(target: &Target, sheet: &mut Sheet) {
    match target.cache {
        Cache::Cached => {}
        Cache::None => sheet.leaf("DisableOSCache", true),
        Cache::NotLocal => sheet.leaf("DisableLocalCache", true),
    }
    if target.write_through {
        sheet.leaf("WriteThrough", true);
    }
}

/// How mapped memory is flushed, as the schema calls it.
const FLUSHES: [(&str, MapFlush); 3] = [
    ("ViewOfFile", MapFlush::View),
    ("NonVolatileMemory", MapFlush::NonVolatile),
    ("NonVolatileMemoryNoDrain", MapFlush::NonVolatileNoDrain),
];

/// DiskSpd writes `FlushType`. The name of its enumeration is read as well, for profiles that have it instead.
fn read_flush(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    let names = ["FlushType", "MemoryMappedIoFlushMode"];
    let mut given = names.into_iter().filter_map(|name| {
        let text = element.text_of(name).filter(|text| !text.is_empty())?;
        Some((name, text))
    });
    let Some((name, text)) = given.next() else {
        return Ok(());
    };
    let known = FLUSHES.iter().find(|(mode, _)| *mode == text);
    let Some((_, flush)) = known else {
        let [view, memory, no_drain] = FLUSHES.map(|(mode, _)| mode);
        let wrong = format!("`{text}` is none of {view}, {memory} and {no_drain}");
        return Err(Mistake::new(name, wrong));
    };
    target.map_flush = Some(*flush);
    Ok(())
}

fn write_flush(target: &Target, sheet: &mut Sheet) {
    let own = FLUSHES
        .iter()
        .find(|(_, flush)| Some(*flush) == target.map_flush);
    if let Some((name, _)) = own {
        sheet.leaf("FlushType", name);
    }
}

/// Whether it requests bytes that are made anew for each write: random ones without a source.
fn is_fresh(element: &Element) -> bool {
    let content = element.child("WriteBufferContent");
    content.is_some_and(|content| {
        content.text_of("Pattern") == Some("random") && content.child("RandomDataSource").is_none()
    })
}

fn read_content(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    let Some(content) = element.child("WriteBufferContent") else {
        return Ok(());
    };
    let pattern = content.text_of("Pattern").unwrap_or_default();
    target.buffers = match (pattern, content.child("RandomDataSource")) {
        ("zero", _) => Buffers::Zero,
        ("" | "sequential", _) | ("random", None) => Buffers::Pattern,
        ("random", Some(source)) => {
            let size = source.number("SizeInBytes")?.unwrap_or(0);
            let file = source
                .text_of("FilePath")
                .filter(|file| !file.is_empty())
                .map(str::to_owned);
            Buffers::Source { size, file }
        }
        (other, _) => {
            let wrong = format!("`{other}` is none of sequential, zero and random");
            return Err(Mistake::new("Pattern", wrong));
        }
    };
    Ok(())
}

fn write_content(target: &Target, sheet: &mut Sheet) {
    sheet.nest("WriteBufferContent", |sheet| match &target.buffers {
        Buffers::Zero => sheet.leaf("Pattern", "zero"),
        Buffers::Pattern => sheet.leaf("Pattern", "sequential"),
        Buffers::Source { size, file } => {
            sheet.leaf("Pattern", "random");
            sheet.nest("RandomDataSource", |sheet| {
                sheet.leaf("SizeInBytes", size);
                file.iter().for_each(|file| sheet.leaf("FilePath", file));
            });
        }
    });
}

fn read_offsets(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    let random: Option<u64> = element.number("Random")?;
    let ratio = element.number("RandomRatio")?;
    target.random_ratio = ratio.unwrap_or(if random.is_some() { 100 } else { 0 });
    target.align = random.or(element.number("StrideSize")?);
    target.interlocked = element.flag("InterlockedSequential")?.unwrap_or(false);
    Ok(())
}

fn write_offsets(target: &Target, sheet: &mut Sheet) {
    if target.random_ratio == 0 {
        sheet.leaf("StrideSize", target.step());
        sheet.leaf("InterlockedSequential", target.interlocked);
        return;
    }
    sheet.leaf("Random", target.step());
    if target.random_ratio < 100 {
        sheet.leaf("RandomRatio", target.random_ratio);
    }
}

/// The elements of ranges whose widths are per cent of the target.
const PERCENT: &str = "Percent";
/// The elements of ranges whose widths are bytes.
const ABSOLUTE: &str = "Absolute";

fn read_distribution(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    let Some(outer) = element.child("Distribution") else {
        return Ok(());
    };
    let wrong = "ranges such as <Range IO=\"90\">10</Range> would work";
    let read = distribution(outer).ok_or_else(|| Mistake::new("Distribution", wrong))?;
    target.distribution = Some(read);
    Ok(())
}

/// The ranges of `<Distribution>`; `None` where it is not as DiskSpd writes it.
fn distribution(outer: &Element) -> Option<Distribution> {
    let inner = outer.children.first()?;
    let absolute = match &*inner.name {
        PERCENT => false,
        ABSOLUTE => true,
        _ => return None,
    };
    let mut ranges = Vec::new();
    for range in inner.all("Range") {
        ranges.push(IoRange {
            io_percent: range.attribute("IO")?.parse().ok()?,
            width: range.text.trim().parse().ok()?,
        });
    }
    Some(Distribution { absolute, ranges })
}

fn write_distribution(target: &Target, sheet: &mut Sheet) {
    let Some(Distribution { absolute, ranges }) = &target.distribution else {
        return;
    };
    let unit = if *absolute { ABSOLUTE } else { PERCENT };
    sheet.nest("Distribution", |sheet| {
        sheet.nest(unit, |sheet| {
            for IoRange { io_percent, width } in ranges {
                sheet.line(&format!("<Range IO=\"{io_percent}\">{width}</Range>"));
            }
        });
    });
}

fn read_throughput(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    let Some(value) = element.number("Throughput")?.filter(|value| *value > 0) else {
        return Ok(());
    };
    let unit = element
        .child("Throughput")
        .and_then(|child| child.attribute("unit"));
    target.throughput = Some(match unit {
        Some(unit) if unit.eq_ignore_ascii_case("IOPS") => Throughput::Iops(value),
        None => Throughput::BytesPerMs(value),
        Some(unit) if unit.eq_ignore_ascii_case("BPMS") => Throughput::BytesPerMs(value),
        Some(other) => {
            let wrong =
                format!("the unit `{other}` is neither IOPS nor BPMS (bytes a millisecond)");
            return Err(Mistake::new("Throughput", wrong));
        }
    });
    Ok(())
}

fn write_throughput(target: &Target, sheet: &mut Sheet) {
    match target.throughput {
        Some(Throughput::Iops(iops)) => {
            sheet.line(&format!("<Throughput unit=\"IOPS\">{iops}</Throughput>"));
        }
        Some(Throughput::BytesPerMs(bytes)) => sheet.leaf("Throughput", bytes),
        None => sheet.leaf("Throughput", 0),
    }
}

fn read_threads(target: &mut Target, element: &Element) -> Result<(), Mistake> {
    for list in element.all("ThreadTargets") {
        refuse_unknown(list, &["ThreadTarget"])?;
        for child in list.all("ThreadTarget") {
            refuse_unknown(child, &["Thread", "Weight"])?;
            let thread = child.number("Thread")?;
            let weight = child.number("Weight")?.unwrap_or(0);
            target.threads_of_pool.push((
                thread.ok_or_else(|| Mistake::new("ThreadTarget", "it has no <Thread>"))?,
                weight,
            ));
        }
    }
    Ok(())
}

fn write_threads(target: &Target, sheet: &mut Sheet) {
    if target.threads_of_pool.is_empty() {
        return;
    }
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
