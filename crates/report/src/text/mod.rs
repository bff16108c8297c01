//! A Record and its Assessment as text for a terminal.

mod comparison;
mod diagnosis;
mod findings;
mod gate;
pub(crate) mod grid;
pub(crate) mod header;
mod model;
pub(crate) mod rows;
mod study;

use blocklab_findings::Assessment;
use blocklab_record::Record;
use blocklab_units::{Ink, Style};

use crate::document::{Document, Form, Part};

pub use crate::facts::target_lines;
pub use comparison::comparison;
pub use diagnosis::diagnosis;
pub use findings::findings;
pub use gate::gate;
pub use grid::{aligned, indented, lines};
pub use model::model;
pub use rows::table;
pub use study::{curves, study};

/// What a person wants to see at the end of a run: what was measured; of a modelled device its
/// limits and what is assumed; the notes, the errors, the findings in brief; the table last, where
/// a terminal of 24 lines still shows it. Ends with a newline. [`findings`] and [`model`](fn@model) show the rest.
pub fn summary(record: &Record, assessment: &Assessment, style: Style) -> String {
    let parts = [
        in_parts(header::header(record), style),
        curves(record),
        model::brief(record, style),
        findings::notes(record, style),
        findings::errors(record, style),
        findings::brief(record, assessment, style),
        table(record, assessment, style),
    ];
    joined(parts)
}

fn in_parts(parts: Vec<Part>, style: Style) -> String {
    let document = Document {
        name: String::new(),
        parts,
    };
    document.print(Form::Text(style))
}

/// The findings with all evidence, and what a modelled device rests on.
pub fn evidence(record: &Record, assessment: &Assessment) -> Document {
    let mut parts = vec![findings(assessment)];
    if assessment.findings.is_empty() {
        parts.push(Part::Prose("no findings".to_owned()));
    }
    parts.extend(model(record));
    Document {
        name: format!("Findings of {}", record.id),
        parts,
    }
}

/// Parts with an empty line between them; those that are empty are left out.
fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

/// Lines under a title; empty without any.
fn titled(title: &str, lines: impl IntoIterator<Item = String>, style: Style) -> String {
    let body: String = lines.into_iter().collect();
    if body.is_empty() {
        body
    } else {
        format!("{}\n{body}", style.paint(Ink::Bold, title))
    }
}
