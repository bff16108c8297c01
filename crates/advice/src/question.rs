//! The question that advice answers: the need, and what the user accepts to meet it.

use std::ops::RangeInclusive;

use blocklab_catalog::{Catalog, Hosts};
use blocklab_units::Nanos;

use crate::need::Need;

/// A vendor, and the region whose prices hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seller {
    /// Its name before the `/` of an address.
    pub vendor: String,
    /// Its name in the vendor's price lists.
    pub region: String,
    /// Whether the user named the region; then the addresses of the answer name it too.
    pub is_named: bool,
}

impl Seller {
    /// The region as the addresses of the answer name it; `None`: they name none.
    pub(crate) fn region_in_addresses(&self) -> Option<String> {
        self.is_named.then(|| self.region.clone())
    }
}

/// That an architecture which is asked for leaves no machine of some sellers out, where no list has
/// those of their machines; `None`: all are known.
pub fn unknown_architectures(sellers: &[Seller], catalog: &Catalog) -> Option<String> {
    let all = Hosts::default();
    let unknown = sellers.iter().filter(|seller| {
        let hosts = catalog.hosts(&seller.vendor, &seller.region, &all);
        hosts.iter().any(|host| host.arch.is_none())
    });
    let vendors: Vec<&str> = unknown.map(|seller| seller.vendor.as_str()).collect();
    (!vendors.is_empty()).then(|| {
        let vendors = vendors.join(", ");
        format!(
            "--arch leaves no machine of {vendors} out: the catalog has no architectures of them."
        )
    })
}

/// A need, and what is accepted to meet it.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What the disk must hold and do.
    pub need: Need,
    /// Where it may be bought.
    pub sellers: Vec<Seller>,
    /// What the machine must have; `None`: volumes alone are looked for.
    pub machine: Option<Hosts>,
    /// The machine that the user has: it is answered for as well, beside the cheapest one.
    pub own: Option<String>,
    /// How many volumes may share the load.
    pub volumes: RangeInclusive<u32>,
    /// Whether data has to outlive the machine, which excludes a machine's own disks.
    pub durable: bool,
    /// How long the load lasts.
    pub horizon: Nanos,
    /// Discount on the price of machines, 0 to 1.
    pub discount: f64,
    /// The machine to which volumes are bound, as in a migration; no other is looked at.
    pub only: Option<String>,
    /// Whether the need was measured on a disk that gave all it could: more may be wanted.
    pub at_least: bool,
    /// Where the need comes from, one sentence each.
    pub remarks: Vec<String>,
}

/// Parts of a question that cannot all hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Contradiction(pub(crate) String);

impl Question {
    /// The question with another need.
    pub(crate) fn with_need(&self, need: Need) -> Self {
        Self {
            need,
            ..self.clone()
        }
    }

    /// The question with one volume only.
    #[must_use]
    pub fn without_striping(&self) -> Self {
        Self {
            volumes: 1..=1,
            ..self.clone()
        }
    }
}
