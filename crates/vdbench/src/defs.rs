//! Definitions as written: storage, workloads, runs, with their defaults filled in.

use super::buckets::Buckets;
use super::data_errors::DataErrors;
use super::known::Known;
use super::mistake::Mistake;
use super::mistake::Place;
use super::value::MAX_RATE;

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

/// Two ends of a range as written: up to 200 in per cent, above in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// First.
    pub low: f64,
    /// Behind the last.
    pub high: f64,
}

/// A command, and whether its output goes to the console.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commands(pub Vec<String>);

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
    /// Before the first run.
    pub startcmd: Commands,
    /// After the last one.
    pub endcmd: Commands,
    /// Whether files are always formatted, or never.
    pub formatsds: Option<bool>,
    /// Bytes of a write while formatting.
    pub formatxfersize: Option<u64>,
    /// Buckets of the histograms.
    pub histogram: Buckets,
    /// All runs again.
    pub repeat: Option<Repeat>,
    /// A file that is looked at while running.
    pub monitor: Option<String>,
    /// A skew that is off by more per cent fails the run.
    pub abort_failed_skew: Option<f64>,
    /// Options as those of -v.
    pub validate: Option<String>,
    /// Options as those of -j.
    pub journal: Option<String>,
}

/// How often all runs are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// So often.
    Times(u64),
    /// Until so many seconds are over.
    Seconds(u64),
    /// Until a signal.
    Endless,
}

/// A storage definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Sd {
    /// Where it is written.
    pub place: Place,
    /// `sd1`.
    pub name: String,
    /// A file, a device, a model.
    pub lun: String,
    /// Bytes; 0: as large as what is there.
    pub size: u64,
    /// Operations in flight.
    pub threads: u32,
    /// Bytes that hits go to.
    pub hitarea: u64,
    /// Added to every offset.
    pub offset: u64,
    /// Offsets are multiples of it; 0: of the block.
    pub align: u64,
    /// Part that is used.
    pub range: Option<Range>,
    /// How it is opened.
    pub openflags: OpenFlags,
    /// Directory of its journal.
    pub journal: Option<String>,
    /// `(start, n)` until it is written out.
    pub(super) count: Option<(i64, u64)>,
    /// How often what is written repeats itself.
    pub dedupratio: Option<f64>,
}

impl Default for Sd {
    fn default() -> Self {
        Self {
            place: Place::default(),
            name: "default".to_owned(),
            lun: String::new(),
            size: 0,
            threads: 8,
            hitarea: 1 << 20,
            offset: 0,
            align: 0,
            range: None,
            openflags: OpenFlags::default(),
            journal: None,
            count: None,
            dedupratio: None,
        }
    }
}

/// Sizes of a workload's operations.
#[derive(Debug, Clone, PartialEq)]
pub enum Xfersize {
    /// Always so many bytes.
    Fixed(u64),
    /// Bytes and their shares in per cent.
    Mix(Vec<(u64, f64)>),
    /// Any multiple of the last, from the first to the second.
    Between(u64, u64, u64),
}

impl Xfersize {
    /// Bytes of the largest operation.
    #[must_use]
    pub fn largest(&self) -> u64 {
        match self {
            Self::Fixed(size) | Self::Between(_, size, _) => *size,
            Self::Mix(mix) => mix.iter().map(|(size, _)| *size).max().unwrap_or(0),
        }
    }

    /// The size that the original's flat file names; of a mix the first.
    #[must_use]
    pub fn named(&self) -> u64 {
        match self {
            Self::Fixed(size) | Self::Between(size, ..) => *size,
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
    /// Whether every operation continues the one before it.
    #[must_use]
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::Eof | Self::SequentialAnywhere)
            || matches!(self, Self::Percent(percent) if percent <= 0.0)
    }

    /// As the flat file has it: eof is -1.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Percent(percent) => percent,
            Self::Eof => -1.0,
            Self::SequentialAnywhere => 0.0,
            Self::Poisson(_) => 100.0,
        }
    }
}

/// A workload definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Wd {
    /// Where it is written.
    pub place: Place,
    /// `wd1`.
    pub name: String,
    /// Names of storage, `*` at the end standing for anything.
    pub sds: Option<Vec<String>>,
    /// Its share of the rate in per cent; 0: what the others leave.
    pub skew: f64,
    /// Bytes.
    pub xfersize: Xfersize,
    /// Reads in per cent.
    pub rdpct: f64,
    /// Share of the reads that go to the hit area, in per cent.
    pub rhpct: f64,
    /// Share of the writes that go to the hit area, in per cent.
    pub whpct: f64,
    /// Part of the storage that is used.
    pub range: Option<Range>,
    /// Whether the blocks of the range are used unevenly.
    pub hotband: bool,
    /// Where operations go.
    pub seek: Seek,
    /// Shortest and longest way to the next operation, in bytes.
    pub stride: Option<(u64, u64)>,
    /// Sequential streams.
    pub streams: u32,
    /// Operations in flight of a concatenation.
    pub threads: Option<u32>,
    /// A rate of its own; 0: a share of the run's.
    pub iorate: f64,
    /// Who comes first; the lower the sooner.
    pub priority: Option<u32>,
    /// How its storage is opened instead.
    pub openflags: Option<OpenFlags>,
}

impl Default for Wd {
    fn default() -> Self {
        Self {
            place: Place::default(),
            name: "default".to_owned(),
            sds: None,
            skew: 0.0,
            xfersize: Xfersize::Fixed(4096),
            rdpct: 100.0,
            rhpct: 0.0,
            whpct: 0.0,
            range: None,
            hotband: false,
            seek: Seek::Percent(100.0),
            stride: None,
            streams: 0,
            threads: None,
            iorate: 0.0,
            priority: None,
            openflags: None,
        }
    }
}

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
    /// Bytes.
    Hitarea,
    /// Compression ratio.
    Comp,
    /// The rate.
    Iorate,
}

impl LoopKind {
    /// As banners name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        [
            "xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "hitarea", "comp",
            "iorate",
        ][self as usize]
    }
}

/// `iorate=` as written.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedRate {
    /// As fast as it goes.
    Max,
    /// A maximum, then shares of it.
    Curve,
    /// One or several rates; negative: per cent of the run before; [`f64::INFINITY`] does not
    /// occur.
    Rates(Vec<f64>),
}

impl AskedRate {
    /// Whether any of its runs has a rate to keep.
    #[must_use]
    pub fn has_rate(&self) -> bool {
        match self {
            Self::Max | Self::Curve => false,
            Self::Rates(rates) => rates.iter().any(|rate| *rate != MAX_RATE),
        }
    }
}

/// When operations begin under a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Exponential distances.
    #[default]
    Exponential,
    /// Uniform distances.
    Uniform,
    /// Even distances.
    Deterministic,
}

/// A run definition, its loops not yet written out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rd {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) wds: Vec<String>,
    pub(super) sds: Option<Vec<String>>,
    pub(super) iorate: Option<AskedRate>,
    pub(super) curve: Option<Vec<f64>>,
    pub(super) stopcurve: Option<f64>,
    pub(super) elapsed: u64,
    pub(super) interval: u64,
    pub(super) warmup: u64,
    pub(super) pause: u64,
    pub(super) maxdata: MaxData,
    pub(super) arrivals: Arrivals,
    /// Rates take turns; with `spike`, each for a moment.
    pub(super) variable: Option<bool>,
    pub(super) openflags: Option<OpenFlags>,
    pub(super) startcmd: Commands,
    pub(super) endcmd: Commands,
    pub(super) loops: Vec<(LoopKind, Vec<f64>)>,
}

/// Bytes after which a run ends; below 100, times the size of all its storage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MaxData {
    /// Read and written.
    pub all: Option<f64>,
    /// Read.
    pub read: Option<f64>,
    /// Written.
    pub written: Option<f64>,
}

impl Default for Rd {
    fn default() -> Self {
        Self {
            place: Place::default(),
            name: "default".to_owned(),
            wds: Vec::new(),
            sds: None,
            iorate: None,
            curve: None,
            stopcurve: None,
            elapsed: 30,
            interval: 1,
            warmup: 0,
            pause: 0,
            maxdata: MaxData::default(),
            arrivals: Arrivals::default(),
            variable: None,
            openflags: None,
            startcmd: Commands::default(),
            endcmd: Commands::default(),
            loops: Vec::new(),
        }
    }
}

/// Values that several sections define alike.
impl Known<'_> {
    pub(super) fn commands(&self) -> Commands {
        Commands(self.words())
    }

    pub(super) fn openflags(&self) -> Result<OpenFlags, Mistake> {
        let mut flags = OpenFlags::default();
        for word in self.words() {
            match &*word.to_lowercase() {
                "o_direct" | "directio" => flags.direct = true,
                "o_sync" | "o_rsync" => flags.sync = true,
                "o_dsync" => flags.dsync = true,
                "fsync" => flags.fsync = true,
                "none" => {}
                other => {
                    return Err(self.wrong(format!(
                        "`{other}` is no flag on Linux; o_direct, directio, o_sync, o_dsync, \
                         o_rsync and fsync are"
                    )));
                }
            }
        }
        Ok(flags)
    }

    pub(super) fn range(&self) -> Result<Range, Mistake> {
        match self.numbers()? {
            [low, high] if (0.0..=1e18).contains(low) && (0.0..=1e18).contains(high) => {
                if low >= high {
                    return Err(self.wrong(format!(
                        "the range ends at {high}, not after its beginning at {low}"
                    )));
                }
                Ok(Range {
                    low: *low,
                    high: *high,
                })
            }
            _ => Err(self.wrong("a beginning and an end are expected, as in range=(10,20)")),
        }
    }
}
