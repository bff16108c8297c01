//! The answer of a gate: as text, as a file for CI systems, and as an exit code.

use std::path::Path;

use anyhow::Result;
use blocklab_compare::gate::{self, Answer, Evidence, Gate, LoadCondition, NoSuchCase, answer};
use blocklab_console::status::{DONE, NOT_PASSED, UNDECIDED};
use blocklab_console::terminal;
use blocklab_findings::{Assessment, Finding};
use blocklab_record::Record;
use blocklab_report::document::Form;
use blocklab_report::junit::{Answered, junit};
use blocklab_report::views;

use crate::output::{self, Over};

/// The exit code for a gate's answer. Undecided counts as success unless the gate is `strict`.
pub fn status(gate: Option<&Gate>, strict: bool) -> u8 {
    match gate.map(|gate| gate.answer) {
        Some(Answer::Fail) => NOT_PASSED,
        Some(Answer::Undecided) if strict => UNDECIDED,
        _ => DONE,
    }
}

/// The answer as the last lines of a result, after an empty line; empty without a condition. `names`:
/// those of the runs, where they have no letters.
pub fn words(gate: Option<&Gate>, names: &[&str], form: Form) -> String {
    gate.map_or_else(String::new, |gate| {
        format!("\n{}", views::gate(gate, names).print(form))
    })
}

/// Prints the answer to standard error, for when standard output has a page.
pub fn print_aside(gate: Option<&Gate>, names: &[&str]) {
    if gate.is_some() {
        let form = Form::Text(terminal::style());
        terminal::inform(words(gate, names, form).trim());
    }
}

/// Writes the answers as JUnit XML to `path`, if one is given.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: Option<&Path>, answered: &[Answered<'_>], over: Over) -> Result<()> {
    match path {
        Some(path) => output::write(path, junit(answered), over),
        None => Ok(()),
    }
}

/// Whether each condition about single cases is about a case of these runs.
///
/// # Errors
/// With the first one that is not.
pub fn check_cases(conditions: &[LoadCondition], runs: &[&Record]) -> Result<(), NoSuchCase> {
    gate::check_cases(conditions, runs.iter().copied().flat_map(gate::cases))
}

/// The answer to conditions that each run meets or misses by itself, without a comparison; `None` without
/// a condition.
pub fn of_runs(conditions: &[LoadCondition], runs: &[(&Record, &Assessment)]) -> Option<Gate> {
    let runs: Vec<(&Record, &[Finding])> = runs
        .iter()
        .map(|(record, assessment)| (*record, &assessment.findings[..]))
        .collect();
    let evidence = Evidence {
        runs: &runs,
        ..Evidence::default()
    };
    answer(conditions, evidence)
}
