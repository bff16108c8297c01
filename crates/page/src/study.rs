//! The section of a repeated study: its charts, its conclusions, and the author's tables.

use blocklab_compare::study::{Judged, Outcome, Plot, StudySystem, Table, Verdict};
use maud::{Markup, html};

use super::side::{self, Side};
use super::study_runs::StudyRuns;
use super::{charts, headline, systems};
use blocklab_report::document::Column;
use blocklab_report::document::html::prose;
use blocklab_report::document::tables::{card, card_of_class, head};
use blocklab_report::words::facts;
use blocklab_report::words::shown::{self, columns, coordinate};

/// A table of more columns than this has smaller letters on paper.
const WIDE: usize = 13;
/// More plots than this are shown three in a row.
const FEW_PLOTS: usize = 4;

/// The section of a study, which opens the page. `sides`: its runs.
pub fn section(outcome: &Outcome, sides: &[Side<'_>]) -> Markup {
    let shares_tables = side::shown_together(sides);
    let runs = StudyRuns { sides, outcome };
    let record = |system: &str| runs.record(system);
    html! {
        section id="study" {
            h2 class="unseen" { "The study" }
            (first_chart(&runs))
            (conclusions(outcome))
            // Where the runs share a table of their figures, that opens, and the origins are folded below.
            @if shares_tables { (systems::table(sides, Some(outcome))) (headline::tiles(sides)) }
            @else { (parties(outcome)) }
            @if !outcome.source.is_empty() {
                p class="lead" { "Published figures: " (outcome.source) }
            }
            @if let Some(near) = &outcome.nearness {
                p class="verdict plain" { (shown::nearness(near)) }
            }
            @if shares_tables { (folded("Where the figures of each system come from, and its price", &parties(outcome))) }
            @if !outcome.remarks.is_empty() {
                @let remarks = html! { @for remark in &outcome.remarks { p class="hint" { (remark) } } };
                (folded("Notes of the study", &remarks))
            }
            @if !outcome.preparation.is_empty() {
                @let steps = html! { ol { @for step in &outcome.preparation { li { (step) } } } };
                (folded("How the author prepared it", &steps))
            }
            // What opened the section is not drawn again.
            @let first = first_drawn(outcome);
            @for (at, of_author) in outcome.tables.iter().enumerate() {
                (table(of_author, first != Some(at), &runs))
            }
            @let plots = outcome.plots.iter().skip(usize::from(first.is_none()));
            div class=(if outcome.plots.len() > FEW_PLOTS { "trio" } else { "pair" }) {
                @for plot in plots { div { h3 { (plot.title) } (plotted(plot, &|_| None, &record)) } }
            }
        }
    }
}

/// Index of the first table that has a chart.
fn first_drawn(outcome: &Outcome) -> Option<usize> {
    let mut tables = outcome.tables.iter();
    tables.position(charts::is_drawn)
}

/// The chart that opens the section: that of the first table with one, else the first plot.
fn first_chart(runs: &StudyRuns<'_>) -> Markup {
    let outcome = runs.outcome;
    html! {
        @if let Some(first) = first_drawn(outcome).map(|at| &outcome.tables[at]) {
            h3 class="needs-script" { (first.title) }
            div class="pair" { (charts::table_chart(first, runs)) }
        } @else if let Some(first) = outcome.plots.first() {
            h3 { (first.title) }
            (plotted(first, &|_| None, &|system| runs.record(system)))
        }
    }
}

/// The table of systems: where the figures of each come from, and its price.
fn parties(outcome: &Outcome) -> Markup {
    let columns = ["system", "figures from", "run", "price"].map(Column::words);
    let rows = html! { @for system in &outcome.systems { (system_row(system)) } };
    card("Where the figures of each system come from", &columns, rows)
}

/// A row of that table.
fn system_row(system: &StudySystem) -> Markup {
    html! {
        tr {
            th scope="row" { (system.name) }
            td class="wrap" {
                (shown::figures_from(system))
                @if !system.because.is_empty() { br; span class="muted" { (system.because) } }
            }
            td { @if let Some(run) = &system.run { code { (run) } } }
            td class="wrap" { (shown::hourly_price(system)) }
        }
    }
}

fn folded(title: &str, content: &Markup) -> Markup {
    html! { details class="infos" { summary { (title) } (content) } }
}

/// The conclusions of the study, each with its verdict.
fn conclusions(outcome: &Outcome) -> Markup {
    html! {
        @if !outcome.conclusions.is_empty() {
            h3 { "What was concluded: " (shown::tally(outcome)) }
            ul class="card conclusions" {
                @for judged in &outcome.conclusions { (conclusion(judged)) }
            }
            @if shown::is_modelled(outcome) { p class="hint" { (shown::MODELLED) } }
        }
    }
}

/// A conclusion with its verdict; the reasons are folded.
fn conclusion(judged: &Judged) -> Markup {
    let class = match judged.verdict {
        Verdict::Confirmed => "mark-confirmed",
        Verdict::Contradicted => "mark-contradicted",
        Verdict::TrueByConstruction | Verdict::NotTestable => "mark-open",
    };
    let by = shown::by_published(judged);
    let reasons = judged
        .reasons
        .iter()
        .map(String::as_str)
        .chain([by, &judged.because])
        .filter(|text| !text.is_empty());
    let reasons = html! { @for reason in reasons { p class="reason" { (reason) } } };
    html! {
        li {
            span class={ "badge " (class) } { (facts::word(judged.verdict)) } " "
            span class="said" { (judged.text) }
            @if !reasons.0.is_empty() {
                details class="why" { summary { "Why" } (reasons) }
            }
        }
    }
}

/// A table of the author. `is_drawn`: whether its chart is shown here; the first one opens the
/// section.
fn table(table: &Table, is_drawn: bool, runs: &StudyRuns<'_>) -> Markup {
    html! {
        h3 { (table.title) }
        @if is_drawn { div class="pair" { (charts::table_chart(table, runs)) } }
        (figures(table))
        @for column in 0..table.columns.len() {
            @if let Some(text) = shown::saturation(table, column) { p class="hint" { (text) } }
        }
        @if !table.note.is_empty() { p class="hint" { (prose(&table.note)) } }
    }
}

const fn class(is_ours: bool) -> &'static str {
    if is_ours { "number" } else { "number weak" }
}

/// The table itself.
fn figures(table: &Table) -> Markup {
    let columns = columns(table);
    let titles = html! {
        (head(&table.corner, ""))
        @for column in &columns { (head(column.title, class(column.is_ours))) }
    };
    let rows = html! {
        @for (name, cells) in table.rows.iter().zip(&table.cells) {
            tr {
                th scope="row" { (name) }
                @for column in &columns {
                    @let entry = cells[column.index].as_ref();
                    @let certainty = entry.filter(|_| column.is_ours).map(shown::certainty);
                    td class=(class(column.is_ours)) title=[certainty] { ((column.text)(entry)) }
                }
            }
        }
    };
    // The column of names counts, too.
    let is_wide = columns.len() + 1 > WIDE;
    let class = if is_wide { "wide" } else { "" };
    card_of_class(&table.title, class, titles, rows)
}

/// The section of the curves of runs, outside of a study. `rank` and `record` as in
/// [`charts::plot_chart`].
pub fn curves(
    plot: &Plot,
    rank: &dyn Fn(&str) -> Option<f64>,
    record: &dyn Fn(&str) -> Option<usize>,
) -> Markup {
    html! {
        section id="curve" {
            h2 { (plot.title) }
            (plotted(plot, rank, record))
        }
    }
}

/// A plot: its chart, its note, and its points as a table. `rank` and `record` as in
/// [`charts::plot_chart`].
fn plotted(
    plot: &Plot,
    rank: &dyn Fn(&str) -> Option<f64>,
    record: &dyn Fn(&str) -> Option<usize>,
) -> Markup {
    let columns = [
        Column::words("curve"),
        Column::figure(plot.x.to_string()),
        Column::figure(plot.y.to_string()),
        Column::words("beyond the peak"),
    ];
    let rows = html! {
        @for line in &plot.lines {
            @for point in &line.points {
                tr {
                    th scope="row" { (shown::line_name(plot, line)) }
                    td class="number" { (coordinate(point.x)) }
                    td class="number" { (coordinate(point.y)) }
                    td { @if point.past_peak { "overload" } }
                }
            }
        }
    };
    html! {
        (charts::plot_chart(plot, rank, record))
        @if !plot.note.is_empty() { p class="hint" { (plot.note) } }
        details class="points" {
            summary { "Peaks, knees and points" }
            @for line in &plot.lines { p class="hint" { (shown::line(plot, line)) } }
            (card(&plot.title, &columns, rows))
        }
    }
}
