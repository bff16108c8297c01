//! In: conditions, each for the loads that it is about, and what there is to judge.
//! Out: one Gate.

use std::collections::BTreeSet;
use std::fmt;

use blocklab_findings::Finding;
use blocklab_record::Record;
use blocklab_units::did_you_mean;

use super::{
    Answer, Check, Condition, Gate, Judged, Loads, beyond, missed, slower, slower_than_history,
    warning,
};
use crate::compare::Comparison;
use crate::expect::Compared;
use crate::history::AgainstHistory;

/// A condition, and the loads that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCondition {
    /// What must not be the case.
    pub condition: Condition,
    /// The loads that it is about.
    pub loads: Loads,
}

/// What conditions are judged by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// The runs, with what was found in them.
    pub runs: &'a [(&'a Record, &'a [Finding])],
    /// A comparison of the runs. Its baseline is only compared with: no condition but that on findings is
    /// judged on it alone.
    pub comparison: Option<&'a Comparison>,
    /// A comparison of the only run with those before it.
    pub history: Option<&'a AgainstHistory>,
    /// A comparison of the only run with documents.
    pub compared: Option<&'a Compared>,
}

impl From<Condition> for LoadCondition {
    fn from(condition: Condition) -> Self {
        Self {
            condition,
            loads: Loads::default(),
        }
    }
}

impl fmt::Display for LoadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loads = self.loads.text();
        if loads.is_empty() {
            return self.condition.fmt(f);
        }
        write!(f, "{loads}, {}", self.condition)
    }
}

/// A condition is about a case that does not exist: it would let every run through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no case fits `case = \"{pattern}\"` of a [[gate]]; {hint}")]
pub struct NoSuchCase {
    pattern: String,
    hint: String,
}

/// Checks that each condition about single cases is about at least one of these.
///
/// # Errors
/// With the first one that is not.
pub fn check_cases<'c>(
    conditions: &[LoadCondition],
    cases: impl IntoIterator<Item = &'c str>,
) -> Result<(), NoSuchCase> {
    let cases: BTreeSet<&str> = cases.into_iter().collect();
    for one in conditions {
        if let Some(pattern) = &one.loads.case
            && !cases.iter().any(|case| one.loads.has_case(case))
        {
            return Err(NoSuchCase::new(pattern, &cases));
        }
    }
    Ok(())
}

/// The cases of a run: those that it measured, and those that it was to measure.
pub fn cases(record: &Record) -> impl Iterator<Item = &str> {
    let measured = record.measurements.iter().map(|one| &*one.case);
    let plan = record.requested.plan.iter();
    let planned = plan.flat_map(|plan| plan.cases.iter().map(|case| &*case.name));
    measured.chain(planned)
}

impl NoSuchCase {
    /// The error about a pattern that matches no case, with the cases that may have been meant.
    fn new(pattern: &str, cases: &BTreeSet<&str>) -> Self {
        let hint = did_you_mean(pattern, cases.iter().copied(), || {
            let cases: Vec<&str> = cases.iter().copied().collect();
            format!("the cases are: {}", cases.join(", "))
        });
        Self {
            pattern: pattern.to_owned(),
            hint,
        }
    }
}

/// The answers to all conditions; `None` without a condition.
///
/// # Panics
/// When the comparison is not of these runs, or the evidence lacks what a condition is judged by.
pub fn answer(conditions: &[LoadCondition], evidence: Evidence<'_>) -> Option<Gate> {
    let checks = conditions.iter().map(|one| check(one, evidence));
    Gate::new(checks.collect())
}

/// Judges one condition by the part of the evidence that it is about.
fn check(condition: &LoadCondition, evidence: Evidence<'_>) -> Check {
    let (runs, comparison) = (evidence.runs, evidence.comparison);
    let loads = &condition.loads;
    let mut judged = match condition.condition {
        Condition::Slower { percent } => {
            let percent = percent.unwrap_or(Condition::LOSS_PERCENT);
            let records: Vec<&Record> = runs.iter().map(|(record, _)| *record).collect();
            match (evidence.history, comparison) {
                (Some(history), _) => slower_than_history(history, percent, loads),
                (None, Some(comparison)) => slower(&records, comparison, percent, loads),
                (None, None) => unreachable!("`slower` is a condition on comparisons only"),
            }
        }
        // What a run is expected to do is judged for a single run.
        Condition::Missed => {
            let compared = evidence.compared;
            let compared = compared.expect("`missed` is a condition on an expectation only");
            let mut judged = missed(0, compared);
            let run = runs.first();
            judged.extend(run.and_then(|(record, _)| Judged::unfinished(0, record)));
            judged
        }
        Condition::Warning => warning(runs, loads),
        Condition::Beyond(bound) => {
            // The baseline is as it is: a bound is about the runs that follow it.
            let baseline = comparison.map(|comparison| comparison.baseline);
            let judged = runs
                .iter()
                .enumerate()
                .filter(|(place, _)| Some(*place) != baseline);
            judged
                .flat_map(|(place, (record, _))| beyond(place, record, bound, loads))
                .collect()
        }
    };
    // A misspelled name must not let a pipeline pass.
    if judged.is_empty() {
        let why = "no load of this name and direction was measured, so nothing is decided";
        // No load of the baseline of a comparison is judged.
        let run = usize::from(comparison.is_some_and(|comparison| comparison.baseline == 0));
        let subject = loads.text();
        judged.push(Judged::new(run, subject, Answer::Undecided, why.to_owned()));
    }
    Check::new(condition, judged)
}

#[cfg(test)]
mod tests {
    use blocklab_workload::Direction;

    use super::*;

    /// The story: of a comparison without trims, a gate on trims was left open for the baseline, and for a
    /// load without a name.
    #[test]
    fn what_no_load_answers_is_open_for_the_run_that_is_judged() {
        use crate::compare::{Margins, compare};
        use crate::testing::{Sketch, record};
        let run = record(&[Sketch::default()]);
        let runs: [(&Record, &[Finding]); 2] = [(&run, &[]), (&run, &[])];
        let trims = LoadCondition {
            condition: "iops<1".parse().expect("a condition"),
            loads: Loads {
                case: None,
                direction: Some(Direction::Trim),
            },
        };
        for (baseline, judged_run) in [(0, 1), (1, 0)] {
            let comparison = compare(&[&run, &run], baseline, Margins::default());
            let evidence = Evidence {
                runs: &runs,
                comparison: Some(&comparison),
                ..Evidence::default()
            };
            let judged = check(&trims, evidence).judged;
            assert_eq!(judged.len(), 1, "{judged:?}");
            assert_eq!((judged[0].run, &*judged[0].subject), (judged_run, "trim"));
        }
    }

    /// The story: a run that was stopped before the case of a limit passed `missed` with the limits of the
    /// others.
    #[test]
    fn a_run_that_was_cut_off_may_have_missed_a_limit() {
        let mut run = crate::testing::record(&[crate::testing::Sketch::default()]);
        run.status = blocklab_record::Status::Interrupted;
        let compared = Compared {
            address: "gp3:1TiB".to_owned(),
            cases: Vec::new(),
            limits: Vec::new(),
        };
        let evidence = Evidence {
            runs: &[(&run, &[])],
            compared: Some(&compared),
            ..Evidence::default()
        };
        let judged = check(&LoadCondition::from(Condition::Missed), evidence).judged;
        let of_run = format!("run {}", run.id);
        assert!(
            judged.iter().any(|judged| judged.subject == of_run),
            "{judged:?}"
        );
    }

    /// The story: "no case fits `case = \"\"` of a [[gate]]" for a condition on all loads, of a run that was
    /// stopped before its first measurement.
    #[test]
    fn a_condition_on_all_loads_needs_no_case() {
        let all = LoadCondition::from(Condition::Warning);
        assert_eq!(check_cases(std::slice::from_ref(&all), []), Ok(()));
        let named = LoadCondition {
            loads: Loads {
                case: Some("rand*".to_owned()),
                ..Loads::default()
            },
            ..all
        };
        assert!(check_cases(std::slice::from_ref(&named), ["seq"]).is_err());
        assert_eq!(check_cases(&[named], ["seq", "rand4k"]), Ok(()));
    }
}
