//! What is asked: the need, and what the user accepts.

use std::ops::RangeInclusive;

use blocklab_catalog::Hosts;
use blocklab_units::Nanos;

use crate::need::Need;

/// A vendor, and the region whose prices hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seller {
    /// As it stands before the `/` of an address.
    pub vendor: String,
    /// As its lists call it.
    pub region: String,
    /// The user named the region, so that addresses name it too.
    pub is_named: bool,
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
    /// The machine that the user has.
    pub own: Option<String>,
    /// How many volumes may share the load.
    pub volumes: RangeInclusive<u32>,
    /// What is stored outlives the machine.
    pub durable: bool,
    /// How long the load lasts.
    pub horizon: Nanos,
    /// Share of the price of machines that is not paid, 0 to 1.
    pub discount: f64,
    /// The only machine that counts, where the volumes stay on it.
    pub only: Option<String>,
    /// The need is what was delivered, and not what was asked for.
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
    #[must_use]
    pub fn with_need(&self, need: Need) -> Self {
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

    /// What the machine costs of its list price.
    pub(crate) fn paid(&self) -> f64 {
        1.0 - self.discount
    }
}
