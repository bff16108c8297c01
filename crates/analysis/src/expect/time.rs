//! What lasts only for a while: bursts, and what a limiter saved up.

use blocklab_device::{Phase, grants};
use blocklab_units::Nanos;

use super::bench::{Bench, NEAR, Seen, Why};
use crate::rules::hit::{Hit, figure, joined};
use crate::rules::says::{fixed, number, percent, says, time};
use crate::{Confidence, Finding, Severity};

/// A bucket that lasts no longer is a limiter's own, and no burst that is sold.
const BUCKET: Nanos = Nanos::from_secs(10);

/// The phase that goes on for ever, where it gives clearly less than was delivered.
fn remains<'a>(seen: &'a Seen<'_>) -> Option<&'a Phase> {
    let last = seen.predicted.as_ref()?.sustained();
    (last.iops < seen.iops * (1.0 - 2.0 * NEAR)).then_some(last)
}

/// Rule 9: the test ended before the burst did.
pub(super) fn burst_only(bench: &Bench<'_>) -> Vec<Finding> {
    let hits = bench.because(&Why::AsExpected).filter_map(|seen| {
        let (last, phase) = (remains(seen)?, seen.phase()?);
        let ends = seen.window.1 <= last.begins && last.begins > BUCKET;
        ends.then(|| Hit {
            case: seen.case.name,
            severity: Severity::Info,
            confidence: Confidence::High,
            says: says(
                "this is what {} allows for a while: after {} of this load {} IOPS remain, by {}",
                [
                    fixed(phase.binding.to_string()),
                    time(last.begins),
                    number(last.iops),
                    fixed(last.binding.to_string()),
                ],
            ),
            evidence: vec![
                figure("delivered", seen.iops, "IOPS"),
                figure("sustained", last.iops, "IOPS"),
                figure("begins after", last.begins.as_secs_f64(), "s"),
            ],
        })
    });
    let advice = "Plan with what remains, unless the load is as short as the test was.";
    joined(
        bench.cases,
        "documented-burst",
        Some(advice),
        hits.collect(),
    )
}

/// Rule 10: a limiter's bucket, full after rest, is spread over a short test.
pub(super) fn bucket_amortised(bench: &Bench<'_>) -> Vec<Finding> {
    let hits = bench.because(&Why::AsExpected).filter_map(|seen| {
        let (last, expected) = (remains(seen).or_else(|| over(seen))?, seen.expected()?);
        let granted = grants(&bench.given.resolved.spec, seen.load?).ok()?;
        let by_cap = granted.iter().any(|it| last.binding.is(&it.name));
        let short = last.begins <= BUCKET && last.begins > Nanos::ZERO;
        let fits = seen.fits(expected, NEAR) && !seen.fits(last.iops, NEAR);
        (by_cap && short && fits).then(|| Hit {
            case: seen.case.name,
            severity: Severity::Info,
            confidence: Confidence::Medium,
            says: says(
                "the rate lies {} above {} because the limiter had saved up for it while idle; a \
                 long test falls to {} IOPS",
                [
                    percent((seen.iops / last.iops - 1.0) * 100.0),
                    fixed(last.binding.to_string()),
                    number(last.iops),
                ],
            ),
            evidence: vec![
                figure("delivered", seen.iops, "IOPS"),
                figure("sustained", last.iops, "IOPS"),
            ],
        })
    });
    let advice = "Test for a minute, or leave out the first seconds.";
    joined(
        bench.cases,
        "bucket-amortised",
        Some(advice),
        hits.collect(),
    )
}

/// As [`remains`], for what lies only little above.
fn over<'a>(seen: &'a Seen<'_>) -> Option<&'a Phase> {
    let last = seen.predicted.as_ref()?.sustained();
    (last.iops < seen.iops * (1.0 - NEAR)).then_some(last)
}
