//! In: the history of a store. Out: for each load that was measured repeatedly, a sparkline, its
//! changes, and what else changed then.

use blocklab_compare::history::{History, Series};
use blocklab_units::Ink;

use super::header::answered;
use crate::document::{Document, Entry, Fit, MARGIN, Part};
use crate::words::{answer, history as words};

/// The terminal column in which remarks begin.
const INDENT: usize = 4;

/// Every load with the figure that is judged, and other figures that changed.
pub fn history(history: &History) -> Document {
    let shown = words::shown(history);
    let left = shown
        .left
        .into_iter()
        .map(|text| Entry::item(Ink::Dim, "-", text));
    let mut parts = vec![Part::Entries(vec![answered(&answer::history(history))])];
    parts.extend(shown.loads.iter().map(|load| section(load)));
    parts.push(Part::Entries(left.collect()));
    if !shown.loads.is_empty() {
        let legend = Entry::aside(MARGIN, words::legend(history, SIGNS));
        parts.push(Part::Entries(vec![legend]));
    }
    Document {
        name: "History".to_owned(),
        parts,
    }
}

const SIGNS: &str = "A block a run, the newest at the right; | a new level begins; · left out, as \
    a finding doubts the run.";

fn section(load: &[&Series]) -> Part {
    let conditions = &load[0].conditions;
    let mut entries = vec![Entry::aside(INDENT, words::conditions(conditions))];
    entries.extend(load.iter().flat_map(|series| lines(series)));
    let left_out = words::left_out(load[0]).into_iter();
    entries.extend(left_out.map(|text| Entry::aside(INDENT, text)));
    Part::section(words::title(conditions), vec![Part::Entries(entries)])
}

/// The verdict on a figure with its sparkline, and its changes below.
fn lines(series: &Series) -> Vec<Entry> {
    let head = format!("  {}", words::verdict(series));
    let first = Entry {
        fit: Fit::Whole,
        ..Entry::item(words::ink(series.verdict), &head, words::sparkline(series))
    };
    let items = words::items(series)
        .into_iter()
        .map(|text| Entry::item(Ink::Dim, "    -", text));
    [first].into_iter().chain(items).collect()
}
