//! In: what a reader of TOML objects to, and the text.
//! Out: the diagnostic with its line, a pointer below it, and what would work.
//!
//! Readers only know spans of bytes. Lines and columns are counted here, once an error is shown.

use std::fmt;
use std::ops::Range;

/// What is wrong with a text. Its `Display` is the whole diagnostic: place, reason, the
/// line with a caret, and what would work.
///
/// ```text
/// study.toml:7:1: unknown key `dept` in [[case]]
///   |
/// 7 | dept = 32
///   | ^^^^
///   = did you mean `depth`?
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Diagnostic>);

/// Boxed, so that results stay small where nothing is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Diagnostic {
    file: String,
    line: usize,
    column: usize,
    excerpt: Excerpt,
    message: String,
    hints: Vec<String>,
}

impl Error {
    /// The line of the mistake, from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// The column where the mistake begins, in characters, from 1.
    pub fn column(&self) -> usize {
        self.0.column
    }

    /// What is wrong, in one sentence, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Gives a complaint its place in the text.
    pub fn new(file: &str, text: &str, complaint: Complaint) -> Self {
        let start = floor_boundary(text, complaint.span.start);
        let end = floor_boundary(text, complaint.span.end).max(start);
        let line = line_around(text, start);
        let before = text[line.start..start].chars().count();
        let width = text[start..end.min(line.end)].chars().count();
        Self(Box::new(Diagnostic {
            file: file.to_owned(),
            line: line_of(text, start),
            column: before + 1,
            excerpt: Excerpt::new(&text[line], before, width),
            message: complaint.message,
            hints: complaint.hints,
        }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic {
            file,
            line,
            column,
            excerpt,
            message,
            hints,
        } = &*self.0;
        let margin = " ".repeat(line.to_string().len());
        let (blanks, carets) = (" ".repeat(excerpt.before), "^".repeat(excerpt.width));
        writeln!(f, "{file}:{line}:{column}: {message}")?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{line} | {}", excerpt.text)?;
        write!(f, "{margin} | {blanks}{carets}")?;
        for hint in hints {
            write!(f, "\n{margin} = {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The part of a line that is shown; for a very long one, what surrounds the mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Characters before the mistake.
    before: usize,
    /// Characters of the mistake, at least one.
    width: usize,
}

impl Excerpt {
    /// More characters than this are cut: they would wrap, and the caret would point at another place.
    const WIDEST: usize = 110;
    /// Characters that stay before the mistake in a line that is cut.
    const LEAD: usize = 50;

    /// A part of the line around the mistake, short enough for a terminal. `before` and `width` are
    /// in characters.
    fn new(line: &str, before: usize, width: usize) -> Self {
        // A tab or an escape sequence would move the caret away from what it points at.
        let line: Vec<char> = line
            .trim_end()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let skipped = if line.len() > Self::WIDEST {
            before.saturating_sub(Self::LEAD)
        } else {
            0
        };
        let end = line.len().min(skipped + Self::WIDEST);
        let mut text: String = line[skipped.min(end)..end].iter().collect();
        let mut before = before - skipped;
        if skipped > 0 {
            text.insert_str(0, "… ");
            before += 2;
        }
        if end < line.len() {
            text.push_str(" …");
        }
        let room = text.chars().count().saturating_sub(before);
        let width = width.min(room).max(1);
        Self {
            text,
            before,
            width,
        }
    }
}

/// A mistake and the bytes of the text that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Which bytes.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub message: String,
    /// What would work, a line each.
    pub hints: Vec<String>,
}

impl Complaint {
    /// About these bytes, without a hint.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// With one more line on what would work.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// With "did you mean", where there is something near.
    #[must_use]
    pub fn guess(self, guess: Option<&str>) -> Self {
        match guess {
            Some(guess) => self.hint(format!("did you mean `{guess}`?")),
            None => self,
        }
    }
}

/// The line, from 1, that holds this byte.
pub fn line_of(text: &str, byte: usize) -> usize {
    let byte = byte.min(text.len());
    text.as_bytes()[..byte]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// The line that holds this byte, without its end.
pub(super) fn line_at(text: &str, byte: usize) -> &str {
    &text[line_around(text, floor_boundary(text, byte))]
}

fn line_around(text: &str, byte: usize) -> Range<usize> {
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    let end = text[byte..]
        .find('\n')
        .map_or(text.len(), |length| byte + length);
    start..end
}

/// Parsers may point into the middle of a character, or past the end.
fn floor_boundary(text: &str, byte: usize) -> usize {
    text.floor_char_boundary(byte.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, span: Range<usize>, expected: &str) {
        let error = Error::new("s.toml", text, Complaint::new(span, "wrong").hint("right"));
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_caret_stands_below_the_mistake() {
        check(
            "a = 1\n\tbäh = 2\r\n",
            7..11,
            "s.toml:2:2: wrong\n  |\n2 |  bäh = 2\n  |  ^^^\n  = right",
        );
    }

    #[test]
    fn the_end_of_the_text_has_a_place_too() {
        check(
            "a =",
            99..120,
            "s.toml:1:4: wrong\n  |\n1 | a =\n  |    ^\n  = right",
        );
        check("", 0..0, "s.toml:1:1: wrong\n  |\n1 | \n  | ^\n  = right");
    }

    #[test]
    fn a_long_line_is_cut_around_the_mistake() {
        let text = format!("{}X{}", "a".repeat(300), "b".repeat(300));
        let error = Error::new("s", &text, Complaint::new(300..301, "wrong")).to_string();
        let lines: Vec<&str> = error.lines().collect();
        let caret = lines[3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[2].chars().nth(caret), Some('X'));
        assert!(lines[2].chars().count() < 130);
    }
}
