//! The gate on findings that doubt a figure.

use blocklab_record::{Record, Status};

use super::{Answer, Judged, Loads};
use blocklab_findings::{Finding, Severity};

/// Whether a finding of a run is a warning or worse. A run that did not end as planned, or measured
/// nothing, is undecided: what it lacks could have given one.
pub(super) fn warning(runs: &[(&Record, &[Finding])], loads: &Loads) -> Vec<Judged> {
    let all = runs.iter().enumerate();
    let judged = all.flat_map(|(run, (record, findings))| in_run(run, record, findings, loads));
    judged.collect()
}

/// Judges one run: each warning fails it; without any, the run as a whole passes.
fn in_run(run: usize, record: &Record, findings: &[Finding], loads: &Loads) -> Vec<Judged> {
    let mut judged: Vec<Judged> = findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Warning)
        .filter(|finding| {
            // A finding without cases is about the whole run.
            finding.subject.is_empty() || finding.subject.iter().any(|case| loads.has_case(case))
        })
        .map(|finding| {
            let subject = format!("rule {}", finding.rule);
            Judged::new(run, subject, Answer::Fail, finding.statement.clone())
        })
        .collect();
    if judged.is_empty() {
        let whole = record.status == Status::Complete && !record.measurements.is_empty();
        let (answer, why) = if whole {
            (Answer::Pass, "no finding is a warning")
        } else {
            (Answer::Undecided, "it did not end as planned")
        };
        let subject = format!("run {}", record.id);
        judged.push(Judged::new(run, subject, answer, why.to_owned()));
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record};
    use blocklab_findings::assess;

    #[track_caller]
    fn answered(record: &Record, expected: Answer) {
        let found = assess(record).findings;
        let judged = warning(&[(record, &found)], &Loads::default());
        assert_eq!(judged[0].answer, expected, "{judged:#?}");
    }

    #[test]
    fn a_warning_fails_and_what_is_missing_does_not_pass() {
        let mut run = record(&[Sketch::default()]);
        answered(&run, Answer::Pass);
        let scattered = Sketch::of_rates(&[10_000.0, 20_000.0, 5_000.0]);
        answered(&record(&[scattered]), Answer::Fail);
        run.status = Status::Interrupted;
        run.measurements.truncate(1);
        let findings: Vec<Finding> = Vec::new();
        let judged = warning(&[(&run, &findings)], &Loads::default());
        assert_eq!(judged[0].answer, Answer::Undecided);
    }
}
