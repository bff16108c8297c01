//! Vdbench's output directory: `flatfile.html` holds every run, `histogram.html` its latencies.

use std::collections::BTreeSet;
use std::rc::Rc;

use blocklab_record::{Interval, IntervalDirection, Statistic};

use super::figures::{Figures, Shape};
use blocklab_workload::Pattern;

use super::record::{Case, Found, Job, nanos, random_percent};
use super::scan::{number, rfc3339};
use super::{Source, not_a_result, not_a_result_at};
use blocklab_syntax::Mistake;

/// The run of an output directory. Its summary and its histogram may be missing.
pub(super) fn read(sources: &[Source]) -> Result<Found, Mistake> {
    let [flat, summary, histogram] =
        ["flatfile.html", "summary.html", "histogram.html"].map(|name| {
            let found = sources.iter().find(|source| source.name.ends_with(name));
            found.map(|source| source.text.as_str())
        });
    let flat = flat.or_else(|| sources.first().map(|source| &*source.text));
    let summary = summary.unwrap_or_default();
    let mut found = Found {
        tool: "Vdbench".to_owned(),
        ..Found::default()
    };
    let first = read_rows(flat.unwrap_or_default(), &mut found)?;
    let histogram = starts(histogram.unwrap_or_default());
    add_histograms(&histogram, &mut found);
    // The summary comes first: it announces runs that the histogram has no figures of, too.
    name_runs(&[starts(summary), histogram], &mut found);
    set_date(summary, first, &mut found);
    if !knows_shapes(&found) {
        found.note("without its histogram.html no percentiles are known");
    }
    found.note(
        "response times are of the operation alone: waiting in Vdbench's own queue is not in them",
    );
    Ok(found)
}

fn knows_shapes(found: &Found) -> bool {
    let mut jobs = found.cases.iter().flat_map(|case| &case.jobs);
    jobs.any(Job::knows_shape)
}

/// When the first interval of all ended: its time of day and, of newer versions, its date too.
struct First {
    time: String,
    stamp: String,
}

/// A row of the flat file, by the names of its header.
struct Row<'a> {
    columns: Rc<[&'a str]>,
    cells: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, name: &str) -> &str {
        let mut columns = self.columns.iter();
        let place = columns.position(|column| column.eq_ignore_ascii_case(name));
        let cell = place.and_then(|at| self.cells.get(at));
        cell.copied().unwrap_or_default()
    }

    fn value(&self, name: &str) -> Option<f64> {
        number(self.text(name)).filter(|number| *number >= 0.0)
    }

    fn needed(&self, name: &str) -> Result<f64, String> {
        self.value(name)
            .ok_or_else(|| format!("an average without `{name}`: no figure of the run is known"))
    }
}

/// Reads the rows of a flat file: those of intervals wait for the row of their average, which ends
/// a run. Returns the time of the first row.
fn read_rows(text: &str, found: &mut Found) -> Result<First, Mistake> {
    let mut first: Option<First> = None;
    let mut columns: Rc<[&str]> = Rc::new([]);
    let mut pending: Vec<Row<'_>> = Vec::new();
    let mut averages: BTreeSet<&str> = BTreeSet::new();
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
            let (cells, columns) = (cells.len(), columns.len());
            let message = format!("{cells} fields under {columns} columns: cut off");
            return Err(not_a_result_at(index + 1, message));
        }
        let row = Row {
            columns: Rc::clone(&columns),
            cells,
        };
        first.get_or_insert_with(|| First {
            time: row.text("tod").to_owned(),
            stamp: row.text("timestamp").to_owned(),
        });
        if !row.text("Interval").starts_with("avg") {
            pending.push(row);
            continue;
        }
        let intervals = std::mem::take(&mut pending);
        let average = average(&row).map_err(|message| not_a_result_at(index + 1, message))?;
        let case = case(&row, &average, &intervals);
        if !averages.insert(line) {
            let message = "this average is in it twice: which of them counts is unclear";
            return Err(not_a_result_at(index + 1, message));
        }
        let version = row.text("version");
        // Several versions of hosts are `n/a`, too.
        if version.starts_with(|first: char| first.is_ascii_digit()) {
            found.tool = format!("Vdbench {version}");
        }
        found.cases.push(case);
    }
    if columns.is_empty() {
        return Err(not_a_result(
            "no line of column names that begins with `tod`: not a flatfile.html",
        ));
    }
    match first {
        Some(first) if !found.cases.is_empty() => Ok(first),
        _ => Err(not_a_result("no `avg_` row in it: no run came to its end")),
    }
}

/// When it all began: by `summary.html`, in UTC too since 5.04.07, or else by the first interval.
fn set_date(summary: &str, first: First, found: &mut Found) {
    let mut lines = summary.lines();
    let created = lines.find_map(|line| Some(line.split_once(", created ")?.1));
    let in_utc = created.and_then(|created| created.split_once('(')?.1.split_once(')'));
    let (mut at, mut zone) = match (in_utc, created) {
        (Some((utc, _)), _) => (named_date(utc), utc),
        (None, Some(created)) => (named_date(created), created),
        (None, None) => (us_date(&first.stamp), &*first.stamp),
    };
    if at.is_empty() {
        // `Dec 03, 2016  interval …` above the rows of the first run.
        let head = summary.lines().find(|line| line.contains(" interval "));
        let day = head.unwrap_or_default().replace(',', " ");
        (at, zone) = (named_date(&format!("{} {day}", first.time)), "");
    }
    if !at.is_empty() && !["UTC", "GMT"].iter().any(|utc| zone.contains(utc)) {
        found.note("the time of the run is that machine's local time");
    }
    found.started_at = at;
}

/// `07:22:26 Dec 03 2016 PST` as RFC 3339, as if it were in UTC: the zone is left out, which the caller
/// notes. Empty where it is no such date.
fn named_date(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    let [time, date @ ..] = &words[..] else {
        return String::new();
    };
    let seconds = time.split('.').next().unwrap_or_default();
    rfc3339(
        "%H:%M:%S %b %d %Y",
        &format!("{seconds} {}", date.join(" ")),
    )
}

/// `11/20/2026-16:09:12-UTC` as RFC 3339; empty where it is no such date.
fn us_date(text: &str) -> String {
    let words: Vec<&str> = text.split('-').take(2).collect();
    rfc3339("%m/%d/%Y %H:%M:%S", &words.join(" "))
}

/// `16:09:10.032` in seconds.
fn time_of_day(text: &str) -> Option<f64> {
    let parts: Option<Vec<f64>> = text.split(':').map(number).collect();
    match parts?[..] {
        [hours, minutes, seconds] => Some(hours * 3600.0 + minutes * 60.0 + seconds),
        _ => None,
    }
}

/// Seconds of an interval. The flat file has none: rows come at its end, a little late now and
/// then, so the median of their distances is it.
fn interval_seconds(rows: &[Row<'_>]) -> f64 {
    let times = rows.iter().filter_map(|row| time_of_day(row.text("tod")));
    let times: Vec<f64> = times.collect();
    let mut gaps: Vec<f64> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).rem_euclid(86_400.0).round())
        .collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied().unwrap_or(1.0).max(1.0)
}

/// The interval of a row, which lasts this many seconds; `None` for a row without a number. Those before
/// `first_counted` are warm-up.
fn slice(row: &Row<'_>, seconds: f64, first_counted: u64) -> Option<Interval> {
    let number = u64::from(row.text("Interval").parse::<u32>().ok()?);
    let rate = row.value("rate")?;
    let reads = row.value("read%").unwrap_or(100.0).min(100.0) / 100.0;
    let length = nanos(seconds);
    let bytes = row.value("bytes/io").unwrap_or(0.0);
    let directions = [(reads, "read_resp"), (1.0 - reads, "write_resp")];
    let [read, write] = directions.map(|(share, name)| {
        let both = (share >= 1.0).then(|| row.value("resp")).flatten();
        let mean = row.value(name).or(both);
        let always = [Statistic::P50, Statistic::P99, Statistic::Max];
        let more = mean.is_none().then_some(Statistic::Mean);
        IntervalDirection {
            ios: (rate * share * seconds).round() as u64,
            bytes: (rate * share * seconds * bytes).round() as u64,
            mean_ns: (mean.unwrap_or(0.0) * 1e6) as u64,
            unknown: always.into_iter().chain(more).collect(),
            ..IntervalDirection::default()
        }
    });
    Some(Interval {
        end_ns: number.saturating_mul(length),
        length_ns: length,
        ramp: number < first_counted,
        read,
        write,
        ..Interval::default()
    })
}

/// The intervals that an average counts.
struct Counted {
    /// Number of the first one: those before it are warm-up.
    first: u64,
    /// How many.
    intervals: f64,
}

impl Counted {
    /// `avg_2-4`: three intervals, from the second on. None counted (`avg_2-1`) is taken for one, which
    /// moved nothing.
    fn parse(label: &str) -> Self {
        let range = label.trim_start_matches("avg_").split_once('-');
        let ends = range.and_then(|(first, last)| Some((number(first)?, number(last)?)));
        let (first, last) = ends.unwrap_or((1.0, 1.0));
        Self {
            first: first as u64,
            intervals: (last - first + 1.0).clamp(1.0, 1e8),
        }
    }
}

/// What the average row of a run says of all its operations.
#[derive(Default)]
struct Average {
    /// Operations a second.
    rate: f64,
    /// Mean size of an operation.
    bytes_per_io: f64,
    /// Share of reads, from 0 to 1.
    reads: f64,
}

/// Reads the average of a run, and checks that its figures fit together.
fn average(row: &Row<'_>) -> Result<Average, String> {
    let rate = row.needed("rate")?;
    if rate <= 0.0 {
        return Ok(Average::default());
    }
    let bytes_per_io = row.needed("bytes/io")?;
    row.needed("resp")?;
    let reads = row.needed("read%")?.min(100.0) / 100.0;
    if let Some(megabytes) = row.value("MB/sec") {
        let found = rate * bytes_per_io;
        // Vdbench counts 1024**2; its smallest figures are rounded.
        let agrees = [1e6, 1_048_576.0].iter().any(|mega| {
            let stated = megabytes * mega;
            (found - stated).abs() <= stated * 0.02 + 0.06 * mega
        });
        if !agrees {
            return Err(format!(
                "`MB/sec` says {megabytes}, and `rate` by `bytes/io` {:.2}: the row contradicts \
                 itself",
                found / 1_048_576.0
            ));
        }
    }
    Ok(Average {
        rate,
        bytes_per_io,
        reads,
    })
}

/// The case of a run: its average row, and the rows of its intervals.
fn case(row: &Row<'_>, average: &Average, intervals: &[Row<'_>]) -> Case {
    let (rate, bytes, reads) = (average.rate, average.bytes_per_io, average.reads);
    let name = row.text("Run").to_owned();
    let each = interval_seconds(intervals);
    let counted = Counted::parse(row.text("Interval"));
    let seconds = counted.intervals * each;
    let [read, write] = [(reads, "read"), (1.0 - reads, "write")].map(|(share, direction)| {
        let together = [("resp", "resp"), ("std", "resp_std"), ("max", "resp_max")];
        let [mean, stddev, max] = together.map(|(what, both)| {
            // A figure of reads and writes together is that of one only where there is no other.
            let both = row.value(both).filter(|_| share >= 1.0);
            let ms = row.value(&format!("{direction}_{what}")).or(both);
            ms.map(|ms| ms * 1e6)
        });
        Figures {
            ios: (rate * share * seconds).round() as u64,
            bytes: (rate * share * seconds * bytes).round() as u64,
            mean,
            stddev,
            max,
            ..Figures::default()
        }
    });
    // Larger rates are how Vdbench writes "as fast as it goes".
    let rate_asked = row.value("reqrate");
    let requested = rate_asked.filter(|rate| *rate > 0.0 && *rate < 999_900.0);
    // It formats targets before their first use, one after the other; the columns do not apply.
    let formats = name == "SD_format";
    // Of a mix of sizes, the column has one, and the mean shows that there are others.
    let size = row
        .value("xfersize")
        .filter(|size| rate <= 0.0 || (size - bytes).abs() < 1.0);
    let block = if formats { bytes } else { size.unwrap_or(0.0) };
    let random = row.value("seekpct").filter(|_| !formats);
    let read_percent = row.value("rdpct").filter(|_| !formats);
    let series = intervals
        .iter()
        .filter_map(|row| slice(row, each, counted.first));
    Case {
        jobs: vec![Job {
            name: name.clone(),
            engine: "vdbench".to_owned(),
            pattern: match random {
                _ if formats => Some(Pattern::Sequential),
                random => random.map(random_percent),
            },
            block: block as u64,
            read_percent: read_percent.map(|read_percent| read_percent.min(100.0) as u8),
            threads: row.value("threads").unwrap_or(0.0) as u32,
            requested_iops: requested,
            seconds,
            read,
            write,
            ..Job::default()
        }],
        name,
        settings: columns(row),
        series: series.collect(),
        busy_percent: row.value("cpu_used"),
        ..Case::default()
    }
}

/// Names and values of what loops may set, as far as the flat file holds it.
fn columns(row: &Row<'_>) -> Vec<(String, String)> {
    let all = "reqrate xfersize threads rdpct rhpct whpct seekpct lunsize".split(' ');
    let values = all.map(|name| (name.to_owned(), row.text(name).to_owned()));
    values.filter(|(_, value)| !value.is_empty()).collect()
}

/// Times and counts: each bucket has the time of its upper edge.
type Counts = Vec<(f64, u64)>;

/// A run as a report announces it, and its counts in `histogram.html`.
#[derive(Debug, Clone, Default)]
struct Start {
    name: String,
    /// `threads=4`, `iorate=200`; empty without loops.
    loops: Vec<(String, String)>,
    /// Figures of reads and of writes.
    counts: [Counts; 2],
}

/// `… Starting RD=rd1; I/O rate: 100; elapsed=3; For loops: threads=4 iorate=100</b></i>`.
fn start(line: &str) -> Option<Start> {
    let (_, rest) = line.split_once("Starting RD=")?;
    let rest = rest.split('<').next().unwrap_or(rest);
    let (_, loops) = rest.split_once("For loops:").unwrap_or((rest, ""));
    let words = loops.split_whitespace();
    let pairs = words.filter_map(|word| word.split_once('='));
    Some(Start {
        name: rest.split(';').next().unwrap_or(rest).trim().to_owned(),
        loops: pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        ..Start::default()
    })
}

/// The runs of a report in their order.
fn starts(text: &str) -> Vec<Start> {
    let mut found: Vec<Start> = Vec::new();
    // The index of the current table in `counts`; `None`: reads and writes together.
    let mut table = None;
    for line in text.lines() {
        if let Some(start) = start(line) {
            found.push(start);
            table = None;
            continue;
        }
        table = match line.trim() {
            "Reads and writes:" => None,
            "Reads:" => Some(0),
            "Writes:" => Some(1),
            _ => table,
        };
        if let (Some(start), Some(table), Some(bucket)) = (found.last_mut(), table, bucket(line)) {
            start.counts[table].push(bucket);
        }
    }
    found
}

/// For each run of the flat file that has this name, the announcement that belongs to it. Loops give
/// many runs one name, so they are taken in their order. A run that was stopped has no average; that
/// can only be known of the last one.
fn matched<'s>(starts: &'s [Start], name: &str, runs: usize) -> Option<Vec<&'s Start>> {
    let mut own: Vec<&Start> = starts.iter().filter(|start| start.name == name).collect();
    let stopped = starts.last().is_some_and(|last| last.name == name);
    if own.len() == runs + 1 && stopped {
        own.pop();
    }
    (own.len() == runs).then_some(own)
}

/// The names of the runs, each once, with the places of their cases.
fn by_name(cases: &[Case]) -> Vec<(String, Vec<usize>)> {
    let mut names: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, case) in cases.iter().enumerate() {
        match names.iter_mut().find(|(name, _)| *name == case.name) {
            Some((_, places)) => places.push(place),
            None => names.push((case.name.clone(), vec![place])),
        }
    }
    names
}

/// Gives the cases their histograms, where as many runs of a name have one as the flat file has.
fn add_histograms(starts: &[Start], found: &mut Found) {
    let mut has_warm_up = false;
    for (name, places) in by_name(&found.cases) {
        let Some(own) = matched(starts, &name, places.len()) else {
            continue;
        };
        for (place, start) in places.into_iter().zip(own) {
            for job in &mut found.cases[place].jobs {
                let shapes = start.counts.clone().map(Shape::Counts);
                [job.read.shape, job.write.shape] = shapes;
                let counted = job.read.shape.counted() + job.write.shape.counted();
                let moved = job.read.ios as f64 + job.write.ios as f64;
                // The flat file rounds its rates.
                has_warm_up |= counted > moved * 1.005 + 2.0;
            }
        }
    }
    if has_warm_up {
        found.note("histogram.html counts the warm-up too, and so do the percentiles");
    }
    if knows_shapes(found) {
        found.note(
            "percentiles are upper edges of the buckets of histogram.html: the true ones lie \
             anywhere in the bucket",
        );
    }
}

/// Runs of one name are passes of one case only where their loops are the same. Where no report
/// shows the loops, each run stays a case of its own, named by the columns that differ.
fn name_runs(reports: &[Vec<Start>], found: &mut Found) {
    for (name, places) in by_name(&found.cases) {
        let mut tried = reports.iter();
        let own = tried.find_map(|starts| matched(starts, &name, places.len()));
        let known = own.is_some();
        let settings: Vec<_> = match own {
            Some(own) => own.iter().map(|start| start.loops.clone()).collect(),
            None => differing(places.iter().map(|place| &found.cases[*place].settings)),
        };
        if !known && places.len() > 1 {
            found.note(
                "neither summary.html nor histogram.html shows the loops of runs with the same \
                 name: the columns that differ name them",
            );
        }
        let alike = settings.windows(2).all(|pair| pair[0] == pair[1]);
        // Passes of one case are numbered; other runs that still have one name get a number in it.
        let mut taken: Vec<String> = Vec::new();
        for (place, settings) in places.into_iter().zip(settings) {
            let case = &mut found.cases[place];
            if !(known && alike) {
                for (key, value) in &settings {
                    case.name.push_str(&format!(" {key}={value}"));
                }
            }
            taken.push(case.name.clone());
            let nth = taken.iter().filter(|name| **name == case.name).count();
            if known {
                case.pass = nth as u32;
            } else if nth > 1 {
                case.name.push_str(&format!(" ({nth})"));
            }
            for job in &mut case.jobs {
                job.name.clone_from(&case.name);
            }
            case.settings = settings;
        }
    }
}

/// The settings whose values differ between the runs.
fn differing<'s>(
    all: impl Iterator<Item = &'s Vec<(String, String)>>,
) -> Vec<Vec<(String, String)>> {
    let all: Vec<_> = all.collect();
    let kept = all.iter().map(|settings| {
        let differing = settings.iter().filter(|(key, _)| {
            let mut values = all
                .iter()
                .map(|other| other.iter().find(|(name, _)| name == key));
            let first = values.next();
            values.any(|value| Some(value) != first)
        });
        differing.cloned().collect()
    });
    kept.collect()
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
