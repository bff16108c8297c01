//! In: a value of a device file. Out: the quantity, and the text as which it is written again.
//!
//! One implementation for each type: the type of a field decides how its key is written.

use blocklab_device::{Accounting, Covers, Fault, FaultKind, Layout, Origin, Rate};
use blocklab_syntax::toml_tree::{Read, Value, quoted};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::address::exact;

use super::table::{Form, Writer};

/// Values on one line: of which type, what they are called, how they are read and written.
macro_rules! forms {
    ($($form:ident of $type:ty: $kind:expr, $read:expr, $write:expr;)*) => {$(
        impl Form for $form {
            type Of = $type;
            const KIND: &'static str = $kind;

            fn read(value: Value<'_>) -> Read<Self::Of> {
                $read(value)
            }

            fn put(value: &Self::Of, name: &'static str, out: &mut Writer) {
                out.lines.push((name, $write(value)));
            }
        }
    )*};
}

/// Words, and what each means.
macro_rules! words {
    ($($form:ident of $type:ident { $first:literal = $meant:ident $(, $word:literal = $other:ident)* })*) => {
        forms! {$(
            $form of $type: concat!("`\"", $first, "\"`" $(, ", `\"", $word, "\"`")*),
                |value: Value<'_>| {
                    let words = [($first, $type::$meant) $(, ($word, $type::$other))*];
                    let allowed = concat!("allowed: ", $first $(, ", ", $word)*);
                    value.word(&words).map_err(|wrong| wrong.hint(allowed))
                },
                |value: &$type| {
                    let words = [($first, $type::$meant) $(, ($word, $type::$other))*];
                    let found = words.iter().find(|(_, meant)| meant == value);
                    quoted(found.map_or("", |(word, _)| word))
                };
        )*}
    };
}

/// Nanoseconds that may have a fraction.
pub(super) enum FineTime {}
/// Operations, or bytes.
pub(super) enum Bucket {}
/// What a fault does to all operations alike.
pub(super) enum State {}

words! {
    Covers of Covers { "all" = All, "reads" = Reads, "writes" = Writes }
    Fault of Fault { "io" = Io, "full" = Full, "detached" = Detached }
    State of FaultKind { "stall" = Stall, "detach" = Detach }
}

const TIME: &str = "a time such as \"600us\"";

forms! {
    String of String: "text", |value: Value<'_>| value.text().map(str::to_owned), |text: &String| quoted(text);
    u32 of u32: "whole number", Value::count, u32::to_string;
    usize of usize: "whole number",
        |value: Value<'_>| value.count().map(|count| count as usize), usize::to_string;
    f64 of f64: "number", Value::number, number;
    Bucket of f64: "number or size", bucket, number;
    Bytes of Bytes: "size", |value| in_text(value, "a size such as \"256KiB\"", size),
        |bytes: &Bytes| quoted(&exact(*bytes));
    Nanos of Nanos: "time", |value| in_text(value, TIME, time), |time: &Nanos| quoted(&time_text(time.0));
    FineTime of f64: "time", |value| in_text(value, TIME, fine_time),
        |nanos: &f64| quoted(&format!("{nanos}ns"));
    Rate of Rate: "rate",
        |value| in_text(value, "a rate such as \"3000 IOPS\" or \"125 MiB/s\"", rate), rate_text;
    Layout of Layout: "`\"joined\"` or `\"striped SIZE\"`",
        |value| in_text(value, "a layout such as \"striped 256KiB\"", layout), layout_text;
    Accounting of Accounting: "`\"plain\"`, `\"merged SIZE\"`, `\"split SIZE\"` or `\"whole units SIZE\"`",
        |value| in_text(value, "\"plain\", \"merged 256KiB\", \"split 256KiB\" or \"whole units 1MiB\"", accounting),
        accounting_text;
    Origin of Origin: "origin", origin, origin_text;
}

fn in_text<T>(value: Value<'_>, wanted: &str, read: impl Fn(&str) -> Result<T, String>) -> Read<T> {
    match value.text() {
        Ok(text) => read(text.trim()).map_err(|wrong| value.complaint(wrong)),
        Err(_) => value.unlike(wanted),
    }
}

/// The number without a fraction of zero: `1` for `1.0`.
fn number(number: &f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn bucket(value: Value<'_>) -> Read<f64> {
    match value.text() {
        Ok(_) => Bytes::read(value).map(Bytes::as_f64),
        Err(_) => value.number(),
    }
}

/// A whole number with all its digits, and the unit after it; `None` for any other number.
fn whole(text: &str) -> Option<(u64, &str)> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text.strip_suffix(unit)?.parse().ok()?;
    // In `2.5TiB` these are the digits of a fraction.
    let has_digits = unit.contains(|c: char| c.is_ascii_digit());
    (!has_digits).then(|| (number, unit.trim()))
}

/// A size. Whole numbers are read apart, since a float would lose digits of large ones.
fn size(text: &str) -> Result<Bytes, String> {
    let exact = whole(text).and_then(|(number, suffix)| {
        let unit: Bytes = format!("1{suffix}").parse().ok()?;
        number.checked_mul(unit.0).map(Bytes)
    });
    exact.map_or_else(|| text.parse().map_err(|wrong| format!("{wrong}")), Ok)
}

const NEVER: &str = "never";

fn time(text: &str) -> Result<Nanos, String> {
    match (text, whole(text)) {
        (NEVER, _) => Ok(Nanos(u64::MAX)),
        (_, Some((nanos, "ns"))) => Ok(Nanos(nanos)),
        _ => text.parse().map_err(|wrong| format!("{wrong}")),
    }
}

/// A time in the longest unit that needs no fraction.
fn time_text(nanos: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    // Beyond this a count of nanoseconds is no exact floating-point number, which is how the
    // longer units are read.
    const EXACT: u64 = 1 << 53;
    let mut longer = UNITS.iter().filter(|_| nanos < EXACT);
    match longer.find(|(_, unit)| nanos.is_multiple_of(*unit)) {
        _ if nanos == u64::MAX => NEVER.to_owned(),
        Some((name, unit)) => format!("{}{name}", nanos / unit),
        None => format!("{nanos}ns"),
    }
}

/// The number before a unit.
fn number_of(text: &str, unit: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
    number.is_finite().then_some(number)
}

/// `2.2us`: nanoseconds with a fraction.
fn fine_time(text: &str) -> Result<f64, String> {
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6)];
    units
        .iter()
        .find_map(|(unit, factor)| Some(number_of(text, unit)? * factor))
        .ok_or_else(|| format!("`{text}` is not a time such as 2.2us or 240ns"))
}

fn rate(text: &str) -> Result<Rate, String> {
    number_of(text, "IOPS")
        .map(Rate::Iops)
        .or_else(|| number_of(text, "MiB/s").map(Rate::MibPerS))
        .or_else(|| number_of(text, "MB/s").map(Rate::MbPerS))
        .ok_or_else(|| {
            format!("`{text}` is not a rate such as 3000 IOPS, 125 MiB/s or 593.75 MB/s")
        })
}

fn rate_text(rate: &Rate) -> String {
    quoted(&match rate {
        Rate::Iops(number) => format!("{number} IOPS"),
        Rate::MibPerS(number) => format!("{number} MiB/s"),
        Rate::MbPerS(number) => format!("{number} MB/s"),
    })
}

fn layout(text: &str) -> Result<Layout, String> {
    match text.strip_prefix("striped ") {
        Some(block) => size(block.trim()).map(|block| Layout::Striped { block }),
        None if text == "joined" => Ok(Layout::Joined),
        None => Err(format!(
            "`{text}` is not a layout: joined, or striped 256KiB"
        )),
    }
}

fn layout_text(layout: &Layout) -> String {
    quoted(&match layout {
        Layout::Joined => "joined".to_owned(),
        Layout::Striped { block } => format!("striped {}", exact(*block)),
    })
}

/// An accounting from its text: `plain`, `merged 256KiB`.
fn accounting(text: &str) -> Result<Accounting, String> {
    if let Some(unit) = text.strip_prefix("merged ") {
        return size(unit.trim()).map(|unit| Accounting::Merged { unit });
    }
    if let Some(unit) = text.strip_prefix("split ") {
        return size(unit.trim()).map(|unit| Accounting::Split { unit });
    }
    match text.strip_prefix("whole units ") {
        Some(unit) => size(unit.trim()).map(|unit| Accounting::WholeUnits { unit }),
        None if text == "plain" => Ok(Accounting::Plain),
        None => Err(format!(
            "`{text}` is no accounting: plain, merged 256KiB, split 256KiB, or whole units 1MiB"
        )),
    }
}

fn accounting_text(accounting: &Accounting) -> String {
    quoted(&match accounting {
        Accounting::Plain => "plain".to_owned(),
        Accounting::Merged { unit } => format!("merged {}", exact(*unit)),
        Accounting::Split { unit } => format!("split {}", exact(*unit)),
        Accounting::WholeUnits { unit } => format!("whole units {}", exact(*unit)),
    })
}

/// A text, or `{ documented = "SOURCE", date = "DATE" }`.
fn origin(value: Value<'_>) -> Read<Origin> {
    const WANTED: &str = "{ documented = \"SOURCE\", date = \"DATE\" }";
    if value.is_table() {
        return match value.fields(["documented", "date"], |_| None)? {
            [Some(source), Some(date)] => Ok(Origin::documented(source.text()?, date.text()?)),
            _ => Err(value.complaint(format!("an origin is {WANTED} or a text"))),
        };
    }
    let text = value
        .text()
        .or_else(|_| value.unlike("an origin such as \"given\""))?;
    let (how, why) = text.split_once(':').unwrap_or((text, ""));
    // One blank belongs to the colon, so that a text that begins with one keeps it.
    let why = why.strip_prefix(' ').unwrap_or(why);
    match how {
        "given" if how == text => Ok(Origin::Given),
        "measured" if how != text => Ok(Origin::measured(why)),
        "assumed" if how != text => Ok(Origin::assumed(why)),
        _ => Err(value.complaint(format!(
            "`{text}` is no origin: given, measured: WHO AND WHERE, assumed: WHY, or {WANTED}"
        ))),
    }
}

/// The value of the key `origin` in TOML.
fn origin_text(origin: &Origin) -> String {
    match origin {
        Origin::Given => quoted("given"),
        Origin::Measured { by } => quoted(&format!("measured: {by}")),
        Origin::Assumed { because } => quoted(&format!("assumed: {because}")),
        Origin::Documented { source, date } => {
            let [source, date] = [source, date].map(|text| quoted(text));
            format!("{{ documented = {source}, date = {date} }}")
        }
    }
}
