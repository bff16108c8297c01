//! In: a run. Out: its need, and whether that is only a lower bound.

use anyhow::{Result, bail};
use blocklab_advice::Need;
use blocklab_device::Accounting;
use blocklab_findings::{Assessment, Row, assess};
use blocklab_record::{PaceKind, Record};
use blocklab_units::{Bytes, Nanos, SECTOR};
use blocklab_workload::{Direction, Pattern};

/// A need that was derived from a run, a trace or a volume.
pub struct DerivedNeed {
    pub need: Need,
    /// Why the need may be higher: the run got all that its disk could deliver. `None`: it is known.
    pub lower_bound: Option<String>,
    /// How it was derived, one sentence each.
    pub remarks: Vec<String>,
}

/// The need of a run: the rate of its fastest load whose operations are charged one by one, and its highest
/// throughput.
pub fn need(record: &Record) -> Result<DerivedNeed> {
    let assessment = assess(record);
    let rows = &assessment.rows;
    let rates = rows.iter().filter_map(|row| Some((row, row.rate()?)));
    let charged = rates.clone().filter(|(row, rate)| {
        let size = (rate.bytes_per_s / rate.iops).round();
        is_random(record, row) || size < Accounting::MERGED_FROM.as_f64()
    });
    let quickest = charged.max_by(|(_, a), (_, b)| a.iops.total_cmp(&b.iops));
    let widest = rates.map(|(_, rate)| rate.bytes_per_s).fold(0.0, f64::max);
    if widest == 0.0 {
        bail!(
            "run {} moved nothing: no need can be taken from it",
            record.id
        );
    }
    let size: u64 = record
        .targets
        .iter()
        .map(|target| target.size_bytes.0)
        .sum();
    let mut need = Need::new(Bytes(size));
    need.bytes_per_s = widest.floor();
    if let Some((row, rate)) = &quickest {
        need.iops = rate.iops.floor();
        // The mean of several sizes is rounded to whole sectors.
        let sectors = (rate.bytes_per_s / rate.iops / SECTOR as f64).round() as u64;
        need.block = Bytes(sectors.max(1) * SECTOR);
        need.read_percent = Some(read_percent(row));
    }
    let mut findings = assessment.findings.iter();
    let missed = findings.any(|finding| finding.rule == "rate-missed");
    let closed = record.jobs().any(|job| job.pace == PaceKind::Closed);
    let why = if missed {
        Some("It did not get the rate that it asked for")
    } else if closed {
        Some("Its loads ask for all that there is")
    } else {
        None
    };
    // Small operations in sequence are charged one by one, as random ones are.
    let is_small_sequence = quickest
        .as_ref()
        .is_some_and(|(row, _)| !is_random(record, row));
    let kind = if is_small_sequence {
        format!("load of operations below {}", Accounting::MERGED_FROM)
    } else {
        "random load".to_owned()
    };
    let mut remarks = vec![format!(
        "The need is that of run {}: the rate of its quickest {kind}, its largest throughput, and the \
         size of its target.",
        record.id
    )];
    remarks.extend(quickest.and_then(|(row, _)| about_latency(&assessment, row)));
    Ok(DerivedNeed {
        need,
        lower_bound: why.map(|why| {
            format!(
                "{why}, so what it got is what its disk gave, and it needs at least that: say what \
                 it needs with --need, such as --need iops=5000."
            )
        }),
        remarks,
    })
}

/// What a case whose rate was bounded by latency asks of other volumes; `None`: it was bounded otherwise.
fn about_latency(assessment: &Assessment, row: &Row) -> Option<String> {
    let mut findings = assessment.findings.iter();
    findings
        .find(|finding| finding.rule == "latency-bound" && finding.subject.contains(&row.case))?;
    let p99 = row.moved().map(|one| one.service_ns.at("p99"));
    Some(format!(
        "Latency bounds its quickest load, so as many in flight get less from a volume that takes \
         longer. Its p99 was {}: --need p99=TIME asks for as short a one.",
        Nanos(p99.max()?)
    ))
}

/// Whether no job of a case is sequential.
fn is_random(record: &Record, row: &Row) -> bool {
    let of_case = record
        .measurements
        .iter()
        .filter(|one| one.case == row.case);
    let mut jobs = of_case.flat_map(|one| &one.jobs);
    jobs.all(|job| job.pattern != Some(Pattern::Sequential))
}

/// The share of reads among reads, writes and trims.
fn read_percent(row: &Row) -> u8 {
    let all: f64 = row.moved().map(|one| one.iops.value).sum();
    let mut directions = row.directions.iter();
    let reads = directions.find(|one| one.direction == Direction::Read);
    let read_iops = reads.map_or(0.0, |one| one.iops.value);
    (100.0 * read_iops / all).round() as u8
}
