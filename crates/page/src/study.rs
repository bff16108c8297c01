//! A repeated study on the page: the author's tables, the charts, what was concluded.

use blocklab_compare::study::{Judged, Outcome, Party, Plot, Table, Verdict};
use maud::{Markup, html};

use super::played::Played;
use super::side::{self, Side};
use super::{charts, headline, systems};
use blocklab_report::document::tables::{card, heads};
use blocklab_report::words::facts;
use blocklab_report::words::shown::{self, columns, fixed};

/// More columns than this need smaller figures on paper.
const WIDE: usize = 13;
/// More curves than this stand three in a row.
const FEW_PLOTS: usize = 4;

/// The section, before all else that the runs have to say.
pub fn section(outcome: &Outcome, sides: &[Side<'_>]) -> Markup {
    let many = side::many(sides);
    let played = Played { sides, outcome };
    let record = |system: &str| played.record(system);
    html! {
        section id="study" {
            h2 class="unseen" { "The study" }
            (first_chart(&played))
            (conclusions(outcome))
            @if many { (systems::table(sides, Some(outcome))) (headline::tiles(sides)) }
            @else { (parties(outcome)) }
            @if !outcome.source.is_empty() {
                p class="lead" { "Published figures: " (outcome.source) }
            }
            @if let Some(near) = &outcome.nearness {
                p class="verdict plain" { (shown::nearness(near)) }
            }
            @if many { (folded("What stood for each system, and its price", &parties(outcome))) }
            @if !outcome.remarks.is_empty() {
                @let remarks = html! { @for remark in &outcome.remarks { p class="hint" { (remark) } } };
                (folded("Notes of the study", &remarks))
            }
            @if !outcome.preparation.is_empty() {
                @let steps = html! { ol { @for step in &outcome.preparation { li { (step) } } } };
                (folded("How the author prepared it", &steps))
            }
            @let first = drawn_first(outcome);
            @for (at, it) in outcome.tables.iter().enumerate() { (table(it, first != Some(at), &played)) }
            @let plots = outcome.plots.iter().skip(usize::from(first.is_none()));
            div class=(if outcome.plots.len() > FEW_PLOTS { "trio" } else { "pair" }) {
                @for it in plots { div { h3 { (it.title) } (plotted(it, &|_| None, &record)) } }
            }
        }
    }
}

/// The first of the author's tables that is a chart, too.
fn drawn_first(outcome: &Outcome) -> Option<usize> {
    let mut tables = outcome.tables.iter();
    tables.position(charts::is_drawn)
}

/// The chart of that table, or the first curve.
fn first_chart(played: &Played<'_>) -> Markup {
    let outcome = played.outcome;
    html! {
        @if let Some(first) = drawn_first(outcome).map(|at| &outcome.tables[at]) {
            h3 { (first.title) }
            div class="pair" { (charts::of_table(first, played)) }
        } @else if let Some(first) = outcome.plots.first() {
            h3 { (first.title) }
            (plotted(first, &|_| None, &|system| played.record(system)))
        }
    }
}

fn parties(outcome: &Outcome) -> Markup {
    let titles = ["system", "played by", "run", "price"].map(|title| (title, ""));
    let rows = html! { @for party in &outcome.systems { (system(party)) } };
    card("What played each system", "", heads(&titles), rows)
}

fn system(party: &Party) -> Markup {
    html! {
        tr {
            th scope="row" { (party.name) }
            td class="wrap" {
                (shown::played(party))
                @if !party.because.is_empty() { br; span class="muted" { (party.because) } }
            }
            td { @if let Some(run) = &party.run { code { (run) } } }
            td class="wrap" { (shown::hour(party)) }
        }
    }
}

fn folded(title: &str, content: &Markup) -> Markup {
    html! { details class="infos" { summary { (title) } (content) } }
}

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

/// `is_drawn`: whether its chart stands here, and not at the top already.
fn table(table: &Table, is_drawn: bool, played: &Played<'_>) -> Markup {
    html! {
        h3 { (table.title) }
        @if is_drawn { div class="pair" { (charts::of_table(table, played)) } }
        (figures(table))
        @for column in 0..table.columns.len() {
            @if let Some(text) = shown::saturation(table, column) { p class="hint" { (text) } }
        }
        @if !table.note.is_empty() { p class="hint" { (table.note) } }
    }
}

const fn class(is_ours: bool) -> &'static str {
    if is_ours { "number" } else { "number weak" }
}

fn figures(table: &Table) -> Markup {
    let columns = columns(table);
    let titles = columns
        .iter()
        .map(|column| (column.title, class(column.is_ours)));
    let titles: Vec<_> = [(&*table.corner, "")].into_iter().chain(titles).collect();
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
    let class = if titles.len() > WIDE { "wide" } else { "" };
    card(&table.title, class, heads(&titles), rows)
}

/// The curves of runs by themselves.
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

fn plotted(
    plot: &Plot,
    rank: &dyn Fn(&str) -> Option<f64>,
    record: &dyn Fn(&str) -> Option<usize>,
) -> Markup {
    let (x, y) = (plot.x.to_string(), plot.y.to_string());
    let titles = [
        ("curve", ""),
        (&*x, "number"),
        (&*y, "number"),
        ("beyond the peak", ""),
    ];
    let rows = html! {
        @for line in &plot.lines {
            @for point in &line.points {
                tr {
                    th scope="row" { (shown::line_name(plot, line)) }
                    td class="number" { (fixed(point.x, 0)) }
                    td class="number" { (fixed(point.y, 0)) }
                    td { @if point.past_peak { "overload" } }
                }
            }
        }
    };
    html! {
        (charts::of_plot(plot, rank, record))
        @if !plot.note.is_empty() { p class="hint" { (plot.note) } }
        details class="points" {
            summary { "Peaks, knees and points" }
            @for line in &plot.lines { p class="hint" { (shown::line(plot, line)) } }
            (card(&plot.title, "", heads(&titles), rows))
        }
    }
}
