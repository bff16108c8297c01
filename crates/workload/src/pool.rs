//! Jobs that share operations in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use blocklab_units::with_defaults;
use serde::{Deserialize, Serialize};

use crate::KeyPlan;

with_defaults! {
    /// A job that shares the operations in flight of a pool with others: all jobs of one pool are
    /// driven by one thread, on the same targets, and their operations wait in one queue.
    ///
    /// ```text
    ///   job a ──arrivals──┐
    ///   job b ──arrivals──┼──▶ queue, earliest first ──▶ `depth` operations in flight
    ///   job c ──closed────┘
    /// ```
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Pooled {
        /// Which jobs belong together.
        pub pool: String = String::new(),
        /// Operations in flight of the whole pool, at least 1.
        pub depth: u32 = 0,
        /// Who is served first where several could be: the lowest.
        pub rank: u32 = 0,
        /// Share of what all jobs of a group do, in any pool.
        pub share: Option<Share> = None,
        /// Arrivals of an open loop that wait at most, of this job; later ones are never made.
        pub queue: u32 = 2000,
        /// Distances between arrivals are uniform, from nothing to twice the mean, where the pace
        /// requests even ones.
        pub uniform: bool = false,
        /// Operations that go to a small part again and again.
        pub hits: Option<Hits> = None,
        /// Rates that take turns: operations a second, and for how many seconds.
        pub bursts: Vec<(f64, f64)> = Vec::new(),
        /// All that is read is compared with what was written. It lives on from run to run, and stands
        /// in no JSON: [`crate::Plan::missing_in_json`].
        #[serde(skip)]
        pub validation: Option<Validation> = None,
        /// Failed operations and wrong blocks after which the pool ends.
        pub most_errors: Option<MostErrors> = None,
    }
}

impl Pooled {
    /// A job alone in its pool.
    pub fn new(pool: &str, depth: u32) -> Self {
        Self {
            pool: pool.to_owned(),
            depth,
            ..Self::default()
        }
    }
}

/// How many errors end a pool. Pools that hold clones of one limit count together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MostErrors {
    most: u32,
    counter: u32,
    #[serde(skip)]
    so_far: Arc<AtomicU64>,
}

impl MostErrors {
    /// A limit, at least 1, at which nothing has been counted. `counter` distinguishes it from the others
    /// of its plan: what has the same number there is a clone.
    pub fn new(most: u32, counter: u32) -> Self {
        Self {
            most: most.max(1),
            counter,
            so_far: Arc::default(),
        }
    }

    /// Which of the counters of its plan it is.
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// The limit.
    pub const fn most(&self) -> u32 {
        self.most
    }

    /// Counts errors. Returns whether that is enough.
    pub fn count(&self, errors: u64) -> bool {
        self.so_far.fetch_add(errors, Ordering::Relaxed) + errors >= u64::from(self.most)
    }
}

/// The count is no part of the plan.
impl PartialEq for MostErrors {
    fn eq(&self, other: &Self) -> bool {
        (self.most, self.counter) == (other.most, other.counter)
    }
}

/// A share of the operations of a group of jobs without a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Which jobs belong together.
    pub group: u32,
    /// Share, in any unit.
    pub weight: f64,
}

/// A part of the target that is hit again and again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hits {
    /// Share of the reads that go there, in per cent.
    pub read_percent: f64,
    /// Share of the writes that go there, in per cent.
    pub write_percent: f64,
    /// First byte of it.
    pub offset: u64,
    /// Bytes of it.
    pub len: u64,
}

/// How what is read is compared with what was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// How the keys of the storage are made; whoever runs the job has those of earlier runs.
    pub keys: KeyPlan,
    /// A block is read, and checked, before it is written again.
    pub read_before_write: bool,
    /// A block is read, and checked, as soon as it is written.
    pub read_after_write: bool,
    /// Where writes are noted, so that a later run knows of them.
    pub journal: Option<Journal>,
    /// Wrong blocks, of all storage that one command uses, after which a run ends; at least 1.
    pub most_wrong: u64,
}

/// Where and how writes are noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// Path of its files, without their endings.
    pub path: String,
    /// Only what is known at the beginning and at the end is kept, not each write.
    pub map_only: bool,
    /// Each note is on stable storage before its write begins.
    pub sync: bool,
}
