//! The model against measurements that no constant of it was made from.

use std::collections::BTreeMap;

use blocklab_catalog::resolve;
use blocklab_native as native;
use blocklab_record::Measurement;
use blocklab_workload::Address;
use blocklab_workload::Direction;

use super::repeat::{CATALOG, simulate};

/// The list, one published figure a row.
const LIST: &str = include_str!("../../data/elsewhere.csv");

/// What a figure tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// Operations a second.
    Rate,
    /// A median.
    Median,
    /// A quantile from p95 on.
    Tail,
}

/// A published figure of the list, and ours.
#[derive(Debug, Clone)]
pub struct Elsewhere {
    /// Who published it.
    pub source: String,
    /// The day of the measurement, or of its publication.
    pub date: String,
    /// On what.
    pub address: String,
    /// What was run.
    pub load: String,
    /// Which figure: `iops`, `p99_us`, `read_p50_us`.
    pub figure: String,
    /// As published.
    pub published: f64,
    /// `None`: nothing is predicted for this address.
    pub ours: Option<f64>,
    /// What the source does not say, and what was taken instead; whether a constant has come to rest on it.
    pub remark: String,
}

impl FigureKind {
    /// In the order in which they are shown.
    pub const ALL: [(&str, Self); 3] = [
        ("rates", Self::Rate),
        ("medians", Self::Median),
        ("p95, p99, p99.9", Self::Tail),
    ];

    /// Largest median of the absolute errors that is requested, in per cent.
    #[must_use]
    pub const fn bar(self) -> Option<f64> {
        match self {
            Self::Rate => Some(5.0),
            Self::Median => None,
            Self::Tail => Some(25.0),
        }
    }
}

impl Elsewhere {
    /// Ours over theirs, less one, in per cent.
    #[must_use]
    pub fn error_percent(&self) -> Option<f64> {
        self.ours.map(|ours| (ours / self.published - 1.0) * 100.0)
    }

    /// Which kind of figure it is.
    #[must_use]
    pub fn kind(&self) -> FigureKind {
        if self.figure == "iops" {
            FigureKind::Rate
        } else if self.figure.ends_with("p50_us") {
            FigureKind::Median
        } else {
            FigureKind::Tail
        }
    }

    /// Whether a constant of the model rests on it by now.
    #[must_use]
    pub fn is_fitted(&self) -> bool {
        self.remark.starts_with("fitted")
    }
}

/// Every figure of the list with the model's; loads with several figures are run once.
///
/// # Panics
/// When a row of the list is not understood: all are ours.
#[must_use]
pub fn elsewhere() -> Vec<Elsewhere> {
    let mut measured: BTreeMap<(String, String), Option<Measurement>> = BTreeMap::new();
    let rows = LIST.lines().filter(|line| !line.starts_with('#')).skip(1);
    let each = rows.map(|line| {
        let mut row = row(line);
        let key = (row.address.clone(), row.load.clone());
        let measurement = measured
            .entry(key)
            .or_insert_with(|| measure(&row.address, &row.load));
        row.ours = measurement
            .as_ref()
            .map(|measurement| ours(measurement, &row.figure));
        row
    });
    each.collect()
}

fn row(line: &str) -> Elsewhere {
    let mut cells = cells(line).into_iter();
    let mut next = || cells.next().expect("seven cells");
    Elsewhere {
        source: next(),
        date: next(),
        address: next(),
        load: next(),
        figure: next(),
        published: next().parse().expect("a number"),
        remark: next(),
        ours: None,
    }
}

/// Cells of a row; one in quotes may hold commas.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("one at least").push(letter),
        }
    }
    cells
}

/// `None` where the catalog predicts nothing for the address.
fn measure(address: &str, load: &str) -> Option<Measurement> {
    let parsed = Address::parse(address).expect("an address");
    let resolved = resolve(&parsed, &CATALOG).ok()?;
    let volumes = &resolved.spec.volumes;
    if volumes.iter().any(|volume| volume.service.is_none()) {
        return None;
    }
    let text = study(load);
    let parsed = native::parse(&text, "a load").unwrap_or_else(|error| panic!("{error}"));
    simulate(parsed.plan, address).measurements.pop()
}

/// The load as a study. The case that counts is the last.
fn study(load: &str) -> String {
    let words: Vec<&str> = load.split_whitespace().collect();
    let (jobs, depth) = words[2].split_once('x').expect("jobs x depth");
    let after = |word: &str| {
        let place = words.iter().position(|other| *other == word)?;
        words.get(place + 1)
    };
    let (pattern, read) = pattern(words[0]);
    let size = words[1].to_uppercase();
    let keys = format!(
        "pattern = \"{pattern}\"\nread_percent = {read}\nblock_size = \"{size}iB\"\n\
         threads = {jobs}\ndepth = {depth}\nruntime = \"{}\"\nramp = \"{}\"\n",
        words[3],
        after("after").unwrap_or(&"0s"),
    );
    let before = after("rested").map_or_else(String::new, |rest| {
        format!(
            "[[case]]\nname = \"before\"\n{keys}[[case]]\nname = \"rest\"\nblock_size = \"4KiB\"\n\
             rate_iops = 1\nruntime = \"{rest}\"\nramp = \"0s\"\n"
        )
    });
    format!("seed = 1\n[defaults]\nengine = \"libaio\"\n{before}[[case]]\nname = \"load\"\n{keys}")
}

/// fio's word as a pattern and a share of reads.
fn pattern(word: &str) -> (&'static str, &str) {
    match word {
        "read" => ("sequential", "100"),
        "write" => ("sequential", "0"),
        "randread" => ("random", "100"),
        "randwrite" => ("random", "0"),
        mix => (
            "random",
            mix.strip_prefix("randrw").expect("a known pattern"),
        ),
    }
}

fn ours(measurement: &Measurement, figure: &str) -> f64 {
    let job = &measurement.jobs[0];
    if figure == "iops" {
        let ios: u64 = job.directions.values().map(|direction| direction.ios).sum();
        return ios as f64 / (job.elapsed_ns as f64 / 1e9);
    }
    let (direction, quantile) = match figure.split_once("_p") {
        Some(("read", quantile)) => (Some(Direction::Read), quantile),
        Some(("write", quantile)) => (Some(Direction::Write), quantile),
        _ => (None, &figure[1..]),
    };
    let share = match quantile.strip_suffix("_us").expect("microseconds") {
        "50" => 0.5,
        "95" => 0.95,
        "99" => 0.99,
        "999" => 0.999,
        other => panic!("quantile {other}"),
    };
    let mut all = job.directions.iter();
    let of = all.find(|(key, _)| direction.is_none_or(|direction| direction == **key));
    let (_, result) = of.expect("what the load does");
    result.service.histogram().expect("kept").quantile(share) as f64 / 1e3
}
