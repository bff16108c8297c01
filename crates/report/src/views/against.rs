//! In: a run compared with its history. Out: each load with its ratio and verdict, and why others
//! cannot be compared.

use blocklab_compare::history::{AgainstHistory, HistoryPair};
use blocklab_units::plural;

use super::header::answered;
use crate::document::{Column, Document, Entry, Layout, MARGIN, Part, Row};
use crate::words::{answer, history as words, versus};

/// The document of a run compared with the runs before it.
pub fn against_history(against: &AgainstHistory) -> Document {
    let titles = ["BEFORE", "NOW", "RATIO", "95 % INTERVAL", "IT IS"];
    let layout = Layout::Fitted { margin: MARGIN };
    let rows = against.pairs.iter().map(row);
    let refused = against
        .refused
        .iter()
        .map(|refused| format!("{} {}: {}", refused.case, refused.direction, refused.why));
    Document {
        name: format!("{} against its history", against.run),
        parts: vec![
            Part::Entries(vec![answered(&answer::against_history(against))]),
            Part::whole_table(layout, Column::named("", titles), rows),
            Part::list("Not compared", refused),
            Part::Entries(vec![Entry::aside(MARGIN, LEGEND)]),
        ],
    }
}

const LEGEND: &str = "Before: the geometric mean of the runs since the last change, under the same \
    conditions. The interval holds the scatter between those runs; faster and slower are called by \
    Holm's rule over all loads.";

/// The row of a load; below it, the runs that it is compared with.
fn row(pair: &HistoryPair) -> Row {
    let conditions = &pair.conditions;
    let [first, last] = &pair.of_runs;
    Row {
        ink: Some(versus::ink(pair.verdict)),
        below: format!("before: {}, {first} to {last}", plural(pair.runs, "run")),
        ..Row::from([
            format!("{} {}", conditions.case, conditions.direction),
            words::value(pair.quantity, pair.baseline),
            words::value(pair.quantity, pair.value),
            versus::times(pair.ratio),
            format!(
                "{} to {}",
                versus::times(pair.ci95_low),
                versus::times(pair.ci95_high)
            ),
            versus::verdict(pair.verdict).to_owned(),
        ])
    }
}
