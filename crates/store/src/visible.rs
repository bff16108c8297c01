//! Texts of records that somebody else may have written, as a terminal may show them.

use std::borrow::Cow;

use blocklab_record::Record;
use blocklab_units::{visible, visible_lines};
use serde_json::{Map, Value};

/// A record that was not read from a store, with every text as a terminal may show it.
pub fn as_visible(record: Record) -> Record {
    let json = record.to_json();
    made_visible(&record, &json).unwrap_or(record)
}

/// The record, read from `json`, with every text as a terminal may show it; `None` if no text has to be
/// changed for that.
pub(crate) fn made_visible(record: &Record, json: &str) -> Option<Record> {
    if is_visible(record, json) {
        return None;
    }
    let mut value = serde_json::from_str(&record.to_json()).ok()?;
    mend(&mut value, false);
    // Only texts were changed, so it is still a record.
    Record::from_json(&value.to_string()).ok()
}

/// A quick check, without parsing the record: nothing is hidden in the JSON itself, and its
/// escapes are quotes, backslashes, and the line ends of the fields that have lines.
fn is_visible(record: &Record, json: &str) -> bool {
    let requested = &record.requested;
    let planned = requested.plan.as_ref().map_or("", |plan| &plan.description);
    let texts = [&*requested.native, &*requested.description, planned];
    let mut ends: usize = texts.map(|text| text.matches('\n').count()).iter().sum();
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            continue;
        }
        match bytes.next() {
            Some(b'"' | b'\\') => {}
            Some(b'n') if ends > 0 => ends -= 1,
            _ => return false,
        }
    }
    matches!(visible_lines(json), Cow::Borrowed(_))
}

/// Makes all texts in a value visible. With `has_lines`, their line ends stay.
fn mend(value: &mut Value, has_lines: bool) {
    match value {
        Value::String(text) => {
            let shown = if has_lines { visible_lines } else { visible };
            if let Cow::Owned(mended) = shown(text) {
                *text = mended;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| mend(value, has_lines)),
        Value::Object(fields) => mend_fields(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Makes the names and values of an object visible; some texts may have several lines.
fn mend_fields(fields: &mut Map<String, Value>) {
    let all = std::mem::take(fields);
    for (name, mut value) in all {
        mend(
            &mut value,
            ["description", "native", "note"].contains(&name.as_str()),
        );
        fields.insert(visible(&name).into_owned(), value);
    }
}
