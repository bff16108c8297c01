//! Reads the catalog of a user from its folder: what was imported, and what the user wrote.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::embedded::Section;
use crate::user::{User, imported, own_file};
use crate::volumes::UnsoundRow;
use crate::{Catalog, Error};

impl Catalog {
    /// The embedded figures, those that were imported into this folder, and those that the user
    /// wrote into its `own.txt`, if any.
    ///
    /// # Errors
    /// When a file is there and cannot be read or understood; when a volume type of it is not
    /// described so that it can be used.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let again = "it is made by `blocklab catalog import`: remove it and import again";
        let (user, _) = load(&imported(folder), |problem| format!("{problem}; {again}"))?;
        let path = own_file(folder);
        let (own, text) = load(&path, |problem| problem)?;
        let catalog = Self { own, user };
        match catalog.check_types() {
            Ok(()) => Ok(catalog),
            Err(row) => Err(Error::UserCatalog {
                path,
                line: line_of(&text, &row),
                problem: row.why,
            }),
        }
    }
}

/// The line of a row, counted from 1, in the section that a line such as `%% volume-types` begins. The
/// first line if the row is not found.
fn line_of(text: &str, row: &UnsoundRow) -> usize {
    let mut in_section = false;
    for (line, number) in text.lines().zip(1..) {
        if let Some(name) = line.strip_prefix("%% ") {
            in_section = Section::named(name) == Some(row.section);
        }
        if in_section && line.split(',').next() == Some(&row.name) {
            return number;
        }
    }
    1
}

/// The figures of a file and its text; none where there is no such file. `wording` makes of a problem
/// what the user reads of it.
fn load(path: &Path, wording: impl Fn(String) -> String) -> Result<(User, String), Error> {
    match fs::read_to_string(path) {
        Ok(text) => match User::parse(&text) {
            Ok(user) => Ok((user, text)),
            Err((line, problem)) => Err(Error::UserCatalog {
                path: path.to_owned(),
                line,
                problem: wording(problem),
            }),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Default::default()),
        Err(cause) => Err(Error::Unreadable {
            path: path.to_owned(),
            cause,
        }),
    }
}
