//! A DiskSpd profile as it is written, whether on a command line or in XML.

use blocklab_units::with_defaults;

/// Everything that one call requests.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// One after the other.
    pub timespans: Vec<TimeSpan>,
    /// How the result is printed.
    pub format: Format,
    /// Operations between two dots; 0: none.
    pub progress: u32,
    /// Verbose output (`-v`).
    pub verbose: bool,
    /// Only check the profile and print it (`-Rp`).
    pub profile_only: bool,
    /// Elements of an XML profile that change nothing here, each with the reason.
    pub ignored: Vec<(&'static str, &'static str)>,
}

impl Profile {
    /// The same profile, where time spans that take their seed from the clock have this one.
    #[must_use]
    pub fn with_clock_seed(mut self, seed: u32) -> Self {
        for span in &mut self.timespans {
            span.seed.get_or_insert(seed);
        }
        self
    }
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Xml,
}

with_defaults! {
    /// Targets that are loaded at the same time.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TimeSpan {
        /// Seconds that are measured.
        pub duration: u32 = 10,
        /// Seconds of load before them.
        pub warmup: u32 = 5,
        /// Seconds of load after them.
        pub cooldown: u32 = 0,
        /// Seed of all random numbers; `None`: from the clock.
        pub seed: Option<u32> = Some(0),
        /// Threads for all targets together (`-F`); 0: each target has its own.
        pub thread_count: u32 = 0,
        /// Operations in flight per thread over all targets (`-O`); 0: by target.
        pub request_count: u32 = 0,
        /// Group and number of the processors that the threads are bound to in turn.
        pub affinity: Vec<(u16, u32)> = Vec::new(),
        /// Threads are bound to all processors in turn, as the command line requests (`-ag`).
        pub round_robin: bool = false,
        /// No affinity (`-n`).
        pub disable_affinity: bool = false,
        /// Completion routines (`-x`).
        pub completion_routines: bool = false,
        /// Latency in the results (`-L`).
        pub measure_latency: bool = false,
        /// Standard deviation of the rate in the results (`-D`).
        pub iops_std_dev: bool = false,
        /// Milliseconds of an interval of the rate.
        pub bucket_ms: u32 = 1000,
        /// Fresh random bytes for each write (`-Zr`).
        pub random_write_data: bool = false,
        /// At least one.
        pub targets: Vec<Target> = Vec::new(),
    }
}

/// Which caches take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// The system's.
    Cached,
    /// Only a server's.
    NotLocal,
    /// None of the system's.
    None,
}

/// How mapped memory is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapFlush {
    /// FlushViewOfFile.
    View,
    /// RtlFlushNonVolatileMemory.
    NonVolatile,
    /// The same, without waiting.
    NonVolatileNoDrain,
}

/// A rate per thread and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throughput {
    /// Bytes a millisecond.
    BytesPerMs(u32),
    /// Operations a second.
    Iops(u32),
}

/// What writes carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Buffers {
    /// 0, 1, … 255, again and again.
    Pattern,
    /// Zeros.
    Zero,
    /// From a buffer of this many bytes: random, or out of a file.
    Source {
        /// Bytes.
        size: u64,
        /// Where they come from.
        file: Option<String>,
    },
}

/// Where random operations go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// Widths are in bytes, where 0 is the rest, and not in per cent of the target.
    pub absolute: bool,
    /// One after the other from the beginning of the target. What they leave of the operations goes to
    /// what they leave of the target.
    pub ranges: Vec<IoRange>,
}

/// A range of a target and its part of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRange {
    /// Per cent of the operations.
    pub io_percent: u32,
    /// Per cent of the target, or bytes: see [`Distribution::absolute`].
    pub width: u64,
}

with_defaults! {
    /// One file, disk or volume and its load.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Target {
        /// As it is written.
        pub path: String = String::new(),
        /// Bytes of an operation.
        pub block: u64 = 64 << 10,
        /// First byte that is used.
        pub base: u64 = 0,
        /// End of what is used; 0: the target's own.
        pub max_file_size: u64 = 0,
        /// Size of the file that is made (`-c`); 0: none.
        pub file_size: u64 = 0,
        /// Caches.
        pub cache: Cache = Cache::Cached,
        /// Write through (`-Sw`).
        pub write_through: bool = false,
        /// Mapped memory (`-Sm`).
        pub mapped: bool = false,
        /// How that is flushed (`-N`).
        pub map_flush: Option<MapFlush> = None,
        /// Per cent of the operations that are random, at most 100.
        pub random_ratio: u32 = 0,
        /// Alignment of random operations, stride of sequential ones; `None`: the block size.
        pub align: Option<u64> = None,
        /// Threads share one sequence (`-si`).
        pub interlocked: bool = false,
        /// Distance between the beginnings of two threads (`-T`).
        pub thread_stride: u64 = 0,
        /// All operations in flight begin at the same offset (`-p`).
        pub parallel: bool = false,
        /// Operations in flight per thread (`-o`).
        pub requests: u32 = 2,
        /// Threads (`-t`).
        pub threads: u32 = 1,
        /// Per cent of the operations that write, at most 100.
        pub write_ratio: u32 = 0,
        /// Rate, where it is limited.
        pub throughput: Option<Throughput> = None,
        /// Operations of a burst (`-i`); 0: no bursts.
        pub burst: u32 = 0,
        /// Milliseconds between two bursts (`-j`); 0: no bursts.
        pub think_ms: u32 = 0,
        /// What writes carry.
        pub buffers: Buffers = Buffers::Pattern,
        /// Hints for opening the file: sequential scan, random access, temporary.
        pub hints: [bool; 3] = [false; 3],
        /// Large pages for buffers.
        pub large_pages: bool = false,
        /// I/O priority: 1 very low, 2 low, 3 normal.
        pub priority: u32 = 3,
        /// Under `-O`, its share of the operations relative to that of the other targets.
        pub weight: u32 = 1,
        /// Under `-O`, the only threads that work on it, each with its weight (0: that of the target);
        /// none: all threads do.
        pub threads_of_pool: Vec<(u32, u32)> = Vec::new(),
        /// Where random operations go.
        pub distribution: Option<Distribution> = None,
    }
}

impl Target {
    /// Alignment or stride.
    pub fn step(&self) -> u64 {
        self.align.unwrap_or(self.block)
    }
}
