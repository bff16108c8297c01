//! The section of a diagnosis: what was delivered of each documented limit, then case by case.

use blocklab_compare::expect::{Compared, LimitCheck, State};
use maud::{Markup, html};

use blocklab_report::document::Column;
use blocklab_report::document::tables::card;
use blocklab_report::words::delivered::{
    CASE_TITLES, LIMIT_TITLES, case_cells, limit_cells, limit_how, limit_words, outcome, row_name,
};

/// The section, which opens the page.
pub fn section(compared: &Compared) -> Markup {
    let limits = html! {
        @for limit in &compared.limits {
            @let name = row_name(&limit.limit, limit.target.as_ref());
            tr {
                (cells(&name, &limit_cells(limit), class(limit.state)))
                td class="wrap" { (limit_words(limit)) }
            }
        }
    };
    let cases = html! {
        @for case in &compared.cases {
            tr { (cells(&row_name(&case.case, case.target.as_ref()), &case_cells(case), "")) }
        }
    };
    let limit_columns = Column::named_and_words("limit", LIMIT_TITLES, "how, and by whom");
    html! {
        section id="documented" {
            h2 class="unseen" { "Delivered against documented" }
            (bullets(compared))
            p class="lead" { (outcome(compared)) }
            @if !compared.limits.is_empty() {
                details class="infos" {
                    summary { "Figures and sources of the limits" }
                    (card("Limits", &limit_columns, limits))
                }
            }
            @if !compared.cases.is_empty() {
                (card("Cases", &Column::named("case", CASE_TITLES), cases))
            }
        }
    }
}

/// A bullet chart with a row for each limit: the documented value in grey, the delivered one in
/// colour with its interval, and the verdict at the right. Missed limits come first.
fn bullets(compared: &Compared) -> Markup {
    let mut limits: Vec<&LimitCheck> = compared.limits.iter().collect();
    limits.sort_by_key(|limit| {
        use State::{Exceeded, Interrupted, Met, Missed, NotTested, Undecided};
        let order = [Missed, Exceeded, Interrupted, Undecided, Met, NotTested];
        order.into_iter().position(|state| state == limit.state)
    });
    html! {
        @if !limits.is_empty() {
            ul class="card bullets" {
                @for limit in limits { (bullet(limit)) }
            }
        }
    }
}

/// The row of a limit. Bars are drawn by their widths in per cent of the row.
fn bullet(limit: &LimitCheck) -> Markup {
    let ends = [limit.delivered_ci95_low, limit.delivered_ci95_high];
    let most = [Some(limit.value), limit.delivered, ends[1]]
        .into_iter()
        .flatten();
    // A little room at the right, so that the end of the longest bar is visible.
    let full = most.fold(0.0, f64::max) * 1.02;
    let share = |value: f64| format!("{:.3}%", (value / full * 100.0).clamp(0.0, 100.0));
    let [documented, delivered, part, verdict] = limit_cells(limit);
    html! {
        li class="bullet" {
            span class="name" { (row_name(&limit.limit, limit.target.as_ref())) }
            span class={ "word " (class(limit.state)) } { (verdict) }
            div class="track" aria-hidden="true" {
                span class="documented" data-value=(limit.value) style=(format!("width:{}", share(limit.value))) {}
                @if let Some(value) = limit.delivered {
                    span class={ "delivered " (class(limit.state)) } data-value=(value)
                        style=(format!("width:{}", share(value))) {}
                }
                @if let [Some(low), Some(high)] = ends {
                    @let width = (high - low) / full * 100.0;
                    span class="reach" style=(format!("left:{};width:{width:.3}%", share(low))) {}
                }
            }
            span class="figures" {
                @if limit.delivered.is_some() { (delivered) " of " (documented) " · " (part) }
                @else { (documented) @if !limit_how(limit).is_empty() { " · " (limit_how(limit)) } }
            }
        }
    }
}

/// The cells of a row of either table: its name, figures, and the verdict with its style class.
fn cells(name: &str, cells: &[String; 4], class: &str) -> Markup {
    let (verdict, figures) = cells.split_last().expect("four cells");
    html! {
        th scope="row" { (name) }
        @for figure in figures { td class="number" { (figure) } }
        td class=(["number", class].join(" ").trim_end()) { (verdict) }
    }
}

const fn class(state: State) -> &'static str {
    match state {
        State::Met => "better",
        State::Missed => "worse",
        State::Exceeded | State::Interrupted | State::Undecided | State::NotTested => "weak",
    }
}
