//! In: Records, their findings, and what was compared and judged of them; an advice.
//! Out: one self-contained HTML file with charts: no network, no third party, the same bytes for the
//! same Records.
//! Never: computes a statistic, judges a figure, says a figure in other words than a Document does.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
// `fields!` gives the type of a field the name of the field.
#![allow(non_camel_case_types)]

mod charts;
mod comparison;
mod consistency;
mod course;
mod data;
mod diagnosis;
mod findings;
mod frame;
mod front;
mod headline;
mod history;
mod hosts;
mod limits;
mod model;
mod numbers;
mod origin;
mod played;
mod side;
mod study;
mod sweeps;
mod systems;
mod trace;

use blocklab_advice::Advice;
use blocklab_compare::compare::Comparison;
use blocklab_compare::expect::Diagnosis;
use blocklab_compare::history::History;
use blocklab_compare::study::Outcome;
use blocklab_findings::Assessment;
use blocklab_record::Record;
use maud::Markup;

use blocklab_report::document::Document;
use blocklab_report::views::Beside;
use blocklab_report::words::answer;
use blocklab_trace::character::Character;
pub use frame::{STYLE, lines_script, script};
pub use history::script as history_script;
use side::Side;

/// The whole page for one Record, or for several side by side in the order given.
///
/// The page carries its style, its script and its data; a reader without JavaScript still has
/// every number in tables.
pub fn runs(records: &[(&Record, &Assessment)]) -> String {
    frame::page(records, None, None).into_string()
}

/// The same page among others. `above`: what leads to them.
pub fn run_among_others(record: &Record, assessment: &Assessment, above: &Markup) -> String {
    frame::page(&[(record, assessment)], None, Some(above)).into_string()
}

/// The same page, opened by a comparison of these Records.
pub fn comparison(records: &[(&Record, &Assessment)], comparison: &Comparison) -> String {
    compared(records, comparison, None)
}

/// The page of a comparison among others. `above`: what leads to them.
pub fn comparison_among_others(
    records: &[(&Record, &Assessment)],
    comparison: &Comparison,
    above: &Markup,
) -> String {
    compared(records, comparison, Some(above))
}

fn compared(
    records: &[(&Record, &Assessment)],
    comparison: &Comparison,
    above: Option<&Markup>,
) -> String {
    let opening = frame::Opening {
        id: "comparison",
        name: "Comparison",
        title: Some(comparison::title(records, comparison)),
        answer: answer::comparison(comparison),
        limits: None,
        section: &|_: &[Side<'_>]| comparison::section(comparison),
    };
    frame::page(records, Some(opening), above).into_string()
}

/// The page of a Record with everything that was found, opened by delivered against documented
/// where something was expected.
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis) -> String {
    let expected = diagnosis.expected.as_ref();
    let section = |_: &[Side<'_>]| expected.map_or_else(Markup::default, diagnosis::section);
    let opening = expected.map(|_| frame::Opening {
        id: "documented",
        name: "Documented",
        title: None,
        answer: answer::diagnosis(record, diagnosis),
        limits: expected.map(limits::expected),
        section: &section,
    });
    frame::page(&[(record, &diagnosis.assessment)], opening, None).into_string()
}

/// The page of a recorded load. `begins`: nanoseconds since 1970, where they are known; `beside`: what
/// volumes would let pass of it.
pub fn trace(
    document: &Document,
    of: &Character,
    begins: Option<u64>,
    beside: Option<&Beside>,
) -> String {
    trace::page(document, of, begins, beside).into_string()
}

/// The page of an advice: its Document, with price against latency drawn.
pub fn advice(advice: &Advice) -> String {
    front::page(advice).into_string() + "\n"
}

/// The page of all runs of a study, opened by what the study shows.
pub fn study(records: &[(&Record, &Assessment)], outcome: &Outcome) -> String {
    let opening = frame::Opening {
        id: "study",
        name: "Study",
        title: None,
        answer: answer::study(outcome),
        limits: None,
        section: &|sides: &[Side<'_>]| study::section(outcome, sides),
    };
    frame::page(records, Some(opening), None).into_string()
}

/// The page of a history.
pub fn history(history: &History) -> String {
    history::page(history)
}

/// The same for a page that has a title and [`history_script`].
pub fn history_section(history: &History) -> Markup {
    history::section(history)
}
