//! In: the text of a study in TOML.
//! Out: a Plan as meant, Notes, a Publication, or an error with a place; a Plan as text again.
//! Never: a file, a run, an option dropped in silence.
//!
//! The native format: a study in TOML.
//!
//! The text is parsed twice: [`raw`] keeps what is written and where, [`resolve`] turns it into a
//! [`Plan`]. The name, meaning and values of a key are in one place, the table of [`keys`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod assemble;
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

pub use blocklab_syntax::toml_tree::Error;
pub use keys::WantedTrace;
pub use overrides::{Overrides, apply};
pub use raw::place_of;
pub use reference::reference;
pub use render::{left_out, render};
pub use resolve::{MOST_CASES, swept_name};

use blocklab_syntax::toml_tree::{self, Complaint};

/// A commented study that runs as it is, and after it every key of the format.
pub const EXAMPLE: &str = include_str!("example.toml");

/// A study, its keys inherited and its sweeps written out.
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
    /// The recorded loads that cases replay: whoever runs the plan puts them into it.
    pub traces: Vec<CaseTrace>,
    /// What else it shows: systems, tables, published figures, conclusions.
    pub publication: Publication,
}

/// A case that replays a recorded load. Until that is read, the case has one job as a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTrace {
    /// The case.
    pub case: String,
    /// The line in which it begins.
    pub line: usize,
    /// What is replayed, and how.
    pub wanted: WantedTrace,
}

/// Reads a study. `file_name` is used in the diagnostics, and for a study without a name.
///
/// # Errors
/// [`Error`] with the place, the reason and what would work: text that is no TOML, unknown keys,
/// impossible values and combinations, names used twice, sweeps without end.
pub fn parse(text: &str, file_name: &str) -> Result<Parsed, Error> {
    parse_study(text, file_name).map_err(|complaint| Error::new(file_name, text, complaint))
}

/// As [`parse`], with a complaint that does not know the file yet.
fn parse_study(text: &str, file_name: &str) -> Result<Parsed, Complaint> {
    let twice = "keep one of the two; to run both values of a job's key, sweep it in [matrix]";
    let document = toml_tree::parse(text, twice)?;
    let raw = raw::read(&document)?;
    let mut parsed = resolve::resolve(&raw, text, name_from(file_name))?;
    publication::read(&document, &parsed.plan, &mut parsed.publication)?;
    Ok(parsed)
}

/// `studies/deep.toml` is the study `deep`.
fn name_from(file_name: &str) -> &str {
    let base = file_name.rsplit('/').next().unwrap_or(file_name);
    match base.strip_suffix(".toml").unwrap_or(base) {
        "" => "study",
        name => name,
    }
}
