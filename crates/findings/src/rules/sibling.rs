//! Cases that differ in one thing only: the evidence that one case alone cannot give.

use std::collections::BTreeMap;

use blocklab_stats::Summary;
use blocklab_workload::Direction;

use crate::view::{CaseView, Cases};

/// Figures that lie within this of each other, from the smallest to the largest, are the same.
pub(super) const SAME_PERCENT: f64 = 5.0;

/// In what siblings may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    /// Operations in flight: depth and threads.
    InFlight,
    Size,
}

/// Siblings along an axis, sorted by it: at least two of each kind. Only cases of one job that
/// keeps its slots full can be compared so.
pub(super) fn families<'a>(cases: &'a Cases<'a>, axis: Axis) -> Vec<Vec<&'a CaseView<'a>>> {
    let mut families = BTreeMap::<Vec<String>, Vec<&CaseView<'_>>>::new();
    let mut numbers = BTreeMap::<(Vec<String>, u64), Vec<&CaseView<'_>>>::new();
    for case in &cases.list {
        let Some(key) = kind(case, axis) else {
            continue;
        };
        match axis {
            Axis::InFlight => families.entry(key).or_default().push(case),
            Axis::Size => numbers.entry((key, case.slots())).or_default().push(case),
        }
    }
    let mut found: Vec<_> = families
        .into_values()
        .chain(numbers.into_values())
        .collect();
    found.retain(|family| family.len() >= 2);
    for family in &mut found {
        match axis {
            Axis::InFlight => family.sort_by_key(|case| case.slots()),
            Axis::Size => family.sort_by(|a, b| a.bytes_per_io().total_cmp(&b.bytes_per_io())),
        }
    }
    found
}

/// Everything that siblings have in common.
fn kind<'a>(case: &'a CaseView<'a>, axis: Axis) -> Option<Vec<String>> {
    let job = case.only_job()?;
    if !case.is_saturating() || case.is_null() || case.pass_iops.is_empty() {
        return None;
    }
    let direct = match job.direct {
        Some(true) => "direct",
        Some(false) => "buffered",
        None => "not known",
    };
    let mut key = vec![
        job.engine.to_string(),
        job.pattern_name(),
        job.mix_name(),
        job.durability.name().to_owned(),
        direct.to_owned(),
    ];
    if axis == Axis::InFlight {
        key.push(job.block_size_name());
    }
    // Flushes among the writes are a load of their own.
    if job.directions.contains_key(&Direction::Sync) {
        key.push("with flushes".to_owned());
    }
    let others = case.row.settings.iter().filter(|(name, _)| match axis {
        Axis::InFlight => !name.contains("depth") && !name.contains("threads"),
        Axis::Size => !name.contains("size") && !name.contains("block"),
    });
    key.extend(others.flat_map(|(name, value)| [name.clone(), value.clone()]));
    Some(key)
}

/// Whether another number in flight, at least twice as large or at most half, gave the same rate.
pub(super) fn is_flat(depths: &[Vec<&CaseView<'_>>], case: &CaseView<'_>) -> bool {
    let mut families = depths
        .iter()
        .filter(|family| family.iter().any(|member| member.name == case.name));
    families.any(|family| {
        family.iter().any(|other| {
            let (own, others) = (case.slots(), other.slots());
            let (_, range_percent) = level(&[case.iops(), other.iops()]);
            own.max(others) >= 2 * own.min(others) && range_percent <= SAME_PERCENT
        })
    })
}

/// Mean, and range in per cent of it.
pub(super) fn level(values: &[f64]) -> (f64, f64) {
    let Some(summary) = Summary::new(values) else {
        return (0.0, f64::INFINITY);
    };
    let range = (summary.max - summary.min) / summary.mean * 100.0;
    (summary.mean, range)
}
