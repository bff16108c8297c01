//! The section of sweeps: each figure as lines over the numeric axis, as a heat map if both axes
//! are numeric, and as a table.

use blocklab_compare::study::REACHED;
use blocklab_findings::sweeps::{Axis, Sweep, sweeps};
use blocklab_findings::{Assessment, Estimate, RowDirection};
use blocklab_units::latency;
use maud::{Markup, html};
use serde::Serialize;

use super::charts::{self, DrawnLine, DrawnPoint, LineChart, six_figures};
use super::side::Side;
use blocklab_report::document::Column;
use blocklab_report::document::tables::card;
use blocklab_report::fields;
use blocklab_report::words::facts;

/// A figure of a sweep.
struct Figure {
    /// Its name, which is also its unit if it is a rate.
    name: &'static str,
    /// Title of its chart and its table.
    title: &'static str,
    /// As [`charts::Axis::quantity`].
    quantity: Option<&'static str>,
    is_time: bool,
    /// Its value; `None`: not known.
    value: fn(&RowDirection) -> Option<f64>,
    text: fn(&RowDirection) -> String,
}

const FIGURES: [Figure; 4] = [
    Figure {
        name: "IOPS",
        title: "IOPS",
        quantity: Some("iops"),
        is_time: false,
        value: |direction| Some(direction.iops.value),
        text: |direction| certain(facts::iops(direction.iops.value), &direction.iops),
    },
    Figure {
        name: "MB/s",
        title: "MB/s",
        quantity: Some("mbps"),
        is_time: false,
        value: |direction| Some(direction.bytes_per_s.value / 1e6),
        text: |direction| {
            certain(
                facts::mb_per_s(direction.bytes_per_s.value),
                &direction.bytes_per_s,
            )
        },
    },
    Figure {
        name: "p50",
        title: "median latency",
        quantity: None,
        is_time: true,
        value: |direction| service_ns(direction, "p50"),
        text: |direction| facts::service_percentile(direction, "p50"),
    },
    Figure {
        name: "p99",
        title: "p99 latency",
        quantity: None,
        is_time: true,
        value: |direction| service_ns(direction, "p99"),
        text: |direction| facts::service_percentile(direction, "p99"),
    },
];

/// A figure with half the width of its interval, if it has one.
fn certain(text: String, estimate: &Estimate) -> String {
    match estimate.half_width_percent() {
        Some(_) => format!("{text} ± {}", facts::plus_minus(estimate)),
        None => text,
    }
}

fn service_ns(direction: &RowDirection, percentile: &str) -> Option<f64> {
    facts::known_service_ns(direction, percentile).map(|ns| ns as f64)
}

/// The sweeps of a run; empty for a system of a study, whose tables show them already.
pub fn sweeps_of<'a>(assessment: &'a Assessment, is_part: bool) -> Vec<Sweep<'a>> {
    if is_part {
        Vec::new()
    } else {
        sweeps(&assessment.rows)
    }
}

/// Whether any run has a sweep.
pub fn any(sides: &[Side<'_>]) -> bool {
    sides.iter().any(|side| !side.sweeps.is_empty())
}

/// Whether a case is a point of a sweep, and so has no bar.
pub fn has(side: &Side<'_>, case: &str) -> bool {
    side.sweeps.iter().any(|sweep| sweep.cases.contains(&case))
}

/// Where a direction of a case is in a sweep; decides its colour in other charts.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Place {
    /// Its rank on the line, 0 to 1, in a sweep of a single line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<f64>,
    /// Index of its line, which has this colour if lines are few or words.
    pub color: usize,
    /// Its rank on its line, 0 to 1, in a sweep of at most [`FEW_LINES`] lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Whether it is worth a look: a corner of the sweep, or the first point of a line near its
    /// maximum.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_telling: bool,
}

/// Where a direction of a case is in the sweeps of a run; `None`: in none of them.
pub fn place(side: &Side<'_>, moved: &RowDirection) -> Option<Place> {
    side.sweeps.iter().find_map(|sweep| {
        let mut cells = sweep.cells.iter().enumerate().flat_map(|(line, cells)| {
            cells
                .iter()
                .enumerate()
                .map(move |(at, cell)| (line, at, *cell))
        });
        // Cells are references to the rows themselves, so identity finds the point.
        let (line, at, _) =
            cells.find(|(.., cell)| cell.is_some_and(|cell| std::ptr::eq(cell, moved)))?;
        let across = sweep.across.values.len();
        let lines = sweep.cells.len();
        let corner = is_end(at, across) && is_end(line, lines);
        let rank = share(at, across);
        Some(Place {
            rank: sweep.by.is_none().then_some(rank),
            color: line,
            step: (sweep.by.is_some() && lines <= FEW_LINES).then_some(rank),
            is_telling: corner || near_most(&sweep.cells[line]) == Some(at),
        })
    })
}

/// Up to this many lines have a hue each. The points of a line have its hue in charts of all cases,
/// where each needs a tone of its own.
const FEW_LINES: usize = 4;

/// The rank of a line, 0 to 1, if lines are many and numbers; few lines and words have a hue each.
fn line_rank(by: &Axis, line: usize) -> Option<f64> {
    let lines = by.values.len();
    (by.places.is_some() && lines > FEW_LINES).then(|| share(line, lines))
}

/// An index among some as a number from 0 to 1; a single one is at 0.
fn share(place: usize, places: usize) -> f64 {
    place as f64 / (places.max(2) - 1) as f64
}

fn is_end(place: usize, places: usize) -> bool {
    place == 0 || place + 1 == places
}

/// The first point of a line that reaches [`REACHED`] of its maximum.
fn near_most(line: &[Option<&RowDirection>]) -> Option<usize> {
    let iops = |cell: &Option<&RowDirection>| cell.map_or(0.0, |moved| moved.iops.value);
    let most = line.iter().map(iops).fold(0.0, f64::max);
    line.iter().position(|cell| iops(cell) >= REACHED * most)
}

/// The rank of a curve, 0 to 1, by the setting that its name contains; `None` if no sweep has it.
pub fn rank_of(side: &Side<'_>, name: &str) -> Option<f64> {
    side.sweeps.iter().find_map(|sweep| {
        let by = sweep.by.as_ref().filter(|by| by.places.is_some())?;
        let values = by.values.iter().enumerate();
        let named = values.filter(|(_, value)| {
            name.contains(&format!("{}{}", by.setting, value.replace([' ', ','], "")))
        });
        // A name with depth16 contains depth1, too: the longest match is the setting.
        let (at, _) = named.max_by_key(|(_, value)| value.len())?;
        line_rank(by, at)
    })
}

/// The section; empty without a sweep.
pub fn section(sides: &[Side<'_>]) -> Markup {
    html! {
        @if any(sides) {
            section id="sweeps" {
                h2 { "Sweeps" }
                p class="lead" {
                    "Points are the figure of all passes. Axes are logarithmic where their values "
                    "span a factor of 16 or more."
                    @if sides.iter().flat_map(|side| &side.sweeps).any(|sweep| sweep.is_mixed) {
                        " Limits hold for reads and writes together, so charts of one direction of "
                        "a mixed load show none."
                    }
                }
                @for side in sides {
                    @if !side.sweeps.is_empty() { (side.title()) }
                    @for sweep in &side.sweeps { (sweep_of(side, sweep)) }
                }
            }
        }
    }
}

/// A sweep: its charts, and folded its tables.
fn sweep_of(side: &Side<'_>, sweep: &Sweep<'_>) -> Markup {
    let title = side.unique_name(&format!("{}, {}", sweep.name, sweep.direction));
    let figures = FIGURES.iter().map(|figure| {
        fields! { name: figure.name, chart: chart(side.index, sweep, figure) }
    });
    let is_map = sweep.by.as_ref().is_some_and(|by| by.places.is_some());
    let data = fields! {
        title: title.clone(),
        direction: sweep.direction,
        record: side.index,
        across: words(&sweep.across),
        by: sweep.by.as_ref().map(words),
        // Two columns are no map.
        is_map: is_map && sweep.across.values.len() > 2,
        figures: figures.collect::<Vec<_>>(),
    };
    html! {
        (charts::card(&title, &data))
        details class="points" {
            summary { (title) " as tables" }
            @for figure in &FIGURES { (table(sweep, figure, &title)) }
        }
    }
}

/// The name of an axis as words, with the unit that its values lack: `block size`.
fn words(axis: &Axis) -> String {
    match &*axis.setting {
        "rate_iops" => "requested IOPS".to_owned(),
        "rate_percent" => "requested % of the maximum rate".to_owned(),
        setting => setting.replace('_', " "),
    }
}

/// The line chart of a figure, with a line for each value of the second axis.
fn chart<'a>(
    record: usize,
    sweep: &'a Sweep<'_>,
    figure: &'static Figure,
) -> impl Serialize + use<'a> {
    let places = sweep.across.places.as_deref();
    let places = places.expect("the axis across is one of numbers");
    let line = |(index, cells): (usize, &Vec<Option<&RowDirection>>)| {
        let points = cells.iter().enumerate().filter_map(|(place, cell)| {
            let cell = (*cell)?;
            Some(DrawnPoint {
                x: places[place],
                y: six_figures((figure.value)(cell)?),
                at: format!("{} {}", words(&sweep.across), sweep.across.values[place]),
                text: if figure.is_time {
                    (figure.text)(cell)
                } else {
                    format!("{} {}", (figure.text)(cell), figure.name)
                },
                // A single block size gives a whole number; a mix gives the mean.
                size: (figure.name == "IOPS" && cell.iops.value > 0.0)
                    .then(|| (cell.bytes_per_s.value / cell.iops.value).round()),
                past_peak: false,
            })
        });
        let by = sweep.by.as_ref();
        DrawnLine {
            name: by.map_or_else(|| sweep.name.clone(), |by| by.values[index].clone()),
            color: index,
            rank: by.and_then(|by| line_rank(by, index)),
            points: points.collect(),
            record: Some(record),
            ..DrawnLine::default()
        }
    };
    let lines: Vec<_> = sweep.cells.iter().enumerate().map(line).collect();
    let up: Vec<f64> = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.y)
        .collect();
    let names = sweep.across.values.iter().map(String::as_str);
    LineChart {
        x: charts::Axis {
            ticks: places.iter().copied().zip(names).collect(),
            ..charts::Axis::fitting(words(&sweep.across), places)
        },
        y: charts::Axis {
            // A limit holds for the sum of the directions, and the chart shows one of them.
            quantity: figure.quantity.filter(|_| !sweep.is_mixed),
            is_time: figure.is_time,
            ..charts::Axis::fitting(figure.title, &up)
        },
        lines,
        directions: vec![sweep.direction.name()],
    }
}

/// The table of a figure.
fn table(sweep: &Sweep<'_>, figure: &Figure, title: &str) -> Markup {
    let corner = match &sweep.by {
        Some(by) => format!("{}: {} by {}", figure.name, words(by), words(&sweep.across)),
        None => format!("{} by {}", figure.name, words(&sweep.across)),
    };
    let columns = Column::named(corner, &sweep.across.values);
    let rows = html! {
        @for (index, cells) in sweep.cells.iter().enumerate() {
            tr {
                th scope="row" {
                    (sweep.by.as_ref().map_or(sweep.name.as_str(), |by| by.values[index].as_str()))
                }
                @for cell in cells {
                    td class="number" {
                        @match cell.and_then(figure.value) {
                            Some(value) if figure.is_time => (latency(value)),
                            Some(value) => (facts::fine_rate(value)),
                            None => "–",
                        }
                    }
                }
            }
        }
    };
    card(&format!("{title}: {}", figure.title), &columns, rows)
}
