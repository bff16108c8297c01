//! In: tables of rates over intervals, as iostat, sar and CloudWatch print them. Out: the rates of a
//! volume in each interval.
//!
//! ```text
//!   iostat, sar, sadf ─▶ sysstat ────┐
//!                                    ├─▶ Sample: a figure of an interval ─▶ RateTable
//!   get-metric-… ─────▶ cloudwatch ──┘
//! ```
//!
//! A table of rates is no trace: it does not tell how operations came within an interval. So it has a
//! type of its own, and no operations are invented for it.

mod cloudwatch;
mod sysstat;

use std::collections::BTreeMap;

use blocklab_units::{agreeing, plural};
use serde::Serialize;

const SECOND: u64 = 1_000_000_000;
/// Most intervals of a table: more than ten years of minutes.
const MAX_INTERVALS: usize = 6_000_000;

/// What a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    Reads,
    Writes,
    /// Operations of both directions.
    Operations,
    ReadBytes,
    WriteBytes,
    QueueLength,
    /// What is left of burst credits, in per cent.
    Balance,
}

/// A figure of an interval: a rate per second, or the mean of something else.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    /// Beginning of the interval, since 1970, or since the first interval of a table without times.
    from_ns: u64,
    metric: Metric,
    value: f64,
}

/// The figures of one text.
#[derive(Debug, Default)]
struct Samples {
    all: Vec<Sample>,
    /// Length of an interval, if the text shows it.
    length_ns: Option<u64>,
    /// Whether times are counted from 1970.
    has_dates: bool,
    remarks: Vec<String>,
}

/// The options for reading tables.
#[derive(Debug, Clone, Copy, Default)]
pub struct WantedRates<'a> {
    /// The name of a device; `None`: the only one.
    pub device: Option<&'a str>,
    /// Length of an interval, for texts that do not show it.
    pub every_ns: Option<u64>,
}

/// The figures of one interval; each is `None` if the table does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RateInterval {
    /// When it begins, since the beginning of the table.
    pub from_ns: u64,
    /// Reads a second.
    pub read_iops: Option<f64>,
    /// Writes a second.
    pub write_iops: Option<f64>,
    /// Operations a second.
    pub iops: Option<f64>,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes written a second.
    pub write_bytes_per_s: Option<f64>,
    /// Mean number of operations in flight.
    pub queue_length: Option<f64>,
    /// Burst credits that are left.
    pub balance_percent: Option<f64>,
}

impl RateInterval {
    /// Bytes of both directions a second.
    pub fn bytes_per_s(&self) -> Option<f64> {
        match (self.read_bytes_per_s, self.write_bytes_per_s) {
            (None, None) => None,
            (read, write) => Some(read.unwrap_or(0.0) + write.unwrap_or(0.0)),
        }
    }
}

/// A table of rates.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RateTable {
    /// Length of an interval.
    pub interval_ns: u64,
    /// When it begins, in ns since 1970; `None` if the table has no dates.
    pub begins_ns: Option<u64>,
    /// The intervals in order of time; some may be missing in between.
    pub intervals: Vec<RateInterval>,
    /// What was left out or assumed, one sentence each.
    pub remarks: Vec<String>,
}

/// Whether a file that begins with these bytes is a table of rates.
pub fn is_rate_table(first: &[u8]) -> bool {
    let text = String::from_utf8_lossy(first);
    cloudwatch::is_known(&text) || sysstat::is_known(&text)
}

/// Reads the tables of one volume, such as a file for each metric. `texts`: the name of each file and
/// its contents.
///
/// # Errors
/// When a table is invalid, or the tables have intervals of different lengths.
pub fn read_rates(
    texts: &[(String, String)],
    wanted: WantedRates<'_>,
) -> Result<RateTable, String> {
    let mut samples = Vec::new();
    for (name, text) in texts {
        let read = if cloudwatch::is_known(text) {
            cloudwatch::read(text, wanted)
        } else {
            sysstat::read(text, wanted)
        };
        samples.push(read.map_err(|why| format!("{name}: {why}"))?);
    }
    let lengths: Vec<u64> = samples.iter().filter_map(|read| read.length_ns).collect();
    let interval_ns = match (lengths.first(), wanted.every_ns) {
        (Some(length), _) if lengths.iter().all(|other| other == length) => *length,
        (None, Some(every)) => every,
        (Some(_), _) => {
            let seconds: Vec<String> = lengths
                .iter()
                .map(|length| format!("{} s", length / SECOND))
                .collect();
            return Err(format!(
                "the files have intervals of {}: ask for all with one period",
                seconds.join(", ")
            ));
        }
        (None, None) => {
            return Err("how long an interval is, is not in it: add --every 60s".to_owned());
        }
    };
    merged(samples, interval_ns)
}

/// Merges the figures of all texts by interval.
fn merged(samples: Vec<Samples>, interval_ns: u64) -> Result<RateTable, String> {
    let has_dates = samples.iter().all(|read| read.has_dates);
    let mut by_time: BTreeMap<u64, RateInterval> = BTreeMap::new();
    let mut remarks = Vec::new();
    for read in samples {
        for sample in &read.all {
            let at = sample.from_ns / interval_ns * interval_ns;
            put(by_time.entry(at).or_default(), sample);
        }
        for remark in read.remarks {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    if by_time.len() > MAX_INTERVALS {
        return Err(format!("more than {MAX_INTERVALS} intervals"));
    }
    let Some(first) = by_time.keys().next().copied() else {
        return Err("no interval in it".to_owned());
    };
    let spans = by_time
        .keys()
        .last()
        .map_or(0, |last| (last - first) / interval_ns + 1);
    let missing = spans - by_time.len() as u64;
    if missing > 0 {
        remarks.push(format!(
            "{} {} missing, and nothing is known of {}",
            plural(missing as usize, "interval"),
            agreeing(missing as usize, "is", "are"),
            agreeing(missing as usize, "it", "them")
        ));
    }
    let intervals = by_time.into_iter().map(|(at, interval)| RateInterval {
        from_ns: at - first,
        iops: interval.iops.or_else(|| {
            let both = [interval.read_iops, interval.write_iops];
            both.into_iter().flatten().reduce(|sum, more| sum + more)
        }),
        ..interval
    });
    Ok(RateTable {
        interval_ns,
        begins_ns: has_dates.then_some(first),
        intervals: intervals.collect(),
        remarks,
    })
}

/// Sets a figure of an interval.
fn put(interval: &mut RateInterval, sample: &Sample) {
    let place = match sample.metric {
        Metric::Reads => &mut interval.read_iops,
        Metric::Writes => &mut interval.write_iops,
        Metric::Operations => &mut interval.iops,
        Metric::ReadBytes => &mut interval.read_bytes_per_s,
        Metric::WriteBytes => &mut interval.write_bytes_per_s,
        Metric::QueueLength => &mut interval.queue_length,
        // A volume can have several credit balances; the lowest one limits it first.
        Metric::Balance => {
            let before = interval.balance_percent.unwrap_or(f64::MAX);
            interval.balance_percent = Some(sample.value.min(before));
            return;
        }
    };
    *place = Some(sample.value);
}

/// The smallest distance between two times, which is the length of an interval even if some are
/// missing.
fn gap(mut moments: Vec<u64>) -> Option<u64> {
    moments.sort_unstable();
    moments.dedup();
    let gaps = moments.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.min()
}

/// The figure, if it is one that a table can have.
fn figure(value: f64) -> Option<f64> {
    (value.is_finite() && (0.0..1e15).contains(&value)).then_some(value)
}
