//! In: Records with their findings, comparisons, diagnoses, studies, histories, traces, an advice.
//! Out: one self-contained HTML file with charts, which needs no network and no third party. The
//! same input gives the same bytes.
//! Never: computes a statistic, judges a figure, words a figure differently from a Document.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
// `fields!` names the type parameter of a field after the field.
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
mod side;
mod study;
mod study_runs;
mod sweeps;
mod systems;
mod trace;

use blocklab_compare::compare::Comparison;
use blocklab_compare::expect::Diagnosis;
use blocklab_compare::study::Outcome;
use blocklab_findings::Assessment;
use blocklab_record::Record;
use maud::Markup;

use blocklab_report::words::answer;
use frame::Opening;
pub use frame::{STYLE, lines_script, script};
pub use front::page as advice;
pub use history::{page as history, script as history_script, section as history_section};
use side::Side;
pub use trace::page as trace;

/// The page of one run, or of several side by side in the order given.
///
/// The page holds its style, its script and its data. A reader without JavaScript has every number
/// in tables.
pub fn runs(records: &[(&Record, &Assessment)]) -> String {
    frame::page(records, None, None).into_string()
}

/// The page of a run on a server. `above`: the links to its other pages.
pub fn run_among_others(record: &Record, assessment: &Assessment, above: &Markup) -> String {
    frame::page(&[(record, assessment)], None, Some(above)).into_string()
}

/// The page of several runs that begins with their comparison. `above`: the links to the other pages
/// of a server.
pub fn comparison(
    records: &[(&Record, &Assessment)],
    comparison: &Comparison,
    above: Option<&Markup>,
) -> String {
    let answer = answer::comparison(comparison);
    let section = |_: &[Side<'_>]| comparison::section(comparison);
    let opening = Opening {
        title: Some(comparison::title(records, comparison)),
        ..Opening::new("comparison", "Comparison", answer, &section)
    };
    frame::page(records, Some(opening), above).into_string()
}

/// The page of a run with all findings of its diagnosis. With an expectation, it begins with what
/// was delivered of the documented limits.
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis) -> String {
    let expected = diagnosis.expected.as_ref();
    let section = |_: &[Side<'_>]| expected.map_or_else(Markup::default, diagnosis::section);
    let answer = answer::diagnosis(record, diagnosis);
    let opening = expected.map(|expected| Opening {
        limits: Some(limits::expected(expected)),
        ..Opening::new("documented", "Documented", answer, &section)
    });
    frame::page(&[(record, &diagnosis.assessment)], opening, None).into_string()
}

/// The page of all runs of a study, which begins with the study's tables and conclusions.
pub fn study(records: &[(&Record, &Assessment)], outcome: &Outcome) -> String {
    let section = |sides: &[Side<'_>]| study::section(outcome, sides);
    let opening = Opening::new("study", "Study", answer::study(outcome), &section);
    frame::page(records, Some(opening), None).into_string()
}
