//! In: the outcomes of all studies. Out: the page `docs/accuracy.md`.

use std::fmt::Write as _;

use blocklab_units::{count, signed, stated};
use blocklab_workload::publication::{Basis, Figure};

use super::elsewhere::{Elsewhere, FigureKind};
use super::errors::Errors;
use super::published::{Kind, Study};
use super::repeat::{Cell, Outcome};

/// What no machine can write: how to read the page, and what is known to be off.
const HEAD: &str = include_str!("../../data/accuracy-head.md");
const KNOWN: &str = include_str!("../../data/accuracy-known.md");
const ELSEWHERE: &str = include_str!("../../data/accuracy-elsewhere.md");
/// The columns of every table of errors.
const COLUMNS: &str = "n | median | p90 | worst | bias |";
const RULES: &str = "--:|--:|--:|--:|--:|";

/// The page `docs/accuracy.md`.
#[must_use]
pub fn page(outcomes: &[Outcome<'_>], others: &[Elsewhere]) -> String {
    let all: Vec<&Cell> = outcomes.iter().flat_map(|outcome| &outcome.cells).collect();
    let mut page = format!("{HEAD}{}\n", scoreboard(outcomes));
    page.push_str("By type of volume:\n\n");
    page.push_str(&grouped("volume", &all, |cell| cell.volume.clone()));
    page.push_str("\nBy figure:\n\n");
    page.push_str(&grouped("figure", &all, |cell| {
        by_figure(cell.compared.figure)
    }));
    page.push_str("\nNot counted:\n\n");
    page.push_str(&uncounted(outcomes));
    page.push('\n');
    page.push_str(ELSEWHERE);
    page.push_str(&scoreboard_elsewhere(others));
    page.push('\n');
    page.push_str(KNOWN);
    page.push_str(&list_elsewhere(others));
    for outcome in outcomes {
        page.push_str(&section(outcome));
    }
    page
}

impl Outcome<'_> {
    /// Of the counted figures of a kind; `None`: there are none.
    #[must_use]
    pub fn errors(&self, kind: Kind) -> Option<Errors> {
        let cells = self.cells.iter().filter(|cell| cell.kind == kind);
        Errors::from_relative(cells.filter_map(Cell::counted))
    }

    /// Whether a kind is within its bar; `None`: it has no counted figure.
    #[must_use]
    pub fn is_met(&self, kind: Kind) -> Option<bool> {
        let errors = self.errors(kind)?;
        let (median, p90) = kind.bar(self.study.name);
        Some(errors.median() <= median && errors.p90() <= p90)
    }
}

fn scoreboard(outcomes: &[Outcome<'_>]) -> String {
    let mut table = format!(
        "| study | figures | {COLUMNS} bar: median, p90 | met |\n|---|---|{RULES}---|---|\n"
    );
    for outcome in outcomes {
        for kind in Kind::ALL {
            let (Some(errors), Some(met)) = (outcome.errors(kind), outcome.is_met(kind)) else {
                continue;
            };
            let (median, p90) = kind.bar(outcome.study.name);
            let _ = writeln!(
                table,
                "| {} | {kind} |{} {} %, {} % | {} |",
                outcome.study.name,
                figures(&errors),
                stated(median),
                stated(p90),
                if met { "yes" } else { "**no**" },
            );
        }
    }
    let all = outcomes.iter().flat_map(|outcome| &outcome.cells);
    if let Some(errors) = Errors::from_relative(all.filter_map(Cell::counted)) {
        let _ = writeln!(table, "| all five | all |{} | |", figures(&errors));
    }
    table
}

/// Of the counted figures, by what `name` says of each, in the order in which they come.
fn grouped(title: &str, cells: &[&Cell], name: impl Fn(&Cell) -> String) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in cells.iter().map(|cell| name(cell)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table = format!("| {title} | {COLUMNS}\n|---|{RULES}\n");
    for wanted in names {
        let mine = cells.iter().filter(|cell| name(cell) == wanted);
        if let Some(errors) = Errors::from_relative(mine.filter_map(|cell| cell.counted())) {
            let _ = writeln!(table, "| {wanted} |{}", figures(&errors));
        }
    }
    table
}

/// Quantiles in one row, shares of the operations in another.
fn by_figure(figure: Figure) -> String {
    match figure {
        Figure::QuantileUs(_) => "latency quantiles".to_owned(),
        Figure::WithinUs(_) => "shares within a latency".to_owned(),
        other => other.title(),
    }
}

/// What says nothing of the model, and why, with its errors all the same.
fn uncounted(outcomes: &[Outcome<'_>]) -> String {
    let mut table = format!("| study | why | {COLUMNS}\n|---|---|{RULES}\n");
    for outcome in outcomes {
        let cells = || outcome.cells.iter();
        for (_, basis) in &Basis::ALL[1..] {
            let mine = cells().filter(|cell| cell.compared.basis == *basis);
            let errors =
                Errors::from_relative(mine.filter_map(|cell| cell.compared.error_percent()));
            if let Some(errors) = errors {
                let (study, why) = (outcome.study.name, basis.name());
                let _ = writeln!(table, "| {study} | {why} |{}", figures(&errors));
            }
        }
        let silent = cells().filter(|cell| cell.compared.ours.is_none()).count();
        if silent > 0 {
            let study = outcome.study.name;
            let _ = writeln!(table, "| {study} | without prediction | {silent} | | | | |");
        }
    }
    table
}

/// ` 64 | 2.67 % | 11.25 % | 40.61 % | -0.50 % |`.
fn figures(errors: &Errors) -> String {
    format!(
        " {} | {:.2} % | {:.2} % | {:.2} % | {} % |",
        errors.count(),
        errors.median(),
        errors.p90(),
        errors.worst(),
        signed(errors.bias(), 2)
    )
}

fn section(outcome: &Outcome<'_>) -> String {
    let study = outcome.study;
    let mut text = format!("\n## {}\n\n{}.\n\n", study.name, study.publication.source);
    text.push_str(&systems(study));
    text.push_str(
        "\n| case | system | figure | published | predicted | error | bound by | |\n\
         |---|---|---|--:|--:|--:|---|---|\n",
    );
    for cell in &outcome.cells {
        let compared = &cell.compared;
        let basis = match compared.basis {
            Basis::Measured => "",
            other => other.name(),
        };
        let error = compared.error_percent();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {basis} |",
            compared.case,
            compared.system,
            compared.figure,
            figure(compared.published),
            compared.ours.map_or_else(String::new, figure),
            error.map_or_else(String::new, |error| format!("{} %", signed(error, 1))),
            cell.binding,
        );
    }
    text
}

fn scoreboard_elsewhere(others: &[Elsewhere]) -> String {
    let mut table = format!("| figures | {COLUMNS} bar: median | met |\n|---|{RULES}---|---|\n");
    for (title, kind) in FigureKind::ALL {
        let mine = others
            .iter()
            .filter(|other| other.kind() == kind && !other.is_fitted());
        let Some(errors) = Errors::from_relative(mine.filter_map(Elsewhere::error_percent)) else {
            continue;
        };
        let (bar, met) = match kind.bar() {
            Some(bar) if errors.median() <= bar => (format!("{} %", stated(bar)), "yes"),
            Some(bar) => (format!("{} %", stated(bar)), "**no**"),
            None => (String::new(), ""),
        };
        let _ = writeln!(table, "| {title} |{} {bar} | {met} |", figures(&errors));
    }
    table
}

/// Every figure of the list, failures included.
fn list_elsewhere(others: &[Elsewhere]) -> String {
    let mut text = "\n## Measured elsewhere\n\n| on | load | figure | published | predicted | \
                    error | remark |\n|---|---|---|--:|--:|--:|---|\n"
        .to_owned();
    let mut source = "";
    for row in others {
        if row.source != source {
            source = &row.source;
            let _ = writeln!(text, "| **{source}**, {} | | | | | | |", row.date);
        }
        let error = row.error_percent();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            row.address,
            row.load,
            row.figure,
            figure(row.published),
            row.ours.map_or_else(|| "no prediction".to_owned(), figure),
            error.map_or_else(String::new, |error| format!("{} %", signed(error, 1))),
            row.remark,
        );
    }
    text
}

fn systems(study: &Study) -> String {
    let mut text = String::new();
    for system in study
        .publication
        .systems
        .iter()
        .filter(|system| system.measured)
    {
        let because = match system.because.trim_end_matches('.') {
            "" => String::new(),
            because => format!(": {because}"),
        };
        let _ = if system.predicted {
            writeln!(text, "- {}: `sim:{}`{because}", system.name, system.address)
        } else {
            writeln!(text, "- {}: not predicted{because}", system.name)
        };
    }
    text
}

/// Whole above 1,000, else four figures.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => count(value),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
