//! A place in a device file and what is wrong there, shown with the line and a pointer.

use std::fmt;
use std::ops::Range;

/// What is wrong with a device file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Line and column, both counted from 1, and the line itself; `None`: all of it is meant.
    place: Option<(usize, usize, String)>,
    /// How many characters are meant.
    width: usize,
    /// Why it is wrong, and what would work.
    message: String,
}

impl Mistake {
    pub(super) fn whole(message: String) -> Self {
        Self {
            place: None,
            width: 0,
            message,
        }
    }

    pub(super) fn at(text: &str, at: Range<usize>, message: String) -> Self {
        let start = text.floor_char_boundary(at.start);
        let end = text.floor_char_boundary(at.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[line_start..]
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        let number = text[..start].matches('\n').count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        let on_line = text[start..end].lines().next().unwrap_or_default();
        Self {
            place: Some((number, column, line)),
            width: on_line.chars().count().max(1),
            message,
        }
    }
}

impl std::error::Error for Mistake {}

/// As it is written behind the name of the file: `:3:8: …`, and the line with a pointer.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((line, column, text)) = &self.place else {
            return write!(f, ": {}", self.message);
        };
        let shown: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let (blanks, carets) = (" ".repeat(column - 1), "^".repeat(self.width));
        write!(
            f,
            ":{line}:{column}: {}\n  | {shown}\n  | {blanks}{carets}",
            self.message
        )
    }
}
