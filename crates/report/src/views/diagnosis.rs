//! In: a run and its diagnosis. Out: their document, which begins with the verdict.

use blocklab_compare::expect::{Compared, Diagnosis, State};
use blocklab_findings::{Assessment, Severity};
use blocklab_record::Record;

use super::findings::findings;
use super::header::{answered, header};
use crate::document::{Column, Document, Entry, Layout, MARGIN, Part, Row, cited, numbered};
use crate::words::answer;
use crate::words::delivered::{
    CASE_TITLES, LIMIT_TITLES, case_cells, limit_cells, limit_how, outcome, row_name,
};
use crate::words::model;
use blocklab_units::Ink;

/// The document of a diagnosis: the verdicts on what was bought and on the figures, the limits and
/// cases behind them, all findings with their evidence, and the numbered sources of the limits.
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis) -> Document {
    let compared = diagnosis.expected.as_ref();
    let mut sources = Vec::new();
    let mut parts = vec![Part::Entries(verdicts(record, diagnosis))];
    parts.extend(header(record));
    match compared {
        Some(compared) => {
            parts.push(limits(compared, &mut sources));
            parts.push(cases(compared));
        }
        None => parts.extend(limits_in_force(record, &mut sources)),
    }
    parts.push(findings(&without_good(&diagnosis.assessment)));
    parts.push(numbered("Sources", &sources));
    Document {
        name: format!("Diagnosis of {}", record.id),
        parts,
    }
}

fn verdicts(record: &Record, diagnosis: &Diagnosis) -> Vec<Entry> {
    let mut entries = vec![answered(&answer::diagnosis(record, diagnosis))];
    if let Some(compared) = &diagnosis.expected {
        entries.push(Entry::new(Ink::Bold, "", 0, outcome(compared)));
        entries.push(answered(&answer::run(record, &diagnosis.assessment)));
    }
    entries
}

/// The findings without the good one, which the verdict contains.
fn without_good(assessment: &Assessment) -> Assessment {
    let mut rest = assessment.clone();
    rest.findings
        .retain(|finding| finding.severity != Severity::Good);
    rest
}

/// The limits in force on each modelled device, for a run without an expectation. A single device
/// needs no name.
fn limits_in_force(record: &Record, sources: &mut Vec<String>) -> Vec<Part> {
    let targets: Vec<_> = model::targets(record).collect();
    let sections = targets.iter().map(|target| {
        let limits = target.limits.iter().filter(|limit| !limit.is_bound());
        let pairs: Vec<(String, String)> = limits
            .map(|limit| {
                let cited = cited(sources, &limit.origin.to_string());
                let value = format!("{} {cited}", model::value(limit));
                (limit.name.to_string(), value)
            })
            .collect();
        let title = match targets.len() {
            1 => "Limits in force".to_owned(),
            _ => format!("Limits in force on {}", target.path),
        };
        Part::section(title, vec![Part::Entries(Entry::pairs(&pairs, MARGIN))])
    });
    sections.collect()
}

/// A row for each limit, with its source by number, and below it the load that reached it or would.
fn limits(compared: &Compared, sources: &mut Vec<String>) -> Part {
    let rows = compared.limits.iter().map(|limit| {
        let mut cells = limit_cells(limit);
        if !limit.origin.is_empty() {
            // The verdict is the last cell: the reference stays out of the figures.
            cells[3] += &format!(" {}", cited(sources, &limit.origin));
        }
        let ink = match limit.state {
            State::Met => Ink::Green,
            State::Exceeded => Ink::Blue,
            State::Missed | State::Interrupted | State::Undecided => Ink::Yellow,
            State::NotTested => Ink::Dim,
        };
        let name = row_name(&limit.limit, limit.target.as_ref());
        Row {
            ink: Some(ink),
            below: limit_how(limit),
            ..Row::named(name, cells)
        }
    });
    table(LIMIT_TITLES, rows)
}

fn cases(compared: &Compared) -> Part {
    let cases = compared.cases.iter();
    let rows =
        cases.map(|case| Row::named(row_name(&case.case, case.target.as_ref()), case_cells(case)));
    table(CASE_TITLES, rows)
}

/// Rows of three figures and a verdict in words.
fn table(titles: [&str; 4], rows: impl Iterator<Item = Row>) -> Part {
    let [figures @ .., verdict] = titles;
    let columns = Column::named_and_words("", figures, verdict);
    Part::whole_table(Layout::Narrow { margin: MARGIN }, columns, rows)
}
