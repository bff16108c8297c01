//! fio's logs of bandwidth, IOPS and latencies: a file for each kind and job of a run.
//!
//! `x_bw.1.log` holds the bandwidths of the first job, in KiB/s; `x_clat.2.log` the latencies of
//! the second one, in ns. The host that the job ran on may follow `.log`.

mod rows;
mod series;

use std::collections::BTreeSet;
use std::path::Path;

use crate::figures::{Figures, Shape};
use crate::record::{Case, Found, Job};
use crate::{Source, named, not_a_result, not_a_result_at};
use blocklab_syntax::Mistake;
use blocklab_units::plural;
use rows::{DirectionRows, Rows, Window};
use series::{Series, Span, WindowLatency};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Bandwidth,
    Iops,
    Completion,
    Latency,
    Submission,
}

const KINDS: [(&str, Kind); 5] = [
    ("bw", Kind::Bandwidth),
    ("iops", Kind::Iops),
    ("clat", Kind::Completion),
    ("lat", Kind::Latency),
    ("slat", Kind::Submission),
];

/// The parts of a log's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// Folder and beginning.
    folder: String,
    prefix: String,
    job: JobId,
    kind: Kind,
}

/// The job that the name of a log gives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct JobId {
    /// Empty: not in the name.
    number: String,
    /// Empty: not in the name.
    host: String,
}

impl Name {
    /// `NAME_KIND.JOB.log`, `NAME_KIND.log`, either with `.HOST` at its end; `None` for another name.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let path = Path::new(path);
        let file = path.file_name()?.to_str()?;
        let (stem, host) = file.split_at(file.rfind(".log")?);
        let host = host.strip_prefix(".log")?;
        if !host.is_empty() && !host.starts_with('.') {
            return None;
        }
        let numbered = stem
            .rsplit_once('.')
            .filter(|(_, job)| job.bytes().all(|byte| byte.is_ascii_digit()));
        let (stem, job) = numbered.unwrap_or((stem, ""));
        let (prefix, kind) = stem.rsplit_once('_')?;
        let (_, kind) = KINDS.iter().find(|(word, _)| *word == kind)?;
        Some(Self {
            folder: path.parent()?.display().to_string(),
            prefix: prefix.to_owned(),
            job: JobId {
                number: job.to_owned(),
                host: host.trim_start_matches('.').to_owned(),
            },
            kind: *kind,
        })
    }
}

/// Which of these paths belong together: the logs of a run. All logs of a folder are of one run
/// if no two of them are the same kind of log of the same job; else those with the same beginning.
pub(crate) fn together(paths: &[&str]) -> Vec<Vec<usize>> {
    let names: Vec<_> = paths.iter().map(|path| Name::parse(path)).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let group = groups.iter_mut().find(|group| {
            let pair = name.as_ref().zip(names[group[0]].as_ref());
            pair.is_some_and(|(name, first)| {
                let is_near = name.folder == first.folder;
                is_near && (name.prefix == first.prefix || is_one_run(&names, &name.folder))
            })
        });
        match group {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// Whether the logs of a folder are of different jobs or kinds, all of them.
fn is_one_run(names: &[Option<Name>], folder: &str) -> bool {
    let mut seen = BTreeSet::new();
    names
        .iter()
        .flatten()
        .filter(|name| name.folder == folder)
        .all(|name| seen.insert((&name.job, name.kind)))
}

struct Log<'a> {
    kind: Kind,
    /// The name of the file, for messages.
    file: &'a str,
    rows: Rows,
}

/// The logs of one job, at least one.
struct JobLogs<'a> {
    id: &'a JobId,
    logs: Vec<Log<'a>>,
}

/// The logs of one run.
pub(super) fn read(sources: &[&Source]) -> Result<Found, Mistake> {
    let mut found = Found {
        tool: "fio".to_owned(),
        ..Found::default()
    };
    let names: Vec<_> = sources
        .iter()
        .map(|source| Name::parse(&source.name))
        .collect();
    let mut jobs: Vec<JobLogs<'_>> = Vec::new();
    for (source, name) in sources.iter().zip(&names) {
        let Some(name) = name else { continue };
        let rows = Rows::read(&source.text)
            .map_err(|(index, message)| named(not_a_result_at(index + 1, message), &source.name))?;
        let log = Log {
            kind: name.kind,
            file: &source.name,
            rows,
        };
        match jobs.iter_mut().find(|job| *job.id == name.job) {
            Some(job) => job.logs.push(log),
            None => jobs.push(JobLogs {
                id: &name.job,
                logs: vec![log],
            }),
        }
    }
    let prefixes: BTreeSet<_> = names.iter().flatten().map(|name| &*name.prefix).collect();
    let name = match prefixes.first() {
        Some(prefix) if prefixes.len() == 1 && !prefix.is_empty() => *prefix,
        _ => "fio",
    };
    add_notes(&jobs, &mut found);
    let begin_ms = begin_ms(&jobs, &mut found);
    let mut case = Case {
        name: name.to_owned(),
        ..Case::default()
    };
    let mut series = Series::default();
    for job in &jobs {
        let mut read = job.read(begin_ms, &mut series)?;
        read.name = match jobs.len() {
            1 => name.to_owned(),
            _ => job.name(name),
        };
        case.jobs.push(read);
    }
    let longest = case.jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
    case.series = series.intervals(longest);
    found.cases.push(case);
    Ok(found)
}

fn add_notes(jobs: &[JobLogs<'_>], found: &mut Found) {
    found.note("logs hold neither pattern, depth, engine nor targets");
    let mut all = jobs.iter().flat_map(|job| &job.logs);
    if all.clone().any(|log| log.kind == Kind::Submission) {
        found.note("logs of submission (slat) are passed over");
    }
    let [has_whole, has_completion] = [Kind::Latency, Kind::Completion]
        .map(|wanted| jobs.iter().any(|job| job.log(wanted).is_some()));
    if has_whole && !has_completion {
        found.note(
            "there are logs of the whole latency alone, from the creation of an operation on: all \
             latencies are of that",
        );
    }
    if all.any(|log| log.rows.averaged == Some(true)) {
        found.note(
            "lines are taken for the means of windows (log_avg_msec), in ns where they are \
             latencies, as fio 3 writes them: no percentile is known",
        );
    } else {
        found.note("the measured time is that of the last operation in a log");
    }
}

/// When the run began, in ms of the clock of the logs. With another clock than that of the jobs, it began a
/// window before its first line; if that clock counts from 1970, `found` gets the moment.
fn begin_ms(jobs: &[JobLogs<'_>], found: &mut Found) -> f64 {
    // No machine is up for so long: a larger time counts from 1970.
    const YEAR_2001_MS: f64 = 978_307_200_000.0;
    let filled = jobs.iter().flat_map(JobLogs::filled).map(|log| &log.rows);
    let first = filled.min_by(|a, b| a.first_ms.total_cmp(&b.first_ms));
    let Some(rows) = first.filter(|rows| rows.clock_start_ms() > 0.0) else {
        return 0.0;
    };
    let gaps = rows
        .directions
        .iter()
        .map(|direction| usual_gap(&direction.windows));
    let gap = gaps.fold(0.0, f64::max);
    let begin = rows.first_ms - gap;
    if rows.first_ms > YEAR_2001_MS {
        let moment = jiff::Timestamp::from_millisecond(begin as i64);
        found.started_at = moment.map(|moment| moment.to_string()).unwrap_or_default();
    } else if rows.averaged == Some(true) && (gap == 0.0 || begin < gap) {
        // Less than a window before its first line lies the job's own start: this is the clock of the job, and
        // its windows last for hours.
        return 0.0;
    }
    begin
}

/// The median time in ms between the ends of two windows; 0 with fewer than two.
fn usual_gap(windows: &[Window]) -> f64 {
    let gaps = windows
        .windows(2)
        .map(|pair| pair[1].end_ms - pair[0].end_ms);
    let mut gaps: Vec<f64> = gaps.filter(|gap| *gap > 0.0).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0.0)
}

/// The stretches of time that windows cover, from the beginning of the run. The first one begins with
/// the log: fio may end it late, and its value is the mean of all that time.
fn spans(windows: &[Window], begin_ms: f64) -> Vec<Span> {
    let mut from_ms = 0.0;
    let mut spans = Vec::with_capacity(windows.len());
    for window in windows {
        let to_ms = window.end_ms - begin_ms;
        spans.push(Span {
            from_ms,
            to_ms,
            value: window.value,
        });
        from_ms = to_ms;
    }
    spans
}

impl JobLogs<'_> {
    /// The logs that hold something.
    fn filled(&self) -> impl Iterator<Item = &Log<'_>> {
        self.logs.iter().filter(|log| log.rows.averaged.is_some())
    }

    fn log(&self, wanted: Kind) -> Option<&Log<'_>> {
        self.filled().find(|log| log.kind == wanted)
    }

    /// An error about the first log.
    fn wrong(&self, message: &str) -> Mistake {
        named(not_a_result(message), self.logs[0].file)
    }

    /// Reads the job, without its name, and adds its intervals to `series`.
    fn read(&self, begin_ms: f64, series: &mut Series) -> Result<Job, Mistake> {
        let Some(first) = self.filled().next() else {
            return Err(self.wrong("the log is empty"));
        };
        let averaged = first.rows.averaged;
        if let Some(other) = self.filled().find(|log| log.rows.averaged != averaged) {
            let first = first.file;
            let message = format!(
                "it has windows and {first} single operations, or the other way round: they are \
                 of different runs"
            );
            return Err(named(not_a_result(message), other.file));
        }
        let ends = self.filled().map(|log| log.rows.last_ms);
        let mut job = Job {
            engine: "fio".to_owned(),
            // A log with a job's number is that of one thread.
            threads: u32::from(!self.id.number.is_empty()),
            seconds: seconds_since(begin_ms, ends.fold(0.0, f64::max)),
            ..Job::default()
        };
        if averaged == Some(true) {
            self.read_windows(&mut job, begin_ms, series)?;
        } else {
            self.read_operations(&mut job, begin_ms, series)?;
        }
        Ok(job)
    }

    /// The name of the run with the number and the host of the job.
    fn name(&self, run: &str) -> String {
        let mut name = run.to_owned();
        for part in [&self.id.number, &self.id.host] {
            if !part.is_empty() {
                name.push('.');
                name.push_str(part);
            }
        }
        name
    }

    /// From submission to completion where that is there, else the whole.
    fn latency(&self) -> Option<&Log<'_>> {
        self.log(Kind::Completion).or(self.log(Kind::Latency))
    }

    /// Reads logs in which each line is an operation: the block size and the figures of the job.
    fn read_operations(
        &self,
        job: &mut Job,
        begin_ms: f64,
        series: &mut Series,
    ) -> Result<(), Mistake> {
        let counted = [Kind::Bandwidth, Kind::Iops].map(|kind| self.log(kind));
        let [bandwidth, _] = counted;
        let latency = self.latency();
        let all: Vec<&Log<'_>> = counted.into_iter().flatten().chain(latency).collect();
        let Some(first) = all.first() else {
            return Err(
                self.wrong("submission latencies alone: give the other logs of the run, too")
            );
        };
        let counts = &first.rows.directions;
        for other in &all {
            for (mine, its) in counts.iter().zip(&other.rows.directions) {
                // The logs of one run may end some operations apart.
                if mine.ios.abs_diff(its.ios) > mine.ios / 100 + 1 {
                    let message = format!(
                        "{} of a direction, and {} has {}: they are of different runs",
                        plural(its.ios as usize, "operation"),
                        first.file,
                        mine.ios
                    );
                    return Err(named(not_a_result(message), other.file));
                }
            }
        }
        let start_ms = latency.unwrap_or(*first).rows.clock_start_ms() - begin_ms;
        let moved = counts.iter().filter(|direction| direction.ios > 0);
        let sizes: BTreeSet<_> = moved.map(|direction| direction.block).collect();
        if let (1, Some(Some(size))) = (sizes.len(), sizes.first()) {
            job.block = *size;
        }
        [job.read, job.write, job.trim] = [0, 1, 2].map(|at| {
            let timed = latency.map(|log| &log.rows.directions[at]);
            let bandwidth = bandwidth.map(|log| &log.rows.directions[at]);
            let unit = timed.map_or(1.0, |timed| unit_ns(timed, bandwidth));
            series.add_operations(
                at,
                timed.unwrap_or(&counts[at]),
                start_ms / 1e3,
                timed.map(|_| unit),
            );
            figures(&counts[at], timed, unit)
        });
        Ok(())
    }

    /// Reads logs in which each line is a window: the time and the figures of the job.
    fn read_windows(
        &self,
        job: &mut Job,
        begin_ms: f64,
        series: &mut Series,
    ) -> Result<(), Mistake> {
        let pair = self.log(Kind::Iops).zip(self.log(Kind::Bandwidth));
        let Some((iops, bandwidth)) = pair else {
            let (lacks, wanted) = match self.log(Kind::Iops) {
                Some(_) => ("how many bytes", "_bw"),
                None => ("how many operations", "_iops"),
            };
            return Err(self.wrong(&format!(
                "means of windows do not tell {lacks} there were: give the run's log \
                 NAME{wanted}.N.log, too"
            )));
        };
        // What came after the last window of rates is in no rate.
        let seconds = seconds_since(begin_ms, iops.rows.last_ms);
        let bytes_seconds = seconds_since(begin_ms, bandwidth.rows.last_ms);
        job.seconds = seconds;
        [job.read, job.write, job.trim] = [0, 1, 2].map(|at| {
            let rates = spans(&iops.rows.directions[at].windows, begin_ms);
            let bandwidths = spans(&bandwidth.rows.directions[at].windows, begin_ms);
            let timed = self.latency().map(|log| &log.rows.directions[at]);
            let windows = timed.map_or(&[][..], |timed| &timed.windows);
            let latencies: Vec<WindowLatency> = spans(windows, begin_ms)
                .into_iter()
                .map(|span| WindowLatency {
                    end_ms: span.to_ms,
                    mean_ns: span.value,
                    // The rest that fio writes at the end has no length, and so no weight.
                    ios: rate_at(&rates, span.to_ms) * (span.to_ms - span.from_ms),
                })
                .collect();
            series.add_windows(at, &rates, &bandwidths, &latencies);
            Figures {
                ios: total(&rates).round() as u64,
                bytes: (total(&bandwidths) * 1024.0 * seconds / bytes_seconds).round() as u64,
                mean: mean_ns(&latencies),
                max: timed.map(|timed| timed.max).filter(|max| *max > 0.0),
                ..Figures::default()
            }
        });
        Ok(())
    }
}

/// Seconds from the beginning of the run to a moment, at least a millisecond: rates are divided by it.
fn seconds_since(begin_ms: f64, ms: f64) -> f64 {
    ((ms - begin_ms) / 1e3).max(1e-3)
}

/// The sum of rates a second over their time.
fn total(spans: &[Span]) -> f64 {
    let amounts = spans
        .iter()
        .map(|span| (span.to_ms - span.from_ms) / 1e3 * span.value);
    amounts.sum()
}

/// The rate of the window whose end is nearest: the logs of one run end theirs a few ms apart.
fn rate_at(rates: &[Span], ms: f64) -> f64 {
    let after = rates.partition_point(|span| span.to_ms < ms);
    let around = rates[after.saturating_sub(1)..].iter().take(2);
    let near = around.min_by(|a, b| {
        let [a, b] = [a, b].map(|span| (span.to_ms - ms).abs());
        a.total_cmp(&b)
    });
    near.map_or(0.0, |span| span.value)
}

/// The mean latency, weighted by the operations of each window; `None` without operations.
fn mean_ns(latencies: &[WindowLatency]) -> Option<f64> {
    let ios: f64 = latencies.iter().map(|latency| latency.ios).sum();
    let sum: f64 = latencies
        .iter()
        .map(|latency| latency.mean_ns * latency.ios)
        .sum();
    (ios > 0.0).then(|| sum / ios)
}

/// The unit of the latencies of a log in ns: fio 2 wrote microseconds. Bandwidths of the same
/// operations tell how long they took: a sum of latencies far below that time is in microseconds.
fn unit_ns(latency: &DirectionRows, bandwidth: Option<&DirectionRows>) -> f64 {
    let seconds = bandwidth.map_or(0.0, |bandwidth| bandwidth.seconds_by_rate);
    // 30 is about the geometric mean of the two possible factors, 1 and 1000.
    let is_small = latency.sum > 0.0 && latency.sum * 30.0 < seconds * 1e9;
    if is_small { 1e3 } else { 1.0 }
}

/// The count of operations, and their latencies where they are logged, in units of `unit_ns`.
fn figures(counted: &DirectionRows, timed: Option<&DirectionRows>, unit_ns: f64) -> Figures {
    let figures = Figures {
        ios: counted.ios,
        bytes: counted.bytes as u64,
        ..Figures::default()
    };
    let Some(timed) = timed.filter(|timed| timed.ios > 0) else {
        return figures;
    };
    let mean = timed.sum / timed.ios as f64;
    let variance = timed.squares / timed.ios as f64 - mean * mean;
    let counts = timed.counts.values();
    let counts = counts.map(|(latency, count)| (latency * unit_ns, *count));
    Figures {
        mean: Some(mean * unit_ns),
        // Rounding may leave a negative variance where all latencies are equal.
        stddev: Some(variance.max(0.0).sqrt() * unit_ns),
        min: Some(timed.min * unit_ns),
        max: Some(timed.max * unit_ns),
        shape: Shape::Counts(counts.collect()),
        ..figures
    }
}
