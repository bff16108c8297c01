//! Sound records of sketched cases, and the findings of a rule about them.

use blocklab_record::{ObservedLoad, Record};

pub(crate) mod model;
#[path = "../../record/tests/sketch/mod.rs"]
mod sketch;
pub(crate) use sketch::{Sketch, record};

use crate::{Finding, assess};

/// The load of one program that kept 32 operations in flight on a served volume, for ten seconds.
pub(crate) fn observed() -> ObservedLoad {
    ObservedLoad {
        directions: Default::default(),
        active_ns: 10_000_000_000,
        in_flight_mean: 32.0,
        arrivals_by_depth: [0; 7],
        waited: Vec::new(),
        balances: Vec::new(),
        lateness: None,
        clients: 1,
        speed: None,
        events: Vec::new(),
    }
}

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
