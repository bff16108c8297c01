//! Parameter files as lines: comments dropped, variables replaced, other files included.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::error::{Mistake, Place};

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
    /// Names and values from the command line, longer names first.
    variables: Vec<&'a (String, String)>,
    /// The names of the variables that a file uses.
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
    ) -> Result<Vec<Line>, Mistake> {
        let mut variables: Vec<&(String, String)> = variables.iter().collect();
        // Longer names first: `$sizes` must not be read as `$size` followed by an s.
        variables.sort_by_key(|(name, _)| Reverse(name.len()));
        let mut lines = Self {
            read,
            variables,
            used: BTreeSet::new(),
            open: Vec::new(),
            found: Vec::new(),
        };
        for file in files {
            lines.read_file(file, &Place::default())?;
        }
        lines.check_all_used()?;
        Ok(lines.found)
    }

    /// Adds the lines of a file and of those that it includes.
    fn read_file(&mut self, name: &str, from: &Place) -> Result<(), Mistake> {
        if self.open.iter().any(|open| open == name) {
            let chain = self.open.join(" includes ");
            let message = format!("{chain} includes {name} again: the circle has no end");
            return Err(Mistake::new("include=", message).at(from));
        }
        let about = from.file.as_ref().map_or("-f", |_| "include=");
        let text = (self.read)(Path::new(name)).map_err(|error| {
            Mistake::new(about, format!("cannot read {name}: {error}")).at(from)
        })?;
        self.open.push(name.to_owned());
        for (number, text) in text.lines().enumerate() {
            let place = Place {
                file: Some(name.into()),
                line: number + 1,
            };
            if !self.read_line(text, &place)? {
                break;
            }
        }
        self.open.pop();
        Ok(())
    }

    /// Reads a line. False, if the rest of the file is to be ignored.
    fn read_line(&mut self, text: &str, place: &Place) -> Result<bool, Mistake> {
        let text = text.trim();
        if text.starts_with("eof") {
            return Ok(false);
        }
        if text.is_empty() || text.starts_with(['/', '#', '*']) {
            return Ok(true);
        }
        let text = self.replace_variables(text, place)?;
        if let Some(name) = text.strip_prefix("include=") {
            self.include(name.split([' ', '\t']).next().unwrap_or(""), place)?;
            return Ok(true);
        }
        if self.found.len() >= MOST_LINES {
            return Err(Mistake::new("the file", "more than a million lines").at(place));
        }
        self.found.push(Line {
            place: place.clone(),
            text,
        });
        Ok(true)
    }

    /// A bare name is looked for next to the file that includes it, then in the current directory.
    fn include(&mut self, name: &str, place: &Place) -> Result<(), Mistake> {
        if name.is_empty() {
            let message = "a file name must follow, as in include=luns.vdb";
            return Err(Mistake::new("include=", message).at(place));
        }
        let file = place.file.as_deref().filter(|_| !name.contains('/'));
        let sibling = file.and_then(|file| Some(Path::new(file).parent()?.join(name)));
        match sibling {
            Some(path) if (self.read)(&path).is_ok() => {
                self.read_file(&path.to_string_lossy(), place)
            }
            _ => self.read_file(name, place),
        }
    }

    /// Replaces `$NAME` and `!NAME` by the values of the command line. What is left behind a `=`
    /// must be `$host`, which is replaced when the hosts have been read.
    fn replace_variables(&mut self, text: &str, place: &Place) -> Result<String, Mistake> {
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
        let marks = text.match_indices(['$', '!']);
        let mut left = marks
            .filter(|(at, _)| text[..*at].ends_with('='))
            .map(|(at, _)| &text[at..]);
        let Some(unknown) = left.find(|word| !word[1..].starts_with("host")) else {
            return Ok(text);
        };
        let name = unknown[1..].split(|c: char| !c.is_alphanumeric() && c != '_');
        let name = name.take(1).collect::<String>();
        let word = &unknown[..1 + name.len()];
        let message =
            format!("the command line does not define it; {name}=VALUE after the file would");
        Err(Mistake::new(word, message).at(place))
    }

    fn check_all_used(&self) -> Result<(), Mistake> {
        let mut variables = self.variables.iter();
        match variables.find(|(name, _)| !self.used.contains(&**name)) {
            None => Ok(()),
            Some((name, value)) => {
                let message = format!("no parameter file uses ${name} or !{name}");
                Err(Mistake::new(format!("{name}={value}"), message).at(&Place::COMMAND_LINE))
            }
        }
    }
}
