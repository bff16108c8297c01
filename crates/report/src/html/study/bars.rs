//! Bars: a group a row, a colour a column; what was published stands as a tick on the bar.

use blocklab_analysis::study::Table;
use maud::{Markup, html};

use super::lines::dye;
use crate::shown::fixed;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 90.0;
const BAR: f64 = 15.0;
const GAP: f64 = 10.0;

/// Columns of one unit share a picture: MB/s and IOPS have nothing to do with each other.
pub fn of_table(table: &Table) -> Markup {
    let mut units: Vec<&str> = Vec::new();
    for column in (0..table.columns.len()).filter(|it| !table.ratios[*it]) {
        let unit = unit(table, column);
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    html! {
        @for unit in units { (picture(table, unit)) }
    }
}

fn unit(table: &Table, column: usize) -> &str {
    let mut entries = table.cells.iter().filter_map(|row| row[column].as_ref());
    entries.next().map_or("", |it| &*it.unit)
}

fn picture(table: &Table, of: &str) -> Markup {
    let columns = 0..table.columns.len();
    let columns: Vec<usize> = columns
        .filter(|it| !table.ratios[*it] && unit(table, *it) == of)
        .collect();
    let cells = || {
        let rows = table.cells.iter();
        rows.flat_map(|row| columns.iter().filter_map(|it| row[*it].as_ref()))
    };
    let known = cells().flat_map(|it| [it.ours.map(|it| it.value), it.published]);
    let most = known.flatten().fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let length = |value: f64| ((WIDTH - LEFT - RIGHT) * value / most * 10.0).round() / 10.0;
    let group = columns.len() as f64 * BAR + GAP;
    let height = table.rows.len() as f64 * group + GAP;
    html! {
        div class="card" {
            div class="legend" {
                span class="key" { (of) }
                @for (place, column) in columns.iter().enumerate() {
                    span class="entry" {
                        span class="swatch" style=(dye(place)) {}
                        (table.columns[*column])
                    }
                }
            }
            svg class="study-chart" viewBox=(format!("0 0 {WIDTH} {height}")) role="img"
                aria-label=(format!("{}: {of}", table.title)) {
                @for (row, name) in table.rows.iter().enumerate() {
                    @let top = GAP + row as f64 * group;
                    text class="tick bar-name" x=(LEFT - 8.0)
                        y=(top + (group - GAP) / 2.0 + 4.0) { (name) }
                    @for (place, column) in columns.iter().enumerate() {
                        @let y = top + place as f64 * BAR;
                        @if let Some(entry) = &table.cells[row][*column] {
                            @if let Some(ours) = entry.ours {
                                rect class="bar" style=(dye(place)) x=(LEFT) y=(y)
                                    width=(length(ours.value)) height=(BAR - 2.0) rx="2" {
                                    title {
                                        (name) ", " (table.columns[*column]) ": "
                                        (fixed(ours.value, entry.decimals)) " " (entry.unit)
                                    }
                                }
                                text class="bar-value" x=(LEFT + length(ours.value) + 6.0)
                                    y=(y + BAR - 4.0) { (fixed(ours.value, entry.decimals)) }
                            }
                            @if let Some(published) = entry.published {
                                line class="bar-published" x1=(LEFT + length(published))
                                    x2=(LEFT + length(published)) y1=(y - 1.0)
                                    y2=(y + BAR - 1.0) {
                                    title { "published: " (fixed(published, entry.decimals)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
