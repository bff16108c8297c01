//! One kind of load as plain data.

mod ending;
mod measure;
mod operation;
mod pace;
mod region;
mod road;
mod rules;

use blocklab_units::{Bytes, Nanos};

pub use ending::{ErrorPolicy, Flush, Steady, SteadyVariable, Stop};
pub use measure::Measure;
pub use operation::{BlockSizes, Content, Direction, Mix, SizeMix};
pub use pace::{Pace, Rate, Think};
pub use region::{Pattern, Region, Spread, TargetOrder, Zone};
pub use road::{Access, Batch, Durability, Engine, UringOptions};

/// One kind of load: what each of its threads does.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Unique in its workload.
    pub name: String,
    /// Target texts (paths); empty: the targets that the run was given.
    pub targets: Vec<String>,
    /// Order over several targets.
    pub target_order: TargetOrder,
    /// Road to the kernel.
    pub engine: Engine,
    /// Page cache or not.
    pub access: Access,
    /// O_SYNC, O_DSYNC.
    pub durability: Durability,
    /// Identical threads, at least 1.
    pub threads: u32,
    /// Operations in flight per thread, at least 1. Synchronous engines use one.
    pub depth: u32,
    /// Grouping of submissions and completions.
    pub batch: Batch,
    /// Processors: thread k runs on entry k modulo their number. Empty: anywhere.
    pub pin: Vec<u32>,
    /// Part of the target.
    pub region: Region,
    /// Where operations go.
    pub pattern: Pattern,
    /// Shares of the directions.
    pub mix: Mix,
    /// How big operations are.
    pub sizes: BlockSizes,
    /// What is written.
    pub content: Content,
    /// When operations begin.
    pub pace: Pace,
    /// Pauses.
    pub think: Option<Think>,
    /// When it ends.
    pub stop: Stop,
    /// Load before the measured time begins.
    pub ramp: Nanos,
    /// Flushes.
    pub flush: Flush,
    /// What a failure means.
    pub on_error: ErrorPolicy,
    /// Measure submission and completion apart (asynchronous engines): one more system call a
    /// batch. Submission ends when the submitting call returns, and the two add up to the service
    /// latency.
    pub submit_latency: bool,
    /// More figures.
    pub measure: Measure,
}

/// A job that cannot be run, and why; `field` is its name in the native format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    /// Native name of the offending key.
    pub field: &'static str,
    /// What is wrong and what would work.
    pub message: String,
}

impl Job {
    /// A job with every setting at its default: 4 KiB random reads, io_uring, depth 1, 10 s.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            targets: Vec::new(),
            target_order: TargetOrder::RoundRobin,
            engine: Engine::IoUring(UringOptions::default()),
            access: Access::DirectIfPossible,
            durability: Durability::None,
            threads: 1,
            depth: 1,
            batch: Batch::default(),
            pin: Vec::new(),
            region: Region::default(),
            pattern: Pattern::Random {
                every_block_once: false,
            },
            mix: Mix::READ,
            sizes: BlockSizes::fixed(Bytes(4096)),
            content: Content::Random,
            pace: Pace::Closed,
            think: None,
            stop: Stop {
                runtime: Some(Nanos::from_secs(10)),
                ..Stop::default()
            },
            ramp: Nanos::ZERO,
            flush: Flush::default(),
            on_error: ErrorPolicy::Stop,
            submit_latency: false,
            measure: Measure::default(),
        }
    }

    /// Whether it changes what is stored.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.mix.write > 0 || self.mix.trim > 0
    }

    /// Operations that one thread can really have in flight.
    #[must_use]
    pub const fn effective_depth(&self) -> u32 {
        if self.engine.is_asynchronous() {
            self.depth
        } else {
            1
        }
    }

    /// The first broken rule, if any.
    ///
    /// # Errors
    /// [`Invalid`] names the key and what would work.
    pub fn check(&self) -> Result<(), Invalid> {
        rules::rules(self)
    }
}
