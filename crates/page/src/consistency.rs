//! The section on consistency: for how much of the time each case kept its own rate, as bars and as
//! a table.

use std::borrow::Cow;

use blocklab_findings::consistency::{NEAR_PERCENT, share_near_median};
use maud::{Markup, html};

use super::charts::{self, Bar, BarChart, BarRow};
use super::side::Side;
use blocklab_report::document::Column;
use blocklab_report::document::tables::card;
use blocklab_report::words::facts;

/// More bars than this could not be read.
const MOST_BARS: usize = 40;

/// The section, with every case that has enough intervals; empty without such a case.
pub fn section(side: &Side<'_>) -> Markup {
    let rows = side.assessment.rows.iter();
    let all = rows.flat_map(|row| row.directions.iter().map(move |direction| (row, direction)));
    let known = all.filter_map(|(row, direction)| {
        let share = share_near_median(side.record, &row.case, direction.direction)?;
        Some((facts::label(row, direction), share))
    });
    let known: Vec<(String, f64)> = known.collect();
    let mut drawn: Vec<_> = known.iter().collect();
    // The least steady cases are those worth looking at. With few cases the order of the run stays.
    if drawn.len() > MOST_BARS {
        drawn.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        drawn.truncate(MOST_BARS);
    }
    let title = format!("Share of the time within {NEAR_PERCENT} % of the median rate");
    let rows = drawn.iter().map(|(label, share)| BarRow {
        label: Cow::Borrowed(label),
        bars: vec![Bar {
            name: Cow::Borrowed("share"),
            value: Some(*share),
            text: format!("{share:.1}"),
            ..Bar::default()
        }],
    });
    let chart = BarChart {
        unit: "%",
        quantity: None,
        directions: Vec::new(),
        rows: rows.collect(),
    };
    let columns = Column::named("case", ["% of the time"]);
    let rows = html! {
        @for (label, share) in &known {
            tr { th scope="row" { (label) } td class="number" { (format!("{share:.1}")) } }
        }
    };
    html! {
        @if !known.is_empty() {
            section id="consistency" {
                h2 { "Consistency" }
                p class="lead" {
                    (title) ", without ramps. Steady devices come close to 100 %."
                    @if drawn.len() < known.len() {
                        " The bars are the " (drawn.len()) " least steady of " (known.len())
                        " cases" span class="no-print" { "; the table has all" } "."
                    }
                }
                (charts::card(&title, &chart))
                details class="points" {
                    summary { "As a table" }
                    (card(&title, &columns, rows))
                }
            }
        }
    }
}
