//! More or less than documented.

use blocklab_catalog::{Filter, RemarkKind};
use blocklab_workload::{Address, Offer};

use super::bench::{ABOVE, Bench, LITTLE, Seen};
use super::why::Why;
use blocklab_findings::hit::{Hit, info, warning};
use blocklab_findings::statement::{delay, fixed, number, percent, word};
use blocklab_findings::{Confidence, Finding, Severity};

/// Rule 17: an instance's own disk can do what its largest sibling's disks are documented with.
pub(super) fn physical(bench: &Bench<'_>) -> Vec<Finding> {
    bench.joined("physical-not-contractual", None, bench.because(&Why::Above), |seen| {
        let (sibling, most) = sibling(bench, seen)?;
        Some(info(
                "the documents promise {} IOPS and {} are delivered: the disk is physical, and as \
                 many disks of {} are documented with {}",
                [
                    number(seen.expected()?),
                    number(seen.iops),
                    word(&sibling),
                    number(most),
                ],
            ).confidence(Confidence::Medium).with("delivered", seen.iops, "IOPS").with("documented", seen.expected()?, "IOPS").with("sibling's disks", most, "IOPS"))
    })
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
    let listed = bench.given.catalog.list(&filter).into_iter();
    let by_disk = listed.filter_map(|instance| {
        let all = match load.read_percent {
            100 => instance.disk_read_iops,
            0 => instance.disk_write_iops,
            _ => None,
        };
        Some((all? / f64::from(instance.disks.max(1)), instance.name))
    });
    let (most, name) = by_disk.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let fits = volume == "local" && name != *instance && seen.iops <= most * disks * (1.0 + ABOVE);
    fits.then_some((name, most * disks))
}

/// Rule 18: above every limit, and nothing explains it.
pub(super) fn above_every_limit(bench: &Bench<'_>) -> Vec<Finding> {
    let unexplained = bench
        .because(&Why::Above)
        .filter(|seen| sibling(bench, seen).is_none());
    let advice = "Look for a cache, for operations that were merged, or for another volume than \
                  the address names.";
    bench.joined("above-every-limit", Some(advice), unexplained, |seen| {
        let (expected, phase) = (seen.expected()?, seen.phase()?);
        Some(
            warning(
                "{} IOPS are {} of the most that is {}, {} by {}",
                [
                    number(seen.iops),
                    percent(seen.iops / expected * 100.0),
                    fixed(bench.how(&phase.binding)),
                    number(expected),
                    fixed(phase.binding.to_string()),
                ],
            )
            .confidence(Confidence::Medium)
            .with("delivered", seen.iops, "IOPS")
            .with("documented", expected, "IOPS"),
        )
    })
}

/// Shorter than any latency that was published of this type.
pub(super) fn quicker(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Look for a cache, and for another volume than the address names: what it is \
                  attached as, and whether the bytes reach it.";
    bench.joined(
        "quicker-than-published",
        Some(advice),
        bench.because(&Why::Quicker),
        |seen| {
            beyond(
                bench,
                seen,
                "an operation takes {}, quicker than any published {}: {} to {} for small ones, \
             so this is a cache or another volume",
            )
        },
    )
}

/// Longer than any latency that was published of this type.
pub(super) fn slower(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Look at what else uses the volume or the machine, at the path to it, and at its \
                  type; measure again at another time of the day before complaining.";
    bench.joined(
        "slower-than-published",
        Some(advice),
        bench.because(&Why::Slower),
        |seen| {
            beyond(
                bench,
                seen,
                "an operation takes {}, slower than any published {}: {} to {} for small ones",
            )
        },
    )
}

fn beyond(bench: &Bench<'_>, seen: &Seen<'_>, text: &'static str) -> Option<Hit> {
    let known = bench.published.as_ref()?;
    let mean = f64::from(seen.load?.in_flight) / seen.iops * 1e9;
    let (from, to) = (known.from.0 as f64, known.to.0 as f64);
    let slots = [delay(mean), word(&known.of), delay(from), delay(to)];
    let hit = warning(text, slots)
        .confidence(Confidence::Medium)
        .with("mean latency", mean, "ns")
        .with("quickest published", from, "ns");
    Some(
        hit.with("slowest published", to, "ns")
            .with("delivered", seen.iops, "IOPS"),
    )
}

fn hit(bench: &Bench<'_>, seen: &Seen<'_>, severity: Severity) -> Option<Hit> {
    let phase = seen.phase()?;
    let expected = phase.iops;
    Some(
        Hit::new(
            severity,
            "{} IOPS are {} of what is {} as {}",
            [
                number(seen.iops),
                percent(seen.iops / expected * 100.0),
                fixed(bench.how(&phase.binding)),
                fixed(phase.binding.to_string()),
            ],
        )
        .graded(1.0 - seen.iops / expected)
        .with("delivered", seen.iops, "IOPS")
        .with("expected", expected, "IOPS"),
    )
}

fn share(seen: &Seen<'_>) -> f64 {
    seen.iops / seen.phase().map_or(f64::INFINITY, |phase| phase.iops)
}

/// Rule 22: a little below a limit: inside what vendors promise.
pub(super) fn under_delivery(bench: &Bench<'_>) -> Vec<Finding> {
    // The load may have ended in another phase than the one that it is compared with here.
    let below = bench
        .because(&Why::Below)
        .filter(|seen| (LITTLE..1.0).contains(&share(seen)));
    let mut notes = bench.given.resolved.notes.iter();
    let promise = notes.find(|note| note.kind == RemarkKind::Promise);
    let text = format!(
        "{}. Measure again at another time of the day before complaining.",
        promise.map_or(
            "Providers promise a share of the limit for most of the time",
            |note| &note.text
        )
    );
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let advice: String = first.chain(letters).collect();
    bench.joined("under-delivery", Some(&advice), below, |seen| {
        Some(hit(bench, seen, Severity::Info)?.confidence(Confidence::Medium))
    })
}

/// Far below a limit that was to bind.
pub(super) fn below_limit(bench: &Bench<'_>) -> Vec<Finding> {
    let below = bench
        .because(&Why::Below)
        .filter(|because| share(because) < LITTLE);
    let advice = "Test with more in flight: if the rate grows, latency held it back and the limit \
                  was not reached. Else look at what else uses the volume or the instance, and \
                  whether burst credits are spent.";
    bench.joined("below-documented-limit", Some(advice), below, |seen| {
        // What the medium takes is often only assumed: too few in flight is the other explanation.
        Some(hit(bench, seen, Severity::Warning)?.confidence(Confidence::Low))
    })
}
