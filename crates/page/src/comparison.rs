//! The section of a comparison: for each run a chart and a table against the baseline.

use blocklab_compare::compare::{Against, Comparison, Contrast, Pair, Verdict};
use blocklab_findings::Assessment;
use blocklab_record::Record;
use maud::{Markup, html};
use serde::Serialize;

use super::charts;
use blocklab_report::document::Column;
use blocklab_report::document::tables::card;
use blocklab_report::fields;
use blocklab_report::words::versus;

/// The section, which opens the page.
pub fn section(comparison: &Comparison) -> Markup {
    html! {
        section id="comparison" {
            h2 class="unseen" { "Comparison" }
            @for (index, against) in comparison.against.iter().enumerate() {
                (forest(comparison, against))
                // What differs between the runs is the same for all of them.
                @if index == 0 { (differences(comparison)) }
                h3 { (versus::outcome(comparison, against)) }
                @if !against.pairs.is_empty() { (table(comparison, against)) }
            }
            (unmatched(comparison))
            p class="hint" { (versus::legend(comparison)) }
        }
    }
}

/// The title of the page: which runs are compared.
pub fn title(records: &[(&Record, &Assessment)], comparison: &Comparison) -> String {
    let name = |place: usize| {
        let record = records.get(place).map(|(record, _)| *record);
        let name = record.map_or("", |record| record.requested.name.as_str());
        format!("{} ({name})", versus::letter(place))
    };
    let others: Vec<String> = comparison.against.iter().map(|one| name(one.run)).collect();
    match &others[..] {
        [other] => format!("{other} against {}", name(comparison.baseline)),
        all => format!("{} runs against {}", all.len(), name(comparison.baseline)),
    }
}

/// What differs between the runs besides their figures.
fn differences(comparison: &Comparison) -> Markup {
    html! {
        @for difference in &comparison.differences {
            p class={ "verdict " (if difference.warning.is_some() { "doubt" } else { "plain" }) } {
                (versus::difference(difference))
            }
        }
    }
}

/// A ratio as the chart shows it. To the right is faster in every row, so the ratio of a latency is
/// inverted.
fn drawn(contrast: &Contrast) -> Option<impl Serialize + use<>> {
    let ratio = contrast.ratio.filter(|ratio| *ratio > 0.0)?;
    let is_time = contrast.quantity.is_latency();
    let speed = |ratio: f64| if is_time { 1.0 / ratio } else { ratio };
    let ends = [contrast.ci95_low, contrast.ci95_high].map(|end| end.map(speed));
    // Inverting swaps the ends of the interval.
    let [low, high] = if is_time { [ends[1], ends[0]] } else { ends };
    Some(fields! {
        name: contrast.quantity.label(),
        verdict: versus::verdict(contrast.verdict),
        ratio: speed(ratio),
        low: low,
        high: high,
        times: format!("{}×", versus::times(speed(ratio))),
    })
}

/// The chart of ratios, a row for each load: its rate, and below it its p99. Loads that changed
/// come first.
fn forest(comparison: &Comparison, against: &Against) -> Markup {
    let other = versus::letter(against.run);
    let pairs = versus::changed_first(against);
    let rows: Vec<_> = pairs
        .iter()
        .filter_map(|pair| {
            let contrast = pair.headline()?;
            let tail = pair
                .contrasts
                .iter()
                .find(|contrast| contrast.quantity.label() == "p99");
            let figures = versus::titles(comparison, against);
            let cells = versus::cells(contrast);
            // Without the last cell, the verdict, which the row shows by its colour.
            let details = figures.into_iter().zip(cells).take(4);
            Some(fields! {
                label: versus::name(pair),
                #[serde(flatten)]
                headline: drawn(contrast)?,
                tail: tail.and_then(drawn),
                details: details.collect::<Vec<_>>(),
            })
        })
        .collect();
    let title = versus::title(comparison, against);
    let data = fields! {
        title: title.clone(),
        margin: comparison.at_least_percent,
        sides: [format!("← {other} is slower"), format!("{other} is faster →")],
        rows: &rows,
    };
    html! { @if !rows.is_empty() { (charts::card(&title, &data)) } }
}

/// The table of all figures of all loads.
fn table(comparison: &Comparison, against: &Against) -> Markup {
    let titles = versus::titles(comparison, against);
    let mut columns = vec![Column::words("load"), Column::words("figure")];
    columns.extend(titles.map(Column::figure));
    let rows = html! {
        @for pair in versus::changed_first(against) {
            @for (index, contrast) in pair.contrasts.iter().enumerate() {
                (row(comparison, pair, contrast, index == 0))
            }
        }
    };
    card(&versus::title(comparison, against), &columns, rows)
}

/// A row for a figure. The first one of a load has the heading of all its rows.
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
            @if first {
                th scope="rowgroup" rowspan=(pair.contrasts.len()) title=(pair.what) {
                    (versus::name(pair))
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

/// The loads that were not compared, folded.
fn unmatched(comparison: &Comparison) -> Markup {
    let loads = versus::not_compared(comparison);
    html! {
        @if !loads.is_empty() {
            details class="infos" {
                summary { (loads.len()) " not compared" }
                ul {
                    @for load in &loads { li { (load) } }
                }
            }
        }
    }
}
