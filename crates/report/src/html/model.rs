//! The model: which device was asked in place of a real one, and what it rests on.

use blocklab_device::Limit;
use blocklab_record::TargetFacts;
use maud::{Markup, html};

use super::headline::prose;
use super::side::Side;
use super::tables::{card, heads};
use crate::model;

/// Whether any Record has one.
pub fn any(sides: &[Side<'_>]) -> bool {
    let mut modelled = sides.iter().flat_map(|side| model::targets(side.record));
    modelled.next().is_some()
}

/// The modelled devices with their limits and assumptions; nothing where there is none.
pub fn section(sides: &[Side<'_>]) -> Markup {
    html! {
        @if any(sides) {
            section id="model" {
                h2 { "The model" }
                @for side in sides {
                    @let targets: Vec<_> = model::targets(side.record).collect();
                    @if !targets.is_empty() {
                        (side.title())
                        p class="lead" { (model::meaning(side.record.origin)) }
                    }
                    @for target in &targets {
                        (device(target))
                    }
                }
            }
        }
    }
}

fn device(target: &TargetFacts) -> Markup {
    let of = |bound| -> Vec<&Limit> {
        target
            .limits
            .iter()
            .filter(|it| it.is_bound() == bound)
            .collect()
    };
    let (limits, bounds) = (of(false), of(true));
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
        @if !limits.is_empty() { (table("Limits", &limits)) }
        @if !bounds.is_empty() {
            details class="bounds" {
                summary { "Bounds of what may be bought, which held nothing back here" }
                (table("Bounds", &bounds))
            }
        }
    }
}

fn table(name: &str, limits: &[&Limit]) -> Markup {
    let titles = [
        ("limit", ""),
        ("value", "number"),
        ("how it is known", ""),
        ("date", ""),
    ];
    let rows = html! { @for limit in limits { (row(limit)) } };
    card(name, "limits", heads(&titles), rows)
}

fn row(limit: &Limit) -> Markup {
    let (how, (what, date)) = (limit.origin.how(), model::source(limit));
    html! {
        tr {
            th scope="row" { (limit.name.to_string()) }
            td class="number" { (model::value(limit)) }
            td class="source-text" {
                span class={ "badge " (how) } { (how) } " " (what)
            }
            td class="date" { (date.unwrap_or("–")) }
        }
    }
}
