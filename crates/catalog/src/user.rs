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
//! %% volume-types
//! type,iops,…
//! %% volume-limits
//! type,limit,…
//! %% volume-latency
//! latency,part,…
//! %% volume-prices
//! region,type,…
//! ```
//!
//! Lines that are empty or begin with `#` are comments.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use blocklab_workload::Date;

use crate::Error;
use crate::embedded::{SECTIONS, Section};
use crate::figure::unit;
use crate::price_list::lists;
use crate::table::{Table, cells};

/// A user's own figures, by section. Each text is a table as the embedded ones are; empty: none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct User([String; SECTIONS.len()]);

const HEAD: &str = "blocklab catalog 1";

/// The file of imported figures in the user's folder.
pub(crate) fn imported(folder: &Path) -> PathBuf {
    folder.join("imported.txt")
}

/// The file that the user writes by hand. An import does not touch it.
pub(crate) fn own_file(folder: &Path) -> PathBuf {
    folder.join("own.txt")
}

impl User {
    /// Reads the file of a user.
    ///
    /// # Errors
    /// The line, counted from 1, and what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut user = Self::default();
        let mut section = None;
        let mut lines = text.lines().zip(1..);
        match lines.next() {
            None => return Err((1, "it is empty".to_owned())),
            Some((HEAD, _)) => {}
            Some(_) => return Err((1, "this is no catalog of this version".to_owned())),
        }
        for (line, number) in lines {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix("%% ") {
                let known = Section::named(name);
                section = Some(known.ok_or((number, "an unknown section".to_owned()))?);
                continue;
            }
            let section = section.ok_or((number, "a row before any section".to_owned()))?;
            let text = user.text_mut(section);
            check(section, text, line).map_err(|why| (number, why))?;
            text.push_str(line);
            text.push('\n');
        }
        Ok(user)
    }

    pub(crate) fn text(&self, section: Section) -> &str {
        &self.0[section as usize]
    }

    pub(crate) fn text_mut(&mut self, section: Section) -> &mut String {
        &mut self.0[section as usize]
    }

    /// The text of the file, without empty sections.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for ((_, name, _), body) in SECTIONS.iter().zip(&self.0) {
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
            Err(cause) => {
                // The half-written file is of no use, and its loss none.
                let _ = fs::remove_file(&fresh);
                Err(Error::Unwritable { path, cause })
            }
        }
    }
}

/// Checks a line of a section; `before` are its lines so far, of which the first names the columns.
fn check(section: Section, before: &str, line: &str) -> Result<(), String> {
    if section == Section::OnDemand {
        return check_list(before.is_empty(), line);
    }
    let Some(head) = before.lines().next() else {
        return if section.heads().any(|head| head == line) {
            Ok(())
        } else {
            let mut heads: Vec<&str> = section.heads().collect();
            heads.dedup();
            Err(format!("the columns must be {}", heads.join(", or ")))
        };
    };
    let (found, wanted) = (cells(line).len(), head.split(',').count());
    if found != wanted {
        return Err(format!("{found} cells, {wanted} columns"));
    }
    // A figure below zero, or an infinite one, is wrong in every column.
    let mut cells = cells(line).into_iter();
    let amounts = cells.all(|cell| cell.parse::<f64>().is_err() || amount(&cell).is_some());
    let text = format!("{head}\n{line}\n");
    let row = Table::new(&text).rows().next();
    let sound = row.is_some_and(|row| match section {
        Section::Instances | Section::Machines => amounts && row.get::<u32>("vcpu").is_some(),
        Section::VolumePrices => {
            amounts && row.get::<f64>("usd").is_some() && row.get::<Date>("date").is_some()
        }
        Section::VolumeLimits => {
            let known = unit(row.text("unit")).is_some();
            known && amount(row.text("value")).is_some() && row.get::<Date>("from").is_some()
        }
        // What they hold is checked when all of them are there.
        Section::VolumeTypes
        | Section::VolumeLatencies
        | Section::Vendors
        | Section::Names
        | Section::Places => true,
        Section::VolumeSizes => row.get::<u64>("gib").is_some(),
        Section::MachineLimits => {
            amounts && row.get::<f64>("iops").or(row.get("throughput")).is_some()
        }
        _ => row.get::<Date>("date").is_some(),
    });
    if sound {
        Ok(())
    } else {
        Err("a number, a unit or a day cannot be read".to_owned())
    }
}

/// A price or a limit. No number, an infinite or a negative one is none.
fn amount(text: &str) -> Option<f64> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|amount| amount.is_finite() && amount.is_sign_positive())
}

/// Checks a line of compressed prices; `first` is true for the first line of its section, which has
/// to name the list.
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
    let named = cells.next().is_some_and(|name| name.contains(['.', '/']));
    let prices = cells
        .flat_map(|cell| cell.split('|'))
        .all(|usd| usd.is_empty() || amount(usd).is_some());
    if named && prices {
        Ok(())
    } else {
        Err("a price cannot be read".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    fn sample() -> User {
        let mut user = User::default();
        let (sources, prices) = (Section::Sources, Section::VolumePrices);
        *user.text_mut(sources) =
            format!("{}\nmine,\"a file, of mine\",2026-11-20,\n", sources.head());
        *user.text_mut(Section::OnDemand) =
            "@ us-east-1 2026-11-18 mine\nm5.large,0.096,0.188\n".to_owned();
        *user.text_mut(prices) = format!(
            "{}\nus-east-1,gp3,gib_month,0,,0.08,2026-11-18,,mine\n",
            prices.head()
        );
        user
    }

    #[test]
    fn what_is_kept_reads_back() {
        assert_eq!(User::parse(&sample().render()), Ok(sample()));
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("a/b");
        sample().save(&inside).expect("written");
        assert_eq!(Catalog::load(&inside).expect("sound").user, sample());
        let names: Vec<_> = fs::read_dir(&inside).expect("a folder").collect();
        assert_eq!(names.len(), 1, "no other file is left");
        assert_eq!(
            Catalog::load(folder.path()).expect("none is fine").user,
            User::default()
        );
    }

    #[test]
    fn damage_is_reported_with_its_line() {
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
        // The story: a negative price of a machine was a negative amount a month.
        check(&torn.replace("0.188", "-0.188"), 7, "cannot be read");
        check(&torn.replace("0.08,", "-0,"), 10, "cannot be read");
        // The story: a price above -5 GiB billed five GiB more than the volume has.
        let above = torn.replace("gib_month,0,", "gib_month,-5,");
        check(&above, 10, "cannot be read");
        // The story: a machine of 4,000 IOPS and -100 MB/s was shown with that limit.
        let limits = Section::MachineLimits.head();
        let mut row: Vec<&str> = limits.split(',').map(|_| "").collect();
        for (column, figure) in [("iops", "4000"), ("throughput", "-100")] {
            let place = limits.split(',').position(|name| name == column);
            row[place.expect(column)] = figure;
        }
        let row = row.join(",");
        let text = format!("{head}%% machine-limits\n{limits}\n{row}\n");
        User::parse(&text.replace("-100", "100")).expect("both are amounts");
        check(&text, 4, "cannot be read");
    }
}
