use blocklab_findings::{Assessment, Finding, Severity};
use blocklab_record::Record;
use blocklab_units::{Bytes, Nanos, count};

use super::grid::{self, Cells};
use super::titled;
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

/// The findings with all evidence, most severe first; empty when there are none.
pub fn findings(assessment: &Assessment, style: Style) -> String {
    let blocks = assessment.findings.iter().enumerate();
    let blocks = blocks.map(|(index, finding)| {
        let gap = if index > 0 { "\n" } else { "" };
        [gap, &statement(finding, style), &advice(finding, style)].concat()
            + &evidence(finding, assessment.rows.len(), style)
    });
    titled("Findings", blocks, style)
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
fn evidence(finding: &Finding, of: usize, style: Style) -> String {
    let grid = Grid::of(finding);
    let others = match grid.other_cases(finding, of) {
        none if none.is_empty() => none,
        others => format!("Cases: {others}"),
    };
    let sure = facts::confidence(finding.confidence);
    let sure = format!("{sure} confidence, rule {}", finding.rule);
    let aside = |line: String| {
        if line.is_empty() {
            line
        } else {
            style.aside(INDENT, &line)
        }
    };
    [
        aside(grid.line()),
        table(&grid, style),
        aside(others),
        aside(sure),
    ]
    .concat()
}

/// Empty where all figures stand on the line before it.
fn table(of: &Grid<'_>, style: Style) -> String {
    if of.titles.is_empty() {
        return String::new();
    }
    let rows = of.rows.iter();
    let rows = rows.map(|(case, cells)| {
        let cells = cells.iter().map(|cell| cell.clone().unwrap_or_default());
        (case.unwrap_or("all").to_owned(), cells.collect())
    });
    let cells = Cells {
        titles: of.titles.iter().map(|title| (*title).to_owned()).collect(),
        rows: rows.collect(),
    };
    grid::blocks(&cells, INDENT, TITLE, style)
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
