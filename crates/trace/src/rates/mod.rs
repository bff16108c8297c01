//! In: tables of rates over intervals, as iostat, sar and CloudWatch print them. Out: the rates of a
//! volume in each interval.
//!
//! ```text
//!   iostat, sar, sadf ─▶ sysstat ────┐
//!                                    ├─▶ Sample: a figure of an interval ─▶ RateTable
//!   get-metric-…, CSV ─▶ cloudwatch ─┘
//! ```
//!
//! A table of rates is no trace: it does not tell how operations came within an interval. So it has a
//! type of its own, and no operations are invented for it.

mod cloudwatch;
mod sysstat;

use std::collections::{BTreeMap, HashMap};

use blocklab_units::{Nanos, agreeing, plural};
use serde::Serialize;

use crate::SECOND;

/// Most intervals of a table: more than ten years of minutes.
const MAX_INTERVALS: usize = 6_000_000;

/// Some programs of Windows begin a text in UTF-8 with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// Length of an interval, for texts that do not show it; 0 is taken for `None`.
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
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    cloudwatch::is_known(text) || sysstat::is_known(text)
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
    let every_ns = wanted.every_ns.filter(|every| *every > 0);
    let wanted = WantedRates { every_ns, ..wanted };
    let mut files = Vec::new();
    for (name, text) in texts {
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        let read = if cloudwatch::is_known(text) {
            cloudwatch::read(text, wanted)
        } else {
            sysstat::read(text, wanted)
        };
        let samples = read.map_err(|why| format!("{name}: {why}"))?;
        files.push((name.as_str(), samples));
    }
    let lengths: Vec<u64> = files
        .iter()
        .filter_map(|(_, read)| read.length_ns)
        .collect();
    let interval_ns = match (lengths.first(), every_ns) {
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
    merged(&files, interval_ns)
}

/// The length of an interval: as the user says, else as the times of a text show it. Reports may be
/// missing, so the times may be farther apart than the user says, and a timer may be a little early.
fn interval_length(shown: Option<u64>, every: Option<u64>) -> Result<Option<u64>, String> {
    match (shown, every) {
        (Some(shown), Some(every)) if every > shown.saturating_add(shown / 2) => Err(format!(
            "its intervals are of {}, and --every says {}: leave it out",
            Nanos(shown),
            Nanos(every)
        )),
        _ => Ok(every.or(shown)),
    }
}

/// Merges the figures of all files, each with its name, by interval.
fn merged(files: &[(&str, Samples)], interval_ns: u64) -> Result<RateTable, String> {
    let has_dates = files.iter().all(|(_, read)| read.has_dates);
    let all = files.iter().flat_map(|(_, read)| &read.all);
    let Some(first) = all.map(|sample| sample.from_ns).min() else {
        return Err("no interval in it".to_owned());
    };
    let mut intervals: BTreeMap<u64, RateInterval> = BTreeMap::new();
    // The file that each figure of an interval came from last.
    let mut origins: HashMap<(u64, Metric), usize> = HashMap::new();
    let mut remarks = Vec::new();
    let mut replaced = 0;
    for (file, (name, read)) in files.iter().enumerate() {
        for sample in &read.all {
            // Reports come a little early or late, so each is about the nearest interval.
            let since = sample.from_ns - first;
            let index = since.saturating_add(interval_ns / 2) / interval_ns;
            let is_new_value = put(intervals.entry(index).or_default(), sample);
            match origins.insert((index, sample.metric), file) {
                Some(other) if is_new_value && other != file => {
                    return Err(format!(
                        "{} and {name} have different figures of the same time: they are of several \
                         volumes, or of several days without dates; name files of one",
                        files[other].0
                    ));
                }
                Some(_) if is_new_value => replaced += 1,
                _ => {}
            }
        }
        for remark in &read.remarks {
            if !remarks.contains(remark) {
                remarks.push(remark.clone());
            }
        }
    }
    if replaced > 0 {
        remarks.push(format!(
            "{} {} replaced by a later one of the same interval",
            plural(replaced, "figure"),
            agreeing(replaced, "is", "are")
        ));
    }
    if intervals.len() > MAX_INTERVALS {
        return Err(format!("more than {MAX_INTERVALS} intervals"));
    }
    remarks.extend(missing_intervals(&intervals));
    let intervals = intervals.into_iter().map(|(index, interval)| RateInterval {
        from_ns: index * interval_ns,
        iops: interval.iops.or_else(|| {
            let both = [interval.read_iops, interval.write_iops];
            both.into_iter().flatten().reduce(|sum, more| sum + more)
        }),
        ..interval
    });
    let intervals: Vec<RateInterval> = intervals.collect();
    remarks.extend(one_sided(&intervals));
    Ok(RateTable {
        interval_ns,
        begins_ns: has_dates.then_some(first),
        intervals,
        remarks,
    })
}

/// A remark on the intervals that lie between others and are in no file.
fn missing_intervals(intervals: &BTreeMap<u64, RateInterval>) -> Option<String> {
    let last = intervals.keys().last()?;
    let missing = (last + 1) as usize - intervals.len();
    (missing > 0).then(|| {
        format!(
            "{} {} missing, and nothing is known of {}",
            plural(missing, "interval"),
            agreeing(missing, "is", "are"),
            agreeing(missing, "it", "them")
        )
    })
}

/// A remark for each figure that some intervals lack although they have that of the other direction.
fn one_sided(intervals: &[RateInterval]) -> Vec<String> {
    type Figure = fn(&RateInterval) -> Option<f64>;
    let pairs: [(&str, Figure, Figure); 4] = [
        (
            "reads",
            |interval| interval.read_iops,
            |interval| interval.write_iops,
        ),
        (
            "writes",
            |interval| interval.write_iops,
            |interval| interval.read_iops,
        ),
        (
            "bytes read",
            |interval| interval.read_bytes_per_s,
            |interval| interval.write_bytes_per_s,
        ),
        (
            "bytes written",
            |interval| interval.write_bytes_per_s,
            |interval| interval.read_bytes_per_s,
        ),
    ];
    let mut remarks = Vec::new();
    for (name, figure, other) in pairs {
        let is_known = intervals.iter().any(|interval| figure(interval).is_some());
        let lacking = intervals
            .iter()
            .filter(|interval| figure(interval).is_none() && other(interval).is_some())
            .count();
        if is_known && lacking > 0 {
            remarks.push(format!(
                "{} {} no figure of {name}, which are taken for none there",
                plural(lacking, "interval"),
                agreeing(lacking, "has", "have")
            ));
        }
    }
    remarks
}

/// Sets a figure of an interval. True, if the interval had another value of it.
fn put(interval: &mut RateInterval, sample: &Sample) -> bool {
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
            return false;
        }
    };
    let before = place.replace(sample.value);
    before.is_some_and(|before| before != sample.value)
}

/// The figure, if it is one that a table can have.
fn figure(value: f64) -> Option<f64> {
    (value.is_finite() && (0.0..1e15).contains(&value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: of two reports of sar around a restart, the interval was the time between them, and
    /// --every had no effect, so that nothing could be done about it.
    #[test]
    fn the_user_knows_intervals_of_which_a_text_shows_a_few() {
        let row = |time: &str| format!("{time}  vda  3.00   12.00    0.00\n");
        let text = format!(
            "10:00:00  DEV   tps   rkB/s   wkB/s\n{}{}",
            row("10:01:00"),
            row("10:06:00")
        );
        let length = |every_ns: Option<u64>| {
            let wanted = WantedRates {
                device: None,
                every_ns,
            };
            let found = read_rates(&[("sar.txt".to_owned(), text.clone())], wanted);
            found.map(|table| (table.interval_ns / SECOND, table.remarks))
        };
        let missing = "4 intervals are missing, and nothing is known of them";
        assert_eq!(length(None), Ok((300, Vec::new())));
        assert_eq!(
            length(Some(60 * SECOND)),
            Ok((60, vec![missing.to_owned()]))
        );
        let longer = length(Some(3600 * SECOND)).expect_err("longer than what is there");
        assert_eq!(
            longer,
            "sar.txt: its intervals are of 5 min, and --every says 1 h: leave it out"
        );
    }

    /// The story: in a table of reads and writes, hours of which the writes were not known counted as hours
    /// without writes, and nothing said so.
    #[test]
    fn a_direction_that_an_interval_lacks_is_remarked() {
        let answer = |name: &str, minutes: &[u64]| {
            let points: Vec<String> = minutes
                .iter()
                .map(|minute| {
                    format!(r#"{{"Timestamp": "2026-11-27T10:0{minute}:00Z", "Sum": 600.0}}"#)
                })
                .collect();
            let text = format!(
                r#"{{"Label": "{name}", "Datapoints": [{}]}}"#,
                points.join(",")
            );
            (format!("{name}.json"), text)
        };
        let remarks = |minutes_of_writes: &[u64]| {
            let files = [
                answer("VolumeReadOps", &[0, 1, 2, 3]),
                answer("VolumeWriteOps", minutes_of_writes),
            ];
            let found = read_rates(&files, WantedRates::default()).expect("a sound answer");
            found.remarks
        };
        assert_eq!(
            remarks(&[0, 1]),
            ["2 intervals have no figure of writes, which are taken for none there"]
        );
        assert_eq!(remarks(&[0, 1, 2, 3]), [""; 0]);
    }
}
