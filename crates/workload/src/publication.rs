//! What a study shows besides its load: the systems that it compares, its tables and charts, figures
//! that were published elsewhere, and the author's conclusions. The study's text fills it, `compare`
//! computes the tables, `report` draws them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use blocklab_units::Nanos;
use serde::{Serialize, Serializer};

/// What a study shows; empty for a study that only measures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Publication {
    /// The systems to compare, in the order in which they are shown.
    pub systems: Vec<System>,
    /// The author's steps before measuring.
    pub preparation: Vec<String>,
    /// What the reader must know of the repetition, one sentence each.
    pub remarks: Vec<String>,
    /// Author and date of the published figures.
    pub source: String,
    /// The published figures.
    pub figures: Vec<Published>,
    /// Tables, in order; a table may be drawn as a chart too.
    pub tables: Vec<Table>,
    /// Charts of one figure over another.
    pub curves: Vec<Curve>,
    /// The author's conclusions.
    pub conclusions: Vec<Conclusion>,
    /// The cases of each sweep.
    pub families: Vec<Family>,
    /// Cases whose rate is a share of the rate that another case reached.
    pub shares: Vec<Share>,
}

impl Publication {
    /// The sweep of this name.
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.families.iter().find(|family| family.name == name)
    }

    /// The sweep with its cases in the order of the requested load: shares of the full rate first,
    /// then the case that ran as fast as it could.
    pub fn family_by_load(&self, name: &str) -> Option<Family> {
        let mut family = self.family(name)?.clone();
        family.cases.sort_by(|(_, a), (_, b)| {
            let (a, b) = (self.share_percent(a), self.share_percent(b));
            a.total_cmp(&b)
        });
        Some(family)
    }

    /// The requested share of the full rate; infinite for a case without one.
    fn share_percent(&self, case: &str) -> f64 {
        let share = self.shares.iter().find(|share| share.case == case);
        share.map_or(f64::INFINITY, |share| share.percent)
    }

    /// The published value of a figure.
    pub fn published(&self, system: &str, case: Option<&str>, figure: Figure) -> Option<f64> {
        let published = self.figures.iter().find(|published| {
            published.system == system
                && published.case.as_deref() == case
                && published.figure == figure
        })?;
        Some(published.value)
    }
}

/// A system to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// Its name in the tables.
    pub name: String,
    /// Its address for the catalog and the model: `local,as-of=2017-02-27@i3.xlarge`.
    pub address: String,
    /// Why the address differs from what the author wrote; empty if it does not.
    pub because: String,
    /// Whether the load is run on it; otherwise it is only in tables of documents and prices.
    pub measured: bool,
    /// Number of passes, if the author made another number than on the other systems.
    pub passes: Option<u32>,
    /// Number of devices that its one target stands for; each has the threads of a job.
    pub devices: u32,
    /// Whether a model can replace it. Otherwise it is measured only if a target or an earlier run is
    /// assigned to it.
    pub predicted: bool,
    /// Measured time of its cases, if it differs from that of the other systems.
    pub runtime: Option<Nanos>,
    /// Operations a second that enter the monthly price, if operations are paid one by one; `None`:
    /// the measured ones.
    pub billed_iops: Option<f64>,
}

/// The cases that one entry of the study's text made.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The name before the sweep's settings.
    pub name: String,
    /// Settings and name of each case.
    pub cases: Vec<(Vec<(String, String)>, String)>,
}

/// A case that runs at a share of the rate that another one reached just before.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The paced case.
    pub case: String,
    /// The case that ran as fast as it could.
    pub of: String,
    /// Per cent of it.
    pub percent: f64,
}

/// A published figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The system.
    pub system: String,
    /// The case; `None` for a figure of the system itself.
    pub case: Option<String>,
    /// The figure.
    pub figure: Figure,
    /// Its value.
    pub value: f64,
    /// What it proves.
    pub basis: Basis,
}

/// Whether a published figure can test the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// It was measured, and no constant of the model rests on it.
    #[default]
    Measured,
    /// It follows from other published figures: a quotient, or a latency that repeats rate times
    /// inferred threads.
    Derived,
    /// A constant of the model rests on it.
    Fitted,
    /// Its load was never published, and another one is used instead.
    StandIn,
    /// It was published in two contradicting versions; this is the more likely one.
    Damaged,
}

impl Basis {
    /// All, with their names in the text of a study.
    pub const ALL: [(&'static str, Self); 5] = [
        ("measured", Self::Measured),
        ("derived", Self::Derived),
        ("fitted", Self::Fitted),
        ("stand-in", Self::StandIn),
        ("damaged", Self::Damaged),
    ];

    /// `stand-in`.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// One figure of one case on one system, or its ratio to that of another system.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The system.
    pub system: String,
    /// The system by whose figure it is divided; the ratio is in per cent.
    pub over: Option<String>,
    /// The case, or the sweep for figures of a whole sweep; `None` for figures of the system.
    pub case: Option<String>,
    /// The case by whose figure or ratio it is divided; the result is in per cent.
    pub than: Option<String>,
    /// The figure.
    pub figure: Figure,
}

impl Cell {
    /// Whether it is a ratio in per cent.
    pub const fn is_ratio(&self) -> bool {
        self.over.is_some() || self.than.is_some()
    }
}

/// How a table is drawn as a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Not at all.
    #[default]
    No,
    /// A line for each column, over rows that are numbers or sizes.
    Lines,
    /// Bars: a group for each row, a colour for each column.
    Bars,
}

/// Rows and columns of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// The note below it; may be empty.
    pub note: String,
    /// The title of the column with the names of the rows.
    pub corner: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Titles of the columns.
    pub columns: Vec<String>,
    /// A cell for each row and column; `None` if the row has no such figure.
    pub cells: Vec<Vec<Option<Cell>>>,
    /// The chart of it.
    pub drawn: Drawn,
}

/// A chart of one figure over another, with a line for each system.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its title.
    pub title: String,
    /// The note below it; may be empty.
    pub note: String,
    /// The sweeps whose cases are its points.
    pub families: Vec<String>,
    /// The systems, a line each.
    pub systems: Vec<String>,
    /// The figure of the horizontal axis.
    pub x: Figure,
    /// The figure of the vertical axis.
    pub y: Figure,
    /// A bound of `y` that is drawn; the report names where each line crosses it.
    pub bound: Option<f64>,
}

/// A conclusion of the author, and how it is tested.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The conclusion, one sentence.
    pub text: String,
    /// All of these must hold. Empty: it cannot be tested.
    pub checks: Vec<Check>,
    /// Why it cannot be tested, or what explains a contradiction.
    pub because: String,
    /// Whether it is about what documents promise: a model made from them cannot confirm it.
    pub promised: bool,
}

/// A bound on figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Name of what is checked; empty: taken from the cell.
    pub name: String,
    /// The figures; each one must be within the bounds.
    pub cells: Vec<Cell>,
    /// Smallest allowed value.
    pub min: Option<f64>,
    /// Largest allowed value.
    pub max: Option<f64>,
}

/// How one figure is written and shown.
struct Row {
    figure: Figure,
    scope: Scope,
    /// In the text of a study: `mib_per_s`.
    name: &'static str,
    quantity: Quantity,
    decimals: usize,
}

/// The table of figures, a [`Row`] each: its scope, its name, its title for people, its unit, its
/// decimals.
macro_rules! figures {
    ($($(#[$doc:meta])* $figure:ident: $scope:ident, $name:literal, $what:literal, $unit:literal, $decimals:literal;)*) => {
        /// A figure that tables can show.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Figure {
            $($(#[$doc])* $figure,)*
            /// A quantile, in thousandths of a per cent: 99,950 is p99.95.
            QuantileUs(u32),
            /// Share of the operations that took at most this many microseconds, in per cent.
            WithinUs(u32),
        }

        const FIGURES: &[Row] = &[
            $(Row {
                figure: Figure::$figure,
                scope: Scope::$scope,
                name: $name,
                quantity: Quantity { what: Cow::Borrowed($what), unit: $unit },
                decimals: $decimals,
            },)*
        ];
    };
}

figures! {
    /// Operations a second.
    Iops: Case, "iops", "", "IOPS", 0;
    /// 10^6 bytes a second.
    MbPerS: Case, "mb_per_s", "", "MB/s", 1;
    /// 2^20 bytes a second.
    MibPerS: Case, "mib_per_s", "", "MiB/s", 1;
    /// Completed operations of one pass.
    Operations: Case, "operations", "operations", "", 0;
    /// Mean service latency in microseconds.
    MeanUs: Case, "mean_us", "mean", "µs", 1;
    /// Its standard deviation.
    StdevUs: Case, "stdev_us", "standard deviation", "µs", 1;
    /// The smallest.
    MinUs: Case, "min_us", "smallest", "µs", 0;
    /// The largest.
    MaxUs: Case, "max_us", "largest", "µs", 0;
    /// Processor time of the threads in user mode, per cent of their running time.
    CpuUserPercent: Case, "cpu_user_percent", "processor, user", "%", 2;
    /// Processor time of the threads in the kernel, per cent of their running time.
    CpuSystemPercent: Case, "cpu_system_percent", "processor, system", "%", 2;
    /// Voluntary and involuntary context switches of the threads.
    ContextSwitches: Case, "context_switches", "context switches", "", 0;
    /// Reads and writes that the device below the target completed.
    DiskIos: Case, "disk_ios", "requests at the disk", "", 0;
    /// Time in which that device had a request in flight, in per cent.
    DiskBusyPercent: Case, "disk_busy_percent", "disk busy", "%", 2;
    /// Of a sweep: from where on 95 % of its largest rate are reached.
    Saturation: Sweep, "saturation", "saturation point", "", 0;
    /// Of a sweep: how far its smallest rate lies below its largest, in per cent.
    FallPercent: Sweep, "fall_percent", "fall", "%", 1;
    /// Of a sweep: the rate of its peak, the point of the highest latency among those within 1 % of
    /// the largest rate that lasts.
    PeakIops: Sweep, "peak_iops", "peak", "IOPS", 0;
    /// Of a sweep: throughput at its peak in 10^6 bytes a second.
    PeakMbPerS: Sweep, "peak_mb_per_s", "peak", "MB/s", 0;
    /// Of a sweep: throughput at its peak in 1,000 x 2^20 bytes a second, which some print as GB/s.
    PeakThousandMibPerS: Sweep, "peak_thousand_mib_per_s", "peak", "1,000 MiB/s", 2;
    /// Of a sweep: mean latency, in microseconds, at its peak.
    LatencyAtPeakUs: Sweep, "latency_at_peak_us", "latency at the peak", "µs", 0;
    /// Of a sweep: operations a second where the mean latency passes one millisecond.
    IopsAt1Ms: Sweep, "iops_at_1ms", "IOPS where 1 ms is passed", "", 0;
    /// Of a sweep: operations a second at the knee of its curve.
    IopsAtKnee: Sweep, "iops_at_knee", "IOPS at the knee", "", 0;
    /// Of the address: documented random reads of 4 KiB a second.
    DocumentedReadIops: System, "documented_read_iops", "random reads", "IOPS", 0;
    /// Of the address: documented random writes of 4 KiB a second.
    DocumentedWriteIops: System, "documented_write_iops", "writes", "IOPS", 0;
    /// Of the address: documented sequential reads of local disks in 10^6 bytes a second.
    DocumentedReadMbPerS: System, "documented_read_mb_per_s", "reads", "MB/s", 0;
    /// Of the address: size of all volumes or local disks in 10^9 bytes.
    CapacityGb: System, "capacity_gb", "size", "GB", 0;
    /// Of the address: the same in 2^30 bytes.
    CapacityGib: System, "capacity_gib", "size", "GiB", 1;
    /// Of the address: disks of the instance's own.
    Disks: System, "disks", "disks", "", 0;
    /// Of the address: size of each of them in 10^9 bytes.
    DiskGb: System, "disk_gb", "size of each", "GB", 0;
    /// Of the address: the largest volume of its type, in 2^30 bytes.
    MaxVolumeGib: System, "max_volume_gib", "largest volume", "GiB", 0;
    /// Of the instance: virtual processors.
    Vcpus: System, "vcpus", "vCPU", "", 0;
    /// Of the instance: memory in 2^30 bytes.
    MemoryGib: System, "memory_gib", "memory", "GiB", 2;
    /// Of the instance: network bandwidth in 10^9 bits a second, the most.
    NetworkGbps: System, "network_gbps", "network", "Gbit/s", 1;
    /// Of the instance: bandwidth to EBS in 10^9 bits a second, the most.
    EbsGbps: System, "ebs_gbps", "EBS", "Gbit/s", 1;
    /// Of the instance: the same in 10^6 bytes a second.
    EbsMbPerS: System, "ebs_mb_per_s", "EBS", "MB/s", 2;
    /// Of the address: what a volume may move for as long as its credit lasts, in MiB a second.
    BurstMibPerS: System, "burst_mib_per_s", "burst", "MiB/s", 1;
    /// Of the address: what it may move always.
    BaseMibPerS: System, "base_mib_per_s", "baseline", "MiB/s", 1;
    /// The baseline as the vendor's console prints it, rounded up.
    ConsoleBaseMibPerS: System, "console_base_mib_per_s", "console, baseline", "MiB/s", 0;
    /// The burst as the vendor's console prints it, rounded up.
    ConsoleBurstMibPerS: System, "console_burst_mib_per_s", "console, burst", "MiB/s", 0;
    /// Of the address: US dollars an hour, all of it.
    UsdPerHour: System, "usd_per_hour", "USD an hour", "", 3;
    /// Of the address: US dollars a month, without the instance where there is a volume.
    UsdPerMonth: System, "usd_per_month", "USD a month", "", 2;
    /// Of the address: the same for 10^12 bytes of its size.
    UsdPerTbMonth: System, "usd_per_tb_month", "USD a month per TB", "", 2;
    /// US dollars an hour for a million documented reads a second.
    UsdHourPerMillionReadIops: System, "usd_hour_per_million_read_iops", "USD an hour per 1,000,000 read IOPS", "", 2;
    /// US dollars an hour for a million documented writes a second.
    UsdHourPerMillionWriteIops: System, "usd_hour_per_million_write_iops", "USD an hour per 1,000,000 write IOPS", "", 2;
    /// 10^6 bytes a second for a US dollar a month.
    MbPerSPerUsd: Case, "mb_per_s_per_usd", "MB/s per USD a month", "", 3;
    /// Operations a second for a US dollar a month.
    IopsPerUsd: Case, "iops_per_usd", "IOPS per USD a month", "", 2;
}

/// A quantity with its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    /// `mean service time`; empty if the unit is enough: `IOPS`.
    pub what: Cow<'static, str>,
    /// Empty for a plain number.
    pub unit: &'static str,
}

const MICROS: &str = "µs";

impl Quantity {
    fn new(what: String, unit: &'static str) -> Self {
        Self {
            what: what.into(),
            unit,
        }
    }

    /// The nanoseconds of one unit, if it is a time.
    pub fn nanos(&self) -> Option<f64> {
        (self.unit == MICROS).then_some(1e3)
    }
}

/// `mean service time, µs`; `IOPS`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.what, self.unit) {
            ("", only) | (only, "") => f.write_str(only),
            (what, unit) => write!(f, "{what}, {unit}"),
        }
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// What a figure describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A case on a system.
    Case,
    /// A whole sweep on a system.
    Sweep,
    /// The system: its documents and prices.
    System,
}

impl Figure {
    /// `None` for a quantile or a share, which have a number in their names.
    fn row(self) -> Option<&'static Row> {
        FIGURES.iter().find(|row| row.figure == self)
    }

    /// Its name in the text of a study: `mib_per_s`, `p99.9_us`.
    pub fn name(self) -> String {
        match (self, self.row()) {
            (Self::QuantileUs(thousandths), _) => format!("p{}_us", percent(thousandths)),
            (Self::WithinUs(us), _) => format!("within_{us}_us"),
            (_, row) => row.map_or("", |row| row.name).to_owned(),
        }
    }

    /// For people: `MiB/s`, `p99.9, µs`.
    pub fn title(self) -> String {
        self.quantity().to_string()
    }

    /// What it measures, and its unit.
    pub fn quantity(self) -> Quantity {
        match (self, self.row()) {
            (Self::QuantileUs(thousandths), _) => {
                Quantity::new(format!("p{}", percent(thousandths)), MICROS)
            }
            (Self::WithinUs(us), _) => Quantity::new(format!("within {us} µs"), "%"),
            (_, Some(row)) => row.quantity.clone(),
            (_, None) => Quantity::new(String::new(), ""),
        }
    }

    /// Decimals with which it is shown.
    pub fn decimals(self) -> usize {
        match (self, self.row()) {
            (_, Some(row)) => row.decimals,
            (Self::WithinUs(_), None) => 2,
            (_, None) => 0,
        }
    }

    /// What it describes.
    pub fn scope(self) -> Scope {
        self.row().map_or(Scope::Case, |row| row.scope)
    }

    /// Every name that can be written, with one example each of the quantiles and shares.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let patterns = ["p99_us", "within_500_us"];
        FIGURES.iter().map(|row| row.name).chain(patterns)
    }
}

/// `99.95` of 99,950.
fn percent(thousandths: u32) -> String {
    format!("{}", f64::from(thousandths) / 1000.0)
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A text that is not the name of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoFigure;

impl FromStr for Figure {
    type Err = NoFigure;

    fn from_str(text: &str) -> Result<Self, NoFigure> {
        if let Some(known) = FIGURES.iter().find(|row| row.name == text) {
            return Ok(known.figure);
        }
        let within = text
            .strip_prefix("within_")
            .and_then(|name| name.strip_suffix("_us"));
        if let Some(within) = within {
            return within.parse().map(Self::WithinUs).map_err(|_| NoFigure);
        }
        text.strip_prefix('p')
            .and_then(|name| name.strip_suffix("_us"))
            .and_then(|quantile| quantile.parse::<f64>().ok())
            .map(|quantile| (quantile * 1000.0).round())
            .filter(|thousandths| (1.0..100_000.0).contains(thousandths))
            .map(|thousandths| Self::QuantileUs(thousandths as u32))
            .ok_or(NoFigure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_one_name_each() {
        for name in Figure::names().chain(["p99.95_us", "p1_us", "within_250_us"]) {
            let figure: Figure = name.parse().expect(name);
            assert_eq!(figure.name(), name);
            assert!(!figure.title().is_empty());
        }
        // The last is that of all, when it is rounded to thousandths: its name would not be read again.
        for wrong in ["", "p_us", "p100_us", "iop", "p99", "p99.9999_us"] {
            assert_eq!(wrong.parse::<Figure>(), Err(NoFigure), "{wrong}");
        }
    }

    #[test]
    fn a_published_figure_is_found_by_all_that_it_is_of() {
        let publication = Publication {
            figures: vec![Published {
                system: "a".to_owned(),
                case: None,
                figure: Figure::UsdPerHour,
                value: 0.366,
                basis: Basis::Measured,
            }],
            ..Publication::default()
        };
        let found = |case| publication.published("a", case, Figure::UsdPerHour);
        assert_eq!((found(None), found(Some("x"))), (Some(0.366), None));
    }
}
