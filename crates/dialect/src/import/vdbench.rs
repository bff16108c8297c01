//! Vdbench's output directory: `flatfile.html` tells every run, `histogram.html` its latencies.

use std::rc::Rc;

use blocklab_record::{Interval, IntervalDirection};

use super::figures::{Figures, Shape};
use super::record::{Case, Found, Job, nanos};
use super::scan::{moment, number};
use super::{Source, Wrong};

pub(super) fn read(sources: &[Source]) -> Result<Found, Wrong> {
    let text = |name: &str| {
        let found = sources.iter().find(|it| it.name.ends_with(name));
        found.map(|it| it.text.as_str())
    };
    let flat = text("flatfile.html").or_else(|| sources.first().map(|it| &*it.text));
    let mut found = Found {
        tool: "Vdbench".to_owned(),
        ..Found::default()
    };
    rows(flat.unwrap_or_default(), &mut found)?;
    if let Some(text) = text("histogram.html") {
        for (run, read, write) in histograms(text) {
            let Some(case) = found.cases.iter_mut().find(|case| case.name == run) else {
                continue;
            };
            for job in &mut case.jobs {
                job.read.shape = Shape::Counts(read.clone());
                job.write.shape = Shape::Counts(write.clone());
            }
        }
    }
    if !found
        .cases
        .iter()
        .flat_map(|case| &case.jobs)
        .any(|job| job.read.shape.is_known() || job.write.shape.is_known())
    {
        found
            .notes
            .push("without its histogram.html no percentiles are known".to_owned());
    }
    found.notes.push(
        "response times are of the operation alone: waiting in Vdbench's own queue is not in them"
            .to_owned(),
    );
    Ok(found)
}

/// A row of the flat file, by the names of its header.
struct Row<'a> {
    columns: Rc<[&'a str]>,
    cells: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, name: &str) -> &str {
        let place = self
            .columns
            .iter()
            .position(|it| it.eq_ignore_ascii_case(name));
        place
            .and_then(|at| self.cells.get(at))
            .copied()
            .unwrap_or_default()
    }

    fn value(&self, name: &str) -> Option<f64> {
        number(self.text(name)).filter(|it| *it >= 0.0)
    }
}

fn rows(text: &str, found: &mut Found) -> Result<(), Wrong> {
    let mut columns: Rc<[&str]> = Rc::new([]);
    let mut pending: Vec<Row<'_>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('*') || line.starts_with('<') || line.is_empty() {
            continue;
        }
        let cells: Vec<&str> = line.split_whitespace().collect();
        if cells[0] == "tod" {
            columns = cells.into();
            continue;
        }
        if columns.is_empty() {
            continue;
        }
        if cells.len() < columns.len() {
            let message = format!(
                "{} fields under {} columns: cut off",
                cells.len(),
                columns.len()
            );
            return Err(Wrong::at(index + 1, message));
        }
        let row = Row {
            columns: Rc::clone(&columns),
            cells,
        };
        if !row.text("Interval").starts_with("avg") {
            pending.push(row);
            continue;
        }
        let intervals = std::mem::take(&mut pending);
        let case = case(&row, &intervals);
        let case =
            case.ok_or_else(|| Wrong::at(index + 1, "an average without rate, resp or bytes/io"))?;
        if found.started_at.is_empty() {
            found.started_at = us_date(row.text("timestamp"));
        }
        let version = row.text("version");
        if !version.is_empty() {
            found.tool = format!("Vdbench {version}");
        }
        found.cases.push(case);
    }
    if columns.is_empty() {
        return Err(Wrong::whole(
            "no line of column names that begins with `tod`: not a flatfile.html",
        ));
    }
    if found.cases.is_empty() {
        return Err(Wrong::whole("no `avg_` row in it: no run came to its end"));
    }
    Ok(())
}

/// `11/20/2026-16:09:12-UTC` as RFC 3339.
fn us_date(text: &str) -> String {
    let mut parts = text.splitn(3, ['/']);
    let (month, day, rest) = (parts.next(), parts.next(), parts.next());
    match (month, day, rest) {
        (Some(month), Some(day), Some(rest)) => {
            let (year, time) = rest.split_once('-').unwrap_or((rest, ""));
            moment(&format!("{year}/{month}/{day} {time}"))
        }
        _ => String::new(),
    }
}

/// `16:09:10.032` in seconds.
fn time_of_day(text: &str) -> Option<f64> {
    let parts: Option<Vec<f64>> = text.split(':').map(number).collect();
    match parts?[..] {
        [hours, minutes, seconds] => Some(hours * 3600.0 + minutes * 60.0 + seconds),
        _ => None,
    }
}

/// Seconds of an interval. The flat file tells none: rows come at its end, a little late now and
/// then, so the median of their distances is it.
fn length(rows: &[Row<'_>]) -> f64 {
    let times: Vec<f64> = rows
        .iter()
        .filter_map(|row| time_of_day(row.text("tod")))
        .collect();
    let mut gaps: Vec<f64> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).rem_euclid(86_400.0).round())
        .collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied().unwrap_or(1.0).max(1.0)
}

fn series(rows: &[Row<'_>], seconds: f64) -> Vec<Interval> {
    rows.iter().filter_map(|row| slice(row, seconds)).collect()
}

fn slice(row: &Row<'_>, seconds: f64) -> Option<Interval> {
    let number = row.text("Interval").parse::<u64>().ok();
    let number = number.filter(|it| *it < 1 << 32)?;
    let rate = row.value("rate")?;
    let reads = row.value("read%").unwrap_or(100.0).min(100.0) / 100.0;
    let length = nanos(seconds);
    let bytes = row.value("bytes/io").unwrap_or(0.0);
    let direction = |share: f64, name: &str| IntervalDirection {
        ios: (rate * share * seconds).round() as u64,
        bytes: (rate * share * seconds * bytes).round() as u64,
        mean_ns: (row.value(name).unwrap_or(0.0) * 1e6) as u64,
        ..IntervalDirection::default()
    };
    Some(Interval {
        end_ns: number.saturating_mul(length),
        length_ns: length,
        // The first interval is warm-up and in no average.
        ramp: number == 1,
        read: direction(reads, "read_resp"),
        write: direction(1.0 - reads, "write_resp"),
        ..Interval::default()
    })
}

/// `avg_2-4`: three intervals.
fn counted(interval: &str) -> f64 {
    let range = interval.trim_start_matches("avg_").split_once('-');
    let ends = range.and_then(|(first, last)| Some((number(first)?, number(last)?)));
    ends.map_or(1.0, |(first, last)| (last - first + 1.0).clamp(1.0, 1e8))
}

fn case(row: &Row<'_>, intervals: &[Row<'_>]) -> Option<Case> {
    let name = row.text("Run").to_owned();
    let each = length(intervals);
    let seconds = counted(row.text("Interval")) * each;
    let (rate, bytes) = (row.value("rate")?, row.value("bytes/io")?);
    let resp = row.value("resp")?;
    let reads = row.value("read%").unwrap_or(100.0).min(100.0) / 100.0;
    let side = |share: f64, way: &str| {
        let ms = |what: &str| row.value(&format!("{way}_{what}"));
        Figures {
            ios: (rate * share * seconds).round() as u64,
            bytes: (rate * share * seconds * bytes).round() as u64,
            mean: Some(ms("resp").filter(|it| *it > 0.0).unwrap_or(resp) * 1e6),
            stddev: ms("std").or(row.value("resp_std")).map(|it| it * 1e6),
            max: ms("max").or(row.value("resp_max")).map(|it| it * 1e6),
            ..Figures::default()
        }
    };
    // Beyond what any run asks for: its words for "as fast as it goes".
    let asked = row
        .value("reqrate")
        .filter(|it| *it > 0.0 && *it < 999_900.0);
    let random = row.value("seekpct").unwrap_or(100.0);
    let told = row.value("rdpct");
    Some(Case {
        jobs: vec![Job {
            name: name.clone(),
            engine: "vdbench".to_owned(),
            pattern: match random {
                100.0.. => "random".to_owned(),
                ..=0.0 => "sequential".to_owned(),
                percent => format!("{percent} % random"),
            },
            block: row.value("xfersize").unwrap_or(0.0) as u64,
            read_percent: told.map(|it| it.min(100.0) as u8),
            threads: row.value("threads").unwrap_or(1.0) as u32,
            asked_iops: asked,
            seconds,
            read: side(reads, "read"),
            write: side(1.0 - reads, "write"),
            ..Job::default()
        }],
        name,
        series: series(intervals, each),
        busy_percent: row.value("cpu_used"),
    })
}

/// Times and counts: the upper edge of a bucket stands for it.
type Counts = Vec<(f64, u64)>;

/// Runs with their reads and writes.
fn histograms(text: &str) -> Vec<(String, Counts, Counts)> {
    let mut found: Vec<(String, Counts, Counts)> = Vec::new();
    let mut way = 0;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Starting RD=") {
            let name = rest.split(';').next().unwrap_or_default().trim();
            found.push((name.to_owned(), Vec::new(), Vec::new()));
            way = 0;
            continue;
        }
        match line.trim() {
            "Reads and writes:" => way = 0,
            "Reads:" => way = 1,
            "Writes:" => way = 2,
            _ => {}
        }
        if let (Some((_, reads, writes)), Some(bucket)) = (found.last_mut(), bucket(line)) {
            match way {
                1 => reads.push(bucket),
                2 => writes.push(bucket),
                _ => {}
            }
        }
    }
    found
}

/// `    0.020 <    0.040     1234  12.34 …`: the upper edge in nanoseconds, and the count.
fn bucket(line: &str) -> Option<(f64, u64)> {
    let (low, rest) = line.split_once('<')?;
    let low = number(low)?;
    let mut cells = rest.split_whitespace();
    let edge = cells.next()?;
    // The last bucket has no end.
    let ms = number(edge).unwrap_or(low);
    let count = number(cells.next()?)?;
    (count >= 0.0).then_some((ms * 1e6, count as u64))
}
