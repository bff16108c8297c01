use blocklab_units::{Bytes, Nanos};

/// What an operation does to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Direction {
    /// Data from the target.
    Read = 0,
    /// Data to the target.
    Write = 1,
    /// Space given back: discard, hole punching.
    Trim = 2,
    /// A flush: fsync or fdatasync.
    Sync = 3,
}

impl Direction {
    /// All four, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Sync];

    /// `read`, `write`, `trim`, `sync`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["read", "write", "trim", "sync"][self as usize]
    }
}

/// Options that only io_uring has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UringOptions {
    /// A kernel thread polls for submissions (IORING_SETUP_SQPOLL): costs a core.
    pub sqpoll: bool,
    /// Completions are polled for (IORING_SETUP_IOPOLL): needs O_DIRECT and poll queues.
    pub iopoll: bool,
    /// Register the buffers with the ring, so that pages are pinned once.
    pub fixed_buffers: bool,
    /// Register the files with the ring.
    pub fixed_files: bool,
}

impl Default for UringOptions {
    fn default() -> Self {
        Self {
            sqpoll: false,
            iopoll: false,
            fixed_buffers: true,
            fixed_files: true,
        }
    }
}

/// How requests reach the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// lseek, then read or write.
    Sync,
    /// pread and pwrite.
    Psync,
    /// preadv2 and pwritev2; `hipri` adds RWF_HIPRI, `nowait` RWF_NOWAIT.
    Pvsync2 {
        /// Poll for completion (RWF_HIPRI).
        hipri: bool,
        /// Fail with EAGAIN where the call would block (RWF_NOWAIT).
        nowait: bool,
    },
    /// Kernel native asynchronous I/O: io_submit and io_getevents.
    Libaio,
    /// io_uring.
    IoUring(UringOptions),
    /// Copies from and to a memory mapping.
    Mmap,
    /// No I/O at all: every request completes at once. Measures our own cost.
    Null,
}

impl Engine {
    /// `sync`, `psync`, `pvsync2`, `libaio`, `io_uring`, `mmap`, `null`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Psync => "psync",
            Self::Pvsync2 { .. } => "pvsync2",
            Self::Libaio => "libaio",
            Self::IoUring(_) => "io_uring",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }

    /// Whether one thread can have more than one operation in flight.
    #[must_use]
    pub const fn is_asynchronous(self) -> bool {
        matches!(self, Self::Libaio | Self::IoUring(_) | Self::Null)
    }
}

/// Whether the page cache may take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Through the page cache.
    Buffered,
    /// O_DIRECT, or the run fails.
    Direct,
    /// O_DIRECT where the file system has it, else buffered with a Note.
    DirectIfPossible,
}

/// What a completed write promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing beyond the call.
    None,
    /// O_DSYNC: the data survives a power cut.
    Dsync,
    /// O_SYNC: data and metadata do.
    Sync,
}

/// How requests are grouped on their way to and from an asynchronous engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// At most so many are handed over in one call. 0 chooses a quarter of the depth, 1 to 16:
    /// while one group is prepared, the target works on the others. Handing over a whole queue
    /// at once makes target and host take turns.
    pub submit: u32,
    /// A wait returns with at least so many completions; at least 1.
    pub complete: u32,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            submit: 0,
            complete: 1,
        }
    }
}

/// How threads of a job share the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Each thread works over the whole region; sequential threads begin evenly apart.
    Staggered,
    /// Each thread works over the whole region and begins at its start.
    Same,
    /// Each thread has its own slice: the region divided by the number of threads.
    Sliced,
    /// Thread k works over a region of the same size that begins k increments later.
    Increment(Bytes),
}

/// Which part of a target is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Where it begins.
    pub offset: Bytes,
    /// How long it is; `None`: to the end of the target, and for a file that must be made,
    /// the size that the run asks for.
    pub size: Option<Bytes>,
    /// How the threads of a job share it.
    pub spread: Spread,
}

impl Default for Region {
    fn default() -> Self {
        Self {
            offset: Bytes::ZERO,
            size: None,
            spread: Spread::Staggered,
        }
    }
}

/// One zone of a hot-spot distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zone {
    /// Share of the operations, in per cent.
    pub access_percent: f64,
    /// Share of the region, in per cent, laid after the zones before it.
    pub space_percent: f64,
}

/// Where operations go.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// Each operation begins where the one before it ended; wraps at the end.
    Sequential,
    /// Each operation begins `stride` bytes after the beginning of the one before it.
    Strided {
        /// Distance between two beginnings; at least the block size for no overlap.
        stride: Bytes,
    },
    /// Uniformly random block-aligned offsets.
    Random {
        /// Every block exactly once a pass (a permutation) instead of independent draws.
        every_block_once: bool,
    },
    /// With this probability (per cent) a random offset, else the next sequential one.
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
}

impl Pattern {
    /// Whether each operation continues the one before it.
    #[must_use]
    pub const fn is_sequential(&self) -> bool {
        matches!(self, Self::Sequential | Self::Strided { .. })
    }
}

/// Shares of the directions in per cent; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// Reads.
    pub read: u8,
    /// Writes.
    pub write: u8,
    /// Trims.
    pub trim: u8,
}

impl Mix {
    /// Reads only.
    pub const READ: Self = Self {
        read: 100,
        write: 0,
        trim: 0,
    };
    /// Writes only.
    pub const WRITE: Self = Self {
        read: 0,
        write: 100,
        trim: 0,
    };
    /// Trims only.
    pub const TRIM: Self = Self {
        read: 0,
        write: 0,
        trim: 100,
    };
}

/// Block sizes with their weights (any positive numbers); one entry is a fixed size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeMix(pub Vec<(Bytes, u32)>);

impl SizeMix {
    /// One size, always.
    #[must_use]
    pub fn fixed(size: Bytes) -> Self {
        Self(vec![(size, 1)])
    }

    /// The largest size; zero where there is none.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.0
            .iter()
            .map(|(size, _)| *size)
            .max()
            .unwrap_or_default()
    }

    /// The smallest size; zero where there is none.
    #[must_use]
    pub fn smallest(&self) -> Bytes {
        self.0
            .iter()
            .map(|(size, _)| *size)
            .min()
            .unwrap_or_default()
    }
}

/// Block sizes by direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSizes {
    /// Of reads.
    pub read: SizeMix,
    /// Of writes.
    pub write: SizeMix,
    /// Of trims.
    pub trim: SizeMix,
}

impl BlockSizes {
    /// The same fixed size for all directions.
    #[must_use]
    pub fn fixed(size: Bytes) -> Self {
        let mix = SizeMix::fixed(size);
        Self {
            read: mix.clone(),
            write: mix.clone(),
            trim: mix,
        }
    }

    /// The largest of all.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.read
            .largest()
            .max(self.write.largest())
            .max(self.trim.largest())
    }

    /// The smallest of all.
    #[must_use]
    pub fn smallest(&self) -> Bytes {
        self.read
            .smallest()
            .min(self.write.smallest())
            .min(self.trim.smallest())
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Zeros: many devices and file systems store them for free.
    Zero,
    /// Random bytes, made once a buffer; a counter in each 4 KiB keeps every block unique.
    Random,
    /// Freshly random bytes for every write.
    Fresh,
    /// A given entropy, made anew for every write.
    Shaped {
        /// Share of every block that compresses away, in per cent.
        compress_percent: u8,
        /// Share of the blocks that repeat an earlier one, in per cent.
        dedupe_percent: u8,
    },
}

/// Operations or bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Operations per second.
    Iops(f64),
    /// Bytes per second.
    Bytes(f64),
}

/// When operations begin. Rates hold for the whole job: its threads share them evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// The next begins when one ends: the depth is always full.
    Closed,
    /// As closed, but never faster than this; what is missed is not made up for.
    Capped(Rate),
    /// Arrivals at even distances, whatever the target does. Latency counts from the arrival.
    OpenFixed(Rate),
    /// Arrivals as a Poisson process of this mean rate. Latency counts from the arrival.
    OpenPoisson(Rate),
}

/// A pause of `pause` after every `every` operations of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Think {
    /// How long.
    pub pause: Nanos,
    /// After how many operations, at least 1.
    pub every: u32,
}

/// What a steady state is looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyVariable {
    /// Operations per second, all directions.
    Iops,
    /// Bytes per second, all directions.
    Bandwidth,
    /// Mean service latency.
    Latency,
}

/// When a run counts as settled. Judged once a round over the last `rounds` rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steady {
    /// SNIA PTS: over five rounds, max - min <= 20 % of the mean and the least-squares slope
    /// over the window <= 10 % of the mean.
    Snia {
        /// Watched quantity.
        variable: SteadyVariable,
        /// Length of a round.
        round: Nanos,
    },
    /// The least-squares slope over the window, per round, is at most this share of the mean.
    Slope {
        /// Watched quantity.
        variable: SteadyVariable,
        /// Length of a round.
        round: Nanos,
        /// Rounds in the window, at least 3.
        rounds: u32,
        /// Largest slope per round, in per cent of the mean.
        limit_percent: f64,
    },
}

/// When a job ends: whichever comes first. At least one must be given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stop {
    /// Measured time, after the ramp.
    pub runtime: Option<Nanos>,
    /// Bytes moved by each thread.
    pub bytes: Option<Bytes>,
    /// Passes over the region by each thread.
    pub loops: Option<u32>,
    /// As soon as the steady state is reached (then `runtime` is the longest wait for it).
    pub steady: Option<Steady>,
}

/// Flushes among the writes of a thread; 0 is never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flush {
    /// An fsync after so many writes.
    pub fsync_every: u32,
    /// An fdatasync after so many writes.
    pub fdatasync_every: u32,
    /// An fsync when the thread ends, inside the measured time.
    pub at_end: bool,
}

/// What a failed operation means for its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorPolicy {
    /// The job ends at its first failure.
    Stop,
    /// Failures are counted and the job goes on; 1,000 in a row still end it.
    Continue,
}

/// In which order a job goes over its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetOrder {
    /// One operation on each in turn.
    RoundRobin,
    /// One drawn at random for each operation.
    Random,
    /// Thread k works on target k modulo their number, and on no other.
    PerThread,
}

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
    /// Measure the submitting call by itself (asynchronous engines): one more system call a batch.
    pub submit_latency: bool,
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
        rules(self)
    }
}

fn rules(job: &Job) -> Result<(), Invalid> {
    let rule = |holds: bool, field, message: &str| match holds {
        true => Ok(()),
        false => Err(Invalid {
            field,
            message: message.to_owned(),
        }),
    };
    rule(
        job.threads >= 1 && job.threads <= 4096,
        "threads",
        "threads must be 1 to 4096",
    )?;
    rule(
        job.depth >= 1 && job.depth <= 32768,
        "depth",
        "depth must be 1 to 32768",
    )?;
    rule(
        job.batch.complete >= 1 && job.batch.complete <= job.depth,
        "batch_complete",
        "batch_complete must be at least 1 and at most the depth: a wait for more would never end",
    )?;
    let total = u32::from(job.mix.read) + u32::from(job.mix.write) + u32::from(job.mix.trim);
    rule(
        total == 100,
        "mix",
        "read, write and trim shares must add up to 100",
    )?;
    let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim];
    let sound = |mix: &&SizeMix| {
        !mix.0.is_empty() && mix.0.iter().all(|(size, weight)| size.0 > 0 && *weight > 0)
    };
    rule(
        sizes.iter().all(sound),
        "block_size",
        "block sizes and their weights must be above 0",
    )?;
    rule(
        job.sizes.largest() <= Bytes::GIB,
        "block_size",
        "a block may be at most 1 GiB",
    )?;
    let stop = &job.stop;
    rule(
        stop.runtime.is_some() || stop.bytes.is_some() || stop.loops.is_some(),
        "runtime",
        "one of runtime, stop_bytes or loops must be given, else the job never ends",
    )?;
    rule(
        stop.runtime != Some(Nanos::ZERO),
        "runtime",
        "runtime must be above 0",
    )?;
    rule(
        stop.bytes != Some(Bytes::ZERO),
        "stop_bytes",
        "stop_bytes must be above 0",
    )?;
    rule(stop.loops != Some(0), "loops", "loops must be above 0")?;
    if let Some(think) = job.think {
        rule(
            think.every >= 1,
            "think_every",
            "think_every must be at least 1",
        )?;
    }
    pattern_rules(&job.pattern)?;
    pace_rules(job.pace)
}

fn pattern_rules(pattern: &Pattern) -> Result<(), Invalid> {
    let invalid = |field, message: &str| {
        Err(Invalid {
            field,
            message: message.to_owned(),
        })
    };
    match pattern {
        Pattern::PercentRandom(percent) if *percent > 100 => {
            invalid("percent_random", "percent_random must be 0 to 100")
        }
        Pattern::Strided { stride } if stride.0 == 0 => invalid("stride", "stride must be above 0"),
        Pattern::Zipf { theta } if !(*theta > 0.0 && *theta < 100.0 && *theta != 1.0) => invalid(
            "theta",
            "zipf needs a theta above 0 that is not 1, such as 1.2",
        ),
        Pattern::Pareto { h } if !(*h > 0.0 && *h < 1.0) => {
            invalid("h", "pareto needs h between 0 and 1, such as 0.2")
        }
        Pattern::Normal {
            deviation_percent: d,
        } if !(*d > 0.0 && *d <= 100.0) => invalid(
            "deviation",
            "normal needs a deviation above 0 and at most 100 per cent",
        ),
        Pattern::Zones(zones) if !zones_add_up(zones) => invalid(
            "zones",
            "the access shares of the zones and their space shares must each add up to 100",
        ),
        _ => Ok(()),
    }
}

fn zones_add_up(zones: &[Zone]) -> bool {
    let near_hundred = |sum: f64| (sum - 100.0).abs() < 0.01;
    zones
        .iter()
        .all(|z| z.access_percent >= 0.0 && z.space_percent > 0.0)
        && near_hundred(zones.iter().map(|z| z.access_percent).sum())
        && near_hundred(zones.iter().map(|z| z.space_percent).sum())
}

fn pace_rules(pace: Pace) -> Result<(), Invalid> {
    let (Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate)) = pace else {
        return Ok(());
    };
    let (Rate::Iops(value) | Rate::Bytes(value)) = rate;
    if value.is_finite() && value > 0.0 && value < 1e12 {
        return Ok(());
    }
    Err(Invalid {
        field: "rate",
        message: "a rate must be above 0 and below 1e12".to_owned(),
    })
}
