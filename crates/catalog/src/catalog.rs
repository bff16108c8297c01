//! The embedded figures, and above them those that a user imported.

use std::borrow::Cow;

use crate::Date;
use crate::table::Table;
use crate::user::User;

macro_rules! data {
    ($path:literal) => {
        include_str!(concat!("../data/", $path))
    };
}

pub(crate) const SOURCES: &str = data!("sources.csv");
pub(crate) const INSTANCES: &str = data!("aws/instances.csv");
pub(crate) const DOCUMENTED: &str = data!("aws/documented-limits.csv");
pub(crate) const SNAPSHOTS: &str = data!("aws/instance-snapshots.csv");
pub(crate) const STORES: &str = data!("aws/instance-store.csv");
pub(crate) const VOLUME_LIMITS: &str = data!("aws/ebs-limits.csv");
pub(crate) const BLOCK_EXPRESS: &str = data!("aws/block-express.csv");
pub(crate) const VOLUME_PRICES: &str = data!("aws/ebs-prices.csv");
pub(crate) const ON_DEMAND: &str = data!("aws/on-demand.txt");
pub(crate) const ACCOUNTING: &str = data!("aws/io-accounting.csv");
pub(crate) const RULES: &str = data!("aws/rules-in-force.csv");
pub(crate) const LATENCIES: &str = data!("aws/latency.csv");
pub(crate) const AZURE_SIZES: &str = data!("azure/vm-disk-caps.csv");
pub(crate) const STORAGE_TYPES: &str = data!("storage-types/cloud-storage-types.csv");

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

    /// The names of all volume types that an address may carry, sorted; `local` among them.
    #[must_use]
    pub fn volume_types(&self) -> Vec<String> {
        let ebs = Table::new(VOLUME_LIMITS).keys().into_iter();
        let mut names: Vec<_> = ebs
            .filter(|name| *name != "instance")
            .map(str::to_owned)
            .collect();
        names.extend(crate::foreign::storage_types());
        names.push(crate::local::NAME.to_owned());
        names.sort_unstable();
        names.dedup();
        names
    }
}
