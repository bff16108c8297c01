//! The section of findings: a statement for each, with its evidence folded.

use std::cmp::Reverse;

use blocklab_findings::{Finding, Severity};
use blocklab_units::plural;
use maud::{Markup, html};

use super::side::{self, Side, by_key, names_unless_all};
use blocklab_report::document::Column;
use blocklab_report::document::html::prose;
use blocklab_report::document::tables::scrolling;
use blocklab_report::words::evidence::Grid;
use blocklab_report::words::facts;

/// The most names of cases that follow a statement; its table has all of them.
const CHIPS: usize = 4;

/// The section. Findings that doubt a figure are a list; those that explain one are folded below
/// it. A good one is in the verdict already.
pub fn findings(sides: &[Side<'_>]) -> Markup {
    let severe = entries(sides, |severity| severity > Severity::Info);
    let infos = entries(sides, |severity| severity == Severity::Info);
    html! {
        @if !severe.is_empty() || !infos.is_empty() {
            section id="findings" {
                h2 { "Findings" }
                @if !severe.is_empty() {
                    ul class="findings" { @for entry in &severe { (entry) } }
                }
                @if !infos.is_empty() {
                    details class="infos" {
                        summary { (observations(infos.len(), severe.len())) }
                        ul class="findings" { @for entry in &infos { (entry) } }
                    }
                }
            }
        }
    }
}

/// The findings of these severities, an entry for each; of many runs an entry for each rule.
fn entries(sides: &[Side<'_>], wanted: fn(Severity) -> bool) -> Vec<Markup> {
    if side::shown_together(sides) {
        return by_rule(sides, wanted);
    }
    let all = sides.iter().flat_map(|side| {
        let findings = side.assessment.findings.iter();
        findings.map(move |finding| (side, finding))
    });
    all.filter(|(_, finding)| wanted(finding.severity))
        .map(|(side, finding)| entry(finding, side, &html! {}, &html! {}))
        .collect()
}

/// An entry for each rule and severity: one finding as the example, and the others folded below it.
fn by_rule(sides: &[Side<'_>], wanted: fn(Severity) -> bool) -> Vec<Markup> {
    let all = sides.iter().flat_map(|side| {
        let findings = side.assessment.findings.iter();
        findings.map(move |finding| ((finding.severity, finding.rule), (finding, side)))
    });
    let mut groups = by_key(all.filter(|((severity, _), _)| wanted(*severity)));
    groups.sort_by_key(|((severity, _), _)| Reverse(*severity));
    groups
        .iter()
        .map(|(_, members)| group(members, sides.len()))
        .collect()
}

/// The entry of findings of one rule. If all say the same, it names every system, else that of the
/// example.
fn group(members: &[(&Finding, &Side<'_>)], all: usize) -> Markup {
    let (first, side) = members[0];
    let statements = by_key(
        members
            .iter()
            .map(|(finding, side)| (finding.statement.as_str(), *side)),
    );
    let mut systems: Vec<&Side<'_>> = Vec::new();
    for (_, side) in members {
        if !systems.iter().any(|known| known.index == side.index) {
            systems.push(side);
        }
    }
    let more = html! {
        @if statements.len() > 1 {
            details class="evidence" {
                summary { "In " (systems.len()) " of " (plural(all, side.noun())) }
                ul {
                    @for (statement, members) in &statements {
                        li { (prose(statement)) (names_unless_all(members, all)) }
                    }
                }
            }
        }
    };
    // One statement of several systems names them all; several statements need the system of the example.
    let example = if statements.len() > 1 {
        &systems[..1]
    } else {
        &systems[..]
    };
    entry(first, side, &names_unless_all(example, all), &more)
}

/// Whether the section has any finding.
pub fn any(sides: &[Side<'_>]) -> bool {
    let mut all = sides.iter().flat_map(|side| &side.assessment.findings);
    all.any(|finding| finding.severity > Severity::Good)
}

/// The summary of folded findings: `3 more observations`.
fn observations(infos: usize, severe: usize) -> String {
    let more = if severe > 0 { "more " } else { "" };
    plural(infos, &format!("{more}observation"))
}

/// The entry of a finding. `names`: the systems that have it, empty if all do or each run has entries of
/// its own; `more`: what follows its advice.
fn entry(finding: &Finding, side: &Side<'_>, names: &Markup, more: &Markup) -> Markup {
    let severity = facts::word(finding.severity);
    let evidence = figures(finding, side);
    html! {
        li class={ "finding " (severity) } {
            p class="statement" {
                // In a study the entry is of every system that has the finding, not of this side alone.
                @if side.part.is_none() { (side.swatch()) }
                span class="severity" { (severity) }
                (prose(&finding.statement))
                (chips(finding, side))
                (names)
            }
            @if let Some(advice) = &finding.advice { p class="advice" { (prose(advice)) } }
            (more)
            details class="evidence" {
                // Without figures, only the rule and the confidence are folded here.
                @if evidence.0.is_empty() { summary { "Rule" } } @else {
                    summary { "Evidence" @if !names.0.is_empty() { " in " (side.name()) } }
                }
                (evidence)
                p class="confidence" {
                    (facts::confidence(finding.confidence)) " confidence · rule "
                    code { (finding.rule) }
                }
            }
        }
    }
}

/// The cases of a finding, unless its statement names them or it is about all of them.
fn chips(finding: &Finding, side: &Side<'_>) -> Markup {
    let unnamed = facts::unnamed(finding, side.assessment.rows.len());
    // One more takes no more room than the words "and 1 more".
    let shown = CHIPS + usize::from(unnamed.len() == CHIPS + 1);
    let more = unnamed.len().saturating_sub(shown);
    html! {
        @for case in unnamed.iter().take(shown) { " " span class="case" { (case) } }
        @if more > 0 { " " span class="more" { "and " (more) " more" } }
    }
}

/// The evidence of a finding.
fn figures(finding: &Finding, side: &Side<'_>) -> Markup {
    let grid = Grid::new(finding);
    let cases = grid.names_cases().then_some("case");
    let titles = cases.into_iter().chain(grid.titles.iter().copied());
    let columns: Vec<Column> = titles.map(Column::words).collect();
    let rows = html! {
        @for (case, cells) in &grid.rows {
            tr {
                @if cases.is_some() { th scope="row" { (case.unwrap_or("all")) } }
                @for cell in cells { td { (cell.as_deref().unwrap_or("–")) } }
            }
        }
    };
    let case = finding.subject.first().map_or("all cases", String::as_str);
    let label = side.unique_name(&format!("Evidence: {}, {case}", finding.rule));
    html! {
        @let (line, others) = (grid.line(), grid.other_cases(finding, side.assessment.rows.len()));
        @if !line.is_empty() { p { (line) } }
        @if !grid.titles.is_empty() { (scrolling(&label, &columns, rows)) }
        @if !others.is_empty() { p { "Cases: " (others) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_counted() {
        for (infos, severe, expected) in [
            (1, 0, "1 observation"),
            (3, 0, "3 observations"),
            (1, 2, "1 more observation"),
            (2, 1, "2 more observations"),
        ] {
            assert_eq!(observations(infos, severe), expected);
        }
    }
}
