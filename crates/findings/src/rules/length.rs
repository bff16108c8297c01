//! Whether a case was measured for long enough, and with enough operations, for its figures.

use blocklab_record::PERCENTILES;
use blocklab_units::Nanos;

use super::slices::advice_to_measure_longer;
use crate::hit::{Hit, per_case};
use crate::statement::{number, time, word};
use crate::view::{CaseView, Cases};
use crate::{Finding, RowDirection, Severity};

/// What a limiter saves up while idle is about a second of its rate: it makes up a tenth of this
/// long a pass, and of several shorter ones more.
const ENOUGH_NS: u64 = 10_000_000_000;
/// Below this it may be a fifth of the figure and more.
const LITTLE_NS: u64 = 5_000_000_000;
/// A ramp of about a second has spent what was saved; the moment of its start is left out.
const SPENDS_NS: u64 = 950_000_000;
/// After such a ramp, this is enough. What lasts longer, a write cache of gigabytes or burst
/// credits for minutes, shows within ten seconds no more than within two.
const ENOUGH_AFTER_RAMP_NS: u64 = 2_000_000_000;

/// Too little time for what the target holds back. Of a modelled target that is no guess: the
/// rules on its limits name what it held back.
pub(super) fn too_short(cases: &Cases<'_>) -> Vec<Finding> {
    // Every tool has another option for it.
    let advice = advice_to_measure_longer(
        cases,
        "Measure longer: at least ten seconds a case, or warm up for a second before each pass; and \
         minutes on anything with burst credits or a write cache.",
    );
    per_case(cases, "too-short", Some(advice), |case| {
        let (measured, passes) = (case.measured_ns(), case.passes.len());
        let modelled = cases.is_simulated() || cases.is_emulated();
        let enough = if case.ramp_ns() >= SPENDS_NS {
            ENOUGH_AFTER_RAMP_NS
        } else {
            ENOUGH_NS
        };
        let short = measured < enough && case.ios() > 0 && !case.is_null() && !modelled;
        let severity = if measured < LITTLE_NS {
            Severity::Warning
        } else {
            Severity::Info
        };
        short.then(|| {
            Hit::new(
                severity,
                "only {} were measured, so a burst or a cache may carry the figures",
                [time(Nanos(measured))],
            )
            .with("measured time", measured as f64 / 1e9, "s")
            .with("passes", passes as f64, "")
        })
    })
}

/// The highest quantile that a case has to support. The tables mark each figure above it that rests
/// on too few operations, and a test of one minute is not made for the ten-thousandth operation.
const HIGHEST: f64 = 0.99;

/// Share of the operations of a case from which the percentiles of a direction matter.
const MATTERS: f64 = 0.01;

/// Too few operations for the usual quantiles. The tables show which figures these are, so it takes
/// nothing from the others of the case; below the median, nothing of it is left. A few trims among
/// thousands of reads are no reason to doubt the reads.
pub(super) fn few_samples(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = advice_to_measure_longer(cases, "Run longer where these percentiles matter.");
    per_case(cases, "few-samples", Some(advice), |case| {
        let smallest = directions_that_matter(case).min_by_key(|direction| direction.ios)?;
        let missing = PERCENTILES
            .iter()
            .map(|percentile| percentile.share)
            .filter(|q| *q <= HIGHEST && smallest.knows(*q))
            .find(|q| !smallest.supports(*q))?;
        let highest = smallest.highest_quantile();
        let severity = match highest {
            Some(_) => Severity::Info,
            None => Severity::Warning,
        };
        Some(
            Hit::new(
                severity,
                "percentiles from {} on have fewer than ten operations beyond them",
                [word(format!("p{}", percentile(missing)))],
            )
            .alone(" ({} in all)", [number(smallest.ios as f64)])
            .with("operations", smallest.ios as f64, "")
            .with("supported up to", percentile(highest.unwrap_or(0.0)), "p"),
        )
    })
}

/// The directions of a case whose percentiles matter.
pub(super) fn directions_that_matter<'c>(
    case: &'c CaseView<'_>,
) -> impl Iterator<Item = &'c RowDirection> {
    let least = case.ios() as f64 * MATTERS;
    let moved = case.row.moved();
    moved.filter(move |direction| direction.ios as f64 >= least)
}

/// 99.9 of 0.999, without the dust of floating point.
pub(super) fn percentile(quantile: f64) -> f64 {
    (quantile * 1e6).round() / 1e4
}

#[cfg(test)]
mod tests {
    use blocklab_record::{DirectionResult, Interval};
    use blocklab_workload::Direction;

    use super::*;
    use crate::testing::{Sketch, found, record, silent, the};

    fn lasting(seconds: u32, iops: f64) -> Sketch {
        Sketch {
            seconds,
            iops: vec![iops; 3],
            ..Sketch::default()
        }
    }

    #[test]
    fn short_runs_have_a_finding() {
        let severity = |seconds| the(&record(&[lasting(seconds, 1e6)]), "too-short").severity;
        assert_eq!(severity(1), Severity::Warning);
        assert_eq!(severity(3), Severity::Info);
        silent(&record(&[lasting(4, 1e6)]), "too-short");
        let mut simulated = record(&[lasting(1, 1e6)]);
        simulated.origin = blocklab_record::Origin::Simulated;
        silent(&simulated, "too-short");
        simulated.origin = blocklab_record::Origin::Emulated;
        silent(&simulated, "too-short");
    }

    /// The story: a replay of five seconds was to run for a minute, and --runtime and --ramp are refused with
    /// a trace.
    #[test]
    fn a_replay_is_told_to_replay_more() {
        let mut record = record(&[lasting(1, 1e6)]);
        for pass in &mut record.measurements {
            pass.jobs[0].pace = blocklab_record::PaceKind::Recorded;
        }
        let advice = the(&record, "too-short").advice.expect("an advice");
        assert!(advice.contains("replay more of it"), "{advice}");
    }

    /// The story: the default study ran every case for six seconds and warned its user, after every
    /// run on every disk, that six seconds were too few.
    #[test]
    fn a_ramp_that_spends_what_was_saved_makes_up_for_time() {
        let after_ramp = |ramp_ms: u64, seconds| {
            let mut record = record(&[lasting(seconds, 1e6)]);
            for pass in &mut record.measurements {
                pass.series.insert(
                    0,
                    Interval {
                        ramp: true,
                        length_ns: ramp_ms * 1_000_000,
                        ..Interval::default()
                    },
                );
            }
            record
        };
        silent(&after_ramp(1000, 1), "too-short");
        the(&after_ramp(300, 1), "too-short");
        let mut single = after_ramp(1000, 1);
        single.measurements.truncate(1);
        the(&single, "too-short");
    }

    #[test]
    fn quantiles_need_ten_operations_beyond_them() {
        let check = |iops, expected: Option<(&str, f64, Severity)>| {
            let findings = found(&record(&[lasting(10, iops)]), "few-samples");
            assert_eq!(findings.len(), usize::from(expected.is_some()), "{iops}");
            if let Some((missing, highest, severity)) = expected {
                let statement = &findings[0].statement;
                assert!(
                    statement.contains(&format!("from {missing} on")),
                    "{statement}"
                );
                assert_eq!(findings[0].severity, severity, "{iops}");
                assert_eq!(findings[0].evidence[1].value, highest, "{iops}");
            }
        };
        check(0.5, Some(("p50", 0.0, Severity::Warning)));
        check(10.0, Some(("p99", 95.0, Severity::Info)));
        check(33.0, Some(("p99", 95.0, Severity::Info)));
        check(34.0, None);
        check(1000.0, None);
    }

    /// The story: two trims among thousands of reads made a warning, "percentiles from p50 on have
    /// fewer than ten operations beyond them", and the whole run was to be treated with caution.
    #[test]
    fn a_few_trims_beside_thousands_of_reads_doubt_nothing() {
        let mut record = record(&[lasting(10, 1000.0)]);
        let directions = &mut record.measurements[0].jobs[0].directions;
        let reads = directions[&Direction::Read].clone();
        let trims = Box::new(DirectionResult { ios: 2, ..*reads });
        directions.insert(Direction::Trim, trims);
        silent(&record, "few-samples");
    }

    #[test]
    fn one_finding_covers_every_case() {
        let slow = |name: &str, iops| Sketch {
            case: name.to_owned(),
            ..lasting(10, iops)
        };
        let record = record(&[slow("a", 5.0), slow("b", 10.0), slow("c", 10.0)]);
        let finding = the(&record, "few-samples");
        assert_eq!(
            finding.statement,
            "In all 3 cases, percentiles from p95 or p99 on have fewer than ten operations beyond \
             them."
        );
        let highest = finding.evidence.iter().filter(|e| e.unit == "p");
        let highest: Vec<_> = highest.map(|e| (e.case.as_deref(), e.value)).collect();
        assert_eq!(
            highest,
            [(Some("a"), 90.0), (Some("b"), 95.0), (Some("c"), 95.0)]
        );
    }
}
