//! In: a Record. Out: what was measured, on what, and how it ended.

use blocklab_record::{Origin, Record};

use crate::document::{Entry, Part};
use crate::words::answer::Answer;
use crate::words::facts;
use blocklab_units::Ink;

/// Width of the names at the left.
const INDENT: usize = 10;

/// What was measured, on what, and how it ended where it did not end well.
pub fn header(record: &Record) -> Vec<Part> {
    let title = match record.requested.description.as_str() {
        "" => record.requested.name.clone(),
        description => format!("{}: {description}", record.requested.name),
    };
    let lines = lines(record)
        .into_iter()
        .map(|(name, text)| Entry::new(Ink::Dim, name, INDENT, text));
    let ending = facts::ending(record)
        .into_iter()
        .map(|text| Entry::new(Ink::Red, "!", 2, text));
    vec![
        Part::Heading(title),
        Part::Entries(lines.collect()),
        Part::Entries(ending.collect()),
    ]
}

/// A sentence in the colour of what it amounts to.
pub fn answered(answer: &Answer) -> Entry {
    let ink = answer.tone.ink();
    Entry {
        text_ink: Some(ink),
        ..Entry::new(ink, "", 0, format!("{}.", answer.text))
    }
}

/// What was measured on what, each with its name.
fn lines(record: &Record) -> Vec<(&'static str, String)> {
    let run = [("run", run(record))].into_iter();
    let note = record.note.clone().map(|text| ("note", text));
    run.chain(facts::measured_on(record)).chain(note).collect()
}

fn run(record: &Record) -> String {
    let mut text = format!(
        "{} · {} · {}",
        record.id,
        facts::word(record.status),
        facts::moment(&record.started_at)
    );
    if record.origin != Origin::Measured {
        text.push_str(" · ");
        text.push_str(record.origin.name());
    }
    text
}
