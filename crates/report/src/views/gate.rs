//! In: the answers to conditions. Out: each condition with the loads that fail it or leave it
//! undecided.

use blocklab_compare::gate::{Answer, Check, Gate, Judged};
use blocklab_units::Ink;

use crate::document::{Document, Entry, Part};
use crate::words::facts;
use crate::words::versus::letter;

/// The most lines of one condition; JSON has all of them.
const SHOWN: usize = 12;

/// Each condition with its answer, what fails it, what is undecided, and how many passes would
/// decide. `names`: those of the runs, by their places; a run without one has its letter, as in a
/// comparison.
pub fn gate(gate: &Gate, names: &[&str]) -> Document {
    let entries = gate.checks.iter().flat_map(|one| check(one, names));
    Document {
        name: String::new(),
        parts: vec![Part::section(
            "Gate",
            vec![Part::Entries(entries.collect())],
        )],
    }
}

/// The lines of a condition: its answer, then what keeps it from passing.
fn check(check: &Check, names: &[&str]) -> Vec<Entry> {
    let ink = match check.answer {
        Answer::Pass => Ink::Green,
        Answer::Undecided => Ink::Yellow,
        Answer::Fail => Ink::Red,
    };
    let head = format!("  {}: {}", check.condition, facts::word(check.answer));
    let mut entries = vec![Entry::item(ink, &head, counts(check))];
    // What fails comes before what is undecided.
    let mut open: Vec<&Judged> = check.judged.iter().collect();
    open.retain(|judged| judged.answer != Answer::Pass);
    open.sort_by_key(|judged| std::cmp::Reverse(judged.answer));
    // Of two runs, one is the baseline. From a third one on, a line must say which run it is about.
    let first = check.judged.first().map_or(0, |judged| judged.run);
    let mut runs = check.judged.iter().map(|judged| judged.run);
    let is_of_several = runs.any(|run| run > 1 || run != first);
    let shown = open.iter().take(SHOWN);
    entries.extend(shown.map(|judged| {
        let run = is_of_several.then(|| match names.get(judged.run) {
            Some(name) => (*name).to_owned(),
            None => letter(judged.run),
        });
        item(line(judged, run.as_deref()))
    }));
    if open.len() > SHOWN {
        let more = format!("and {} more (--json shows all)", open.len() - SHOWN);
        entries.push(item(more));
    }
    entries
}

fn item(text: String) -> Entry {
    Entry::item(Ink::Dim, "    -", text)
}

/// How many have which answer: `(1 fail, 2 undecided, 5 pass)`; empty if all have the same.
fn counts(check: &Check) -> String {
    let all = [Answer::Fail, Answer::Undecided, Answer::Pass];
    match facts::tally(&all, check.judged.iter().map(|judged| judged.answer)) {
        several if several.contains(',') => format!("({several})"),
        _ => String::new(),
    }
}

/// A load that keeps a condition from passing. `run`: of which run it is, where it must say that.
fn line(judged: &Judged, run: Option<&str>) -> String {
    let run = run.map_or_else(String::new, |name| format!("{name}, "));
    let undecided = match (judged.answer, judged.passes_to_decide) {
        (Answer::Undecided, Some(passes)) => {
            format!(" (undecided: about {passes} passes would decide)")
        }
        (Answer::Undecided, None) => " (undecided)".to_owned(),
        _ => String::new(),
    };
    // It has no subject if no load was measured that the condition could be about.
    let colon = if judged.subject.is_empty() { "" } else { ": " };
    format!("{run}{}{colon}{}{undecided}", judged.subject, judged.why)
}

#[cfg(test)]
mod tests {
    use blocklab_units::Style;

    use super::*;
    use crate::document::Form;

    fn judged(subject: &str, answer: Answer, passes_to_decide: Option<u32>) -> Judged {
        Judged {
            run: 1,
            subject: subject.to_owned(),
            answer,
            why: "IOPS 0.900 of the baseline".to_owned(),
            passes_to_decide,
        }
    }

    /// The story: of three runs, the last of which was the baseline, two lines were `read: …`, and
    /// neither said whether it was about A or B.
    #[test]
    fn a_line_names_its_run_whichever_is_the_baseline() {
        let of_run = |run, answer| Judged {
            run,
            ..judged("a", answer, None)
        };
        let of_two = Check {
            condition: "slower:5%".to_owned(),
            answer: Answer::Fail,
            judged: vec![of_run(0, Answer::Pass), of_run(1, Answer::Fail)],
        };
        let texts: Vec<String> = check(&of_two, &[])
            .into_iter()
            .map(|entry| entry.text)
            .collect();
        assert_eq!(
            texts,
            ["(1 fail, 1 pass)", "B, a: IOPS 0.900 of the baseline"]
        );
    }

    /// The story: in the result of a study of two systems, lines were about A and B, which are the letters of
    /// a comparison and stand nowhere in it.
    #[test]
    fn a_line_names_its_run_where_runs_have_names() {
        let of_run = |run| Judged {
            run,
            ..judged("a", Answer::Fail, None)
        };
        let of_two = Check {
            condition: "warning".to_owned(),
            answer: Answer::Fail,
            judged: vec![of_run(0), of_run(1)],
        };
        let names = ["mine: gp3", "mine: gp2"];
        let texts: Vec<String> = check(&of_two, &names)
            .into_iter()
            .map(|entry| entry.text)
            .collect();
        assert_eq!(texts[1], "mine: gp3, a: IOPS 0.900 of the baseline");
        assert_eq!(texts[2], "mine: gp2, a: IOPS 0.900 of the baseline");
    }

    /// The story: a condition on trims of a run without one was answered "- : no load of this name".
    #[test]
    fn a_condition_on_no_load_has_only_a_reason() {
        let text = line(&judged("", Answer::Fail, None), None);
        assert_eq!(text, "IOPS 0.900 of the baseline");
    }

    #[test]
    fn what_fails_stands_first_and_what_passes_is_counted() {
        let check = Check {
            condition: "slower:5%".to_owned(),
            answer: Answer::Fail,
            judged: vec![
                judged("a", Answer::Pass, None),
                judged("b", Answer::Undecided, Some(26)),
                judged("c", Answer::Fail, None),
            ],
        };
        let found = Gate {
            answer: Answer::Fail,
            checks: vec![check],
        };
        assert_eq!(
            gate(&found, &[]).print(Form::Text(Style::default())),
            "\
Gate
  slower:5%: fail (1 fail, 1 undecided, 1 pass)
    - c: IOPS 0.900 of the baseline
    - b: IOPS 0.900 of the baseline (undecided: about 26 passes would decide)
"
        );
        // In the summary of a pipeline, what fails hangs below its condition.
        let markdown = gate(&found, &[]).print(Form::Markdown);
        let below = "fail** (1 fail, 1 undecided, 1 pass)\n  - c: IOPS 0.900 of the baseline\n";
        assert!(markdown.contains(below), "{markdown}");
    }
}
