//! In: the history of a store. Out: each load that was measured again and again: its line of blocks,
//! its changes, and what else changed there.

use blocklab_compare::history::{History, Series, SeriesVerdict};
use blocklab_units::{Ink, plural};

use super::header::answered;
use crate::document::{Document, Entry, Fit, Part};
use crate::words::{answer, history as words};

/// Loads shown; JSON holds them all.
const SHOWN: usize = 40;
/// Column in which the texts begin.
const INDENT: usize = 4;

/// Every load in its place among the runs before it: the figure that is judged, and the others
/// where something changed.
pub fn history(history: &History) -> Document {
    let mut parts = vec![Part::Entries(vec![answered(&answer::history(history))])];
    let mut loads = loads(history);
    let lonely = loads.iter().filter(|load| is_lonely(load)).count();
    loads.retain(|load| !is_lonely(load));
    let more = loads.len().saturating_sub(SHOWN);
    parts.extend(loads.iter().take(SHOWN).map(|load| section(load)));
    let mut left = Vec::new();
    if more > 0 {
        left.push(format!("{} more (--json shows all)", plural(more, "load")));
    }
    if lonely > 0 {
        left.push(format!(
            "not comparable: {} with too few runs under the same conditions (--json shows them)",
            plural(lonely, "load")
        ));
    }
    let left = left
        .into_iter()
        .map(|text| Entry::new(Ink::Dim, "-", 2, text));
    parts.push(Part::Entries(left.collect()));
    parts.push(Part::Entries(vec![Entry::aside(2, LEGEND)]));
    Document {
        name: "History".to_owned(),
        parts,
    }
}

const LEGEND: &str = "A block a run, the newest at the right; | a new level begins; · left out, as \
    a finding doubts the run. A change is shown if chance alone does not explain it (exact rank \
    test, at most 1 % of those shown are false) and the medians differ by 2 % or more; its interval \
    is the Hodges-Lehmann one of 95 %.";

/// The series of each load, in their order.
fn loads(history: &History) -> Vec<Vec<&Series>> {
    let all: Vec<&Series> = history.series.iter().collect();
    let loads = all.chunk_by(|a, b| a.conditions == b.conditions);
    loads.map(<[_]>::to_vec).collect()
}

fn is_lonely(load: &[&Series]) -> bool {
    let mut verdicts = load.iter().map(|series| series.verdict);
    verdicts.all(|verdict| verdict == SeriesVerdict::NotComparable)
}

fn section(load: &[&Series]) -> Part {
    let conditions = &load[0].conditions;
    let mut entries = vec![Entry::aside(INDENT, words::conditions(conditions))];
    let is_quiet = |series: &Series| {
        matches!(
            series.verdict,
            SeriesVerdict::NoChangeShown | SeriesVerdict::NotComparable
        )
    };
    let shown = load
        .iter()
        .filter(|series| series.is_headline || !is_quiet(series));
    entries.extend(shown.flat_map(|series| lines(series)));
    let left_out = words::left_out(load[0]).into_iter();
    entries.extend(left_out.map(|text| Entry::aside(INDENT, text)));
    Part::section(words::title(conditions), vec![Part::Entries(entries)])
}

fn lines(series: &Series) -> Vec<Entry> {
    let quantity = series.quantity;
    let ink = words::ink(series.verdict);
    let head = format!("  {}", words::verdict(series));
    let mut lines = vec![Entry {
        fit: Fit::Whole,
        ..Entry::new(
            ink,
            &head,
            head.chars().count() + 1,
            words::sparkline(series),
        )
    }];
    for change in &series.changes {
        lines.push(item(words::change(quantity, change)));
        let changed = match &change.changed[..] {
            [] => "nothing else that is known changed there".to_owned(),
            changed => format!("changed there: {}", words::changed(changed)),
        };
        lines.push(item(changed));
    }
    let suspicion = series.suspicion.iter();
    lines.extend(suspicion.map(|of| item(words::suspicion(quantity, of))));
    lines
}

fn item(text: String) -> Entry {
    Entry::new(Ink::Dim, "    -", 6, text)
}
