//! Charts as data: the marks with their places, colours and words. The page's script draws them
//! (`docs/adr/0008-charts.md`); a table next to each chart has its figures.

use std::borrow::Cow;

use blocklab_compare::study::{Drawn, Entry, Plot, Table};
use blocklab_units::latency;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::study_runs::StudyRuns;
use blocklab_report::words::shown::{self, coordinate, fixed};

/// One figure over another.
#[derive(Serialize)]
pub struct LineChart<'a> {
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    pub lines: Vec<DrawnLine>,
    /// Names of the directions whose limits are drawn; empty: all.
    #[serde(rename = "ways", skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<&'static str>,
}

/// An axis of a line chart.
#[derive(Default, Serialize)]
pub struct Axis<'a> {
    pub title: Cow<'a, str>,
    pub logarithmic: bool,
    /// `iops`, `mbps` or `mibps` if limits can be drawn on this axis.
    pub quantity: Option<&'static str>,
    /// Whether its values are nanoseconds.
    pub is_time: bool,
    /// Values with labels of their own; empty: grid lines are at round values.
    pub ticks: Vec<(f64, &'a str)>,
    /// A value at which a line is drawn across the chart.
    pub bound: Option<f64>,
}

/// A line of a chart.
#[derive(Default, Serialize)]
pub struct DrawnLine {
    pub name: String,
    /// Index into the palette, used unless it has a rank.
    pub color: usize,
    /// Its place among lines that have an order, 0 to 1: such lines have graded colours.
    pub rank: Option<f64>,
    pub is_published: bool,
    pub points: Vec<DrawnPoint>,
    /// The value on the horizontal axis at which it saturates or has its knee.
    pub mark: Option<f64>,
    /// Index of the run whose limits belong to the line; `None`: those of all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<usize>,
}

/// A point of a line, with the words for its place and its value.
#[derive(Default, Serialize)]
pub struct DrawnPoint {
    pub x: f64,
    pub y: f64,
    pub at: String,
    pub text: String,
    /// Bytes of an operation, if a limit of bytes can be drawn at this point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Whether it is overload, and no part of the line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub past_peak: bool,
}

/// Rows of bars. All bars of a chart have the same unit.
#[derive(Serialize)]
pub struct BarChart<'a> {
    pub unit: &'a str,
    /// As [`Axis::quantity`].
    pub quantity: Option<&'static str>,
    /// As [`LineChart::directions`].
    #[serde(rename = "ways", skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<&'static str>,
    pub rows: Vec<BarRow<'a>>,
}

/// A group of bars with a label.
#[derive(Serialize)]
pub struct BarRow<'a> {
    pub label: Cow<'a, str>,
    pub bars: Vec<Bar<'a>>,
}

/// A bar with its interval and the published figure.
#[derive(Default, Serialize)]
pub struct Bar<'a> {
    pub name: Cow<'a, str>,
    pub color: usize,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub published: Option<f64>,
    pub text: String,
    /// Further facts, each with its name.
    pub details: Vec<(&'static str, String)>,
    /// Index of the run whose limits belong to the bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<usize>,
    /// Bytes of an operation, if a limit of bytes can be drawn at this bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
}

/// The place of a chart, with its data. They are in an element, since every quotation mark in an
/// attribute would take six bytes.
pub fn card(label: &str, chart: &impl Serialize) -> Markup {
    html! {
        div class="card study-chart needs-script" data-label=(label) {
            script type="application/json" { (embedded(chart)) }
        }
    }
}

/// The chart of a table, or one for each unit; empty if its author draws none.
pub fn table_chart(table: &Table, runs: &StudyRuns<'_>) -> Markup {
    let mut units: Vec<&str> = Vec::new();
    // IOPS and MB/s need scales of their own, and so charts of their own.
    for column in drawn_columns(table) {
        let has_figure = entries(table, column).next().is_some();
        if has_figure && !units.contains(&unit(table, column)) {
            units.push(unit(table, column));
        }
    }
    html! {
        @for unit in units {
            @let title = format!("{}: {unit}", table.title);
            @match (table.drawing, &table.places) {
                (Drawn::Lines, Some(places)) => (card(&title, &lines(table, places, unit, runs))),
                (Drawn::Bars, _) => (card(&title, &bars(table, unit, runs))),
                _ => {},
            }
        }
    }
}

/// Whether a table has a chart.
pub const fn is_drawn(table: &Table) -> bool {
    match table.drawing {
        Drawn::Lines => table.places.is_some(),
        Drawn::Bars => true,
        Drawn::No => false,
    }
}

/// The columns that are drawn: all but ratios, which have another scale.
fn drawn_columns(table: &Table) -> impl Iterator<Item = usize> {
    (0..table.columns.len()).filter(|column| !table.ratios[*column])
}

/// The cells of a column.
fn entries(table: &Table, column: usize) -> impl Iterator<Item = &Entry> {
    table
        .cells
        .iter()
        .filter_map(move |row| row[column].as_ref())
}

/// The unit of a column; empty if its figures have none, or if it has no figure.
fn unit(table: &Table, column: usize) -> &str {
    entries(table, column)
        .next()
        .map_or("", |chart| &*chart.unit)
}

impl<'a> Axis<'a> {
    pub fn linear(title: impl Into<Cow<'a, str>>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    pub fn logarithmic(title: impl Into<Cow<'a, str>>) -> Self {
        Self {
            logarithmic: true,
            ..Self::linear(title)
        }
    }

    /// Logarithmic if these values span a factor of 16 or more, so that small ones would vanish on a
    /// linear scale.
    pub fn fitting(title: impl Into<Cow<'a, str>>, values: &[f64]) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        Self {
            logarithmic: low > 0.0 && high / low >= 16.0,
            ..Self::linear(title)
        }
    }
}

/// The quantity in which limits are drawn on an axis of this unit.
fn quantity(unit: &str) -> Option<&'static str> {
    match unit {
        "IOPS" => Some("iops"),
        "MB/s" => Some("mbps"),
        "MiB/s" => Some("mibps"),
        _ => None,
    }
}

/// The directions of all figures of a unit.
fn directions(table: &Table, unit: &str, runs: &StudyRuns<'_>) -> Vec<&'static str> {
    let entries = table.cells.iter().flatten().flatten();
    runs.directions(entries.filter(|entry| entry.unit == unit))
}

/// The chart of a table whose rows are numbers: for each column with this unit a line of our figures
/// and one of the published ones.
fn lines<'a>(
    table: &'a Table,
    places: &[f64],
    line_unit: &'a str,
    runs: &StudyRuns<'_>,
) -> LineChart<'a> {
    let mut lines = Vec::new();
    let columns = drawn_columns(table).enumerate();
    for (color, column) in columns.filter(|(_, column)| unit(table, *column) == line_unit) {
        for is_published in [false, true] {
            let points = (0..places.len()).filter_map(|row| {
                let entry = table.cells[row][column].as_ref()?;
                let y = if is_published {
                    entry.published?
                } else {
                    entry.ours?.value
                };
                Some(DrawnPoint {
                    x: places[row],
                    y,
                    at: format!("{} {}", table.rows[row], table.corner),
                    text: format!("{} {}", fixed(y, entry.decimals), entry.unit),
                    // On a chart of bytes, a limit of bytes is a line and needs no size.
                    size: (line_unit == "IOPS").then(|| runs.size(entry)).flatten(),
                    past_peak: false,
                })
            });
            let [saturated, _] = table.saturations[column];
            lines.push(DrawnLine {
                name: table.columns[column].clone(),
                color,
                rank: None,
                is_published,
                points: points.collect(),
                mark: saturated
                    .filter(|_| !is_published)
                    .map(|saturated| saturated.at),
                record: entries(table, column).find_map(|entry| runs.record(&entry.system)),
            });
        }
    }
    // Colours were given before, so that they do not depend on what is published.
    lines.retain(|line| !line.points.is_empty());
    let names = table.rows.iter().map(String::as_str);
    LineChart {
        x: Axis {
            ticks: places.iter().copied().zip(names).collect(),
            ..Axis::fitting(&*table.corner, places)
        },
        y: Axis {
            quantity: quantity(line_unit),
            ..Axis::linear(line_unit)
        },
        lines,
        directions: directions(table, line_unit, runs),
    }
}

/// The chart of a table with a row of bars for each of its rows, of the columns with this unit.
fn bars<'a>(table: &'a Table, bar_unit: &'a str, runs: &StudyRuns<'_>) -> BarChart<'a> {
    let mut rows = Vec::new();
    for (label, cells) in table.rows.iter().zip(&table.cells) {
        // A chart of one unit counts its own colours, as it has a legend of its own.
        let drawn = drawn_columns(table).filter(|column| unit(table, *column) == bar_unit);
        let bars = drawn.enumerate().filter_map(|(color, column)| {
            let entry = cells[column].as_ref()?;
            let published = entry
                .published
                .map(|published| fixed(published, entry.decimals));
            let interval = shown::interval(entry);
            Some(Bar {
                name: Cow::Borrowed(&table.columns[column]),
                color,
                value: entry.ours.map(|our| our.value),
                low: entry.ours.and_then(|our| our.low),
                high: entry.ours.and_then(|our| our.high),
                published: entry.published,
                text: shown::ours(Some(entry)),
                details: [("published", published), ("95 % interval", interval)]
                    .into_iter()
                    .filter_map(|(name, text)| Some((name, text?)))
                    .collect(),
                record: runs.record(&entry.system),
                size: (bar_unit == "IOPS").then(|| runs.size(entry)).flatten(),
            })
        });
        rows.push(BarRow {
            label: Cow::Borrowed(label),
            bars: bars.collect(),
        });
    }
    BarChart {
        unit: bar_unit,
        quantity: quantity(bar_unit),
        directions: directions(table, bar_unit, runs),
        rows,
    }
}

/// The chart of a plot, with a line for each system and sweep.
///
/// `rank` gives the rank of a line by its name, `record` the index of the run of a system.
pub fn plot_chart(
    plot: &Plot,
    rank: &dyn Fn(&str) -> Option<f64>,
    record: &dyn Fn(&str) -> Option<usize>,
) -> Markup {
    let scale = plot.y.nanos();
    let up_title = match scale {
        // The labels along an axis of times have their units.
        Some(_) => plot.y.what.to_string(),
        None => plot.y.to_string(),
    };
    // The bound is part of the scale, so that its line is in the chart.
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    let across: Vec<f64> = points().map(|point| point.x).collect();
    let up: Vec<f64> = points().map(|point| point.y).chain(plot.bound).collect();
    let lines = plot.lines.iter().enumerate().map(|(color, line)| {
        let points = line.points.iter().map(|point| DrawnPoint {
            x: six_figures(point.x),
            y: six_figures(point.y * scale.unwrap_or(1.0)),
            at: format!("{} {}", coordinate(point.x), plot.x.unit),
            text: match scale {
                Some(scale) => latency(point.y * scale),
                None => format!("{} {}", coordinate(point.y), plot.y.unit),
            },
            size: None,
            past_peak: point.past_peak,
        });
        DrawnLine {
            name: shown::line_name(plot, line),
            color,
            rank: rank(&shown::line_name(plot, line)),
            is_published: false,
            points: points.collect(),
            mark: line.knee.map(|knee| knee.x),
            record: record(&line.system),
        }
    });
    let chart = LineChart {
        x: Axis {
            quantity: quantity(plot.x.unit),
            ..Axis::fitting(plot.x.to_string(), &across)
        },
        y: Axis {
            bound: plot.bound.map(|bound| bound * scale.unwrap_or(1.0)),
            is_time: scale.is_some(),
            ..Axis::fitting(up_title, &up)
        },
        lines: lines.collect(),
        directions: Vec::new(),
    };
    html! {
        @if !across.is_empty() {
            (card(&format!("{} over {}", plot.y, plot.x), &chart))
        }
    }
}

/// JSON for a `<script>` element, in which no `<` can end the element.
pub fn embedded(data: &impl Serialize) -> PreEscaped<String> {
    let text = serde_json::to_string(data).expect("the page's data holds no exotic keys");
    PreEscaped(text.replace('<', "\\u003c"))
}

/// A value rounded to six significant digits, and a larger one to a whole number: more than any
/// reader sees, and short in the file. A label shows every digit before the point, as the tables do.
/// A value that is no number becomes 0, since JSON has none.
pub fn six_figures(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let decimals = 5 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(decimals.max(0));
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a bar was labelled 2,792,560 IOPS where the table below it had 2,792,558.
    #[test]
    fn six_figures_stay() {
        for (value, expected) in [
            (0.0, 0.0),
            (2_792_558.4, 2_792_558.0),
            (0.000_123_456_78, 0.000_123_457),
            (3.0, 3.0),
            (f64::NAN, 0.0),
        ] {
            assert_eq!(six_figures(value), expected, "{value}");
        }
    }
}
