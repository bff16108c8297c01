//! What is wrong with a parameter file or a command line.

use std::fmt;

/// Where a parameter stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file; empty: the command line.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            return f.write_str("command line");
        }
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A mistake of whoever wrote the parameters: where, what, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {about}: {message}")]
pub struct Mistake {
    /// The line; of a rule over several parameters, that of the definition it is about.
    pub place: Place,
    /// The keyword or definition: `iorate=`, `rd=rd1`.
    pub about: String,
    /// What is wrong with it, then what would work.
    pub message: String,
}

impl Mistake {
    /// About a keyword or a definition at a place.
    pub(crate) fn new(place: &Place, about: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.clone(),
            about: about.into(),
            message: message.into(),
        }
    }
}
