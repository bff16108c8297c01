//! In: the limits in force of the Records of a page, or those that a diagnosis expects.
//! Out: the limits that its charts draw, in the units of the charts. One place, so that a line and a
//! tick of any chart stand at the same figure as in JSON.

use blocklab_compare::expect::Compared;
use blocklab_device::{Covers, Limit, LimitKind, LimitUnit};
use blocklab_record::Record;
use blocklab_units::stated;
use serde::Serialize;

use super::side::Side;

/// A limit as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drawn {
    /// `gp3: volume IOPS 6,000`.
    label: String,
    /// In operations a second, or in MB/s.
    value: f64,
    /// Whether it counts bytes.
    is_bytes: bool,
    /// Whether it holds for a while only: dotted.
    is_burst: bool,
    /// `read` or `write`, where it counts these alone.
    only: Option<&'static str>,
}

/// Those that hold for every Record of the page.
pub fn in_force(sides: &[Side<'_>]) -> Vec<Drawn> {
    let mut all = sides.iter().map(|side| of_record(side.record));
    let first = all.next().unwrap_or_default();
    all.fold(first, |common, its| {
        common
            .into_iter()
            .filter(|limit| its.contains(limit))
            .collect()
    })
}

/// Of one target: what several targets are allowed holds for none of the sums that are drawn.
fn of_record(record: &Record) -> Vec<Drawn> {
    match &record.targets[..] {
        [target] => target.limits.iter().filter_map(drawn).collect(),
        _ => Vec::new(),
    }
}

fn drawn(limit: &Limit) -> Option<Drawn> {
    let kind = &limit.name.kind;
    let (name, is_burst) = match kind {
        LimitKind::Rate { .. } | LimitKind::PhysicalMaximum { .. } => {
            (limit.name.to_string(), false)
        }
        LimitKind::Baseline { limiter } => (limit.name.of(limiter), false),
        LimitKind::Burst { .. } | LimitKind::Peak { .. } => (limit.name.to_string(), true),
        _ => return None,
    };
    let only = match kind.covers() {
        Covers::All => None,
        Covers::Reads => Some("read"),
        Covers::Writes => Some("write"),
    };
    one(
        &name,
        limit.value * limit.times(),
        limit.unit,
        is_burst,
        only,
    )
}

/// Those that a diagnosis holds a run against; of several targets none, whose sums are drawn.
pub fn expected(compared: &Compared) -> Vec<Drawn> {
    let alone = compared
        .limits
        .iter()
        .filter(|limit| limit.target.is_none());
    alone.filter_map(|limit| drawn(&limit.documented)).collect()
}

fn one(
    name: &str,
    value: f64,
    unit: LimitUnit,
    is_burst: bool,
    only: Option<&'static str>,
) -> Option<Drawn> {
    let is_bytes = unit != LimitUnit::Iops;
    let scale = if is_bytes { 1e-6 } else { 1.0 };
    // Volumes are sold in MiB/s and charts are in MB/s: the label has the unit that was sold.
    let sold = if is_bytes {
        format!(" {unit}")
    } else {
        String::new()
    };
    Some(Drawn {
        label: format!("{name} {}{sold}", stated(value)),
        value: value * unit.per_second()? * scale,
        is_bytes,
        is_burst,
        only,
    })
}
