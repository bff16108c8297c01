//! In: results. Out: a JSON object for each, indented, with a newline at the end.
//!
//! Field names end with the unit. The first field is the number of the form, which grows when a
//! field changes its meaning. A figure that is not a number, such as a ratio of nothing, becomes
//! `null`, so the text is always valid JSON.

use blocklab_catalog::unit_price::{By, Currency, Priced, old_lists};
use blocklab_compare::compare::Comparison;
use blocklab_compare::expect::Diagnosis;
use blocklab_compare::gate::Gate;
use blocklab_compare::study::Outcome;
use blocklab_findings::{Assessment, ResponseNs, Row, RowDirection, fleet};
use blocklab_record::{Measurement, PERCENTILES, Percentile, Record, Statistic, TargetFacts};
use blocklab_workload::Date;
use serde::{Serialize, Serializer};

use crate::fields;
use crate::words::{answer, facts, versus};

fn object(fields: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(fields).expect("no exotic keys");
    text + "\n"
}

/// A line of `--json-lines`: an object under the name of its kind.
pub fn line(kind: &str, object: &str) -> String {
    // Removing line breaks is safe: inside of a JSON text they are written as `\n`.
    let object: String = object.lines().map(str::trim_start).collect();
    format!("{{\"line_format\": 1, \"kind\": \"{kind}\", \"{kind}\": {object}}}\n")
}

/// The line of a measurement that has just ended. `system`: its system, in a study of several.
pub fn measured(run: &str, system: Option<&str>, measurement: &Measurement) -> String {
    let jobs = measurement.jobs.iter().map(|job| {
        let seconds = job.elapsed_ns as f64 / 1e9;
        let directions = job.directions.iter().map(|(direction, result)| {
            let percentiles = PERCENTILES.iter().map(|percentile| {
                (
                    field("service", percentile),
                    result.service.percentile(percentile),
                )
            });
            fields! {
                direction: *direction,
                iops: result.ios as f64 / seconds,
                bytes_per_s: result.bytes as f64 / seconds,
                ios: result.ios,
                service_mean_ns: result.service.mean_ns,
                #[serde(flatten)]
                service: Named(percentiles.collect()),
                service_max_ns: result.service.max_ns,
            }
        });
        fields! {
            job: &job.name,
            stopped: job.stopped,
            directions: directions.collect::<Vec<_>>(),
            errors: job.errors.iter().map(|error| error.count).sum::<u64>(),
        }
    });
    line(
        "measurement",
        &object(&fields! {
            run: run,
            system: system,
            case: &measurement.case,
            pass: measurement.pass,
            elapsed_ns: measurement.elapsed_ns,
            jobs: jobs.collect::<Vec<_>>(),
        }),
    )
}

/// A run. `gate`, here and below: the answers to `--fail-on`; `null` without it.
pub fn summary(record: &Record, assessment: &Assessment, gate: Option<&Gate>) -> String {
    let rows = assessment.directions();
    object(&fields! {
        summary_format: 1,
        record_format: record.format,
        tool: &record.tool,
        // The sentence that the text and the page begin with.
        verdict: answer::run(record, assessment).text,
        id: &record.id,
        name: &record.requested.name,
        description: &record.requested.description,
        // The user's note.
        note: &record.note,
        origin: record.origin,
        status: record.status,
        failure: &record.failure,
        started_at: &record.started_at,
        finished_at: &record.finished_at,
        seed: &record.requested.seed,
        aggregate: &record.requested.aggregate,
        planned_passes: record.requested.passes,
        // `null` where another program measured.
        quantile_error_percent: assessment.quantile_error_percent,
        rows: rows.map(|(row, moved)| direction(row, moved)).collect::<Vec<_>>(),
        findings: &assessment.findings,
        gate: gate,
        // `null` where the run is of one host.
        fleet: record.fleet.as_ref().map(|fleet| fields! {
            hosts: &fleet.hosts,
            passes: &fleet.passes,
            lost: &fleet.lost,
            rows: host_rows(record, assessment),
        }),
        notes: &record.notes,
        errors: facts::failures(record),
        accounting: facts::accounting(record).known(record.origin),
        overhead: &record.overhead,
        targets: record.targets.iter().map(target).collect::<Vec<_>>(),
        environment: &record.environment,
        workload: &record.requested.native,
    })
}

/// What each host did, case by case.
fn host_rows(record: &Record, assessment: &Assessment) -> Vec<impl Serialize> {
    let cases = assessment.rows.iter().map(|row| &*row.case);
    let mut rows = Vec::new();
    for of_host in cases.flat_map(|case| fleet::host_rows(record, case)) {
        let directions = of_host.row.directions.iter();
        rows.extend(directions.map(|moved| {
            fields! {
                host: of_host.host.clone(),
                case: of_host.row.case.clone(),
                direction: moved.direction,
                iops: moved.iops,
                bytes_per_s: moved.bytes_per_s,
                service_p50_ns: moved.service_ns.at("p50"),
                service_p99_ns: moved.service_ns.at("p99"),
                ios: moved.ios,
            }
        }));
    }
    rows
}

/// One direction of a case. A figure that another program did not report is `null`.
fn direction(row: &Row, row_direction: &RowDirection) -> impl Serialize {
    let known = |statistic| !row_direction.unknown.has(statistic);
    let percentiles = row_direction.service_ns.iter().map(|(percentile, ns)| {
        let known = row_direction.knows(percentile.share);
        (field("service", percentile), known.then_some(ns))
    });
    fields! {
        case: &row.case,
        direction: row_direction.direction,
        what: &row.what,
        // `null` where sizes differ.
        block_bytes: row.only_job.as_ref().and_then(|job| job.block_bytes),
        settings: &row.settings,
        iops: row_direction.iops,
        bytes_per_s: row_direction.bytes_per_s,
        service_mean_ns: known(Statistic::Mean).then_some(row_direction.mean_ns),
        service_min_ns: known(Statistic::Min).then_some(row_direction.min_ns),
        #[serde(flatten)]
        service: Named(percentiles.collect()),
        service_max_ns: known(Statistic::Max).then_some(row_direction.max_ns),
        response: row_direction.response_ns.map(response),
        ios: row_direction.ios,
        // The highest quantile with at least ten operations beyond it.
        quantile_supported_max: row_direction.highest_quantile(),
        // All directions of the case together.
        case_errors: row.errors,
        // Every operation of this process takes some processor time; of those of another program or of
        // a model it is not known.
        case_cpu_ns_per_io: (row.cpu_ns_per_io > 0.0).then_some(row.cpu_ns_per_io),
    }
}

fn response(response: ResponseNs) -> impl Serialize {
    let percentiles = response.percentiles.iter();
    let named = percentiles.map(|(percentile, ns)| (field("response", percentile), Some(ns)));
    fields! {
        #[serde(flatten)]
        percentiles: Named(named.collect()),
        response_max_ns: response.max,
    }
}

/// The name of a percentile's field: `service_p99_ns`.
fn field(latency: &str, percentile: &Percentile) -> String {
    format!("{latency}_{}_ns", percentile.name)
}

/// Fields whose names are known only when the program runs, in this order.
struct Named(Vec<(String, Option<u64>)>);

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A target. Its limits are in words, as this form has always had them.
fn target(target: &TargetFacts) -> impl Serialize {
    let limits = target.limits.iter().map(|limit| {
        fields! {
            name: limit.name.to_string(),
            value: limit.value,
            unit: limit.unit.text(),
            origin: limit.origin.to_string(),
            bound: limit.is_bound(),
        }
    });
    fields! {
        path: &target.path,
        // Only where it was kept.
        #[serde(flatten)]
        address: target.address.as_ref().map(|address| fields! { address: address }),
        kind: target.kind,
        size_bytes: target.size_bytes,
        file_system: &target.file_system,
        devices: &target.devices,
        direct_memory_align: target.direct_memory_align,
        direct_offset_align: target.direct_offset_align,
        limits: limits.collect::<Vec<_>>(),
        assumptions: &target.assumptions,
    }
}

/// A comparison of runs. `run` and `baseline` are indexes into the list of runs.
pub fn comparison(records: &[&Record], comparison: &Comparison, gate: Option<&Gate>) -> String {
    let runs = records.iter().map(|record| {
        fields! {
            id: record.id.clone(),
            name: record.requested.name.clone(),
            origin: record.origin,
            status: record.status,
            // How the run's own table aggregates its passes: `median`.
            aggregate: record.requested.aggregate.clone(),
            subject: versus::subject(record),
            started_at: record.started_at.clone(),
        }
    });
    object(&fields! {
        comparison_format: 2,
        verdict: answer::comparison(comparison).text,
        runs: runs.collect::<Vec<_>>(),
        #[serde(flatten)]
        comparison: comparison,
        gate: gate,
    })
}

/// The findings of a run, and how it compares with what was bought; `expected` is `null` without an
/// address.
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis, gate: Option<&Gate>) -> String {
    object(&fields! {
        diagnosis_format: 1,
        verdict: answer::diagnosis(record, diagnosis).text,
        id: &record.id,
        name: &record.requested.name,
        origin: record.origin,
        status: record.status,
        expected: &diagnosis.expected,
        findings: &diagnosis.assessment.findings,
        gate: gate,
    })
}

/// What runs and addresses cost, the cheapest first. All amounts are in US dollars; `currency` is
/// the exchange rate that the user gave.
pub fn prices(priced: &[Priced], by: By, currency: Option<&Currency>, today: Date) -> String {
    object(&fields! {
        price_format: 1,
        by: by,
        currency: currency,
        priced: priced,
        old_lists: old_lists(priced, today),
    })
}

/// A repeated study.
pub fn study(name: &str, description: &str, outcome: &Outcome, gate: Option<&Gate>) -> String {
    object(&fields! {
        study_format: 1,
        verdict: answer::study(outcome).text,
        name: name,
        description: description,
        #[serde(flatten)]
        outcome: outcome,
        gate: gate,
    })
}
