//! One `keyword=value` of a parameter file.

use super::mistake::{Mistake, Place};

/// One `keyword=value`, the value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) place: Place,
    /// In lower case, as written: it may be abbreviated.
    pub(super) keyword: String,
    /// Behind the first `=`, quotes taken off.
    pub(super) raw: Vec<Piece>,
}

/// A character of a value, and whether quotes protect it.
pub(super) type Piece = (char, bool);

impl Parameter {
    /// The value as text.
    pub(super) fn text(&self) -> String {
        text(&self.raw)
    }

    /// A mistake at this parameter.
    pub(super) fn wrong(&self, message: impl Into<String>) -> Mistake {
        Mistake::new(&self.place, format!("{}=", self.keyword), message)
    }
}

pub(super) fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|(letter, _)| letter).collect()
}
