//! In: the Records of hosts that ran the same load at the same time. Out: one Record of all of them.
//!
//! A file of its own: the only place in which Records become another Record. Nothing is averaged:
//! a measurement has the jobs of all hosts, so rates add up and histograms
//! are merged bucket by bucket wherever the jobs of one host would be.

use std::collections::BTreeMap;
use std::ops::Range;

use blocklab_units::plural;
use serde::{Deserialize, Serialize};

use crate::{
    Cpu, DiskUse, Environment, Interval, IntervalDirection, JobResult, LimitUse, Measurement,
    ModelUse, Note, NoteLevel, Record, Statistic, Status, TargetUse, Unknown,
};

/// What several hosts measured together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fleet {
    /// In the order in which their runs were named.
    pub hosts: Vec<FleetHost>,
    /// When each pass of each case ran on them.
    pub passes: Vec<FleetPass>,
    /// Hosts that took part and left no run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostHost>,
}

impl Fleet {
    /// The passes of a case to which the most hosts came. The others have the rates of some hosts
    /// missing, and are in no figure; nor is a pass 0, which was run before them.
    pub fn whole_passes(&self, case: &str) -> impl Iterator<Item = &FleetPass> + Clone {
        let passes = self.passes.iter();
        let passes = passes.filter(move |pass| pass.case == case && pass.pass > 0);
        let most = passes.clone().map(|pass| pass.hosts).max();
        passes.filter(move |pass| Some(pass.hosts) == most)
    }
}

/// A host whose share is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostHost {
    /// As the user named it.
    pub name: String,
    /// What is known of it.
    pub why: String,
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
    /// How far its time of day is from that of the first host, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<HostClock>,
}

/// How far the clock of a host is from that of the first, before a run and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostClock {
    /// Before the first pass.
    pub before: ClockOffset,
    /// After the last one; `None`: the host was not reached any more.
    pub after: Option<ClockOffset>,
}

/// What messages to a host and back say of its clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Its time of day minus that of the first host.
    pub offset_ns: i64,
    /// The same of the clocks that count from a start of their own; text, because JSON readers lose
    /// the low bits of large numbers.
    pub monotonic_offset_ns: String,
    /// The shortest way there and back: the offset is off by half of it at most.
    pub round_trip_ns: u64,
    /// The time of day at which it was measured, by the first host.
    pub at_unix_us: u64,
}

impl HostClock {
    /// The offset at a time of day of the host: on the line between the two measurements.
    fn offset_at(&self, unix_ns: u64) -> i64 {
        let first = &self.before;
        let Some(last) = &self.after else {
            return first.offset_ns;
        };
        let [from, to] = [first, last]
            .map(|measured| measured.at_unix_us as f64 * 1e3 + measured.offset_ns as f64);
        if to <= from {
            return first.offset_ns;
        }
        let share = ((unix_ns as f64 - from) / (to - from)).clamp(0.0, 1.0);
        first.offset_ns + ((last.offset_ns - first.offset_ns) as f64 * share) as i64
    }
}

/// One host's share of a fleet: its run, and what only the fleet knows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRun {
    /// The name of the host; `None`: that of its machine.
    pub name: Option<String>,
    /// Its clock, where that was compared with the first host's.
    pub clock: Option<HostClock>,
    /// Its run.
    pub record: Record,
}

impl HostRun {
    /// A run whose host is known by its Record only.
    pub const fn unnamed(record: Record) -> Self {
        Self {
            name: None,
            clock: None,
            record,
        }
    }
}

/// A pass of a case on all hosts. Times are by the clock of each host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetPass {
    /// Name of the case.
    pub case: String,
    /// From 1; 0: a pass that was run before the others and enters no figure.
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
    /// What the machine of each host did; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<HostMachine>,
}

/// What the machine of one host did in a pass: figures that have no sum over hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostMachine {
    /// Its place among the hosts of the fleet.
    pub host: u32,
    /// As in its own measurement.
    pub cpu: Cpu,
    /// As in its own measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<DiskUse>,
    /// As in its own measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// As in its own measurement; targets are counted among those of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<ModelUse>>,
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
pub fn merge(runs: &[HostRun], lost: &[LostHost]) -> Result<Record, NoFleet> {
    let records: Vec<&Record> = runs.iter().map(|run| &run.record).collect();
    check(&records, lost)?;
    let mut others = records[1..].iter();
    if let Some((other, what)) =
        others.find_map(|other| Some((other, difference(records[0], other)?)))
    {
        return Err(NoFleet::Loads {
            first: records[0].id.clone(),
            other: other.id.clone(),
            what,
        });
    }
    merge_parts(runs, lost)
}

/// As [`merge`], but the hosts ran different parts of one load, so that each has jobs of its own.
///
/// # Errors
/// [`NoFleet`] when the runs cannot have been made together.
pub fn merge_parts(runs: &[HostRun], lost: &[LostHost]) -> Result<Record, NoFleet> {
    let records: Vec<&Record> = runs.iter().map(|run| &run.record).collect();
    check(&records, lost)?;
    let names = host_names(runs);
    let first = records[0];
    let hosts = runs.iter().zip(&names).map(|(run, name)| FleetHost {
        name: name.clone(),
        run: run.record.id.clone(),
        status: run.record.status,
        failure: run.record.failure.clone(),
        environment: run.record.environment.clone(),
        clock: run.clock.clone(),
    });
    let by_pass = by_pass(runs);
    let fleet = Fleet {
        hosts: hosts.collect(),
        passes: by_pass.iter().map(|parts| pass(parts)).collect(),
        lost: lost.to_vec(),
    };
    let (measurements, left_out) = measurements(&by_pass, &fleet, &names);
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
        status: status(&records, lost),
        failure: failure(&records, &names, lost),
        targets: targets(&records, &names),
        fleet: Some(Box::new(fleet)),
        measurements,
        note: None,
        ..first.clone()
    };
    for note in left_out {
        note.add_to(&mut merged.notes);
    }
    // The plan names the targets of one host: it cannot be run again for all.
    (merged.requested.plan, merged.requested.plan_format) = (None, None);
    for record in &records[1..] {
        for note in &record.notes {
            note.clone().add_to(&mut merged.notes);
        }
    }
    Ok(merged)
}

/// The measurements of the [whole passes](Fleet::whole_passes), and a note on each other one: beside whole
/// ones, a pass in which the rates of some hosts are missing would pull the mean of the case down.
fn measurements(
    by_pass: &[Vec<Part<'_>>],
    fleet: &Fleet,
    names: &[String],
) -> (Vec<Measurement>, Vec<Note>) {
    let (mut measurements, mut left_out) = (Vec::new(), Vec::new());
    for (parts, pass) in by_pass.iter().zip(&fleet.passes) {
        // All whole passes of a case have the same number of hosts; more came to a pass 0 where one was lost
        // after it.
        let whole = fleet.whole_passes(&pass.case).next();
        let most = whole.map_or(pass.hosts, |whole| whole.hosts);
        if pass.hosts >= most {
            measurements.push(merged(parts, names));
            continue;
        }
        let why = format!(
            "pass {} was measured by {} of {}, so it is in no figure",
            pass.pass,
            pass.hosts,
            plural(most as usize, "host")
        );
        left_out.push(Note::new(NoteLevel::Ignored, &*pass.case, why));
    }
    (measurements, left_out)
}

/// Checks that the runs can be those of one fleet.
fn check(records: &[&Record], lost: &[LostHost]) -> Result<(), NoFleet> {
    let [first, others @ ..] = records else {
        return Err(NoFleet::TooFew);
    };
    if others.is_empty() && lost.is_empty() {
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
    }
    Ok(())
}

/// How the load of another run differs in a case that both have; a case that one of them lacks may
/// have been cut off.
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
    let [ours, theirs] = [first, other].map(|record| -> Vec<&str> {
        let all = record.measurements.iter();
        all.map(|measured| &*measured.case).collect()
    });
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
fn host_names(runs: &[HostRun]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let own = &run.record.environment.host_name;
        let known = run.name.as_ref().or(own.as_ref()).cloned();
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

/// What one host measured in a pass.
struct Part<'a> {
    /// Its place among the hosts.
    host: usize,
    /// The place of its first target among those of all hosts.
    first_target: usize,
    clock: Option<&'a HostClock>,
    measured: &'a Measurement,
}

/// The measurements of one pass of one case, in the order in which the passes first appear.
fn by_pass(runs: &[HostRun]) -> Vec<Vec<Part<'_>>> {
    let mut order: Vec<Vec<Part<'_>>> = Vec::new();
    let mut places: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    let mut first_target = 0;
    for (host, run) in runs.iter().enumerate() {
        for measured in &run.record.measurements {
            let key = (measured.case.as_str(), measured.pass);
            let place = *places.entry(key).or_insert(order.len());
            if place == order.len() {
                order.push(Vec::new());
            }
            order[place].push(Part {
                host,
                first_target,
                clock: run.clock.as_ref(),
                measured,
            });
        }
        first_target += run.record.targets.len();
    }
    order
}

/// When a measurement began and ended, and when its ramp was over: nanoseconds since 1970, by the
/// first host's clock where the clocks were compared, else by the host's own.
struct Span {
    begin_ns: u64,
    /// In a pass that was stopped in its ramp, maybe a little after the end.
    ramp_end_ns: u64,
    end_ns: u64,
}

/// When a host measured; `None` if its moments are not known.
fn span(part: &Part<'_>) -> Option<Span> {
    let measured = part.measured;
    let own = measured.started_unix_us? * 1000;
    let begin_ns = part.clock.map_or(own, |clock| {
        own.saturating_add_signed(-clock.offset_at(own))
    });
    let ramp = measured
        .series
        .iter()
        .filter(|slice| slice.ramp)
        .map(|slice| slice.length_ns);
    Some(Span {
        begin_ns,
        ramp_end_ns: begin_ns + ramp.sum::<u64>(),
        end_ns: begin_ns + measured.elapsed_ns,
    })
}

/// When and how fast all hosts ran a pass.
fn pass(parts: &[Part<'_>]) -> FleetPass {
    let known: Option<Vec<Span>> = parts.iter().map(span).collect();
    let spans = known.unwrap_or_default();
    let begins = spans.iter().map(|span| span.begin_ns);
    let ends = spans.iter().map(|span| span.end_ns);
    let from = spans.iter().map(|span| span.ramp_end_ns).max();
    let to = ends.clone().min();
    let window = from.zip(to).map(|(from, to)| from..to.max(from));
    let length = window.as_ref().map(|window| window.end - window.start);
    let lengths = spans.iter();
    let longest = lengths
        .map(|span| span.end_ns.saturating_sub(span.ramp_end_ns))
        .max();
    let moved = window.map(|window| moved(parts, &spans, window));
    let rates = moved
        .zip(length.filter(|length| *length > 0))
        .map(|((ios, bytes), length)| {
            let seconds = length as f64 / 1e9;
            (ios / seconds, bytes / seconds)
        });
    FleetPass {
        case: parts[0].measured.case.clone(),
        pass: parts[0].measured.pass,
        hosts: u32::try_from(parts.len()).unwrap_or(u32::MAX),
        start_skew_ns: skew(begins),
        end_skew_ns: skew(ends),
        window_ns: length,
        window_percent: length
            .zip(longest.filter(|longest| *longest > 0))
            .map(|(length, longest)| length as f64 / longest as f64 * 100.0),
        iops: rates.map(|(iops, _)| iops),
        bytes_per_s: rates.map(|(_, bytes_per_s)| bytes_per_s),
        machines: parts.iter().map(machine).collect(),
    }
}

/// From the first of some moments to the last; `None` without any.
fn skew(moments: impl Iterator<Item = u64> + Clone) -> Option<u64> {
    Some(moments.clone().max()? - moments.min()?)
}

/// What the machine of a host did during the measurement.
fn machine(part: &Part<'_>) -> HostMachine {
    let measured = part.measured;
    HostMachine {
        host: u32::try_from(part.host).unwrap_or(u32::MAX),
        cpu: measured.cpu,
        disks: measured.disks.clone(),
        throttled_ns: measured.throttled_ns,
        model: measured.model.clone(),
    }
}

/// Operations and bytes of all hosts in a window; a slice counts in the part that lies in it.
fn moved(parts: &[Part<'_>], spans: &[Span], window: Range<u64>) -> (f64, f64) {
    let (mut ios, mut bytes) = (0.0, 0.0);
    for (part, span) in parts.iter().zip(spans) {
        for slice in part.measured.series.iter().filter(|slice| !slice.ramp) {
            let end = span.begin_ns + slice.end_ns;
            let begin = end.saturating_sub(slice.length_ns);
            let inside = end.min(window.end).saturating_sub(begin.max(window.start));
            let share = inside as f64 / slice.length_ns.max(1) as f64;
            for direction in [slice.read, slice.write, slice.trim] {
                ios += direction.ios as f64 * share;
                bytes += direction.bytes as f64 * share;
            }
        }
    }
    (ios, bytes)
}

/// One measurement of what all hosts measured in a pass: the jobs of each, and their slices added up.
fn merged(parts: &[Part<'_>], names: &[String]) -> Measurement {
    let first = parts[0].measured;
    let jobs = parts.iter().flat_map(|part| {
        part.measured.jobs.iter().map(|job| JobResult {
            host: Some(names[part.host].clone()),
            ..job.clone()
        })
    });
    let measured = || parts.iter().map(|part| part.measured);
    Measurement {
        case: first.case.clone(),
        settings: first.settings.clone(),
        pass: first.pass,
        started_ns: first.started_ns,
        started_unix_us: measured().filter_map(|one| one.started_unix_us).min(),
        elapsed_ns: measured().map(|one| one.elapsed_ns).max().unwrap_or(0),
        setup_ns: measured().map(|one| one.setup_ns).max().unwrap_or(0),
        jobs: jobs.collect(),
        series: series(parts),
        uring_workers_max: measured()
            .map(|one| one.uring_workers_max)
            .max()
            .unwrap_or(0),
        stood_still_ns: measured().filter_map(|one| one.stood_still_ns).max(),
        throttled_ns: measured().filter_map(|one| one.throttled_ns).max(),
        model: model(parts),
        // What one machine's processors and disks did is no figure of the fleet.
        cpu: Cpu {
            unknown: [Statistic::Process, Statistic::MachineBusy]
                .into_iter()
                .collect(),
            ..Cpu::default()
        },
        ..Measurement::default()
    }
}

/// What the models of all hosts counted, by the targets of all hosts; `None` where a host has no model:
/// nothing would be known of what held its operations back.
fn model(parts: &[Part<'_>]) -> Option<Box<ModelUse>> {
    let mut merged = ModelUse::default();
    for part in parts {
        let own = part.measured.model.as_deref()?;
        let first = u32::try_from(part.first_target).ok()?;
        merged
            .targets
            .extend(own.targets.iter().map(|used| TargetUse {
                target: first + used.target,
                ..*used
            }));
        merged.limits.extend(own.limits.iter().map(|used| LimitUse {
            targets: used.targets.iter().map(|place| first + place).collect(),
            ..used.clone()
        }));
    }
    Some(Box::new(merged))
}

/// The slices that begin together, added up: each host cut its time in the same way. Percentiles of
/// slices cannot be added and are not known.
fn series(parts: &[Part<'_>]) -> Vec<Interval> {
    let longest = parts
        .iter()
        .map(|part| &part.measured.series)
        .max_by_key(|series| series.len());
    let slices = longest.into_iter().flatten().enumerate();
    let summed = slices.map(|(place, slice)| {
        let alike = parts
            .iter()
            .filter_map(|part| part.measured.series.get(place));
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

/// The sum of what several hosts did in a direction.
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

/// How a fleet ended.
fn status(records: &[&Record], lost: &[LostHost]) -> Status {
    if !lost.is_empty() {
        return Status::Incomplete;
    }
    // The worst of any host is that of the fleet.
    for worst in [Status::Failed, Status::Interrupted] {
        if records.iter().any(|record| record.status == worst) {
            return worst;
        }
    }
    Status::Complete
}

/// Why a fleet did not end as planned; `None` if it did.
fn failure(records: &[&Record], names: &[String], lost: &[LostHost]) -> Option<String> {
    let gone = lost
        .iter()
        .map(|host| format!("{}: {}", host.name, host.why));
    let broken = records
        .iter()
        .zip(names)
        .filter(|(record, _)| record.status != Status::Complete);
    let texts = broken.map(|(record, name)| match &record.failure {
        Some(why) => format!("{name}: {why}"),
        None => format!("{name} was interrupted"),
    });
    let texts: Vec<String> = gone.chain(texts).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// The targets of all hosts, each behind the name of its host. No address names one from elsewhere.
fn targets(records: &[&Record], names: &[String]) -> Vec<crate::TargetFacts> {
    let all = records.iter().zip(names).flat_map(|(record, name)| {
        record.targets.iter().map(move |target| crate::TargetFacts {
            path: format!("{name}:{}", target.path),
            address: None,
            ..target.clone()
        })
    });
    all.collect()
}
