//! Delivered against documented: case by case, limit by limit.
//!
//! The expected rate of a case is what the closed form of the device model gives for its load over
//! its measured time, on a rested device. The delivered rate is explained by the first of these
//! that fits: the expected rate, that rate apart from a pause, another type or other settings of
//! the volume, another instance, the limits of another day, a mix-up of units. A rate that none of
//! them explains is above or below what is documented.

mod at_cap;
mod bought;
mod deviation;
mod elsewhere;
mod explain;
mod limits;
mod load;
mod others;
mod why;

use std::cmp::Reverse;

use blocklab_catalog::{Catalog, Resolved, unit_price::Priced};
use blocklab_record::Record;
use blocklab_workload::Address;
use serde::Serialize;

use blocklab_findings::view::{CaseView, Cases};
use blocklab_findings::{Assessment, Finding, Obstacle};
use blocklab_findings::{assess, by_case};

pub use limits::{HowToTest, LimitCheck, State};
pub use why::Why;

use explain::ExplainedRun;
pub(crate) use explain::NEAR;

/// What was bought, and what is needed to look up what else could have been.
#[derive(Debug, Clone, Copy)]
pub struct Expectation<'a> {
    /// The device that the address names.
    pub resolved: &'a Resolved,
    /// Where other settings, other days and other sizes of the instance are looked up.
    pub catalog: &'a Catalog,
    /// The price per delivered unit, where prices are known.
    pub priced: Option<&'a Priced>,
    /// The index of the target that is this device; `None`: the whole run is about this device.
    pub target: Option<usize>,
    /// The indexes of all targets attached to the same instance, this one included.
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
    /// The address in its shortest spelling; a caller may replace it by what the user wrote.
    pub address: String,
    /// Each case, in the order of the run.
    pub cases: Vec<CaseCheck>,
    /// Each documented limit.
    pub limits: Vec<LimitCheck>,
}

impl Compared {
    /// Joins the comparisons of two targets into one.
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
    /// The expected rate over the measured time; `None`: none can be given.
    pub expected_iops: Option<f64>,
    /// The limit that was expected to bind, or `latency`.
    pub binding: Option<String>,
    /// What explains the difference.
    pub why: Why,
    /// What keeps the case from being compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
}

type Rule = fn(&ExplainedRun<'_>) -> Vec<Finding>;

/// Every rule, in the order in which findings of the same severity are shown.
const RULES: [Rule; 25] = [
    elsewhere::setting_not_in_effect,
    elsewhere::recorded_setting,
    elsewhere::other_volume_type,
    elsewhere::missing_members,
    elsewhere::other_volume_size,
    elsewhere::other_instance_size,
    deviation::above_every_limit,
    deviation::quicker,
    deviation::slower,
    deviation::slower_than_model,
    deviation::below_limit,
    bought::best_effort,
    at_cap::documented_limit,
    at_cap::burst_only,
    at_cap::burst_used_up,
    at_cap::credits_not_full,
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

/// Assesses a Record, and compares it with what was bought if an expectation is given.
///
/// Takes as long as [`assess`]; an expectation adds a few milliseconds, and up to some tens of them
/// where a case is not explained and the limits of other days are tried.
pub fn diagnose(record: &Record, expectation: Option<Expectation<'_>>) -> Diagnosis {
    diagnose_each(record, expectation.as_slice())
}

/// As [`diagnose`], with an expectation for each of several targets.
pub fn diagnose_each(record: &Record, expectations: &[Expectation<'_>]) -> Diagnosis {
    let mut assessment = assess(record);
    let compared = expectations.iter().map(|expectation| {
        // Rows and groups are both in the order in which cases first appear.
        let rows = &assessment.rows;
        let groups = by_case(&record.measurements).into_iter().zip(rows);
        let cases = Cases {
            record,
            // The rules of an expectation say nothing of damaged histograms: the assessment has.
            list: groups.map(|(g, row)| CaseView::new(g, row, 0)).collect(),
        };
        let run = ExplainedRun::new(&cases, *expectation);
        let mut found: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&run)).collect();
        found.extend(bought::price_audit(&run));
        let compared = Compared {
            address: expectation.resolved.address.to_string(),
            cases: run
                .cases
                .iter()
                .map(|case| case.check(run.target()))
                .collect(),
            limits: limits::check(&run),
        };
        let explained = if has_hits_and_misses(expectation) {
            run.cases
                .iter()
                .map(|case| case.view.name.to_owned())
                .collect()
        } else {
            at_cap::ended_bursts(&run)
        };
        (found, explained, compared)
    });
    // All comparisons end before the findings that they read are changed.
    let compared: Vec<_> = compared.collect();
    let mut expected: Option<Compared> = None;
    for (found, explained, of_target) in compared {
        // After a burst, operations wait for the limiter, and reads that miss a cache take many
        // times as long as hits. A result without a series looks like a heavy tail then, and the
        // rule that found it could not know better.
        assessment.findings.retain(|finding| {
            let mut cases = finding.subject.iter();
            finding.rule != "heavy-tail" || !cases.all(|case| explained.contains(case))
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

fn has_hits_and_misses(expectation: &Expectation<'_>) -> bool {
    let address = &expectation.resolved.address;
    matches!(address, Address::Sold(offer) if offer.has_hits_and_misses())
}

#[cfg(test)]
mod tests;
