//! A repeated study on the page: the author's tables, the charts, what was concluded.

mod axis;
mod bars;
mod lines;

use blocklab_analysis::study::{Drawing, Judged, Outcome, Party, Plot, Table, Verdict};
use maud::{Markup, html};

use crate::shown::{self, columns};

/// The section, before all else that the runs have to say.
pub fn section(outcome: &Outcome) -> Markup {
    html! {
        section id="study" {
            h2 { "The study" }
            @if !outcome.source.is_empty() {
                p class="lead" { "Published figures: " (outcome.source) }
            }
            @if let Some(near) = &outcome.nearness {
                p class="verdict plain" { (shown::nearness(near)) }
            }
            (systems(outcome))
            @for remark in &outcome.remarks { p class="hint" { (remark) } }
            (preparation(outcome))
            (conclusions(outcome))
            @for it in &outcome.tables { (table(it)) }
            @for it in &outcome.plots { (plot(it)) }
        }
    }
}

fn systems(outcome: &Outcome) -> Markup {
    html! {
        div class="card flush" {
            div class="scroll" tabindex="0" role="region" aria-label="Systems" {
                table class="numbers" {
                    thead { tr {
                        th scope="col" { "system" }
                        th scope="col" { "played by" }
                        th scope="col" { "run" }
                        th scope="col" { "price" }
                    } }
                    tbody { @for party in &outcome.systems { (system(party)) } }
                }
            }
        }
    }
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

fn preparation(outcome: &Outcome) -> Markup {
    html! {
        @if !outcome.preparation.is_empty() {
            details class="infos" {
                summary { "How the author prepared it" }
                ol { @for step in &outcome.preparation { li { (step) } } }
            }
        }
    }
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
        Verdict::Corrected => "mark-corrected",
        Verdict::NotTestable => "mark-open",
    };
    html! {
        li {
            span class={ "badge " (class) } { (shown::verdict(judged.verdict)) } " "
            span class="said" { (judged.text) }
            @for reason in &judged.reasons { p class="reason" { (reason) } }
            @let by = shown::by_published(judged);
            @if !by.is_empty() { p class="reason" { (by) } }
            @if !judged.because.is_empty() { p class="reason" { (judged.because) } }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        h3 { (table.title) }
        @match table.drawing {
            Drawing::Lines => (lines::of_table(table)),
            Drawing::Bars => (bars::of_table(table)),
            Drawing::No => {},
        }
        div class="card flush" {
            div class="scroll" tabindex="0" role="region" aria-label=(table.title) {
                (figures(table))
            }
        }
        @for column in 0..table.columns.len() {
            @if let Some(text) = shown::saturation(table, column) { p class="hint" { (text) } }
        }
        @if !table.note.is_empty() { p class="hint" { (table.note) } }
    }
}

fn figures(table: &Table) -> Markup {
    let columns = columns(table);
    html! {
        table class="numbers" {
            thead { tr {
                th scope="col" { (table.corner) }
                @for column in &columns {
                    th scope="col" class="number" { (table.columns[column.index]) }
                    @if column.is_published {
                        th scope="col" class="number weak" { "published" }
                    }
                    @if column.differs {
                        th scope="col" class="number weak" { "difference" }
                    }
                }
            } }
            tbody {
                @for (index, name) in table.rows.iter().enumerate() {
                    tr {
                        th scope="row" { (name) }
                        @for column in &columns {
                            @let entry = table.cells[index][column.index].as_ref();
                            td class="number" title=(entry.map(shown::certainty).unwrap_or_default()) {
                                (shown::ours(entry))
                            }
                            @if column.is_published {
                                td class="number weak" { (shown::published(entry)) }
                            }
                            @if column.differs {
                                td class="number weak" { (shown::difference(entry)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The curves of a run by itself.
pub fn curves(plot: &Plot) -> Markup {
    html! {
        section id="curve" {
            h2 { (plot.title) }
            (picture_of(plot))
        }
    }
}

fn plot(plot: &Plot) -> Markup {
    html! {
        h3 { (plot.title) }
        (picture_of(plot))
    }
}

fn picture_of(plot: &Plot) -> Markup {
    html! {
        (lines::of_plot(plot))
        @for line in &plot.lines { p class="hint" { (shown::line(plot, line)) } }
        @if !plot.note.is_empty() { p class="hint" { (plot.note) } }
    }
}
