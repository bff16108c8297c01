//! A finding in the making: cases that say the same become one sentence.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::statement::{Slot, listed, sentence};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Evidence, Finding, Severity};

/// Up to this many cases are named; of more, only their number is.
const NAMES: usize = 2;
/// And only if they have at most this many letters together.
const LONGEST: usize = 40;

/// What a rule finds in one case, or in the run: a sentence and the figures that it rests on.
pub struct Hit {
    severity: Severity,
    confidence: Confidence,
    /// Without its subject, with `{}` where figures and names go.
    text: &'static str,
    slots: Vec<Slot>,
    /// Clauses for a finding that is about one case: as ranges, their figures would mean nothing.
    alone: Vec<(&'static str, Vec<Slot>)>,
    /// How bad it is: of several cases, the worst is named.
    badness: Option<f64>,
    evidence: Vec<Evidence>,
}

/// A finding that spoils the figures. `slots` in the order of the `{}`.
pub fn critical(text: &'static str, slots: impl Into<Vec<Slot>>) -> Hit {
    Hit::new(Severity::Critical, text, slots)
}

/// A finding to act on. `slots` in the order of the `{}`.
pub fn warning(text: &'static str, slots: impl Into<Vec<Slot>>) -> Hit {
    Hit::new(Severity::Warning, text, slots)
}

/// A finding that explains a figure. `slots` in the order of the `{}`.
pub fn info(text: &'static str, slots: impl Into<Vec<Slot>>) -> Hit {
    Hit::new(Severity::Info, text, slots)
}

impl Hit {
    /// A hit of high confidence, until it is given another one. `slots` are in the order of
    /// the `{}`.
    pub fn new(severity: Severity, text: &'static str, slots: impl Into<Vec<Slot>>) -> Self {
        Self {
            severity,
            confidence: Confidence::High,
            text,
            slots: slots.into(),
            alone: Vec::new(),
            badness: None,
            evidence: Vec::new(),
        }
    }

    /// The hit with another confidence.
    pub fn confidence(self, confidence: Confidence) -> Self {
        Self { confidence, ..self }
    }

    /// Adds a clause that is shown if the finding is about a single case.
    pub fn alone(mut self, text: &'static str, slots: impl Into<Vec<Slot>>) -> Self {
        self.alone.push((text, slots.into()));
        self
    }

    /// How bad it is, on any scale that the cases of one rule share.
    pub fn graded(mut self, badness: f64) -> Self {
        self.badness = Some(badness);
        self
    }

    /// A number on which it rests, where it is known.
    pub fn with(mut self, name: &str, value: impl Into<Option<f64>>, unit: &'static str) -> Self {
        self.evidence.extend(value.into().map(|value| Evidence {
            name: name.to_owned(),
            case: None,
            value,
            unit,
        }));
        self
    }

    /// A number of another case, to which this one is compared.
    pub fn with_of(self, case: &str, name: &str, value: f64, unit: &'static str) -> Self {
        let mut hit = self.with(name, value, unit);
        hit.evidence.last_mut().expect("just added").case = Some(case.to_owned());
        hit
    }

    /// The sentence before its figures, and what is fixed in it: what several cases must share to
    /// be one statement.
    fn kind(&self) -> (&'static str, Vec<String>) {
        let fixed = self.slots.iter().filter_map(|slot| match slot {
            Slot::Fixed(text) => Some(text.clone()),
            _ => None,
        });
        (self.text, fixed.collect())
    }
}

/// Applies a rule to every case and joins what it finds.
pub fn per_case<'a>(
    cases: &'a Cases<'a>,
    rule: &'static str,
    advice: Option<&str>,
    judge: impl Fn(&'a CaseView<'a>) -> Option<Hit>,
) -> Vec<Finding> {
    let hits = cases.list.iter();
    joined(
        cases,
        rule,
        advice,
        hits.filter_map(|case| Some((case.name, judge(case)?))),
    )
}

/// One finding for all hits of the same severity with the same statement on the same limit. It names the
/// worst of them and is as sure as the least sure; the evidence of every case stays.
pub fn joined<'a>(
    cases: &Cases<'_>,
    rule: &'static str,
    advice: Option<&str>,
    hits: impl IntoIterator<Item = (&'a str, Hit)>,
) -> Vec<Finding> {
    // Sorted by this key, the most severe findings come first, whatever the order of the cases.
    let mut alike = BTreeMap::<_, (Vec<&str>, Vec<Hit>)>::new();
    for (case, mut hit) in hits {
        for figure in &mut hit.evidence {
            figure.case.get_or_insert_with(|| case.to_owned());
        }
        let (names, hits) = alike
            .entry((Reverse(hit.severity), hit.kind()))
            .or_default();
        names.push(case);
        hits.push(hit);
    }
    alike
        .into_values()
        .map(|(names, hits)| {
            let opening = opening(&names, cases.list.len());
            let worst = worst(&hits).map(|place| format!("; worst in {}", names[place]));
            let statement = format!(
                "{opening} {}{}.",
                together(&hits),
                worst.unwrap_or_default()
            );
            merged_finding(rule, advice, statement, &names, hits)
        })
        .collect()
}

/// Applies a rule to the run as a whole.
pub(crate) fn per_run(
    rule: &'static str,
    advice: Option<&str>,
    judge: impl FnOnce() -> Option<Hit>,
) -> Vec<Finding> {
    let finding = judge().map(|hit| of_run(rule, advice, hit));
    finding.into_iter().collect()
}

/// A finding about the run as a whole.
pub fn of_run(rule: &'static str, advice: Option<&str>, hit: Hit) -> Finding {
    let hits = vec![hit];
    let mut statement = together(&hits);
    if !statement.ends_with(['.', '!', '?']) {
        statement.push('.');
    }
    merged_finding(rule, advice, statement, &[], hits)
}

/// One finding for hits of the same statement; `names` are the cases that it is about.
fn merged_finding(
    rule: &'static str,
    advice: Option<&str>,
    statement: String,
    names: &[&str],
    hits: Vec<Hit>,
) -> Finding {
    let severity = hits[0].severity;
    let least_sure = hits.iter().map(|hit| hit.confidence).min();
    // Cases that are compared to the same one each bring its figures.
    let mut known = BTreeSet::new();
    let mut evidence: Vec<_> = hits.into_iter().flat_map(|hit| hit.evidence).collect();
    evidence.retain(|figure| {
        let (value, unit) = (figure.value.to_bits(), figure.unit);
        known.insert((figure.name.clone(), figure.case.clone(), value, unit))
    });
    Finding {
        rule,
        subject: names.iter().map(|name| (*name).to_owned()).collect(),
        severity,
        confidence: least_sure.unwrap_or(Confidence::Low),
        statement,
        evidence,
        advice: advice.map(str::to_owned),
    }
}

/// The statement on all of these, in the words of the first; they share its text.
fn together(hits: &[Hit]) -> String {
    let slots: Vec<&[Slot]> = hits.iter().map(|hit| &hit.slots[..]).collect();
    let sentence_of_all = sentence(hits[0].text, &slots);
    let [only] = hits else { return sentence_of_all };
    let clauses = only.alone.iter();
    let clauses = clauses.map(|(text, slots)| sentence(text, &[slots]));
    sentence_of_all + &clauses.collect::<String>()
}

/// Place of the worst of several; `None` for a single one, or where none is worse than the others.
fn worst(hits: &[Hit]) -> Option<usize> {
    let grades: Vec<f64> = hits.iter().filter_map(|hit| hit.badness).collect();
    let least = grades.iter().copied().reduce(f64::min)?;
    let (place, most) = grades
        .iter()
        .copied()
        .enumerate()
        .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (grades.len() == hits.len() && most > least).then_some(place)
}

/// `a:`, `a and b:`, `In 5 of 8 cases,`: the cases of the statement, out of `total` cases. Two long names
/// would leave no room on the line for what is said of them.
pub(crate) fn opening(names: &[&str], total: usize) -> String {
    let length: usize = names.iter().map(|name| name.chars().count()).sum();
    match names.len() {
        0 | 1 => format!("{}:", listed(names, "and")),
        2..=NAMES if length <= LONGEST => format!("{}:", listed(names, "and")),
        2 if total == 2 => "In both cases,".to_owned(),
        n if n == total => format!("In all {n} cases,"),
        n => format!("In {n} of {total} cases,"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::{percent, speed};
    use crate::testing::record;

    fn hit(case: &'static str, gone: f64, severity: Severity) -> (&'static str, Hit) {
        let hit = Hit::new(severity, "{} of it is gone", [percent(gone)]);
        let confidence = if gone > 50.0 {
            Confidence::High
        } else {
            Confidence::Medium
        };
        (case, hit.confidence(confidence).with("gone", gone, "%"))
    }

    fn found(hits: Vec<(&str, Hit)>) -> Vec<Finding> {
        let record = record(&[]);
        let cases = Cases {
            record: &record,
            list: Vec::new(),
        };
        joined(&cases, "gone", Some("look"), hits)
    }

    #[test]
    fn one_case_is_one_finding() {
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

    /// A replay that was late by nothing had its drift in nanoseconds, and lost that in per cent.
    #[test]
    fn figures_of_one_name_differ_in_their_unit() {
        let late = info("it was late", [])
            .with("drift", 0.0, "ns")
            .with("drift", 0.0, "%");
        let found = found(vec![("a", late)]);
        let units: Vec<&str> = found[0].evidence.iter().map(|one| one.unit).collect();
        assert_eq!(units, ["ns", "%"]);
    }

    #[test]
    fn one_case_has_a_longer_sentence() {
        let fell = |to| info("it fell by {}", [percent(40.0)]).alone(": to {}", [speed(to)]);
        assert_eq!(together(&[fell(300.0)]), "it fell by 40 %: to 300");
        assert_eq!(together(&[fell(300.0), fell(200.0)]), "it fell by 40 %");
    }

    #[test]
    fn few_cases_are_named_and_many_are_counted() {
        for (names, of, expected) in [
            (&["a"][..], 1, "a:"),
            (&["a", "b"], 2, "a and b:"),
            (
                &[
                    "rand-read-block_size4KiB-depth1",
                    "rand-read-block_size4KiB-depth4",
                ],
                8,
                "In 2 of 8 cases,",
            ),
            (&["a", "b", "c"], 8, "In 3 of 8 cases,"),
            (&["a", "b", "c"], 3, "In all 3 cases,"),
        ] {
            assert_eq!(opening(names, of), expected);
        }
    }

    #[test]
    fn another_severity_is_another_finding() {
        let found = found(vec![
            hit("a", 1.0, Severity::Info),
            hit("b", 2.0, Severity::Critical),
        ]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].severity, Severity::Critical);
    }
}
