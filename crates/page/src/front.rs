//! In: an advice. Out: its page: the Document of the advice, with a chart of price against latency
//! below the answer.

use blocklab_advice::{Advice, Point};
use blocklab_report::document::head;
use blocklab_report::document::html::parts;
use blocklab_report::fields;
use blocklab_report::views;
use blocklab_units::latency;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::charts;
use super::frame::{STYLE, lines_script};

/// The page of an advice: the answer, the chart, and the rest of its Document.
pub fn page(advice: &Advice) -> String {
    let document = views::advice(advice);
    // The first part of the Document is the answer.
    let (answer, others) = document.parts.split_at(1);
    let body = html! {
        main id="main" class="document" {
            (parts(answer, &document.name))
            @if !advice.front.is_empty() { (chart(advice)) }
            (parts(others, &document.name))
        }
        @if !advice.front.is_empty() {
            script type="application/json" id="data" { (charts::embedded(&data(advice))) }
            script { (PreEscaped(lines_script(include_str!("../assets/js/front.js")))) }
        }
    };
    head::page(&format!("{} – blocklab", document.name), STYLE, &body).into_string() + "\n"
}

/// The place of the chart, with its legend.
fn chart(advice: &Advice) -> Markup {
    html! {
        section id="front" class="needs-script" {
            h2 { "Price against latency" }
            div class="card study-chart front-chart" data-label="Price against latency" {
                div class="front-keys" {
                    span class="key" { span class="key-ring" {} "advised" }
                    span class="key" { span class="key-dot front-dot" {} "nothing is cheaper and quicker" }
                    @if !advice.beside.is_empty() {
                        span class="key" { span class="key-dot hollow" {} "under other terms, or next in price" }
                    }
                    @if advice.question.need.p99.is_some() {
                        span class="key" { span class="key-bound" {} "p99 that is needed" }
                    }
                }
            }
            p class="hint" {
                "The p99 of an operation that waits for nothing."
                @if advice.front.len() > 1 { " A table below has the points of the line." }
            }
        }
    }
}

/// The data of the chart, in the form that the script of pages expects.
fn data(advice: &Advice) -> impl Serialize {
    let advised = advice.chosen.first().and_then(|best| best.address());
    let points = |points: &[Point]| -> Vec<_> {
        let fields = points.iter().map(|point| {
            fields! {
                address: point.address.clone(),
                volume_type: point.volume_type.clone(),
                per_month: point.per_month,
                p99_ns: point.p99_ns,
                is_advised: advised.as_ref() == Some(&point.address),
                text: format!(
                    "{}, {} a month",
                    latency(point.p99_ns as f64),
                    views::money(Some(point.per_month), point.currency)
                ),
            }
        });
        fields.collect()
    };
    fields! {
        records: [fields! { id: "advice" }],
        limits: [0; 0],
        need_p99_ns: advice.question.need.p99.map(|p99| p99.0),
        currency: advice.front.first().map(|point| point.currency),
        front: points(&advice.front),
        beside: points(&advice.beside),
    }
}
