//! In: the facts of a target. Out: what a run would do to it.

use std::collections::BTreeMap;
use std::path::Path;

use blocklab_device::{Covers, LimitKind, LimitUnit};
use blocklab_record::{TargetFacts, TargetKind};
use blocklab_units::Bytes;

/// One target, as it is now.
#[derive(Debug)]
pub struct TargetForecast {
    /// Its facts. For a file that would be created, these are its path, its size and its file system.
    pub facts: TargetFacts,
    /// Bytes written before the first pass, because the file does not exist yet.
    pub laid_out: Bytes,
    /// Whether the plan writes to it.
    pub is_written: bool,
    /// Bytes a second that the limits of a modelled device allow at most; `None` if no limit of bytes
    /// is known, as for a real device.
    pub write_bytes_per_s: Option<f64>,
}

impl TargetForecast {
    pub(crate) fn new(facts: TargetFacts, is_written: bool) -> Self {
        Self {
            write_bytes_per_s: most_written(&facts),
            laid_out: Bytes::ZERO,
            facts,
            is_written,
        }
    }

    /// A file that is created and filled first.
    pub(crate) fn made(facts: TargetFacts, path: &Path, size: Bytes) -> Self {
        let facts = TargetFacts {
            path: path.display().to_string(),
            kind: TargetKind::Scratch,
            size_bytes: size,
            ..facts
        };
        Self {
            laid_out: size,
            ..Self::new(facts, true)
        }
    }
}

/// The highest write rate in bytes a second that all limits of a device allow; `None` if it has no
/// limit in bytes.
///
/// A limiter can have several rates, a baseline and a burst: its highest one counts. Of several
/// limiters, the one with the lowest rate decides.
fn most_written(facts: &TargetFacts) -> Option<f64> {
    let mut best: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for limit in &facts.limits {
        let limiter = match &limit.name.kind {
            LimitKind::Rate { limiter, covers } | LimitKind::Peak { limiter, covers }
                if *covers != Covers::Reads =>
            {
                limiter
            }
            // These two do not tell what they cover, so they count for writes.
            LimitKind::Baseline { limiter } | LimitKind::Burst { limiter } => limiter,
            _ => continue,
        };
        let per_second = limit.unit.per_second();
        let Some(unit) = per_second.filter(|_| limit.unit != LimitUnit::Iops) else {
            continue;
        };
        let rate = limit.value * unit * limit.times();
        let known = best.entry((&limit.name.owner, limiter)).or_default();
        *known = known.max(rate);
    }
    best.into_values().reduce(f64::min)
}
