//! One sentence on whether the figures can be used.

use blocklab_analysis::{Finding, Severity};
use maud::{Markup, html};

use super::side::Side;
use crate::facts;

/// The sentence, in the colour of its gravity, leading to the findings where there are any.
pub fn verdict(side: &Side<'_>) -> Markup {
    let (class, text) = words(side);
    let findings = &side.assessment.findings;
    html! {
        p class={ "verdict " (class) } {
            (text)
            @if findings.iter().any(|it| it.severity > Severity::Info) {
                " " a href="#findings" { "Read\u{a0}why" }
            }
        }
    }
}

fn words(side: &Side<'_>) -> (&'static str, String) {
    if let Some(ending) = facts::ending(side.record) {
        return ("bad", ending);
    }
    let findings = &side.assessment.findings;
    let unusable = |which| format!("do not use the results of {which}.");
    if let Some(text) = judged(findings, Severity::Critical, unusable) {
        return ("bad", text);
    }
    let doubtful = |which| format!("treat the results of {which} with caution.");
    if let Some(text) = judged(findings, Severity::Warning, doubtful) {
        return ("doubt", text);
    }
    let known = facts::good(findings).map_or(
        "Everything planned was done, and no finding doubts a figure.",
        |finding| &finding.statement,
    );
    ("good", known.to_owned())
}

/// What the findings of one severity mean together, of the cases that they concern; nothing without
/// one.
fn judged(
    findings: &[Finding],
    severity: Severity,
    say: impl Fn(String) -> String,
) -> Option<String> {
    let grave = || findings.iter().filter(|f| f.severity == severity);
    let number = grave().count();
    if number == 0 {
        return None;
    }
    let mut cases: Vec<&str> = Vec::new();
    for case in grave().flat_map(|finding| &finding.subject) {
        if !cases.contains(&case.as_str()) {
            cases.push(case);
        }
    }
    let whole = grave().any(|finding| finding.subject.is_empty());
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
    Some(format!("{word}: {}", say(which)))
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
