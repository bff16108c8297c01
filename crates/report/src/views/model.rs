//! In: a Record of modelled devices. Out: their limits and assumptions, in brief for a summary and
//! in full for the evidence.

use blocklab_device::{Limit, Origin};
use blocklab_record::{Record, TargetFacts};

use crate::document::{Entry, MARGIN, Part};
use crate::words::model;
use blocklab_units::{Ink, plural};

/// The most limits that a brief shows.
const LIMITS: usize = 6;
/// The terminal column in which an assumption begins, after the word.
const ASSUMPTION: usize = 12;

/// The limits that can bind, and every assumption cut to a line.
pub fn brief(record: &Record) -> Vec<Part> {
    // Each host of a fleet has a model of its own, which the evidence shows.
    let targets = model::targets(record).filter(|_| record.fleet.is_none());
    let targets: Vec<_> = targets.collect();
    let sections = targets.iter().map(|target| {
        let limits = model::binding(target);
        let shown = &limits[..limits.len().min(LIMITS)];
        let mut entries = Entry::pairs(shown, MARGIN);
        let more = limits.len() - shown.len();
        if more > 0 {
            entries.push(Entry::aside(
                MARGIN,
                format!("and {}", plural(more, "more limit")),
            ));
        }
        entries.extend(target.assumptions.iter().map(|sentence| {
            let text = format!("assumed: {}", model::assumption(sentence));
            let line = Entry::new(Ink::Yellow, "", MARGIN, text).cut();
            Entry {
                text_ink: Some(Ink::Yellow),
                ..line
            }
        }));
        Part::section(title(&targets, target), vec![Part::Entries(entries)])
    });
    sections.collect()
}

/// For each modelled target, its limits grouped by source, then its assumptions.
pub fn model(record: &Record) -> Vec<Part> {
    let targets: Vec<_> = model::targets(record).collect();
    let sections = targets.iter().map(|target| {
        let meaning = Entry::aside(MARGIN, model::meaning(record.origin));
        let mut blocks = vec![vec![Part::Entries(vec![meaning])]];
        let (bounds, limits): (Vec<&Limit>, Vec<&Limit>) =
            target.limits.iter().partition(|limit| limit.is_bound());
        blocks.extend(by_source(&limits));
        if !bounds.is_empty() {
            let title = "Bounds of what may be bought, which held nothing back here:";
            let title = Entry::new(Ink::Dim, "", MARGIN, title);
            blocks.push(vec![Part::Entries(vec![title])]);
        }
        blocks.extend(by_source(&bounds));
        let assumed = target.assumptions.iter().map(|sentence| {
            Entry::new(
                Ink::Yellow,
                "  assumed",
                ASSUMPTION,
                model::assumption(sentence),
            )
        });
        blocks.push(vec![Part::Entries(assumed.collect())]);
        Part::section(title(&targets, target), vec![Part::Blocks(blocks)])
    });
    sections.collect()
}

/// The limits grouped by source, in the order in which sources first occur.
fn by_source(limits: &[&Limit]) -> Vec<Vec<Part>> {
    let mut sources: Vec<&Origin> = Vec::new();
    for limit in limits {
        if !sources.contains(&&limit.origin) {
            sources.push(&limit.origin);
        }
    }
    let blocks = sources.iter().map(|origin| {
        let mine = limits.iter().filter(|limit| limit.origin == **origin);
        let pairs: Vec<_> = mine
            .map(|limit| (limit.name.to_string(), model::value(limit)))
            .collect();
        let mut entries = vec![Entry::aside(MARGIN, origin.to_string())];
        entries.extend(Entry::pairs(&pairs, MARGIN + 2));
        vec![Part::Entries(entries)]
    });
    blocks.collect()
}

/// The title of a target's section; a single target needs no name.
fn title(targets: &[&TargetFacts], target: &TargetFacts) -> String {
    match targets.len() {
        1 => "The model".to_owned(),
        _ => format!("The model of {}", target.path),
    }
}
