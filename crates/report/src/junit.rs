//! In: runs, and the answers to the conditions on them. Out: JUnit XML, which CI systems show as
//! tests.
//!
//! The rules of that format, such as its names and the order of its elements, stay in this file.
//!
//! ```text
//!  run                ──▶ testsuite
//!  condition and load ──▶ testcase     pass: empty · fail: <failure> · undecided: <skipped>
//!  run without an end ──▶ testcase     <error>
//! ```

use std::collections::BTreeSet;

use blocklab_compare::gate::{Answer, Gate, Judged};
use blocklab_record::{Record, Status};
use blocklab_units::visible;

use crate::words::facts;

/// Runs, and the answers to the conditions on them.
#[derive(Debug, Clone)]
pub struct Answered<'a> {
    /// The runs, in the order of the gate's indexes.
    pub runs: Vec<&'a Record>,
    /// The answers.
    pub gate: &'a Gate,
}

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"blocklab gate\"";

/// Whether a file begins as one of blocklab's JUnit files, so that the next one may overwrite it.
pub fn is_junit(head: &[u8]) -> bool {
    head.starts_with(HEAD.as_bytes())
}

/// A test suite for each run that a condition is about.
pub fn junit(all: &[Answered<'_>]) -> String {
    let mut suites: Vec<Suite<'_>> = all.iter().flat_map(suites_of).collect();
    // Runs of one study share a name, and a CI system tells suites apart by theirs.
    let mut names = BTreeSet::new();
    for suite in &mut suites {
        suite.name = unique(&suite.record.requested.name, &mut names);
    }
    let counts = counts(&suites);
    let suites: String = suites.iter().map(Suite::xml).collect();
    format!("{HEAD}{counts}>\n{suites}</testsuites>\n")
}

/// The attributes that the list of suites and each suite have.
fn counts(suites: &[Suite<'_>]) -> String {
    let tests: usize = suites.iter().map(|suite| suite.cases.len()).sum();
    let failures: usize = suites.iter().map(|suite| suite.count(Answer::Fail)).sum();
    let errors: usize = suites.iter().map(Suite::broken).sum();
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"")
}

/// A run as a test suite.
struct Suite<'a> {
    record: &'a Record,
    name: String,
    cases: Vec<Case<'a>>,
}

/// A condition on one load, limit, finding or run, as a test case.
struct Case<'a> {
    name: String,
    judged: &'a Judged,
    /// Whether it is about a run that did not end as planned: an error, and not a skipped test.
    is_broken: bool,
}

/// The suites of some runs; a run that no condition is about has none.
fn suites_of<'a>(answered: &Answered<'a>) -> Vec<Suite<'a>> {
    let gate = answered.gate;
    let suites = answered
        .runs
        .iter()
        .enumerate()
        .map(|(index, record)| Suite {
            record,
            // Set by the caller, who knows the names of all suites.
            name: String::new(),
            cases: cases(gate, index, record),
        });
    suites.filter(|suite| !suite.cases.is_empty()).collect()
}

/// The test cases of the run with this index: one for each load, limit or finding judged on it.
fn cases<'a>(gate: &'a Gate, index: usize, record: &Record) -> Vec<Case<'a>> {
    let whole = format!("run {}", record.id);
    let mut names = BTreeSet::new();
    let all = gate.checks.iter().flat_map(|check| {
        let judged = check.judged.iter();
        judged.map(move |judged| (&check.condition, judged))
    });
    let own = all.filter(|(_, judged)| judged.run == index);
    own.map(|(condition, judged)| {
        let is_whole = judged.subject == whole;
        // A CI system follows a test by its name, which must not contain the id of the run.
        let name = match judged.subject.as_str() {
            _ if is_whole => format!("{condition}: the run"),
            // No load was measured that the condition could be about.
            "" => condition.clone(),
            subject => format!("{condition}: {subject}"),
        };
        Case {
            name: unique(&name, &mut names),
            judged,
            is_broken: is_whole
                && judged.answer == Answer::Undecided
                && record.status != Status::Complete,
        }
    })
    .collect()
}

/// The name if it is new, else followed by the lowest number from 2 on that makes it new.
fn unique(name: &str, seen: &mut BTreeSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut times = 1;
    while !seen.insert(candidate.clone()) {
        times += 1;
        candidate = format!("{name} ({times})");
    }
    candidate
}

impl Suite<'_> {
    fn count(&self, answer: Answer) -> usize {
        let all = self.cases.iter();
        all.filter(|case| case.judged.answer == answer && !case.is_broken)
            .count()
    }

    fn broken(&self) -> usize {
        self.cases.iter().filter(|case| case.is_broken).count()
    }

    fn xml(&self) -> String {
        let record = self.record;
        let counts = counts(std::slice::from_ref(self));
        let skipped = self.count(Answer::Undecided);
        let took: u64 = record.measurements.iter().map(|one| one.elapsed_ns).sum();
        let took = took as f64 / 1e9;
        let began = moment(&record.started_at)
            .map_or_else(String::new, |began| format!(" timestamp=\"{began}\""));
        let properties = [
            ("run", record.id.as_str()),
            ("target", &facts::target_names(record)),
            ("figures", record.origin.name()),
            ("tool", &record.tool),
        ];
        let properties = properties.map(|(name, value)| {
            format!(
                "      <property name=\"{name}\" value=\"{}\"/>\n",
                escaped(value)
            )
        });
        let name = escaped(&self.name);
        let cases: String = self.cases.iter().map(|case| case.xml(&name)).collect();
        format!(
            "  <testsuite name=\"{name}\"{counts} skipped=\"{skipped}\" time=\"{took:.3}\"{began}>\n    \
             <properties>\n{}    </properties>\n{cases}  </testsuite>\n",
            properties.concat()
        )
    }
}

impl Case<'_> {
    fn xml(&self, suite: &str) -> String {
        let head = format!(
            "    <testcase classname=\"{suite}\" name=\"{}\"",
            escaped(&self.name)
        );
        let why = escaped(&self.judged.why);
        let inner = match self.judged.answer {
            Answer::Pass => return format!("{head}/>\n"),
            _ if self.is_broken => format!("<error type=\"run\" message=\"{why}\"/>"),
            Answer::Fail => format!("<failure type=\"gate\" message=\"{why}\">{why}</failure>"),
            Answer::Undecided => {
                let more = match self.judged.passes_to_decide {
                    Some(passes) => format!("; about {passes} passes would decide"),
                    None => String::new(),
                };
                format!("<skipped message=\"undecided: {why}{more}\"/>")
            }
        };
        format!("{head}>\n      {inner}\n    </testcase>\n")
    }
}

/// `2026-11-20T19:01:42` of an RFC 3339 text: a JUnit timestamp has no fraction and no zone.
/// `None`: an imported run may have any other text.
fn moment(rfc3339: &str) -> Option<&str> {
    let seconds = rfc3339.get(..19)?;
    let mut signs = seconds.chars().zip("0000-00-00T00:00:00".chars());
    let fits = signs.all(|(sign, like)| match like {
        '0' => sign.is_ascii_digit(),
        like => sign == like,
    });
    fits.then_some(seconds)
}

/// A text for an attribute or an element. XML allows no control characters, not even as references,
/// so they are written as in messages: `\u001b`.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in visible(text).chars() {
        match sign {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            // XML does not allow these two either.
            '\u{fffe}' | '\u{ffff}' => shown.push('\u{fffd}'),
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_an_attribute() {
        for (text, expected) in [
            ("p99>5ms", "p99&gt;5ms"),
            ("a\"/><b>&", "a&quot;/&gt;&lt;b&gt;&amp;"),
            (
                "a\nb\u{0}\u{1b}[31m\u{ffff}",
                "a\\u000ab\\u0000\\u001b[31m\u{fffd}",
            ),
            ("größe, µs", "größe, µs"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn a_moment_has_no_fraction_and_no_zone() {
        let found = moment("2026-11-20T19:01:42.5Z");
        assert_eq!(found, Some("2026-11-20T19:01:42"));
        for other in [
            "",
            "yesterday",
            "2026-11-20 19:01:42Z",
            "2026-11-20T19:01\"x\"",
        ] {
            assert_eq!(moment(other), None, "{other}");
        }
    }

    /// The story: studies `a`, `a (2)` and `a` became suites of which two had the name `a (2)`, and a
    /// CI system showed the tests of only one of them.
    #[test]
    fn a_name_that_was_there_gets_a_number() {
        let mut seen = BTreeSet::new();
        let names = ["a", "b", "a", "a (2)", "a"].map(|name| unique(name, &mut seen));
        assert_eq!(names, ["a", "b", "a (2)", "a (2) (2)", "a (3)"]);
    }
}
