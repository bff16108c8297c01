//! The embedded figures, and above them those that a user imported.

use std::borrow::Cow;
use std::path::Path;

use crate::embedded::{INSTANCES, ON_DEMAND, SOURCES, VOLUME_PRICES};
use crate::table::Table;
use crate::user::User;
use crate::{Date, Error};

/// What can be bought.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub(crate) user: User,
}

/// Where figures come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// The day it speaks of, where it speaks of one.
    pub(crate) date: Option<Date>,
}

impl Catalog {
    /// The figures that the program carries, and nothing else.
    #[must_use]
    pub fn embedded() -> Self {
        Self::default()
    }

    /// The embedded figures, and those that were imported into this folder, if any.
    ///
    /// # Errors
    /// When the file of imported figures is there and cannot be read, or was damaged.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        User::load(folder).map(|user| Self { user })
    }

    /// The tables of one kind: the user's first, so that at equal dates theirs count.
    fn layers<'c>(user: &'c str, embedded: &'static str) -> impl Iterator<Item = Table<'c>> {
        let texts = [user, embedded].into_iter().filter(|text| !text.is_empty());
        texts.map(Table::new)
    }

    pub(crate) fn instances(&self) -> impl Iterator<Item = Table<'_>> {
        Self::layers(&self.user.instances, INSTANCES)
    }

    pub(crate) fn volume_prices(&self) -> impl Iterator<Item = Table<'_>> {
        Self::layers(&self.user.volume_prices, VOLUME_PRICES)
    }

    pub(crate) fn on_demand(&self) -> [&str; 2] {
        [&self.user.on_demand, ON_DEMAND]
    }

    /// What a key of a row stands for; several keys are joined with `+`.
    pub(crate) fn source(&self, keys: &str) -> Source {
        let found: Vec<_> = keys.split('+').map(|key| self.one_source(key)).collect();
        let texts: Vec<_> = found.iter().map(|source| source.text.as_str()).collect();
        Source {
            text: texts.join("; "),
            date: found.first().and_then(|source| source.date),
        }
    }

    fn one_source(&self, key: &str) -> Source {
        let mut rows = Self::layers(&self.user.sources, SOURCES).flat_map(|t| {
            let found: Vec<_> = t.rows_of(key).collect();
            found
        });
        let row = rows.next();
        let cell = |name: &str| {
            row.as_ref()
                .map_or(String::new(), |row| row.text(name).to_owned())
        };
        let text = match cell("source") {
            text if text.is_empty() => key.to_owned(),
            text => text,
        };
        let last = cell("date");
        let last = last.rsplit("..").next().unwrap_or_default();
        Source {
            text,
            date: last.parse().ok(),
        }
    }

    /// The names of all EC2 instance types, sorted.
    #[must_use]
    pub fn instance_types(&self) -> Vec<Cow<'_, str>> {
        let mut names: Vec<_> = self
            .instances()
            .flat_map(Table::keys)
            .map(Cow::from)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
