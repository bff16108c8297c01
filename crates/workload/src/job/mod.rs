//! One kind of load as plain data.

mod ending;
mod io_path;
mod log;
mod operation;
mod pace;
mod priority;
mod region;
mod rules;

use std::sync::Arc;

use blocklab_random::Stream;
use blocklab_units::{Bytes, Nanos, with_defaults};
use serde::{Deserialize, Serialize};

use crate::{Pooled, Validation, Verify, When};

pub use ending::{EndsOthers, ErrorPolicy, Flush, Limit, SizedRamp, Steady, SteadyVariable, Stop};
pub use io_path::{
    Access, Advice, Batch, CallFlags, Credentials, Durability, Engine, EngineKind, Hints, Lifetime,
    OperationFlags, UringOptions,
};
pub use log::{Log, Measure, Replay, Replayed, TraceChanges, TraceFile};
pub use operation::{BlockSizes, Content, Direction, Mix, SizeDraw, SizeMix};
pub use pace::{Flow, LatencyTarget, MinRate, Pace, Rate, Think, ThinkStyle};
pub use priority::{IoPriority, Priority, PriorityShare};
pub use region::{MovingWindow, Pattern, Region, Runs, Spread, TargetOrder, Zone};

with_defaults! {
    /// One kind of load: what each of its threads does.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Job {
        /// Unique in its workload.
        pub name: String = String::new(),
        /// What its random numbers are called after: two jobs with the same draw the same. `None`: its
        /// name.
        pub rng_label: Option<String> = None,
        /// Target texts (paths); empty: the targets that the run was given.
        #[serde(with = "crate::numbered")]
        pub targets: Vec<String> = Vec::new(),
        /// Order over several targets.
        pub target_order: TargetOrder = TargetOrder::RoundRobin,
        /// Operations on a target before the order names the next one, at least 1.
        pub target_turn: u32 = 1,
        /// Where in the list the target lies that a skewed order names most, from 0 to 1; `None`: the
        /// first one, or in the middle.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub target_center: Option<f64> = None,
        /// Targets that are worked on, and open, at a time: another one is begun when a pass is
        /// through with one. `None`: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub open_targets: Option<u32> = None,
        /// Road to the kernel.
        pub engine: Engine = Engine::IoUring(UringOptions::default()),
        /// Page cache or not.
        pub access: Access = Access::DirectIfPossible,
        /// O_SYNC, O_DSYNC.
        pub durability: Durability = Durability::None,
        /// What each operation requests of the kernel.
        #[serde(default, skip_serializing_if = "OperationFlags::is_none")]
        pub operation_flags: OperationFlags = OperationFlags::default(),
        /// Hints to the kernel.
        pub hints: Hints = Hints::default(),
        /// Identical threads, at least 1.
        pub threads: u32 = 1,
        /// Operations in flight per thread, at least 1. Synchronous engines use one.
        pub depth: u32 = 1,
        /// Grouping of submissions and completions.
        pub batch: Batch = Batch::default(),
        /// Processors: thread k runs on entry k modulo their number. Empty: anywhere.
        pub pin: Vec<u32> = Vec::new(),
        /// How the kernel priorities its threads.
        pub priority: Priority = Priority::default(),
        /// Operations that carry a priority of their own; libaio and io_uring only.
        pub priority_shares: Vec<PriorityShare> = Vec::new(),
        /// As whom its threads work.
        pub credentials: Credentials = Credentials::default(),
        /// Part of the target.
        pub region: Region = Region::default(),
        /// Where operations go.
        pub pattern: Pattern = Pattern::RANDOM,
        /// Where in the region the block lies that a skewed pattern hits most, from 0 to 1; `None`:
        /// drawn, or of a normal distribution in the middle.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub center: Option<f64> = None,
        /// Operations given one by one, in place of pattern, mix, sizes and pace. The largest block
        /// must hold the largest of them. The job ends with the last one, or by its `stop`.
        #[serde(with = "crate::kept::shared")]
        pub replay: Option<Arc<Replay>> = None,
        /// Shares of the directions.
        pub mix: Mix = Mix::READ,
        /// How big operations are.
        pub sizes: BlockSizes = BlockSizes::fixed(Bytes(4096)),
        /// How sizes are drawn.
        pub size_draw: SizeDraw = SizeDraw::Listed,
        /// Random offsets of reads, writes and trims (in this order) are multiples of these. `None`:
        /// of the smallest block. A smaller one lets blocks overlap.
        pub align: Option<[Bytes; 3]> = None,
        /// Several operations for each offset.
        pub runs: Option<Runs> = None,
        /// A part of the region that moves on.
        pub window: Option<MovingWindow> = None,
        /// Reads, writes and trims each have a sequential position of their own.
        pub per_direction_position: bool = false,
        /// Each write comes after a trim of the same range.
        pub trim_first: bool = false,
        /// No operation is issued that overlaps one in flight of the same thread: it waits.
        pub no_overlap: bool = false,
        /// What is written.
        pub content: Content = Content::Random,
        /// These bytes, repeated, are written instead of `content`.
        #[serde(with = "crate::kept::shared_hex")]
        pub fill: Option<Arc<[u8]>> = None,
        /// The unit in which `content` compresses and repeats.
        pub content_unit: Bytes = Bytes(4096),
        /// When operations begin.
        pub pace: Pace = Pace::Closed,
        /// Rates that must be reached.
        pub min_rate: Option<MinRate> = None,
        /// Shares among several jobs.
        pub flow: Option<Flow> = None,
        /// A search for a depth.
        pub latency_target: Option<LatencyTarget> = None,
        /// Pauses.
        pub think: Option<Think> = None,
        /// How they are spent.
        pub think_style: ThinkStyle = ThinkStyle::default(),
        /// The job begins so much later than the run.
        pub start_delay: Nanos = Nanos::ZERO,
        /// When it ends.
        pub stop: Stop = Stop {
            runtime: Some(Nanos::from_secs(10)),
            ..Stop::default()
        },
        /// Load before the measured time begins.
        pub ramp: Nanos = Nanos::ZERO,
        /// Load before the measured time begins, by what is moved; beside `ramp` both must be over.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sized_ramp: Option<SizedRamp> = None,
        /// Load after the measured time of a job with a runtime; in no result.
        pub cool_down: Nanos = Nanos::ZERO,
        /// Flushes.
        pub flush: Flush = Flush::default(),
        /// Operations in flight that are shared with other jobs, instead of threads and a depth of
        /// its own.
        pub pool: Option<Pooled> = None,
        /// Whether what was written comes back.
        pub verify: Option<Verify> = None,
        /// What a failure means.
        pub on_error: ErrorPolicy = ErrorPolicy::Stop,
        /// Drops the targets from the page cache whenever a thread has moved so many
        /// bytes, so that each pass comes from the device.
        pub drop_cache_every: Option<Bytes> = None,
        /// What its end means for the other jobs.
        pub ends_others: EndsOthers = EndsOthers::Never,
        /// A service latency above this is a failure (ETIMEDOUT).
        pub max_latency: Option<Nanos> = None,
        /// Failures that count as success, by direction and errno.
        pub ignored_errors: Vec<(Direction, i32)> = Vec::new(),
        /// Whether a write that finds no space ends the job, and is no failure.
        pub stop_on_enospc: bool = false,
        /// Measure submission and completion separately (asynchronous engines): one more system call a
        /// batch. Submission ends when the submitting call returns, and the two add up to the service
        /// latency.
        pub submit_latency: bool = false,
        /// More figures.
        pub measure: Measure = Measure::default(),
        /// Operations one by one.
        pub log: Option<Log> = None,
    }
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
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// The random numbers of one of its threads for one purpose.
    pub fn chance(&self, seed: u64, purpose: &str, thread: u64) -> Stream {
        let called = self.rng_label.as_ref().unwrap_or(&self.name);
        Stream::new(seed, &format!("{called}/{purpose}"), thread)
    }

    /// Whether it changes what is stored.
    pub fn writes(&self) -> bool {
        match &self.replay {
            Some(replay) => replay.goes(Direction::Write) || replay.goes(Direction::Trim),
            None => self.mix.write > 0 || self.mix.trim > 0 || self.trim_first,
        }
    }

    /// Whether it changes what is stored, or which files there are.
    pub fn changes(&self) -> bool {
        let engine = self.engine;
        let names = engine.makes_names() || engine.removes_names();
        names || engine == Engine::Falloc || self.writes()
    }

    /// Whether it trims what it wrote.
    pub fn trims_written(&self) -> bool {
        let trims = self.verify.as_ref().and_then(|verify| verify.trims);
        trims.is_some_and(|trims| trims.percent > 0)
    }

    /// How what it reads is compared by the keys of its storage, where it is.
    pub fn validation(&self) -> Option<&Validation> {
        self.pool.as_ref()?.validation.as_ref()
    }

    /// Whether it reads what it wrote.
    pub fn reads_back(&self) -> bool {
        let verify = self.verify.as_ref();
        let validation = self.validation();
        let verifies = verify.is_some_and(|verify| verify.when != When::Never);
        let validates = validation
            .is_some_and(|validation| validation.read_before_write || validation.read_after_write);
        self.writes() && (verifies || validates)
    }

    /// The smallest and the largest block of the directions that occur.
    pub fn occurring_blocks(&self) -> (Bytes, Bytes) {
        let shares = [self.mix.read, self.mix.write, self.mix.trim];
        let occurring = self
            .sizes
            .all()
            .into_iter()
            .zip(shares)
            .filter(|(_, share)| *share > 0);
        let both = occurring.map(|(mix, _)| (mix.smallest(), mix.largest()));
        both.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
            .unwrap_or((self.sizes.smallest(), self.sizes.largest()))
    }

    /// What is hit once in a pass where blocks of several sizes are to hit everything once: pieces
    /// as long as the smallest. A block is cut where a piece follows that was hit before.
    pub fn piece(&self) -> Option<Bytes> {
        let (smallest, largest) = self.occurring_blocks();
        let free = self.align.is_none_or(|align| align == [smallest; 3]);
        (self.pattern.every_block_once() && free && smallest < largest).then_some(smallest)
    }

    /// What a region must hold at least one of: the largest block, or a piece, since blocks are cut
    /// where pieces are hit once.
    pub fn least_room(&self) -> Bytes {
        self.piece().unwrap_or(self.sizes.largest())
    }

    /// Whether load comes before the measured time.
    pub fn has_ramp(&self) -> bool {
        self.ramp > Nanos::ZERO || self.sized_ramp.is_some()
    }

    /// Operations that one thread can really have in flight.
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
