//! In: the Records of hosts that ran the same load at the same time. Out: one Record of all of them.
//!
//! A file of its own: the only place in which Records become another Record. Nothing is averaged:
//! the jobs of all hosts stand beside each other in a measurement, so rates add up and histograms
//! are merged bucket by bucket wherever the jobs of one host would be.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Environment, Interval, IntervalDirection, JobResult, Measurement, Record, Statistic, Status,
    Unknown,
};

/// What several hosts measured together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fleet {
    /// In the order in which their runs were named.
    pub hosts: Vec<FleetHost>,
    /// When each pass of each case ran on them.
    pub passes: Vec<FleetPass>,
}

/// A host, and its own run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetHost {
    /// Unique in the fleet; jobs carry it.
    pub name: String,
    /// Id of its own run.
    pub run: String,
    /// How that ended.
    pub status: Status,
    /// Why, where it did not end as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Its machine.
    pub environment: Environment,
}

/// A pass of a case on all hosts. Times are by the clock of each host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetPass {
    /// Name of the case.
    pub case: String,
    /// From 1.
    pub pass: u32,
    /// Hosts that ran it.
    pub hosts: u32,
    /// From the first host's start to the last one's; `None`: the moments are not known.
    pub start_skew_ns: Option<u64>,
    /// From the first host's end to the last one's.
    pub end_skew_ns: Option<u64>,
    /// The time in which all of them were measured, after the last ramp and before the first end.
    pub window_ns: Option<u64>,
    /// Share of the longest measured time that the window is, in per cent.
    pub window_percent: Option<f64>,
    /// Operations a second in the window; a slice that lies partly in it counts in that part.
    pub iops: Option<f64>,
    /// Bytes a second in the window.
    pub bytes_per_s: Option<f64>,
}

/// Runs that are no fleet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFleet {
    /// Fewer than two.
    #[error("a fleet has two runs or more, one for each host; name them all")]
    TooFew,
    /// The same run twice.
    #[error("the run {0} is named twice")]
    Twice(String),
    /// A run that is a fleet's already.
    #[error("{run} is the run of a fleet already; merge the runs of its hosts: {hosts}")]
    IsFleet {
        /// Its id.
        run: String,
        /// The ids of the runs of its hosts.
        hosts: String,
    },
    /// Figures of different origins.
    #[error("{first} is {of_first}, and {other} is {of_other}: what is merged has one origin")]
    Origins {
        /// An id.
        first: String,
        /// How its figures came about.
        of_first: &'static str,
        /// Another id.
        other: String,
        /// How its figures came about.
        of_other: &'static str,
    },
    /// Loads that differ.
    #[error("{other} did not run the load of {first}: {what}")]
    Loads {
        /// An id.
        first: String,
        /// Another id.
        other: String,
        /// The case, and in what it differs.
        what: String,
    },
}

/// One Record of what hosts measured at the same time. The id is that of the first; the caller gives
/// the fleet's own.
///
/// # Errors
/// [`NoFleet`] when the runs cannot have been one load on several hosts.
pub fn merge(records: &[Record]) -> Result<Record, NoFleet> {
    check(records)?;
    let names = host_names(records);
    let first = &records[0];
    let hosts = records.iter().zip(&names).map(|(record, name)| FleetHost {
        name: name.clone(),
        run: record.id.clone(),
        status: record.status,
        failure: record.failure.clone(),
        environment: record.environment.clone(),
    });
    let mut passes = Vec::new();
    let mut measurements = Vec::new();
    for parts in by_pass(records) {
        passes.push(pass(&parts));
        measurements.push(together(&parts, &names));
    }
    let mut merged = Record {
        started_at: records
            .iter()
            .map(|record| record.started_at.clone())
            .min()
            .unwrap_or_default(),
        finished_at: records
            .iter()
            .map(|record| record.finished_at.clone())
            .max()
            .unwrap_or_default(),
        status: status(records),
        failure: failure(records, &names),
        targets: targets(records, &names),
        fleet: Some(Box::new(Fleet {
            hosts: hosts.collect(),
            passes,
        })),
        measurements,
        note: None,
        ..first.clone()
    };
    // The plan names the targets of one host: it cannot be run again for all.
    (merged.requested.plan, merged.requested.plan_format) = (None, None);
    for record in &records[1..] {
        for note in &record.notes {
            note.clone().add_to(&mut merged.notes);
        }
    }
    Ok(merged)
}

fn check(records: &[Record]) -> Result<(), NoFleet> {
    let [first, others @ ..] = records else {
        return Err(NoFleet::TooFew);
    };
    if others.is_empty() {
        return Err(NoFleet::TooFew);
    }
    for (place, record) in records.iter().enumerate() {
        if records[..place].iter().any(|known| known.id == record.id) {
            return Err(NoFleet::Twice(record.id.clone()));
        }
        if let Some(fleet) = &record.fleet {
            let hosts: Vec<&str> = fleet.hosts.iter().map(|host| &*host.run).collect();
            return Err(NoFleet::IsFleet {
                run: record.id.clone(),
                hosts: hosts.join(" "),
            });
        }
        if record.origin != first.origin {
            return Err(NoFleet::Origins {
                first: first.id.clone(),
                of_first: first.origin.name(),
                other: record.id.clone(),
                of_other: record.origin.name(),
            });
        }
        if let Some(what) = difference(first, record) {
            return Err(NoFleet::Loads {
                first: first.id.clone(),
                other: record.id.clone(),
                what,
            });
        }
    }
    Ok(())
}

/// In what the load of another run differs in a case that both have; a case that one of them lacks
/// may have been cut off.
fn difference(first: &Record, other: &Record) -> Option<String> {
    for theirs in &other.measurements {
        let mut all = first.measurements.iter();
        let Some(ours) = all.find(|ours| ours.case == theirs.case) else {
            continue;
        };
        let differs = ours.jobs.len() != theirs.jobs.len()
            || ours
                .jobs
                .iter()
                .zip(&theirs.jobs)
                .any(|(a, b)| load(a) != load(b));
        if differs {
            return Some(format!("the jobs of case {} are others", theirs.case));
        }
    }
    let cases = |record: &Record| -> Vec<String> {
        let all = record.measurements.iter().map(|one| one.case.clone());
        all.collect()
    };
    let (ours, theirs) = (cases(first), cases(other));
    let is_strange =
        !ours.is_empty() && !theirs.is_empty() && !theirs.iter().any(|case| ours.contains(case));
    is_strange.then(|| format!("it has no case of {}", first.requested.name))
}

/// What makes a job the same on two hosts.
fn load(job: &JobResult) -> impl PartialEq + '_ {
    (
        (
            &job.name,
            &job.pattern,
            &job.runs,
            &job.block_sizes,
            &job.mix,
        ),
        (job.pace, job.threads, job.depth, job.durability, job.think),
        (job.requested_iops, job.requested_bytes_per_s),
    )
}

/// The name of each host; a second run of one host, and one whose host is not known, get a number.
fn host_names(records: &[Record]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let known = record.environment.host_name.clone();
        let base = known.unwrap_or_else(|| format!("host{}", place + 1));
        let mut name = base.clone();
        let mut number = 2;
        while names.contains(&name) {
            name = format!("{base}#{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// A host by its place, and its measurement.
type Part<'a> = (usize, &'a Measurement);

/// The measurements of one pass of one case, in the order in which the passes first appear.
fn by_pass(records: &[Record]) -> Vec<Vec<Part<'_>>> {
    let mut order: Vec<Vec<Part<'_>>> = Vec::new();
    let mut places: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for (host, record) in records.iter().enumerate() {
        for measurement in &record.measurements {
            let key = (measurement.case.as_str(), measurement.pass);
            let place = *places.entry(key).or_insert(order.len());
            if place == order.len() {
                order.push(Vec::new());
            }
            order[place].push((host, measurement));
        }
    }
    order
}

/// When a measurement began and ended, and when its ramp was over: nanoseconds since 1970.
struct Span {
    begin: u64,
    ramp_end: u64,
    end: u64,
}

fn span(of: &Measurement) -> Option<Span> {
    let begin = of.started_unix_us? * 1000;
    let ramp = of
        .series
        .iter()
        .filter(|slice| slice.ramp)
        .map(|slice| slice.length_ns);
    Some(Span {
        begin,
        ramp_end: begin + ramp.sum::<u64>(),
        end: begin + of.elapsed_ns,
    })
}

fn pass(parts: &[Part<'_>]) -> FleetPass {
    let spans: Option<Vec<Span>> = parts.iter().map(|(_, part)| span(part)).collect();
    let spans = spans.unwrap_or_default();
    let skew = |moments: Vec<u64>| Some(moments.iter().max()? - moments.iter().min()?);
    let from = spans.iter().map(|span| span.ramp_end).max();
    let to = spans.iter().map(|span| span.end).min();
    let window = from.zip(to).map(|(from, to)| (from, to.max(from)));
    let length = window.map(|(from, to)| to - from);
    let longest = spans.iter().map(|span| span.end - span.ramp_end).max();
    let moved = window.map(|window| moved(parts, &spans, window));
    let a_second = |amount: f64| {
        let seconds = length.filter(|length| *length > 0)? as f64 / 1e9;
        Some(amount / seconds)
    };
    FleetPass {
        case: parts[0].1.case.clone(),
        pass: parts[0].1.pass,
        hosts: u32::try_from(parts.len()).unwrap_or(u32::MAX),
        start_skew_ns: skew(spans.iter().map(|span| span.begin).collect()),
        end_skew_ns: skew(spans.iter().map(|span| span.end).collect()),
        window_ns: length,
        window_percent: length
            .zip(longest.filter(|longest| *longest > 0))
            .map(|(length, longest)| length as f64 / longest as f64 * 100.0),
        iops: moved.and_then(|(ios, _)| a_second(ios)),
        bytes_per_s: moved.and_then(|(_, bytes)| a_second(bytes)),
    }
}

/// Operations and bytes of all hosts in a window; a slice counts in the part that lies in it.
fn moved(parts: &[Part<'_>], spans: &[Span], (from, to): (u64, u64)) -> (f64, f64) {
    let (mut ios, mut bytes) = (0.0, 0.0);
    for ((_, part), span) in parts.iter().zip(spans) {
        for slice in part.series.iter().filter(|slice| !slice.ramp) {
            let end = span.begin + slice.end_ns;
            let begin = end.saturating_sub(slice.length_ns);
            let inside = end.min(to).saturating_sub(begin.max(from));
            let share = inside as f64 / slice.length_ns.max(1) as f64;
            for direction in [slice.read, slice.write, slice.trim] {
                ios += direction.ios as f64 * share;
                bytes += direction.bytes as f64 * share;
            }
        }
    }
    (ios, bytes)
}

/// The jobs of all hosts beside each other, and their slices added up.
fn together(parts: &[Part<'_>], names: &[String]) -> Measurement {
    let (_, first) = parts[0];
    let jobs = parts.iter().flat_map(|(host, part)| {
        part.jobs.iter().map(|job| JobResult {
            host: Some(names[*host].clone()),
            ..job.clone()
        })
    });
    let longest = |what: fn(&Measurement) -> u64| parts.iter().map(|(_, part)| what(part)).max();
    Measurement {
        case: first.case.clone(),
        settings: first.settings.clone(),
        pass: first.pass,
        started_ns: first.started_ns,
        started_unix_us: parts
            .iter()
            .filter_map(|(_, part)| part.started_unix_us)
            .min(),
        elapsed_ns: longest(|part| part.elapsed_ns).unwrap_or_default(),
        setup_ns: longest(|part| part.setup_ns).unwrap_or_default(),
        jobs: jobs.collect(),
        series: series(parts),
        uring_workers_max: parts
            .iter()
            .map(|(_, part)| part.uring_workers_max)
            .max()
            .unwrap_or_default(),
        stood_still_ns: parts
            .iter()
            .filter_map(|(_, part)| part.stood_still_ns)
            .max(),
        throttled_ns: parts.iter().filter_map(|(_, part)| part.throttled_ns).max(),
        // What one machine's processors and disks did is no figure of the fleet.
        cpu: crate::Cpu {
            unknown: [Statistic::Process, Statistic::MachineBusy]
                .into_iter()
                .collect(),
            ..crate::Cpu::default()
        },
        ..Measurement::default()
    }
}

/// The slices that begin together, added up: each host cut its time in the same way. Percentiles of
/// slices cannot be added and are not known.
fn series(parts: &[Part<'_>]) -> Vec<Interval> {
    let longest = parts
        .iter()
        .map(|(_, part)| &part.series)
        .max_by_key(|series| series.len());
    let slices = longest.into_iter().flatten().enumerate();
    let summed = slices.map(|(place, slice)| {
        let alike = parts.iter().filter_map(|(_, part)| part.series.get(place));
        let alike: Vec<&Interval> = alike.collect();
        let sum =
            |what: fn(&Interval) -> IntervalDirection| added(alike.iter().map(|slice| what(slice)));
        Interval {
            read: sum(|slice| slice.read),
            write: sum(|slice| slice.write),
            trim: sum(|slice| slice.trim),
            cpu_ns: 0,
            uring_workers: 0,
            ..*slice
        }
    });
    summed.collect()
}

fn added(all: impl Iterator<Item = IntervalDirection>) -> IntervalDirection {
    let mut sum = IntervalDirection::default();
    let mut time = 0.0;
    let mut unknown = Unknown::default();
    for one in all {
        sum.ios += one.ios;
        sum.bytes += one.bytes;
        sum.max_ns = sum.max_ns.max(one.max_ns);
        time += one.mean_ns as f64 * one.ios as f64;
        unknown = unknown.union(one.unknown);
    }
    if sum.ios > 0 {
        sum.mean_ns = (time / sum.ios as f64) as u64;
        unknown = unknown.union([Statistic::P50, Statistic::P99].into_iter().collect());
    }
    IntervalDirection { unknown, ..sum }
}

fn status(records: &[Record]) -> Status {
    let any = |status: Status| records.iter().any(|record| record.status == status);
    if any(Status::Failed) {
        Status::Failed
    } else if any(Status::Interrupted) {
        Status::Interrupted
    } else {
        Status::Complete
    }
}

fn failure(records: &[Record], names: &[String]) -> Option<String> {
    let broken = records
        .iter()
        .zip(names)
        .filter(|(record, _)| record.status != Status::Complete);
    let texts = broken.map(|(record, name)| match &record.failure {
        Some(why) => format!("{name}: {why}"),
        None => format!("{name} was interrupted"),
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// The targets of all hosts, each behind the name of its host. No address names one from elsewhere.
fn targets(records: &[Record], names: &[String]) -> Vec<crate::TargetFacts> {
    let all = records.iter().zip(names).flat_map(|(record, name)| {
        record.targets.iter().map(move |target| crate::TargetFacts {
            path: format!("{name}:{}", target.path),
            address: None,
            ..target.clone()
        })
    });
    all.collect()
}
