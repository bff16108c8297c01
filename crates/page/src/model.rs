//! The section on modelled devices: their limits, with evidence, and their assumptions.

use blocklab_device::Limit;
use blocklab_record::TargetFacts;
use maud::{Markup, html};

use super::side::{self, Side, by_key, names_unless_all};
use blocklab_report::document::Column;
use blocklab_report::document::html::prose;
use blocklab_report::document::tables::{card_of_class, heads};
use blocklab_report::words::model;

/// Whether any run has a modelled device.
pub fn any(sides: &[Side<'_>]) -> bool {
    sides.iter().any(is_modelled)
}

/// Whether a run has a modelled device.
pub fn is_modelled(side: &Side<'_>) -> bool {
    model::targets(side.record).next().is_some()
}

/// The section; empty without a modelled device.
pub fn section(sides: &[Side<'_>]) -> Markup {
    html! {
        @if any(sides) {
            section id="model" {
                h2 { "The model" }
                @if side::shown_together(sides) { (of_many(sides)) }
                @for side in sides.iter().filter(|_| !side::shown_together(sides)) {
                    @let targets: Vec<_> = model::targets(side.record).collect();
                    @if !targets.is_empty() {
                        (side.title())
                        p class="lead" { (model::meaning(side.record.origin)) }
                    }
                    @for target in &targets {
                        (device(side, target))
                    }
                }
            }
        }
    }
}

/// A modelled device: its assumptions, its limits, and, folded, the bounds of what may be bought.
fn device(side: &Side<'_>, target: &TargetFacts) -> Markup {
    let named = |what: &str| side.unique_name(&format!("{what} of {}", target.path));
    let (bounds, limits): (Vec<&Limit>, Vec<&Limit>) =
        target.limits.iter().partition(|limit| limit.is_bound());
    html! {
        p class="device" {
            code { (target.path) }
            @if target.size_bytes.0 > 0 { " " span class="muted" { (target.size_bytes) } }
        }
        @if !target.assumptions.is_empty() {
            ul class="card assumptions" {
                @for sentence in &target.assumptions {
                    li {
                        span class="badge assumed" { "assumed" } " "
                        (prose(&model::assumption(sentence)))
                    }
                }
            }
        }
        @if !limits.is_empty() { (table(&named("Limits"), &limits)) }
        @if !bounds.is_empty() {
            details class="bounds" {
                summary { "Bounds of what may be bought, which held nothing back here" }
                (table(&named("Bounds"), &bounds))
            }
        }
    }
}

/// The table of some limits of one device.
fn table(name: &str, limits: &[&Limit]) -> Markup {
    let columns = [
        Column::words("limit"),
        Column::figure("value"),
        Column::words("how it is known"),
        Column::words("date"),
    ];
    let rows = html! { @for limit in limits { (row(limit)) } };
    card_of_class(name, "limits", heads(&columns), rows)
}

/// A limit: its name, its value, how it is known with the source, and the date of that.
fn row(limit: &Limit) -> Markup {
    // How it is known, `documented` for one, is also the class of its badge.
    let how = limit.origin.how();
    let (source, date) = model::source(limit);
    html! {
        tr {
            th scope="row" { (limit.name.to_string()) }
            td class="number" { (model::value(limit)) }
            td class="source-text" {
                span class={ "badge " (how) } { (how) } " " (source)
            }
            td class="date" { (date.unwrap_or("–")) }
        }
    }
}

/// The models of many runs: every assumption and every limit once, with the systems that have it.
fn of_many(sides: &[Side<'_>]) -> Markup {
    let targets = || {
        let all = sides.iter();
        all.flat_map(|side| model::targets(side.record).map(move |target| (target, side)))
    };
    let meanings = by_key(targets().map(|(_, side)| (model::meaning(side.record.origin), side)));
    let assumed = targets().flat_map(|(target, side)| {
        let all = target.assumptions.iter();
        all.map(move |sentence| (model::assumption(sentence), side))
    });
    let assumed = by_key(assumed);
    let limits = targets().flat_map(|(target, side): (&TargetFacts, _)| {
        target.limits.iter().map(move |limit| (limit, side))
    });
    let (bounds, limits): (Vec<_>, Vec<_>) = by_key(limits)
        .into_iter()
        .partition(|(limit, _)| limit.is_bound());
    let all = sides.len();
    html! {
        @for (text, members) in &meanings { p class="lead" { (text) (names_unless_all(members, all)) } }
        details class="infos" {
            summary { "What was assumed, and which limits were in force" }
            @if !assumed.is_empty() {
                ul class="card assumptions" {
                    @for (sentence, members) in &assumed {
                        li {
                            span class="badge assumed" { "assumed" } " "
                            (prose(sentence)) (names_unless_all(members, all))
                        }
                    }
                }
            }
            (limit_table("Limits", &limits, sides))
        }
        @if !bounds.is_empty() {
            details class="infos" {
                summary { "Bounds of what may be bought, which held nothing back here" }
                (limit_table("Bounds", &bounds, sides))
            }
        }
    }
}

/// A table of limits, each with those of `sides` that have it.
fn limit_table(name: &str, limits: &[(&Limit, Vec<&Side<'_>>)], sides: &[Side<'_>]) -> Markup {
    let all = sides.len();
    let noun = sides.first().map_or("run", Side::noun);
    let columns = [
        Column::words("limit"),
        Column::figure("value"),
        Column::words("how it is known"),
        Column::words(format!("{noun}s")),
    ];
    let rows = html! {
        @for (limit, members) in limits {
            @let (how, (what, date)) = (limit.origin.how(), model::source(limit));
            tr {
                th scope="row" { (limit.name.to_string()) }
                td class="number" { (model::value(limit)) }
                td class="source-text" {
                    span class={ "badge " (how) } { (how) } " " (what)
                    @if let Some(date) = date { ", " (date) }
                }
                td class="source-text" {
                    @if members.len() == all { "all" } @else { (names_unless_all(members, all)) }
                }
            }
        }
    };
    card_of_class(name, "limits", heads(&columns), rows)
}
