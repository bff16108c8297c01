//! The table of all figures: sortable with a script, readable without.

use blocklab_findings::sweeps::without;
use blocklab_findings::{Row, RowDirection};
use blocklab_record::Origin;
use blocklab_units::{count, latency};
use maud::{Markup, html};

use super::headline;
use super::side::Side;
use blocklab_report::document::tables::card_of_class;
use blocklab_report::words::facts;
use blocklab_report::words::figures::{self, Column};

/// A table of more rows than this is folded.
const MOST_ROWS: usize = 40;

/// The section, with a row for each run, case and direction.
pub fn table(sides: &[Side<'_>]) -> Markup {
    let alone = sides.len() == 1;
    let rows = || {
        sides.iter().flat_map(|side| {
            let directions = side.assessment.directions();
            directions.map(move |(row, direction)| (side, row, direction))
        })
    };
    // A column that would be empty in all rows is left out.
    let paced = rows().any(|(_, _, direction)| direction.response_ns.is_some());
    let failed = rows().any(|(_, row, _)| row.errors > 0);
    let doubted =
        rows().any(|(side, row, _)| facts::is_doubted(&row.case, &side.assessment.findings));
    let paid = rows().any(|(side, row, _)| cpu_per_op(side, row).is_some());
    let service = figures::service();
    let response = if paced {
        figures::response()
    } else {
        Vec::new()
    };
    let heads = html! {
        @if !alone { (head("run", "text")) }
        (head("case", "text"))
        @for column in &service { (head(column.title, &classes(column, "number", paced))) }
        @for column in &response {
            (head(&format!("resp. {}", column.title), &classes(column, "number", paced)))
        }
        @if paid { (head("CPU per op", "number")) }
        @if failed { (head("errors", "number")) }
    };
    let body = html! {
        @for (side, row, direction) in rows() {
            tr {
                @if !alone { td class="text" { (side.swatch()) (side.brief()) } }
                (name(side, row, direction))
                @for column in service.iter().chain(&response) { (column_cell(&classes(column, "", paced), column, direction)) }
                @if paid { td { (cpu_per_op(side, row).map_or_else(|| "–".to_owned(), latency)) } }
                @if failed { td { (count(row.errors as f64)) } }
            }
        }
    };
    // A wide table has smaller letters on paper, which would cut off the last columns.
    let is_wide = paced || !alone;
    let class = match (paced, is_wide) {
        (true, _) => "sortable wide paced",
        (false, true) => "sortable wide",
        (false, false) => "sortable",
    };
    html! {
        section id="numbers" {
            h2 { "All numbers" }
            p class="lead" {
                (legend(sides))
                @if doubted { " " (headline::doubt()) " leads to a finding that doubts the figure." }
            }
            @if rows().count() > MOST_ROWS {
                details class="infos" {
                    summary { (rows().count()) " rows" }
                    (card_of_class("All numbers", class, heads, body))
                }
            } @else { (card_of_class("All numbers", class, heads, body)) }
        }
    }
}

/// The classes of a column: `kind`, and `spare` for a column that paper has no room for. That is
/// one that short tables leave out, in a table with two latencies.
fn classes(column: &Column, kind: &str, paced: bool) -> String {
    match (kind, paced && !column.is_brief) {
        ("", true) => "spare".to_owned(),
        (kind, true) => format!("{kind} spare"),
        (kind, false) => kind.to_owned(),
    }
}

/// Processor time of an operation in nanoseconds, which is known where this machine did the work: not
/// of a simulation, nor of another program.
fn cpu_per_op(side: &Side<'_>, row: &Row) -> Option<f64> {
    let known = side.record.origin != Origin::Simulated && row.cpu_ns_per_io > 0.0;
    known.then_some(row.cpu_ns_per_io)
}

/// How to read the table.
fn legend(sides: &[Side<'_>]) -> String {
    let figures = sides
        .iter()
        .map(|side| facts::aggregate(side.record, &side.assessment.rows));
    let mut figures: Vec<String> = figures.collect();
    figures.sort();
    figures.dedup();
    let figures = figures.join("; ");
    let joint = each_once(sides.iter().map(|side| facts::joint_cases(side.record)));
    format!(
        "Rates and mean: {figures}; ± is half the 95 % confidence interval of the IOPS. \
         Percentiles are of the operations of all passes together; beyond one with ~ lie fewer \
         than ten operations.{joint}"
    )
}

/// Each sentence once, in the order of the first, with a blank before it. Runs of one load share theirs.
fn each_once(sentences: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for sentence in sentences {
        if !sentence.is_empty() && !distinct.contains(&sentence) {
            distinct.push(sentence);
        }
    }
    distinct.iter().map(|text| format!(" {text}")).collect()
}

/// The title of a column, which sorts by it.
fn head(title: &str, kind: &str) -> Markup {
    html! {
        th scope="col" class=(kind) { button type="button" { (title) } }
    }
}

/// The name of a row, with the settings that its case does not name.
fn name(side: &Side<'_>, row: &Row, direction: &RowDirection) -> Markup {
    let doubted = facts::is_doubted(&row.case, &side.assessment.findings);
    // The cases of a matrix, and of loops of Vdbench, have their settings in their names.
    let settings = row.settings.iter();
    let unnamed: Vec<_> = settings
        .filter(|setting| without(row.case.clone(), setting) == row.case)
        .collect();
    html! {
        th scope="row" title=(row.what) {
            (facts::label(row, direction))
            @if doubted { (headline::doubt()) }
            @if !unnamed.is_empty() {
                span class="settings" {
                    @for (key, value) in unnamed { " " (key) "=" (value) }
                }
            }
        }
    }
}

/// A cell; pale if its percentile rests on too few operations.
fn column_cell(kind: &str, column: &Column, direction: &RowDirection) -> Markup {
    let weak = column.quantile.is_some_and(|q| !direction.supports(q));
    let classes = [kind, if weak { "weak" } else { "" }].join(" ");
    html! {
        td class=[Some(classes.trim()).filter(|classes| !classes.is_empty())] {
            ((column.text)(direction))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: of three runs, the first and the last of one load, its sentence was there twice.
    #[test]
    fn a_sentence_of_two_runs_is_there_once() {
        let sentences = ["a is 2 jobs.", "", "b is 3 jobs.", "a is 2 jobs."];
        let joined = each_once(sentences.into_iter().map(str::to_owned));
        assert_eq!(joined, " a is 2 jobs. b is 3 jobs.");
    }
}
