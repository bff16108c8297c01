//! In: the text of a study in TOML.
//! Out: a Plan as meant, Notes, a Publication, or an error with a place; a Plan as text again.
//! Never: a file, a run, an option dropped in silence.
//!
//! The native format: a study in TOML.
//!
//! The text is parsed twice: [`raw`] keeps what is written and where, [`resolve`] turns it into a
//! [`Plan`]. What a key is called, means and takes stands once, in the table of [`keys`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod assemble;
mod error;
mod keys;
mod left_out;
mod overrides;
mod publication;
mod raw;
mod reference;
mod render;
mod resolve;
pub mod studies;
mod value;

use blocklab_record::Note;
use blocklab_workload::Plan;
use blocklab_workload::publication::Publication;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use error::Error;
pub use overrides::{Overrides, apply};
pub use reference::reference;
pub use render::{left_out, render};
pub use resolve::{MOST_CASES, swept_name};

use error::Complaint;

/// A commented study that runs as it is, and behind it every key of the format.
pub const EXAMPLE: &str = include_str!("example.toml");

/// A study as meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What is run.
    pub plan: Plan,
    /// What was understood differently from what was written.
    pub notes: Vec<Note>,
    /// Whether the text gives the seed of every case; where it does not, it is 0 in the plan, and
    /// [`Overrides::seed`] should set one.
    pub seed_given: bool,
    /// Whether the text chooses an engine, by its name or by an option that only one has.
    pub engine_given: bool,
    /// What else it shows: systems, tables, published figures, conclusions.
    pub publication: Publication,
}

/// Reads a study. `file_name` is used in the diagnostics, and for a study without a name.
///
/// # Errors
/// [`Error`] with the place, the reason and what would work: text that is no TOML, unknown keys,
/// impossible values and combinations, names used twice, sweeps without end.
pub fn parse(text: &str, file_name: &str) -> Result<Parsed, Error> {
    understand(text, file_name).map_err(|complaint| Error::new(file_name, text, complaint))
}

fn understand(text: &str, file_name: &str) -> Result<Parsed, Complaint> {
    let document = DeTable::parse(text).map_err(|error| no_toml(text, &error))?;
    let span = document.span();
    let document = Spanned::new(span, DeValue::Table(document.into_inner()));
    let raw = raw::read(&document)?;
    let meant = resolve::resolve(&raw, text, name_from(file_name))?;
    let publication = publication::read(&document, &meant.families, meant.shares)?;
    Ok(Parsed {
        plan: meant.plan,
        publication,
        notes: meant.notes,
        seed_given: meant.seed_given,
        engine_given: raw.chooses_engine(),
    })
}

/// `studies/deep.toml` is the study `deep`.
fn name_from(file_name: &str) -> &str {
    let base = file_name.rsplit('/').next().unwrap_or(file_name);
    match base.strip_suffix(".toml").unwrap_or(base) {
        "" => "study",
        name => name,
    }
}

/// The TOML parser's message; in words of our own for the slips that people make most.
fn no_toml(text: &str, error: &toml::de::Error) -> Complaint {
    let span = error.span().unwrap_or(0..0);
    let complaint = |message: &str| Complaint::new(span.clone(), message);
    if error.message() == "duplicate key" {
        let key = text.get(span.clone()).unwrap_or_default().trim();
        return complaint(&format!("`{key}` is given twice in this place"))
            .hint("keep one of the two; to run both, sweep it in [matrix]");
    }
    if let Some((key, value)) = bare_text(error::line_at(text, span.start)) {
        return complaint("a text without quotes")
            .hint(format!("texts stand in quotes: {key} = \"{value}\""));
    }
    complaint(error.message())
}

/// The key and the value of a line such as `engine = io_uring` or `size = 4KiB`.
fn bare_text(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next().unwrap_or(value).trim();
    let bare = |c: char| c.is_alphanumeric() || "_-./%:".contains(c);
    let is_bare = value.chars().all(bare) && value.contains(char::is_alphabetic);
    (is_bare && !["true", "false"].contains(&value)).then_some((key.trim(), value))
}
