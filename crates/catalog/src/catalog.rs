//! The embedded figures, and above them those that a user imported.

use std::borrow::Cow;

use crate::Date;
use crate::embedded::{
    INSTANCES, ON_DEMAND, SOURCES, VOLUME_LATENCIES, VOLUME_LIMITS, VOLUME_PRICES, VOLUME_TYPES,
};
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
    /// The day it speaks of, where it speaks of one.
    pub(crate) date: Option<Date>,
}

impl Catalog {
    /// The figures that the program carries, and nothing else.
    #[must_use]
    pub fn embedded() -> Self {
        Self::default()
    }

    /// The tables of one kind: the user's first, so that at equal dates theirs count.
    fn layers<'c>(
        &'c self,
        table: fn(&'c User) -> &'c str,
        embedded: &'static str,
    ) -> impl Iterator<Item = Table<'c>> {
        let texts = [table(&self.own), table(&self.user), embedded].into_iter();
        texts.filter(|text| !text.is_empty()).map(Table::new)
    }

    pub(crate) fn instances(&self) -> impl Iterator<Item = Table<'_>> {
        self.layers(|user| &user.instances, INSTANCES)
    }

    pub(crate) fn volume_type_tables(&self) -> impl Iterator<Item = Table<'_>> {
        self.layers(|user| &user.volume_types, VOLUME_TYPES)
    }

    pub(crate) fn volume_limits(&self) -> impl Iterator<Item = Table<'_>> {
        self.layers(|user| &user.volume_limits, VOLUME_LIMITS)
    }

    pub(crate) fn latency_names(&self) -> impl Iterator<Item = &str> {
        let tables = self.layers(|user| &user.volume_latencies, VOLUME_LATENCIES);
        tables.flat_map(Table::keys)
    }

    /// The rows of one latency, of the first table that has it.
    pub(crate) fn latency_rows(&self, name: &str) -> Vec<Row<'_>> {
        let tables = self.layers(|user| &user.volume_latencies, VOLUME_LATENCIES);
        let mut of_name = tables.map(|table| table.rows_of(name).collect::<Vec<_>>());
        of_name.find(|rows| !rows.is_empty()).unwrap_or_default()
    }

    pub(crate) fn volume_prices(&self) -> impl Iterator<Item = Table<'_>> {
        self.layers(|user| &user.volume_prices, VOLUME_PRICES)
    }

    pub(crate) fn on_demand(&self) -> [&str; 3] {
        [&self.own.on_demand, &self.user.on_demand, ON_DEMAND]
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
        let mut rows = self.layers(|user| &user.sources, SOURCES).flat_map(|t| {
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
