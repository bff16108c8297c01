//! The charts of studies as data: where the marks stand, in which colour, and the words for each.
//! The page's script draws them (`docs/adr/0008-charts.md`); a table next to each holds its figures.

use std::borrow::Cow;

use blocklab_compare::study::{Drawn, Entry, Plot, Table};
use blocklab_units::latency;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::played::Played;
use blocklab_report::words::shown::{self, fixed};

/// One figure over another.
#[derive(Serialize)]
pub struct LineChart<'a> {
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    pub lines: Vec<DrawnLine>,
    /// The directions whose limits are drawn; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<&'static str>,
}

#[derive(Serialize)]
pub struct Axis<'a> {
    pub title: Cow<'a, str>,
    pub logarithmic: bool,
    /// `iops`, `mbps` or `mibps`, where limits can be drawn at its figures.
    pub quantity: Option<&'static str>,
    /// Whether the figures are nanoseconds.
    pub is_time: bool,
    /// The places that have names of their own; empty: rules stand at round figures.
    pub ticks: Vec<(f64, &'a str)>,
    /// A figure at which a line is drawn across.
    pub bound: Option<f64>,
}

#[derive(Serialize)]
pub struct DrawnLine {
    pub name: String,
    pub color: usize,
    /// Its place among lines that have an order, 0 to 1.
    pub rank: Option<f64>,
    pub is_published: bool,
    pub points: Vec<DrawnPoint>,
    /// The place of its saturation point or knee.
    pub mark: Option<f64>,
    /// The run whose limits are its own; `None`: those of all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<usize>,
}

#[derive(Serialize)]
pub struct DrawnPoint {
    pub x: f64,
    pub y: f64,
    pub at: String,
    pub text: String,
    /// Bytes of an operation, where a limit of bytes can hold it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Whether it is overload: no part of the line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub past_peak: bool,
}

/// A group of bars a row. Bars of one unit share a chart: MB/s and IOPS have nothing to do with
/// each other.
#[derive(Serialize)]
pub struct BarChart<'a> {
    pub unit: &'a str,
    /// As of an axis.
    pub quantity: Option<&'static str>,
    /// As of lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<&'static str>,
    pub rows: Vec<BarRow<'a>>,
}

#[derive(Serialize)]
pub struct BarRow<'a> {
    pub label: Cow<'a, str>,
    pub bars: Vec<Bar<'a>>,
}

#[derive(Serialize)]
pub struct Bar<'a> {
    pub name: Cow<'a, str>,
    pub color: usize,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub published: Option<f64>,
    pub text: String,
    /// More about it: a name and a text each.
    pub details: Vec<(&'static str, String)>,
    /// The run whose limits are its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<usize>,
    /// Bytes of an operation, where a limit of bytes can hold it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
}

/// The place of a chart, with its data. In an attribute every quotation mark would cost six bytes.
pub fn card(label: &str, chart: &impl Serialize) -> Markup {
    html! {
        div class="card study-chart needs-script" data-label=(label) {
            script type="application/json" { (embedded(chart)) }
        }
    }
}

/// The chart of a table, or one for each unit; nothing where its author draws none.
pub fn of_table(table: &Table, played: &Played<'_>) -> Markup {
    let mut units: Vec<&str> = Vec::new();
    for column in plain(table) {
        if !units.contains(&unit(table, column)) {
            units.push(unit(table, column));
        }
    }
    let title = |unit: &str| format!("{}: {unit}", table.title);
    match (table.drawing, &table.places) {
        (Drawn::Lines, Some(places)) => {
            let unit = units.first().copied().unwrap_or_default();
            card(&title(unit), &lines(table, places, unit, played))
        }
        (Drawn::Bars, _) => html! {
            @for unit in units { (card(&title(unit), &bars(table, unit, played))) }
        },
        _ => html! {},
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

/// The columns that are drawn: no ratios.
fn plain(table: &Table) -> impl Iterator<Item = usize> {
    (0..table.columns.len()).filter(|column| !table.ratios[*column])
}

fn entries(table: &Table, column: usize) -> impl Iterator<Item = &Entry> {
    table
        .cells
        .iter()
        .filter_map(move |row| row[column].as_ref())
}

fn unit(table: &Table, column: usize) -> &str {
    entries(table, column)
        .next()
        .map_or("", |chart| &*chart.unit)
}

impl<'a> Axis<'a> {
    pub fn new(title: impl Into<Cow<'a, str>>, logarithmic: bool) -> Self {
        Self {
            title: title.into(),
            logarithmic,
            quantity: None,
            is_time: false,
            ticks: Vec::new(),
            bound: None,
        }
    }
}

/// As limits know a unit.
fn quantity(unit: &str) -> Option<&'static str> {
    match unit {
        "IOPS" => Some("iops"),
        "MB/s" => Some("mbps"),
        "MiB/s" => Some("mibps"),
        _ => None,
    }
}

/// The directions of all figures of a unit.
fn ways(table: &Table, of: &str, played: &Played<'_>) -> Vec<&'static str> {
    let entries = table.cells.iter().flatten().flatten();
    played.ways(entries.filter(|entry| entry.unit == of))
}

/// A line a column over rows that are numbers, and one for what was published.
fn lines<'a>(
    table: &'a Table,
    places: &[f64],
    unit: &'a str,
    played: &Played<'_>,
) -> LineChart<'a> {
    let mut lines = Vec::new();
    for (color, column) in plain(table).enumerate() {
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
                    size: (unit == "IOPS").then(|| played.size(entry)).flatten(),
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
                record: entries(table, column).find_map(|entry| played.record(&entry.system)),
            });
        }
    }
    lines.retain(|line| !line.points.is_empty());
    let names = table.rows.iter().map(String::as_str);
    LineChart {
        x: Axis {
            ticks: places.iter().copied().zip(names).collect(),
            ..Axis::new(&*table.corner, is_wide(places))
        },
        y: Axis {
            quantity: quantity(unit),
            ..Axis::new(unit, false)
        },
        lines,
        ways: ways(table, unit, played),
    }
}

fn bars<'a>(table: &'a Table, of: &'a str, played: &Played<'_>) -> BarChart<'a> {
    let mut rows = Vec::new();
    for (label, cells) in table.rows.iter().zip(&table.cells) {
        let drawn = plain(table).filter(|column| unit(table, *column) == of);
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
                record: played.record(&entry.system),
                size: (of == "IOPS").then(|| played.size(entry)).flatten(),
            })
        });
        rows.push(BarRow {
            label: Cow::Borrowed(label),
            bars: bars.collect(),
        });
    }
    BarChart {
        unit: of,
        quantity: quantity(of),
        ways: ways(table, of, played),
        rows,
    }
}

/// A line a system and sweep.
///
/// `rank`: of a line by its name, where numbers have colours. `record`: the run of a system.
pub fn of_plot(
    plot: &Plot,
    rank: &dyn Fn(&str) -> Option<f64>,
    record: &dyn Fn(&str) -> Option<usize>,
) -> Markup {
    let scale = plot.y.nanos();
    let up_title = match scale {
        // The rules along the axis have units of their own.
        Some(_) => plot.y.what.to_string(),
        None => plot.y.to_string(),
    };
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    let across: Vec<f64> = points().map(|point| point.x).collect();
    let up: Vec<f64> = points().map(|point| point.y).chain(plot.bound).collect();
    let lines = plot.lines.iter().enumerate().map(|(color, line)| {
        let points = line.points.iter().map(|point| DrawnPoint {
            x: six_figures(point.x),
            y: six_figures(point.y * scale.unwrap_or(1.0)),
            at: format!("{} {}", fixed(point.x, 0), plot.x.unit),
            text: match scale {
                Some(scale) => latency(point.y * scale),
                None => format!("{} {}", fixed(point.y, 0), plot.y.unit),
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
            ..Axis::new(plot.x.to_string(), is_wide(&across))
        },
        y: Axis {
            bound: plot.bound.map(|bound| bound * scale.unwrap_or(1.0)),
            is_time: scale.is_some(),
            ..Axis::new(up_title, is_wide(&up))
        },
        lines: lines.collect(),
        ways: Vec::new(),
    };
    html! {
        @if !across.is_empty() {
            (card(&format!("{} over {}", plot.y, plot.x), &chart))
        }
    }
}

/// Whether figures span so much that small ones would vanish on a plain scale.
pub fn is_wide(values: &[f64]) -> bool {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    low > 0.0 && values.iter().copied().fold(0.0, f64::max) / low >= 16.0
}

/// JSON for a `<script>` element: no `<` in it can end the element.
pub fn embedded(data: &impl Serialize) -> PreEscaped<String> {
    let text = serde_json::to_string(data).expect("the page's data holds no exotic keys");
    PreEscaped(text.replace('<', "\\u003c"))
}

/// Six significant figures: exact for every reader, short in the file.
pub fn six_figures(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(5 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_figures_stay() {
        for (value, expected) in [
            (0.0, 0.0),
            (1_234_567.8, 1_234_570.0),
            (0.000_123_456_78, 0.000_123_457),
            (3.0, 3.0),
            (f64::NAN, 0.0),
        ] {
            assert_eq!(six_figures(value), expected, "{value}");
        }
    }
}
