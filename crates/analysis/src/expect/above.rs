//! More than documented.

use blocklab_catalog::{Address, Filter, Listed, Offer};

use super::bench::{ABOVE, Bench, Seen, Why};
use crate::rules::hit::{Hit, figure, joined};
use crate::rules::says::{fixed, number, percent, says, word};
use crate::{Confidence, Finding, Severity};

/// Rule 17: an instance's own disk can do what its largest sibling's disks are documented with.
pub(super) fn physical(bench: &Bench<'_>) -> Vec<Finding> {
    let hits = bench.because(&Why::Above).filter_map(|seen| {
        let (sibling, most) = sibling(bench, seen)?;
        Some(Hit {
            case: seen.case.name,
            severity: Severity::Info,
            confidence: Confidence::Medium,
            says: says(
                "the documents promise {} IOPS and {} are delivered: the disk is physical, and as \
                 many disks of {} are documented with {}",
                [
                    number(seen.expected()?),
                    number(seen.iops),
                    word(&sibling),
                    number(most),
                ],
            ),
            evidence: vec![
                figure("delivered", seen.iops, "IOPS"),
                figure("documented", seen.expected()?, "IOPS"),
                figure("sibling's disks", most, "IOPS"),
            ],
        })
    });
    joined(
        bench.cases,
        "physical-not-contractual",
        None,
        hits.collect(),
    )
}

/// The largest sibling whose disks, as many as these, would explain the rate of small operations.
fn sibling(bench: &Bench<'_>, seen: &Seen<'_>) -> Option<(String, f64)> {
    let Address::Sold(Offer {
        volume,
        instance: Some(instance),
        ..
    }) = &bench.given.resolved.address
    else {
        return None;
    };
    let load = seen.load?;
    let disks = bench.given.resolved.spec.volumes.len() as f64;
    let filter = Filter {
        family: instance.split('.').next().map(str::to_owned),
        has_local: true,
        ..Filter::default()
    };
    let each = |it: &Listed| {
        let all = match load.read_percent {
            100 => it.disk_read_iops,
            0 => it.disk_write_iops,
            _ => None,
        };
        all.map(|all| all / f64::from(it.disks.max(1)))
    };
    let listed = bench.given.catalog.list(&filter).into_iter();
    let found = listed.filter_map(|it| Some((each(&it)?, it.name)));
    let (most, name) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let fits = volume == "local" && name != *instance && seen.iops <= most * disks * (1.0 + ABOVE);
    fits.then_some((name, most * disks))
}

/// Rule 18: above every limit, and nothing explains it.
pub(super) fn above_every_limit(bench: &Bench<'_>) -> Vec<Finding> {
    let unexplained = bench
        .because(&Why::Above)
        .filter(|seen| sibling(bench, seen).is_none());
    let hits = unexplained.filter_map(|seen| {
        let (expected, phase) = (seen.expected()?, seen.phase()?);
        Some(Hit {
            case: seen.case.name,
            severity: Severity::Warning,
            confidence: Confidence::Medium,
            says: says(
                "{} IOPS are {} of the most that documents allow, {} by {}",
                [
                    number(seen.iops),
                    percent(seen.iops / expected * 100.0),
                    number(expected),
                    fixed(phase.binding.to_string()),
                ],
            ),
            evidence: vec![
                figure("delivered", seen.iops, "IOPS"),
                figure("documented", expected, "IOPS"),
            ],
        })
    });
    let advice = "Look for a cache, for operations that were merged, or for another volume than \
                  the address says.";
    joined(
        bench.cases,
        "above-every-limit",
        Some(advice),
        hits.collect(),
    )
}
