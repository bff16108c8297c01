//! A repeated study on a terminal: the author's tables, what was concluded, what was found; and
//! the curves of any run.

use blocklab_compare::study::{self, Entry, Judged, Outcome, Plot, Table, Verdict};
use blocklab_findings::{Assessment, Severity};
use blocklab_record::Record;

use super::findings;
use super::grid::{self, Cells};
use crate::facts;
use crate::shown::{self, columns};
use blocklab_units::{Ink, Style};

const MARGIN: usize = 2;
/// Narrowest title of a column.
const TITLE: usize = 9;
/// Up to so many systems show all their findings; more show only what doubts a figure.
const FEW: usize = 3;
/// Up to so many systems are listed one by one.
const MANY: usize = 6;

/// Everything that a study shows, ending with a newline.
pub fn study(
    name: &str,
    description: &str,
    outcome: &Outcome,
    runs: &[(&Record, &Assessment)],
    style: Style,
) -> String {
    let mut parts = vec![head(name, description, outcome, style)];
    parts.extend(outcome.tables.iter().map(|cells| table(cells, style)));
    parts.extend(outcome.plots.iter().map(|points| plot(points, style)));
    parts.push(conclusions(outcome, style));
    parts.push(found(runs, style));
    super::joined(parts)
}

fn head(name: &str, description: &str, outcome: &Outcome, style: Style) -> String {
    let mut out = format!("{}\n", style.paint(Ink::Bold, name));
    out.push_str(&style.aside(0, description));
    if !outcome.source.is_empty() {
        out.push_str(&style.aside(0, &format!("Published figures: {}", outcome.source)));
    }
    out.push('\n');
    out.push_str(&systems(outcome, style));
    for remark in &outcome.remarks {
        out.push_str(&style.hang(Ink::Dim, "note", 6, remark));
    }
    if let Some(near) = &outcome.nearness {
        let lines = style.wrap(&shown::nearness(near), 0);
        out.push_str(&format!("\n{}\n", lines.join("\n")));
    }
    out
}

/// Each with what played it; of many only their number, since the page lists them.
fn systems(outcome: &Outcome, style: Style) -> String {
    let measured = || outcome.systems.iter().filter(|system| system.run.is_some());
    let number = measured().count();
    if number > MANY {
        let text = format!("{number} systems; the page shows what played each, and its price.");
        return style.aside(0, &text);
    }
    let mut out = String::new();
    for party in measured() {
        out.push_str(&format!("{}\n", style.paint(Ink::Bold, &party.name)));
        let mut text = shown::played(party);
        let hour = shown::hour(party);
        if !hour.is_empty() {
            text.push_str(&format!(" · {hour}"));
        }
        out.push_str(&margin(&text, style));
        out.push_str(&style.aside(MARGIN, &party.because));
    }
    out
}

fn margin(text: &str, style: Style) -> String {
    grid::indented(&style.wrap(text, MARGIN).join("\n"), MARGIN)
}

fn table(table: &Table, style: Style) -> String {
    let columns = columns(table);
    let row = |(name, cells): (&String, &Vec<Option<Entry>>)| {
        let shown = columns
            .iter()
            .map(|column| (column.text)(cells[column.index].as_ref()));
        (name.clone(), shown.collect())
    };
    let cells = Cells {
        titles: columns
            .iter()
            .map(|column| column.title.to_owned())
            .collect(),
        rows: table.rows.iter().zip(&table.cells).map(row).collect(),
    };
    let mut out = format!("{}\n", style.paint(Ink::Bold, &table.title));
    out.push_str(&grid::blocks(&cells, MARGIN, TITLE, style));
    let saturated = (0..table.columns.len()).filter_map(|column| shown::saturation(table, column));
    for text in saturated {
        out.push_str(&style.aside(MARGIN, &text));
    }
    out + &style.aside(MARGIN, &table.note)
}

fn plot(plot: &Plot, style: Style) -> String {
    let mut out = format!("{}\n", style.paint(Ink::Bold, &plot.title));
    out.push_str(&style.aside(MARGIN, &format!("{} upwards, over {}", plot.y, plot.x)));
    for line in &plot.lines {
        out.push_str(&margin(&shown::line(plot, line), style));
    }
    out + &style.aside(MARGIN, &plot.note)
}

fn conclusions(outcome: &Outcome, style: Style) -> String {
    if outcome.conclusions.is_empty() {
        return String::new();
    }
    let title = format!("What was concluded: {}", shown::tally(outcome));
    let mut out = format!("{}\n", style.paint(Ink::Bold, &title));
    for judged in &outcome.conclusions {
        out.push_str(&conclusion(judged, style));
    }
    if shown::is_modelled(outcome) {
        out.push_str(&style.aside(MARGIN, shown::MODELLED));
    }
    out
}

fn conclusion(judged: &Judged, style: Style) -> String {
    const INDENT: usize = 24;
    let ink = match judged.verdict {
        Verdict::Confirmed => Ink::Green,
        Verdict::Contradicted => Ink::Yellow,
        Verdict::TrueByConstruction | Verdict::NotTestable => Ink::Dim,
    };
    let head = format!("  {}", facts::word(judged.verdict));
    let mut out = style.hang(ink, &head, INDENT, &judged.text);
    for reason in &judged.reasons {
        out.push_str(&style.aside(INDENT, reason));
    }
    out.push_str(&style.aside(INDENT, shown::by_published(judged)));
    out + &style.aside(INDENT, &judged.because)
}

fn found(runs: &[(&Record, &Assessment)], style: Style) -> String {
    if runs.len() <= FEW {
        let blocks = runs.iter().map(|(record, assessment)| {
            let title = style.paint(Ink::Bold, &record.requested.name);
            format!("{title}\n{}", findings::brief(record, assessment, style))
        });
        return blocks.collect::<Vec<_>>().join("\n");
    }
    let mut out = String::new();
    for (record, assessment) in runs {
        let doubting = assessment.findings.iter();
        for finding in doubting.filter(|doubting| doubting.severity > Severity::Info) {
            let text = format!("{}: {}", record.requested.name, finding.statement);
            out.push_str(&style.hang(Ink::Yellow, "  warning", 12, &text));
        }
    }
    let quiet = "No finding doubts a figure. What explains them is on the page.";
    if out.is_empty() {
        style.aside(0, quiet)
    } else {
        super::titled("Findings", [out], style)
    }
}

/// A line for each curve of a Record; empty where it has none.
pub fn curves(record: &Record) -> String {
    let Some(plot) = study::curves(record) else {
        return String::new();
    };
    let lines = plot.lines.iter().map(|line| shown::line(&plot, line));
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    format!("{}\n{lines}", plot.title)
}
