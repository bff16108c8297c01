//! What a reader wants to know first: the big numbers, and whether to believe them.

use blocklab_analysis::{Estimate, Row, RowDirection};
use blocklab_record::{Origin, Status};
use blocklab_units::{count, latency, rate};
use maud::{Markup, html};

use super::side::Side;
use super::verdict;
use crate::facts;

/// Title, verdict and the big numbers.
pub fn summary(sides: &[Side<'_>]) -> Markup {
    let alone = sides.len() == 1;
    html! {
        section id="summary" class=(if alone { "one" } else { "many" }) {
            @if let Some((study, _)) = sides.first().and_then(|side| side.part) {
                div class="study-head" {
                    h1 { (study) }
                    p class="lead" { (sides[0].record.asked.description) }
                }
            }
            div class="openings" {
              @for side in sides {
                div class="opening" {
                    p class="eyebrow" {
                        span class={ "badge " (side.record.origin.name()) } {
                            (side.record.origin.name())
                        }
                        @if side.record.status != Status::Complete {
                            span class="badge bad" { (facts::status(side.record.status)) }
                        }
                        time datetime=(side.record.started_at) {
                            (facts::moment(&side.record.started_at))
                        }
                        span { "run " code { (side.record.id) } }
                    }
                    (heading(side))
                    @if let Some(text) = unmeasured(side.record.origin) {
                        p class="unmeasured" { (text) " " a href="#model" { "What the model rests on" } }
                    }
                    (verdict::verdict(side))
                }
              }
            }
            (tiles(sides))
        }
    }
}

/// What it is: of a study the system, and below it what played it; else the target, and below it
/// what was run.
fn heading(side: &Side<'_>) -> Markup {
    let asked = &side.record.asked;
    html! {
        @if let Some((_, system)) = side.part {
            h2 class="system" { (side.swatch()) (system) }
            p class="lead address" { (subject(side)) }
        } @else {
            h1 { (side.swatch()) (subject(side)) }
            p class="lead" {
                b { (asked.name) }
                @if !asked.description.is_empty() { ": " (asked.description) }
            }
        }
    }
}

/// What must be known of figures that no device gave.
const fn unmeasured(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Measured => None,
        Origin::Imported => Some("Measured by another program: only what it printed is known."),
        Origin::Simulated => Some("Predicted by the device model, not measured."),
        Origin::Emulated => {
            Some("Paced by the device model in real time, not measured on a device.")
        }
    }
}

/// The device by its model where there is one, else the target's path.
fn subject(side: &Side<'_>) -> String {
    let device = side.record.targets.iter().flat_map(|t| &t.devices).next();
    if let Some(device) = device {
        let model = device.model.as_deref().map(str::trim).unwrap_or_default();
        let model = if model.is_empty() {
            device.transport.as_str()
        } else {
            model
        };
        return format!("{} · {model}", device.name);
    }
    let target = side.record.targets.first();
    target.map_or_else(
        || side.record.asked.name.clone(),
        |target| target.path.clone(),
    )
}

/// A big number: what it is, and what it shows of a row.
struct Tile {
    what: &'static str,
    /// The largest is the best; nothing where another program did not tell.
    rank: fn(&RowDirection) -> Option<f64>,
    show: fn(&RowDirection) -> (String, &'static str),
    beside: fn(&RowDirection) -> Option<String>,
}

const TILES: [Tile; 3] = [
    Tile {
        what: "throughput",
        rank: |d| Some(d.bytes_per_s.value),
        show: |d| (rate(d.bytes_per_s.value / 1e6), "MB/s"),
        beside: |d| spread(&d.bytes_per_s),
    },
    Tile {
        what: "rate",
        rank: |d| Some(d.iops.value),
        show: |d| (count(d.iops.value), "IOPS"),
        beside: |d| spread(&d.iops),
    },
    Tile {
        what: "latency, median",
        rank: |d| d.knows(0.5).then(|| -(d.service_ns.at("p50") as f64)),
        show: |d| split_latency(d.service_ns.at("p50")),
        beside: |d| {
            let p99 = facts::quantile(d, 0.99, d.service_ns.at("p99"));
            Some(format!("p99 {p99}"))
        },
    },
];

/// Number and unit apart, so that the unit can be set smaller.
fn split_latency(ns: u64) -> (String, &'static str) {
    let text = latency(ns as f64);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let unit = ["ns", "µs", "ms", "s"]
        .into_iter()
        .find(|known| *known == unit);
    (number.to_owned(), unit.unwrap_or_default())
}

fn spread(estimate: &Estimate) -> Option<String> {
    facts::half_width_percent(estimate)?;
    match facts::plus_minus(estimate) {
        few if few == facts::TOO_FEW => Some(few),
        percent => Some(format!("± {percent}")),
    }
}

/// The best row of each kind; of several records, each shows its own.
fn tiles(sides: &[Side<'_>]) -> Markup {
    let directions = [("read", "Read"), ("write", "Write"), ("trim", "Trim")];
    html! {
        div class="tiles" {
            @for (direction, name) in directions {
                @for tile in &TILES {
                    @let found = sides.iter().filter_map(|it| Some((it, best(it, direction, tile)?)));
                    @let found: Vec<_> = found.collect();
                    @if !found.is_empty() {
                        div class="tile" {
                            h3 { (name) " " (tile.what) }
                            @for (side, (row, direction)) in found {
                                @let (number, unit) = (tile.show)(direction);
                                p class="figure" {
                                    (side.swatch())
                                    span class="number" { (number) } " " span class="unit" { (unit) }
                                }
                                p class="source" { (source(side, row, direction, tile)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn best<'a>(
    side: &'a Side<'_>,
    direction: &str,
    tile: &Tile,
) -> Option<(&'a Row, &'a RowDirection)> {
    let rows = side.assessment.rows.iter();
    let all = rows.flat_map(|row| row.directions.iter().map(move |d| (row, d)));
    let known = all.filter(|(_, d)| d.direction.name() == direction && d.ios > 0);
    let ranked = known.filter_map(|it| Some(((tile.rank)(it.1)?, it)));
    let best = ranked.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, it)| it)
}

/// Which row it is, how sure, and whether a finding doubts it.
fn source(side: &Side<'_>, row: &Row, direction: &RowDirection, tile: &Tile) -> Markup {
    html! {
        span class="row" {
            (facts::label(row, direction))
            @if facts::is_doubted(&row.case, &side.assessment.findings) { (doubt()) }
        }
        @if let Some(text) = (tile.beside)(direction) { " " span class="beside" { (text) } }
    }
}

/// Leads from a figure to the finding that doubts it.
pub fn doubt() -> Markup {
    html! {
        a class="doubted" href="#findings" title="a finding doubts this figure" { "!" }
    }
}

/// Text in which what stands between backticks is code.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
