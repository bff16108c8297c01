//! Delivered against documented: case by case, limit by limit.
//!
//! A case is expected to deliver what the closed form of the device model gives for its load over
//! its measured time, from a rested device. What it delivered instead is explained by the first of
//! these that fits: the expected rate, that rate but for a pause, another type or other settings of
//! the volume, another instance, the limits of another day, a slip of units; what none explains is above or below the documents.

mod at_cap;
mod bench;
mod bought;
mod deviation;
mod elsewhere;
mod limits;
mod others;
mod why;

use std::cmp::Reverse;

use blocklab_catalog::{Catalog, Resolved, unit_price::Priced};
use blocklab_record::Record;
use serde::Serialize;

use blocklab_findings::view::{CaseView, Cases};
use blocklab_findings::{Assessment, Finding};
use blocklab_findings::{assess, by_case};

pub use limits::{HowToTest, LimitCheck, State};
pub use why::Why;

use bench::Bench;
pub(crate) use bench::NEAR;

/// What was bought, and everything else that could have been.
#[derive(Debug, Clone, Copy)]
pub struct Expectation<'a> {
    /// The device that the address names.
    pub resolved: &'a Resolved,
    /// For other settings, other days and the siblings of an instance.
    pub catalog: &'a Catalog,
    /// What the run cost by the unit, where prices are known.
    pub priced: Option<&'a Priced>,
    /// The target that is this device, by its place in the record; `None`: all of the run.
    pub target: Option<usize>,
    /// The targets that are attached to the same instance, this one included.
    pub together: &'a [usize],
}

/// The rows and findings of a record, and how it compares with what was bought.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Rows, and all findings: the record's own and those of the comparison, most severe first.
    pub assessment: Assessment,
    /// What it was compared with.
    pub expected: Option<Compared>,
}

/// A run compared with documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// In the shortest spelling, until somebody puts what the user wrote in its place.
    pub address: String,
    /// Each case, in the order of the run.
    pub cases: Vec<CaseCheck>,
    /// Each documented limit.
    pub limits: Vec<LimitCheck>,
}

impl Compared {
    /// Both together, as of two targets.
    fn and(mut self, other: Self) -> Self {
        self.address = format!("{} and {}", self.address, other.address);
        self.cases.extend(other.cases);
        self.limits.extend(other.limits);
        self
    }
}

/// A case compared with what documents let one expect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseCheck {
    /// Its name.
    pub case: String,
    /// The target, where several have addresses of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What was delivered: operations a second.
    pub iops: f64,
    /// What was to be expected over the measured time; `None`: nothing can be.
    pub expected_iops: Option<f64>,
    /// Which limit was to bind, or `latency`.
    pub binding: Option<String>,
    /// What explains the difference.
    pub why: Why,
}

type Rule = fn(&Bench<'_>) -> Vec<Finding>;

/// In the order in which findings of the same severity are shown.
const RULES: [Rule; 23] = [
    elsewhere::setting_not_in_effect,
    elsewhere::recorded_setting,
    elsewhere::other_volume_type,
    elsewhere::missing_members,
    elsewhere::other_volume_size,
    elsewhere::other_instance_size,
    deviation::above_every_limit,
    deviation::quicker,
    deviation::slower,
    deviation::below_limit,
    bought::best_effort,
    at_cap::documented_limit,
    at_cap::burst_only,
    at_cap::burst_used_up,
    at_cap::bucket_amortised,
    at_cap::separate_budgets,
    at_cap::aggregate,
    bought::hdd_credit,
    deviation::under_delivery,
    elsewhere::limit_of_another_date,
    deviation::physical,
    elsewhere::unit_slip,
    at_cap::over_driven,
];

/// Judges a Record, and with an expectation holds it against what was bought.
///
/// Takes what [`assess`] takes, and with an expectation a few milliseconds more; up to some tens
/// where a case is not explained and other days are tried.
pub fn diagnose(record: &Record, expectation: Option<Expectation<'_>>) -> Diagnosis {
    diagnose_each(record, expectation.as_slice())
}

/// As [`diagnose`], with an expectation for each of several targets.
pub fn diagnose_each(record: &Record, expectations: &[Expectation<'_>]) -> Diagnosis {
    let mut assessment = assess(record);
    let compared = expectations.iter().map(|expectation| {
        let rows = &assessment.rows;
        let groups = by_case(&record.measurements).into_iter().zip(rows);
        let cases = Cases {
            record,
            list: groups.map(|(g, row)| CaseView::new(g, row, 0)).collect(),
        };
        let bench = Bench::new(&cases, *expectation);
        let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&bench)).collect();
        found.extend(bought::price_audit(&bench));
        let compared = Compared {
            address: expectation.resolved.address.to_string(),
            cases: bench
                .seen
                .iter()
                .map(|seen| seen.check(bench.target()))
                .collect(),
            limits: limits::check(&bench),
        };
        (found, at_cap::ended_bursts(&bench), compared)
    });
    let compared: Vec<_> = compared.collect();
    let mut expected: Option<Compared> = None;
    for (found, ended, of_target) in compared {
        // What waited after the burst is no tail, and a result without a series cannot tell.
        assessment.findings.retain(|finding| {
            finding.rule != "heavy-tail" || !finding.subject.iter().all(|case| ended.contains(case))
        });
        assessment.findings.extend(found);
        expected = Some(match expected {
            Some(before) => before.and(of_target),
            None => of_target,
        });
    }
    blocklab_findings::drop_needless_guesses(&mut assessment.findings);
    assessment
        .findings
        .sort_by_key(|finding| Reverse(finding.severity));
    Diagnosis {
        assessment,
        expected,
    }
}

#[cfg(test)]
mod tests;
