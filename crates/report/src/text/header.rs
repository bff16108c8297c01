use blocklab_record::{Origin, Record};

use crate::facts;
use blocklab_units::{Ink, Style};

/// Width of the names at the left.
const INDENT: usize = 10;

/// What was measured, on what.
pub fn header(record: &Record, style: Style) -> String {
    let title = match record.requested.description.as_str() {
        "" => record.requested.name.clone(),
        description => format!("{}: {description}", record.requested.name),
    };
    let mut out = String::new();
    for (index, line) in style.wrap(&title, 0).iter().enumerate() {
        let ink = if index == 0 { Ink::Bold } else { Ink::Dim };
        out.push_str(&style.paint(ink, line));
        out.push('\n');
    }
    out.push('\n');
    for (name, text) in lines(record) {
        out.push_str(&style.hang(Ink::Dim, name, INDENT, &text));
    }
    if let Some(ending) = facts::ending(record) {
        out.push('\n');
        out.push_str(&style.hang(Ink::Red, "!", 2, &ending));
    }
    out
}

/// What was measured on what, each with its name.
pub fn lines(record: &Record) -> Vec<(&'static str, String)> {
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
