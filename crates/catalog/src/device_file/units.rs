//! Quantities as texts, to and from the device's own form, without loss.

use blocklab_units::{Bytes, Nanos};
use serde_json::{Value, json};

use blocklab_workload::address::exact;

type Read = Result<Value, String>;

/// A whole number before a suffix keeps all its digits.
fn whole(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let exact = whole(text).and_then(|(number, suffix)| {
        let unit: Bytes = format!("1{suffix}").parse().ok()?;
        number.checked_mul(unit.0)
    });
    match exact {
        Some(bytes) => Ok(bytes),
        None => text
            .parse::<Bytes>()
            .map(|bytes| bytes.0)
            .map_err(|why| why.to_string()),
    }
}

pub(super) fn size_text(bytes: u64) -> String {
    exact(Bytes(bytes))
}

const NEVER: &str = "never";

pub(super) fn time(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if text == NEVER {
        return Ok(u64::MAX);
    }
    match whole(text) {
        Some((nanos, "ns")) => Ok(nanos),
        _ => text
            .parse::<Nanos>()
            .map(|nanos| nanos.0)
            .map_err(|why| why.to_string()),
    }
}

pub(super) fn time_text(nanos: u64) -> String {
    const UNITS: [(&str, u64); 4] = [
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    // Beyond this a count of nanoseconds is no exact floating-point number, which is how the
    // longer units are read.
    const EXACT: u64 = 1 << 53;
    if nanos == u64::MAX {
        return NEVER.to_owned();
    }
    let (name, unit) = UNITS
        .iter()
        .find(|(_, unit)| nanos.is_multiple_of(*unit) && nanos < EXACT)
        .unwrap_or(&UNITS[3]);
    format!("{}{name}", nanos / unit)
}

/// `"2.2us"`: nanoseconds with a fraction.
pub(super) fn fine_time(text: &str) -> Read {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6)];
    let text = text.trim();
    let read = UNITS.iter().find_map(|(name, factor)| {
        let number: f64 = text.strip_suffix(name)?.trim().parse().ok()?;
        Some(number * factor).filter(|nanos| nanos.is_finite())
    });
    read.map(|nanos| json!(nanos))
        .ok_or_else(|| format!("`{text}` is not a time such as 2.2us or 240ns"))
}

const RATES: [(&str, &str); 3] = [
    ("IOPS", "iops"),
    ("MiB/s", "mib_per_s"),
    ("MB/s", "mb_per_s"),
];

pub(super) fn rate(text: &str) -> Read {
    let read = RATES.iter().find_map(|(unit, field)| {
        let number: f64 = text.trim().strip_suffix(unit)?.trim().parse().ok()?;
        number.is_finite().then(|| json!({ *field: number }))
    });
    read.ok_or_else(|| {
        format!("`{text}` is not a rate such as 3000 IOPS, 125 MiB/s or 593.75 MB/s")
    })
}

pub(super) fn rate_text(value: &Value) -> String {
    let known = RATES
        .iter()
        .find_map(|(unit, field)| Some((unit, value.get(*field)?.as_f64()?)));
    known.map_or_else(String::new, |(unit, number)| format!("{number} {unit}"))
}

/// `joined`; `striped 256KiB`.
pub(super) fn layout(text: &str) -> Read {
    let striped = text.trim().strip_prefix("striped ").map(size);
    match (text.trim(), striped) {
        ("joined", _) => Ok(json!("joined")),
        (_, Some(Ok(block))) => Ok(json!({ "striped": { "block_bytes": block } })),
        (_, Some(Err(why))) => Err(why),
        _ => Err(format!(
            "`{text}` is not a layout: joined, or striped 256KiB"
        )),
    }
}

pub(super) fn layout_text(value: &Value) -> String {
    match value["striped"]["block_bytes"].as_u64() {
        Some(block) => format!("striped {}", size_text(block)),
        None => "joined".to_owned(),
    }
}

const ACCOUNTING: [(&str, &str); 2] = [("merged ", "merged"), ("whole units ", "whole_units")];

pub(super) fn accounting(text: &str) -> Read {
    if text.trim() == "plain" {
        return Ok(json!("plain"));
    }
    for (start, field) in ACCOUNTING {
        if let Some(unit) = text.trim().strip_prefix(start) {
            return size(unit).map(|unit| json!({ field: { "unit_bytes": unit } }));
        }
    }
    Err(format!(
        "`{text}` is no accounting: plain, merged 256KiB, or whole units 1MiB"
    ))
}

pub(super) fn accounting_text(value: &Value) -> String {
    let known = ACCOUNTING.iter().find_map(|(start, field)| {
        let unit = value.get(*field)?["unit_bytes"].as_u64()?;
        Some(format!("{start}{}", size_text(unit)))
    });
    known.unwrap_or_else(|| "plain".to_owned())
}

/// How a figure is known, and the field of it in the device's own form.
pub(super) const ORIGINS: [(&str, &str); 2] = [("measured", "by"), ("assumed", "because")];

pub(super) fn origin(text: &str) -> Read {
    if text == "given" {
        return Ok(json!("given"));
    }
    let known = ORIGINS.iter().find_map(|(how, field)| {
        let rest = text.strip_prefix(how)?.strip_prefix(':')?;
        Some(json!({ *how: { *field: rest.trim_start() } }))
    });
    known.ok_or_else(|| {
        format!(
            "`{text}` is no origin: given, measured: WHO AND WHERE, assumed: WHY, or \
             {{ documented = \"SOURCE\", date = \"DATE\" }}"
        )
    })
}

/// An origin that is not a table. A text that begins with a blank would lose it.
pub(super) fn origin_text(value: &Value) -> Option<String> {
    if value == "given" {
        return Some("given".to_owned());
    }
    let (how, rest) = known_origin(value)?;
    (rest == rest.trim_start()).then(|| format!("{how}: {rest}"))
}

/// How a figure is known, where that is one text.
pub(super) fn known_origin(value: &Value) -> Option<(&'static str, &str)> {
    ORIGINS
        .into_iter()
        .find_map(|(how, field)| Some((how, value[how][field].as_str()?)))
}
