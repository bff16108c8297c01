//! In: the history of a store. Out: its page: for each load a small chart of each figure, with a
//! dot for each run, and a table of the same figures. It needs no Records.

use std::collections::BTreeMap;

use blocklab_compare::history::{History, Point, Series, SeriesVerdict};
use blocklab_report::document::Column;
use blocklab_report::document::head;
use blocklab_report::document::html::prose;
use blocklab_report::document::tables::card;
use blocklab_report::fields;
use blocklab_report::words::{answer, facts, history as words};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::charts::{self, six_figures};
use super::frame::{STYLE, lines_script};

/// The most runs of a load that are drawn, the last ones. They are as many as are tested.
const DRAWN: usize = 200;

const SIGNS: &str = "A dot a run, the newest at the right, with the 95 % interval within it; hollow: \
    left out; across: the median of a level; upright: where a level \
    begins, broken where it is only suspected; a tick below: something else changed there. Axes need \
    not begin at zero.";

/// The page of a history, as a file.
pub fn page(history: &History) -> String {
    let body = html! {
        main id="main" class="document" {
            h1 { "History" }
            (section(history))
        }
        script { (PreEscaped(script())) }
    };
    head::page("History – blocklab", STYLE, &body).into_string() + "\n"
}

/// The script that draws the charts of a history.
pub fn script() -> String {
    lines_script(include_str!("../assets/js/history.js"))
}

/// The content of that page, for a page that has a title and [`script`] already.
pub fn section(history: &History) -> Markup {
    let shown = words::shown(history);
    let answer = answer::history(history);
    html! {
        p class={ "answer " (answer.tone.class()) } { (answer.text) "." }
        @if !shown.loads.is_empty() {
            noscript {
                p class="card hint" { "The charts need JavaScript. Every figure is in the tables." }
            }
        }
        @for load in &shown.loads { (load_section(load)) }
        @for text in &shown.left { p class="hint" { (prose(text)) } }
        @if !shown.loads.is_empty() {
            p class="hint" { (words::legend(history, SIGNS)) }
            p class="hint needs-script no-print" {
                "Drag across a chart to zoom, double-click to return. With the keyboard: Tab to a chart, "
                "arrows read runs, " kbd { "+" } " " kbd { "−" } " zoom, " kbd { "Esc" } " returns."
            }
        }
    }
}

/// A load with the runs that its charts and its table share.
struct Load<'h> {
    /// A series for each figure.
    figures: &'h [&'h Series],
    /// The runs that are drawn, from the oldest on, each as a point of one of its figures.
    runs: Vec<&'h Point>,
    /// The index of a run among them, by its id.
    places: BTreeMap<&'h str, usize>,
}

impl<'h> Load<'h> {
    /// `figures`: the series of one load, of which a figure may lack some runs.
    fn new(figures: &'h [&'h Series]) -> Self {
        // What has a latency has a rate: the series of the rate has every run, and is the longest.
        let longest = figures.iter().max_by_key(|series| series.points.len());
        let points = longest.map_or(&[][..], |series| &series.points);
        let runs: Vec<&Point> = points[points.len().saturating_sub(DRAWN)..]
            .iter()
            .collect();
        let places = runs.iter().enumerate();
        Self {
            figures,
            places: places.map(|(place, point)| (&*point.run, place)).collect(),
            runs,
        }
    }

    /// The index of a point's run; `None` if it is not drawn.
    fn place(&self, point: &Point) -> Option<usize> {
        self.places.get(&*point.run).copied()
    }

    /// Whether older runs are not drawn.
    fn has_older(&self) -> bool {
        let mut figures = self.figures.iter();
        figures.any(|series| series.points.len() > self.runs.len())
    }
}

/// The section of a load, with at least one figure. All of its figures have the same conditions.
fn load_section(figures: &[&Series]) -> Markup {
    let load = Load::new(figures);
    let conditions = &figures[0].conditions;
    let title = words::title(conditions);
    let runs = load.runs.iter().map(|point| {
        fields! {
            run: &*point.run,
            at: facts::moment(&point.started_at),
            left_out: point.is_left_out.then(|| words::why_left_out(point)),
            changed: (!point.changed.is_empty()).then(|| words::changed(&point.changed)),
        }
    });
    let data = fields! {
        title: title.clone(),
        runs: runs.collect::<Vec<_>>(),
        figures: figures.iter().map(|series| figure(&load, series)).collect::<Vec<_>>(),
    };
    html! {
        section class="load" {
            h2 { (title) }
            p class="lead" { (words::conditions(conditions)) }
            div class="verdicts" {
                @for series in figures {
                    p class={ "verdict " (answer::Tone::of_series(series.verdict).class()) } { (words::verdict(series)) }
                }
            }
            (charts::card(&title, &data))
            ul class="entries" {
                @for series in figures {
                    @for item in words::items(series) {
                        li { strong { (series.quantity.label()) } " " (item) }
                    }
                }
            }
            @for text in words::left_out(figures[0]) { p class="hint" { (text) } }
            @if load.has_older() {
                p class="hint" { "The last " (load.runs.len()) " runs are drawn; " code { "--json" } " has all." }
            }
            details class="points" {
                summary { (load.runs.len()) " runs as a table" }
                (table(&load, &title))
            }
        }
    }
}

/// The data of the chart of a figure.
fn figure(load: &Load<'_>, series: &Series) -> impl Serialize {
    let quantity = series.quantity;
    let text = |value: f64| words::value(quantity, value);
    let points = series.points.iter().filter_map(|point| {
        Some(fields! {
            place: load.place(point)?,
            value: six_figures(point.value),
            text: text(point.value),
            low: point.ci95_low.map(six_figures),
            high: point.ci95_high.map(six_figures),
            interval: interval(series, point),
            passes: point.passes,
            is_left_out: point.is_left_out,
        })
    });
    // A level that began before the first drawn run is drawn from there on.
    let levels = series.levels.iter().filter_map(|level| {
        let from = load.place(&series.points[level.from_place]).unwrap_or(0);
        Some(fields! {
            from: from,
            to: load.place(&series.points[level.to_place])?,
            median: six_figures(level.median),
            text: text(level.median),
            is_suspected: level.is_suspected,
        })
    });
    fields! {
        name: quantity.label(),
        is_time: quantity.is_latency(),
        points: points.collect::<Vec<_>>(),
        levels: levels.collect::<Vec<_>>(),
        marks: marks(load, series),
    }
}

/// A mark at which a level begins.
#[derive(Serialize)]
struct Mark {
    place: usize,
    /// `−12.5 % (−12.9 % to −12.1 %)`
    text: String,
    /// Shown where the text has no room: `−12.5 %`.
    brief: String,
    is_worse: bool,
    is_suspected: bool,
}

/// The day of a moment.
fn day(rfc3339: &str) -> &str {
    rfc3339.split('T').next().unwrap_or_default()
}

/// The marks of a series: its changes, and its suspicion.
fn marks(load: &Load<'_>, series: &Series) -> Vec<Mark> {
    let suspected = series.suspicion.as_ref().and_then(|suspected| {
        let point = &series.points[suspected.place];
        let brief = words::percent((suspected.after / suspected.before - 1.0) * 100.0);
        Some(Mark {
            place: load.place(point)?,
            text: format!("{}  {brief}, suspected", day(&point.started_at)),
            brief: format!("{brief}?"),
            is_worse: suspected.verdict == SeriesVerdict::Regressed,
            is_suspected: true,
        })
    });
    let changes = series.changes.iter().filter_map(|change| {
        Some(Mark {
            place: load.place(&series.points[change.place])?,
            text: format!("{}  {}", day(&change.started_at), words::size(change)),
            brief: words::percent(change.change_percent),
            is_worse: change.verdict == SeriesVerdict::Regressed,
            is_suspected: false,
        })
    });
    changes.chain(suspected).collect()
}

/// The interval of a point: `770 IOPS to 790 IOPS`.
fn interval(series: &Series, point: &Point) -> Option<String> {
    let low = words::value(series.quantity, point.ci95_low?);
    let high = words::value(series.quantity, point.ci95_high?);
    Some(format!("{low} to {high}"))
}

/// The table of a load: a row for each run, the newest first.
fn table(load: &Load<'_>, title: &str) -> Markup {
    let mut columns = vec![Column::words("run"), Column::words("began")];
    for series in load.figures {
        let label = series.quantity.label();
        columns.push(Column::figure(&label));
        columns.push(Column::figure(format!("{label}, 95 % interval")));
    }
    columns.push(Column::words("left out; what changed"));
    // The points of each figure by run, since a run may lack a figure.
    let points: Vec<BTreeMap<&str, &Point>> = load
        .figures
        .iter()
        .map(|series| {
            series
                .points
                .iter()
                .map(|point| (&*point.run, point))
                .collect()
        })
        .collect();
    let rows = html! {
        @for run in load.runs.iter().rev() {
            tr {
                th scope="row" { (run.run) }
                td { (facts::moment(&run.started_at)) }
                @for (series, points) in load.figures.iter().zip(&points) {
                    @let point = points.get(&*run.run);
                    @let value = point.map(|point| words::value(series.quantity, point.value));
                    @let interval = point.and_then(|point| interval(series, point));
                    td class="number" { (value.as_deref().unwrap_or("–")) }
                    td class="number" { (interval.as_deref().unwrap_or("–")) }
                }
                td { (words::remarks(run)) }
            }
        }
    };
    card(title, &columns, rows)
}
