//! In: findings, notes and errors. Out: the findings in brief or with all evidence, and lists of
//! the others.

use blocklab_findings::{Assessment, Finding, Severity};
use blocklab_record::Record;
use blocklab_units::{Bytes, Ink, Nanos, count, plural};

use crate::document::{Column, Entry, Layout, Part, Row};
use crate::words::evidence::Grid;
use crate::words::facts;

/// The terminal column in which statements begin.
const INDENT: usize = 12;
/// The least width of a column of evidence; a longer title wraps.
const TITLE: usize = 14;

/// The findings in brief. One that doubts a figure has its advice and its cases; one that explains
/// a figure takes a single line. `store`: as in [`summary`](super::summary).
pub fn brief(record: &Record, assessment: &Assessment, store: Option<&str>) -> Part {
    let mut parts: Vec<Part> = Vec::new();
    for finding in &assessment.findings {
        let entries = entries(finding);
        // Folded cases separate entries; entries that follow each other are one part.
        match parts.last_mut() {
            Some(Part::Entries(list)) => list.extend(entries),
            _ => parts.push(Part::Entries(entries)),
        }
        parts.extend(cases(finding, assessment.rows.len()));
    }
    let mut findings = assessment.findings.iter();
    if let Some(store) = store
        && findings.any(|finding| finding.severity != Severity::Good)
    {
        let more = format!(
            "`blocklab show {}{store} --findings` shows the evidence.",
            record.id
        );
        parts.push(Part::Entries(vec![Entry::aside(INDENT, more)]));
    }
    Part::section("Findings", parts)
}

/// The statement of a finding, and its advice if it doubts a figure.
fn entries(finding: &Finding) -> Vec<Entry> {
    let statement = statement(finding);
    if finding.severity == Severity::Info {
        return vec![statement.cut()];
    }
    let advice = advice(finding).filter(|_| finding.severity > Severity::Info);
    [statement].into_iter().chain(advice).collect()
}

/// The cases that a statement does not name, folded.
fn cases(finding: &Finding, all_cases: usize) -> Option<Part> {
    let names = facts::unnamed(finding, all_cases);
    let list = Part::Prose(names.join(", "));
    (!names.is_empty()).then(|| Part::Folded {
        title: plural(names.len(), "case"),
        parts: vec![list],
    })
}

/// The findings with all evidence, most severe first.
pub fn findings(assessment: &Assessment) -> Part {
    let all = assessment.findings.iter();
    let blocks = all.map(|finding| {
        let entries = [statement(finding)].into_iter().chain(advice(finding));
        let mut parts = vec![Part::Entries(entries.collect())];
        parts.extend(evidence(finding, assessment.rows.len()));
        parts
    });
    Part::section("Findings", vec![Part::Blocks(blocks.collect())])
}

fn statement(finding: &Finding) -> Entry {
    headed(finding, finding.statement.clone())
}

/// A text on a finding, after the word of its severity.
pub(super) fn headed(finding: &Finding, text: String) -> Entry {
    let head = format!("  {}", facts::word(finding.severity));
    Entry::new(ink(finding.severity), &head, INDENT, text)
}

fn advice(finding: &Finding) -> Option<Entry> {
    let arrow = format!("{}→", " ".repeat(INDENT));
    let advice = finding.advice.as_ref();
    advice.map(|text| Entry::item(Ink::Blue, &arrow, text))
}

/// The figures that all rows share, the table, the cases that neither names, and then the
/// confidence and the rule.
fn evidence(finding: &Finding, all_cases: usize) -> [Part; 3] {
    let grid = Grid::new(finding);
    let others = match grid.other_cases(finding, all_cases) {
        none if none.is_empty() => none,
        others => format!("Cases: {others}"),
    };
    let sure = facts::confidence(finding.confidence);
    let sure = format!("{sure} confidence, rule {}", finding.rule);
    [
        asides(&[grid.line()]),
        table(&grid),
        asides(&[others, sure]),
    ]
}

fn asides(lines: &[String]) -> Part {
    let lines = lines.iter().filter(|line| !line.is_empty());
    Part::Entries(lines.map(|line| Entry::aside(INDENT, line)).collect())
}

/// The table of evidence; empty if the line before it has all figures.
fn table(grid: &Grid<'_>) -> Part {
    let rows = grid
        .rows
        .iter()
        .filter(|_| !grid.titles.is_empty())
        .map(|(case, cells)| {
            let cells = cells.iter().map(|cell| cell.clone().unwrap_or_default());
            Row::named(case.unwrap_or("all"), cells)
        });
    let layout = Layout::Blocks {
        margin: INDENT,
        title: TITLE,
    };
    Part::whole_table(layout, Column::named("", grid.titles.iter().copied()), rows)
}

const fn ink(severity: Severity) -> Ink {
    match severity {
        Severity::Critical => Ink::Red,
        Severity::Warning => Ink::Yellow,
        Severity::Info => Ink::Blue,
        Severity::Good => Ink::Green,
    }
}

/// The notes on what was understood differently from what was written.
pub fn notes(record: &Record) -> Part {
    let notes = facts::notes(record).into_iter().map(|note| {
        format!(
            "{} {}: {}",
            facts::word(note.level),
            note.subject(),
            note.text
        )
    });
    Part::list("Notes", notes)
}

/// Failed operations by kind.
pub fn errors(record: &Record) -> Part {
    let errors = facts::failures(record).into_iter().map(|failure| {
        let error = failure.error;
        let text = format!(
            "{}: {} × {} on {} ({}), first after {} at offset {}",
            failure.case,
            count(error.count as f64),
            error.kind,
            error.direction,
            error.message,
            Nanos(error.first_at_ns),
            Bytes(error.first_offset).exact(),
        );
        Entry::item(Ink::Red, "  -", text)
    });
    Part::section("Errors", vec![Part::Entries(errors.collect())])
}
