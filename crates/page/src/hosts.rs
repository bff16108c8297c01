//! The section on the hosts of a merged run: the document that a terminal shows, and bars.

use std::borrow::Cow;

use blocklab_findings::fleet::host_rows;
use blocklab_record::Record;
use maud::{Markup, html};

use super::charts::{Bar, BarChart, BarRow, card};
use super::side::Side;
use blocklab_report::document::html::parts;
use blocklab_report::views;
use blocklab_report::words::facts;

/// The most cases that have bars; the table has all of them.
const DRAWN: usize = 4;

/// The section; empty for a run of one host.
pub fn section(side: &Side<'_>) -> Markup {
    let hosts = views::fleet(side.record, side.assessment);
    let cases = side.assessment.rows.iter().take(DRAWN);
    html! {
        @if !hosts.is_empty() {
            div id="hosts" {
                (parts(&hosts, "Hosts"))
                @for row in cases {
                    @let title = format!("Rate of each host: {}", row.case);
                    h3 { (title) }
                    (card(&title, &bars(side.record, &row.case)))
                }
            }
        }
    }
}

/// A row for each host, with a bar for each direction.
fn bars<'a>(record: &Record, case: &str) -> BarChart<'a> {
    let rows = host_rows(record, case).into_iter().map(|of_host| {
        let directions = of_host.row.directions.iter().enumerate();
        let bars = directions.map(|(color, moved)| Bar {
            name: Cow::Owned(moved.direction.to_string()),
            color,
            value: Some(moved.iops.value),
            low: moved.iops.low,
            high: moved.iops.high,
            text: facts::fine_rate(moved.iops.value),
            details: vec![
                ("MB/s", facts::mb_per_s(moved.bytes_per_s.value)),
                ("mean", facts::mean(moved)),
            ],
            ..Bar::default()
        });
        BarRow {
            bars: bars.collect(),
            label: Cow::Owned(of_host.host.clone()),
        }
    });
    BarChart {
        unit: "IOPS",
        quantity: None,
        directions: Vec::new(),
        rows: rows.collect(),
    }
}
