//! The embedded figures, and above them those that a user imported.

use blocklab_workload::Date;

use crate::embedded::{Section, TAILS};
use crate::table::{Row, Table};
use crate::user::User;

/// What can be bought.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// What the user wrote: it counts before everything else.
    pub(crate) own: User,
    /// What the user imported.
    pub(crate) user: User,
}

/// Where figures come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// The day it is about, where it is about one.
    pub(crate) date: Option<Date>,
}

impl Catalog {
    /// The figures that the program carries, and nothing else.
    pub fn embedded() -> Self {
        Self::default()
    }

    /// The texts of a section: the user's first, so that at equal dates theirs count.
    pub(crate) fn texts(&self, section: Section) -> impl Iterator<Item = &str> {
        let of_users = [self.own.text(section), self.user.text(section)];
        of_users
            .into_iter()
            .chain(section.embedded().iter().copied())
    }

    /// The tables of a section. Those of the user come first, so that their rows win.
    pub(crate) fn tables(&self, section: Section) -> impl Iterator<Item = Table<'_>> {
        let of_users = [self.own.text(section), self.user.text(section)]
            .into_iter()
            .filter(|text| !text.is_empty());
        let embedded = section.embedded().iter().copied();
        of_users
            .map(Table::new)
            .chain(embedded.map(Table::embedded))
    }

    /// The rows of a section, the user's first.
    pub(crate) fn rows(&self, section: Section) -> impl Iterator<Item = Row<'_>> {
        self.tables(section).flat_map(Table::rows)
    }

    /// The rows of a section about one thing, the user's first.
    pub(crate) fn rows_of<'t>(
        &'t self,
        section: Section,
        key: &str,
    ) -> impl Iterator<Item = Row<'t>> {
        let tables = self.tables(section);
        tables.flat_map(move |table| table.rows_of(key))
    }

    /// What the rows of a section are about, sorted.
    pub(crate) fn keys(&self, section: Section) -> Vec<&str> {
        let mut keys: Vec<_> = self.tables(section).flat_map(Table::keys).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The wanted rows of a section about one thing, of the first table that has any: a user's replace what
    /// is built in.
    pub(crate) fn first_rows_of(
        &self,
        section: Section,
        key: &str,
        is_wanted: impl Fn(&Row<'_>) -> bool,
    ) -> Vec<Row<'_>> {
        let tables = self.tables(section);
        let mut rows = tables.map(|table| table.rows_of(key).filter(&is_wanted).collect());
        rows.find(|rows: &Vec<_>| !rows.is_empty())
            .unwrap_or_default()
    }

    /// The rare slow operations of one latency. The rows of a user replace all that is built in.
    pub(crate) fn tail_row(&self, name: &str) -> Option<Row<'static>> {
        let section = Section::VolumeLatencies;
        let mut of_users = [&self.own, &self.user]
            .map(|tables| Table::new(tables.text(section)))
            .into_iter();
        if of_users.any(|table| table.rows_of(name).next().is_some()) {
            return None;
        }
        Table::embedded(TAILS).rows_of(name).next()
    }

    /// The source that a key of a row means; several keys are joined with `+`.
    pub(crate) fn source(&self, keys: &str) -> Source {
        let found: Vec<_> = keys.split('+').map(|key| self.one_source(key)).collect();
        let texts: Vec<_> = found.iter().map(|source| source.text.as_str()).collect();
        Source {
            text: texts.join("; "),
            date: found.first().and_then(|source| source.date),
        }
    }

    /// The newest day of which anything is known: of a document, a list, or a limit of a volume, the
    /// user's included; `None` if none has a day.
    pub fn newest_change(&self) -> Option<Date> {
        let limits = self.rows(Section::VolumeLimits);
        let begins = limits.filter_map(|row| row.get::<Date>("from"));
        begins.chain(self.newest_source()).max()
    }

    pub(crate) fn newest_source(&self) -> Option<Date> {
        let rows = self.rows(Section::Sources);
        rows.filter_map(|row| row.text("date").rsplit("..").next()?.parse().ok())
            .max()
    }

    /// The text and the last date of a source. A key without a row is its own text and has no date.
    fn one_source(&self, key: &str) -> Source {
        let row = self.rows_of(Section::Sources, key).next();
        let (text, dates) = match &row {
            Some(row) => (row.text("source"), row.text("date")),
            None => ("", ""),
        };
        let text = if text.is_empty() { key } else { text };
        let last = dates.rsplit("..").next().unwrap_or_default();
        Source {
            text: text.to_owned(),
            date: last.parse().ok(),
        }
    }

    /// The names of all EC2 instance types, sorted.
    pub fn instance_types(&self) -> Vec<&str> {
        self.keys(Section::Instances)
    }
}
