use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::says::{Says, listed, together, worst};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Evidence, Finding, Severity};

/// Up to so many cases are named; of more, only their number.
const NAMES: usize = 2;

/// A rule that holds for one case.
pub(crate) struct Hit<'a> {
    pub(crate) case: &'a str,
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
    /// The statement without the case.
    pub(crate) says: Says,
    pub(crate) evidence: Vec<Evidence>,
}

/// Asks a rule about every case and joins what it finds.
pub(crate) fn per_case<'a>(
    cases: &'a Cases<'a>,
    rule: &'static str,
    advice: Option<&str>,
    judge: impl Fn(&'a CaseView<'a>) -> Option<Hit<'a>>,
) -> Vec<Finding> {
    let hits = cases.list.iter().filter_map(judge).collect();
    joined(cases, rule, advice, hits)
}

/// One finding for all hits of the same gravity that say the same of the same limit. It names the
/// worst of them and is as sure as the least sure; the evidence of every case stays.
pub(crate) fn joined(
    cases: &Cases<'_>,
    rule: &'static str,
    advice: Option<&str>,
    hits: Vec<Hit<'_>>,
) -> Vec<Finding> {
    let mut alike = BTreeMap::<_, Vec<Hit<'_>>>::new();
    for hit in hits {
        let kind = (Reverse(hit.severity), hit.says.kind());
        alike.entry(kind).or_default().push(hit);
    }
    let finding = |((Reverse(severity), _), hits): (_, Vec<Hit<'_>>)| {
        let names: Vec<&str> = hits.iter().map(|hit| hit.case).collect();
        let said: Vec<&Says> = hits.iter().map(|hit| &hit.says).collect();
        let opening = opening(&names, cases.list.len());
        let surest = hits.iter().map(|hit| hit.confidence).min();
        let worst = worst(&said).map(|place| format!("; worst in {}", names[place]));
        Finding {
            rule,
            severity,
            confidence: surest.unwrap_or(Confidence::Low),
            statement: format!(
                "{opening} {}{}.",
                together(&said),
                worst.unwrap_or_default()
            ),
            subject: names.into_iter().map(str::to_owned).collect(),
            evidence: hits.into_iter().flat_map(evidence).collect(),
            advice: advice.map(str::to_owned),
        }
    };
    alike.into_iter().map(finding).collect()
}

/// `a:`, `a and b:`, `In 5 of 8 cases,`: of whom the statement is, out of so many cases.
pub(crate) fn opening(names: &[&str], of: usize) -> String {
    match names.len() {
        0..=NAMES => format!("{}:", listed(names, "and")),
        n if n == of => format!("In all {n} cases,"),
        n => format!("In {n} of {of} cases,"),
    }
}

fn evidence(hit: Hit<'_>) -> impl Iterator<Item = Evidence> {
    let case = hit.case;
    hit.evidence.into_iter().map(|figure| figure.of(case))
}

impl Evidence {
    /// The same as a figure of this case.
    pub(crate) fn of(self, case: &str) -> Self {
        Self {
            case: Some(case.to_owned()),
            ..self
        }
    }
}

/// A number on which a finding rests.
pub(crate) fn figure(name: &str, value: f64, unit: &'static str) -> Evidence {
    Evidence {
        name: name.to_owned(),
        case: None,
        value,
        unit,
    }
}

/// A finding about the run as a whole.
pub(crate) fn of_run(
    rule: &'static str,
    severity: Severity,
    statement: String,
    evidence: Vec<Evidence>,
    advice: Option<&str>,
) -> Finding {
    Finding {
        rule,
        subject: Vec::new(),
        severity,
        confidence: Confidence::High,
        statement,
        evidence,
        advice: advice.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::super::says::{percent, says};
    use super::*;
    use crate::testing::record;

    fn hit(case: &'static str, gone: f64, severity: Severity) -> Hit<'static> {
        Hit {
            case,
            severity,
            confidence: if gone > 50.0 {
                Confidence::High
            } else {
                Confidence::Medium
            },
            says: says("{} of it is gone", [percent(gone)]),
            evidence: vec![figure("gone", gone, "%")],
        }
    }

    fn found(hits: Vec<Hit<'_>>) -> Vec<Finding> {
        let record = record(&[]);
        let cases = Cases {
            record: &record,
            list: Vec::new(),
        };
        joined(&cases, "gone", Some("look"), hits)
    }

    #[test]
    fn one_case_speaks_for_itself() {
        let found = found(vec![hit("a", 7.0, Severity::Info)]);
        assert_eq!(found[0].statement, "a: 7 % of it is gone.");
        assert_eq!(found[0].evidence[0].name, "gone");
        assert_eq!(found[0].evidence[0].case.as_deref(), Some("a"));
        assert_eq!(found[0].advice.as_deref(), Some("look"));
    }

    #[test]
    fn many_cases_share_a_finding_and_each_keeps_its_figures() {
        let all = [("a", 7.0), ("b", 90.0), ("c", 8.0)];
        let found = found(
            all.map(|(case, gone)| hit(case, gone, Severity::Info))
                .into(),
        );
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .statement
                .ends_with(" cases, 7 to 90 % of it is gone.")
        );
        assert_eq!(found[0].subject, ["a", "b", "c"]);
        assert_eq!(found[0].confidence, Confidence::Medium, "the least sure");
        let figures = found[0].evidence.iter();
        let figures: Vec<_> = figures.map(|e| (e.case.as_deref(), e.value)).collect();
        assert_eq!(figures, all.map(|(case, gone)| (Some(case), gone)));
    }

    #[test]
    fn few_cases_are_named_and_many_are_counted() {
        for (names, of, expected) in [
            (&["a"][..], 1, "a:"),
            (&["a", "b"], 2, "a and b:"),
            (&["a", "b", "c"], 8, "In 3 of 8 cases,"),
            (&["a", "b", "c"], 3, "In all 3 cases,"),
        ] {
            assert_eq!(opening(names, of), expected);
        }
    }

    #[test]
    fn unlike_gravity_stays_apart() {
        let found = found(vec![
            hit("a", 1.0, Severity::Info),
            hit("b", 2.0, Severity::Critical),
        ]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].severity, Severity::Critical);
    }
}
