//! More or less than documented.

use blocklab_catalog::{Address, Filter, Listed, Offer};

use super::bench::{ABOVE, Bench, LITTLE, Seen, Why};
use crate::rules::hit::{Hit, figure};
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
    bench.joined("physical-not-contractual", None, hits)
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
    bench.joined("above-every-limit", Some(advice), hits)
}

fn hit<'a>(seen: &Seen<'a>, severity: Severity, confidence: Confidence) -> Option<Hit<'a>> {
    let phase = seen.phase()?;
    let expected = phase.iops;
    Some(Hit {
        case: seen.case.name,
        severity,
        confidence,
        says: says(
            "{} IOPS are {} of what is documented as {}",
            [
                number(seen.iops),
                percent(seen.iops / expected * 100.0),
                fixed(phase.binding.to_string()),
            ],
        )
        .graded(1.0 - seen.iops / expected),
        evidence: vec![
            figure("delivered", seen.iops, "IOPS"),
            figure("expected", expected, "IOPS"),
        ],
    })
}

fn share(seen: &Seen<'_>) -> f64 {
    seen.iops / seen.phase().map_or(f64::INFINITY, |phase| phase.iops)
}

/// Rule 22: a little below a limit: inside what vendors promise.
pub(super) fn under_delivery(bench: &Bench<'_>) -> Vec<Finding> {
    let below = bench.because(&Why::Below).filter(|it| share(it) >= LITTLE);
    let hits = below.filter_map(|seen| hit(seen, Severity::Info, Confidence::Medium));
    let notes = bench.given.resolved.notes.iter();
    let promise = notes
        .map(String::as_str)
        .find(|it| it.starts_with("the vendor's promise"));
    let advice = format!(
        "{}. Measure again at another time of the day before complaining.",
        promise.unwrap_or("Providers promise a share of the limit for most of the time")
    );
    let mut advice = advice.chars();
    let advice: String = advice
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(advice)
        .collect();
    bench.joined("under-delivery", Some(&advice), hits)
}

/// Far below a limit that was to bind.
pub(super) fn below_limit(bench: &Bench<'_>) -> Vec<Finding> {
    let below = bench.because(&Why::Below).filter(|it| share(it) < LITTLE);
    // What the medium takes is often only assumed: too few in flight is the other explanation.
    let hits = below.filter_map(|seen| hit(seen, Severity::Warning, Confidence::Low));
    let advice = "Test with more in flight: if the rate grows, latency held it back and the limit \
                  was not reached. Else look at what else uses the volume or the instance, and \
                  whether burst credits are spent.";
    bench.joined("below-documented-limit", Some(advice), hits)
}
