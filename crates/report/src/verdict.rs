//! One sentence on whether the figures of a run can be used: one wording for text and HTML.

use blocklab_findings::{Assessment, Finding, Severity};
use blocklab_record::Record;

use crate::facts;

/// What a reader may do with the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    Use,
    Doubt,
    Discard,
}

/// The sentence, and what it amounts to.
pub fn verdict(record: &Record, assessment: &Assessment) -> (Trust, String) {
    if let Some(ending) = facts::ending(record) {
        return (Trust::Discard, ending);
    }
    let findings = &assessment.findings;
    let unusable = |which| format!("do not use the results of {which}.");
    if let Some(text) = judged(findings, Severity::Critical, unusable) {
        return (Trust::Discard, text);
    }
    let doubtful = |which| format!("treat the results of {which} with caution.");
    if let Some(text) = judged(findings, Severity::Warning, doubtful) {
        return (Trust::Doubt, text);
    }
    let known = facts::good(findings).map_or(
        "Everything planned was done, and no finding doubts a figure.",
        |finding| &finding.statement,
    );
    (Trust::Use, known.to_owned())
}

/// What the findings of one severity mean together for the cases that they concern; `None` without
/// one.
fn judged(
    findings: &[Finding],
    severity: Severity,
    advise: impl Fn(String) -> String,
) -> Option<String> {
    let of_severity = || findings.iter().filter(|f| f.severity == severity);
    let number = of_severity().count();
    if number == 0 {
        return None;
    }
    let mut cases: Vec<&str> = Vec::new();
    for case in of_severity().flat_map(|finding| &finding.subject) {
        if !cases.contains(&case.as_str()) {
            cases.push(case);
        }
    }
    let whole = of_severity().any(|finding| finding.subject.is_empty());
    let which = if whole {
        "this run".to_owned()
    } else {
        listed(&cases)
    };
    let word = match (severity, number) {
        (Severity::Critical, 1) => "One critical finding".to_owned(),
        (Severity::Critical, n) => format!("{n} critical findings"),
        (_, 1) => "One warning".to_owned(),
        (_, n) => format!("{n} warnings"),
    };
    Some(format!("{word}: {}", advise(which)))
}

/// `a`, `a and b`, `a, b and 3 more`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more cases", rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_people_say_them() {
        for (names, expected) in [
            (&["a"][..], "a"),
            (&["a", "b"], "a and b"),
            (&["a", "b", "c"], "a, b and c"),
            (&["a", "b", "c", "d"], "a, b and 2 more cases"),
        ] {
            assert_eq!(listed(names), expected);
        }
    }
}
