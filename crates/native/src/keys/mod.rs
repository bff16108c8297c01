//! The option table: one option, one row. Reading, writing, error hints, the reference page and
//! the tail of the example are all derived from it.

mod end;
mod finer;
mod job;
mod operations;
mod priority;
mod proof;
mod restraint;
mod study;
mod words;

use blocklab_workload::Job;

use super::error::Complaint;
use super::value::Value;

pub(super) use study::{CASE, Case, STUDY, Study};

/// One option.
pub(super) struct Key<T> {
    /// As it is written.
    pub name: &'static str,
    /// What kind of value it takes, for people: `size`, `whole number`.
    pub kind: &'static str,
    /// One sentence.
    pub meaning: &'static str,
    /// Values that it takes, beyond what the kind says.
    pub allowed: Allowed,
    /// A value, as it is written.
    pub example: &'static str,
    /// The default in words, where [`Key::show`] of a new job does not tell it.
    pub default: Option<&'static str>,
    /// Names of the same thing in other tools: for hints only.
    pub elsewhere: &'static [&'static str],
    /// Keys of one group say the same thing in different ways: the most specific one counts.
    pub group: Option<&'static str>,
    /// Where it makes sense.
    pub need: Need,
    /// Puts the value into its place.
    pub set: fn(&mut T, Value<'_>) -> Result<(), Complaint>,
    /// The value as it is written; `None` where the key does not apply.
    pub show: fn(&T) -> Option<String>,
}

/// What a key takes.
#[derive(Clone, Copy)]
pub(super) enum Allowed {
    /// Told in words; empty: whatever the kind says.
    Said(&'static str),
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, or what is said.
    WordsOr(&'static [&'static str], &'static str),
}

impl Allowed {
    /// For a hint or a table; nothing where the kind says it all.
    pub fn text(self) -> Option<String> {
        match self {
            Self::Said("") => None,
            Self::Said(text) => Some(text.to_owned()),
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
    /// Where that key has this value; and there it may stand.
    With(&'static str, &'static str),
    /// Where that key has this value; and there it must stand.
    Completes(&'static str, &'static str),
    /// Where that key is given.
    Given(&'static str),
}

impl Need {
    /// The key that decides whether this one applies.
    pub const fn governor(self) -> Option<&'static str> {
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

    /// Whether the governor's value, as shown, lets the key apply.
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
        allowed: Allowed::Said(""),
        example: "",
        default: None,
        elsewhere: &[],
        group: None,
        need: Need::Nothing,
        set: |_, _| Ok(()),
        show: |_| None,
    };

    /// `depth = 32`.
    pub fn line(&self) -> String {
        format!("{} = {}", self.name, self.example)
    }

    /// Reads a value; a complaint tells what is allowed and shows an example.
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

/// Keys that belong together, under a heading.
pub(super) struct Section<T: 'static> {
    pub title: &'static str,
    pub keys: &'static [Key<T>],
}

/// Every key of a job, by section. A key stands behind the one that governs it: values are set in
/// this order.
pub(super) static JOB: [Section<Job>; 9] = [
    job::TARGET,
    job::ROAD,
    operations::OPERATIONS,
    operations::PACE,
    end::END,
    end::CARE,
    proof::PROOF,
    finer::FINER,
    restraint::RESTRAINT,
];

/// Every key of a job, in order.
pub(super) fn job_keys() -> impl Iterator<Item = &'static Key<Job>> {
    JOB.iter().flat_map(|section| section.keys)
}

/// The row of this name.
pub(super) fn job_key(name: &str) -> Option<&'static Key<Job>> {
    job_keys().find(|key| key.name == name)
}

/// Whether the two say the same thing.
pub(super) fn same_group(a: &Key<Job>, b: &Key<Job>) -> bool {
    a.name == b.name || (a.group.is_some() && a.group == b.group)
}

/// Puts what was read into its place.
fn put<T>(place: &mut T, read: Result<T, Complaint>) -> Result<(), Complaint> {
    *place = read?;
    Ok(())
}

/// A text in quotes, as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Where it stands in the table.
pub(super) fn rank(key: &Key<Job>) -> usize {
    job_keys()
        .position(|row| row.name == key.name)
        .unwrap_or(usize::MAX)
}
