//! In: a repeated study. Out: the author's tables, the conclusions and the findings. Also the
//! curves of any run.

use blocklab_compare::study::{self, Judged, Outcome, Plot, Table, Verdict};
use blocklab_findings::{Assessment, Severity};
use blocklab_record::Record;
use blocklab_units::Ink;

use super::findings;
use super::header::answered;
use crate::document::{Column, Document, Entry, Layout, MARGIN, Part, Row};
use crate::words::answer;
use crate::words::facts;
use crate::words::shown::{self, columns};

/// The least width of a column.
const TITLE: usize = 9;
/// The terminal columns in which conclusions, curves and notes begin, after their words.
const CONCLUSION: usize = 24;
const CURVE: usize = 4;
const NOTE: usize = 6;
/// Up to this many systems show their findings in brief; of more, only what doubts a figure is
/// shown.
const FEW: usize = 3;
/// Up to this many systems are listed one by one.
const MANY: usize = 6;

/// The document of a study. `store`: as in [`summary`](super::summary).
pub fn study(
    name: &str,
    description: &str,
    outcome: &Outcome,
    runs: &[(&Record, &Assessment)],
    store: Option<&str>,
) -> Document {
    let answer = answered(&answer::study(outcome));
    let mut parts = vec![
        Part::Heading(name.to_owned()),
        Part::Entries(vec![answer]),
        about(description, outcome),
    ];
    parts.push(systems(outcome));
    let notes = outcome
        .remarks
        .iter()
        .map(|remark| Entry::new(Ink::Dim, "note", NOTE, remark));
    parts.push(Part::Entries(notes.collect()));
    let nearness = outcome.nearness.as_ref().map(shown::nearness);
    parts.push(Part::Prose(nearness.unwrap_or_default()));
    parts.extend(outcome.tables.iter().map(table));
    parts.extend(outcome.plots.iter().map(plot));
    parts.push(conclusions(outcome));
    parts.extend(findings_of_all(runs, store));
    Document {
        name: name.to_owned(),
        parts,
    }
}

fn about(description: &str, outcome: &Outcome) -> Part {
    let source = match outcome.source.as_str() {
        "" => String::new(),
        source => format!("Published figures: {source}"),
    };
    asides(0, [description.to_owned(), source])
}

/// Remarks with a margin; empty ones are left out.
fn asides(margin: usize, texts: impl IntoIterator<Item = String>) -> Part {
    let texts = texts.into_iter().filter(|text| !text.is_empty());
    Part::Entries(texts.map(|text| Entry::aside(margin, text)).collect())
}

/// The systems that ran, each with where its figures come from. If there are many, only their number is given,
/// since the page lists them.
fn systems(outcome: &Outcome) -> Part {
    let measured: Vec<_> = outcome
        .systems
        .iter()
        .filter(|system| system.run.is_some())
        .collect();
    if measured.len() > MANY {
        let number = measured.len();
        let text = format!(
            "{number} systems; the page shows where the figures of each come from, and its price."
        );
        return asides(0, [text]);
    }
    let parts = measured.into_iter().flat_map(|system| {
        let price = shown::hourly_price(system);
        let facts = [shown::figures_from(system), price].into_iter();
        let facts: Vec<String> = facts.filter(|text| !text.is_empty()).collect();
        [
            Part::section(&system.name, vec![indented(facts.join(" · "))]),
            asides(MARGIN, [system.because.clone()]),
        ]
    });
    Part::Blocks(vec![parts.collect()])
}

/// A sentence with a margin.
fn indented(text: String) -> Part {
    Part::Entries(vec![Entry::new(Ink::Dim, "", MARGIN, text)])
}

/// A table of the author, with the remarks on it.
fn table(table: &Table) -> Part {
    let columns = columns(table);
    let rows = table.rows.iter().zip(&table.cells).map(|(name, cells)| {
        let shown = columns
            .iter()
            .map(|column| (column.text)(cells[column.index].as_ref()));
        Row::named(name, shown)
    });
    let layout = Layout::Blocks {
        margin: MARGIN,
        title: TITLE,
    };
    let titles = Column::named(&*table.corner, columns.iter().map(|column| column.title));
    let figures = Part::whole_table(layout, titles, rows);
    let saturated = (0..table.columns.len()).filter_map(|column| shown::saturation(table, column));
    let remarks = saturated.chain([table.note.clone()]);
    Part::section(&table.title, vec![figures, asides(MARGIN, remarks)])
}

/// The curves of a plot as sentences: a terminal draws none.
fn plot(plot: &Plot) -> Part {
    let axes = format!("{} upwards, over {}", plot.y, plot.x);
    let lines = plot
        .lines
        .iter()
        .map(|line| indented(shown::line(plot, line)));
    let parts = [asides(MARGIN, [axes])]
        .into_iter()
        .chain(lines)
        .chain([asides(MARGIN, [plot.note.clone()])]);
    Part::section(&plot.title, parts.collect())
}

fn conclusions(outcome: &Outcome) -> Part {
    let title = format!("What was concluded: {}", shown::tally(outcome));
    let mut parts: Vec<Part> = outcome.conclusions.iter().flat_map(conclusion).collect();
    if shown::is_modelled(outcome) && !parts.is_empty() {
        parts.push(asides(MARGIN, [shown::MODELLED.to_owned()]));
    }
    Part::section(title, parts)
}

/// A conclusion with its verdict, and the reasons.
fn conclusion(judged: &Judged) -> [Part; 2] {
    let ink = match judged.verdict {
        Verdict::Confirmed => Ink::Green,
        Verdict::Contradicted => Ink::Yellow,
        Verdict::TrueByConstruction | Verdict::NotTestable => Ink::Dim,
    };
    let head = format!("  {}", facts::word(judged.verdict));
    let said = Entry::new(ink, &head, CONCLUSION, &judged.text);
    let published = shown::by_published(judged).to_owned();
    let more = [published, judged.because.clone()];
    let reasons = asides(CONCLUSION, judged.reasons.iter().cloned().chain(more));
    [Part::Entries(vec![said]), reasons]
}

/// The findings of all runs.
fn findings_of_all(runs: &[(&Record, &Assessment)], store: Option<&str>) -> Vec<Part> {
    if runs.len() <= FEW {
        let sections = runs.iter().map(|(record, assessment)| {
            let findings = findings::brief(record, assessment, store);
            Part::section(&record.requested.name, vec![findings])
        });
        return sections.collect();
    }
    let doubts = runs.iter().flat_map(|(record, assessment)| {
        let findings = assessment.findings.iter();
        let doubting = findings.filter(|finding| finding.severity > Severity::Info);
        doubting.map(|finding| {
            let text = format!("{}: {}", record.requested.name, finding.statement);
            findings::headed(finding, text)
        })
    });
    let doubts: Vec<Entry> = doubts.collect();
    if doubts.is_empty() {
        let quiet = "No finding doubts a figure. What explains them is on the page.";
        return vec![asides(0, [quiet.to_owned()])];
    }
    vec![Part::section("Findings", vec![Part::Entries(doubts)])]
}

/// A line for each curve of a Record; `None` without a curve.
pub fn curves(record: &Record) -> Option<Part> {
    let plot = study::curves(record)?;
    let lines = plot
        .lines
        .iter()
        .map(|line| Entry::new(Ink::Dim, "", CURVE, shown::line(&plot, line)));
    Some(Part::section(
        &plot.title,
        vec![Part::Entries(lines.collect())],
    ))
}
