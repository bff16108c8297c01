//! A run in one JSON object, for other programs. Units stand in the field names.

mod comparison;
mod diagnosis;
mod price;
mod study;
mod target;

use blocklab_analysis::gate::Gate;
use blocklab_analysis::{Assessment, Estimate, Finding, ResponseNs, Row, RowDirection};
use blocklab_record::{
    Environment, ErrorCount, Note, Overhead, Percentile, Record, Statistic, Told,
};
use blocklab_workload::Direction;
use serde::{Serialize, Serializer};

pub use comparison::comparison;
pub use diagnosis::diagnosis;
pub use price::prices;
pub use study::study;
use target::{TargetView, target};

use crate::facts;

/// Shape of what [`summary`] writes. A change of meaning needs a new number.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Summary<'a> {
    summary_format: u32,
    record_format: u32,
    tool: &'a str,
    id: &'a str,
    name: &'a str,
    description: &'a str,
    origin: &'static str,
    status: &'static str,
    failure: Option<&'a str>,
    started_at: &'a str,
    finished_at: &'a str,
    seed: &'a str,
    aggregate: &'a str,
    planned_passes: u32,
    /// `null` where another program measured.
    quantile_error_percent: Option<f64>,
    rows: Vec<RowView<'a>>,
    findings: &'a [Finding],
    /// `null` without `--fail-on`.
    gate: Option<&'a Gate>,
    notes: &'a [Note],
    errors: Vec<CaseError<'a>>,
    accounting: Told,
    overhead: &'a Option<Overhead>,
    targets: Vec<TargetView<'a>>,
    environment: &'a Environment,
    workload: &'a str,
}

/// One direction of a case; `null` is what another program did not tell.
#[derive(Serialize)]
struct RowView<'a> {
    case: &'a str,
    direction: Direction,
    what: &'a str,
    settings: &'a [(String, String)],
    iops: EstimateView,
    bytes_per_s: EstimateView,
    service_mean_ns: Option<EstimateView>,
    service_min_ns: Option<u64>,
    #[serde(flatten)]
    service: Fields,
    service_max_ns: Option<u64>,
    response: Option<ResponseView>,
    ios: u64,
    /// The highest quantile beyond which lie ten operations or more.
    quantile_supported_max: Option<f64>,
    /// Of all directions of the case.
    case_errors: u64,
    /// Of all directions of the case.
    case_cpu_ns_per_io: f64,
}

#[derive(Serialize)]
struct EstimateView {
    value: f64,
    ci95_low: Option<f64>,
    ci95_high: Option<f64>,
    min: f64,
    max: f64,
    cv_percent: f64,
    passes: u32,
}

#[derive(Serialize)]
struct ResponseView {
    #[serde(flatten)]
    percentiles: Fields,
    response_max_ns: u64,
}

/// Fields in this order.
struct Fields(Vec<(String, Option<u64>)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[derive(Serialize)]
struct CaseError<'a> {
    case: &'a str,
    #[serde(flatten)]
    error: ErrorCount,
}

/// One JSON object, indented, with a newline at the end. Figures that are not numbers (a ratio of
/// nothing) become `null`, so the text is valid JSON always.
///
/// # Panics
/// Never: every field is representable in JSON.
#[must_use]
pub fn summary(record: &Record, assessment: &Assessment, gate: Option<&Gate>) -> String {
    let view = Summary {
        summary_format: FORMAT,
        record_format: record.format,
        tool: &record.tool,
        id: &record.id,
        name: &record.asked.name,
        description: &record.asked.description,
        origin: record.origin.name(),
        status: facts::status(record.status),
        failure: record.failure.as_deref(),
        started_at: &record.started_at,
        finished_at: &record.finished_at,
        seed: &record.asked.seed,
        aggregate: &record.asked.aggregate,
        planned_passes: record.asked.passes,
        quantile_error_percent: assessment.quantile_error_percent,
        rows: assessment.rows.iter().flat_map(rows).collect(),
        findings: &assessment.findings,
        gate,
        notes: &record.notes,
        errors: errors(record),
        accounting: facts::accounting(record).told(record.origin),
        overhead: &record.overhead,
        targets: record.targets.iter().map(target).collect(),
        environment: &record.environment,
        workload: &record.asked.native,
    };
    let mut text = serde_json::to_string_pretty(&view).expect("views hold no exotic keys");
    text.push('\n');
    text
}

fn rows(row: &Row) -> impl Iterator<Item = RowView<'_>> {
    row.directions.iter().map(|direction| view(row, direction))
}

fn view<'a>(row: &'a Row, direction: &'a RowDirection) -> RowView<'a> {
    let known = |statistic| !direction.unknown.has(statistic);
    RowView {
        case: &row.case,
        direction: direction.direction,
        what: &row.what,
        settings: &row.settings,
        iops: estimate(&direction.iops),
        bytes_per_s: estimate(&direction.bytes_per_s),
        service_mean_ns: known(Statistic::Mean).then(|| estimate(&direction.mean_ns)),
        service_min_ns: known(Statistic::Min).then_some(direction.min_ns),
        service: Fields(
            (direction.service_ns.iter())
                .map(|(it, ns)| {
                    (
                        field("service", it),
                        direction.knows(it.share).then_some(ns),
                    )
                })
                .collect(),
        ),
        service_max_ns: known(Statistic::Max).then_some(direction.max_ns),
        response: direction.response_ns.map(response),
        ios: direction.ios,
        quantile_supported_max: direction.highest_quantile(),
        case_errors: row.errors,
        case_cpu_ns_per_io: row.cpu_ns_per_io,
    }
}

fn estimate(of: &Estimate) -> EstimateView {
    EstimateView {
        value: of.value,
        ci95_low: of.low,
        ci95_high: of.high,
        min: of.min,
        max: of.max,
        cv_percent: of.cv_percent,
        passes: of.passes,
    }
}

/// `service_p99_ns`.
fn field(latency: &str, percentile: &Percentile) -> String {
    format!("{latency}_{}_ns", percentile.name)
}

fn response(of: ResponseNs) -> ResponseView {
    let all = of.percentiles.iter();
    let all = all.map(|(it, ns)| (field("response", it), Some(ns)));
    ResponseView {
        percentiles: Fields(all.collect()),
        response_max_ns: of.max,
    }
}

fn errors(record: &Record) -> Vec<CaseError<'_>> {
    let failures = facts::failures(record).into_iter();
    failures
        .map(|failure| CaseError {
            case: failure.case,
            error: failure.error,
        })
        .collect()
}
