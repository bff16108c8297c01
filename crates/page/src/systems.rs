//! The table of many runs: a row for each.

use blocklab_compare::study::{Outcome, StudySystem};
use blocklab_findings::Severity;
use blocklab_units::plural;
use maud::{Markup, html};

use super::headline::{self, Shown};
use super::side::Side;
use blocklab_report::document::Column;
use blocklab_report::document::tables::{card_of_class, heads};
use blocklab_report::words::shown;

/// A row for each system or run: its best figures, its price, its findings, the id of its run.
/// `outcome`: the study that they are systems of.
pub fn table(sides: &[Side<'_>], outcome: Option<&Outcome>) -> Markup {
    let parties = outcome
        .map(|outcome| outcome.systems.as_slice())
        .unwrap_or_default();
    let priced = parties.iter().any(|system| system.usd_per_hour.is_some());
    let tiles = headline::tiles_shown(sides);
    let noun = match outcome {
        Some(_) => "system",
        None => sides.first().map_or("run", Side::noun),
    };
    let mut columns = Column::named(noun, tiles.iter().map(Shown::title));
    columns.extend(priced.then(|| Column::figure("USD an hour")));
    let id = if noun == "run" { "id" } else { "run" };
    columns.extend(["found", id].map(Column::words));
    let row = |name: &str, side: Option<&Side<'_>>, system: Option<&StudySystem>| {
        html! {
            tr {
                th scope="row" { @if let Some(side) = side { (side.swatch()) } (name) }
                @for tile in &tiles {
                    td class="number" { (side.map_or_else(|| "–".to_owned(), |figure| tile.text(figure))) }
                }
                @if priced { td class="number" { (usd_per_hour(system)) } }
                td { (side.map_or_else(|| "not run".to_owned(), finding_counts)) }
                td { @if let Some(side) = side { code { (side.record.id) } } }
            }
        }
    };
    // Systems of the study that were not run have prices, too.
    let alone = parties.iter().filter(|system| system.run.is_none());
    let rows = html! {
        @for side in sides {
            @let system = parties.iter().find(|system| system.run.as_ref() == Some(&side.record.id));
            (row(side.name(), Some(side), system))
        }
        @for system in alone { (row(&system.name, None, Some(system))) }
    };
    html! {
        @let title = format!("{}, the best figure of each", plural(sides.len(), noun));
        // The section of a study has a heading already.
        @if outcome.is_some() { h3 { (title) } } @else { h2 { (title) } }
        (card_of_class("Systems", "brief", heads(&columns), rows))
    }
}

/// The price of a system in US dollars per hour; a dash if it is not known.
fn usd_per_hour(system: Option<&StudySystem>) -> String {
    let usd = system.and_then(|system| system.usd_per_hour);
    usd.map_or_else(|| "–".to_owned(), |usd| shown::fixed(usd, 3))
}

/// The number of findings that doubt figures: `1 critical, 2 warnings`; a dash for none.
fn finding_counts(side: &Side<'_>) -> String {
    let number = |severity| {
        let all = side.assessment.findings.iter();
        all.filter(|finding| finding.severity == severity).count()
    };
    match (number(Severity::Critical), number(Severity::Warning)) {
        (0, 0) => "–".to_owned(),
        (0, warnings) => plural(warnings, "warning"),
        (critical, 0) => format!("{critical} critical"),
        (critical, warnings) => format!("{critical} critical, {}", plural(warnings, "warning")),
    }
}
