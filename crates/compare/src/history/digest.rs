//! In: a Record. Out: the little of it that lists, pages and its place in a history need, which the
//! index of a store remembers in one line.

use blocklab_findings::{Assessment, Estimate, Finding, Row, RowDirection, Severity, assess};
use blocklab_record::{Interval, Origin, Percentile, Record, Status};
use blocklab_workload::Direction;
use serde::{Deserialize, Serialize};

use super::surroundings::{machine, surroundings, target};
use crate::compare::{Clocked, Load, Quantity, loads};

/// Another one for everything that [`derive`] makes otherwise, so that no store gives out what an
/// older build derived.
pub const DERIVED: &str = concat!(env!("CARGO_PKG_VERSION"), "/history/2");

/// What every list needs of a run. It is short: a list reads all of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The name of the machine; empty where it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// `None`: nothing was measured.
    pub fastest: Option<Fastest>,
}

/// How the rate of the fastest load went. It is read of the runs that are shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// The rate of all directions of its case, in equal parts of its measured time.
    #[serde(default)]
    pub course_iops: Vec<f64>,
}

/// What is read run by run.
#[derive(Serialize)]
struct Remembered {
    #[serde(flatten)]
    digest: Digest,
    #[serde(flatten)]
    course: Course,
}

/// Points of a course.
const POINTS: usize = 32;

/// The load of a run with the most operations a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fastest {
    /// Its case.
    pub case: String,
    /// What its operations did.
    pub direction: String,
    /// Operations a second, as `show` prints it.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

/// What a history needs of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// Name of the study.
    pub study: String,
    /// Where its figures come from.
    pub origin: Origin,
    /// The seed of a simulated run: with another one it has other figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The class of the machine: figures of another one are no neighbours.
    pub machine: String,
    /// The target, by what stays the same between two runs.
    pub target: String,
    /// What else may explain a change: its name, and what it was.
    pub surroundings: Vec<(String, String)>,
    /// Its loads, in the order of the run.
    pub loads: Vec<LoadDigest>,
}

/// One direction of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadDigest {
    /// Name of the case.
    pub case: String,
    /// What its operations did.
    pub direction: Direction,
    /// What makes it the same load, by a number.
    pub kind: String,
    /// `4 KiB random read, depth 32, 1 thread`.
    pub what: String,
    /// Whether a rate was requested: then the device can only show in latencies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_paced: bool,
    /// Why its figures may not be the target's, as the names of rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Its figures.
    pub figures: Vec<FigureDigest>,
}

/// One figure of a load. The names are short: a store may have a million of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureDigest {
    /// By its name: `iops`, `service_p99_ns`.
    #[serde(rename = "q")]
    pub quantity: String,
    /// As `show` prints it.
    #[serde(rename = "v")]
    pub value: f64,
    /// Its 95 % confidence interval within the run.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The passes behind it.
    #[serde(rename = "n")]
    pub passes: u32,
}

/// What a list shows of a Record; and what its history and its row on a page need, in one line that
/// holds a [`Digest`] and a [`Course`].
pub fn derive(record: &Record) -> (RunHead, String) {
    let assessment = assess(record);
    let head = RunHead {
        machine: record.environment.host_name.clone().unwrap_or_default(),
        fastest: fastest(&assessment),
    };
    let case = head.fastest.as_ref().map(|load| &*load.case);
    let remembered = Remembered {
        digest: Digest::new(record, &assessment),
        course: Course {
            course_iops: case.map_or_else(Vec::new, |case| course(record, case)),
        },
    };
    let text = serde_json::to_string(&remembered).unwrap_or_default();
    (head, text)
}

/// The rate of a case over its passes.
fn course(record: &Record, case: &str) -> Vec<f64> {
    let passes = record.measurements.iter().filter(|pass| pass.case == case);
    let slices: Vec<&Interval> = passes
        .flat_map(|pass| &pass.series)
        .filter(|slice| !slice.ramp && slice.length_ns > 0)
        .collect();
    let share = slices.len().div_ceil(POINTS).max(1);
    let rates = slices.chunks(share).map(|slices| {
        let directions = slices
            .iter()
            .flat_map(|slice| [slice.read, slice.write, slice.trim]);
        let ios: u64 = directions.map(|direction| direction.ios).sum();
        let length_ns: u64 = slices.iter().map(|slice| slice.length_ns).sum();
        (ios as f64 * 1e9 / length_ns.max(1) as f64).round()
    });
    rates.collect()
}

/// By the figure that `show` prints of it.
fn fastest(assessment: &Assessment) -> Option<Fastest> {
    let all = assessment.rows.iter().flat_map(|row| {
        let directions = row.directions.iter();
        directions.map(move |direction| (&row.case, direction))
    });
    let (case, most) = all.max_by(|(_, a), (_, b)| a.iops.value.total_cmp(&b.iops.value))?;
    Some(Fastest {
        case: case.clone(),
        direction: most.direction.to_string(),
        iops: most.iops.value,
        bytes_per_s: most.bytes_per_s.value,
    })
}

impl Digest {
    /// What a history needs of this Record.
    pub fn new(record: &Record, assessment: &Assessment) -> Self {
        let is_simulated = record.origin == Origin::Simulated;
        let loads = loads(record);
        let digests = assessment.rows.iter().flat_map(|row| {
            let directions = row.directions.iter();
            directions.filter_map(|direction| {
                let load = loads
                    .iter()
                    .find(|load| load.case == row.case && load.direction == direction.direction)?;
                Some(LoadDigest::new(
                    record,
                    &assessment.findings,
                    load,
                    row,
                    direction,
                ))
            })
        });
        Self {
            study: record.requested.study().to_owned(),
            origin: record.origin,
            seed: is_simulated.then(|| record.requested.seed.clone()),
            machine: machine(record),
            target: target(record),
            surroundings: surroundings(record),
            loads: digests.collect(),
        }
    }
}

impl LoadDigest {
    fn new(
        record: &Record,
        findings: &[Finding],
        load: &Load<'_>,
        row: &Row,
        direction: &RowDirection,
    ) -> Self {
        Self {
            case: row.case.clone(),
            direction: direction.direction,
            kind: format!("{:016x}", fingerprint(&load.kind_text())),
            what: load.what(),
            is_paced: load.is_paced(),
            doubts: doubts(record, findings, &row.case),
            figures: figures(direction),
        }
    }

    /// The name of the figure that is judged: the rate, and of a given rate the mean latency.
    pub fn headline(&self) -> String {
        let quantity = if self.is_paced {
            Quantity::Mean(Clocked::Service)
        } else {
            Quantity::Iops
        };
        quantity.name()
    }
}

/// Rules that tell of something besides the target and its load: what they doubt is left out of
/// the test. What a slower target brings with it, as a heavier tail, is not among them.
const DISTURBED: [&str; 16] = [
    "changed-under-way",
    "clock",
    "cpu-limit",
    "credits-used-up",
    "disk-shared",
    "drift-over-passes",
    "drift-within",
    "injected-faults",
    "level-fell",
    "level-rose",
    "machine-busy",
    "memory-limit",
    "page-cache",
    "quota-throttled",
    "slow-episode",
    "stood-still",
];

/// A run that did not end as planned is doubted as a whole.
fn doubts(record: &Record, findings: &[Finding], case: &str) -> Vec<String> {
    let status = match record.status {
        Status::Complete => None,
        Status::Interrupted => Some("interrupted"),
        Status::Failed => Some("failed"),
        Status::Incomplete => Some("incomplete"),
    };
    let grave = findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Warning)
        .filter(|finding| {
            finding.subject.is_empty() || finding.subject.iter().any(|subject| subject == case)
        })
        .map(|finding| finding.rule)
        .filter(|rule| DISTURBED.contains(rule));
    let mut doubts: Vec<String> = status.into_iter().chain(grave).map(str::to_owned).collect();
    doubts.sort();
    doubts.dedup();
    doubts
}

/// Rate, mean and p99; of a given rate the response, from which users suffer.
fn figures(direction: &RowDirection) -> Vec<FigureDigest> {
    let tail = &PERCENTILE;
    let mut figures = vec![
        FigureDigest::new(Quantity::Iops, &direction.iops),
        FigureDigest::new(Quantity::Mean(Clocked::Service), &direction.mean_ns),
    ];
    let percentiles = match &direction.response_ns {
        Some(response) => (Clocked::Response, response.percentiles),
        None => (Clocked::Service, direction.service_ns),
    };
    if let Some(of) = Percentile::brief().find(|of| of.name == *tail)
        && direction.supports(of.share)
    {
        figures.push(FigureDigest {
            quantity: Quantity::Percentile(percentiles.0, of).name(),
            value: percentiles.1.at(tail) as f64,
            interval: None,
            passes: direction.iops.passes,
        });
    }
    figures.retain(|figure| figure.passes > 0 && figure.value > 0.0);
    figures
}

/// Farther out a run of some seconds has too few operations.
const PERCENTILE: &str = "p99";

impl FigureDigest {
    fn new(quantity: Quantity, estimate: &Estimate) -> Self {
        Self {
            quantity: quantity.name(),
            value: estimate.value,
            interval: estimate.low.zip(estimate.high),
            passes: estimate.passes,
        }
    }
}

/// The same for the same text in every build (FNV-1a, 64 bit).
fn fingerprint(text: &str) -> u64 {
    let bytes = text.bytes();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
