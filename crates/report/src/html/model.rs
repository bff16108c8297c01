//! The model: which device was asked in place of a real one, and what it rests on.

use blocklab_device::Limit;
use blocklab_record::TargetFacts;
use maud::{Markup, html};

use super::headline::prose;
use super::side::Side;
use crate::model;

/// Whether any Record has one.
pub fn any(sides: &[Side<'_>]) -> bool {
    let mut modelled = sides.iter().flat_map(|side| model::targets(side.record));
    modelled.next().is_some()
}

/// The modelled devices with their limits and assumptions; nothing where there is none.
pub fn section(sides: &[Side<'_>]) -> Markup {
    let alone = sides.len() == 1;
    html! {
        @if any(sides) {
            section id="model" {
                h2 { "The model" }
                @for side in sides {
                    @let targets: Vec<_> = model::targets(side.record).collect();
                    @if !alone && !targets.is_empty() {
                        h3 class="run-title" { (side.swatch(false)) (side.label) }
                    }
                    @if !targets.is_empty() {
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
    html! {
        div class="card flush" {
            div class="scroll" tabindex="0" role="region" aria-label=(name) {
                table class="numbers limits" {
                    thead { tr {
                        th scope="col" { "limit" }
                        th scope="col" class="number" { "value" }
                        th scope="col" { "how it is known" }
                        th scope="col" { "date" }
                    } }
                    tbody { @for limit in limits { (row(limit)) } }
                }
            }
        }
    }
}

fn row(limit: &Limit) -> Markup {
    let source = model::source(limit);
    html! {
        tr {
            th scope="row" { (limit.name.to_string()) }
            td class="number" { (model::value(limit)) }
            td class="source-text" {
                span class={ "badge " (source.how) } { (source.how) } " " (source.what)
            }
            td class="date" { (source.date.unwrap_or("–")) }
        }
    }
}
