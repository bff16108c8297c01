//! Parameter files as lines: comments dropped, variables replaced, other files included.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::error::{ParseError, Place};

/// A line that holds parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) place: Place,
    pub(super) text: String,
}

/// Reads a file by its name. Reading is the caller's business.
pub type Reader<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// All lines of all files, in order.
pub(super) struct Lines<'a> {
    read: Reader<'a>,
    /// From the command line, longer names first; and the names of those that were found.
    variables: Vec<&'a (String, String)>,
    used: BTreeSet<&'a str>,
    /// Files that are being read, outermost first.
    open: Vec<String>,
    found: Vec<Line>,
}

/// More lines than any person writes; a bound for what includes may multiply.
const MOST_LINES: usize = 1_000_000;

impl<'a> Lines<'a> {
    pub(super) fn read(
        files: &[String],
        variables: &'a [(String, String)],
        read: Reader<'a>,
    ) -> Result<Vec<Line>, ParseError> {
        let mut variables: Vec<&(String, String)> = variables.iter().collect();
        // `$sizes` must not be taken for `$size` and an s.
        variables.sort_by_key(|(name, _)| Reverse(name.len()));
        let mut lines = Self {
            read,
            variables,
            used: BTreeSet::new(),
            open: Vec::new(),
            found: Vec::new(),
        };
        for file in files {
            lines.file(file, &Place::default())?;
        }
        lines.all_used()?;
        Ok(lines.found)
    }

    fn file(&mut self, name: &str, from: &Place) -> Result<(), ParseError> {
        if self.open.iter().any(|open| open == name) {
            let chain = self.open.join(" includes ");
            let message = format!("{chain} includes {name} again: the circle has no end");
            return Err(ParseError::new(from, "include=", message));
        }
        let about = if from.file.is_empty() {
            "-f"
        } else {
            "include="
        };
        let text = (self.read)(Path::new(name)).map_err(|error| {
            ParseError::new(from, about, format_args!("cannot read {name}: {error}"))
        })?;
        self.open.push(name.to_owned());
        for (number, text) in text.lines().enumerate() {
            let place = Place {
                file: name.to_owned(),
                line: number + 1,
            };
            if !self.line(text, &place)? {
                break;
            }
        }
        self.open.pop();
        Ok(())
    }

    /// Whether reading of this file goes on.
    fn line(&mut self, text: &str, place: &Place) -> Result<bool, ParseError> {
        let text = text.trim();
        if text.starts_with("eof") {
            return Ok(false);
        }
        if text.is_empty() || text.starts_with(['/', '#', '*']) {
            return Ok(true);
        }
        let text = self.replace(text, place)?;
        if let Some(name) = text.strip_prefix("include=") {
            self.include(name.split([' ', '\t']).next().unwrap_or(""), place)?;
            return Ok(true);
        }
        if self.found.len() >= MOST_LINES {
            return Err(ParseError::new(
                place,
                "the file",
                "more than a million lines",
            ));
        }
        self.found.push(Line {
            place: place.clone(),
            text,
        });
        Ok(true)
    }

    /// A bare name is looked for beside the file that includes it, then in the current directory.
    fn include(&mut self, name: &str, place: &Place) -> Result<(), ParseError> {
        if name.is_empty() {
            let message = "a file name must follow, as in include=luns.vdb";
            return Err(ParseError::new(place, "include=", message));
        }
        let beside = Path::new(&place.file).parent().map(|dir| dir.join(name));
        let beside = beside.filter(|_| !name.contains('/'));
        match beside {
            Some(path) if (self.read)(&path).is_ok() => self.file(&path.to_string_lossy(), place),
            _ => self.file(name, place),
        }
    }

    fn replace(&mut self, text: &str, place: &Place) -> Result<String, ParseError> {
        let mut text = text.to_owned();
        for (name, value) in &self.variables {
            for mark in ['$', '!'] {
                let marked = format!("{mark}{name}");
                if text.contains(&marked) {
                    self.used.insert(name);
                    text = text.replace(&marked, value);
                }
            }
        }
        let known = text.contains("$host") || text.contains("!host");
        let unknown = ["=$", "=!"].into_iter().find_map(|mark| text.find(mark));
        match unknown {
            Some(at) if !known => {
                let word = text[at + 1..].split([',', ' ', ')']).next().unwrap_or("");
                let name = word.get(1..).unwrap_or("");
                let message = format!(
                    "nothing on the command line says what it stands for; {name}=VALUE after the \
                     file would"
                );
                Err(ParseError::new(place, word, message))
            }
            _ => Ok(text),
        }
    }

    fn all_used(&self) -> Result<(), ParseError> {
        let mut variables = self.variables.iter();
        match variables.find(|(name, _)| !self.used.contains(&**name)) {
            None => Ok(()),
            Some((name, value)) => Err(ParseError::in_command(
                &format!("{name}={value}"),
                format_args!("no parameter file uses ${name} or !{name}"),
            )),
        }
    }
}
