use blocklab_record::{Origin, Record};

use crate::facts;
use blocklab_units::{Ink, Style};

/// Width of the names at the left.
const INDENT: usize = 10;

/// What was measured, on what.
pub fn header(record: &Record, style: Style) -> String {
    let title = match record.asked.description.as_str() {
        "" => record.asked.name.clone(),
        description => format!("{}: {description}", record.asked.name),
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

fn lines(record: &Record) -> Vec<(&'static str, String)> {
    let mut lines = vec![("run", run(record))];
    for target in &record.targets {
        lines.push(("target", facts::target(target)));
        if let Some(fs) = &target.file_system {
            lines.push(("on", facts::file_system(fs)));
        }
        lines.extend(target.devices.iter().map(|d| ("device", facts::device(d))));
    }
    // A model is asked by no engine; what one would allow stands in the cases.
    let engines = facts::engines(record);
    if matches!(record.origin, Origin::Measured | Origin::Imported) && !engines.is_empty() {
        lines.push(("engine", engines));
    }
    lines
}

fn run(record: &Record) -> String {
    let mut text = format!(
        "{} · {} · {}",
        record.id,
        facts::status(record.status),
        facts::moment(&record.started_at)
    );
    if record.origin != Origin::Measured {
        text.push_str(" · ");
        text.push_str(record.origin.name());
    }
    text
}
