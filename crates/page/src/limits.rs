//! In: the limits in force of the Records of a page, or those that a diagnosis expects.
//! Out: the limits that its charts draw, in the units of the charts. One place, so that a line and a
//! tick of any chart stand at the same figure as in JSON.

use std::collections::BTreeSet;

use blocklab_compare::expect::Compared;
use blocklab_device::{Covers, Limit, LimitKind, LimitUnit};
use blocklab_record::Record;
use blocklab_units::stated;
use serde::Serialize;

use super::side::{Side, alike};

/// A limit as it is drawn. Where several targets or several Records have the same, it is one.
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
    /// Whose it is, for a chart of several Records; empty: that of all of the page, or named so.
    #[serde(skip_serializing_if = "String::is_empty")]
    whose: String,
    /// The Records that it holds for; empty: all of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    of: Vec<usize>,
}

/// Those of every Record of the page; one that not all have says whose it is.
pub fn in_force(sides: &[Side<'_>]) -> Vec<Drawn> {
    let all = sides.iter().flat_map(|side| {
        let own = of_record(side.record).into_iter();
        own.map(move |limit| (limit, side))
    });
    let named = alike(all).into_iter().map(|(limit, members)| {
        if members.len() == sides.len() {
            return limit;
        }
        let whose = match members[..] {
            [one] => one.brief(),
            [one, other] => format!("{} and {}", one.brief(), other.brief()),
            _ => format!("{} of {} runs", members.len(), sides.len()),
        };
        // A system may be called as its disk is.
        let is_named = limit.label.starts_with(&format!("{whose}: "));
        Drawn {
            whose: if is_named { String::new() } else { whose },
            of: members.iter().map(|side| side.index).collect(),
            ..limit
        }
    });
    named.collect()
}

fn of_record(record: &Record) -> Vec<Drawn> {
    let targets = record.targets.iter();
    let all = targets.flat_map(|target| {
        let name = target.address.as_deref().unwrap_or(&target.path);
        target.limits.iter().map(move |limit| (limit, name))
    });
    of_targets(all, record.targets.len())
}

/// The same limit of several targets is one. What is drawn is the sum of all targets: what holds for
/// each of them, or for some alone, says so.
fn of_targets<'a>(all: impl Iterator<Item = (&'a Limit, &'a str)>, targets: usize) -> Vec<Drawn> {
    let known = all.filter_map(|(limit, name)| {
        // A machine grants its limits to all of its volumes together.
        let is_shared = limit.name.volumes.is_none();
        Some(((drawn(limit)?, is_shared), name))
    });
    let named = alike(known)
        .into_iter()
        .map(|((limit, is_shared), members)| {
            let whose = match members[..] {
                _ if targets < 2 => return limit,
                _ if members.len() == targets && is_shared => return limit,
                _ if members.len() == targets => "each target".to_owned(),
                [one] => one.to_owned(),
                _ => format!("{} of {targets} targets", members.len()),
            };
            Drawn {
                label: format!("{whose}: {}", limit.label),
                ..limit
            }
        });
    named.collect()
}

fn drawn(limit: &Limit) -> Option<Drawn> {
    let kind = &limit.name.kind;
    let (name, is_burst) = match kind {
        LimitKind::Rate { .. } | LimitKind::PhysicalMaximum { .. } => {
            (limit.name.to_string(), false)
        }
        LimitKind::Baseline { limiter } => (limit.name.with_owner(limiter), false),
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

/// Those that a diagnosis holds a run against.
pub fn expected(compared: &Compared) -> Vec<Drawn> {
    let targets: BTreeSet<String> = compared
        .limits
        .iter()
        .map(|limit| limit.target.clone().unwrap_or_default())
        .collect();
    let all = compared.limits.iter().map(|limit| {
        (
            &limit.documented,
            limit.target.as_deref().unwrap_or_default(),
        )
    });
    of_targets(all, targets.len())
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
        whose: String::new(),
        of: Vec::new(),
    })
}
