use std::fmt::Write as _;

use blocklab_units::rate;

use super::errors::Errors;
use super::published::{Study, Unit};
use super::repeat::{Compared, Outcome};

/// What no machine can write: how to read the page, and what is known to be off.
const HEAD: &str = include_str!("../../data/accuracy-head.md");
const KNOWN: &str = include_str!("../../data/accuracy-known.md");

/// The page `docs/accuracy.md`.
#[must_use]
pub fn page(outcomes: &[Outcome<'_>]) -> String {
    let mut page = String::from(HEAD);
    page.push_str(&summary(outcomes));
    page.push('\n');
    page.push_str(KNOWN);
    for outcome in outcomes {
        page.push_str(&section(outcome));
    }
    page
}

impl Outcome<'_> {
    /// Of all cells.
    #[must_use]
    pub fn errors(&self) -> Errors {
        Errors::of(self.cells.iter().map(Compared::error_percent))
    }

    fn errors_of(&self, system: &str) -> Errors {
        let cells = self.cells.iter().filter(|it| it.cell.system == system);
        Errors::of(cells.map(Compared::error_percent))
    }
}

fn summary(outcomes: &[Outcome<'_>]) -> String {
    let mut table = String::from(
        "| study | system | cells | median | p90 | worst | asked: median, p90 |\n\
         |---|---|--:|--:|--:|--:|--:|\n",
    );
    let mut row = |study: &str, system: &str, errors: &Errors, asked: &str| {
        let _ = writeln!(
            table,
            "| {study} | {system} | {} | {:.2} % | {:.2} % | {:.2} % | {asked} |",
            errors.count(),
            errors.median(),
            errors.p90(),
            errors.worst(),
        );
    };
    for outcome in outcomes {
        let (median, p90) = outcome.study.bars;
        let asked = format!("{median} %, {p90} %");
        row(outcome.study.name, "all", &outcome.errors(), &asked);
        for system in &outcome.study.systems {
            if outcome.study.systems.len() > 1 {
                row("", &system.name, &outcome.errors_of(&system.name), "");
            }
        }
    }
    table
}

fn section(outcome: &Outcome<'_>) -> String {
    let study = outcome.study;
    let mut text = format!("\n## {}\n\n{}.\n\n", study.name, study.source);
    text.push_str(&systems(study));
    text.push_str(
        "\n| case | system | | published | predicted | error | bound by |\n\
         |---|---|---|--:|--:|--:|---|\n",
    );
    for compared in &outcome.cells {
        let cell = &compared.cell;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:+.1} % | {} |",
            cell.case,
            cell.system,
            cell.unit,
            figure(cell.published, cell.unit),
            figure(compared.predicted, cell.unit),
            compared.error_percent(),
            compared.binding,
        );
    }
    text
}

fn systems(study: &Study) -> String {
    let mut text = String::new();
    for system in &study.systems {
        let because = match system.because.trim_end_matches('.') {
            "" => String::new(),
            because => format!(": {because}"),
        };
        let _ = writeln!(text, "- {}: `sim:{}`{because}", system.name, system.address);
    }
    text
}

fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => blocklab_units::count(value),
        Unit::MibPerS => rate(value),
    }
}
