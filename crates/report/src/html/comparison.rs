//! The comparison on the page: a table a run that is held against the baseline.

use blocklab_analysis::compare::{Against, Comparison, Contrast, Pair, Verdict};
use maud::{Markup, html};

use super::tables::{card, heads};
use crate::versus;

/// The section, before all else that the runs have to say.
pub fn section(comparison: &Comparison) -> Markup {
    html! {
        section id="comparison" {
            h2 { "Comparison" }
            p class="lead" { (versus::legend(comparison)) }
            @for difference in &comparison.differences {
                p class={ "verdict " (if difference.warning.is_some() { "doubt" } else { "plain" }) } {
                    (versus::difference(difference))
                }
            }
            @for against in &comparison.against {
                h3 { (versus::outcome(comparison, against)) }
                @if !against.pairs.is_empty() { (table(comparison, against)) }
                @if !against.unmatched.is_empty() { (unmatched(against)) }
            }
        }
    }
}

fn table(comparison: &Comparison, against: &Against) -> Markup {
    let titles = versus::titles(comparison, against);
    let figures = titles.iter().map(|title| (title.as_str(), "number"));
    let titles: Vec<_> = [("load", ""), ("figure", "")]
        .into_iter()
        .chain(figures)
        .collect();
    let rows = html! {
        @for pair in &against.pairs {
            @for (index, contrast) in pair.contrasts.iter().enumerate() {
                (row(comparison, pair, contrast, index == 0))
            }
        }
    };
    card("Comparison", "", heads(&titles), rows)
}

fn row(comparison: &Comparison, pair: &Pair, contrast: &Contrast, first: bool) -> Markup {
    let class = match contrast.verdict {
        Verdict::Faster => "number better",
        Verdict::Slower => "number worse",
        Verdict::NoDifference | Verdict::Negligible | Verdict::Unknown => "number weak",
    };
    let cells = versus::cells(contrast);
    let (verdict, figures) = cells.split_last().expect("a cell for every title");
    html! {
        tr {
            th scope="row" title=(pair.what) {
                @if first {
                    (pair.case)
                    @if let Some(other) = &pair.other_case { " = " (other) }
                    " " (pair.direction)
                    @for text in &pair.differs { br; span class="settings" { "! " (text) } }
                    @if let Some(could) = versus::could_show(comparison, pair) {
                        br; span class="settings" { (could) }
                    }
                }
            }
            td { (contrast.quantity.label()) }
            @for figure in figures { td class="number" { (figure) } }
            td class=(class) { (verdict) }
        }
    }
}

fn unmatched(against: &Against) -> Markup {
    html! {
        details class="infos" {
            summary { (against.unmatched.len()) " not compared" }
            ul {
                @for it in &against.unmatched {
                    li { (it.case) " " (it.direction) ", of " (versus::letter(it.run)) ": " (it.why) }
                }
            }
        }
    }
}
