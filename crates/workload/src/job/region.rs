//! The settings of where a job's operations go, as plain data: the part of a target, the pattern in
//! it, runs, windows, and the order over several targets.

use std::fmt;

use blocklab_units::{Bytes, plural, with_defaults};
use serde::{Deserialize, Serialize};

use crate::preconditioning::writes_of_a_pass;

/// How threads of a job share the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Each thread works over the whole region; sequential threads begin at even distances.
    Staggered,
    /// Each thread works over the whole region and begins at its start.
    Same,
    /// Each thread has its own slice: the region divided by the number of threads.
    Sliced,
    /// Thread k works over a region of the same size that begins k increments later.
    Increment(Bytes),
    /// Each thread works over the whole region, and all share one position: together they read or
    /// write the region once a pass. Jobs with the same targets and the same region share it too.
    /// Only sequential patterns have such a position.
    Shared,
}

with_defaults! {
    /// The part of a target that a job uses.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Region {
        /// Where it begins.
        pub offset: Bytes = Bytes::ZERO,
        /// Its length; `None`: to the end of the target, and for a file that is created, the size
        /// that the run requests.
        pub size: Option<Bytes> = None,
        /// How the threads of a job share it.
        pub spread: Spread = Spread::Staggered,
    }
}

/// One zone of a hot-spot distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the operations, in per cent.
    pub access_percent: f64,
    /// Share of the region, in per cent, laid after the zones before it.
    pub space_percent: f64,
}

/// Where operations go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Each operation begins where the one before it ended; wraps at the end.
    Sequential,
    /// Each operation begins `stride` bytes after the beginning of the one before it.
    Strided {
        /// Distance between two beginnings; at least the block size for no overlap.
        stride: Bytes,
    },
    /// Each operation begins `back` bytes before the end of the one before it; below the start of the
    /// region it continues from the end.
    Backward {
        /// More than the block size moves down; the block size itself stays in place.
        back: Bytes,
    },
    /// Uniformly random block-aligned offsets.
    Random {
        /// Every block exactly once a pass (a permutation) instead of independent draws. Blocks of
        /// several sizes hit every piece as long as the smallest of them once ([`super::Job::piece`]).
        every_block_once: bool,
    },
    /// A random offset with this probability (per cent), else the next sequential one.
    PercentRandom(u8),
    /// Zipf's law: the block of rank k is hit in proportion to k^-theta; ranks are scattered.
    Zipf {
        /// 0 < theta, theta != 1.
        theta: f64,
    },
    /// Self-similar (Pareto's rule): a share 1-h of the accesses goes to a share h of the blocks,
    /// which are scattered.
    Pareto {
        /// Between 0 and 1: 0.2 is the 80/20 rule, 0.5 is uniform.
        h: f64,
    },
    /// Around the middle of the region.
    Normal {
        /// Standard deviation in per cent of the region.
        deviation_percent: f64,
    },
    /// Hot-spot zones: shares of accesses over shares of space.
    Zones(Vec<Zone>),
    /// The blocks of these numbers in turn, again and again.
    Listed {
        /// Counted from the beginning of the region in smallest blocks.
        blocks: Vec<u64>,
        /// Each round counts the numbers from as many blocks later as the list is long.
        moves_on: bool,
    },
    /// Writes as much as the flash below the region holds, and leaves each part of it as valid as
    /// endless random writes would.
    Preconditioning {
        /// Capacity of the flash beyond what the device reports, as a share of the latter.
        over_provisioning: f64,
        /// Number of parts into which the model divides the flash.
        regions: u32,
    },
}

impl Pattern {
    /// Independent draws.
    pub const RANDOM: Self = Self::Random {
        every_block_once: false,
    };
    /// Every block exactly once a pass.
    pub const RANDOM_ONCE: Self = Self::Random {
        every_block_once: true,
    };

    /// Whether a pass hits every block exactly once.
    pub const fn every_block_once(&self) -> bool {
        matches!(
            self,
            Self::Random {
                every_block_once: true
            }
        )
    }

    /// Whether blocks are drawn at random, some of them more often than others.
    pub const fn is_skewed(&self) -> bool {
        matches!(
            self,
            Self::Zipf { .. } | Self::Pareto { .. } | Self::Normal { .. } | Self::Zones(_)
        )
    }

    /// Writes that precondition a device of this many blocks: as many as its flash holds.
    pub fn writes_to_precondition(&self, blocks: u64) -> Option<u64> {
        match self {
            Self::Preconditioning {
                over_provisioning, ..
            } => Some(writes_of_a_pass(blocks, *over_provisioning)),
            _ => None,
        }
    }

    /// Whether each operation continues the one before it.
    pub const fn is_sequential(&self) -> bool {
        matches!(
            self,
            Self::Sequential | Self::Strided { .. } | Self::Backward { .. }
        )
    }
}

/// `random`, `sequential`, `zipf 1.2`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => write!(f, "sequential"),
            Self::Strided { stride } => write!(f, "strided by {stride}"),
            Self::Backward { back } => write!(f, "backward by {back}"),
            Self::Random {
                every_block_once: false,
            } => write!(f, "random"),
            Self::Random {
                every_block_once: true,
            } => write!(f, "random, every block once"),
            Self::PercentRandom(percent) => write!(f, "{percent} % random"),
            Self::Zipf { theta } => write!(f, "zipf {theta}"),
            Self::Pareto { h } => write!(f, "pareto {h}"),
            Self::Normal { deviation_percent } => write!(f, "normal {deviation_percent} %"),
            Self::Zones(zones) => f.write_str(&plural(zones.len(), "zone")),
            Self::Listed { blocks, .. } => f.write_str(&plural(blocks.len(), "listed block")),
            Self::Preconditioning {
                over_provisioning, ..
            } => write!(f, "preconditioning, over-provisioning {over_provisioning}"),
        }
    }
}

with_defaults! {
    /// Several operations for each offset that a pattern gives.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Runs {
        /// Operations a run, at least 1, with the one at the offset itself.
        pub length: u32 = 1,
        /// All of them are at the same offset, instead of one after the other.
        pub same: bool = false,
        /// Probability in per cent, below 100, that one more follows, and another one after that.
        pub follow_percent: u8 = 0,
        /// Distance between two beginnings; `None`: the size of the operation before.
        pub step: Option<Bytes> = None,
        /// All have the direction of the first. Only for jobs with one target.
        pub one_way: bool = false,
    }
}

/// A window that moves over the region: all operations fall into it until enough bytes were
/// transferred, then it moves on. At the end of the region it begins again. If the end cuts a window
/// short, sequential jobs use what is left of it, and all others skip it.
///
/// ```text
///   |== range ==|-- skip --|== range ==|-- skip --|== …
///    `bytes` of operations   then here
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovingWindow {
    /// Bytes transferred before it moves on; fewer than `range` leave a part of it untouched, more
    /// cover it several times.
    pub bytes: Bytes,
    /// Its length.
    pub range: Bytes,
    /// Distance from its end to its next beginning.
    pub skip: Bytes,
}

/// The order of a job's targets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetOrder {
    /// One operation on each in turn.
    RoundRobin,
    /// One drawn at random for each operation.
    Random,
    /// Thread k works only on target k modulo their number.
    PerThread,
    /// One after the other, each for as many bytes as its region is long.
    OneByOne,
    /// Drawn by Zipf's law; the first target is the most frequent.
    Zipf {
        /// As in [`Pattern::Zipf`].
        theta: f64,
    },
    /// Drawn by Pareto's rule; the first targets are the most frequent.
    Pareto {
        /// As in [`Pattern::Pareto`].
        h: f64,
    },
    /// Drawn around the middle of the list.
    Normal {
        /// Standard deviation in per cent of the number of targets.
        deviation_percent: f64,
    },
}
