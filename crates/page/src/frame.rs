//! The page of runs: its order, its head, and what surrounds the charts.

use std::collections::BTreeSet;

use blocklab_compare::study::{Plot, curves};
use blocklab_findings::Assessment;
use blocklab_record::{Origin, Record};
use maud::{Markup, PreEscaped, html};

use super::limits::{self, Drawn};
use super::side::{self, Side, StudyPart};
use super::{
    consistency, course, data, findings, headline, hosts, model, numbers, origin, study, sweeps,
    systems,
};
use blocklab_report::document::head;
use blocklab_report::words::answer::{self, Answer};
use blocklab_report::words::facts;

/// The style that only pages with charts need.
pub const STYLE: &str = concat!(
    include_str!("../assets/charts.css"),
    include_str!("../assets/model.css"),
    include_str!("../assets/study.css"),
    include_str!("../assets/history.css"),
);

/// The files of the script of a page of runs, in reading order.
const SCRIPT: [&str; 11] = [
    include_str!("../assets/js/draw.js"),
    include_str!("../assets/js/chart.js"),
    include_str!("../assets/js/take.js"),
    include_str!("../assets/js/limits.js"),
    include_str!("../assets/js/lines.js"),
    include_str!("../assets/js/rows.js"),
    include_str!("../assets/js/picks.js"),
    include_str!("../assets/js/heat.js"),
    include_str!("../assets/js/forest.js"),
    include_str!("../assets/js/study.js"),
    include_str!("../assets/js/page.js"),
];

/// The whole script of a page of runs.
pub fn script() -> String {
    closed(&SCRIPT)
}

/// The part of the script that draws lines, followed by a script of the caller that uses it.
pub fn lines_script(own: &str) -> String {
    let [draw, chart, take, limits, lines, rows, ..] = SCRIPT;
    closed(&[draw, chart, take, limits, lines, rows, own])
}

/// Joins files into one closure, without their comments and indents, which are for readers of the
/// source. No text of theirs goes over the end of a line, so no indent is a part of one.
fn closed(files: &[&str]) -> String {
    let lines = files.iter().flat_map(|file| file.lines());
    let code: Vec<&str> = lines
        .map(str::trim_start)
        .filter(|line| {
            !line.is_empty()
                && !["//", "/**", "* "]
                    .iter()
                    .any(|sign| line.starts_with(sign))
        })
        .collect();
    format!(
        "(function () {{\n\"use strict\";\n{}\n}})();\n",
        code.join("\n")
    )
}

/// A section that opens a page, before the sections of the runs.
pub struct Opening<'a> {
    /// Its id, by which links lead to it.
    pub id: &'static str,
    /// Its name in the navigation.
    pub name: &'static str,
    /// The title of the page; `None`: that of the runs.
    pub title: Option<String>,
    /// The sentence with which the page begins.
    pub answer: Answer,
    /// The limits that charts draw; `None`: those in force.
    pub limits: Option<Vec<Drawn>>,
    /// Makes the section, in which a chart comes first.
    pub section: &'a dyn Fn(&[Side<'_>]) -> Markup,
}

impl<'a> Opening<'a> {
    /// A section under the title of the runs, with charts that draw the limits in force.
    pub fn new(
        id: &'static str,
        name: &'static str,
        answer: Answer,
        section: &'a dyn Fn(&[Side<'_>]) -> Markup,
    ) -> Self {
        Self {
            id,
            name,
            title: None,
            answer,
            limits: None,
            section,
        }
    }
}

/// The whole page. `above`: a header of the server that shows the page among others.
pub fn page(
    records: &[(&Record, &Assessment)],
    opening: Option<Opening<'_>>,
    above: Option<&Markup>,
) -> Markup {
    let opening = opening.as_ref();
    let parts = parts(records);
    let sides: Vec<Side<'_>> = records
        .iter()
        .enumerate()
        .map(|(index, (record, assessment))| Side {
            record,
            assessment,
            // In tables of many systems, the name alone has to do.
            label: match parts.get(index) {
                Some(part) if side::is_many(records.len()) => part.system.to_owned(),
                part => label(record, part),
            },
            index,
            alone: records.len() == 1,
            has_color: records.len() > 1 && !side::is_many(records.len()),
            sweeps: sweeps::sweeps_of(assessment, !parts.is_empty()),
            part: parts.get(index).copied(),
        })
        .collect();
    let drawn = opening
        .and_then(|opening| opening.limits.clone())
        .unwrap_or_else(|| limits::in_force(&sides));
    let body = html! {
        a class="skip" href="#main" { "Skip to the report" }
        @if let Some(above) = above { (above) }
        (top(&sides, opening))
        main id="main" { (sections(&sides, opening)) }
        (foot(&sides))
        script type="application/json" id="data" { (data::json(&sides, drawn)) }
        script { (PreEscaped(script())) }
    };
    head::page(&title(&sides), STYLE, &body)
}

/// Each run as a part of a study, if all are systems of one study with different names; else empty.
fn parts<'a>(records: &[(&'a Record, &Assessment)]) -> Vec<StudyPart<'a>> {
    let requested = records.iter().map(|(record, _)| &record.requested);
    let parts = requested.map(|requested| {
        Some(StudyPart {
            study: requested.study(),
            system: requested.system.as_deref()?,
        })
    });
    let parts: Vec<StudyPart<'_>> = parts.collect::<Option<_>>().unwrap_or_default();
    let one_study = parts.iter().all(|part| part.study == parts[0].study);
    let systems: BTreeSet<_> = parts.iter().map(|part| part.system).collect();
    if parts.len() > 1 && one_study && systems.len() == parts.len() {
        parts
    } else {
        Vec::new()
    }
}

/// The label of a run: its name and id, or its system in a study; and its origin unless it was
/// measured.
fn label(record: &Record, part: Option<&StudyPart<'_>>) -> String {
    let name = match part {
        Some(part) => part.system.to_owned(),
        None => format!("{} {}", record.requested.name, record.id),
    };
    match record.origin {
        Origin::Measured => name,
        origin => format!("{name} ({})", origin.name()),
    }
}

/// The title of the browser window.
fn title(sides: &[Side<'_>]) -> String {
    if let Some(part) = sides.first().and_then(|side| side.part) {
        return format!("{} – blocklab", part.study);
    }
    let labels: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
    format!("{} – blocklab", labels.join(" | "))
}

/// The bar at the top, with a link to each section that the page has.
fn top(sides: &[Side<'_>], opening: Option<&Opening<'_>>) -> Markup {
    html! {
        header class="top" {
            div class="inner" {
                a class="brand" href="#summary" { (mark()) "blocklab" }
                nav aria-label="Sections" {
                    @if let Some(opening) = opening { a href={ "#" (opening.id) } { (opening.name) } }
                    @if findings::any(sides) { a href="#findings" { "Findings" } }
                    @if sweeps::any(sides) { a href="#sweeps" { "Sweeps" } }
                    @if plots(sides).is_some() { a href="#curve" { "Curve" } }
                    @if has_figures(sides) {
                        @if has_bars(sides) { a class="needs-script" href="#suite" { (suite_name(sides)) } }
                        @if has_latency(sides) {
                            a class="needs-script" href="#latency" { "Latency" }
                        }
                        @if has_series(sides) {
                            a class="needs-script" href="#time" { "Over time" }
                        }
                        a href="#numbers" { "Table" }
                    }
                    @if model::any(sides) { a href="#model" { "Model" } }
                    @if origin::has_machine(sides) { a href="#machine" { "Machine" } }
                    a href="#workload" { "Repeat it" }
                }
                (theme_button())
            }
        }
    }
}

/// The button that switches between light and dark colours.
pub fn theme_button() -> Markup {
    html! {
        button type="button" class="theme needs-script" id="theme" aria-label="Dark colours"
            aria-pressed="false" { span class="theme-disc" {} }
    }
}

/// The logo.
pub fn mark() -> Markup {
    html! {
        svg class="mark" viewBox="0 0 16 16" aria-hidden="true" {
            path d="M1 9h3v6H1zM6.5 5h3v10h-3zM12 1h3v14h-3z" {}
        }
    }
}

/// All sections of the page, in its order.
fn sections(sides: &[Side<'_>], opening: Option<&Opening<'_>>) -> Markup {
    let own = match sides {
        [side] => Some(answer::run(side.record, side.assessment)),
        _ => None,
    };
    let answer = opening.map(|opening| &opening.answer).or(own.as_ref());
    let title = opening
        .and_then(|opening| opening.title.clone())
        .unwrap_or_else(|| headline::title(sides));
    // A page of one run begins with its sweep, or else with the bars of its cases.
    let is_first = opening.is_none() && sides.len() == 1;
    let sweeps_first = is_first && sweeps::any(sides);
    let suite_first = is_first && !sweeps_first && has_bars(sides);
    html! {
        (headline::top(sides, &title, answer))
        @if let Some(opening) = opening { ((opening.section)(sides)) }
        @if sweeps_first { (sweeps::section(sides)) }
        @if suite_first { (without_script()) (suite(sides)) }
        (headline::details(sides))
        @if let [side] = sides { (hosts::section(side)) }
        // A study has this table in its own section.
        @if side::shown_together(sides) && sides[0].part.is_none() {
            section id="systems" { (systems::table(sides, None)) (headline::tiles(sides)) }
        }
        (findings::findings(sides))
        @if !sweeps_first { (sweeps::section(sides)) }
        @if let Some(plot) = plots(sides) {
            // Lines of several runs are coloured by run, not by their setting.
            @let rank = |name: &str| match sides {
                [side] => sweeps::rank_of(side, name),
                _ => None,
            };
            @let record = |system: &str| {
                sides.iter().position(|side| side.alone || system.starts_with(&line_prefix(side)))
            };
            (study::curves(&plot, &rank, &record))
        }
        @if has_figures(sides) {
            (charts(sides, suite_first))
            @if let [side] = sides { (consistency::section(side)) }
            (numbers::table(sides))
        }
        (model::section(sides))
        (origin::machine(sides))
        (course::course(sides))
        (origin::workload(sides))
    }
}

/// The prefix of the names of a run's lines on a page of several runs.
fn line_prefix(side: &Side<'_>) -> String {
    format!("{}: ", side.label)
}

/// The curves of all runs in one plot. With several runs, the name of a line begins with that of
/// its run. A study draws curves of its own.
fn plots(sides: &[Side<'_>]) -> Option<Plot> {
    let several = sides.len() > 1;
    let alone = sides.iter().filter(|side| side.part.is_none());
    let plots = alone.filter_map(|side| {
        let mut plot = curves(side.record)?;
        for line in plot.lines.iter_mut().filter(|_| several) {
            line.system = format!("{}{}", line_prefix(side), line.system);
        }
        Some(plot)
    });
    plots.reduce(|mut all, plot| {
        all.lines.extend(plot.lines);
        all
    })
}

/// Whether any operation completed, so that there is something to draw.
fn has_figures(sides: &[Side<'_>]) -> bool {
    sides
        .iter()
        .any(|side| side.assessment.directions().next().is_some())
}

/// Whether any distribution of latencies is known: another program may have reported none.
fn has_latency(sides: &[Side<'_>]) -> bool {
    let mut directions = sides.iter().flat_map(|side| side.assessment.directions());
    directions.any(|(_, direction)| !direction.curve.is_empty())
}

/// Whether any pass has intervals. Without them the script hides the section on the time.
fn has_series(sides: &[Side<'_>]) -> bool {
    let mut passes = sides.iter().flat_map(|side| &side.record.measurements);
    passes.any(|pass| !pass.series.is_empty())
}

/// Whether any case has a bar: those of a sweep are points of its lines.
fn has_bars(sides: &[Side<'_>]) -> bool {
    sides.iter().any(|side| {
        let mut rows = side.assessment.directions().map(|(row, _)| row);
        rows.any(|row| !sweeps::has(side, &row.case))
    })
}

/// Whether a run has response times.
fn has_response(side: &Side<'_>) -> bool {
    let mut directions = side.assessment.directions();
    directions.any(|(_, direction)| !direction.response_curve.is_empty())
}

/// The hint for readers without JavaScript.
pub fn without_script() -> Markup {
    html! {
        noscript {
            p class="card hint" {
                "The charts need JavaScript. Every number is in the tables below."
            }
        }
    }
}

/// What the section of the bars is called: one case, as that of a replay, is no suite.
fn suite_name(sides: &[Side<'_>]) -> &'static str {
    let rows = sides.iter().flat_map(|side| {
        let rows = side.assessment.rows.iter();
        rows.filter(|row| !sweeps::has(side, &row.case))
    });
    let cases: BTreeSet<&str> = rows.map(|row| &*row.case).collect();
    if cases.len() == 1 { "Load" } else { "Suite" }
}

/// The bars of all cases.
fn suite(sides: &[Side<'_>]) -> Markup {
    html! {
        section id="suite" class="needs-script" {
            h2 { "The " (suite_name(sides).to_lowercase()) }
            div class="card" id="suite-card" {}
            p class="hint" {
                "Bars are the figure of all passes, whiskers its 95 % confidence interval, dots "
                "the single passes."
            }
        }
    }
}

/// The places where the script draws. Without a script, the table below has the numbers.
/// `has_suite`: the bars are at the top of the page already.
fn charts(sides: &[Side<'_>], has_suite: bool) -> Markup {
    html! {
        @if !has_suite { (without_script()) }
        div id="picks" class="card needs-script" {}
        @if has_bars(sides) && !has_suite { (suite(sides)) }
        @if has_latency(sides) {
            section id="latency" class="needs-script by-pick" {
                h2 { "Latency" }
                p class="lead" {
                    "Service time, from submission to completion"
                    @if sides.iter().any(has_response) {
                        "; broken thin lines are response time, from the moment an operation was due"
                    }
                    ". The percentile axis is stretched to the right, where the slow operations are; "
                    "pale segments are based on fewer than ten operations."
                }
                div class="card one-of-many" id="percentiles-card" {}
                div class="card" id="histogram-card" {}
            }
        }
        section id="time" class="needs-script" {
            h2 { "Over time" }
            p class="lead" id="time-lead" {}
            div class="card" id="time-card" {}
        }
        p class="hint keys needs-script no-print" {
            "Drag across a chart to zoom, double-click to return. Ctrl and the wheel, or two "
            "fingers, zoom as well. With the keyboard: Tab to a chart, arrows read values, "
            kbd { "+" } " " kbd { "−" } " zoom, " kbd { "Esc" } " returns. "
            "Click a name in a legend to hide it, double-click to see it alone."
        }
    }
}

/// The footer: how to cite the page, and the tool, run and format of each record.
fn foot(sides: &[Side<'_>]) -> Markup {
    let records: Vec<&Record> = sides.iter().map(|side| side.record).collect();
    html! {
        footer {
            div class="inner" {
                p { "Cite this: " (facts::cite(&records)) }
                @for side in sides {
                    p {
                        (side.record.tool) " · run " code { (side.record.id) }
                        " · record format " (side.record.format)
                        @if let Some(error) = side.assessment.quantile_error_percent {
                            " · percentiles within " (facts::percent(error))
                        }
                        " · MB = 10" sup { "6" } " bytes"
                    }
                }
            }
        }
    }
}
