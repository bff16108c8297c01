//! DiskSpd's XML result.

use blocklab_record::{Interval, IntervalDirection, Statistic, Unknown};

use super::diskspd_text::{Outcome, Row, Table, Target};
use super::figures::Figures;
use super::not_a_result;
use super::record::{Case, Found};
use super::scan::{moment, number, whole};
use blocklab_diskspd::{Overrides, TimeSpan, read_xml};
use blocklab_syntax::Mistake;
use blocklab_syntax::xml_tree::{Element, document};

/// Where the document begins: what was printed before it, such as warnings, is none of it.
pub(super) fn begins(text: &str) -> Option<usize> {
    if text.trim_start().starts_with('<') {
        Some(0)
    } else {
        text.find("<Results>")
    }
}

const END: &str = "</Results>";

/// One document, or several that runs have appended to one file.
pub(super) fn read(text: &str) -> Result<Found, Mistake> {
    let mut found = Found {
        tool: "DiskSpd".to_owned(),
        ..Found::default()
    };
    let mut rest = text;
    loop {
        let end = rest.find(END).map_or(rest.len(), |at| at + END.len());
        let (one, more) = rest.split_at(end);
        read_results(one, &mut found)?;
        match begins(more) {
            Some(start) => rest = &more[start..],
            None => return Ok(found),
        }
    }
}

/// Adds the time spans of a document with results to `found`.
fn read_results(text: &str, found: &mut Found) -> Result<(), Mistake> {
    let root = document(text).map_err(|mistake| not_a_result(mistake.to_string()))?;
    if root.name != "Results" {
        return Err(not_a_result(format!(
            "the document is a <{}>, not DiskSpd's <Results>",
            root.name
        )));
    }
    if let Some(system) = root.child("System") {
        let tool = system.child("Tool").and_then(|tool| tool.child("Version"));
        if let Some(version) = tool {
            found.tool = format!("DiskSpd {}", version.text.trim());
        }
        if found.started_at.is_empty() {
            found.started_at = system.text_of("RunTime").map(moment).unwrap_or_default();
        }
    }
    let requested = profile(text, &root, found);
    for (index, span) in root.all("TimeSpan").enumerate() {
        let number = found.cases.len();
        let case = case(span, requested.get(index), number, found)?;
        found.cases.push(case);
    }
    Ok(())
}

/// The request, as the result holds it.
fn profile(text: &str, root: &Element, found: &mut Found) -> Vec<TimeSpan> {
    // The result of a `-R` run with templates still names them in place of files, which is an error
    // except in a profile that is only read.
    let as_it_is = Overrides {
        profile_only: true,
        ..Overrides::default()
    };
    let read = root.child("Profile").map(|_| read_xml(text, &as_it_is));
    match read {
        Some(Ok(profile)) => profile.timespans,
        Some(Err(mistake)) => {
            found.note(&format!(
                "its profile is not understood ({mistake}), so the request is unknown"
            ));
            Vec::new()
        }
        None => Vec::new(),
    }
}

fn figure(element: &Element, name: &str) -> Option<f64> {
    element.text_of(name).and_then(number)
}

/// The case of a time span, with a job for each path. `requested`: the settings of the span, if the
/// document has them.
fn case(
    span: &Element,
    requested: Option<&TimeSpan>,
    index: usize,
    found: &mut Found,
) -> Result<Case, Mistake> {
    found.processors = figure(span, "ProcCount").unwrap_or(0.0) as u32;
    let mut outcome = Outcome {
        seconds: figure(span, "TestTimeSeconds").unwrap_or(0.0),
        ..Outcome::default()
    };
    for target in span.all("Thread").flat_map(|thread| thread.all("Target")) {
        for (direction, rows) in ["Read", "Write"].into_iter().zip(&mut outcome.rows) {
            rows.push(row(target, direction)?);
        }
    }
    if let Some(latency) = span.child("Latency") {
        let names = ["ReadMilliseconds", "WriteMilliseconds"];
        outcome.tables.push(Table {
            path: None,
            shapes: names.map(|name| percentiles(latency, name).collect()),
        });
    }
    let requested = requested.map(Target::requested).unwrap_or_default();
    let jobs = outcome.jobs(&requested, found);
    let busy = span
        .child("CpuUtilization")
        .and_then(|busy| busy.child("Average"));
    // With different blocks of the targets, the bytes of an interval are unknown.
    let first = jobs.first().map(|job| job.block);
    let block = first.filter(|block| *block > 0 && jobs.iter().all(|job| job.block == *block));
    let iops = span.child("Iops").map(|iops| series(iops, block));
    Ok(Case {
        name: format!("timespan-{}", index + 1),
        jobs,
        series: iops.unwrap_or_default(),
        busy_percent: busy.and_then(|busy| figure(busy, "UsagePercent")),
        ..Case::default()
    })
}

/// What a thread did on a target in one direction, `Read` or `Write`.
fn row(target: &Element, direction: &str) -> Result<Row, Mistake> {
    let mean_ms = figure(target, &format!("Average{direction}LatencyMilliseconds"));
    let stddev_ms = figure(target, &format!("{direction}LatencyStdev"));
    Ok(Row {
        path: target.text_of("Path").unwrap_or_default().to_owned(),
        file_size: figure(target, "FileSize").unwrap_or(0.0) as u64,
        figures: Figures {
            ios: count(target, &format!("{direction}Count"))?,
            bytes: count(target, &format!("{direction}Bytes"))?,
            mean: mean_ms.map(|ms| ms * 1e6),
            stddev: stddev_ms.map(|ms| ms * 1e6),
            ..Figures::default()
        },
        ..Row::default()
    })
}

fn count(row: &Element, name: &str) -> Result<u64, Mistake> {
    let Some(text) = row.text_of(name) else {
        let cut_off = format!("a target of a thread without <{name}>: it is cut off");
        return Err(not_a_result(cut_off));
    };
    whole(text).ok_or_else(|| not_a_result(format!("<{name}>: `{text}` is no number")))
}

/// The percentiles in the elements of this name, as shares and nanoseconds.
fn percentiles(latency: &Element, name: &str) -> impl Iterator<Item = (f64, f64)> {
    latency.all("Bucket").filter_map(move |bucket| {
        let (percent, ms) = (figure(bucket, "Percentile")?, figure(bucket, name)?);
        Some((percent / 100.0, ms * 1e6))
    })
}

/// What the intervals of `-D` do not hold.
fn unknown(block: Option<u64>) -> Unknown {
    use Statistic::{Bytes, Max, Mean, P50, P99};
    let bytes = block.is_none().then_some(Bytes);
    [Mean, P50, P99, Max].into_iter().chain(bytes).collect()
}

/// Operations a second by slice, as `-D` gathers them.
fn series(iops: &Element, block: Option<u64>) -> Vec<Interval> {
    let mut slices = Vec::new();
    let mut before = 0;
    for bucket in iops.all("Bucket") {
        let [end, reads, writes] = ["SampleMillisecond", "Read", "Write"]
            .map(|name| bucket.attribute(name).and_then(number));
        let Some(end) = end.filter(|ms| *ms > before as f64 && *ms < 1e12) else {
            continue;
        };
        let end = end as u64;
        let seconds = (end - before) as f64 / 1e3;
        let [read, write] = [reads, writes].map(|rate| {
            let ios = (rate.unwrap_or(0.0).max(0.0) * seconds).round() as u64;
            IntervalDirection {
                ios,
                bytes: ios.saturating_mul(block.unwrap_or(0)),
                unknown: unknown(block),
                ..IntervalDirection::default()
            }
        });
        slices.push(Interval {
            end_ns: end * 1_000_000,
            length_ns: (end - before) * 1_000_000,
            read,
            write,
            ..Interval::default()
        });
        before = end;
    }
    slices
}
