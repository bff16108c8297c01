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
use rows::{Rows, Way};
use series::{Series, Span};

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

/// What the name of a log tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// Folder and beginning.
    folder: String,
    prefix: String,
    /// Number of the job, and its host; empty: not in the name.
    job: (String, String),
    kind: Kind,
}

impl Name {
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
            job: (job.to_owned(), host.trim_start_matches('.').to_owned()),
            kind: *kind,
        })
    }
}

/// Which of these paths belong together: the logs of a run. All logs of a folder are of one run
/// if no two of them are the same kind of log of the same job; else those with the same beginning.
pub(super) fn together(paths: &[&str]) -> Vec<Vec<usize>> {
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

/// The logs of one job.
struct JobLogs<'a> {
    id: &'a (String, String),
    logs: Vec<(Kind, &'a str, Rows)>,
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
        let log = (name.kind, &*source.name, rows);
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
    notes(&jobs, &mut found);
    let begin_ms = begin(&jobs, &mut found);
    let mut case = Case {
        name: name.to_owned(),
        ..Case::default()
    };
    let mut series = Series::default();
    for job in &jobs {
        let read = job.read(name, jobs.len() == 1, begin_ms, &mut series)?;
        case.jobs.push(read);
    }
    let longest = case.jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
    case.series = series.intervals(longest);
    found.cases.push(case);
    Ok(found)
}

fn notes(jobs: &[JobLogs<'_>], found: &mut Found) {
    found.note("logs hold neither pattern, depth, engine nor targets");
    let mut all = jobs.iter().flat_map(|job| &job.logs);
    if all.clone().any(|(kind, _, _)| *kind == Kind::Submission) {
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
    if all.any(|(_, _, rows)| rows.averaged == Some(true)) {
        found.note(
            "lines are taken for the means of windows (log_avg_msec), in ns where they are \
             latencies, as fio 3 writes them: no percentile is known",
        );
    } else {
        found.note("the measured time is that of the last operation in a log");
    }
}

/// Times of `log_unix_epoch` count from 1970: then the run began a window before the first one.
fn begin(jobs: &[JobLogs<'_>], found: &mut Found) -> f64 {
    const YEAR_2001_MS: f64 = 978_307_200_000.0;
    let filled = jobs.iter().flat_map(JobLogs::filled);
    let first = filled.min_by(|a, b| a.2.first_ms.total_cmp(&b.2.first_ms));
    let Some((_, _, rows)) = first.filter(|(_, _, rows)| rows.first_ms > YEAR_2001_MS) else {
        return 0.0;
    };
    let gap = rows.ways.iter().map(|way| usual_gap(&way.windows));
    let begin = rows.first_ms - gap.fold(0.0, f64::max);
    let moment = jiff::Timestamp::from_millisecond(begin as i64);
    found.started_at = moment.map(|moment| moment.to_string()).unwrap_or_default();
    begin
}

/// The median distance of ends; 0: there is one at most.
fn usual_gap(windows: &[(f64, f64)]) -> f64 {
    let gaps = windows.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let mut gaps: Vec<f64> = gaps.filter(|gap| *gap > 0.0).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0.0)
}

/// Windows as begin, end (in ms) and value. The first one begins with the log: fio may end it late,
/// and its value is the mean of all that time.
fn spans(windows: &[(f64, f64)], begin_ms: f64) -> Vec<Span> {
    let mut from = 0.0;
    let mut spans = Vec::with_capacity(windows.len());
    for (end, value) in windows {
        let end = end - begin_ms;
        spans.push((from, end, *value));
        from = end;
    }
    spans
}

impl JobLogs<'_> {
    /// The logs that hold something.
    fn filled(&self) -> impl Iterator<Item = &(Kind, &str, Rows)> {
        self.logs.iter().filter(|log| log.2.averaged.is_some())
    }

    fn log(&self, wanted: Kind) -> Option<&(Kind, &str, Rows)> {
        self.filled().find(|(kind, _, _)| *kind == wanted)
    }

    fn read(
        &self,
        run: &str,
        is_only: bool,
        begin_ms: f64,
        series: &mut Series,
    ) -> Result<Job, Mistake> {
        let Some((_, first, rows)) = self.filled().next() else {
            let empty = self.logs.first().map_or("", |log| log.1);
            return Err(named(not_a_result("the log is empty"), empty));
        };
        if let Some((_, other, _)) = self.filled().find(|log| log.2.averaged != rows.averaged) {
            let message = format!(
                "it has windows and {first} single operations, or the other way round: they are \
                 of different runs"
            );
            return Err(named(not_a_result(message), other));
        }
        let last = self.filled().map(|log| log.2.last_ms).fold(0.0, f64::max);
        let mut job = Job {
            name: self.name(run, is_only),
            engine: "fio".to_owned(),
            threads: u32::from(!self.id.0.is_empty()),
            seconds: ((last - begin_ms) / 1e3).max(1e-3),
            ..Job::default()
        };
        let figures = match rows.averaged {
            Some(true) => self.of_windows(&mut job.seconds, begin_ms, series)?,
            _ => self.of_operations(&mut job.block, begin_ms, series)?,
        };
        [job.read, job.write, job.trim] = figures;
        Ok(job)
    }

    fn name(&self, run: &str, is_only: bool) -> String {
        let (number, host) = self.id;
        let mut name = run.to_owned();
        for part in [number, host] {
            if !part.is_empty() && !is_only {
                name.push('.');
                name.push_str(part);
            }
        }
        name
    }

    /// From submission to completion where that is there, else the whole.
    fn latency(&self) -> Option<&(Kind, &str, Rows)> {
        self.log(Kind::Completion).or(self.log(Kind::Latency))
    }

    /// Reads logs in which each line is an operation.
    fn of_operations(
        &self,
        block: &mut u64,
        begin_ms: f64,
        series: &mut Series,
    ) -> Result<[Figures; 3], Mistake> {
        let counted = [Kind::Bandwidth, Kind::Iops].map(|kind| self.log(kind));
        let [bandwidth, _] = counted;
        let latency = self.latency();
        let all: Vec<_> = counted.into_iter().flatten().chain(latency).collect();
        let Some((_, first, rows)) = all.first() else {
            let message = "submission latencies alone: give the other logs of the run, too";
            let name = self.logs.first().map_or("", |log| log.1);
            return Err(named(not_a_result(message), name));
        };
        for (_, other, its) in &all {
            for (mine, its) in rows.ways.iter().zip(&its.ways) {
                if mine.ios.abs_diff(its.ios) > mine.ios / 100 + 1 {
                    let message = format!(
                        "{} of a direction, and {first} has {}: they are of different \
                         runs",
                        plural(its.ios as usize, "operation"),
                        mine.ios
                    );
                    return Err(named(not_a_result(message), other));
                }
            }
        }
        let moved = rows.ways.iter().filter(|way| way.ios > 0);
        let sizes: BTreeSet<_> = moved.map(|way| way.block).collect();
        if let (1, Some(Some(size))) = (sizes.len(), sizes.first()) {
            *block = *size;
        }
        Ok([0, 1, 2].map(|at| {
            let timed = latency.map(|log| &log.2.ways[at]);
            let unit = timed.map_or(1.0, |way| unit(way, bandwidth.map(|log| &log.2.ways[at])));
            series.add_operations(
                at,
                timed.unwrap_or(&rows.ways[at]),
                begin_ms,
                timed.map(|_| unit),
            );
            figures(&rows.ways[at], timed, unit)
        }))
    }

    /// Each line is a window.
    fn of_windows(
        &self,
        seconds: &mut f64,
        begin_ms: f64,
        series: &mut Series,
    ) -> Result<[Figures; 3], Mistake> {
        let pair = self.log(Kind::Iops).zip(self.log(Kind::Bandwidth));
        let Some((iops, bandwidth)) = pair else {
            let (lacks, wanted) = match self.log(Kind::Iops) {
                Some(_) => ("how many bytes", "_bw"),
                None => ("how many operations", "_iops"),
            };
            let message = format!(
                "means of windows do not tell {lacks} there were: give the run's log \
                 NAME{wanted}.N.log, too"
            );
            let name = self.logs.first().map_or("", |log| log.1);
            return Err(named(not_a_result(message), name));
        };
        // What came after the last window of rates is in no rate.
        *seconds = ((iops.2.last_ms - begin_ms) / 1e3).max(1e-3);
        let bytes_seconds = ((bandwidth.2.last_ms - begin_ms) / 1e3).max(1e-3);
        Ok([0, 1, 2].map(|at| {
            let rates = spans(&iops.2.ways[at].windows, begin_ms);
            let moved = spans(&bandwidth.2.ways[at].windows, begin_ms);
            let timed = self.latency().map(|log| &log.2.ways[at]);
            let latencies = timed.map_or(&[][..], |way| &way.windows);
            let weighted: Vec<Span> = spans(latencies, begin_ms)
                .into_iter()
                // The rest that fio writes at the end has no length of its own.
                .map(|(from, to, ns)| (to, ns, rate_at(&rates, to) * (to - from)))
                .collect();
            series.add_windows(at, &rates, &moved, &weighted);
            Figures {
                ios: total(&rates).round() as u64,
                bytes: (total(&moved) * 1024.0 * *seconds / bytes_seconds).round() as u64,
                mean: mean(&weighted),
                max: timed.map(|way| way.max).filter(|max| *max > 0.0),
                ..Figures::default()
            }
        }))
    }
}

fn total(spans: &[Span]) -> f64 {
    let amounts = spans
        .iter()
        .map(|(from, to, value)| (to - from) / 1e3 * value);
    amounts.sum()
}

/// The rate of the window whose end is nearest: the logs of one run end theirs a few ms apart.
fn rate_at(rates: &[Span], ms: f64) -> f64 {
    let after = rates.partition_point(|(_, end, _)| *end < ms);
    let around = rates[after.saturating_sub(1)..].iter().take(2);
    let near = around.min_by(|a, b| (a.1 - ms).abs().total_cmp(&(b.1 - ms).abs()));
    near.map_or(0.0, |(_, _, rate)| *rate)
}

/// The mean latency, weighted by the operations of each window.
fn mean(weighted: &[Span]) -> Option<f64> {
    let weight: f64 = weighted.iter().map(|(_, _, ios)| ios).sum();
    let sum: f64 = weighted.iter().map(|(_, ns, ios)| ns * ios).sum();
    (weight > 0.0).then(|| sum / weight)
}

/// What a latency of these logs is in ns: fio 2 wrote microseconds. Bandwidths of the same
/// operations tell how long they took.
fn unit(latency: &Way, bandwidth: Option<&Way>) -> f64 {
    let seconds = bandwidth.map_or(0.0, |way| way.seconds_by_rate);
    let is_small = latency.sum > 0.0 && latency.sum * 30.0 < seconds * 1e9;
    if is_small { 1e3 } else { 1.0 }
}

/// Operations, and their latencies where they are logged.
fn figures(counted: &Way, timed: Option<&Way>, unit: f64) -> Figures {
    let figures = Figures {
        ios: counted.ios,
        bytes: counted.bytes as u64,
        ..Figures::default()
    };
    let Some(timed) = timed.filter(|way| way.ios > 0) else {
        return figures;
    };
    let mean = timed.sum / timed.ios as f64;
    let variance = timed.squares / timed.ios as f64 - mean * mean;
    let counts = timed.counts.values();
    Figures {
        mean: Some(mean * unit),
        stddev: Some(variance.max(0.0).sqrt() * unit),
        min: Some(timed.min * unit),
        max: Some(timed.max * unit),
        shape: Shape::Counts(counts.map(|(ns, count)| (ns * unit, *count)).collect()),
        ..figures
    }
}
