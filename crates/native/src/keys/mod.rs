//! The option table: one option, one row. Reading, writing, error hints, the reference page and
//! the tail of the example are all derived from it.
//!
//! ```text
//!   "depth" = "32", (count depth), "Operations in flight per thread.", allowed: Text("1 to 32768");
//!    name     example  kind, field    meaning                           other facts
//! ```
//!
//! A kind decides what a value is called, how it is read and how it is written; `maybe` before it
//! takes `"none"`. A value without a kind brings its own: `(own "size or table", read, show)`.

mod ending;
mod job;
mod operations;
mod study;
mod trace;
mod words;

use blocklab_workload::Job;

use super::value::Value;
use blocklab_syntax::toml_tree::Complaint;

pub(super) use blocklab_syntax::toml_tree::quoted;
pub(super) use study::{CASE, Case, STUDY, Study};
pub use trace::WantedTrace;
pub(super) use words::within;

pub(super) struct Key<T> {
    pub name: &'static str,
    /// What kind of value it takes, for people: `size`, `whole number`.
    pub kind: &'static str,
    /// One sentence.
    pub meaning: &'static str,
    /// Values that it takes, beyond what the kind implies.
    pub allowed: Allowed,
    /// A value, as it is written.
    pub example: &'static str,
    /// The default in words, where [`Key::show`] of a new job does not give it.
    pub default: Option<&'static str>,
    /// The name that the key had before: older studies and records use it, so it is still read.
    pub former: Option<&'static str>,
    /// Names of the same thing in other tools: for hints only.
    pub other_names: &'static [&'static str],
    /// Keys of one group set the same thing in different ways: the most specific one counts.
    pub group: Option<&'static str>,
    /// Where it makes sense.
    pub need: Need,
    /// Whether it is written only where it is not the default.
    pub rare: bool,
    /// Puts the value into its place.
    pub set: fn(&mut T, Value<'_>) -> Result<(), Complaint>,
    /// The value as it is written; `None` where the key does not apply.
    pub show: fn(&T) -> Option<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Allowed {
    /// A description; empty: what the kind implies.
    Text(&'static str),
    Words(&'static [&'static str]),
    /// One of these words, or what is described.
    WordsOr(&'static [&'static str], &'static str),
}

impl Allowed {
    /// For a hint or a table; `None` where the kind is enough.
    pub fn text(self) -> Option<String> {
        match self {
            Self::Text("") => None,
            Self::Text(text) => Some(text.to_owned()),
            Self::Words(words) => Some(words.join(", ")),
            Self::WordsOr(words, text) => Some(format!("{}, or {text}", words.join(", "))),
        }
    }
}

/// Where a key makes sense: it is a detail of another key.
#[derive(Clone, Copy)]
pub(super) enum Need {
    /// Everywhere.
    Nothing,
    /// Where that key has this value, as an option.
    With(&'static str, &'static str),
    /// Where that key has this value, which needs it.
    Completes(&'static str, &'static str),
    /// Where that key is given.
    Given(&'static str),
}

impl Need {
    /// The key that decides whether this one applies.
    pub const fn needed_key(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::With(key, _) | Self::Completes(key, _) | Self::Given(key) => Some(key),
        }
    }

    /// The condition, as it is written: `pattern = "strided"`.
    pub fn condition(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::With(key, value) | Self::Completes(key, value) => {
                Some(format!("{key} = \"{value}\""))
            }
            Self::Given(key) => Some(key.to_owned()),
        }
    }

    /// Whether the value of that key, as shown, lets the key apply.
    pub fn is_met(self, shown: Option<&str>) -> bool {
        match self {
            Self::Nothing => true,
            Self::With(_, value) | Self::Completes(_, value) => {
                shown.and_then(|text| text.strip_prefix('"')?.strip_suffix('"')) == Some(value)
            }
            Self::Given(_) => shown.is_some(),
        }
    }
}

impl<T> Key<T> {
    /// What a row leaves out.
    const ROW: Self = Self {
        name: "",
        kind: "",
        meaning: "",
        allowed: Allowed::Text(""),
        example: "",
        default: None,
        former: None,
        other_names: &[],
        group: None,
        need: Need::Nothing,
        rare: false,
        set: |_, _| Ok(()),
        show: |_| None,
    };

    /// `depth = 32`.
    pub fn line(&self) -> String {
        format!("{} = {}", self.name, self.example)
    }

    /// Reads a value; a complaint lists what is allowed and shows an example.
    pub fn read(&self, into: &mut T, value: Value<'_>) -> Result<(), Complaint> {
        (self.set)(into, value).map_err(|complaint| {
            let complaint = Complaint {
                message: format!("{}: {}", self.name, complaint.message),
                ..complaint
            };
            self.with_advice(complaint)
        })
    }

    /// Adds what is allowed and an example.
    pub fn with_advice(&self, complaint: Complaint) -> Complaint {
        let complaint = match self.allowed.text() {
            Some(allowed) => complaint.hint(format!("allowed: {allowed}")),
            None => complaint,
        };
        complaint.hint(format!("example: {}", self.line()))
    }
}

/// What a kind is called.
#[rustfmt::skip]
macro_rules! called {
    (count) => { "whole number" };
    (whole) => { "whole number" };
    (signed) => { "whole number" };
    (flag) => { "true or false" };
    ($kind:ident) => { stringify!($kind) };
}

/// How a value of a kind is written.
#[rustfmt::skip]
macro_rules! text {
    (size) => { words::size };
    (time) => { words::time };
    (number) => { words::number };
    ($kind:ident) => { words::plain };
}

/// What the kind of a row sets in it.
macro_rules! row {
    ($of:ident (own $kind:literal, $set:expr, $show:expr)) => {
        Key::<$of> { kind: $kind, set: $set, show: $show, ..Key::ROW }
    };
    ($of:ident (word $words:ident $($field:ident).+)) => {
        Key::<$of> {
            kind: "word",
            allowed: Allowed::Words(&names(&$words)),
            set: |it, value| put(&mut it.$($field).+, value.word(&$words)),
            show: |job| word_for(&$words, &job.$($field).+),
            ..Key::ROW
        }
    };
    ($of:ident (table $($field:ident).+, $read:expr, $show:expr)) => {
        Key::<$of> {
            kind: "table",
            default: Some("none"),
            set: |it, value| put(&mut it.$($field).+, value.unless_none($read)),
            show: |job| job.$($field).+.as_ref().map($show),
            ..Key::ROW
        }
    };
    ($of:ident (maybe $kind:ident $($field:ident).+)) => {
        Key::<$of> {
            kind: called!($kind),
            default: Some("none"),
            set: |it, value| put(&mut it.$($field).+, value.unless_none(|value| value.$kind())),
            show: |job| job.$($field).+.map(text!($kind)),
            ..Key::ROW
        }
    };
    ($of:ident (rare $kind:ident $($field:ident).+)) => {
        Key::<$of> { rare: true, ..row!($of ($kind $($field).+)) }
    };
    // A detail of a pattern.
    ($of:ident ($kind:ident in $pattern:ident $field:ident)) => {
        Key::<$of> {
            kind: called!($kind),
            set: |it, value| {
                put(&mut it.pattern, value.$kind().map(|$field| Pattern::$pattern { $field }))
            },
            show: |job| match job.pattern {
                Pattern::$pattern { $field } => Some(text!($kind)($field)),
                _ => None,
            },
            ..Key::ROW
        }
    };
    // A flag of an engine, which makes the job one of that engine.
    ($of:ident (flag $field:ident of $engine:ident, $shown:ident)) => {
        Key::<$of> {
            kind: "true or false",
            set: |it, value| put(&mut $engine(it).$field, value.flag()),
            show: |job| Some($shown(job)?.$field.to_string()),
            ..Key::ROW
        }
    };
    ($of:ident ($kind:ident $($field:ident).+)) => {
        Key::<$of> {
            kind: called!($kind),
            set: |it, value| put(&mut it.$($field).+, value.$kind()),
            show: |job| Some(text!($kind)(job.$($field).+)),
            ..Key::ROW
        }
    };
}

/// The rows of a table.
macro_rules! keys {
    ($of:ident: $($name:literal = $example:literal, $kind:tt, $meaning:literal
        $(, $fact:ident: $value:expr)*;)*) => {
        &[$(Key {
            name: $name,
            meaning: $meaning,
            example: $example,
            $($fact: $value,)*
            ..row!($of $kind)
        }),*]
    };
}

use {called, keys, row, text};

/// Keys that belong together, under a heading.
pub(super) struct Section<T: 'static> {
    pub title: &'static str,
    pub keys: &'static [Key<T>],
}

/// Every key of a job, by section. A key comes after the one that governs it: values are set in
/// this order.
pub(super) static JOB: [Section<Job>; 9] = [
    job::TARGET,
    job::IO_PATH,
    operations::OPERATIONS,
    operations::DETAILS,
    operations::PACE,
    operations::THROTTLING,
    ending::END,
    ending::FAILURES,
    ending::VERIFICATION,
];

pub(super) fn job_keys() -> impl Iterator<Item = &'static Key<Job>> {
    JOB.iter().flat_map(|section| section.keys)
}

/// The row of this name, or of this former name.
pub(super) fn job_key(name: &str) -> Option<&'static Key<Job>> {
    job_keys().find(|key| key.name == name || key.former == Some(name))
}

/// Whether the two set the same thing.
pub(super) fn same_group(a: &Key<Job>, b: &Key<Job>) -> bool {
    a.name == b.name || (a.group.is_some() && a.group == b.group)
}

fn put<T>(place: &mut T, read: Result<T, Complaint>) -> Result<(), Complaint> {
    *place = read?;
    Ok(())
}

/// The place of a key in the table.
pub(super) fn rank(key: &Key<Job>) -> usize {
    job_keys()
        .position(|row| row.name == key.name)
        .unwrap_or(usize::MAX)
}
