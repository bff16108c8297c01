//! The way from a record to its assessment: group the passes by case, sum each case up, judge.

use blocklab_record::{Origin, Record};
use blocklab_stats::Histogram;

use crate::Assessment;
use crate::rows::summed;
use crate::rules;
use crate::view::Cases;

/// Summarises a Record by case and judges it.
///
/// Rows come in the order in which their cases first appear; findings, most severe first. Never
/// panics on a damaged record: what cannot be read is left out of its row and named in a finding.
/// Takes a few tens of microseconds a measurement, most of it to unpack histograms.
pub fn assess(record: &Record) -> Assessment {
    let rows = summed(record);
    let findings = rules::judge(&Cases::new(record, &rows));
    Assessment {
        rows: rows.into_iter().map(|summed| summed.row).collect(),
        findings,
        quantile_error_percent: (record.origin != Origin::Imported)
            .then_some(Histogram::ERROR_BOUND * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Sketch, record};

    #[test]
    fn rows_stand_in_the_order_of_first_appearance() {
        let mut record = record(&[Sketch::named("write"), Sketch::named("read")]);
        // Interleaved, as the plan's order may have it, and with the passes turned round.
        record
            .measurements
            .sort_by_key(|m| std::cmp::Reverse(m.pass));
        let assessment = assess(&record);
        let names: Vec<_> = assessment.rows.iter().map(|row| &*row.case).collect();
        assert_eq!(names, ["write", "read"]);
    }

    #[test]
    fn a_sound_run_has_no_fault_to_tell() {
        let findings = assess(&record(&[Sketch::default()])).findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].severity, crate::Severity::Good);
    }

    #[test]
    fn an_empty_record_is_no_panic() {
        let assessment = assess(&record(&[]));
        assert!(assessment.rows.is_empty() && assessment.findings.is_empty());
        assert_eq!(assessment.quantile_error_percent, Some(0.78125));
    }

    proptest! {
        /// Whatever the figures are: no panic, most severe first, and every finding is a sentence
        /// about a known case with finite numbers.
        #[test]
        fn any_record_can_be_judged(sketches in prop::collection::vec(sketch(), 0..5)) {
            let assessment = assess(&record(&sketches));
            let severities: Vec<_> = assessment.findings.iter().map(|f| f.severity).collect();
            prop_assert!(severities.is_sorted_by(|a, b| a >= b));
            for finding in &assessment.findings {
                prop_assert!(finding.statement.ends_with('.'), "{}", finding.statement);
                prop_assert!(!finding.statement.contains("NaN"), "{}", finding.statement);
                prop_assert!(finding.evidence.iter().all(|e| e.value.is_finite()), "{finding:?}");
                prop_assert!(finding.subject.iter().all(|name| assessment.rows.iter().any(|row| &row.case == name)));
            }
        }
    }

    fn sketch() -> impl Strategy<Value = Sketch> {
        let rate = prop_oneof![Just(0.0), 0.01..10.0, 10.0..1e7];
        (
            prop::collection::vec(rate, 1..7),
            (0u32..40, 0u32..40, 0u32..3),
            prop::option::of(0.0..1e13),
            prop::sample::select(vec!["psync", "io_uring", "null", "mmap"]),
            prop::sample::select(vec![0, 512, 4096, 1 << 20]),
            any::<bool>(),
        )
            .prop_map(|(iops, sizes, latency_ns, engine, block, direct)| Sketch {
                case: format!("{engine}-{block}-{}-{direct}", sizes.0),
                engine,
                block,
                depth: sizes.0,
                seconds: sizes.1,
                threads: sizes.2,
                iops,
                latency_ns,
                direct,
                ..Sketch::default()
            })
    }

    #[test]
    fn a_measurement_without_jobs_is_no_panic() {
        let mut record = record(&[Sketch::default()]);
        record.measurements.iter_mut().for_each(|m| m.jobs.clear());
        assert!(assess(&record).rows[0].directions.is_empty());
    }
}
