//! The beginning of a page: the answer in one sentence, what was measured on what, and the big
//! numbers.

use blocklab_findings::{Estimate, Row, RowDirection};
use blocklab_record::{Origin, Status};
use blocklab_units::{latency_and_unit, plural};
use maud::{Markup, html};

use super::model;
use super::side::{self, Side, by_key, names_unless_all};
use blocklab_report::words::answer::{self, Answer};
use blocklab_report::words::facts;
use blocklab_report::words::versus;

/// The title of the page and the answer in one sentence.
pub fn top(sides: &[Side<'_>], title: &str, answer: Option<&Answer>) -> Markup {
    let alone = sides.len() == 1;
    html! {
        section id="summary" class=(if alone { "one" } else { "many" }) {
            @if let [side] = sides { (eyebrow(side)) }
            h1 { (title) }
            @if let Some(answer) = answer {
                p class={ "answer " (answer.tone.class()) } { (answer.text) }
            }
        }
    }
}

/// The title of a page: the study, or what was run on what.
pub fn title(sides: &[Side<'_>]) -> String {
    if let Some(part) = sides.first().and_then(|side| side.part) {
        return part.study.to_owned();
    }
    match sides {
        [side] => name(side),
        _ => format!("{} runs side by side", sides.len()),
    }
}

/// What was run on what, and the big numbers.
pub fn details(sides: &[Side<'_>]) -> Markup {
    let study = sides.first().filter(|side| side.part.is_some());
    html! {
        section id="about" class=(if sides.len() == 1 { "one" } else { "many" }) {
            @if let Some(side) = study {
                p class="lead" { (side.record.requested.description) }
            }
            @if side::shown_together(sides) { (unmeasured_many(sides)) } @else {
                div class="openings" { @for side in sides { (opening(side)) } }
                (tiles(sides))
            }
        }
    }
}

/// What a run is about. On a page of several runs it has a heading and an answer of its own.
fn opening(side: &Side<'_>) -> Markup {
    let requested = &side.record.requested;
    html! {
        div class="opening" {
            @if !side.alone {
                (eyebrow(side))
                h2 { (side.swatch()) (versus::letter(side.index)) ": " (name(side)) }
                @let answer = answer::run(side.record, side.assessment);
                p class={ "verdict " (answer.tone.class()) } { (answer.text) }
            }
            @if !requested.description.is_empty() { p class="lead" { (requested.description) } }
            (measured_on(side))
            @if let Some(note) = &side.record.note { p class="user-note" { (note) } }
            @if let Some(text) = unmeasured(side.record.origin) {
                p class="unmeasured" { (text) (model_link(&[side])) }
            }
            @if let Some(finding) = facts::good(&side.assessment.findings) {
                p class="hint" { (finding.statement) }
            }
        }
    }
}

/// The line above a title: origin, status, start and id.
fn eyebrow(side: &Side<'_>) -> Markup {
    html! {
        p class="eyebrow" {
            span class={ "badge " (side.record.origin.name()) } { (side.record.origin.name()) }
            @if side.record.status != Status::Complete {
                span class="badge bad" { (facts::word(side.record.status)) }
            }
            time datetime=(side.record.started_at) { (facts::moment(&side.record.started_at)) }
            span { "run " code { (side.record.id) } }
        }
    }
}

/// For many runs: the remarks on figures that no device gave, each once, and how runs ended that
/// did not end as planned.
fn unmeasured_many(sides: &[Side<'_>]) -> Markup {
    let sentences = sides
        .iter()
        .filter_map(|side| Some((unmeasured(side.record.origin)?, side)));
    html! {
        @for (text, members) in by_key(sentences) {
            p class="unmeasured" {
                (text) (model_link(&members)) (names_unless_all(&members, sides.len()))
            }
        }
        @for side in sides {
            @if let Some(ending) = facts::ending(side.record) {
                p class="verdict bad" { b { (side.name()) } ": " (ending) }
            }
            @if let Some(note) = &side.record.note {
                p class="user-note" { b { (side.name()) } ": " (note) }
            }
        }
    }
}

/// What was run on what.
fn name(side: &Side<'_>) -> String {
    let requested = &side.record.requested;
    if let Some(fleet) = &side.record.fleet {
        return format!(
            "{} on {}",
            requested.name,
            plural(fleet.hosts.len(), "host")
        );
    }
    match target(side) {
        Some(target) => format!("{} on {target}", requested.name),
        None => requested.name.clone(),
    }
}

/// The target as the user named it. The current folder says nothing to other readers, so its file
/// system is named instead.
fn target(side: &Side<'_>) -> Option<String> {
    let target = side.record.targets.first()?;
    let named = target.address.as_deref().unwrap_or(&target.path);
    let system = target.file_system.as_ref();
    let first = match system.filter(|_| [".", "./"].contains(&named)) {
        Some(system) => format!("{} at {}", system.kind, system.mount_point),
        None => named.to_owned(),
    };
    Some(match side.record.targets.len() - 1 {
        0 => first,
        others => format!("{first} and {others} more"),
    })
}

/// What was measured and with what.
fn measured_on(side: &Side<'_>) -> Markup {
    let kernel = &side.record.environment.kernel;
    let has_kernel = side.record.origin != Origin::Simulated && !kernel.is_empty();
    html! {
        dl class="measured-on" {
            @for (name, text) in facts::measured_on(side.record) { div { dt { (name) } dd { (text) } } }
            @if has_kernel { div { dt { "kernel" } dd { (kernel) } } }
        }
    }
}

/// What a reader must know of figures that no device gave; `None` for measured ones.
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

/// The link to the section of models; empty if none of the runs has one, as imported ones.
fn model_link(sides: &[&Side<'_>]) -> Markup {
    html! {
        @if sides.iter().any(|side| model::is_modelled(side)) {
            " " a href="#model" { "What the model rests on" }
        }
    }
}

/// A kind of big number.
pub struct Tile {
    /// Its name above the number.
    what: &'static str,
    /// Its title as a column of a table: usually the unit.
    brief: &'static str,
    /// Its rank among rows, the largest being the best; `None` if it is not known.
    rank: fn(&RowDirection) -> Option<f64>,
    /// The number and its unit.
    show: fn(&RowDirection) -> (String, &'static str),
    /// A remark next to it.
    aside: fn(&RowDirection) -> Option<String>,
}

const TILES: [Tile; 3] = [
    Tile {
        what: "throughput",
        brief: "MB/s",
        rank: |d| Some(d.bytes_per_s.value),
        show: |d| (facts::mb_per_s(d.bytes_per_s.value), "MB/s"),
        aside: |d| interval(&d.bytes_per_s),
    },
    Tile {
        what: "rate",
        brief: "IOPS",
        rank: |d| Some(d.iops.value),
        show: |d| (facts::iops(d.iops.value), "IOPS"),
        aside: |d| interval(&d.iops),
    },
    Tile {
        what: "latency, median",
        brief: "p50",
        rank: |d| facts::known_service_ns(d, "p50").map(|ns| -(ns as f64)),
        show: |d| latency_and_unit(d.service_ns.at("p50") as f64),
        aside: |d| Some(format!("p99 {}", facts::service_percentile(d, "p99"))),
    },
];

/// The interval of a rate: `± 1.2 %`.
fn interval(estimate: &Estimate) -> Option<String> {
    estimate.half_width_percent()?;
    let text = facts::plus_minus(estimate);
    if facts::has_too_few_passes(estimate) {
        Some(text)
    } else {
        Some(format!("± {text}"))
    }
}

/// A tile of one direction.
pub struct Shown {
    tile: &'static Tile,
    direction: &'static str,
}

impl Shown {
    /// Its title in a table: `read MB/s`.
    pub fn title(&self) -> String {
        format!("{} {}", self.direction, self.tile.brief)
    }

    /// The best figure of a run, as a table shows it. The unit is left out if it is the title.
    pub fn text(&self, side: &Side<'_>) -> String {
        let best = best(side, self.direction, self.tile);
        let shown = best.map(|(_, direction)| (self.tile.show)(direction));
        match shown {
            Some((number, unit)) if unit == self.tile.brief => number,
            Some((number, unit)) => format!("{number} {unit}"),
            None => "–".to_owned(),
        }
    }
}

/// The tiles for which any run has a figure.
pub fn tiles_shown(sides: &[Side<'_>]) -> Vec<Shown> {
    let directions = ["read", "write", "trim"].into_iter();
    let all = directions.flat_map(|direction| TILES.iter().map(move |tile| (direction, tile)));
    let mut shown = Vec::new();
    for (direction, tile) in all {
        let mut best = sides.iter().filter_map(|side| best(side, direction, tile));
        if best.next().is_some() {
            shown.push(Shown { tile, direction });
        }
    }
    shown
}

/// A tile for each kind and direction, with the best row of a run. Several runs show the same case;
/// many runs show only the best and the worst of them.
pub fn tiles(sides: &[Side<'_>]) -> Markup {
    html! {
        div class="tiles" {
            @for Shown { tile, direction } in tiles_shown(sides) {
                div class="tile" {
                    h2 { (capital(direction)) " " (tile.what) }
                    @for (side, (row, direction)) in figures(sides, direction, tile) {
                        @let (number, unit) = (tile.show)(direction);
                        p class="figure" {
                            (side.swatch())
                            span class="number" { (number) } " " span class="unit" { (unit) }
                        }
                        p class="source" {
                            @if !side.alone { b { (side.brief()) } " " }
                            (source(side, row, direction, tile))
                        }
                    }
                }
            }
        }
    }
}

fn capital(direction: &str) -> &'static str {
    match direction {
        "read" => "Read",
        "write" => "Write",
        _ => "Trim",
    }
}

/// A row and one of its directions.
type Found<'a> = (&'a Row, &'a RowDirection);

/// The figures of a tile, each with its run.
fn figures<'a>(
    sides: &'a [Side<'a>],
    direction: &str,
    tile: &Tile,
) -> Vec<(&'a Side<'a>, Found<'a>)> {
    let own = sides
        .iter()
        .filter_map(|side| Some((side, best(side, direction, tile)?)));
    let mut own: Vec<_> = own.collect();
    let rank = |direction: &RowDirection| (tile.rank)(direction).unwrap_or(f64::NEG_INFINITY);
    if side::is_many(sides.len()) {
        own.sort_by(|(_, (_, a)), (_, (_, b))| rank(b).total_cmp(&rank(a)));
        // The best and the worst stay.
        if own.len() > 2 {
            own.drain(1..own.len() - 1);
        }
        return own;
    }
    // The best cases of two runs may be different ones, which would look like a difference between
    // the runs: all show the same case, if they have it.
    let cases = own.iter().map(|(_, (row, _))| &row.case);
    let shared = cases.max_by(|a, b| {
        let [a, b] = [a, b].map(|case| closeness(&own, case, direction, tile));
        a.total_cmp(&b)
    });
    let Some(case) = shared.cloned() else {
        return own;
    };
    for (side, found) in &mut own {
        *found = in_case(side, &case, direction, tile).unwrap_or(*found);
    }
    own
}

/// How close a case comes to the best figure of each run: the smallest ratio of its figure to the
/// best one, at most 1. A case that is the best of one run by less than the noise may lie far below
/// the best of another run. 0 if a run does not have the case.
fn closeness(own: &[(&Side<'_>, Found<'_>)], case: &str, direction: &str, tile: &Tile) -> f64 {
    let ratios = own.iter().map(|(side, best)| {
        let figure = in_case(side, case, direction, tile).and_then(|(_, moved)| (tile.rank)(moved));
        let most = (tile.rank)(best.1);
        match (figure, most) {
            // A latency ranks by its negative, so that its ratio is the inverse one.
            (Some(figure), Some(most)) if most < 0.0 => most / figure,
            (Some(figure), Some(most)) if most > 0.0 => figure / most,
            _ => 0.0,
        }
    });
    ratios.fold(1.0, f64::min)
}

/// The direction of a run's case, if it has a figure of this kind.
fn in_case<'a>(side: &'a Side<'_>, case: &str, direction: &str, tile: &Tile) -> Option<Found<'a>> {
    let row = side.assessment.rows.iter().find(|row| row.case == case)?;
    let mut all = row.directions.iter();
    let moved = all.find(|moved| moved.direction.name() == direction)?;
    (tile.rank)(moved).map(|_| (row, moved))
}

/// The row of a run with the best figure of this kind and direction.
fn best<'a>(side: &'a Side<'_>, direction: &str, tile: &Tile) -> Option<Found<'a>> {
    let all = side.assessment.directions();
    let known = all.filter(|(_, d)| d.direction.name() == direction && d.ios > 0);
    let ranked = known.filter_map(|(row, direction)| {
        let rank = (tile.rank)(direction)?;
        Some((rank, (row, direction)))
    });
    let best = ranked.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, found)| found)
}

/// The row of a figure, its remark, and the mark of a finding that doubts it.
fn source(side: &Side<'_>, row: &Row, direction: &RowDirection, tile: &Tile) -> Markup {
    html! {
        span class="row" {
            (facts::label(row, direction))
            @if facts::is_doubted(&row.case, &side.assessment.findings) { (doubt()) }
        }
        @if let Some(text) = (tile.aside)(direction) { " " span class="beside" { (text) } }
    }
}

/// The mark of a figure that a finding doubts, which links to the findings.
pub fn doubt() -> Markup {
    html! {
        a class="doubted" href="#findings" title="a finding doubts this figure" { "!" }
    }
}
