//! Sound records of sketched cases, and the findings of a rule about them.

use blocklab_record::Record;

pub(crate) mod model;
#[path = "../../record/tests/sketch/mod.rs"]
mod sketch;
pub(crate) use sketch::{Sketch, record};

use crate::{Finding, assess};

/// The findings of one rule.
pub(crate) fn found(record: &Record, rule: &str) -> Vec<Finding> {
    let mut findings = assess(record).findings;
    findings.retain(|finding| finding.rule == rule);
    findings
}

/// The only finding of a rule.
///
/// # Panics
/// When there is none, or more than one.
#[track_caller]
pub(crate) fn the(record: &Record, rule: &str) -> Finding {
    let mut findings = found(record, rule);
    assert_eq!(findings.len(), 1, "{rule}: {:#?}", assess(record).findings);
    findings.remove(0)
}

/// Asserts that a rule is silent.
#[track_caller]
pub(crate) fn silent(record: &Record, rule: &str) {
    assert_eq!(found(record, rule), [], "{rule} should be silent");
}
