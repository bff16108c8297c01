//! Less than documented where a limit was to bind.

use super::bench::{Bench, LITTLE, Seen, Why};
use crate::rules::hit::{Hit, figure, joined};
use crate::rules::says::{fixed, number, percent, says};
use crate::{Confidence, Finding, Severity};

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
    joined(bench.cases, "under-delivery", Some(&advice), hits.collect())
}

/// Far below a limit that was to bind.
pub(super) fn below_limit(bench: &Bench<'_>) -> Vec<Finding> {
    let below = bench.because(&Why::Below).filter(|it| share(it) < LITTLE);
    // What the medium takes is often only assumed: too few in flight is the other explanation.
    let hits = below.filter_map(|seen| hit(seen, Severity::Warning, Confidence::Low));
    let advice = "Test with more in flight: if the rate grows, latency held it back and the limit \
                  was not reached. Else look at what else uses the volume or the instance, and \
                  whether burst credits are spent.";
    joined(
        bench.cases,
        "below-documented-limit",
        Some(advice),
        hits.collect(),
    )
}
