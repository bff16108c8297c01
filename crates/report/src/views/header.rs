//! In: a Record. Out: the head of its documents: what was measured on what, and how it ended.

use blocklab_record::{Origin, Record};

use crate::document::{Entry, Part};
use crate::words::answer::Answer;
use crate::words::facts;
use blocklab_units::Ink;

/// The terminal column in which the texts begin, after their names.
const INDENT: usize = 10;

/// What was measured on what, and how the run ended if it did not end as planned.
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
        .map(|text| Entry::item(Ink::Red, "!", text));
    vec![
        Part::Heading(title),
        Part::Entries(lines.collect()),
        Part::Entries(ending.collect()),
    ]
}

/// An answer as a sentence in the colour of its tone.
pub fn answered(answer: &Answer) -> Entry {
    let ink = answer.tone.ink();
    Entry {
        text_ink: Some(ink),
        ..Entry::new(ink, "", 0, format!("{}.", answer.text))
    }
}

/// The lines below the title, each with its name: run, targets, engine, the user's note.
fn lines(record: &Record) -> Vec<(&'static str, String)> {
    let run = [("run", run(record))].into_iter();
    let note = record.note.clone().map(|text| ("note", text));
    run.chain(facts::measured_on(record)).chain(note).collect()
}

/// Id, status, start, and the origin unless the run was measured.
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
