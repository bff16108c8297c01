//! The words for the facts of a Record, the same in every form.

use std::collections::{BTreeMap, BTreeSet};

use blocklab_findings::{Confidence, Estimate, Finding, OVERFLOW_NS, Row, RowDirection, Severity};
use blocklab_record::{
    Accounting, BlockDevice, ErrorCount, FileSystem, Interval, IntervalDirection, Measurement,
    NoteLevel, Origin, Record, Status, TargetFacts, TargetKind,
};
use blocklab_units::{Bytes, count, latency, plural};
use blocklab_workload::Direction;
use serde::Serialize;

pub use super::amounts::{cents, fine_rate, iops, mb_per_s, money, percent, quantity, trimmed};

/// Separates two facts on a line.
const DOT: &str = " · ";

/// The name that a value has in JSON, as words: `not tested` for `not_tested`.
pub fn word(value: impl Serialize) -> String {
    let name = serde_json::to_value(value).expect("a name is plain text");
    name.as_str().unwrap_or_default().replace('_', " ")
}

/// How to cite a run: `blocklab 0.1.0, study quick, run 7f3a2c, measured 2025-11-20 14:03:22 UTC`.
/// For several runs: all studies, the first and the last run, and when the first began.
pub fn cite(records: &[&Record]) -> String {
    let [first, rest @ ..] = records else {
        return String::new();
    };
    let joined = |text: &dyn Fn(&Record) -> String| {
        let unique: BTreeSet<String> = records.iter().map(|record| text(record)).collect();
        unique.into_iter().collect::<Vec<_>>().join(" and ")
    };
    let Some(last) = rest.last() else {
        return format!(
            "{}, study {}, run {}, {} {}",
            first.tool,
            first.requested.name,
            first.id,
            first.origin.name(),
            moment(&first.started_at)
        );
    };
    format!(
        "{}, study {}, {} runs from {} to {}, {} {}",
        joined(&|record| record.tool.clone()),
        joined(&|record| record.requested.study().to_owned()),
        records.len(),
        first.id,
        last.id,
        joined(&|record| record.origin.name().to_owned()),
        moment(&first.started_at)
    )
}

/// What a device warns of in its SMART log page (NVM Express base specification 2.0, figure 207).
pub fn device_warnings(bits: u8) -> String {
    const WARNINGS: [&str; 6] = [
        "few spare blocks are left",
        "its temperature is out of bounds",
        "it is no longer reliable",
        "it takes no more writes",
        "its volatile memory is not backed up",
        "its persistent memory is not reliable",
    ];
    let named: Vec<&str> = WARNINGS
        .iter()
        .enumerate()
        .filter(|(bit, _)| bits >> bit & 1 == 1)
        .map(|(_, text)| *text)
        .collect();
    named.join(", ")
}

/// How many values are of each kind, in the order of `kinds`: `5 confirmed, 1 contradicted`. Kinds
/// that do not occur are left out.
pub fn tally<T: PartialEq + Serialize>(
    kinds: &[T],
    all: impl Iterator<Item = T> + Clone,
) -> String {
    let mut counts = Vec::new();
    for kind in kinds {
        let number = all.clone().filter(|known| known == kind).count();
        if number > 0 {
            counts.push(format!("{number} {}", word(kind)));
        }
    }
    counts.join(", ")
}

/// Whether an operation completed in any pass that counts, outside its ramp.
fn has_figures(record: &Record) -> bool {
    // Pass 0 warms the target up, and enters no figure.
    let passes = record.measurements.iter().filter(|one| one.pass > 0);
    let jobs = passes.flat_map(|pass| &pass.jobs);
    let mut directions = jobs.flat_map(|job| job.directions.values());
    directions.any(|direction| direction.ios > 0)
}

/// How a run ended that did not end as planned; `None` for any other run.
pub fn ending(record: &Record) -> Option<String> {
    let opening = match record.status {
        Status::Complete => return None,
        Status::Interrupted => "The run was interrupted",
        Status::Failed => "The run failed",
        Status::Incomplete => "The run is incomplete",
        Status::Running => "The run is still running",
    };
    let failure = record.failure.as_deref().unwrap_or_default();
    let reason = failure.trim_end_matches('.');
    // A run without an end is not interrupted: it may still go on.
    let state = reason.strip_prefix("the run ");
    let rest = if has_figures(record) {
        "What was measured until then is shown."
    } else {
        "Nothing was measured until then."
    };
    if let Some(state) =
        state.filter(|_| matches!(record.status, Status::Interrupted | Status::Running))
    {
        return Some(format!("The run {state}. {rest}"));
    }
    let colon = if reason.is_empty() { "" } else { ": " };
    Some(format!("{opening}{colon}{reason}. {rest}"))
}

/// `High`, `Medium`, `Low`.
pub fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "High",
        Confidence::Medium => "Medium",
        Confidence::Low => "Low",
    }
}

/// Notes with the same text on several subjects, as one.
pub struct MergedNote<'a> {
    /// How well it was honoured.
    pub level: NoteLevel,
    /// The subjects, in the order of the record.
    pub subjects: Vec<&'a str>,
    /// What was done instead, and why.
    pub text: &'a str,
}

/// The notes of a record, with those of the same text merged.
pub fn notes(record: &Record) -> Vec<MergedNote<'_>> {
    let mut all: Vec<MergedNote<'_>> = Vec::new();
    for note in &record.notes {
        let same = all
            .iter_mut()
            .find(|known| known.level == note.level && known.text == note.text);
        match same {
            Some(known) => known.subjects.push(&note.subject),
            None => all.push(MergedNote {
                level: note.level,
                subjects: vec![&note.subject],
                text: &note.text,
            }),
        }
    }
    all
}

impl MergedNote<'_> {
    /// The first subjects: `a`, `a and b`, `a, b and 6 more`.
    pub fn subject(&self) -> String {
        first_of(&self.subjects)
    }
}

/// The first names of a list: `a`, `a and b`, `a, b and 6 more`.
fn first_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [one, other, rest @ ..] => format!("{one}, {other} and {} more", rest.len()),
    }
}

/// A moment in RFC 3339 and UTC as people read it: `2025-11-20 14:03:22 UTC`. Any other text, as
/// imported runs have it, stays as it is.
pub fn moment(rfc3339: &str) -> String {
    if rfc3339.is_empty() {
        return "time unknown".to_owned();
    }
    let Some((date, time)) = rfc3339.split_once('T') else {
        return rfc3339.to_owned();
    };
    match time.strip_suffix('Z') {
        Some(time) => format!("{date} {} UTC", time.split('.').next().unwrap_or(time)),
        None => rfc3339.to_owned(),
    }
}

/// `scratch file`, `block device`.
pub fn target_kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::File => "file",
        TargetKind::Scratch => "scratch file",
        TargetKind::BlockDevice => "block device",
        TargetKind::CharDevice => "character device",
        TargetKind::Null => "no device",
        TargetKind::Model => "device model",
    }
}

/// A text for other programs holds the names of up to this many targets.
const MOST_TARGETS: usize = 8;

/// The targets of a run as one text, by which other programs tell runs apart: `a`, `a and b`, `a, b, c`;
/// of more than eight, the first ones and how many follow.
pub fn target_names(record: &Record) -> String {
    let names: Vec<&str> = record.targets.iter().map(|target| &*target.path).collect();
    match names.len() {
        3..=MOST_TARGETS => names.join(", "),
        _ => first_of(&names),
    }
}

/// Targets of one kind: `/data/x · scratch file · 1 GiB`, or `/data/x, /data/y and 6 more · file ·
/// 8 GiB in all`.
fn targets(alike: &[TargetFacts]) -> String {
    let names: Vec<&str> = alike.iter().map(|target| &*target.path).collect();
    let kinds = alike.iter().map(|target| target_kind(target.kind));
    let mut parts = vec![first_of(&names)];
    parts.extend(kinds.take(1).map(str::to_owned));
    let size = alike
        .iter()
        .fold(Bytes::ZERO, |sum, target| sum + target.size_bytes);
    if size.0 > 0 {
        let all = if alike.len() > 1 { " in all" } else { "" };
        parts.push(format!("{size}{all}"));
    }
    parts.join(DOT)
}

/// `ext4 on /data · rw,relatime`.
fn file_system(fs: &FileSystem) -> String {
    let place = format!("{} on {}", fs.kind, fs.mount_point);
    if fs.options.is_empty() {
        return place;
    }
    [place, fs.options.clone()].join(DOT)
}

/// `nvme0n1 · Some Model · 442.4 GiB · instance store · scheduler none`.
fn device(device: &BlockDevice) -> String {
    let scheduler = device.scheduler.as_ref();
    let parts = [
        Some(device.name.clone()),
        device.model.clone(),
        Some(device.size_bytes.to_string()),
        device.cloud.as_deref().map(cloud),
        scheduler.map(|name| format!("scheduler {name}")),
        rotates(device)
            .filter(|rotate| *rotate)
            .map(|_| "rotational".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(DOT)
}

/// Whether the medium rotates. `None` for transports that end in a host or in memory, where the
/// kernel's flag is a default and no evidence.
pub fn rotates(device: &BlockDevice) -> Option<bool> {
    let real = ["nvme", "scsi", "ata", "usb", "mmc", "floppy"];
    real.contains(&device.transport.as_str())
        .then_some(device.rotational)
}

/// The vendor's word for a kind of cloud volume.
pub fn cloud(kind: &str) -> String {
    match kind {
        "ebs" => "EBS volume".to_owned(),
        "instance-store" => "instance store".to_owned(),
        other => other.to_owned(),
    }
}

/// The engines that ran, in order of appearance: `io_uring, O_DIRECT`.
fn engines(record: &Record) -> String {
    let mut seen: Vec<String> = Vec::new();
    for job in record.jobs() {
        let text = match job.direct {
            Some(true) => format!("{}, O_DIRECT", job.engine),
            Some(false) => format!("{}, buffered", job.engine),
            None => job.engine.to_string(),
        };
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen.join("; ")
}

/// The kind and the mount point of a target's file system.
fn mount(target: &TargetFacts) -> Option<(&str, &str)> {
    let system = target.file_system.as_ref()?;
    Some((&system.kind, &system.mount_point))
}

/// What was measured, by the names `target`, `on`, `device` and `engine`.
pub fn measured_on(record: &Record) -> Vec<(&'static str, String)> {
    // Files next to each other in one place are one line: a load may have hundreds of them.
    let groups = record.targets.chunk_by(|one, next| {
        one.kind == TargetKind::File
            && next.kind == one.kind
            && mount(next) == mount(one)
            && next.devices == one.devices
    });
    let mut lines: Vec<_> = match &record.fleet {
        Some(fleet) => {
            let hosts: Vec<&str> = fleet.hosts.iter().map(|host| &*host.name).collect();
            let paths: Vec<&str> = record.targets.iter().map(|target| &*target.path).collect();
            vec![("hosts", first_of(&hosts)), ("targets", first_of(&paths))]
        }
        None => groups.flat_map(target_lines).collect(),
    };
    // No engine drives a model; the depth that one would allow is shown with the cases.
    let engines = engines(record);
    if matches!(record.origin, Origin::Measured | Origin::Imported) && !engines.is_empty() {
        lines.push(("engine", engines));
    }
    lines
}

/// Lines on targets of one kind in one place: the targets, their file system, and the devices below
/// it.
pub fn target_lines(alike: &[TargetFacts]) -> Vec<(&'static str, String)> {
    let mut lines = vec![("target", targets(alike))];
    if let Some(first) = alike.first() {
        lines.extend(first.file_system.iter().map(|fs| ("on", file_system(fs))));
        lines.extend(
            first
                .devices
                .iter()
                .map(|of_target| ("device", device(of_target))),
        );
    }
    lines
}

/// The name of a row: the case, and the direction unless the case names it.
pub fn label(row: &Row, direction: &RowDirection) -> String {
    match row.directions.len() {
        1 => load(&row.case, direction.direction),
        _ => format!("{} {}", row.case, direction.direction),
    }
}

/// A case and its direction, which is not repeated: `seq1m-write`, `mixed-8k write`.
pub fn load(case: &str, direction: Direction) -> String {
    let mut parts = case.split(|c: char| !c.is_alphanumeric());
    if parts.any(|part| part == direction.name()) {
        case.to_owned()
    } else {
        format!("{case} {direction}")
    }
}

/// Shown in place of an interval that is wider than its figure.
const TOO_WIDE: &str = "over 100 %";

/// Whether an interval shows nothing but that more passes are needed: it is wider than the figure
/// itself, or reaches zero.
pub fn has_too_few_passes(estimate: &Estimate) -> bool {
    let percent = estimate.half_width_percent();
    percent.is_some_and(|percent| percent > 100.0 || estimate.low.is_some_and(|low| low <= 0.0))
}

/// Half the width of the interval, relative to the figure: `1.2 %`; `–` without an interval.
pub fn plus_minus(estimate: &Estimate) -> String {
    match estimate.half_width_percent() {
        None => "–".to_owned(),
        Some(_) if has_too_few_passes(estimate) => TOO_WIDE.to_owned(),
        Some(percent) => half(percent),
    }
}

/// A half width, at most with one decimal: `0.4 %`, `12 %`.
fn half(percent: f64) -> String {
    match percent {
        p if p < 0.05 => "<0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{} %", count(p)),
    }
}

/// The latency at a quantile (0 to 1): `12.3 µs`; `~12.3 µs` if too few operations lie beyond it;
/// `>1091 s` if it is longer than a histogram tells; a dash if no distribution is known, as for some
/// imported runs.
pub fn quantile(direction: &RowDirection, quantile: f64, ns: u64) -> String {
    if !direction.knows(quantile) || (ns == 0 && direction.curve.is_empty()) {
        return "–".to_owned();
    }
    if ns >= OVERFLOW_NS {
        return format!(">{}", latency(OVERFLOW_NS as f64));
    }
    let sign = if direction.supports(quantile) {
        ""
    } else {
        "~"
    };
    format!("{sign}{}", latency(ns as f64))
}

/// A percentile of the service latency by its name in fields (`p999`), as [`quantile`] shows it.
pub fn service_percentile(direction: &RowDirection, name: &str) -> String {
    let mut all = direction.service_ns.iter();
    let found = all.find(|(percentile, _)| percentile.name == name);
    let (percentile, ns) = found.expect("a percentile of the table");
    quantile(direction, percentile.share, ns)
}

/// The same in nanoseconds; `None` where it is not known.
pub fn known_service_ns(direction: &RowDirection, name: &str) -> Option<u64> {
    let mut all = direction.service_ns.iter();
    let (_, ns) =
        all.find(|(percentile, _)| percentile.name == name && direction.knows(percentile.share))?;
    Some(ns)
}

/// The mean latency; a dash where it is not known.
pub fn mean(direction: &RowDirection) -> String {
    match direction.mean_ns.value {
        0.0 => "–".to_owned(),
        ns => latency(ns),
    }
}

/// The cases of a finding, unless its statement opens with them (`a:`, `a and b:`) or it is about all
/// cases of the run.
pub fn unnamed(finding: &Finding, all_cases: usize) -> &[String] {
    let statement = &finding.statement;
    let mut cases = finding.subject.iter();
    let all_named = cases.all(|case| {
        statement.starts_with(&format!("{case}:"))
            || statement.starts_with(&format!("{case} and "))
            || statement.contains(&format!(" and {case}:"))
    });
    if finding.subject.len() == all_cases || all_named {
        &[]
    } else {
        &finding.subject
    }
}

/// The finding that says what speaks for the figures.
pub fn good(findings: &[Finding]) -> Option<&Finding> {
    findings
        .iter()
        .find(|finding| finding.severity == Severity::Good)
}

/// Whether a finding doubts the figures of this case.
pub fn is_doubted(case: &str, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| {
        finding.severity > Severity::Info && finding.subject.iter().any(|name| name == case)
    })
}

/// The names of the directions of an interval.
pub const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// An interval's figures in the order of [`DIRECTIONS`].
pub const fn directions(interval: &Interval) -> [IntervalDirection; 3] {
    [interval.read, interval.write, interval.trim]
}

/// The figures of each direction in which something moved, separated by `gap`: `read 6,012 IOPS
/// 24.6 MB/s p50 1.31 ms p99 2.07 ms`.
pub fn moved_figures(interval: &Interval, gap: &str) -> Vec<String> {
    let named = DIRECTIONS.into_iter().zip(directions(interval));
    let moved = named.filter(|(_, direction)| direction.ios > 0);
    let figures = moved.map(|(name, direction)| {
        let iops = count(per_second(direction.ios, interval.length_ns));
        let mb_per_s = mb_per_s(per_second(direction.bytes, interval.length_ns));
        let [p50, p99] = [direction.p50_ns, direction.p99_ns].map(|ns| latency(ns as f64));
        format!("{name} {iops} IOPS{gap}{mb_per_s} MB/s{gap}p50 {p50}{gap}p99 {p99}")
    });
    figures.collect()
}

/// An amount over a time, per second.
pub fn per_second(amount: u64, length_ns: u64) -> f64 {
    amount as f64 * 1e9 / length_ns.max(1) as f64
}

/// The failures of one kind in one direction of a case.
#[derive(Serialize)]
pub struct Failure<'a> {
    /// Name of the case.
    pub case: &'a str,
    /// The first one, with the count of all of them.
    #[serde(flatten)]
    pub error: ErrorCount,
}

/// All failures by case, kind and direction, in the order of the record.
pub fn failures(record: &Record) -> Vec<Failure<'_>> {
    let mut all: Vec<Failure<'_>> = Vec::new();
    for measurement in &record.measurements {
        for error in measurement.jobs.iter().flat_map(|job| &job.errors) {
            let same = all.iter_mut().find(|known| {
                known.case == measurement.case
                    && known.error.kind == error.kind
                    && known.error.direction == error.direction
            });
            match same {
                Some(known) => known.error.count += error.count,
                None => all.push(Failure {
                    case: &measurement.case,
                    error: error.clone(),
                }),
            }
        }
    }
    all
}

/// What became of the operations of the whole run: the sum over all jobs of all measurements.
pub fn accounting(record: &Record) -> Accounting {
    let jobs = record.jobs();
    let mut sum = Accounting::default();
    for one in jobs.map(|job| job.accounting) {
        sum.issued += one.issued;
        sum.completed += one.completed;
        sum.completed_in_ramp += one.completed_in_ramp;
        sum.failed += one.failed;
        sum.in_flight += one.in_flight;
        sum.oldest_in_flight_ns = sum.oldest_in_flight_ns.max(one.oldest_in_flight_ns);
        sum.overdue += one.overdue;
    }
    sum
}

/// Operations in flight on average over the whole run; `None`: not known.
pub struct MeanInFlight {
    /// By Little's law from the latencies, in the measured time. Latency begins when an operation is
    /// issued, so operations that wait in a batch for a call are in this figure only.
    pub by_latency: Option<f64>,
    /// What the kernel counted in the queue of the busiest device below the targets, ramps included.
    pub in_device_queue: Option<f64>,
}

/// Operations in flight on average over the whole run.
pub fn mean_in_flight(record: &Record) -> MeanInFlight {
    let passes = &record.measurements;
    let latencies: f64 = record
        .jobs()
        .flat_map(|job| job.directions.values())
        .map(|direction| direction.ios as f64 * direction.service.mean_ns)
        .sum();
    // The latencies are those after the ramp; the kernel counted from the start of a pass.
    let measured_ns: u64 = passes.iter().filter_map(longest_job_ns).sum();
    let elapsed_ns: u64 = passes.iter().map(|pass| pass.elapsed_ns).sum();
    let mut queues_ms: BTreeMap<&str, u64> = BTreeMap::new();
    for disk in passes.iter().flat_map(|pass| &pass.disks) {
        *queues_ms.entry(&disk.name).or_default() += disk.queue_ms;
    }
    let busiest_ms = queues_ms.into_values().max().unwrap_or(0);
    MeanInFlight {
        by_latency: mean_over(latencies, measured_ns),
        in_device_queue: mean_over(busiest_ms as f64 * 1e6, elapsed_ns),
    }
}

/// Measured time of a pass, in nanoseconds; `None`: it has no job.
fn longest_job_ns(pass: &Measurement) -> Option<u64> {
    pass.jobs.iter().map(|job| job.elapsed_ns).max()
}

/// The mean of what summed up to `sum_ns` in this time. A run without time or without a figure has
/// none: the quotient is 0, infinite or no number.
fn mean_over(sum_ns: f64, time_ns: u64) -> Option<f64> {
    Some(sum_ns / time_ns as f64).filter(|mean| mean.is_normal())
}

/// How the passes of a run are aggregated: `mean of 3 passes`.
pub fn aggregate(record: &Record, rows: &[Row]) -> String {
    let passes = passes(rows);
    match (passes.as_slice(), record.requested.aggregate.as_str()) {
        ([1], _) => "one pass".to_owned(),
        ([n], name) => format!("{name} of {}", plural(*n as usize, "pass")),
        ([], name) => format!("{name} of the passes"),
        ([fewest, .., most], name) => {
            let fewest = count(f64::from(*fewest));
            format!("{name} of {fewest} to {}", plural(*most as usize, "pass"))
        }
    }
}

/// More names of jobs than this, or more cases of several jobs, are counted and not listed.
const MOST_JOBS: usize = 6;

/// What the figures of a case hold that is named after the first of its jobs: `1-db is 3 jobs at once:
/// db.0, log.1, scan.2.` Empty if each case is one job, and for hosts, which have a table of their own.
pub fn joint_cases(record: &Record) -> String {
    match record.fleet {
        Some(_) => String::new(),
        None => cases_of_several_jobs(&record.measurements),
    }
}

fn cases_of_several_jobs(measurements: &[Measurement]) -> String {
    let mut cases: Vec<(&str, Vec<&str>)> = Vec::new();
    for measurement in measurements {
        let is_new = cases.iter().all(|(case, _)| *case != measurement.case);
        if measurement.jobs.len() > 1 && is_new {
            let names = measurement.jobs.iter().map(|job| job.name.as_str());
            cases.push((&measurement.case, names.collect()));
        }
    }
    if cases.len() > MOST_JOBS {
        return format!("{} cases are several jobs at once.", cases.len());
    }
    let sentences = cases.into_iter().map(|(case, names)| {
        let listed = names[..names.len().min(MOST_JOBS)].join(", ");
        let more = match names.len().saturating_sub(MOST_JOBS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{case} is {} jobs at once: {listed}{more}.", names.len())
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// The different numbers of passes among the rows, ascending.
fn passes(rows: &[Row]) -> Vec<u32> {
    let all = rows.iter().flat_map(|row| &row.directions);
    let mut numbers: Vec<u32> = all.map(|direction| direction.iops.passes).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use blocklab_record::JobResult;

    use super::*;

    /// The story: passes of 100 and 1,000 were shown as "± 363 %", which is true and useless.
    #[test]
    fn an_interval_wider_than_the_figure_says_what_it_takes() {
        let shown = |low, high| {
            plus_minus(&Estimate {
                value: 100.0,
                low,
                high,
                min: 0.0,
                max: 0.0,
                cv_percent: 0.0,
                passes: 2,
            })
        };
        assert_eq!(shown(Some(90.0), Some(110.0)), "10 %");
        assert_eq!(shown(Some(1.0), Some(200.0)), "100 %");
        assert_eq!(shown(Some(1.0), Some(300.0)), TOO_WIDE);
        assert_eq!(shown(Some(0.0), Some(150.0)), TOO_WIDE);
        assert_eq!(shown(None, None), "–");
    }

    /// The story: three jobs of fio were shown as "1-db read 1,292 MB/s", and of the job db alone it was
    /// 1 MB/s.
    #[test]
    fn a_case_of_several_jobs_names_them() {
        let joint = |names: &[&str]| {
            let jobs = names.iter().map(|name| JobResult {
                name: (*name).to_owned(),
                ..JobResult::default()
            });
            let measurement = Measurement {
                case: "1-db".to_owned(),
                jobs: jobs.collect(),
                ..Measurement::default()
            };
            cases_of_several_jobs(&[measurement.clone(), measurement])
        };
        assert_eq!(joint(&["db"]), "");
        assert_eq!(
            joint(&["db.0", "log.1", "scan.2"]),
            "1-db is 3 jobs at once: db.0, log.1, scan.2."
        );
        let many: Vec<String> = (0..8).map(|index| format!("db.{index}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            joint(&many),
            "1-db is 8 jobs at once: db.0, db.1, db.2, db.3, db.4, db.5 and 2 more."
        );
    }

    /// The story: "In 3 of 5 cases, 3,000 IOPS is the limit" did not say which, as the cases were
    /// called `a`, `it` and `is`, and the sentence holds these letters.
    #[test]
    fn a_sentence_names_the_cases_that_it_opens_with() {
        let unnamed_in = |statement: &str, cases: &[&str]| {
            let finding = Finding {
                rule: "at-limit",
                subject: cases.iter().map(|case| (*case).to_owned()).collect(),
                severity: Severity::Info,
                confidence: Confidence::High,
                statement: statement.to_owned(),
                evidence: Vec::new(),
                advice: None,
            };
            unnamed(&finding, 5).len()
        };
        let of_three = "In 3 of 5 cases, a rate is the limit of it.";
        assert_eq!(unnamed_in(of_three, &["a", "it", "is"]), 3);
        assert_eq!(unnamed_in("a and it: a limit.", &["a", "it"]), 0);
        assert_eq!(unnamed_in("a: a limit.", &["a"]), 0);
        assert_eq!(unnamed_in(of_three, &["a", "b", "c", "d", "e"]), 0);
    }

    #[test]
    fn moments_are_for_people() {
        assert_eq!(
            moment("2025-11-20T14:03:22.123Z"),
            "2025-11-20 14:03:22 UTC"
        );
        assert_eq!(
            moment("2025-11-20T14:03:22+01:00"),
            "2025-11-20T14:03:22+01:00"
        );
        assert_eq!(moment("yesterday"), "yesterday");
    }
}
