//! Parameter files as lines: comments dropped, variables replaced, other files included.

use std::io;
use std::path::Path;

use super::mistake::{Mistake, Place};

/// A line that holds parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) place: Place,
    pub(super) text: String,
}

/// Reads a file by its name. Reading is the caller's business.
pub type Reader<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// A variable from the command line, and whether it was found.
struct Variable<'a> {
    name: &'a str,
    value: &'a str,
    used: bool,
}

/// All lines of all files, in order.
pub(super) struct Lines<'a> {
    read: Reader<'a>,
    variables: Vec<Variable<'a>>,
    /// Files that are being read, outermost first.
    open: Vec<String>,
    found: Vec<Line>,
}

/// More lines than any person writes; a bound for what includes may multiply.
const MOST_LINES: usize = 1_000_000;

impl<'a> Lines<'a> {
    pub(super) fn of(
        files: &[String],
        variables: &'a [(String, String)],
        read: Reader<'a>,
    ) -> Result<Vec<Line>, Mistake> {
        let mut variables: Vec<Variable<'a>> = variables
            .iter()
            .map(|(name, value)| Variable {
                name,
                value,
                used: false,
            })
            .collect();
        // `$sizes` must not be taken for `$size` and an s.
        variables.sort_by_key(|variable| std::cmp::Reverse(variable.name.len()));
        let mut lines = Self {
            read,
            variables,
            open: Vec::new(),
            found: Vec::new(),
        };
        for file in files {
            lines.file(file, &Place::default())?;
        }
        lines.all_used()?;
        Ok(lines.found)
    }

    fn file(&mut self, name: &str, from: &Place) -> Result<(), Mistake> {
        if self.open.iter().any(|open| open == name) {
            let chain = self.open.join(" includes ");
            return Err(Mistake::new(
                from,
                "include=",
                format!("{chain} includes {name} again: the circle has no end"),
            ));
        }
        let text = (self.read)(Path::new(name)).map_err(|error| {
            Mistake::new(
                from,
                if from.file.is_empty() {
                    "-f"
                } else {
                    "include="
                },
                format!("cannot read {name}: {error}"),
            )
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
    fn line(&mut self, text: &str, place: &Place) -> Result<bool, Mistake> {
        let text = text.trim();
        if text.starts_with("eof") {
            return Ok(false);
        }
        if text.is_empty() || text.starts_with(['/', '#', '*']) {
            return Ok(true);
        }
        let text = self.replace(text, place)?;
        if let Some(name) = text.strip_prefix("include=") {
            self.include(first_word(name), place)?;
            return Ok(true);
        }
        if self.found.len() >= MOST_LINES {
            return Err(Mistake::new(place, "the file", "more than a million lines"));
        }
        self.found.push(Line {
            place: place.clone(),
            text,
        });
        Ok(true)
    }

    /// A bare name is looked for beside the file that includes it, then in the current directory.
    fn include(&mut self, name: &str, place: &Place) -> Result<(), Mistake> {
        if name.is_empty() {
            return Err(Mistake::new(
                place,
                "include=",
                "a file name must follow, as in include=luns.vdb",
            ));
        }
        let beside = Path::new(&place.file).parent().map(|dir| dir.join(name));
        let beside = beside.filter(|_| !name.contains('/'));
        match beside {
            Some(path) if (self.read)(&path).is_ok() => self.file(&path.to_string_lossy(), place),
            _ => self.file(name, place),
        }
    }

    fn replace(&mut self, text: &str, place: &Place) -> Result<String, Mistake> {
        let mut text = text.to_owned();
        for variable in &mut self.variables {
            for mark in ['$', '!'] {
                let name = format!("{mark}{}", variable.name);
                if text.contains(&name) {
                    variable.used = true;
                    text = text.replace(&name, variable.value);
                }
            }
        }
        let known = text.contains("$host") || text.contains("!host");
        let unknown = ["=$", "=!"].into_iter().find_map(|mark| text.find(mark));
        match unknown {
            Some(at) if !known => {
                let word = text[at + 1..].split([',', ' ', ')']).next().unwrap_or("");
                let name = word.get(1..).unwrap_or("");
                Err(Mistake::new(
                    place,
                    word,
                    format!(
                        "nothing on the command line says what it stands for; {name}=VALUE after \
                         the file would"
                    ),
                ))
            }
            _ => Ok(text),
        }
    }

    fn all_used(&self) -> Result<(), Mistake> {
        match self.variables.iter().find(|variable| !variable.used) {
            None => Ok(()),
            Some(unused) => Err(Mistake::new(
                &Place::default(),
                format!("{}={}", unused.name, unused.value),
                format!("no parameter file uses ${0} or !{0}", unused.name),
            )),
        }
    }
}

/// Text up to the first blank.
pub(super) fn first_word(text: &str) -> &str {
    text.split([' ', '\t']).next().unwrap_or("")
}
