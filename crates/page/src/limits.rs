//! In: the limits in force in the Records of a page, or those that a diagnosis expects.
//! Out: the limits that its charts draw, in the units of the charts. All charts take them from here,
//! so that a line and a tick are at the same figure.

use std::collections::BTreeSet;

use blocklab_compare::expect::Compared;
use blocklab_device::{Covers, Limit, LimitKind, LimitUnit};
use blocklab_record::Record;
use blocklab_units::stated;
use serde::Serialize;

use super::side::{Side, by_key};

/// A limit as charts draw it. The same limit of several targets or runs is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drawn {
    /// `gp3: volume IOPS 6,000`.
    label: String,
    /// In operations or in MB per second.
    value: f64,
    /// Whether it counts bytes.
    is_bytes: bool,
    /// Whether it holds only for a while; it is dotted then.
    is_burst: bool,
    /// `read` or `write` if it counts only these.
    #[serde(rename = "only")]
    direction: Option<&'static str>,
    /// Whose limit it is on a page of several runs; empty: all have it, or the label says so.
    #[serde(skip_serializing_if = "String::is_empty")]
    whose: String,
    /// Indexes of the runs that it holds for; empty: all.
    #[serde(rename = "of", skip_serializing_if = "Vec::is_empty")]
    runs: Vec<usize>,
}

/// The limits in force in any run of the page. One that not all runs have says whose it is.
pub fn in_force(sides: &[Side<'_>]) -> Vec<Drawn> {
    let all = sides.iter().flat_map(|side| {
        let own = of_record(side.record).into_iter();
        own.map(move |limit| (limit, side))
    });
    let named = by_key(all).into_iter().map(|(limit, members)| {
        if members.len() == sides.len() {
            return limit;
        }
        let whose = match members[..] {
            [one] => one.brief(),
            [one, other] => format!("{} and {}", one.brief(), other.brief()),
            _ => format!("{} of {} runs", members.len(), sides.len()),
        };
        // A system may have the name of its disk, which begins the label already.
        let is_named = limit.label.starts_with(&format!("{whose}: "));
        Drawn {
            whose: if is_named { String::new() } else { whose },
            runs: members.iter().map(|side| side.index).collect(),
            ..limit
        }
    });
    named.collect()
}

/// The limits of all targets of a run.
fn of_record(record: &Record) -> Vec<Drawn> {
    let targets = record.targets.iter();
    let all = targets.flat_map(|target| {
        let name = target.address.as_deref().unwrap_or(&target.path);
        target.limits.iter().map(move |limit| (limit, name))
    });
    of_targets(all, record.targets.len())
}

/// The limits of several targets, each with the name of its target, with equal ones merged. Charts
/// draw the sum over all targets, so a limit that holds for each target, or for some of them, says
/// so.
fn of_targets<'a>(all: impl Iterator<Item = (&'a Limit, &'a str)>, targets: usize) -> Vec<Drawn> {
    let known = all.filter_map(|(limit, name)| {
        // A machine grants its limits to all of its volumes together.
        let is_shared = limit.name.volumes.is_none();
        Some(((drawn(limit)?, is_shared), name))
    });
    let named = by_key(known)
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

/// A limit as charts draw it, in their units; `None` for buckets, latencies and bounds.
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
    let direction = match kind.covers() {
        Covers::All => None,
        Covers::Reads => Some("read"),
        Covers::Writes => Some("write"),
    };
    let unit = limit.unit;
    let is_bytes = unit != LimitUnit::Iops;
    let scale = if is_bytes { 1e-6 } else { 1.0 };
    // Many volumes are sold in MiB/s, and charts are in MB/s: the label has the unit by which it
    // was sold.
    let sold = if is_bytes {
        format!(" {unit}")
    } else {
        String::new()
    };
    // A limit of each of several volumes is drawn for all of them together.
    let value = limit.value * limit.times();
    Some(Drawn {
        label: format!("{name} {}{sold}", stated(value)),
        value: value * unit.per_second()? * scale,
        is_bytes,
        is_burst,
        direction,
        whose: String::new(),
        runs: Vec::new(),
    })
}

/// The limits that a diagnosis compares a run with.
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
