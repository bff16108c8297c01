//! The settings of jobs that share their operations in flight, as plain data: Vdbench's workloads.

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
        /// Name of the pool; jobs with the same name share it.
        pub pool: String = String::new(),
        /// Operations in flight of the whole pool, at least 1.
        pub depth: u32 = 0,
        /// The lowest rank goes first, where several jobs have an operation to issue.
        pub rank: u32 = 0,
        /// Share of the operations of all jobs of a group, in any pool.
        pub share: Option<Share> = None,
        /// Most arrivals of this job that wait in an open loop; further ones are dropped.
        pub queue: u32 = 2000,
        /// Gaps between arrivals are uniform, from 0 to twice the mean, instead of the even ones of
        /// the pace.
        pub uniform: bool = false,
        /// A small part of the target that is hit again and again.
        pub hits: Option<Hits> = None,
        /// Rates that take turns: operations a second, and for how many seconds.
        pub bursts: Vec<(f64, f64)> = Vec::new(),
        /// Compares all reads with what was written. It continues from run to run and is not in the
        /// JSON: [`crate::Plan::missing_in_json`].
        #[serde(skip)]
        pub validation: Option<Validation> = None,
        /// Failed operations and wrong blocks after which the pool ends.
        pub most_errors: Option<MostErrors> = None,
    }
}

impl Pooled {
    /// The settings of a job that is alone in its pool.
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
    /// A limit of at least 1 with a count of 0. Limits of a plan with the same `counter` are clones
    /// and count together.
    pub fn new(most: u32, counter: u32) -> Self {
        Self {
            most: most.max(1),
            counter,
            so_far: Arc::default(),
        }
    }

    /// The number of its counter in the plan.
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// The limit.
    pub const fn most(&self) -> u32 {
        self.most
    }

    /// Counts errors. Returns whether the limit is reached.
    pub fn count(&self, errors: u64) -> bool {
        self.so_far.fetch_add(errors, Ordering::Relaxed) + errors >= u64::from(self.most)
    }
}

/// The count is not part of the plan.
impl PartialEq for MostErrors {
    fn eq(&self, other: &Self) -> bool {
        (self.most, self.counter) == (other.most, other.counter)
    }
}

/// A share of the operations of a group of jobs without a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The group.
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
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
}

/// How reads are compared with what was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// How the keys of the storage are made; the runner holds those of earlier runs.
    pub keys: KeyPlan,
    /// A block is read and checked before it is written again.
    pub read_before_write: bool,
    /// A block is read and checked as soon as it is written.
    pub read_after_write: bool,
    /// Where writes are recorded for a later run.
    pub journal: Option<Journal>,
    /// Number of wrong blocks after which a run ends, counted over all storages of one command; at
    /// least 1.
    pub most_wrong: u64,
}

/// Where and how writes are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// Path of its files, without their extensions.
    pub path: String,
    /// Record only the state at the start and at the end, not each write.
    pub map_only: bool,
    /// Each entry is on stable storage before its write begins.
    pub sync: bool,
}
