//! In: a Record. Out: the small part of it that lists, pages and histories need. The index of a
//! store keeps it as one line per run.

use std::fmt::Write as _;

use blocklab_findings::{Assessment, Estimate, Finding, Row, RowDirection, Severity, assess};
use blocklab_record::{Interval, Origin, Percentile, Record, Status};
use blocklab_workload::Direction;
use serde::{Deserialize, Serialize};

use super::surroundings::{machine, surroundings, target};
use crate::compare::{Clocked, Load, Quantity, loads};

/// Version of what [`derive()`] makes. It changes with every change of that, so that no store serves
/// what an older build derived.
pub const DERIVED: &str = concat!(env!("CARGO_PKG_VERSION"), "/history/8");

/// What a list needs of a run. It is short, as a list reads it for every run of a store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The name of the machine; empty where it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// The load with the highest rate; `None`: nothing was measured.
    pub fastest: Option<Fastest>,
}

/// The course of the rate of the fastest load. It is read only for the runs that are shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Operations per second of all directions of its case together, over about equal parts of its
    /// measured time.
    #[serde(default)]
    pub course_iops: Vec<f64>,
}

/// What the line of a run holds in addition to its head.
#[derive(Serialize)]
struct Remembered {
    #[serde(flatten)]
    digest: Digest,
    #[serde(flatten)]
    course: Course,
}

/// The most points that a course has.
const POINTS: usize = 32;

/// The case of a run with the most operations a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fastest {
    /// Its case.
    pub case: String,
    /// What its operations did; `mixed` where they did not all do the same.
    pub direction: String,
    /// Operations per second of all directions together, as in the sentence above a result.
    pub iops: f64,
    /// Bytes a second of all directions together.
    pub bytes_per_s: f64,
}

/// What a history needs of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// Name of the study.
    pub study: String,
    /// Whether its figures were measured, simulated, emulated or imported.
    pub origin: Origin,
    /// The seed of a simulated run: another seed gives other figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// A fingerprint of the cases, passes, order and times of a simulated run, each of which changes the
    /// figures of all: draws and burst credits go on from one measurement to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The class of the machine: figures of different classes are not compared.
    pub machine: String,
    /// The target, by what stays the same between two runs.
    pub target: String,
    /// What else may explain a change, by name and value.
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
    /// A fingerprint of the settings that make it the same load.
    pub kind: String,
    /// `4 KiB random read, depth 32, 1 thread`.
    pub what: String,
    /// Whether a rate was requested, so that only latencies can show a difference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_paced: bool,
    /// The rules that doubt that its figures are the target's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Its figures.
    pub figures: Vec<FigureDigest>,
}

/// One figure of a load. Its keys are short, as a store may have a million of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureDigest {
    /// By its name: `iops`, `service_p99_ns`.
    #[serde(rename = "q")]
    pub quantity: String,
    /// The figure that `show` prints, in the unit of the quantity.
    #[serde(rename = "v")]
    pub value: f64,
    /// Its 95 % confidence interval within the run.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The passes behind it.
    #[serde(rename = "n")]
    pub passes: u32,
}

/// What a list shows of a Record, and a line of JSON with the [`Digest`] and the [`Course`] that
/// its history and its row on a page need.
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

/// The rate of a case over all of its passes that count, without ramps, in at most [`POINTS`] points.
fn course(record: &Record, case: &str) -> Vec<f64> {
    let passes = record.measurements.iter();
    let slices: Vec<&Interval> = passes
        .filter(|pass| pass.case == case && pass.pass > 0)
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
        // Whole operations suffice for a picture of this size, and keep the line short.
        (ios as f64 * 1e9 / length_ns.max(1) as f64).round()
    });
    rates.collect()
}

/// The case with the highest rate; `None`: nothing completed.
fn fastest(assessment: &Assessment) -> Option<Fastest> {
    let rates = assessment.rows.iter().filter_map(Row::rate);
    let most = rates.max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    Some(Fastest {
        case: most.case.to_owned(),
        direction: match most.directions[..] {
            [only] => only.to_string(),
            _ => "mixed".to_owned(),
        },
        iops: most.iops,
        bytes_per_s: most.bytes_per_s,
    })
}

impl Digest {
    /// Takes from a Record what a history needs.
    pub fn new(record: &Record, assessment: &Assessment) -> Self {
        let is_simulated = record.origin == Origin::Simulated;
        let loads = loads(record);
        let digests = assessment.rows.iter().flat_map(|row| {
            let directions = row.directions.iter();
            // A direction in which nothing moved is no load.
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
            schedule: is_simulated.then(|| schedule(record)),
            machine: machine(record),
            target: target(record),
            surroundings: surroundings(record),
            loads: digests.collect(),
        }
    }
}

/// The fingerprint of [`Digest::schedule`]. A record without a plan has its passes alone.
fn schedule(record: &Record) -> String {
    let mut text = format!("{} passes", record.requested.passes);
    if let Some(plan) = &record.requested.plan {
        let _ = write!(
            text,
            " {:?} after {}, {:?}, {} ns before a {:?}",
            plan.aggregate, plan.discard, plan.order, plan.pause.0, plan.pause_before
        );
        for case in &plan.cases {
            let _ = write!(text, "; {}", case.name);
            for job in &case.workload.jobs {
                let _ = write!(text, ", {} ns and {:?}", job.ramp.0, job.stop);
            }
        }
    }
    fingerprint(&text)
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
            kind: fingerprint(&load.kind_text()),
            what: load.what(),
            is_paced: load.is_paced(),
            doubts: doubts(record, findings, &row.case),
            figures: figures(direction),
        }
    }

    /// The name of the figure that is judged: the rate, or the mean latency where a rate was
    /// requested.
    pub fn headline(&self) -> String {
        let quantity = if self.is_paced {
            Quantity::Mean(Clocked::Service)
        } else {
            Quantity::Iops
        };
        quantity.name()
    }
}

/// Rules that find a cause outside of the target and its load: a run that they doubt is left out of
/// the test. Rules that find a symptom of a slower target, such as a heavier tail, are not among
/// them: leaving such runs out would hide what a history is for.
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

/// What doubts a case: the status of a run that did not end as planned, and the rules of
/// [`DISTURBED`] that gave a warning on it.
fn doubts(record: &Record, findings: &[Finding], case: &str) -> Vec<String> {
    let has_ended_otherwise = record.status != Status::Complete;
    let status = has_ended_otherwise.then(|| record.status.name());
    let disturbed = findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Warning)
        .filter(|finding| {
            finding.subject.is_empty() || finding.subject.iter().any(|subject| subject == case)
        })
        .map(|finding| finding.rule)
        .filter(|rule| DISTURBED.contains(rule));
    let mut doubts: Vec<String> = status
        .into_iter()
        .chain(disturbed)
        .map(str::to_owned)
        .collect();
    doubts.sort();
    doubts.dedup();
    doubts
}

/// Rate, mean and p99. The p99 is that of the response time where there is one, since that is the
/// time that users wait.
fn figures(direction: &RowDirection) -> Vec<FigureDigest> {
    let mut figures = vec![
        FigureDigest::new(Quantity::Iops, &direction.iops),
        FigureDigest::new(Quantity::Mean(Clocked::Service), &direction.mean_ns),
    ];
    let (clocked, percentiles) = match &direction.response_ns {
        Some(response) => (Clocked::Response, response.percentiles),
        None => (Clocked::Service, direction.service_ns),
    };
    if let Some(tail) = Percentile::brief().find(|known| known.name == TAIL)
        && direction.supports(tail.share)
    {
        figures.push(FigureDigest {
            quantity: Quantity::Percentile(clocked, tail).name(),
            value: percentiles.at(TAIL) as f64,
            // A row has its percentiles from all passes together, so there is no scatter.
            interval: None,
            passes: direction.iops.passes,
        });
    }
    // A history works with logarithms, and a 0 has none.
    figures.retain(|figure| figure.passes > 0 && figure.value > 0.0);
    figures
}

/// The percentile of a history: a run of some seconds has too few operations for one further out.
const TAIL: &str = "p99";

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

/// A hash that every build computes alike, as it is stored (FNV-1a, 64 bit), in hexadecimal.
fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}
