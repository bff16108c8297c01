//! The full table: every figure, sortable, readable without a script.

use blocklab_analysis::{Estimate, Row, RowDirection};
use blocklab_record::Statistic;
use blocklab_units::{count, latency, rate};
use maud::{Markup, html};

use super::frame::Side;
use super::headline;
use crate::facts;

/// A column: its title, the text of a cell, and the number by which it is sorted.
struct Column {
    title: &'static str,
    text: fn(&RowDirection) -> String,
    value: fn(&RowDirection) -> f64,
    /// The quantile (0 to 1) that it shows, if it shows one.
    quantile: Option<f64>,
}

const fn column(
    title: &'static str,
    text: fn(&RowDirection) -> String,
    value: fn(&RowDirection) -> f64,
) -> Column {
    Column {
        title,
        text,
        value,
        quantile: None,
    }
}

/// A column of one latency, of an extreme or of a quantile.
macro_rules! latency_column {
    ($title:literal, $field:ident) => {
        column($title, |d| latency(d.$field as f64), |d| d.$field as f64)
    };
    ($title:literal, $field:ident, $quantile:literal) => {
        Column {
            text: |d| facts::quantile(d, $quantile, d.$field),
            quantile: Some($quantile),
            ..latency_column!($title, $field)
        }
    };
}

const COLUMNS: [Column; 13] = [
    column(
        "MB/s",
        |d| rate(d.bytes_per_s.value / 1e6),
        |d| d.bytes_per_s.value,
    ),
    column("IOPS", |d| rate(d.iops.value), |d| d.iops.value),
    column("±", |d| facts::plus_minus(&d.iops), |d| sort_key(&d.iops)),
    column("mean", facts::mean, |d| d.mean_ns.value),
    Column {
        text: |d| facts::extreme(d, Statistic::Min, d.min_ns),
        ..latency_column!("min", min_ns)
    },
    latency_column!("p50", p50_ns, 0.5),
    latency_column!("p90", p90_ns, 0.9),
    latency_column!("p95", p95_ns, 0.95),
    latency_column!("p99", p99_ns, 0.99),
    latency_column!("p99.9", p999_ns, 0.999),
    latency_column!("p99.99", p9999_ns, 0.9999),
    Column {
        text: |d| facts::extreme(d, Statistic::Max, d.max_ns),
        ..latency_column!("max", max_ns)
    },
    column("operations", |d| count(d.ios as f64), |d| d.ios as f64),
];

/// Title, and which quantile it is; the maximum is none.
const RESPONSE: [(&str, Option<f64>); 4] = [
    ("resp. p50", Some(0.5)),
    ("resp. p99", Some(0.99)),
    ("resp. p99.9", Some(0.999)),
    ("resp. max", None),
];

fn sort_key(estimate: &Estimate) -> f64 {
    facts::half_width_percent(estimate).unwrap_or(-1.0)
}

/// One row a record, case and direction.
pub fn table(sides: &[Side<'_>]) -> Markup {
    let alone = sides.len() == 1;
    let rows = || sides.iter().flat_map(|side| lines(side));
    let paced = rows().any(|(_, _, direction)| direction.response_ns.is_some());
    let failed = rows().any(|(_, row, _)| row.errors > 0);
    let paid = super::origin::has_machine(sides);
    html! {
        section id="numbers" {
            h2 { "All numbers" }
            p class="lead" { (legend(sides)) }
            div class="card flush" {
                div class="scroll" tabindex="0" role="region" aria-label="All numbers" {
                    table class={ "numbers sortable" (if paced { " wide" } else { "" }) } {
                        thead { tr {
                            @if !alone { (head("run", "text")) }
                            (head("case", "text"))
                            @for column in &COLUMNS { (head(column.title, "number")) }
                            @if paced { @for (title, _) in RESPONSE { (head(title, "number")) } }
                            @if paid { (head("CPU per op", "number")) }
                            @if failed { (head("errors", "number")) }
                        } }
                        tbody {
                            @for (side, row, direction) in rows() {
                                tr {
                                    @if !alone { td { (side.swatch(false)) (side.record.id) } }
                                    (name(side, row, direction))
                                    @for column in &COLUMNS {
                                        (column_cell(column, direction))
                                    }
                                    @if paced { (response(direction)) }
                                    @if paid { (cell(latency(row.cpu_ns_per_io), row.cpu_ns_per_io)) }
                                    @if failed { (cell(count(row.errors as f64), row.errors as f64)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn lines<'a>(
    side: &'a Side<'a>,
) -> impl Iterator<Item = (&'a Side<'a>, &'a Row, &'a RowDirection)> {
    let rows = side.assessment.rows.iter();
    rows.flat_map(move |row| row.directions.iter().map(move |d| (side, row, d)))
}

fn legend(sides: &[Side<'_>]) -> String {
    let figures: Vec<String> = sides
        .iter()
        .map(|side| facts::aggregate(side.record, &side.assessment.rows))
        .collect();
    let same = figures.iter().all(|text| *text == figures[0]);
    let figures = if same {
        figures[0].clone()
    } else {
        figures.join("; ")
    };
    format!(
        "Rates and mean: {figures}; ± is half the 95 % confidence interval of the IOPS. \
         Percentiles are of the operations of all passes together; beyond one with ~ lie fewer \
         than ten operations."
    )
}

fn head(title: &str, kind: &str) -> Markup {
    html! {
        th scope="col" class=(kind) { button type="button" { (title) } }
    }
}

fn name(side: &Side<'_>, row: &Row, direction: &RowDirection) -> Markup {
    let doubted = facts::is_doubted(&row.case, &side.assessment.findings);
    html! {
        th scope="row" title=(row.what) {
            (facts::label(row, direction))
            @if doubted { (headline::doubt()) }
            @if !row.settings.is_empty() {
                span class="settings" {
                    @for (key, value) in &row.settings { " " (key) "=" (value) }
                }
            }
        }
    }
}

fn cell(text: String, value: f64) -> Markup {
    html! { td class="number" data-value=(value) { (text) } }
}

/// Pale, where too few operations stand behind it.
fn column_cell(column: &Column, direction: &RowDirection) -> Markup {
    let weak = column.quantile.is_some_and(|q| !direction.supports(q));
    let class = if weak { "number weak" } else { "number" };
    html! {
        td class=(class) data-value=((column.value)(direction)) { ((column.text)(direction)) }
    }
}

fn response(direction: &RowDirection) -> Markup {
    let shown = |quantile: Option<f64>, ns: u64| match quantile {
        Some(q) => facts::quantile(direction, q, ns),
        None => latency(ns as f64),
    };
    html! {
        @for (index, (_, quantile)) in RESPONSE.into_iter().enumerate() {
            @match direction.response_ns {
                Some(ns) => (cell(shown(quantile, ns[index]), ns[index] as f64)),
                None => (cell("–".to_owned(), -1.0)),
            }
        }
    }
}
