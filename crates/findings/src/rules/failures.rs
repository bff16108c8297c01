//! Things that went wrong: operations that failed, runs that ended early, sums that do not match.

use blocklab_record::{ErrorKind, Origin, Record, Status, Stopped, TargetKind};
use blocklab_units::{Bytes, Nanos, plural};
use blocklab_workload::errno;

use crate::hit::{Hit, critical, joined, per_case, per_run, warning};
use crate::statement::{number, sum, time, word};
use crate::view::Cases;
use crate::{Finding, Severity};

/// A job whose issued operations are not all completed, failed or in flight.
pub(super) fn accounting(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "This is an error of blocklab: do not use the figures, and please report it.";
    per_case(cases, "accounting", Some(advice), |case| {
        let counts = case.jobs().map(|job| job.accounting);
        let wrong = counts
            .filter(|counts| !counts.balances())
            .max_by_key(|counts| {
                let answered = counts.completed + counts.failed + counts.in_flight;
                counts.issued.abs_diff(answered)
            })?;
        let answered = wrong.completed + wrong.failed + wrong.in_flight;
        Some(
            critical(
                "{} operations were issued, but {} are accounted for",
                [number(wrong.issued as f64), number(answered as f64)],
            )
            .with("issued", wrong.issued as f64, "")
            .with("completed", wrong.completed as f64, "")
            .with("failed", wrong.failed as f64, "")
            .with("in flight", wrong.in_flight as f64, ""),
        )
    })
}

/// The run ended because something failed.
pub(super) fn failed(cases: &Cases<'_>) -> Vec<Finding> {
    per_run("failed", None, || {
        let why = cases.record.failure.as_deref();
        let why = word(why.unwrap_or("no reason is recorded"));
        let hit = critical("The run failed before it was complete: {}", [why]);
        let taken = cases.record.measurements.len() as f64;
        (cases.record.status == Status::Failed).then(|| hit.with("measurements taken", taken, ""))
    })
}

/// The run was stopped by a signal, or has no end yet: the store then gives the reason, "the run is
/// still running" or "the run was killed before its end".
pub(super) fn interrupted(cases: &Cases<'_>) -> Vec<Finding> {
    per_run("interrupted", None, || {
        let passes = cases.record.measurements.iter();
        let taken = passes.len();
        let cut = passes.filter(|pass| {
            let mut jobs = pass.jobs.iter();
            jobs.any(|job| job.stopped == Stopped::Interrupted)
        });
        let cut = cut.count();
        let is_unfinished =
            matches!(cases.record.status, Status::Interrupted | Status::Running) || cut > 0;
        let measurements = plural(taken, "measurement");
        let moment = match (taken, cut) {
            (1, 1) => "in its first measurement".to_owned(),
            (_, 0) => format!("after {measurements}"),
            _ => format!("after {measurements}, {cut} of them cut short"),
        };
        let failure = cases.record.failure.as_deref().unwrap_or_default();
        let state = failure.strip_prefix("the run ");
        let hit = warning(
            "The run {} {}; what was planned beyond that is missing",
            [
                word(state.unwrap_or("was stopped by a signal")),
                word(moment),
            ],
        )
        .with("measurements taken", taken as f64, "")
        .with("cut short", cut as f64, "");
        // What a fleet lost is a finding of its own.
        (is_unfinished && cases.record.status != Status::Incomplete).then_some(hit)
    })
}

/// Operations came back with an error, short or changed, or too few of them came back in time: one finding a
/// kind.
pub(super) fn failed_operations(cases: &Cases<'_>) -> Vec<Finding> {
    let mut kinds = std::collections::BTreeMap::<_, (_, Vec<(&str, Hit)>)>::new();
    for case in &cases.list {
        for failures in case.failures() {
            let (first, count) = (failures.first, failures.count as f64);
            let (kind, direction) = (first.kind, first.direction.name());
            let message = word(&first.message);
            let hit = match kind {
                ErrorKind::Verify => critical(
                    "what was written did not come back: {} wrong ({})",
                    [sum(count, "block is", "blocks are"), message],
                ),
                ErrorKind::Rate => critical(
                    "the minimum rate of {}s was not reached ({})",
                    [word(direction), message],
                ),
                _ => critical(
                    "{} failed with {} ({})",
                    [
                        sum(
                            count,
                            format!("{direction} operation"),
                            format!("{direction} operations"),
                        ),
                        word(kind.to_string()),
                        message,
                    ],
                ),
            };
            let at = time(Nanos(first.first_at_ns));
            // No operation failed of a rate that was missed, and so none has a place.
            let hit = if kind == ErrorKind::Rate {
                hit.alone(", {} into its pass", [at]).with(
                    "times that it was not reached",
                    count,
                    "",
                )
            } else {
                let offset = word(Bytes(first.first_offset).to_string());
                hit.alone(", the first {} into its pass at offset {}", [at, offset])
                    .with(
                        &format!("{direction} operations failed with {kind}"),
                        count,
                        "",
                    )
            };
            let of_kind = kinds.entry((kind.to_string(), direction));
            let (_, hits) = of_kind.or_insert((kind, Vec::new()));
            hits.push((case.name, hit));
        }
    }
    let mut findings: Vec<Finding> = kinds
        .into_values()
        .flat_map(|(kind, hits)| {
            let advice = failure_advice(kind, cases.record);
            joined(cases, "failed-operations", Some(advice), hits)
        })
        .collect();
    findings.extend(imported_failures(cases));
    findings
}

/// Other programs count failed operations, and tell neither their kind nor their places.
fn imported_failures(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "The figures hold only the operations that succeeded; the output of the program \
                  itself may say what failed.";
    per_case(cases, "failed-operations", Some(advice), |case| {
        let unexplained = case.jobs().filter(|job| job.errors.is_empty());
        let failed: u64 = unexplained.map(|job| job.accounting.failed).sum();
        let failed = failed as f64;
        (cases.record.origin == Origin::Imported && failed > 0.0).then(|| {
            critical("{} failed", [sum(failed, "operation", "operations")]).with(
                "operations failed",
                failed,
                "",
            )
        })
    })
}

/// What helps against failures of this kind.
fn failure_advice(kind: ErrorKind, record: &Record) -> &'static str {
    let is_emulated = record.origin == Origin::Emulated;
    // Other programs know a volume that blocklab serves, whose bytes lie in memory or in a file.
    let is_served = record
        .measurements
        .iter()
        .any(|pass| pass.observed.is_some());
    let is_model = record.origin == Origin::Simulated || (is_emulated && !is_served);
    let mut kinds = record.targets.iter().map(|target| target.kind);
    let is_device = kinds.len() > 0 && kinds.all(|kind| kind == TargetKind::BlockDevice);
    match kind {
        // An operation that took longer than its job allows has no fault.
        ErrorKind::Errno(number) if is_model && number != errno::ETIMEDOUT => {
            "The device is described with a fault that fails operations. The figures hold only those that \
             succeeded."
        }
        ErrorKind::Errno(errno::ENOSPC) if is_emulated => {
            "Raise the server's memory limit (`emulate --memory-limit`), or give it a file on a disk with \
             room (`emulate --backing FILE`)."
        }
        ErrorKind::Errno(errno::EIO) if is_emulated => {
            "Without an injected fault, look into the kernel's log for the disk of the server's backing \
             file."
        }
        ErrorKind::Errno(errno::ENOSPC) if is_device => {
            "The device ends before this offset, or what it is made of is full: compare its size \
             (`blockdev --getsize64`) with the one above; look whether its thin pool, or the file \
             system below a loop device, has room."
        }
        ErrorKind::Errno(errno::ENOSPC) => "Free space on the target, or use a smaller size.",
        ErrorKind::Errno(errno::EDQUOT) => {
            "Free space of this user or project, raise its quota, or use a smaller size."
        }
        // The kernel refuses what does not fit the sectors of a device that is read past the page cache.
        ErrorKind::Errno(errno::EINVAL) => {
            "With O_DIRECT, sizes and offsets must be multiples of the target's sector, 512 B or 4 KiB: \
             take such a block size, or measure through the page cache."
        }
        ErrorKind::Errno(errno::EIO) => {
            "Look into the kernel's log: the device or the path to it is faulty."
        }
        ErrorKind::Verify => {
            "Trust no data to this target before the cause is found: the medium, the path to it, \
             or somebody else who writes there."
        }
        ErrorKind::Rate => {
            "The job ended there. Look for what held the rate back, or ask for a lower minimum."
        }
        ErrorKind::Short => {
            "The target is smaller than it was at the start, or it ends inside a block."
        }
        _ => "The figures hold only the operations that succeeded.",
    }
}

/// Operations never came back.
pub(super) fn stalled(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = cases.real_or_modelled(
        "Look into the kernel's log for hung tasks and resets of the device.",
        "The device is described with a fault that lets it stand still for longer than a run waits.",
    );
    per_case(cases, "stalled", Some(advice), |case| {
        let stalled = case.jobs().filter(|job| job.stopped == Stopped::Stalled);
        let lost: Vec<u64> = stalled.map(|job| job.accounting.in_flight).collect();
        let lost_operations = lost.iter().sum::<u64>() as f64;
        (!lost.is_empty()).then(|| {
            critical(
                "{} given up",
                [sum(
                    lost_operations,
                    "operation did not come back and was",
                    "operations did not come back and were",
                )],
            )
            .with("operations given up", lost_operations, "")
        })
    })
}

/// An age from which a target is taken to hang: a deep queue of a slow disk is answered before.
const HANGS: Nanos = Nanos::from_secs(5);

/// Operations were in flight when a signal ended the pass, and did not come back after it either.
pub(super) fn unanswered(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Look into the kernel's log for hung tasks and resets of the device; the figures \
                  count the wait as time in which nothing was delivered.";
    per_case(cases, "unanswered", Some(advice), |case| {
        let left = case.jobs().filter(|job| job.stopped != Stopped::Stalled);
        let left: Vec<_> = left.map(|job| job.accounting).collect();
        let ages = left.iter().filter_map(|left| left.oldest_in_flight_ns);
        let oldest = ages.max().map(Nanos)?;
        let in_flight = left.iter().map(|left| left.in_flight).sum::<u64>() as f64;
        let severity = if oldest >= HANGS {
            Severity::Critical
        } else {
            Severity::Warning
        };
        Some(
            Hit::new(
                severity,
                "{} not answered for up to {} when a signal ended the pass",
                [
                    sum(in_flight, "operation was", "operations were"),
                    time(oldest),
                ],
            )
            .with("operations in flight at the end", in_flight, "")
            .with("age of the oldest", oldest.as_secs_f64(), "s"),
        )
    })
}

/// A stored histogram cannot be read.
pub(super) fn damaged_histogram(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "The record was damaged or changed after the run; its quantiles are incomplete.";
    per_case(cases, "damaged-histogram", Some(advice), |case| {
        (case.damaged > 0).then(|| {
            critical(
                "{} missing from the quantiles",
                [sum(
                    f64::from(case.damaged),
                    "latency histogram cannot be read and is",
                    "latency histograms cannot be read and are",
                )],
            )
            .with("unreadable histograms", f64::from(case.damaged), "")
        })
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::ErrorCount;
    use blocklab_workload::Direction;

    use super::*;
    use crate::assess;
    use crate::testing::{Sketch, record, silent, the};

    #[test]
    fn an_accounting_that_does_not_balance_is_our_fault() {
        let mut record = record(&[Sketch::named("a"), Sketch::named("b")]);
        silent(&record, "accounting");
        record.measurements[1].jobs[0].accounting.in_flight = 3;
        let finding = the(&record, "accounting");
        assert_eq!(finding.subject, ["b"]);
        assert_eq!(
            finding.statement,
            "b: 100,000 operations were issued, but 100,003 are accounted for."
        );
        assert_eq!(finding.severity, Severity::Critical);
    }

    /// The story: of a result of fio that counted failed operations, the finding was that the case was
    /// imported without a failure.
    #[test]
    fn failures_that_another_program_counted_are_a_finding() {
        let mut record = record(&[Sketch::named("a")]);
        record.origin = Origin::Imported;
        silent(&record, "failed-operations");
        let accounting = &mut record.measurements[0].jobs[0].accounting;
        accounting.failed = 3;
        accounting.issued += 3;
        assert_eq!(
            the(&record, "failed-operations").statement,
            "a: 3 operations failed."
        );
        silent(&record, "sound");
    }

    /// The story: of one operation that hung, the finding was "1 operations did not come back and were
    /// given up".
    #[test]
    fn one_operation_that_hung_is_counted_in_the_singular() {
        let mut record = record(&[Sketch::named("a")]);
        record.measurements[0].jobs[0].accounting.in_flight = 1;
        record.measurements[0].jobs[0].stopped = Stopped::Stalled;
        let statement = the(&record, "stalled").statement;
        assert_eq!(
            statement,
            "a: 1 operation did not come back and was given up."
        );
    }

    #[test]
    fn a_failed_run_says_why() {
        let mut record = record(&[Sketch::default()]);
        silent(&record, "failed");
        record.status = Status::Failed;
        record.failure = Some("/dev/sdz vanished".to_owned());
        let statement = the(&record, "failed").statement;
        assert_eq!(
            statement,
            "The run failed before it was complete: /dev/sdz vanished."
        );
    }

    #[test]
    fn an_interrupted_run_tells_what_is_there() {
        let mut record = record(&[Sketch::default()]);
        silent(&record, "interrupted");
        record.status = Status::Interrupted;
        record.measurements[2].jobs[0].stopped = Stopped::Interrupted;
        let statement = the(&record, "interrupted").statement;
        assert!(
            statement.contains("after 3 measurements, 1 of them cut short"),
            "{statement}"
        );
        record.measurements.truncate(1);
        let whole = the(&record, "interrupted").statement;
        assert!(whole.contains("signal after 1 measurement;"), "{whole}");
        record.measurements[0].jobs[0].stopped = Stopped::Interrupted;
        let first = the(&record, "interrupted").statement;
        assert!(
            first.contains("signal in its first measurement;"),
            "{first}"
        );
    }

    /// The story: `diagnose` called a run that still went on, and one that the kernel killed for its
    /// memory, "stopped by a signal".
    #[test]
    fn a_run_without_an_end_is_called_what_it_is() {
        let mut record = record(&[Sketch::default()]);
        record.status = Status::Interrupted;
        for state in ["is still running", "was killed before its end"] {
            record.failure = Some(format!("the run {state}"));
            assert_eq!(
                the(&record, "interrupted").statement,
                format!(
                    "The run {state} after 3 measurements; what was planned beyond that is missing."
                )
            );
        }
    }

    #[test]
    fn failures_are_reported_by_kind() {
        let mut record = record(&[Sketch::named("a"), Sketch::named("b")]);
        silent(&record, "failed-operations");
        let error = |kind, count| ErrorCount {
            kind: ErrorKind::Errno(kind),
            message: "No space left on device".to_owned(),
            direction: Direction::Write,
            count,
            first_at_ns: 1_500_000_000,
            first_offset: 1 << 30,
        };
        record.measurements[0].jobs[0].errors = vec![error(errno::ENOSPC, 5), error(errno::EIO, 1)];
        record.measurements[2].jobs[0].errors = vec![error(errno::ENOSPC, 2)];
        record.measurements[1].jobs[0].errors = vec![error(errno::ENOSPC, 1)];
        let found = crate::testing::found(&record, "failed-operations");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].subject, ["a"], "EIO");
        assert_eq!(
            found[1].statement,
            "a and b: 8 write operations failed with ENOSPC (No space left on device)."
        );
        assert_eq!(assess(&record).rows[0].errors, 8);
    }

    /// A run of one case, in which a write failed.
    fn one_failed(kind: ErrorKind) -> Record {
        let mut record = record(&[Sketch::named("a")]);
        record.measurements[0].jobs[0].errors = vec![ErrorCount {
            kind,
            message: "the kernel's words".to_owned(),
            direction: Direction::Write,
            count: 1,
            first_at_ns: 1,
            first_offset: 0,
        }];
        record
    }

    /// The story: a job that missed its minimum rate had "1 read operation failed with rate …, at offset
    /// 0 B", though none had failed.
    #[test]
    fn a_minimum_rate_that_was_missed_is_no_failed_operation() {
        let found = the(&one_failed(ErrorKind::Rate), "failed-operations");
        assert_eq!(
            found.statement,
            "a: the minimum rate of writes was not reached (the kernel's words), 1 ns into its pass."
        );
        assert!(
            found
                .advice
                .is_some_and(|advice| advice.contains("a lower minimum"))
        );
    }

    /// The story: of a simulated device whose file describes failing operations, "look into the kernel's log:
    /// the device or the path to it is faulty".
    #[test]
    fn a_simulated_fault_is_in_no_kernels_log() {
        let mut record = one_failed(ErrorKind::Errno(errno::EIO));
        record.measurements[0].jobs[0].stopped = Stopped::Stalled;
        for origin in [Origin::Simulated, Origin::Emulated] {
            record.origin = origin;
            for rule in ["failed-operations", "stalled"] {
                let advice = the(&record, rule).advice;
                assert!(advice.is_some_and(|advice| advice.contains("is described with a fault")));
            }
        }
        record.measurements[0].observed = Some(Box::new(crate::testing::observed()));
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.contains("the server's backing file")));
    }

    /// The story: operations on a simulated gp3 took longer than the `max_latency` of a job, and "the device
    /// is described with a fault".
    #[test]
    fn an_operation_that_took_too_long_is_no_described_fault() {
        let mut record = one_failed(ErrorKind::Errno(errno::ETIMEDOUT));
        record.origin = Origin::Simulated;
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.starts_with("The figures hold only")));
    }

    /// A served volume that reached its memory limit was to get a smaller --size or free space.
    #[test]
    fn a_served_volume_without_room_needs_memory_or_a_file() {
        let mut record = one_failed(ErrorKind::Errno(errno::ENOSPC));
        record.origin = Origin::Emulated;
        record.measurements[0].observed = Some(Box::new(crate::testing::observed()));
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.contains("--memory-limit")));
        // A run on `emu:` has no server: its device file describes one that is full.
        record.measurements[0].observed = None;
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.contains("is described with a fault")));
    }

    /// The story: a device that shrank during the run ended it with ENOSPC, and the advice was to free
    /// space on it.
    #[test]
    fn a_device_without_room_has_become_smaller_or_lacks_room_below() {
        let mut record = one_failed(ErrorKind::Errno(errno::ENOSPC));
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.starts_with("Free space")));
        for target in &mut record.targets {
            target.kind = TargetKind::BlockDevice;
        }
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.contains("blockdev --getsize64")));
    }

    #[test]
    fn a_quota_that_is_used_up_is_named() {
        let record = one_failed(ErrorKind::Errno(errno::EDQUOT));
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.contains("raise its quota")));
    }

    /// The story: blocks of 1,000 bytes failed with EINVAL on a disk with sectors of 512 bytes, and all
    /// advice was that "the figures hold only the operations that succeeded".
    #[test]
    fn a_block_that_does_not_fit_the_sectors_is_explained() {
        let record = one_failed(ErrorKind::Errno(errno::EINVAL));
        let advice = the(&record, "failed-operations").advice;
        assert!(advice.is_some_and(|advice| advice.contains("multiples of the target's sector")));
    }

    #[test]
    fn wrong_data_is_reported_as_such() {
        let mut record = record(&[Sketch::named("a")]);
        record.measurements[0].jobs[0].errors = vec![ErrorCount {
            kind: ErrorKind::Verify,
            message: "block at 0x1000 of sd1: 8 of 8 sectors are wrong".to_owned(),
            direction: Direction::Read,
            count: 2,
            first_at_ns: 1_500_000_000,
            first_offset: 4096,
        }];
        let finding = the(&record, "failed-operations");
        assert_eq!(
            finding.statement,
            "a: what was written did not come back: 2 blocks are wrong (block at 0x1000 of sd1: 8 \
             of 8 sectors are wrong), the first 1.5 s into its pass at offset 4 KiB."
        );
        assert!(
            finding
                .advice
                .is_some_and(|advice| advice.contains("Trust no data"))
        );
    }

    #[test]
    fn operations_that_never_came_back() {
        let mut record = record(&[Sketch::default()]);
        silent(&record, "stalled");
        let job = &mut record.measurements[0].jobs[0];
        job.stopped = Stopped::Stalled;
        (job.accounting.in_flight, job.accounting.issued) = (4, job.accounting.issued + 4);
        assert!(the(&record, "stalled").statement.contains("4 operations"));
    }

    /// A disk stopped answering 2 s into a case, and the user pressed Ctrl-C 18 s later: the run was
    /// shown with the figures of its first 2 s, and nothing showed the 8 operations that waited.
    #[test]
    fn operations_in_flight_at_a_signal_are_reported_with_their_age() {
        let mut record = record(&[Sketch::default()]);
        let mut left = |in_flight, age: Option<Nanos>| {
            let job = &mut record.measurements[0].jobs[0];
            job.stopped = Stopped::Interrupted;
            job.accounting.in_flight = in_flight;
            job.accounting.oldest_in_flight_ns = age.map(|age| age.0);
            record.clone()
        };
        silent(&left(0, None), "unanswered");
        let hung = the(&left(8, Some(Nanos::from_secs(18))), "unanswered");
        assert!(
            hung.statement
                .contains("8 operations were not answered for up to 18.0 s"),
            "{}",
            hung.statement
        );
        assert_eq!(hung.severity, Severity::Critical);
        let slow = the(&left(8, Some(Nanos::from_millis(900))), "unanswered");
        assert_eq!(slow.severity, Severity::Warning);
    }

    #[test]
    fn a_damaged_histogram_is_said_and_the_rest_still_shown() {
        let mut record = record(&[Sketch::default()]);
        silent(&record, "damaged-histogram");
        let job = &mut record.measurements[0].jobs[0];
        let read = job.directions.get_mut(&Direction::Read).unwrap();
        read.service.histogram_hdr = "HISTFAAA nonsense".to_owned();
        assert_eq!(
            the(&record, "damaged-histogram").severity,
            Severity::Critical
        );
        let row = assess(&record).rows.remove(0);
        assert!(
            row.directions[0].service_ns.at("p50") > 0,
            "the other passes remain"
        );
    }
}
