//! What a modelled device rests on: in brief under a result, in full with the findings.

use blocklab_device::{Limit, Origin};
use blocklab_record::{Record, TargetFacts};

use super::grid;
use crate::model;
use blocklab_units::{Ink, Style};

/// So many limits stand in a brief; more are counted.
const LIMITS: usize = 6;

/// The limits that can bind and every assumption, each on a line. Empty where nothing was
/// modelled.
pub fn brief(record: &Record, style: Style) -> String {
    section(record, style, |target| {
        let limits = model::binding(target);
        let mut out = grid::pairs(&limits[..limits.len().min(LIMITS)], 2, style);
        let more = limits.len().saturating_sub(LIMITS);
        if more > 0 {
            out.push_str(&style.aside(2, &format!("and {more} more limits")));
        }
        for sentence in &target.assumptions {
            let text = format!("assumed: {}", model::assumption(sentence));
            let shown = match style.wrap(&text, 2).as_slice() {
                [_] => text,
                _ => style.cut(&text, 2),
            };
            out.push_str(&format!("  {}\n", style.paint(Ink::Yellow, &shown)));
        }
        out
    })
}

/// Every limit under its source, then every assumption. Empty where nothing was modelled.
pub fn model(record: &Record, style: Style) -> String {
    section(record, style, |target| {
        let mut out = style.aside(2, model::meaning(record.origin));
        for (bound, title) in [
            (false, ""),
            (
                true,
                "Bounds of what may be bought, which held nothing back here:",
            ),
        ] {
            let limits: Vec<_> = target
                .limits
                .iter()
                .filter(|limit| limit.is_bound() == bound)
                .collect();
            if !limits.is_empty() && !title.is_empty() {
                out.push_str(&format!("\n  {title}\n"));
            }
            out.push_str(&by_source(&limits, style));
        }
        if !target.assumptions.is_empty() {
            out.push('\n');
        }
        for sentence in &target.assumptions {
            let text = model::assumption(sentence);
            out.push_str(&style.hang(Ink::Yellow, "  assumed", 12, &text));
        }
        out
    })
}

/// The limits that share a source under its name, in the order of their first.
fn by_source(limits: &[&Limit], style: Style) -> String {
    let mut sources: Vec<&Origin> = Vec::new();
    for limit in limits {
        if !sources.contains(&&limit.origin) {
            sources.push(&limit.origin);
        }
    }
    let group = |origin: &&Origin| {
        let mine = limits.iter().filter(|limit| limit.origin == **origin);
        let pairs: Vec<_> = mine
            .map(|mine| (mine.name.to_string(), model::value(mine)))
            .collect();
        let title = style.aside(2, &origin.to_string());
        format!("\n{title}{}", grid::pairs(&pairs, 4, style))
    };
    sources.iter().map(group).collect()
}

fn section(record: &Record, style: Style, of: impl Fn(&TargetFacts) -> String) -> String {
    let targets: Vec<_> = model::targets(record).collect();
    let mut out = String::new();
    for target in &targets {
        let title = match targets.len() {
            1 => "The model".to_owned(),
            _ => format!("The model of {}", target.path),
        };
        let gap = if out.is_empty() { "" } else { "\n" };
        let body = of(target);
        if !body.is_empty() {
            out.push_str(&format!("{gap}{}\n{body}", style.paint(Ink::Bold, &title)));
        }
    }
    out
}
