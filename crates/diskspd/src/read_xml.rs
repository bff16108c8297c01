//! A profile from XML: elements of the published schema, nothing else.

use super::command::Overrides;
use super::paths::template;
use super::spec::{
    Buffers, Cache, Distribution, Format, MapFlush, Profile, Target, Throughput, TimeSpan,
};
use super::validate::validate;
use blocklab_syntax::Mistake;
use blocklab_syntax::xml_tree::{Element, document};

/// A profile, with what the command line says beside `-X`.
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
        let wrong = format!(
            "the document is a <{}>, and a <Profile> is wanted",
            root.name
        );
        return Err(Mistake::new("XML", wrong));
    };
    let mut profile = profile(element)?;
    apply(&mut profile, overrides)?;
    validate(&profile)?;
    Ok(profile)
}

/// Refuses elements that nobody would read: a misspelt one would be lost in silence.
fn known(element: &Element, names: &[&str]) -> Result<(), Mistake> {
    let unknown = element
        .children
        .iter()
        .find(|child| !names.contains(&&*child.name));
    match unknown {
        None => Ok(()),
        Some(child) => {
            let hint = match blocklab_units::nearest(&child.name, names.iter().copied()) {
                Some(near) => format!("; did you mean <{near}>?"),
                None => String::new(),
            };
            let wrong = format!("<{}> has no such element{hint}", element.name);
            Err(Mistake::new(format!("<{}>", child.name), wrong))
        }
    }
}

fn profile(element: &Element) -> Result<Profile, Mistake> {
    known(
        element,
        &[
            "Progress",
            "ResultFormat",
            "Verbose",
            "VerboseStats",
            "PrecreateFiles",
            "ETW",
            "ExperimentFlags",
            "TimeSpans",
        ],
    )?;
    let format = element.child("ResultFormat").map(|child| child.text.trim());
    let mut timespans = Vec::new();
    for spans in element.all("TimeSpans") {
        known(spans, &["TimeSpan"])?;
        for span in spans.all("TimeSpan") {
            timespans.push(time_span(span)?);
        }
    }
    Ok(Profile {
        timespans,
        format: match format {
            None | Some("text" | "") => Format::Text,
            Some("xml") => Format::Xml,
            Some(other) => {
                let wrong = format!("`{other}` is neither text nor xml");
                return Err(Mistake::new("ResultFormat", wrong));
            }
        },
        progress: element.number("Progress")?.unwrap_or(0),
        verbose: element.flag("Verbose")?,
        profile_only: false,
        unheeded: unheeded(element),
    })
}

/// Elements that the schema knows and nothing here needs.
fn unheeded(element: &Element) -> Vec<(&'static str, &'static str)> {
    let all = [
        ("Progress", "the progress is that of blocklab"),
        ("Verbose", "`blocklab show` says more of every run"),
        ("VerboseStats", "`blocklab show` says more of every run"),
        (
            "PrecreateFiles",
            "all files are made before the first time span",
        ),
        ("ETW", "Linux has no ETW"),
        ("ExperimentFlags", "there are none"),
    ];
    let says = |name: &str| {
        let child = element.child(name);
        let texts = child.into_iter().flat_map(|child| {
            let inner = child.children.iter().map(|inner| inner.text.trim());
            std::iter::once(child.text.trim()).chain(inner)
        });
        let mut texts = texts.filter(|text| !text.is_empty());
        texts.any(|text| !matches!(text, "0" | "false"))
    };
    all.into_iter().filter(|(name, _)| says(name)).collect()
}

fn time_span(element: &Element) -> Result<TimeSpan, Mistake> {
    known(
        element,
        &[
            "CompletionRoutines",
            "MeasureLatency",
            "CalculateIopsStdDev",
            "DisableAffinity",
            "GroupAffinity",
            "Duration",
            "Warmup",
            "Cooldown",
            "ThreadCount",
            "RequestCount",
            "IoBucketDuration",
            "RandSeed",
            "RandomWriteData",
            "Affinity",
            "Targets",
        ],
    )?;
    let plain = TimeSpan::default();
    let mut span = TimeSpan {
        duration: element.number("Duration")?.unwrap_or(plain.duration),
        warmup: element.number("Warmup")?.unwrap_or(plain.warmup),
        cooldown: element.number("Cooldown")?.unwrap_or(plain.cooldown),
        seed: Some(element.number("RandSeed")?.unwrap_or(0)),
        thread_count: element.number("ThreadCount")?.unwrap_or(0),
        request_count: element.number("RequestCount")?.unwrap_or(0),
        affinity: affinity(element)?,
        round_robin: element.flag("GroupAffinity")?,
        disable_affinity: element.flag("DisableAffinity")?,
        completion_routines: element.flag("CompletionRoutines")?,
        measure_latency: element.flag("MeasureLatency")?,
        iops_std_dev: element.flag("CalculateIopsStdDev")?,
        bucket_ms: element
            .number("IoBucketDuration")?
            .unwrap_or(plain.bucket_ms),
        random_write_data: element.flag("RandomWriteData")?,
        targets: Vec::new(),
    };
    if span.duration == 0 {
        return Err(Mistake::new("Duration", "it must be above 0"));
    }
    for targets in element.all("Targets") {
        known(targets, &["Target"])?;
        for inner in targets.all("Target") {
            let (target, fresh) = target(inner)?;
            span.random_write_data |= fresh;
            span.targets.push(target);
        }
    }
    Ok(span)
}

fn affinity(element: &Element) -> Result<Vec<(u16, u32)>, Mistake> {
    let wrong = || Mistake::new("Affinity", "group 0 and a processor's number are wanted");
    let mut list = Vec::new();
    for entry in element
        .child("Affinity")
        .into_iter()
        .flat_map(|affinity| &affinity.children)
    {
        let number = match &*entry.name {
            "AffinityAssignment" => entry.text.trim(),
            "AffinityGroupAssignment" => {
                match (entry.attribute("Group"), entry.attribute("Processor")) {
                    (None | Some("0"), Some(processor)) => processor,
                    _ => return Err(wrong()),
                }
            }
            _ => return Err(wrong()),
        };
        list.push((0, number.parse().map_err(|_| wrong())?));
    }
    Ok(list)
}

/// The elements of a target.
const TARGET: [&str; 33] = [
    "Path",
    "BlockSize",
    "BaseFileOffset",
    "SequentialScan",
    "RandomAccess",
    "TemporaryFile",
    "UseLargePages",
    "DisableAllCache",
    "DisableOSCache",
    "DisableLocalCache",
    "WriteThrough",
    "MemoryMappedIo",
    "FlushType",
    "MemoryMappedIoFlushMode",
    "WriteBufferContent",
    "ParallelAsyncIO",
    "BurstSize",
    "ThinkTime",
    "FileSize",
    "StrideSize",
    "Random",
    "RandomRatio",
    "Distribution",
    "InterlockedSequential",
    "ThreadStride",
    "MaxFileSize",
    "RequestCount",
    "WriteRatio",
    "Throughput",
    "ThreadsPerFile",
    "IOPriority",
    "Weight",
    "ThreadTargets",
];

/// A target, and whether it asks for fresh random bytes.
fn target(element: &Element) -> Result<(Target, bool), Mistake> {
    known(element, &TARGET)?;
    let path = element
        .child("Path")
        .map(|child| child.text.trim().to_owned());
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(Mistake::new("Target", "it has no <Path>"));
    };
    let plain = Target::default();
    let random: Option<u64> = element.number("Random")?;
    let ratio: Option<u32> = element.number("RandomRatio")?;
    let (buffers, fresh) = buffers(element)?;
    let all_off = element.flag("DisableAllCache")?;
    let target = Target {
        path,
        block: element.number("BlockSize")?.unwrap_or(plain.block),
        base: element.number("BaseFileOffset")?.unwrap_or(0),
        max_file_size: element.number("MaxFileSize")?.unwrap_or(0),
        file_size: element.number("FileSize")?.unwrap_or(0),
        cache: cache(element, all_off)?,
        write_through: all_off || element.flag("WriteThrough")?,
        mapped: element.flag("MemoryMappedIo")?,
        map_flush: map_flush(element)?,
        random_ratio: ratio.unwrap_or(if random.is_some() { 100 } else { 0 }),
        align: random.or(element.number("StrideSize")?),
        interlocked: element.flag("InterlockedSequential")?,
        thread_stride: element.number("ThreadStride")?.unwrap_or(0),
        parallel: element.flag("ParallelAsyncIO")?,
        requests: element.number("RequestCount")?.unwrap_or(plain.requests),
        threads: element.number("ThreadsPerFile")?.unwrap_or(plain.threads),
        write_ratio: element.number("WriteRatio")?.unwrap_or(0),
        throughput: throughput(element)?,
        burst: element.number("BurstSize")?.unwrap_or(0),
        think_ms: element.number("ThinkTime")?.unwrap_or(0),
        buffers,
        hints: [
            element.flag("SequentialScan")?,
            element.flag("RandomAccess")?,
            element.flag("TemporaryFile")?,
        ],
        large_pages: element.flag("UseLargePages")?,
        priority: element.number("IOPriority")?.unwrap_or(plain.priority),
        weight: element.number("Weight")?.unwrap_or(plain.weight),
        threads_of_pool: threads_of_pool(element)?,
        distribution: distribution(element)?,
    };
    limits(&target)?;
    Ok((target, fresh))
}

fn cache(element: &Element, all_off: bool) -> Result<Cache, Mistake> {
    let none = all_off || element.flag("DisableOSCache")?;
    Ok(match (none, element.flag("DisableLocalCache")?) {
        (true, _) => Cache::None,
        (false, true) => Cache::NotLocal,
        (false, false) => Cache::Cached,
    })
}

/// What a command line could not say either.
fn limits(target: &Target) -> Result<(), Mistake> {
    for (name, value, least, most) in [
        ("WriteRatio", target.write_ratio, 0, 100),
        ("RandomRatio", target.random_ratio, 0, 100),
        ("RequestCount", target.requests, 1, 32768),
        ("ThreadsPerFile", target.threads, 1, 4096),
        ("IOPriority", target.priority, 1, 3),
    ] {
        if !(least..=most).contains(&value) {
            return Err(Mistake::new(
                name,
                format!("{value} is not from {least} to {most}"),
            ));
        }
    }
    Ok(())
}

fn map_flush(element: &Element) -> Result<Option<MapFlush>, Mistake> {
    let child = element.child("FlushType");
    let child = child.or_else(|| element.child("MemoryMappedIoFlushMode"));
    let text = child.map(|child| child.text.trim());
    Ok(match text {
        None | Some("") => None,
        Some("ViewOfFile") => Some(MapFlush::View),
        Some("NonVolatileMemory") => Some(MapFlush::NonVolatile),
        Some("NonVolatileMemoryNoDrain") => Some(MapFlush::NonVolatileNoDrain),
        Some(other) => {
            let wrong = format!(
                "`{other}` is none of ViewOfFile, NonVolatileMemory and NonVolatileMemoryNoDrain"
            );
            return Err(Mistake::new("FlushType", wrong));
        }
    })
}

fn threads_of_pool(element: &Element) -> Result<Vec<(u32, u32)>, Mistake> {
    let mut threads = Vec::new();
    for list in element.all("ThreadTargets") {
        known(list, &["ThreadTarget"])?;
        for one in list.all("ThreadTarget") {
            known(one, &["Thread", "Weight"])?;
            let thread = one.number("Thread")?;
            let thread =
                thread.ok_or_else(|| Mistake::new("ThreadTarget", "it has no <Thread>"))?;
            threads.push((thread, one.number("Weight")?.unwrap_or(0)));
        }
    }
    Ok(threads)
}

fn throughput(element: &Element) -> Result<Option<Throughput>, Mistake> {
    let value: u32 = element.number("Throughput")?.unwrap_or(0);
    let unit = element
        .child("Throughput")
        .and_then(|child| child.attribute("unit"));
    Ok(match (value, unit) {
        (0, _) => None,
        (value, Some(unit)) if unit.eq_ignore_ascii_case("iops") => Some(Throughput::Iops(value)),
        (value, _) => Some(Throughput::BytesPerMs(value)),
    })
}

/// What writes carry, and whether it is made anew for each.
fn buffers(element: &Element) -> Result<(Buffers, bool), Mistake> {
    let Some(content) = element.child("WriteBufferContent") else {
        return Ok((Buffers::Pattern, false));
    };
    let pattern = content
        .child("Pattern")
        .map_or("", |child| child.text.trim());
    let source = content.child("RandomDataSource");
    Ok(match (pattern, source) {
        ("zero", _) => (Buffers::Zero, false),
        ("" | "sequential", _) => (Buffers::Pattern, false),
        ("random", None) => (Buffers::Pattern, true),
        ("random", Some(source)) => {
            let size = source.number("SizeInBytes")?.unwrap_or(0);
            let file = source
                .child("FilePath")
                .map(|child| child.text.trim().to_owned());
            let file = file.filter(|file| !file.is_empty());
            (Buffers::Source { size, file }, false)
        }
        (other, _) => {
            let wrong = format!("`{other}` is none of sequential, zero and random");
            return Err(Mistake::new("Pattern", wrong));
        }
    })
}

fn distribution(element: &Element) -> Result<Option<Distribution>, Mistake> {
    let Some(outer) = element.child("Distribution") else {
        return Ok(None);
    };
    let wrong = || {
        Mistake::new(
            "Distribution",
            "ranges such as <Range IO=\"90\">10</Range> are wanted",
        )
    };
    let inner = outer.children.first().ok_or_else(wrong)?;
    let mut list = Vec::new();
    for range in inner.all("Range") {
        let io = range
            .attribute("IO")
            .and_then(|io| io.parse().ok())
            .ok_or_else(wrong)?;
        let width = range.text.trim().parse().map_err(|_| wrong())?;
        list.push((io, width));
    }
    match &*inner.name {
        "Percent" => Ok(Some(Distribution::Percent(list))),
        "Absolute" => Ok(Some(Distribution::Absolute(list))),
        _ => Err(wrong()),
    }
}

fn apply(profile: &mut Profile, overrides: &Overrides) -> Result<(), Mistake> {
    let mut used = vec![false; overrides.targets.len()];
    for span in &mut profile.timespans {
        span.duration = overrides.duration.unwrap_or(span.duration);
        span.warmup = overrides.warmup.unwrap_or(span.warmup);
        span.cooldown = overrides.cooldown.unwrap_or(span.cooldown);
        span.seed = overrides.seed.unwrap_or(span.seed);
        for target in &mut span.targets {
            fill_template(target, overrides, &mut used)?;
        }
    }
    profile.format = overrides.format.unwrap_or(profile.format);
    profile.verbose |= overrides.verbose;
    profile.profile_only |= overrides.profile_only;
    match used.iter().position(|used| !used) {
        None => Ok(()),
        Some(index) => {
            let wrong = format!(
                "no <Path> of the profile is *{}, so nothing would use it",
                index + 1
            );
            Err(Mistake::new(overrides.targets[index].clone(), wrong))
        }
    }
}

/// `*1` stands for the first target of the command line.
fn fill_template(
    target: &mut Target,
    overrides: &Overrides,
    used: &mut [bool],
) -> Result<(), Mistake> {
    let Some(number) = template(&target.path)? else {
        return Ok(());
    };
    match overrides.targets.get(number - 1) {
        Some(path) => {
            target.path.clone_from(path);
            used[number - 1] = true;
        }
        None if overrides.profile_only && overrides.targets.is_empty() => {}
        None => {
            let wrong = "the template is not filled: a target for it must stand behind the options";
            return Err(Mistake::new(target.path.clone(), wrong));
        }
    }
    Ok(())
}
