//! Definitions as written: storage, workloads, runs, with their defaults filled in.

use blocklab_units::with_defaults;

use super::error::{Place, Subject};

/// `openflags`, as far as Linux has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenFlags {
    /// Past the page cache.
    pub direct: bool,
    /// Data and metadata are stored when a write returns.
    pub sync: bool,
    /// Data is.
    pub dsync: bool,
    /// An fsync when the run ends.
    pub fsync: bool,
}

/// A part of storage as written: in per cent where it ends at 200 or below, else in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Where it begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// Buckets of response times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    /// Upper edges in microseconds, ascending; one more bucket has no upper edge.
    pub edges: Vec<u64>,
    /// Empty rows at the beginning and at the end are left out.
    pub suppress: bool,
}

impl Default for Buckets {
    /// 20 µs to 2 s, five to each power of ten.
    fn default() -> Self {
        let decades = (1..=5).map(|power| 10_u64.pow(power));
        let edges = decades.flat_map(|decade| [2, 4, 6, 8, 10].map(|step| step * decade));
        Self {
            edges: edges.chain([2_000_000]).collect(),
            suppress: false,
        }
    }
}

with_defaults! {
    /// What failed operations and wrong blocks lead to.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DataErrors {
        /// All runs end at this one (50), or with `remove` the use of its storage definition.
        pub most: u32 = 50,
        /// The first error ends the run, then the shell runs this.
        pub command: Option<String> = None,
        /// The storage definition on which the errors happen is used no more; the others go on.
        pub remove: bool = false,
    }
}

/// Everything before the first storage definition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct General {
    /// How well what is written compresses, 1 and more.
    pub compratio: Option<f64>,
    /// How often what is written repeats itself, 1 and more.
    pub dedupratio: Option<f64>,
    /// The storage definitions of a workload are one device.
    pub concatenate: bool,
    /// What failed operations and wrong blocks lead to.
    pub data_errors: DataErrors,
    /// Commands before the first run, and words that name where their output goes.
    pub startcmd: Vec<String>,
    /// Commands after the last run.
    pub endcmd: Vec<String>,
    /// Whether files are always formatted, or never; `None`: those that are too short.
    pub formatsds: Option<bool>,
    /// Bytes of a write while formatting.
    pub formatxfersize: Option<u64>,
    /// The buckets of `histogram.html`.
    pub histogram: Buckets,
    /// How often all runs are repeated; `None`: not at all.
    pub repeat: Option<Repeat>,
    /// Options as those of -v.
    pub validate: Vec<String>,
    /// Options as those of -j, or a directory for journals.
    pub journal: Vec<String>,
}

/// How often, or how long, all runs are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// This many times.
    Times(u64),
    /// Until this many seconds are over.
    Seconds(u64),
    /// Until a signal.
    Endless,
}

with_defaults! {
    /// A storage definition.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Sd {
        /// Where it is written.
        pub place: Place = Place::default(),
        /// `sd1`.
        pub name: String = "default".to_owned(),
        /// A file, a device, a model.
        pub lun: String = String::new(),
        /// Bytes; 0: the whole file or device.
        pub size: u64 = 0,
        /// Operations in flight.
        pub threads: u32 = 8,
        /// Bytes that hits go to.
        pub hitarea: u64 = 1 << 20,
        /// Added to every offset.
        pub offset: u64 = 0,
        /// Offsets are multiples of it; 0: of the block.
        pub align: u64 = 0,
        /// Part that is used.
        pub range: Option<Range> = None,
        /// How it is opened.
        pub openflags: OpenFlags = OpenFlags::default(),
        /// Directory of its journal.
        pub journal: Option<String> = None,
        /// Names of the hosts that use it; none: all of them.
        pub hosts: Vec<String> = Vec::new(),
        /// The first number and how many definitions, until `count=` is written out.
        pub(super) count: Option<(i64, u64)> = None,
        /// How often what is written repeats itself.
        pub dedupratio: Option<f64> = None,
    }
}

/// Sizes of a workload's operations.
#[derive(Debug, Clone, PartialEq)]
pub enum Xfersize {
    /// Always this many bytes.
    Fixed(u64),
    /// Bytes and their shares in per cent.
    Mix(Vec<(u64, f64)>),
    /// Any multiple of `align` from `min` to `max`, in bytes.
    Between {
        /// Smallest size, at least `align`.
        min: u64,
        /// Largest size.
        max: u64,
        /// What all sizes are multiples of.
        align: u64,
    },
}

impl Xfersize {
    /// Bytes of the largest operation.
    pub(super) fn largest(&self) -> u64 {
        match self {
            Self::Fixed(size) | Self::Between { max: size, .. } => *size,
            Self::Mix(mix) => mix.iter().map(|(size, _)| *size).max().unwrap_or(0),
        }
    }

    /// The size that the original's flat file names; of a mix the first.
    pub(super) fn named(&self) -> u64 {
        match self {
            Self::Fixed(size) | Self::Between { min: size, .. } => *size,
            Self::Mix(mix) => mix.first().map_or(0, |(size, _)| *size),
        }
    }
}

/// Where a workload's operations go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seek {
    /// Random with this probability in per cent, else the next block; 0 is sequential.
    Percent(f64),
    /// Sequential, and the run ends at the end of the range.
    Eof,
    /// Sequential, not beginning at the start.
    SequentialAnywhere,
    /// Random around this many parts of the range.
    Poisson(f64),
}

impl Seek {
    /// As the flat file has it: eof is -1.
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Percent(percent) => percent,
            Self::Eof => -1.0,
            Self::SequentialAnywhere => 0.0,
            Self::Poisson(_) => 100.0,
        }
    }
}

with_defaults! {
    /// A workload definition.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Wd {
        pub place: Place = Place::default(),
        /// `wd1`.
        pub name: String = "default".to_owned(),
        /// Names of storage; a `*` at the end matches anything.
        pub sds: Option<Vec<String>> = None,
        /// Names of the hosts that run it; none: all of them.
        pub hosts: Vec<String> = Vec::new(),
        /// Its share of the rate in per cent; 0: what the others leave.
        pub skew: f64 = 0.0,
        /// Bytes.
        pub xfersize: Xfersize = Xfersize::Fixed(4096),
        /// Reads in per cent.
        pub rdpct: f64 = 100.0,
        /// Share of the reads that go to the hit area, in per cent.
        pub rhpct: f64 = 0.0,
        /// Share of the writes that go to the hit area, in per cent.
        pub whpct: f64 = 0.0,
        /// Bytes of the hit area, where a loop sets them.
        pub hitarea: Option<u64> = None,
        /// Part of the storage that is used.
        pub range: Option<Range> = None,
        /// Whether the blocks of the range are used unevenly.
        pub hotband: bool = false,
        /// Where operations go.
        pub seek: Seek = Seek::Percent(100.0),
        /// Shortest and longest way to the next operation, in bytes.
        pub stride: Option<(u64, u64)> = None,
        /// Sequential streams, each in its part of the range; 0: none.
        pub streams: u32 = 0,
        /// Operations in flight of a concatenation.
        pub threads: Option<u32> = None,
        /// A rate of its own; 0: a share of the run's.
        pub iorate: f64 = 0.0,
        /// Its place among the workloads of a run; the lowest is served first.
        pub priority: Option<u32> = None,
        /// How its storage is opened instead.
        pub openflags: Option<OpenFlags> = None,
    }
}

macro_rules! subjects {
    ($($kind:ident $name:literal)*) => {$(
        impl Subject for $kind {
            fn subject(&self) -> (&Place, String) {
                (&self.place, format!(concat!($name, "={}"), self.name))
            }
        }
    )*};
}

subjects! { Sd "sd" Wd "wd" Rd "rd" }

/// What a loop of runs changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// Bytes of an operation.
    Xfersize,
    /// Operations in flight for each storage definition.
    Threads,
    /// Reads in per cent.
    Rdpct,
    /// Read hits in per cent.
    Rhpct,
    /// Write hits in per cent.
    Whpct,
    /// Random share in per cent.
    Seekpct,
    /// Bytes of the hit area.
    Hitarea,
    /// Compression ratio.
    Comp,
    /// Operations a second; negative: per cent of the run before.
    Iorate,
}

impl LoopKind {
    /// As banners name it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Xfersize => "xfersize",
            Self::Threads => "threads",
            Self::Rdpct => "rdpct",
            Self::Rhpct => "rhpct",
            Self::Whpct => "whpct",
            Self::Seekpct => "seekpct",
            Self::Hitarea => "hitarea",
            Self::Comp => "comp",
            Self::Iorate => "iorate",
        }
    }
}

/// `iorate=` as written.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestedRate {
    /// As fast as it goes.
    Max,
    /// A maximum, then shares of it.
    Curve,
    /// One or several rates in operations a second; negative: per cent of the run before.
    Rates(Vec<f64>),
}

/// When operations begin under a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// After gaps that are exponentially distributed.
    #[default]
    Exponential,
    /// After gaps from 0 to twice the mean, all equally likely.
    Uniform,
    /// After gaps of one length.
    Deterministic,
}

/// Bytes after which a run ends; below 100, times the size of all its storage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MaxData {
    /// Read and written.
    pub all: Option<f64>,
    pub read: Option<f64>,
    pub written: Option<f64>,
}

with_defaults! {
    /// What a run definition sets for all runs that it makes.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RunOptions {
        /// Seconds that are measured; `None`: until all is done.
        pub elapsed: Option<u64> = Some(30),
        /// Seconds of a line of the reports.
        pub interval: u64 = 1,
        /// Seconds of load before those that are measured.
        pub warmup: u64 = 0,
        /// Seconds of rest after the run.
        pub pause: u64 = 0,
        /// Bytes after which it ends.
        pub maxdata: MaxData = MaxData::default(),
        /// When operations begin.
        pub arrivals: Arrivals = Arrivals::default(),
        /// Milliseconds above which a curve ends.
        pub stopcurve: Option<f64> = None,
        /// How storage is opened instead.
        pub openflags: Option<OpenFlags> = None,
        /// Commands before it.
        pub startcmd: Vec<String> = Vec::new(),
        /// Commands after it.
        pub endcmd: Vec<String> = Vec::new(),
    }
}

/// A run definition, its loops not yet written out.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Rd {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) wds: Vec<String>,
    pub(super) sds: Option<Vec<String>>,
    pub(super) iorate: Option<RequestedRate>,
    pub(super) curve: Option<Vec<f64>>,
    /// Rates take turns.
    pub(super) variable: bool,
    pub(super) loops: Vec<(LoopKind, Vec<f64>)>,
    pub(super) options: RunOptions,
}
