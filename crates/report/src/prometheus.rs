//! In: a run and what was found in it. Out: its figures in the text format of Prometheus, for the
//! textfile collector of node_exporter.
//!
//! The rules of that format stay in this file. A family has one HELP and one TYPE line, which its
//! samples follow without a gap. No sample has a time, which the collector would refuse. A label
//! may hold any text, with `\`, `"` and line ends escaped.

use std::fmt::Write;

use blocklab_device::LimitUnit;
use blocklab_findings::{Assessment, RowDirection};
use blocklab_record::{Percentiles, Record, Statistic, Status};
use blocklab_units::count;

use crate::words::facts;

/// The most time series of one run. A Prometheus keeps each for weeks, and a sweep over hundreds of
/// cases is better exported as a table.
pub const MOST_SERIES: usize = 2000;

/// A run would have more than [`MOST_SERIES`] time series; holds how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManySeries(usize);

impl std::error::Error for TooManySeries {}

impl std::fmt::Display for TooManySeries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "this run is {} time series, and more than {} are too many for a Prometheus: measure \
             fewer cases (run --case NAME), or export the run with --format csv",
            count(self.0 as f64),
            count(MOST_SERIES as f64)
        )
    }
}

/// Metrics of one name.
struct Family {
    name: &'static str,
    help: &'static str,
    samples: Vec<(Labels, f64)>,
}

/// Label names and their texts, in the order in which they are printed.
type Labels = Vec<(&'static str, String)>;

/// All figures of a run as gauges, labelled by `study` and `target`, so that the next run of the same
/// study on the same target continues the series.
///
/// # Errors
/// [`TooManySeries`] beyond [`MOST_SERIES`].
pub fn prometheus(record: &Record, assessment: &Assessment) -> Result<String, TooManySeries> {
    let mut families = about(record);
    families.extend(figures(assessment));
    families.extend(latencies(assessment));
    families.push(findings(assessment));
    families.extend(limits(record));
    let series: usize = families.iter().map(|family| family.samples.len()).sum();
    if series > MOST_SERIES {
        return Err(TooManySeries(series));
    }
    let common = common(record);
    Ok(families.iter().map(|family| family.text(&common)).collect())
}

/// The labels of every series.
fn common(record: &Record) -> Labels {
    vec![
        ("study", record.requested.name.clone()),
        ("target", facts::target_names(record)),
    ]
}

/// The families about the run itself: what it is, when it ended and how.
fn about(record: &Record) -> Vec<Family> {
    let info = vec![
        ("run", record.id.clone()),
        ("figures", record.origin.name().to_owned()),
        ("tool", record.tool.clone()),
    ];
    // Of a run that goes on, the time is that of its last interval.
    let finished = record.finished_at.parse::<jiff::Timestamp>().ok();
    let ended = finished
        .filter(|_| record.status != Status::Running)
        .map(|at| (Vec::new(), at.as_second() as f64));
    // Prometheus has no values of text: each status is a sample, and the one of the run is 1.
    let mut statuses = vec![
        Status::Complete,
        Status::Interrupted,
        Status::Failed,
        Status::Incomplete,
    ];
    // Only a run that goes on has this sample: a file for a collector is written after the end, and all of its
    // lines stay what they are until the next run.
    if record.status == Status::Running {
        statuses.push(Status::Running);
    }
    let status = statuses.into_iter().map(|status| {
        let value = f64::from(u8::from(record.status == status));
        (vec![("status", facts::word(status))], value)
    });
    vec![
        Family {
            name: "blocklab_run_info",
            help: "The last run of this study and target; figures is measured, simulated, emulated or imported.",
            samples: vec![(info, 1.0)],
        },
        Family {
            name: "blocklab_run_timestamp_seconds",
            help: "When the run ended, in seconds since 1970.",
            samples: ended.into_iter().collect(),
        },
        Family {
            name: "blocklab_run_status",
            help: "1 for the way in which the run ended, 0 for the others.",
            samples: status.collect(),
        },
    ]
}

/// The name and the help of a family, and its value for a direction; `None`: not known.
type Figure = (&'static str, &'static str, fn(&RowDirection) -> Option<f64>);

const FIGURES: [Figure; 8] = [
    ("blocklab_iops", "Operations a second.", |moved| {
        Some(moved.iops.value)
    }),
    (
        "blocklab_iops_ci95_low",
        "Lower end of the 95 % confidence interval of the operations a second.",
        |moved| moved.iops.low,
    ),
    (
        "blocklab_iops_ci95_high",
        "Upper end of the 95 % confidence interval of the operations a second.",
        |moved| moved.iops.high,
    ),
    (
        "blocklab_bytes_per_second",
        "Bytes moved a second.",
        |moved| Some(moved.bytes_per_s.value),
    ),
    (
        "blocklab_operations",
        "Operations in all passes together.",
        |moved| Some(moved.ios as f64),
    ),
    (
        "blocklab_service_latency_mean_seconds",
        "Mean time from submission to completion.",
        |moved| known_seconds(moved, Statistic::Mean, moved.mean_ns.value),
    ),
    (
        "blocklab_service_latency_max_seconds",
        "Longest time from submission to completion.",
        |moved| known_seconds(moved, Statistic::Max, moved.max_ns as f64),
    ),
    (
        "blocklab_response_latency_max_seconds",
        "Longest time from the moment an operation was due to its completion.",
        |moved| Some(seconds(moved.response_ns?.max as f64)),
    ),
];

/// A latency in seconds, unless another program measured and did not report it.
fn known_seconds(direction: &RowDirection, statistic: Statistic, ns: f64) -> Option<f64> {
    (!direction.unknown.has(statistic)).then(|| seconds(ns))
}

fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// The families of [`FIGURES`], and the failed operations.
fn figures(assessment: &Assessment) -> Vec<Family> {
    let errors = assessment.rows.iter().map(|row| {
        let case = vec![("case", row.case.clone())];
        (case, row.errors as f64)
    });
    let failed = Family {
        name: "blocklab_failed_operations",
        help: "Operations that failed, in all passes together.",
        samples: errors.collect(),
    };
    let families = FIGURES.iter().map(|(name, help, figure)| {
        let samples = assessment
            .directions()
            .filter_map(|(row, direction)| Some((load(&row.case, direction), figure(direction)?)));
        Family {
            name,
            help,
            samples: samples.collect(),
        }
    });
    families.chain([failed]).collect()
}

/// The labels of a direction of a case.
fn load(case: &str, direction: &RowDirection) -> Labels {
    vec![
        ("case", case.to_owned()),
        ("direction", direction.direction.name().to_owned()),
    ]
}

/// Those percentiles that enough operations support: on others, a single operation would raise an
/// alarm.
fn quantiles(
    case: &str,
    direction: &RowDirection,
    percentiles: &Percentiles,
) -> Vec<(Labels, f64)> {
    let supported = percentiles
        .iter()
        .filter(|(percentile, _)| direction.supports(percentile.share));
    let samples = supported.map(|(percentile, ns)| {
        let mut labels = load(case, direction);
        labels.push(("quantile", percentile.share.to_string()));
        (labels, seconds(ns as f64))
    });
    samples.collect()
}

/// Quantiles of the service latency and of the response latency.
fn latencies(assessment: &Assessment) -> [Family; 2] {
    let (mut service, mut response) = (Vec::new(), Vec::new());
    for (row, direction) in assessment.directions() {
        service.extend(quantiles(&row.case, direction, &direction.service_ns));
        if let Some(known) = &direction.response_ns {
            response.extend(quantiles(&row.case, direction, &known.percentiles));
        }
    }
    [
        Family {
            name: "blocklab_service_latency_seconds",
            help: "Quantiles of the time from submission to completion.",
            samples: service,
        },
        Family {
            name: "blocklab_response_latency_seconds",
            help: "Quantiles of the time from the moment an operation was due, under a given rate.",
            samples: response,
        },
    ]
}

/// The number of findings of each rule and severity.
fn findings(assessment: &Assessment) -> Family {
    let mut samples: Vec<(Labels, f64)> = Vec::new();
    for finding in &assessment.findings {
        let labels = vec![
            ("rule", finding.rule.to_owned()),
            ("severity", facts::word(finding.severity)),
        ];
        match samples.iter_mut().find(|(known, _)| *known == labels) {
            Some((_, times)) => *times += 1.0,
            None => samples.push((labels, 1.0)),
        }
    }
    Family {
        name: "blocklab_findings",
        help: "Findings of the run by rule and severity.",
        samples,
    }
}

/// The limits in the model of a volume. Of several targets with a limit of the same name, the first
/// is taken.
fn limits(record: &Record) -> [Family; 2] {
    let (mut operations, mut bytes) = (Vec::new(), Vec::new());
    let limits = record.targets.iter().flat_map(|target| &target.limits);
    for limit in limits.filter(|limit| !limit.is_bound()) {
        let Some(factor) = limit.unit.per_second() else {
            continue;
        };
        let samples: &mut Vec<(Labels, f64)> = if limit.unit == LimitUnit::Iops {
            &mut operations
        } else {
            &mut bytes
        };
        // Prometheus refuses two samples with the same labels.
        let labels = vec![("limit", limit.name.to_string())];
        if samples.iter().all(|(known, _)| *known != labels) {
            samples.push((labels, limit.value * factor));
        }
    }
    [
        Family {
            name: "blocklab_limit_iops",
            help: "A limit of a simulated or emulated volume, in operations a second.",
            samples: operations,
        },
        Family {
            name: "blocklab_limit_bytes_per_second",
            help: "A limit of a simulated or emulated volume, in bytes a second.",
            samples: bytes,
        },
    ]
}

impl Family {
    /// The family as text; empty without a finite sample.
    fn text(&self, common: &Labels) -> String {
        let samples = self.samples.iter().filter(|(_, value)| value.is_finite());
        let lines: String = samples
            .map(|(own, value)| format!("{}{{{}}} {value}\n", self.name, labels(common, own)))
            .collect();
        if lines.is_empty() {
            return lines;
        }
        format!(
            "# HELP {0} {1}\n# TYPE {0} gauge\n{lines}",
            self.name, self.help
        )
    }
}

fn labels(common: &Labels, own: &Labels) -> String {
    let mut text = String::new();
    for (name, value) in common.iter().chain(own) {
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}{name}=\"{}\"", escaped(value));
    }
    text
}

fn escaped(text: &str) -> String {
    let backslashes = text.replace('\\', "\\\\");
    backslashes.replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_holds_any_text() {
        for (text, expected) in [
            ("a\"b", "a\\\"b"),
            ("a\\b\nc", "a\\\\b\\nc"),
            ("größe {x=1}", "größe {x=1}"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn a_family_has_one_head_and_no_figure_that_is_none() {
        let family = Family {
            name: "blocklab_iops",
            help: "Operations a second.",
            samples: vec![
                (vec![("case", "a".to_owned())], 1234.5),
                (vec![("case", "b".to_owned())], f64::NAN),
            ],
        };
        let common = vec![("study", "quick".to_owned())];
        let expected = "# HELP blocklab_iops Operations a second.\n# TYPE blocklab_iops gauge\n\
                        blocklab_iops{study=\"quick\",case=\"a\"} 1234.5\n";
        assert_eq!(family.text(&common), expected);
        let empty = Family {
            samples: Vec::new(),
            ..family
        };
        assert_eq!(empty.text(&common), "");
    }
}
