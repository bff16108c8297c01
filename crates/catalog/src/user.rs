//! What a user imported, and what a user wrote: the same kinds of rows as the embedded figures, in
//! one file each.
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
//! %% ebs-types
//! type,iops,…
//! %% ebs-limits
//! type,limit,…
//! %% ebs-latency
//! latency,part,…
//! %% ebs-prices
//! region,type,…
//! ```
//!
//! Lines that are empty or begin with `#` are comments.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::embedded::{
    INSTANCES, SOURCES, VOLUME_LATENCIES, VOLUME_LIMITS, VOLUME_PRICES, VOLUME_TYPES,
};
use crate::figure::unit;
use crate::price_list::lists;
use crate::table::{Table, cells};
use crate::{Date, Error};

/// A user's own figures. Each text is a table as the embedded ones are; empty: none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) sources: String,
    pub(crate) instances: String,
    pub(crate) on_demand: String,
    pub(crate) volume_types: String,
    pub(crate) volume_limits: String,
    pub(crate) volume_latencies: String,
    pub(crate) volume_prices: String,
}

const HEAD: &str = "blocklab catalog 1";
const NAMES: [&str; 7] = [
    "sources",
    "instances",
    "on-demand",
    "ebs-types",
    "ebs-limits",
    "ebs-latency",
    "ebs-prices",
];

/// The file of imported figures in the user's folder.
pub(crate) fn imported(folder: &Path) -> PathBuf {
    folder.join("imported.txt")
}

/// The file that the user writes by hand. An import does not touch it.
pub(crate) fn own(folder: &Path) -> PathBuf {
    folder.join("own.txt")
}

impl User {
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
            if line.is_empty() || line.starts_with('#') {
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
            "ebs-types" => &mut self.volume_types,
            "ebs-limits" => &mut self.volume_limits,
            "ebs-latency" => &mut self.volume_latencies,
            _ => &mut self.volume_prices,
        }
    }

    pub(crate) fn render(&self) -> String {
        let texts = [
            &self.sources,
            &self.instances,
            &self.on_demand,
            &self.volume_types,
            &self.volume_limits,
            &self.volume_latencies,
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
        let path = imported(folder);
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
        "ebs-types" => head_of(VOLUME_TYPES),
        "ebs-limits" => head_of(VOLUME_LIMITS),
        "ebs-latency" => head_of(VOLUME_LATENCIES),
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
        "ebs-limits" => {
            let known = unit(row.text("unit")).is_some();
            known && row.get::<f64>("value").is_some() && row.get::<Date>("from").is_some()
        }
        // What they hold is checked when all of them are there.
        "ebs-types" | "ebs-latency" => true,
        _ => row.get::<Date>("date").is_some(),
    });
    match sound {
        true => Ok(()),
        false => Err("a number, a unit or a day cannot be read".to_owned()),
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
            on_demand: "@ us-east-1 2026-11-18 mine\nm5.large,0.096,0.188\n".to_owned(),
            volume_prices: format!(
                "{}\nus-east-1,gp3,gib_month,0,,0.08,2026-11-18,,mine\n",
                head_of(VOLUME_PRICES)
            ),
            ..User::default()
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
