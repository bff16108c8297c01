//! One kind of load as plain data: what the languages fill and the workers carry out.

mod ending;
mod io_path;
mod log;
mod operation;
mod pace;
mod priority;
mod region;
mod replay;
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
pub use log::{Log, Measure};
pub use operation::{BlockSizes, Content, Direction, Mix, SizeDraw, SizeMix};
pub use pace::{Flow, LatencyTarget, MinRate, Pace, Rate, Think, ThinkStyle};
pub use priority::{IoPriority, Priority, PriorityShare};
pub use region::{MovingWindow, Pattern, Region, Runs, Spread, TargetOrder, Zone};
pub use replay::{
    Adapted, Dependency, Replay, ReplayPace, ReplayPlace, Replayed, TraceChanges, TraceFile,
};

with_defaults! {
    /// One kind of load: what each of its threads does.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Job {
        /// Unique in its workload.
        pub name: String = String::new(),
        /// Label of its random numbers: two jobs with the same label draw the same. `None`: its name.
        pub rng_label: Option<String> = None,
        /// Names of its targets; empty: the targets of the run.
        #[serde(with = "crate::numbered")]
        pub targets: Vec<String> = Vec::new(),
        /// Order over several targets.
        pub target_order: TargetOrder = TargetOrder::RoundRobin,
        /// Operations on a target before the next one, at least 1.
        pub target_turn: u32 = 1,
        /// Place in the list, from 0 to 1, of the target that a skewed order chooses most; `None`: the
        /// first one, or the middle for a normal distribution.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub target_center: Option<f64> = None,
        /// Most targets that are open at a time: another one is opened when the pass has covered one.
        /// `None`: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub open_targets: Option<u32> = None,
        /// How requests reach the kernel.
        pub engine: Engine = Engine::IoUring(UringOptions::default()),
        /// Page cache or not.
        pub access: Access = Access::DirectIfPossible,
        /// O_SYNC, O_DSYNC.
        pub durability: Durability = Durability::None,
        /// Flags of each operation.
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
        /// Priority of its threads in the kernel.
        pub priority: Priority = Priority::default(),
        /// Operations with a priority of their own; libaio and io_uring only.
        pub priority_shares: Vec<PriorityShare> = Vec::new(),
        /// User, group and control group of its threads.
        pub credentials: Credentials = Credentials::default(),
        /// Part of the target.
        pub region: Region = Region::default(),
        /// Where operations go.
        pub pattern: Pattern = Pattern::RANDOM,
        /// Place in the region, from 0 to 1, of the block that a skewed pattern hits most; `None`:
        /// drawn, or the middle for a normal distribution.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub center: Option<f64> = None,
        /// Operations given one by one instead of pattern, mix, sizes and pace. The largest block must
        /// be at least as large as the largest of them. The job ends with the last one, or by its
        /// `stop`.
        pub replay: Option<Arc<Replay>> = None,
        /// Shares of the directions.
        pub mix: Mix = Mix::READ,
        /// Sizes of operations.
        pub sizes: BlockSizes = BlockSizes::fixed(Bytes(4096)),
        /// How sizes are drawn.
        pub size_draw: SizeDraw = SizeDraw::Listed,
        /// Random offsets of reads, writes and trims (in this order) are multiples of these. `None`:
        /// of the smallest block. With a smaller value blocks may overlap.
        pub align: Option<[Bytes; 3]> = None,
        /// Several operations for each offset.
        pub runs: Option<Runs> = None,
        /// A window that moves over the region.
        pub window: Option<MovingWindow> = None,
        /// Reads, writes and trims each have a sequential position of their own, and each continues a
        /// run where it ended itself.
        pub per_direction_position: bool = false,
        /// In place of the share of [`Pattern::PercentRandom`], a share for reads, writes and trims,
        /// in per cent. Of a skewed pattern, too, the other operations are sequential.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub random_percent: Option<[u8; 3]> = None,
        /// Each write follows a trim of the same range.
        pub trim_first: bool = false,
        /// An operation waits if it overlaps one in flight of the same thread.
        pub no_overlap: bool = false,
        /// What is written.
        pub content: Content = Content::Random,
        /// Bytes that are written again and again instead of `content`, or in the share of it that
        /// compresses away.
        #[serde(with = "crate::kept::shared_hex")]
        pub fill: Option<Arc<[u8]>> = None,
        /// The unit in which `content` compresses and repeats.
        pub content_unit: Bytes = Bytes(4096),
        /// When operations begin.
        pub pace: Pace = Pace::Closed,
        /// Rates below which the job fails.
        pub min_rate: Option<MinRate> = None,
        /// Shares among several jobs.
        pub flow: Option<Flow> = None,
        /// Search for a depth.
        pub latency_target: Option<LatencyTarget> = None,
        /// Pauses.
        pub think: Option<Think> = None,
        /// How pauses are spent.
        pub think_style: ThinkStyle = ThinkStyle::default(),
        /// Delay of the job after the start of the run.
        pub start_delay: Nanos = Nanos::ZERO,
        /// When it ends.
        pub stop: Stop = Stop::after(Nanos::from_secs(10)),
        /// Load before the measured time begins.
        pub ramp: Nanos = Nanos::ZERO,
        /// Load before the measured time begins, by bytes; with `ramp` both must be over.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sized_ramp: Option<SizedRamp> = None,
        /// Load after the measured time of a job with a runtime; it is in no figure, and what fails in it is
        /// reported.
        pub cool_down: Nanos = Nanos::ZERO,
        /// Flushes.
        pub flush: Flush = Flush::default(),
        /// Operations in flight that it shares with other jobs, instead of its own threads and depth.
        pub pool: Option<Pooled> = None,
        /// Verification of the data.
        pub verify: Option<Verify> = None,
        /// What a failure means.
        pub on_error: ErrorPolicy = ErrorPolicy::Stop,
        /// Bytes after which a thread drops the targets from the page cache, so that each pass comes
        /// from the device.
        pub drop_cache_every: Option<Bytes> = None,
        /// What its end means for the other jobs.
        pub ends_others: EndsOthers = EndsOthers::Never,
        /// A service latency above this is a failure (ETIMEDOUT).
        pub max_latency: Option<Nanos> = None,
        /// Failures that count as success, by direction and errno.
        pub ignored_errors: Vec<(Direction, i32)> = Vec::new(),
        /// Whether a write that finds no space ends the job without counting as a failure.
        pub stop_on_enospc: bool = false,
        /// Measure submission and completion separately (asynchronous engines), which costs one more
        /// system call a batch. Submission ends when the submitting call returns, and the two add up
        /// to the service latency.
        pub submit_latency: bool = false,
        /// More figures.
        pub measure: Measure = Measure::default(),
        /// Operations one by one.
        pub log: Option<Log> = None,
    }
}

/// A job that cannot be run, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    /// Name of the wrong key in the native format.
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
        let label = self.rng_label.as_ref().unwrap_or(&self.name);
        Stream::new(seed, &format!("{label}/{purpose}"), thread)
    }

    /// Whether its load has operations in this direction: by its mix, or by what it replays.
    pub fn goes(&self, direction: Direction) -> bool {
        match &self.replay {
            Some(replay) => replay.goes(direction),
            None => self.mix.shares().any(|(one, _)| one == direction),
        }
    }

    /// The rates that together hold its mix back; `None` if some of it goes as fast as it can.
    pub fn rates(&self) -> Option<Vec<Rate>> {
        match self.pace {
            Pace::Closed => None,
            Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => {
                Some(vec![rate])
            }
            Pace::ByDirection { rates, .. } => {
                let drawn = self.mix.shares();
                drawn
                    .map(|(direction, _)| rates[direction as usize])
                    .collect()
            }
        }
    }

    /// Whether it reads stored data.
    pub fn reads(&self) -> bool {
        match &self.replay {
            Some(replay) => replay.goes(Direction::Read),
            None => self.mix.read > 0 || self.reads_back(),
        }
    }

    /// Whether it changes stored data.
    pub fn writes(&self) -> bool {
        match &self.replay {
            Some(replay) => replay.goes(Direction::Write) || replay.goes(Direction::Trim),
            None => self.mix.write > 0 || self.mix.trim > 0 || self.trim_first,
        }
    }

    /// Whether it changes stored data, or creates, removes or resizes files.
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

    /// How it compares reads by the keys of its storage, if it does.
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

    /// Length of a piece, if blocks of several sizes hit everything once: as long as the smallest
    /// block. Each piece is hit once a pass, and a block is cut before a piece that was hit already.
    pub fn piece(&self) -> Option<Bytes> {
        let (smallest, largest) = self.occurring_blocks();
        let free = self.align.is_none_or(|align| align == [smallest; 3]);
        (self.pattern.every_block_once() && free && smallest < largest).then_some(smallest)
    }

    /// Smallest length of a region: the largest block of the directions that occur, or a piece if
    /// blocks are cut.
    pub fn least_room(&self) -> Bytes {
        self.piece().unwrap_or(self.occurring_blocks().1)
    }

    /// Whether there is load before the measured time.
    pub fn has_ramp(&self) -> bool {
        self.ramp > Nanos::ZERO || self.sized_ramp.is_some()
    }

    /// The length of the last window of a search for a depth, which alone is the result of a job that
    /// does not go on after it. `None`: there is none. Threads search one by one and have no last
    /// window in common, so several count the whole search.
    pub fn last_window(&self) -> Option<Nanos> {
        let target = self.latency_target?;
        (!target.go_on && self.threads == 1).then_some(target.window)
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
