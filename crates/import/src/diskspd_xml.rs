//! DiskSpd's XML result.

use blocklab_record::{Interval, IntervalDirection, Statistic, Unknown};

use super::Wrong;
use super::diskspd_text::sum;
use super::figures::{Figures, Shape};
use super::record::{Case, Found, Job, random_percent};
use super::scan::{moment, number, whole};
use blocklab_syntax::xml_tree::{Element, document};

/// Where the document begins: what was printed before it, such as warnings, is none of it.
pub(super) fn begins(text: &str) -> Option<usize> {
    match text.trim_start().starts_with('<') {
        true => Some(0),
        false => text.find("<Results>"),
    }
}

const END: &str = "</Results>";

/// One document, or several that runs have appended to one file.
pub(super) fn read(text: &str) -> Result<Found, Wrong> {
    let mut found = Found {
        tool: "DiskSpd".to_owned(),
        ..Found::default()
    };
    let mut rest = text;
    loop {
        let end = rest.find(END).map_or(rest.len(), |at| at + END.len());
        let (one, more) = rest.split_at(end);
        results(one, &mut found)?;
        match begins(more) {
            Some(start) if !more.trim().is_empty() => rest = &more[start..],
            _ => return Ok(found),
        }
    }
}

fn results(text: &str, found: &mut Found) -> Result<(), Wrong> {
    let root = document(text).map_err(|mistake| Wrong::whole(mistake.to_string()))?;
    if root.name != "Results" {
        return Err(Wrong::whole(format!(
            "the document is a <{}>, and DiskSpd's <Results> are wanted",
            root.name
        )));
    }
    if let Some(system) = root.child("System") {
        let tool = system.child("Tool").and_then(|tool| tool.child("Version"));
        if let Some(version) = tool {
            found.tool = format!("DiskSpd {}", version.text.trim());
        }
        if found.started_at.is_empty() {
            found.started_at = text_of(system, "RunTime").map(moment).unwrap_or_default();
        }
    }
    let asked = root.child("Profile").and_then(|it| it.child("TimeSpans"));
    let asked: Vec<&Element> = asked.map_or_else(Vec::new, |it| it.all("TimeSpan").collect());
    for (index, span) in root.all("TimeSpan").enumerate() {
        let number = found.cases.len();
        let case = case(span, asked.get(index).copied(), number, found)?;
        found.cases.push(case);
    }
    Ok(())
}

fn text_of<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    element.child(name).map(|child| child.text.trim())
}

fn figure(element: &Element, name: &str) -> Option<f64> {
    text_of(element, name).and_then(number)
}

fn flag(element: &Element, name: &str) -> bool {
    matches!(text_of(element, name), Some("true" | "1"))
}

fn case(
    span: &Element,
    asked: Option<&Element>,
    index: usize,
    found: &mut Found,
) -> Result<Case, Wrong> {
    let seconds = figure(span, "TestTimeSeconds").unwrap_or(0.0);
    found.processors = figure(span, "ProcCount").unwrap_or(0.0) as u32;
    let rows: Vec<(&str, &Element)> = span
        .all("Thread")
        .flat_map(|thread| thread.all("Target"))
        .map(|target| (text_of(target, "Path").unwrap_or_default(), target))
        .collect();
    let mut paths: Vec<&str> = Vec::new();
    for (path, _) in &rows {
        if !paths.contains(path) {
            paths.push(path);
        }
    }
    let mut jobs = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let own = || {
            rows.iter()
                .filter(|(it, _)| it == path)
                .map(|(_, row)| *row)
        };
        let mut job = settings(asked, path);
        job.name = format!("target{number}");
        job.seconds = seconds;
        job.read = sum(ways(own(), "Read")?.iter());
        job.write = sum(ways(own(), "Write")?.iter());
        if let (Some(latency), 1) = (span.child("Latency"), paths.len()) {
            shape(&mut job.read, latency, "ReadMilliseconds");
            shape(&mut job.write, latency, "WriteMilliseconds");
        }
        let bytes = own().next().and_then(|row| figure(row, "FileSize"));
        if !found.targets.iter().any(|(known, _)| known == path) {
            let bytes = bytes.unwrap_or(0.0) as u64;
            found.targets.push(((*path).to_owned(), bytes));
        }
        jobs.push(job);
    }
    if span.child("Latency").is_some() && paths.len() > 1 {
        found.note("percentiles are told for all targets together: none are known of one");
    }
    if jobs
        .iter()
        .any(|job| job.read.mean.or(job.write.mean).is_none())
    {
        found.note("run without -L: no latency is known");
    }
    let busy = span
        .child("CpuUtilization")
        .and_then(|it| it.child("Average"));
    // Of targets with different blocks, nobody knows the bytes of an interval.
    let blocks = jobs.first().map(|job| job.block);
    let block = blocks.filter(|block| *block > 0 && jobs.iter().all(|job| job.block == *block));
    Ok(Case {
        name: format!("timespan-{}", index + 1),
        jobs,
        series: span
            .child("Iops")
            .map(|iops| series(iops, block))
            .unwrap_or_default(),
        busy_percent: busy.and_then(|it| figure(it, "UsagePercent")),
        ..Case::default()
    })
}

/// What every thread did on a target in one direction.
fn ways<'a>(rows: impl Iterator<Item = &'a Element>, way: &str) -> Result<Vec<Figures>, Wrong> {
    let figures = rows.map(|row| {
        let count = |what: &str| {
            let name = format!("{way}{what}");
            let text = text_of(row, &name).ok_or_else(|| {
                Wrong::whole(format!(
                    "a target of a thread without <{name}>: it is cut off"
                ))
            })?;
            whole(text).ok_or_else(|| Wrong::whole(format!("<{name}>: `{text}` is no number")))
        };
        let ms = |name: String| figure(row, &name).map(|ms| ms * 1e6);
        Ok(Figures {
            ios: count("Count")?,
            bytes: count("Bytes")?,
            mean: ms(format!("Average{way}LatencyMilliseconds")),
            stddev: ms(format!("{way}LatencyStdev")),
            ..Figures::default()
        })
    });
    figures.collect()
}

fn shape(figures: &mut Figures, latency: &Element, name: &str) {
    let mut list = Vec::new();
    for bucket in latency.all("Bucket") {
        let percent = figure(bucket, "Percentile");
        let (Some(percent), Some(ms)) = (percent, figure(bucket, name)) else {
            continue;
        };
        match percent {
            ..=0.0 => figures.min = Some(ms * 1e6),
            100.0.. => figures.max = Some(ms * 1e6),
            _ => list.push((percent / 100.0, ms * 1e6)),
        }
    }
    if !list.is_empty() {
        figures.shape = Shape::Percentiles(list);
    }
}

fn settings(asked: Option<&Element>, path: &str) -> Job {
    let mut job = Job {
        engine: "diskspd".to_owned(),
        depth: 0,
        ..Job::default()
    };
    let targets = asked.and_then(|span| span.child("Targets"));
    let own = targets.and_then(|it| {
        let named = it.all("Target").find(|t| text_of(t, "Path") == Some(path));
        named.or_else(|| it.child("Target"))
    });
    let Some(target) = own else {
        return job;
    };
    job.block = figure(target, "BlockSize").unwrap_or(0.0) as u64;
    job.depth = figure(target, "RequestCount").unwrap_or(1.0) as u32;
    job.threads = figure(target, "ThreadsPerFile").unwrap_or(1.0) as u32;
    let writes = figure(target, "WriteRatio").unwrap_or(0.0);
    job.read_percent = Some((100.0 - writes.clamp(0.0, 100.0)) as u8);
    job.direct = Some(flag(target, "DisableOSCache") || flag(target, "DisableAllCache"));
    job.write_through = flag(target, "WriteThrough") || flag(target, "DisableAllCache");
    job.think = figure(target, "ThinkTime").unwrap_or(0.0) > 0.0;
    let ratio = figure(target, "RandomRatio").unwrap_or(100.0);
    let ratio = target.child("Random").map_or(0.0, |_| ratio);
    job.pattern = Some(random_percent(ratio));
    let limit = target.child("Throughput");
    let rate = limit.and_then(|it| number(&it.text)).filter(|it| *it > 0.0);
    let all = rate.map(|rate| rate * f64::from(job.threads));
    match limit.and_then(|it| it.attribute("unit")) {
        Some("IOPS") => job.asked_iops = all,
        _ => job.asked_bytes_per_s = all.map(|it| it * 1000.0),
    }
    job
}

/// What the intervals of `-D` do not tell.
fn unknown(block: Option<u64>) -> Unknown {
    let latencies = [
        Statistic::Mean,
        Statistic::P50,
        Statistic::P99,
        Statistic::Max,
    ];
    let bytes = block.is_none().then_some(Statistic::Bytes);
    latencies.into_iter().chain(bytes).collect()
}

/// Operations a second by slice, as `-D` gathers them.
fn series(iops: &Element, block: Option<u64>) -> Vec<Interval> {
    let mut slices = Vec::new();
    let mut before = 0;
    for bucket in iops.all("Bucket") {
        let of = |name: &str| bucket.attribute(name).and_then(number);
        let Some(end) = of("SampleMillisecond").filter(|ms| *ms > before as f64 && *ms < 1e12)
        else {
            continue;
        };
        let end = end as u64;
        let seconds = (end - before) as f64 / 1e3;
        let direction = |name: &str| {
            let ios = (of(name).unwrap_or(0.0).max(0.0) * seconds).round() as u64;
            IntervalDirection {
                ios,
                bytes: ios.saturating_mul(block.unwrap_or(0)),
                unknown: unknown(block),
                ..IntervalDirection::default()
            }
        };
        slices.push(Interval {
            end_ns: end * 1_000_000,
            length_ns: (end - before) * 1_000_000,
            read: direction("Read"),
            write: direction("Write"),
            ..Interval::default()
        });
        before = end;
    }
    slices
}
