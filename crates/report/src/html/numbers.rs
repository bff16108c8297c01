//! The full table: every figure, sortable, readable without a script.

use blocklab_analysis::{Estimate, ResponseNs, Row, RowDirection};
use blocklab_record::{PERCENTILES, Statistic};
use blocklab_units::{count, latency, rate};
use maud::{Markup, html};

use super::headline;
use super::side::Side;
use crate::facts;

/// A column: its title, the text of a cell, and the number by which it is sorted.
struct Column {
    title: String,
    text: Box<dyn Fn(&RowDirection) -> String>,
    value: Box<dyn Fn(&RowDirection) -> f64>,
    /// The quantile (0 to 1) that it shows pale where too few operations stand behind it.
    quantile: Option<f64>,
}

fn column(
    title: &str,
    text: impl Fn(&RowDirection) -> String + 'static,
    value: impl Fn(&RowDirection) -> f64 + 'static,
) -> Column {
    Column {
        title: title.to_owned(),
        text: Box::new(text),
        value: Box::new(value),
        quantile: None,
    }
}

fn columns() -> Vec<Column> {
    let mut all = vec![
        column(
            "MB/s",
            |d| rate(d.bytes_per_s.value / 1e6),
            |d| d.bytes_per_s.value,
        ),
        column("IOPS", |d| rate(d.iops.value), |d| d.iops.value),
        column("±", |d| facts::plus_minus(&d.iops), |d| sort_key(&d.iops)),
        column("mean", facts::mean, |d| d.mean_ns.value),
        column(
            "min",
            |d| facts::extreme(d, Statistic::Min, d.min_ns),
            |d| d.min_ns as f64,
        ),
    ];
    all.extend(PERCENTILES.iter().map(|it| Column {
        quantile: Some(it.share),
        ..column(
            it.title,
            |d| facts::quantile(d, it.share, d.service_ns.at(it.name)),
            |d| d.service_ns.at(it.name) as f64,
        )
    }));
    all.push(column(
        "max",
        |d| facts::extreme(d, Statistic::Max, d.max_ns),
        |d| d.max_ns as f64,
    ));
    all.push(column(
        "operations",
        |d| count(d.ios as f64),
        |d| d.ios as f64,
    ));
    all
}

/// Of the response latency, where there is one.
fn response() -> Vec<Column> {
    let mut all: Vec<Column> = PERCENTILES
        .iter()
        .map(|it| {
            response_column(
                it.title,
                |ns| ns.percentiles.at(it.name),
                |d, ns| facts::quantile(d, it.share, ns),
            )
        })
        .collect();
    all.push(response_column(
        "max",
        |ns| ns.max,
        |_, ns| latency(ns as f64),
    ));
    all
}

fn response_column(
    title: &str,
    ns: impl Fn(ResponseNs) -> u64 + Copy + 'static,
    text: impl Fn(&RowDirection, u64) -> String + 'static,
) -> Column {
    column(
        &format!("resp. {title}"),
        move |d| (d.response_ns).map_or_else(|| "–".to_owned(), |all| text(d, ns(all))),
        move |d| d.response_ns.map_or(-1.0, |all| ns(all) as f64),
    )
}

fn sort_key(estimate: &Estimate) -> f64 {
    facts::half_width_percent(estimate).unwrap_or(-1.0)
}

/// One row a record, case and direction.
pub fn table(sides: &[Side<'_>]) -> Markup {
    let alone = sides.len() == 1;
    let rows = || sides.iter().flat_map(|side| lines(side));
    let paced = rows().any(|(_, _, direction)| direction.response_ns.is_some());
    let failed = rows().any(|(_, row, _)| row.errors > 0);
    let mut columns = columns();
    if paced {
        columns.extend(response());
    }
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
                            @for column in &columns { (head(&column.title, "number")) }
                            @if paid { (head("CPU per op", "number")) }
                            @if failed { (head("errors", "number")) }
                        } }
                        tbody {
                            @for (side, row, direction) in rows() {
                                tr {
                                    @if !alone { td { (side.swatch(false)) (side.record.id) } }
                                    (name(side, row, direction))
                                    @for column in &columns {
                                        (column_cell(column, direction))
                                    }
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
