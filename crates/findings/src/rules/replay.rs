//! Whether a replay was what was recorded.

use blocklab_record::{Fidelity, JobResult, Timing};

use crate::Finding;
use crate::hit::{Hit, info, per_case, warning};
use crate::statement::{delay, number, operations};
use crate::view::{CaseView, Cases};

/// One operation in a hundred that is later than this makes another load than the recorded one.
const LATE_NS: u64 = 1_000_000;

/// Operations were issued later than they were recorded: the depth was full, or the machine too slow.
/// Then the device was spared the bursts of the recording.
pub(super) fn late(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Take response latency, which counts from the recorded moment. Where operations waited \
                  for room, a larger depth (`run --max-in-flight`) lets more in flight; else the machine was too slow.";
    per_case(cases, "replay-late", Some(advice), |case| {
        let (job, timing) = latest(case)?;
        let text = "the replay was not what was recorded: 1 in 100 operations was issued {} late or \
                    later, the latest {}, the last one {}, with at most {} in flight";
        let late = &timing.late;
        let slots = [
            delay(late.p99_ns as f64),
            delay(late.max_ns as f64),
            delay(timing.drift_ns as f64),
            number(job.effective_depth.into()),
        ];
        (late.p99_ns > LATE_NS).then(|| evidence(warning(text, slots), job, timing))
    })
}

/// Operations were issued when they were due.
pub(super) fn faithful(cases: &Cases<'_>) -> Vec<Finding> {
    per_case(cases, "replay-faithful", None, |case| {
        let (job, timing) = latest(case)?;
        let late = &timing.late;
        let text = "replayed within {} of the recorded moments (p99), the latest {}, the last {}";
        let slots = [late.p99_ns, late.max_ns, timing.drift_ns].map(|ns| delay(ns as f64));
        (late.p99_ns <= LATE_NS).then(|| evidence(info(text, slots), job, timing))
    })
}

/// The job whose operations were the latest.
fn latest<'a>(case: &CaseView<'a>) -> Option<(&'a JobResult, &'a Timing)> {
    let timed = case.jobs().filter_map(|job| {
        let timing = job.fidelity.as_ref()?.timing.as_deref()?;
        Some((job, timing))
    });
    timed.max_by_key(|(_, timing)| timing.late.p99_ns)
}

/// Adds how exactly the replay kept the recorded times.
fn evidence(hit: Hit, job: &JobResult, timing: &Timing) -> Hit {
    let counts = job.fidelity.iter().fold(hit, |hit, fidelity| {
        hit.with("due", fidelity.due as f64, "")
            .with("issued", fidelity.issued as f64, "")
            .with("reordered", fidelity.reordered as f64, "")
    });
    let late = &timing.late;
    counts
        .with("late, p50", late.p50_ns as f64, "ns")
        .with("late, p99", late.p99_ns as f64, "ns")
        .with("late, p99.9", late.p999_ns as f64, "ns")
        .with("late, worst", late.max_ns as f64, "ns")
        .with("drift", timing.drift_ns as f64, "ns")
        .with("drift", timing.drift_percent(), "%")
        .with("rate error, mean", timing.rate_error_mean_iops, "IOPS")
        .with("rate error, worst", timing.rate_error_max_iops, "IOPS")
        .with("issued in another second", timing.rate_error_percent, "%")
        .with("waited for room", timing.waited_for_room as f64, "")
        .with("most in flight", f64::from(job.effective_depth), "")
}

/// Operations were left out or changed.
pub(super) fn changed(cases: &Cases<'_>) -> Vec<Finding> {
    per_case(cases, "replay-changed", None, |case| {
        let mut sum = Fidelity::default();
        for fidelity in case.jobs().filter_map(|job| job.fidelity.as_ref()) {
            sum.due += fidelity.due;
            let (all, own) = (&mut sum.adapted, fidelity.adapted);
            all.dropped += own.dropped;
            all.folded += own.folded;
            all.rounded += own.rounded;
            all.rounded_bytes += own.rounded_bytes;
        }
        let adapted = sum.adapted;
        // What was left out was never due.
        let recorded = sum.due + adapted.dropped;
        let changes = [adapted.dropped, adapted.folded, adapted.rounded];
        let text = "the replay was not what was recorded: of {} it left out {}, moved {} \
                    and rounded {} to whole blocks";
        let [dropped, folded, rounded] = changes.map(|count| number(count as f64));
        let slots = [operations(recorded as f64), dropped, folded, rounded];
        let hit = warning(text, slots)
            .with("dropped", adapted.dropped as f64, "")
            .with("folded", adapted.folded as f64, "")
            .with("rounded", adapted.rounded as f64, "")
            .with(
                "bytes added by rounding",
                adapted.rounded_bytes as f64,
                "bytes",
            );
        changes.iter().any(|count| *count > 0).then_some(hit)
    })
}

/// Operations on the same bytes were in flight together, at least one of them a write.
pub(super) fn unordered(cases: &Cases<'_>) -> Vec<Finding> {
    per_case(cases, "replay-unordered", None, |case| {
        let (mut conflicts, mut due) = (0, 0);
        for fidelity in case.jobs().filter_map(|job| job.fidelity.as_ref()) {
            conflicts += fidelity.conflicts;
            due += fidelity.due;
        }
        let text = "{} of {} began while another was writing the same bytes: which of them came first \
                    is open";
        let slots = [number(conflicts as f64), operations(due as f64)];
        let hit = info(text, slots).with("conflicts", conflicts as f64, "");
        (conflicts > 0).then_some(hit)
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::{Latency, PaceKind, Record};
    use blocklab_workload::Adapted;

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn replayed(late_ns: u64, adapted: Adapted, conflicts: u64) -> Record {
        let mut record = record(&[Sketch::default()]);
        let jobs = record.measurements.iter_mut().flat_map(|m| &mut m.jobs);
        for job in jobs {
            job.pace = PaceKind::Recorded;
            let service = &job.directions.values().next().expect("one").service;
            let late = Latency {
                p50_ns: late_ns / 2,
                p99_ns: late_ns,
                max_ns: 2 * late_ns,
                ..service.clone()
            };
            job.fidelity = Some(Box::new(Fidelity {
                due: 1000,
                issued: 1000,
                conflicts,
                adapted,
                timing: Some(Box::new(Timing {
                    late,
                    drift_ns: late_ns,
                    span_ns: 1_000_000_000,
                    waited_for_room: 0,
                    rate_span_ns: 1_000_000_000,
                    rate_error_mean_iops: 0.0,
                    rate_error_max_iops: 0.0,
                    rate_error_percent: 0.0,
                })),
                ..Fidelity::default()
            }));
        }
        record
    }

    /// The story: a recorded hour that overran its volume was replayed with one operation in flight.
    /// Its pace was called closed, and a finding named the single operation as what limited the rate.
    #[test]
    fn a_replay_that_was_late_says_so_and_blames_no_depth() {
        let late = replayed(2_500_000_000, Adapted::default(), 0);
        let finding = the(&late, "replay-late");
        let words = "issued 2.50 s late or later, the latest 5.00 s";
        assert!(finding.statement.contains(words), "{finding:?}");
        silent(&late, "latency-bound");
        silent(&late, "replay-faithful");
        let precise = replayed(50_000, Adapted::default(), 0);
        silent(&precise, "replay-late");
        silent(&precise, "replay-changed");
        let finding = the(&precise, "replay-faithful");
        assert!(finding.statement.contains("within 50.0 µs"), "{finding:?}");
        let drift = finding.evidence.iter().find(|figure| figure.unit == "%");
        assert_eq!(drift.map(|figure| figure.value), Some(0.005));
    }

    #[test]
    fn operations_that_are_not_what_they_were_are_counted() {
        let adapted = Adapted {
            dropped: 24,
            folded: 12,
            rounded: 3,
            rounded_bytes: 4096,
        };
        let finding = the(&replayed(0, adapted, 7), "replay-changed");
        // Of all three passes.
        let words = "of 3,072 operations it left out 72, moved 36 and rounded 9";
        assert!(finding.statement.contains(words), "{finding:?}");
        assert_eq!(finding.severity, crate::Severity::Warning);
        let unordered = replayed(0, Adapted::default(), 7);
        silent(&unordered, "replay-changed");
        let finding = the(&unordered, "replay-unordered");
        assert!(finding.statement.contains("21 of 3,000"), "{finding:?}");
    }
}
