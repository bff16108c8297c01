//! A DiskSpd profile as it is written, whether on a command line or in XML.

/// A struct whose fields carry what holds where nobody says otherwise.
macro_rules! with_defaults {
    ($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

/// Everything that one call asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// One after the other.
    pub timespans: Vec<TimeSpan>,
    /// How the result is printed.
    pub format: Format,
    /// Operations between two dots; 0: none.
    pub progress: u32,
    /// Say more (`-v`).
    pub verbose: bool,
    /// Only check the profile and print it (`-Rp`).
    pub profile_only: bool,
    /// Elements of an XML profile that change nothing here, and why.
    pub unheeded: Vec<(&'static str, &'static str)>,
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
    TimeSpan {
        /// Seconds that count.
        duration: u32 = 10,
        /// Seconds before.
        warmup: u32 = 5,
        /// Seconds after.
        cooldown: u32 = 0,
        /// Nothing: from the clock.
        seed: Option<u32> = Some(0),
        /// Threads for all targets together (`-F`); 0: each target has its own.
        thread_count: u32 = 0,
        /// Operations in flight per thread over all targets (`-O`); 0: by target.
        request_count: u32 = 0,
        /// Processor groups and processors, in turn.
        affinity: Vec<(u16, u32)> = Vec::new(),
        /// Threads are bound to all processors in turn, as the command line says (`-ag`).
        round_robin: bool = false,
        /// No affinity (`-n`).
        disable_affinity: bool = false,
        /// Completion routines (`-x`).
        completion_routines: bool = false,
        /// Latency in the results (`-L`).
        measure_latency: bool = false,
        /// Standard deviation of the rate in the results (`-D`).
        iops_std_dev: bool = false,
        /// Milliseconds of an interval.
        bucket_ms: u32 = 1000,
        /// Fresh random bytes for each write (`-Zr`).
        random_write_data: bool = false,
        /// At least one.
        targets: Vec<Target> = Vec::new(),
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
    /// From a buffer of so many bytes: random, or out of a file.
    Source {
        /// Bytes.
        size: u64,
        /// Where they come from.
        file: Option<String>,
    },
}

/// Where random operations go: (per cent of the operations, width).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// Widths in per cent of the target.
    Percent(Vec<(u32, u64)>),
    /// Widths in bytes; 0: the rest.
    Absolute(Vec<(u32, u64)>),
}

with_defaults! {
    /// One file, disk or volume and its load.
    Target {
        /// As it is written.
        path: String = String::new(),
        /// Bytes of an operation.
        block: u64 = 64 << 10,
        /// First byte that is used.
        base: u64 = 0,
        /// End of what is used; 0: the target's own.
        max_file_size: u64 = 0,
        /// Size of the file that is made (`-c`); 0: none.
        file_size: u64 = 0,
        /// Caches.
        cache: Cache = Cache::Cached,
        /// Write through (`-Sw`).
        write_through: bool = false,
        /// Mapped memory (`-Sm`).
        mapped: bool = false,
        /// How that is flushed (`-N`).
        map_flush: Option<MapFlush> = None,
        /// Per cent of the operations that are random.
        random_ratio: u32 = 0,
        /// Alignment of random operations, stride of sequential ones; nothing: the block size.
        align: Option<u64> = None,
        /// Threads share one sequence (`-si`).
        interlocked: bool = false,
        /// Distance between the beginnings of two threads (`-T`).
        thread_stride: u64 = 0,
        /// All operations in flight begin at the same offset (`-p`).
        parallel: bool = false,
        /// Operations in flight per thread (`-o`).
        requests: u32 = 2,
        /// Threads (`-t`).
        threads: u32 = 1,
        /// Per cent of the operations that write.
        write_ratio: u32 = 0,
        /// Rate, where it is limited.
        throughput: Option<Throughput> = None,
        /// Operations of a burst (`-i`); 0: no bursts.
        burst: u32 = 0,
        /// Milliseconds between two bursts (`-j`).
        think_ms: u32 = 0,
        /// What writes carry.
        buffers: Buffers = Buffers::Pattern,
        /// Hints: sequential scan, random access, temporary.
        hints: [bool; 3] = [false; 3],
        /// Large pages for buffers.
        large_pages: bool = false,
        /// 1 very low, 2 low, 3 normal.
        priority: u32 = 3,
        /// Share under `-O`.
        weight: u32 = 1,
        /// Under `-O`, the only threads that work on it, each with its own share (0: the target's);
        /// none: all do.
        threads_of_pool: Vec<(u32, u32)> = Vec::new(),
        /// Where random operations go.
        distribution: Option<Distribution> = None,
    }
}

impl Target {
    /// Alignment or stride.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.align.unwrap_or(self.block)
    }
}
