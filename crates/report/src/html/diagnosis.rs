//! Delivered against documented on the page: limit by limit, then case by case.

use blocklab_compare::expect::{Compared, State};
use maud::{Markup, html};

use super::tables::{card, heads};
use crate::delivered::{
    CASE_TITLES, LIMIT_TITLES, case_cells, limit_cells, limit_words, outcome, row_name,
};

/// The section, before all else that the run has to say.
pub fn section(compared: &Compared) -> Markup {
    let limits = html! {
        @for limit in &compared.limits {
            (row(&row_name(&limit.limit, limit.target.as_ref()), &limit_cells(limit), class(limit.state), Some(limit_words(limit))))
        }
    };
    let cases = html! {
        @for case in &compared.cases { (row(&row_name(&case.case, case.target.as_ref()), &case_cells(case), "", None)) }
    };
    html! {
        section id="documented" {
            h2 { "Delivered against documented" }
            p class="lead" { (outcome(compared)) }
            (card("Limits", "", titles("limit", LIMIT_TITLES, Some("how, and by whom")), limits))
            (card("Cases", "", titles("case", CASE_TITLES, None), cases))
        }
    }
}

fn titles(first: &str, figures: [&str; 4], last: Option<&str>) -> Markup {
    let figures = figures.into_iter().map(|title| (title, "number"));
    let last = last.into_iter().map(|title| (title, ""));
    heads(
        &[(first, "")]
            .into_iter()
            .chain(figures)
            .chain(last)
            .collect::<Vec<_>>(),
    )
}

/// The last figure is the judgement, in its own class.
fn row(
    name: &str,
    [a, b, share, verdict]: &[String; 4],
    class: &str,
    words: Option<String>,
) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            @for figure in [a, b, share] { td class="number" { (figure) } }
            td class=(["number", class].join(" ").trim_end()) { (verdict) }
            @if let Some(words) = words { td class="wrap" { (words) } }
        }
    }
}

const fn class(state: State) -> &'static str {
    match state {
        State::Met => "better",
        State::Missed => "worse",
        State::Exceeded | State::Interrupted | State::Undecided | State::NotTested => "weak",
    }
}
