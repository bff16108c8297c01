//! What a user imported: the same kinds of rows as the embedded figures, in one file.
//!
//! ```text
//! blocklab catalog 1
//! %% sources
//! key,source,date,licence
//! describe-2026-11-20,…
//! %% instances
//! type,vcpu,…
//! %% on-demand
//! @ us-east-1 2026-11-18 price-list-2026-11-18
//! m5.large,0.096,0.188
//! %% ebs-prices
//! region,type,…
//! ```

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::embedded::{INSTANCES, SOURCES, VOLUME_PRICES};
use crate::price_list::lists;
use crate::table::{Table, cells};
use crate::{Date, Error};

/// A user's own figures. Each text is a table as the embedded ones are; empty: none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) sources: String,
    pub(crate) instances: String,
    pub(crate) on_demand: String,
    pub(crate) volume_prices: String,
}

const HEAD: &str = "blocklab catalog 1";
const NAMES: [&str; 4] = ["sources", "instances", "on-demand", "ebs-prices"];

/// The file of a user's figures in the folder that is theirs.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("imported.txt")
}

impl User {
    /// Those that were imported into this folder, if any.
    ///
    /// # Errors
    /// When the file is there and cannot be read, or was damaged.
    pub(crate) fn load(folder: &Path) -> Result<Self, Error> {
        let path = path(folder);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(|(line, problem)| Error::UserCatalog {
                path,
                line,
                problem,
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(Error::Unreadable { path, source }),
        }
    }

    /// # Errors
    /// The line, counted from 1, and what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut user = Self::default();
        let mut section: Option<&'static str> = None;
        for (index, line) in text.lines().enumerate() {
            let wrong = |problem: &str| (index + 1, problem.to_owned());
            if index == 0 {
                if line != HEAD {
                    return Err(wrong("this is no catalog of this version"));
                }
                continue;
            }
            if let Some(name) = line.strip_prefix("%% ") {
                let known = NAMES.into_iter().find(|known| *known == name);
                section = Some(known.ok_or_else(|| wrong("an unknown section"))?);
                continue;
            }
            let text = user.text(section.ok_or_else(|| wrong("a row before any section"))?);
            check(section.unwrap_or_default(), text.is_empty(), line).map_err(|why| wrong(&why))?;
            text.push_str(line);
            text.push('\n');
        }
        match text.is_empty() {
            true => Err((1, "it is empty".to_owned())),
            false => Ok(user),
        }
    }

    fn text(&mut self, section: &str) -> &mut String {
        match section {
            "sources" => &mut self.sources,
            "instances" => &mut self.instances,
            "on-demand" => &mut self.on_demand,
            _ => &mut self.volume_prices,
        }
    }

    pub(crate) fn render(&self) -> String {
        let texts = [
            &self.sources,
            &self.instances,
            &self.on_demand,
            &self.volume_prices,
        ];
        let mut text = format!("{HEAD}\n");
        for (name, body) in NAMES.iter().zip(texts) {
            if !body.is_empty() {
                text.push_str(&format!("%% {name}\n{body}"));
            }
        }
        text
    }

    /// Writes all of it, or nothing.
    ///
    /// # Errors
    /// When the folder cannot be made or the file not written; the old file stays as it was.
    pub(crate) fn save(&self, folder: &Path) -> Result<PathBuf, Error> {
        let path = path(folder);
        let fresh = folder.join(".imported.txt.new");
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::File::create(&fresh))
            .and_then(|mut file| {
                file.write_all(self.render().as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&fresh, &path));
        match written {
            Ok(()) => Ok(path),
            Err(source) => {
                // The half-written file is of no use, and its loss none.
                let _ = fs::remove_file(&fresh);
                Err(Error::Unwritable { path, source })
            }
        }
    }
}

/// The names of the columns of an embedded table.
pub(crate) fn head_of(table: &'static str) -> &'static str {
    table
        .lines()
        .find(|line| !line.starts_with('#'))
        .unwrap_or_default()
}

/// Whether a line can stand in a section.
fn check(section: &str, first: bool, line: &str) -> Result<(), String> {
    let head = match section {
        "sources" => head_of(SOURCES),
        "instances" => head_of(INSTANCES),
        "ebs-prices" => head_of(VOLUME_PRICES),
        _ => return check_list(first, line),
    };
    if first {
        return match line == head {
            true => Ok(()),
            false => Err(format!("the columns must be {head}")),
        };
    }
    let (found, wanted) = (cells(line).len(), head.split(',').count());
    if found != wanted {
        return Err(format!("{found} cells, {wanted} columns"));
    }
    let text = format!("{head}\n{line}\n");
    let row = Table::new(&text).rows().next();
    let sound = row.is_some_and(|row| match section {
        "instances" => row.get::<u32>("vcpu").is_some(),
        "ebs-prices" => row.get::<f64>("usd").is_some() && row.get::<Date>("date").is_some(),
        _ => row.get::<Date>("date").is_some(),
    });
    match sound {
        true => Ok(()),
        false => Err("a number or a day cannot be read".to_owned()),
    }
}

fn check_list(first: bool, line: &str) -> Result<(), String> {
    if line.starts_with("@ ") {
        return match lists(line).next() {
            Some(_) => Ok(()),
            None => Err("a price list is opened as in `@ us-east-1 2026-11-18 source`".to_owned()),
        };
    }
    if first {
        return Err("a price before any list".to_owned());
    }
    let mut cells = line.split(',');
    let named = cells.next().is_some_and(|name| name.contains('.'));
    let prices = cells.all(|usd| usd.is_empty() || usd.parse::<f64>().is_ok_and(f64::is_finite));
    match named && prices {
        true => Ok(()),
        false => Err("a price cannot be read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    fn sample() -> User {
        User {
            sources: format!(
                "{}\nmine,\"a file, of mine\",2026-11-20,\n",
                head_of(SOURCES)
            ),
            instances: String::new(),
            on_demand: "@ us-east-1 2026-11-18 mine\nm5.large,0.096,0.188\n".to_owned(),
            volume_prices: format!(
                "{}\nus-east-1,gp3,gib_month,0,,0.08,2026-11-18,,mine\n",
                head_of(VOLUME_PRICES)
            ),
        }
    }

    #[test]
    fn what_is_kept_reads_back() {
        assert_eq!(User::parse(&sample().render()), Ok(sample()));
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("a/b");
        sample().save(&inside).expect("written");
        assert_eq!(Catalog::load(&inside).expect("sound").user, sample());
        let names: Vec<_> = fs::read_dir(&inside).expect("a folder").collect();
        assert_eq!(names.len(), 1, "nothing is left beside it");
        assert_eq!(
            Catalog::load(folder.path()).expect("none is fine").user,
            User::default()
        );
    }

    #[test]
    fn damage_is_told_with_its_line() {
        let check = |text: &str, line: usize, words: &str| {
            let (at, problem) = User::parse(text).expect_err(text);
            assert_eq!(at, line, "{text}: {problem}");
            assert!(problem.contains(words), "{text}: {problem}");
        };
        let head = format!("{HEAD}\n");
        check("", 1, "empty");
        check("what?\n", 1, "no catalog");
        check(&format!("{head}x\n"), 2, "before any section");
        check(&format!("{head}%% moon\n"), 2, "unknown section");
        check(&format!("{head}%% sources\na,b\n"), 3, "columns must be");
        check(
            &format!("{head}%% on-demand\nm5.large,1\n"),
            3,
            "before any list",
        );
        check(
            &format!("{head}%% on-demand\n@ us-east-1 soon x\n"),
            3,
            "is opened as",
        );
        let torn = sample().render();
        check(&torn.replace("0.188", "0.1x8"), 7, "cannot be read");
        check(&torn.replace("0.08,", "cheap,"), 10, "cannot be read");
    }
}
