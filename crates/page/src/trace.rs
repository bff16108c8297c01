//! The page of a recorded load: its charts, and below them its whole Document.

use blocklab_report::document::html::parts;
use blocklab_report::document::{Document, Part, head};
use blocklab_report::fields;
use blocklab_report::views::{LoadAndVolumes, moment, shown_rate, window_length};
use blocklab_report::words::facts::fine_rate;
use blocklab_sizing::{Quantity, Window};
use blocklab_trace::character::{Character, Slot, TimeMap};
use blocklab_units::{Bytes, Nanos, plural, trimmed};
use maud::{Markup, PreEscaped, html};

use super::charts::{self, Axis, DrawnLine, DrawnPoint, LineChart, six_figures};
use super::frame::{STYLE, mark, script, theme_button, without_script};

const MIB: f64 = 1_048_576.0;

/// The page of a recorded load. `begins`: when it began, in nanoseconds since 1970, if that is known.
/// `beside`: its arrivals next to what volumes let pass.
pub fn page(
    document: &Document,
    character: &Character,
    begins: Option<u64>,
    beside: Option<&LoadAndVolumes>,
) -> String {
    // The Document's headings stay at the top; the charts come before the rest.
    let heads = document
        .parts
        .iter()
        .take_while(|part| matches!(part, Part::Heading(_)))
        .count();
    let (headings, rest) = document.parts.split_at(heads);
    // The script expects the data of a page of runs: this one has no rows and no passes.
    let data = fields! {
        records: [fields! { id: "trace", label: &*document.name, rows: [(); 0], passes: [(); 0] }],
        limits: [(); 0],
    };
    let body = html! {
        a class="skip" href="#main" { "Skip to the report" }
        header class="top" {
            div class="inner" {
                a class="brand" href="#main" { (mark()) "blocklab" }
                nav aria-label="Sections" {
                    a class="needs-script" href="#rate" { "Rate" }
                    a class="needs-script" href="#sizes" { "Sizes" }
                    a class="needs-script" href="#places" { "Places" }
                    @if beside.is_some() { a class="needs-script" href="#arrivals" { "Arrivals" } }
                    a href="#figures" { "Figures" }
                }
                (theme_button())
            }
        }
        main id="main" class="document" {
            (parts(headings, &document.name))
            (without_script())
            (over_time(character, begins))
            (maps(&character.map, begins))
            @if let Some(beside) = beside { (arrivals(beside)) }
            div id="figures" { (parts(rest, &document.name)) }
        }
        script type="application/json" id="data" { (charts::embedded(&data)) }
        script { (PreEscaped(script())) }
    };
    head::page(&format!("{} – blocklab", document.name), STYLE, &body).into_string()
}

/// The charts of rate and throughput over time.
fn over_time(character: &Character, begins: Option<u64>) -> Markup {
    let iops: [Figure<'_>; 2] = [
        ("mean", |slot| slot.iops),
        ("busiest 1 s", |slot| slot.iops_max as f64),
    ];
    let bytes: [Figure<'_>; 1] = [("mean", |slot| slot.bytes_per_s / MIB)];
    html! {
        section id="rate" class="needs-script" {
            h2 { "Rate over time" }
            (line_card("IOPS", &iops, &character.profile, begins))
            (line_card("MiB/s", &bytes, &character.profile, begins))
        }
    }
}

/// The name of a figure, and its value in a slot.
type Figure<'a> = (&'a str, fn(&Slot) -> f64);

/// A chart of figures over time. The value of a slot is drawn at its beginning.
fn line_card(
    unit: &'static str,
    figures: &[Figure<'_>],
    slots: &[Slot],
    begins: Option<u64>,
) -> Markup {
    let names: Vec<String> = slots
        .iter()
        .map(|slot| moment(begins, slot.from_ns))
        .collect();
    let lines = figures.iter().enumerate().map(|(color, (name, value))| {
        let points = slots.iter().zip(&names).map(|(slot, from)| DrawnPoint {
            x: slot.from_ns as f64 / 1e9,
            y: six_figures(value(slot)),
            at: format!("from {from}"),
            text: format!("{} {unit}", fine_rate(value(slot))),
            ..DrawnPoint::default()
        });
        line(name, color, points.collect())
    });
    // More than 8 labels along the axis would overlap.
    let every = slots.len().div_ceil(8).max(1);
    let ticks = slots.iter().zip(&names).step_by(every);
    let chart = LineChart {
        x: Axis {
            ticks: ticks
                .map(|(slot, name)| (slot.from_ns as f64 / 1e9, name.as_str()))
                .collect(),
            ..Axis::linear("time")
        },
        y: Axis::linear(unit),
        lines: lines.collect(),
        directions: Vec::new(),
    };
    charts::card(unit, &chart)
}

fn line(name: &str, color: usize, points: Vec<DrawnPoint>) -> DrawnLine {
    DrawnLine {
        name: name.to_owned(),
        color,
        points,
        ..DrawnLine::default()
    }
}

/// The maps of sizes and of places over time.
fn maps(map: &TimeMap, begins: Option<u64>) -> Markup {
    let slots = 0..map.sizes.len() as u64;
    let columns: Vec<String> = slots
        .map(|slot| {
            // The names of slots below a second need fractions, which a time of day has not.
            let from = slot * map.slot_ns;
            match map.slot_ns {
                short if short < 1_000_000_000 => format!("{} s", trimmed(from as f64 / 1e9, 3)),
                _ => moment(begins, from),
            }
        })
        .collect();
    let classes = map.class_bytes.iter().map(|most| Bytes(*most).to_string());
    let bands = map.places.first().map_or(0, Vec::len) as u64;
    let places = (0..bands).map(|band| Bytes(band * map.band_bytes).to_string());
    let lead = format!(
        "Operations by slots of {}; a stronger colour means more of them.",
        Nanos(map.slot_ns)
    );
    html! {
        section id="sizes" class="needs-script" {
            h2 { "Sizes over time" }
            p class="lead" { (lead) }
            (map_card("Sizes", "up to", &columns, classes.collect(), &map.sizes))
        }
        section id="places" class="needs-script" {
            h2 { "Places over time" }
            p class="lead" {
                "Where operations begin, in bands of " (Bytes(map.band_bytes)) "."
            }
            (map_card("Places", "from byte", &columns, places.collect(), &map.places))
        }
    }
}

/// A map with a column for each slot and a row for each label; the largest label is at the top.
fn map_card(
    title: &str,
    by: &str,
    columns: &[String],
    labels: Vec<String>,
    counts: &[Vec<u64>],
) -> Markup {
    let rows = labels.iter().enumerate().rev().map(|(row, label)| {
        let cells: Vec<u64> = counts.iter().map(|slot| slot[row]).collect();
        fields! { label: label.clone(), cells: cells }
    });
    let chart = fields! {
        map: title,
        by: by,
        columns: columns,
        rows: rows.collect::<Vec<_>>(),
    };
    charts::card(title, &chart)
}

/// The charts of arrivals next to what volumes let pass.
fn arrivals(beside: &LoadAndVolumes) -> Markup {
    html! {
        section id="arrivals" class="needs-script" {
            h2 { "Arrivals against volumes" }
            p class="lead" {
                "The most that comes within a window, a second, and what each volume lets pass in it \
                 after a rest. Where the load is above a volume, operations wait there."
            }
            @for (quantity, unit) in LoadAndVolumes::QUANTITIES { (arrival_card(beside, quantity, unit)) }
        }
    }
}

/// A chart of one quantity over the length of the window, with a line for the load and for each
/// volume.
fn arrival_card(beside: &LoadAndVolumes, quantity: Quantity, unit: &'static str) -> Markup {
    let scale = match quantity {
        Quantity::Operations => 1.0,
        Quantity::Bytes => MIB,
    };
    let point = |window: &Window, value: f64| DrawnPoint {
        x: window.window_ns as f64,
        y: six_figures(value / scale),
        at: format!("within {}", window_length(window)),
        text: format!("{} {unit}", shown_rate(value, quantity)),
        ..DrawnPoint::default()
    };
    let windows = beside.windows.iter();
    let load = windows
        .clone()
        .map(|window| point(window, LoadAndVolumes::load(window, quantity)));
    // The load has the first colour, and each volume the next one.
    let mut lines = vec![line(
        "the load",
        0,
        // The axis is logarithmic, and has no place for 0.
        load.filter(|point| point.y > 0.0).collect(),
    )];
    for (index, volume) in beside.volumes.iter().enumerate() {
        let points = windows.clone().enumerate().filter_map(|(place, window)| {
            Some(point(window, volume.rate(window, place, quantity)?))
        });
        lines.push(line(&volume.address, index + 1, points.collect()));
    }
    lines.retain(|line| !line.points.is_empty());
    let chart = LineChart {
        x: Axis {
            is_time: true,
            ..Axis::logarithmic("window")
        },
        y: Axis::logarithmic(unit),
        lines,
        directions: Vec::new(),
    };
    let label = format!(
        "{unit} by window, {}",
        plural(beside.windows.len(), "window")
    );
    charts::card(&label, &chart)
}
