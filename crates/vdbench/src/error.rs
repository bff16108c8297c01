//! What is wrong with a parameter file or a command line.

use std::fmt::{self, Display};

/// Where a parameter stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file; empty: the command line.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.is_empty() {
            true => f.write_str("command line"),
            false => write!(f, "{}:{}", self.file, self.line),
        }
    }
}

/// What a user wrote and cannot mean: where, what, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {about}: {message}")]
pub struct ParseError {
    /// The line; of a rule over several parameters, that of the definition it is about.
    pub place: Place,
    /// The keyword or definition: `iorate=`, `rd=rd1`.
    pub about: String,
    /// What is wrong with it, then what would work.
    pub message: String,
}

impl ParseError {
    /// About a keyword or a definition at a place.
    pub(crate) fn new(place: &Place, about: impl Into<String>, message: impl Display) -> Self {
        Self {
            place: place.clone(),
            about: about.into(),
            message: message.to_string(),
        }
    }

    /// About a word of the command line.
    pub fn in_command(word: &str, message: impl Display) -> Self {
        Self::new(&Place::default(), word, message)
    }
}

/// What an error can be about: a parameter or a definition.
pub trait Subject {
    /// Where it is written, and its name: `iorate=`, `rd=rd1`.
    fn subject(&self) -> (&Place, String);

    /// An error about it.
    fn error(&self, message: impl Display) -> ParseError {
        let (place, about) = self.subject();
        ParseError::new(place, about, message)
    }

    /// An error about it unless something holds.
    ///
    /// # Errors
    /// Where it does not hold.
    fn check(&self, holds: bool, message: impl Display) -> Result<(), ParseError> {
        self.checked((), holds, message)
    }

    /// A value if something holds, else an error about it.
    ///
    /// # Errors
    /// Where it does not hold.
    fn checked<T>(&self, value: T, holds: bool, message: impl Display) -> Result<T, ParseError> {
        match holds {
            true => Ok(value),
            false => Err(self.error(message)),
        }
    }
}
