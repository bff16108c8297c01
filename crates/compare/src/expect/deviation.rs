//! Findings on a case that delivers more or less than is documented.

use blocklab_catalog::{Filter, RemarkKind};
use blocklab_workload::{Address, Offer};

use super::explain::{ABOVE, ExplainedCase, ExplainedRun, LITTLE};
use super::why::Why;
use blocklab_findings::hit::{Hit, info, warning};
use blocklab_findings::statement::{Slot, delay, fixed, number, percent, word};
use blocklab_findings::{Confidence, Finding, Severity};

/// What to do about a volume that is slower than its type.
const LOOK_AROUND: &str = "Look at what else uses the volume or the machine, at the path to it, \
                           and at its type; measure again at another time of the day before \
                           complaining.";

/// Local disks deliver more than their instance documents, and no more than the same
/// number of disks of another instance size of the family.
pub(super) fn physical(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let above = run.because(&Why::Above);
    run.joined("physical-not-contractual", None, above, |case| {
        let (sibling, most) = faster_sibling(run, case)?;
        let hit = info(
            "the documents promise {} IOPS and {} are delivered: the disk is physical, and as \
             many disks of {} are documented with {}",
            [
                number(case.expected()?),
                number(case.iops),
                word(&sibling),
                number(most),
            ],
        );
        Some(
            hit.confidence(Confidence::Medium)
                .with("delivered", case.iops, "IOPS")
                .with("documented", case.expected()?, "IOPS")
                .with("sibling's disks", most, "IOPS"),
        )
    })
}

/// The size of the family with the fastest local disks, and the rate of as many of them as the run
/// had, in operations per second; `None` where that does not explain the delivered rate.
fn faster_sibling(run: &ExplainedRun<'_>, case: &ExplainedCase<'_>) -> Option<(String, f64)> {
    let Address::Sold(Offer {
        volume,
        instance: Some(instance),
        ..
    }) = &run.given.resolved.address
    else {
        return None;
    };
    let load = case.load?;
    let disks = run.given.resolved.spec.volumes.len() as f64;
    let filter = Filter {
        family: instance.split('.').next().map(str::to_owned),
        has_local: true,
        ..Filter::default()
    };
    let listed = run.given.catalog.list(&filter).into_iter();
    let by_disk = listed.filter_map(|instance| {
        // Documents give the rates of reads and of writes, but of no mix.
        let all = match load.read_percent {
            100 => instance.disk_read_iops,
            0 => instance.disk_write_iops,
            _ => None,
        };
        Some((all? / f64::from(instance.disks.max(1)), instance.name))
    });
    let (most, name) = by_disk.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let fits = volume == "local" && name != *instance && case.iops <= most * disks * (1.0 + ABOVE);
    fits.then_some((name, most * disks))
}

/// The rate is above every limit, and nothing explains it.
pub(super) fn above_every_limit(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let unexplained = run
        .because(&Why::Above)
        .filter(|case| faster_sibling(run, case).is_none());
    let advice = "Look for a cache, for operations that were merged, or for another volume than \
                  the address names.";
    run.joined("above-every-limit", Some(advice), unexplained, |case| {
        let (expected, phase) = (case.expected()?, case.phase()?);
        Some(
            warning(
                "{} IOPS are {} of the most that is {}, {} by {}",
                [
                    number(case.iops),
                    percent(case.iops / expected * 100.0),
                    fixed(run.how(case, &phase.binding)),
                    number(expected),
                    fixed(phase.binding.to_string()),
                ],
            )
            .confidence(Confidence::Medium)
            .with("delivered", case.iops, "IOPS")
            .with("documented", expected, "IOPS"),
        )
    })
}

/// The latency is shorter than any that was published for this type.
pub(super) fn quicker(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Look for a cache, and for another volume than the address names: what it is \
                  attached as, and whether the bytes reach it.";
    let quicker = run.because(&Why::Quicker);
    run.joined("quicker-than-published", Some(advice), quicker, |case| {
        beyond_published(
            run,
            case,
            "an operation takes {}, quicker than any published {}: {} to {} for small ones, \
         so this is a cache or another volume",
        )
    })
}

/// The latency is longer than any that was published for this type.
pub(super) fn slower(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let slower = run.because(&Why::Slower);
    run.joined("slower-than-published", Some(LOOK_AROUND), slower, |case| {
        beyond_published(
            run,
            case,
            "an operation takes {}, slower than any published {}: {} to {} for small ones",
        )
    })
}

/// The latency is many times that of the model, of a type of which none is published.
pub(super) fn slower_than_model(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let slower = run.because(&Why::SlowerThanModel);
    run.joined("slower-than-model", Some(LOOK_AROUND), slower, |case| {
        let expected = case.expected()?;
        let mean = mean_ns(case)?;
        // Latency bounds both rates, so that one is as many times the other.
        let modelled = mean * case.iops / expected;
        Some(
            warning(
                "an operation takes {}, {} times the {} that the model has for this type; no \
                 healthy range of it is published",
                [
                    delay(mean),
                    Slot::Range(mean / modelled, |times| format!("{times:.0}")),
                    delay(modelled),
                ],
            )
            .confidence(Confidence::Low)
            .with("mean latency", mean, "ns")
            .with("latency of the model", modelled, "ns")
            .with("delivered", case.iops, "IOPS"),
        )
    })
}

/// The mean latency, by Little's law from the same rate and depth that the prediction is made of.
fn mean_ns(case: &ExplainedCase<'_>) -> Option<f64> {
    Some(f64::from(case.load?.in_flight) / case.iops * 1e9)
}

/// The mean latency next to the published range, for a latency outside of it.
fn beyond_published(
    run: &ExplainedRun<'_>,
    case: &ExplainedCase<'_>,
    text: &'static str,
) -> Option<Hit> {
    let known = run.published.as_ref()?;
    let mean = mean_ns(case)?;
    let (from, to) = (known.from.0 as f64, known.to.0 as f64);
    let slots = [delay(mean), word(&known.of), delay(from), delay(to)];
    let hit = warning(text, slots)
        .confidence(Confidence::Medium)
        .with("mean latency", mean, "ns")
        .with("quickest published", from, "ns")
        .with("slowest published", to, "ns")
        .with("delivered", case.iops, "IOPS");
    Some(hit)
}

/// The delivered rate as a share of the limit that was expected to bind.
fn shortfall(run: &ExplainedRun<'_>, case: &ExplainedCase<'_>, severity: Severity) -> Option<Hit> {
    let phase = case.phase()?;
    let expected = phase.iops;
    let (iops, share) = (number(case.iops), percent(case.iops / expected * 100.0));
    let hit = if case.is_latency_bound() {
        Hit::new(
            severity,
            "{} IOPS are {} of the {} that the latency of the address gives: a limit of the measured \
             device held them back",
            [iops, share, number(expected)],
        )
    } else {
        let how = fixed(run.how(case, &phase.binding));
        let limit = fixed(phase.binding.to_string());
        Hit::new(
            severity,
            "{} IOPS are {} of what is {} as {}",
            [iops, share, how, limit],
        )
    };
    Some(
        hit.graded(1.0 - case.iops / expected)
            .with("delivered", case.iops, "IOPS")
            .with("expected", expected, "IOPS"),
    )
}

/// The delivered rate over the one that was expected in the middle of the measured time.
fn share_of_phase(case: &ExplainedCase<'_>) -> f64 {
    case.iops / case.phase().map_or(f64::INFINITY, |phase| phase.iops)
}

/// The rate is a little below a limit, by no more than vendors allow themselves.
pub(super) fn under_delivery(run: &ExplainedRun<'_>) -> Vec<Finding> {
    // A case can be below the mean over the measured time and still reach the rate of this phase.
    let below = run
        .because(&Why::Below)
        .filter(|case| (LITTLE..1.0).contains(&share_of_phase(case)));
    let mut notes = run.given.resolved.notes.iter();
    let promise = notes.find(|note| note.kind == RemarkKind::Promise);
    let text = format!(
        "{}. Measure again at another time of the day before complaining.",
        promise.map_or(
            "Providers promise a share of the limit for most of the time",
            |note| &note.text
        )
    );
    // The catalog's notes begin in lower case; advice is a sentence.
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let advice: String = first.chain(letters).collect();
    run.joined("under-delivery", Some(&advice), below, |case| {
        Some(shortfall(run, case, Severity::Info)?.confidence(Confidence::Medium))
    })
}

/// The rate is far below what was expected: a limit of the address, or its latency where the record
/// knows that a limit held the case back.
pub(super) fn below_limit(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let rule = "below-documented-limit";
    let below = run
        .because(&Why::Below)
        .filter(|case| share_of_phase(case) < LITTLE);
    let (held, missed): (Vec<_>, Vec<_>) = below.partition(|case| case.is_latency_bound());
    let advice = "Look up what the volume is set to, or compare the run with the address that was \
                  measured.";
    let mut findings = run.joined(rule, Some(advice), held.into_iter(), |case| {
        Some(shortfall(run, case, Severity::Warning)?.confidence(Confidence::Medium))
    });
    let advice = "Test with more in flight: if the rate grows, latency held it back and the limit \
                  was not reached. Else look at what else uses the volume or the instance, and \
                  whether burst credits are spent.";
    findings.extend(run.joined(rule, Some(advice), missed.into_iter(), |case| {
        // The latency of the medium is often only assumed: too low a queue depth explains the rate
        // as well.
        Some(shortfall(run, case, Severity::Warning)?.confidence(Confidence::Low))
    }));
    findings
}
