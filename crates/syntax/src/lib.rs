//! In: text in the encodings and forms that tools write.
//! Out: plain text, numbers, trees of XML elements, TOML values, mistakes with their places.
//! Never: a particular tool; I/O.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod encoding;
pub mod number;
pub mod option;
pub mod toml_tree;
pub mod xml_tree;

use std::fmt;
use std::sync::Arc;

/// A place in what the user wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// Name of the file; `None`: the command line.
    pub file: Option<Arc<str>>,
    /// Line from 1; 0: the whole text.
    pub line: usize,
}

impl Place {
    /// The command line.
    pub const COMMAND_LINE: Self = Self {
        file: None,
        line: 0,
    };
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) if self.line == 0 => f.write_str(file),
            Some(file) => write!(f, "{file}:{}", self.line),
            None => f.write_str("command line"),
        }
    }
}

/// A user's mistake in a command line or a file: where it is, what is wrong, and what would work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Its place, if its language has several.
    pub place: Option<Place>,
    /// The option, element or target with the mistake; empty if the message names it.
    pub about: String,
    /// What is wrong, and what would work.
    pub message: String,
}

impl Mistake {
    /// A mistake in `about`, an option, element or target.
    pub fn new(about: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: None,
            about: about.into(),
            message: message.into(),
        }
    }

    /// A mistake at this place, whose message names the subject.
    pub fn here(place: &Place, message: impl Into<String>) -> Self {
        Self::new("", message).at(place)
    }

    /// The same mistake at this place.
    #[must_use]
    pub fn at(self, place: &Place) -> Self {
        Self {
            place: Some(place.clone()),
            ..self
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.about.is_empty() {
            write!(f, "{}: ", self.about)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_says_where_about_what_and_why() {
        let why = Mistake::new("", "it has no profiles");
        assert_eq!(why.to_string(), "it has no profiles");
        let about = Mistake::new("iorate=", "above 0");
        assert_eq!(about.to_string(), "iorate=: above 0");
        let line = Place {
            file: Some("parmfile".into()),
            line: 3,
        };
        let placed = about.at(&line).to_string();
        assert_eq!(placed, "parmfile:3: iorate=: above 0");
        let typed = Place {
            file: None,
            line: 0,
        };
        let placed = why.at(&typed).to_string();
        assert_eq!(placed, "command line: it has no profiles");
    }
}
