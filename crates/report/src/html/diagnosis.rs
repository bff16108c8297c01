//! Delivered against documented on the page: limit by limit, then case by case.

use blocklab_analysis::expect::{Compared, State};
use maud::{Markup, html};

use crate::delivered::{CASE_TITLES, LIMIT_TITLES, case_cells, limit_cells, limit_words, outcome};

/// The section, before all else that the run has to say.
pub fn section(compared: &Compared) -> Markup {
    html! {
        section id="documented" {
            h2 { "Delivered against documented" }
            p class="lead" { (outcome(compared)) }
            div class="card flush" {
                div class="scroll" tabindex="0" role="region" aria-label="Limits" {
                    table class="numbers" {
                        (head("limit", LIMIT_TITLES, "how, and by whom"))
                        tbody {
                            @for limit in &compared.limits {
                                @let [value, delivered, share, verdict] = limit_cells(limit);
                                tr {
                                    th scope="row" { (limit.limit) }
                                    td class="number" { (value) }
                                    td class="number" { (delivered) }
                                    td class="number" { (share) }
                                    td class={ "number " (class(limit.state)) } { (verdict) }
                                    td class="wrap" { (limit_words(limit)) }
                                }
                            }
                        }
                    }
                }
            }
            div class="card flush" {
                div class="scroll" tabindex="0" role="region" aria-label="Cases" {
                    table class="numbers" {
                        (head("case", CASE_TITLES, ""))
                        tbody {
                            @for case in &compared.cases {
                                @let [delivered, expected, share, why] = case_cells(case);
                                tr {
                                    th scope="row" { (case.case) }
                                    td class="number" { (delivered) }
                                    td class="number" { (expected) }
                                    td class="number" { (share) }
                                    td class="number" { (why) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn head(first: &str, titles: [&str; 4], last: &str) -> Markup {
    html! {
        thead { tr {
            th scope="col" { (first) }
            @for title in titles { th scope="col" class="number" { (title) } }
            @if !last.is_empty() { th scope="col" { (last) } }
        } }
    }
}

const fn class(state: State) -> &'static str {
    match state {
        State::Met => "better",
        State::Missed => "worse",
        State::Exceeded | State::NotTested => "weak",
    }
}
