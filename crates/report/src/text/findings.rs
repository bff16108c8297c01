use blocklab_findings::{Assessment, Finding, Severity};
use blocklab_record::Record;
use blocklab_units::{Bytes, Nanos, count};

use super::titled;
use crate::document::{Column, Entry, Layout, Part, Row, Table};
use crate::evidence::Grid;
use crate::facts;
use blocklab_units::{Ink, Style};

/// Column in which statements begin.
const INDENT: usize = 12;
/// Narrowest room for the title of a quantity; a longer one goes over several lines.
const TITLE: usize = 14;

/// The findings as they are read in passing: what doubts a figure with its advice, what explains
/// one on a line. Empty when there are none.
pub fn brief(record: &Record, assessment: &Assessment, style: Style) -> String {
    let blocks = assessment.findings.iter().map(|finding| {
        let mut out = match finding.severity {
            Severity::Info => line(finding, style),
            _ => statement(finding, style),
        };
        if finding.severity > Severity::Info {
            out.push_str(&advice(finding, style));
        }
        out
    });
    let findings = titled("Findings", blocks, style);
    let folded = |finding: &Finding| finding.severity != Severity::Good;
    if !assessment.findings.iter().any(folded) {
        return findings;
    }
    let more = format!(
        "`blocklab show {} --findings` shows the evidence.",
        record.id
    );
    findings + &style.aside(INDENT, &more)
}

/// The findings with all evidence, most severe first.
pub fn findings(assessment: &Assessment) -> Part {
    let all = assessment.findings.iter();
    let blocks = all.map(|finding| {
        let mut entries = vec![Entry::new(
            ink(finding.severity),
            &head(finding),
            INDENT,
            &finding.statement,
        )];
        let arrow = format!("{}→", " ".repeat(INDENT));
        let advice = finding.advice.iter();
        entries.extend(advice.map(|text| Entry::new(Ink::Blue, &arrow, INDENT + 2, text)));
        let mut parts = vec![Part::Entries(entries)];
        parts.extend(evidence(finding, assessment.rows.len()));
        parts
    });
    Part::section("Findings", vec![Part::Blocks(blocks.collect())])
}

fn head(finding: &Finding) -> String {
    format!("  {}", facts::word(finding.severity))
}

fn statement(finding: &Finding, style: Style) -> String {
    style.hang(
        ink(finding.severity),
        &head(finding),
        INDENT,
        &finding.statement,
    )
}

/// As much of the statement as one line holds.
fn line(finding: &Finding, style: Style) -> String {
    let lines = style.wrap(&finding.statement, INDENT);
    let shown = match lines.as_slice() {
        [] => String::new(),
        [all] => all.clone(),
        [_, ..] => style.cut(&finding.statement, INDENT),
    };
    style.hang(ink(finding.severity), &head(finding), INDENT, &shown)
}

fn advice(finding: &Finding, style: Style) -> String {
    let head = format!("{}→", " ".repeat(INDENT));
    let advice = finding.advice.iter();
    let lines = advice.map(|text| style.hang(Ink::Blue, &head, INDENT + 2, text));
    lines.collect()
}

/// What the rows of a table share, the table, and cases that neither names; then how sure, and by
/// which rule.
fn evidence(finding: &Finding, of: usize) -> [Part; 3] {
    let grid = Grid::new(finding);
    let others = match grid.other_cases(finding, of) {
        none if none.is_empty() => none,
        others => format!("Cases: {others}"),
    };
    let sure = facts::confidence(finding.confidence);
    let sure = format!("{sure} confidence, rule {}", finding.rule);
    let asides = |lines: &[String]| {
        let lines = lines.iter().filter(|line| !line.is_empty());
        Part::Entries(lines.map(|line| Entry::aside(INDENT, line)).collect())
    };
    [
        asides(&[grid.line()]),
        table(&grid),
        asides(&[others, sure]),
    ]
}

/// Empty where all figures stand on the line before it.
fn table(of: &Grid<'_>) -> Part {
    let titles = of.titles.iter().map(|title| Column::figure(*title));
    let rows = of.rows.iter().filter(|_| !of.titles.is_empty());
    let rows = rows.map(|(case, cells)| {
        let cells = cells.iter().map(|cell| cell.clone().unwrap_or_default());
        let name = case.unwrap_or("all").to_owned();
        Row::from([name].into_iter().chain(cells).collect::<Vec<_>>())
    });
    Part::Table(Table {
        columns: [Column::words("")].into_iter().chain(titles).collect(),
        rows: rows.collect(),
        layout: Layout::Blocks {
            margin: INDENT,
            title: TITLE,
        },
    })
}

const fn ink(severity: Severity) -> Ink {
    match severity {
        Severity::Critical => Ink::Red,
        Severity::Warning => Ink::Yellow,
        Severity::Info => Ink::Blue,
        Severity::Good => Ink::Green,
    }
}

/// What was understood differently from what was written.
pub fn notes(record: &Record, style: Style) -> String {
    let blocks = facts::notes(record).into_iter().map(|note| {
        let text = format!(
            "{} {}: {}",
            facts::word(note.level),
            note.subject(),
            note.text
        );
        style.hang(Ink::Dim, "  -", 4, &text)
    });
    titled("Notes", blocks, style)
}

/// Failed operations by kind.
pub fn errors(record: &Record, style: Style) -> String {
    let blocks = facts::failures(record).into_iter().map(|failure| {
        let error = failure.error;
        let text = format!(
            "{}: {} × {} on {} ({}), first after {} at offset {}",
            failure.case,
            count(error.count as f64),
            error.kind,
            error.direction,
            error.message,
            Nanos(error.first_at_ns),
            Bytes(error.first_offset),
        );
        style.hang(Ink::Red, "  -", 4, &text)
    });
    titled("Errors", blocks, style)
}
