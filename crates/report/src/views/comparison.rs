//! In: a comparison of runs. Out: the runs, what differs between them, every load that both have,
//! and loads that only one has.

use blocklab_compare::compare::{Against, Comparison, Contrast, Pair};
use blocklab_record::Record;
use blocklab_units::Ink;

use super::header::answered;
use crate::document::{Column, Document, Entry, Group, Layout, MARGIN, Part, Row};
use crate::words::answer;
use crate::words::versus;

/// The terminal column in which the lines about the runs begin, after a letter or a sign.
const INDENT: usize = 4;

/// The document of a comparison.
///
/// # Panics
/// When the comparison is not of these records.
pub fn comparison(records: &[&Record], comparison: &Comparison) -> Document {
    let answer = answered(&answer::comparison(comparison));
    let mut parts = vec![
        Part::Entries(vec![answer]),
        runs(records, comparison),
        differences(comparison),
    ];
    for against in &comparison.against {
        parts.push(Part::section(
            versus::outcome(comparison, against),
            vec![table(comparison, against)],
        ));
    }
    parts.push(Part::list("Not compared", versus::not_compared(comparison)));
    let legend = Entry::aside(MARGIN, versus::legend(comparison));
    parts.push(Part::Entries(vec![legend]));
    Document {
        name: "Comparison".to_owned(),
        parts,
    }
}

/// The runs with the letters by which the tables name them.
fn runs(records: &[&Record], comparison: &Comparison) -> Part {
    let lines = records.iter().enumerate().map(|(place, record)| {
        let role = if place == comparison.baseline {
            " · the baseline"
        } else {
            ""
        };
        let text = format!(
            "{} · {} · {} · {}{role}",
            record.id,
            record.requested.name,
            record.origin.name(),
            versus::subject(record)
        );
        Entry::new(Ink::Bold, &versus::letter(place), INDENT, text)
    });
    Part::Entries(lines.collect())
}

/// What differs between the runs besides their figures; `!` marks what makes figures incomparable.
fn differences(comparison: &Comparison) -> Part {
    let lines = comparison.differences.iter().map(|difference| {
        let (ink, sign) = match difference.warning {
            Some(_) => (Ink::Yellow, "!"),
            None => (Ink::Dim, "-"),
        };
        Entry::new(ink, sign, INDENT, versus::difference(difference))
    });
    Part::Entries(lines.collect())
}

/// A group for each load, with a row for each of its figures.
fn table(comparison: &Comparison, against: &Against) -> Part {
    let titles = versus::titles(comparison, against);
    let rows = against.pairs.iter().flat_map(|pair| load(comparison, pair));
    let layout = Layout::Fitted { margin: MARGIN + 2 };
    Part::whole_table(layout, Column::named("", titles), rows)
}

/// The rows of a load. Its name is the heading above the first; what its passes could have shown is
/// a remark below the last.
fn load(comparison: &Comparison, pair: &Pair) -> Vec<Row> {
    let mut rows: Vec<Row> = pair.contrasts.iter().map(figure).collect();
    if let Some(first) = rows.first_mut() {
        let warning = match &pair.differs[..] {
            [] => String::new(),
            differs => format!("although {}", differs.join("; ")),
        };
        first.group = Some(Group {
            title: format!("{}: {}", versus::name(pair), pair.what),
            warning,
        });
    }
    if let Some(last) = rows.last_mut() {
        last.below = versus::could_show(comparison, pair).unwrap_or_default();
    }
    rows
}

fn figure(contrast: &Contrast) -> Row {
    Row {
        ink: Some(versus::ink(contrast.verdict)),
        ..Row::named(contrast.quantity.label(), versus::cells(contrast))
    }
}
