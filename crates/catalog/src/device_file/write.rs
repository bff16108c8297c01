//! A device to TOML: the same rows of the schema, the other way.

use std::fmt::Write;

use blocklab_device::DeviceSpec;
use serde_json::{Map, Value, json};

use super::schema::{COUNT, DEVICE, FAULT_KINDS, Key, Kind, Section};
use super::units;

/// Writes a device so that [`parse`](super::parse) gives the same one.
pub fn render(spec: &DeviceSpec) -> String {
    // Plain data with text keys always has a JSON form.
    let value = serde_json::to_value(spec).unwrap_or_default();
    let mut out = String::new();
    body(&DEVICE, &value, &mut out);
    out
}

/// Plain keys first: in TOML they would otherwise belong to the table before them.
fn body(section: &Section, value: &Value, out: &mut String) {
    let mut below = String::new();
    for (key, value) in present(section, value) {
        match key.kind {
            Kind::Tables(section) => tables(section, value, &mut below),
            Kind::Table(section) if !section.inline => {
                let _ = writeln!(below, "\n[{}]", section.path);
                body(section, value, &mut below);
            }
            kind => {
                let _ = writeln!(out, "{} = {}", key.name, scalar(kind, value));
            }
        }
    }
    out.push_str(&below);
}

/// The keys that have a value, and it.
fn present<'v>(
    section: &Section,
    value: &'v Value,
) -> impl Iterator<Item = (&'static Key, &'v Value)> {
    let values = section.keys.iter().map(|key| (key, &value[key.field]));
    values.filter(|(_, value)| !value.is_null())
}

/// Equal volumes that follow each other are written once, with their number.
fn tables(section: &Section, list: &Value, out: &mut String) {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    let counted = section.keys.iter().any(|key| key.name == COUNT);
    for group in items.chunk_by(|a, b| counted && a == b) {
        let _ = writeln!(out, "\n[[{}]]", section.path);
        let mut item = group[0].clone();
        if let Some(object) = item.as_object_mut() {
            if group.len() > 1 {
                object.insert(COUNT.to_owned(), json!(group.len()));
            }
            if section.path == "fault" {
                part_kind(object);
            }
        }
        body(section, &item, out);
    }
}

/// What happens has a key of its own in the file.
fn part_kind(fault: &mut Map<String, Value>) {
    match fault.remove("kind") {
        Some(Value::Object(kind)) => {
            let known = kind
                .into_iter()
                .filter(|(name, _)| FAULT_KINDS.contains(&name.as_str()));
            fault.extend(known);
        }
        Some(state) => {
            fault.insert("state".to_owned(), state);
        }
        None => (),
    }
}

fn scalar(kind: Kind, value: &Value) -> String {
    let whole = value.as_u64().unwrap_or_default();
    match kind {
        Kind::Size => quoted(&units::size_text(whole)),
        Kind::Time => quoted(&units::time_text(whole)),
        Kind::FineTime => format!("\"{}ns\"", value.as_f64().unwrap_or_default()),
        Kind::Rate => quoted(&units::rate_text(value)),
        Kind::Layout => quoted(&units::layout_text(value)),
        Kind::Accounting => quoted(&units::accounting_text(value)),
        Kind::Origin => {
            units::origin_text(value).map_or_else(|| origin_table(value), |text| quoted(&text))
        }
        Kind::Table(section) => inline(section, value),
        Kind::Number | Kind::Bucket => value.as_f64().unwrap_or_default().to_string(),
        _ => value.as_str().map_or_else(|| value.to_string(), quoted),
    }
}

fn inline(section: &Section, value: &Value) -> String {
    let pairs = present(section, value)
        .map(|(key, value)| format!("{} = {}", key.name, scalar(key.kind, value)));
    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

fn origin_table(origin: &Value) -> String {
    if let Some((how, why)) = units::known_origin(origin) {
        return format!("{{ {how} = {} }}", quoted(why));
    }
    let [source, date] = ["source", "date"]
        .map(|name| quoted(origin["documented"][name].as_str().unwrap_or_default()));
    format!("{{ documented = {source}, date = {date} }}")
}

/// A TOML text of one line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out + "\""
}
