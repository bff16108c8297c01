//! How much of the time each case kept its own rate: bars, and the same as a table.

use std::borrow::Cow;

use blocklab_analysis::consistency::{NEAR_PERCENT, share_near_median};
use maud::{Markup, html};

use super::charts::{self, Bar, BarChart, BarRow};
use super::side::Side;
use super::tables::{card, heads};
use crate::facts;

/// Of every case of a run that kept enough of its course; nothing where none did.
pub fn section(side: &Side<'_>) -> Markup {
    let rows = side.assessment.rows.iter();
    let all = rows.flat_map(|row| row.directions.iter().map(move |it| (row, it)));
    let known = all.filter_map(|(row, it)| {
        let share = share_near_median(side.record, &row.case, it.direction)?;
        Some((facts::label(row, it), share))
    });
    let known: Vec<(String, f64)> = known.collect();
    let title = format!("Share of the time within {NEAR_PERCENT} % of the median rate");
    let text = |share: f64| format!("{share:.1}");
    let row = |label: &String, share: f64| BarRow {
        label: Cow::Owned(label.clone()),
        bars: vec![Bar {
            name: Cow::Borrowed("share"),
            color: 0,
            value: Some(share),
            low: None,
            high: None,
            published: None,
            text: text(share),
            details: Vec::new(),
        }],
    };
    let chart = BarChart {
        unit: "% of the time",
        rows: known
            .iter()
            .map(|(label, share)| row(label, *share))
            .collect(),
    };
    let titles = [("case", ""), ("% of the time", "number")];
    let rows = html! {
        @for (label, share) in &known {
            tr { th scope="row" { (label) } td class="number" { (text(*share)) } }
        }
    };
    html! {
        @if !known.is_empty() {
            section id="consistency" {
                h2 { "Consistency" }
                p class="lead" { (title) ", ramps apart. Steady devices come near to 100 %." }
                (charts::card(&title, &chart))
                details class="points" {
                    summary { "As a table" }
                    (card(&title, "", heads(&titles), rows))
                }
            }
        }
    }
}
