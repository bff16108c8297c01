//! At a documented limit: which one, how much load it takes, whose budget it is, and for how long.

use blocklab_device::{Covers, LimitKind, Load, Phase, grants, predict};
use blocklab_units::{Nanos, count};

use super::bench::{Bench, NEAR, Seen, of_instance};
use super::why::Why;
use blocklab_findings::hit::{info, warning};
use blocklab_findings::statement::{fixed, number, percent, time};
use blocklab_findings::{Confidence, Finding};

/// What is in flight beyond this many times what fills the limit only waits.
const OVER: f64 = 2.0;

/// The limit that binds a case which delivers what is documented.
fn limit<'a>(seen: &'a Seen<'_>) -> Option<&'a Phase> {
    let phase = seen.phase()?;
    let limited = !matches!(phase.binding.kind(), None | Some(LimitKind::Peak { .. }));
    (limited && seen.why == Why::AsExpected).then_some(phase)
}

/// Whether the record carries this limit: then its own rule has a finding on it.
fn is_reported(bench: &Bench<'_>, phase: &Phase) -> bool {
    bench
        .cases
        .record
        .targets
        .iter()
        .flat_map(|target| &target.limits)
        .any(|limit| phase.binding.is(&limit.name))
}

/// Rules 1 and 2: the rate is that of the smallest documented limit, and which one that is.
pub(super) fn documented_limit(bench: &Bench<'_>) -> Vec<Finding> {
    bench.per_case("at-documented-limit", None, |seen| {
        let phase = limit(seen)?;
        if is_reported(bench, phase) || !seen.fits(phase.iops, NEAR) {
            return None;
        }
        Some(
            info(
                "what is {} as {} is delivered: {} of it",
                [
                    fixed(bench.how(&phase.binding)),
                    fixed(phase.binding.to_string()),
                    percent(seen.iops / phase.iops * 100.0),
                ],
            )
            .confidence(Confidence::Medium)
            .with("delivered", seen.iops, "IOPS")
            .with("documented", phase.iops, "IOPS"),
        )
    })
}

/// Rule 5: more in flight than the limit takes.
pub(super) fn over_driven(bench: &Bench<'_>) -> Vec<Finding> {
    let spec = &bench.given.resolved.spec;
    let advice = "Fewer in flight give the same rate at a lower latency.";
    bench.per_case("more-than-the-limit-takes", Some(advice), |seen| {
        let (phase, load) = (limit(seen)?, seen.load?);
        let alone = predict(
            spec,
            Load {
                in_flight: 1,
                ..load
            },
        )
        .ok()?;
        // Before any limiter holds it back, whatever is left of a burst.
        let latency = alone.at(Nanos::ZERO).latency_mean.as_secs_f64();
        let needed = (phase.iops * latency).ceil().max(1.0);
        let (given, most) = (f64::from(load.in_flight), needed * OVER);
        (given > most && !is_reported(bench, phase)).then(|| {
            info(
                "queue depth {}, and about {} already reach the limit: more only adds latency",
                [number(given), number(needed)],
            )
            .confidence(Confidence::Medium)
            .with("in flight", given, "")
            .with("needed", needed, "")
            .with("latency of one", latency * 1e9, "ns")
        })
    })
}

/// Rule 13: reads and writes have budgets of their own.
pub(super) fn separate_budgets(bench: &Bench<'_>) -> Vec<Finding> {
    bench.per_case("separate-budgets", None, |seen| {
        let (phase, load) = (limit(seen)?, seen.load?);
        let share = match phase.binding.kind()?.covers() {
            Covers::Writes => 100 - load.read_percent,
            Covers::Reads => load.read_percent,
            Covers::All => return None,
        };
        ((1..100).contains(&share) && seen.fits(phase.iops, NEAR)).then(|| {
            info(
                "reads and writes have budgets of their own: {} binds {} of the operations, and \
                 {} are {} of that kind",
                [
                    fixed(phase.binding.to_string()),
                    percent(f64::from(share)),
                    number(seen.iops),
                    number(seen.iops * f64::from(share) / 100.0),
                ],
            )
            .with("delivered", seen.iops, "IOPS")
            .with("share of them", f64::from(share), "%")
        })
    })
}

/// Rule 15: volumes add up until the instance binds their sum.
pub(super) fn aggregate(bench: &Bench<'_>) -> Vec<Finding> {
    let spec = &bench.given.resolved.spec;
    if spec.volumes.len() < 2 {
        return Vec::new();
    }
    let advice = format!(
        "Of {} volumes fewer would do on this instance, or a larger instance for all of them.",
        count(spec.volumes.len() as f64)
    );
    bench.per_case("instance-binds-the-sum", Some(&advice), |seen| {
        let (phase, load) = (limit(seen)?, seen.load?);
        let granted = grants(spec, load).ok()?;
        let of_volumes = granted.iter().filter(|grant| grant.name.volumes.is_some());
        let sum = of_volumes
            .map(|of_volume| of_volume.iops)
            .reduce(f64::min)?;
        (of_instance(&phase.binding) && sum > phase.iops).then(|| {
            info(
                "the volumes together could do {} IOPS, and {} lets {} pass",
                [
                    number(sum),
                    fixed(phase.binding.to_string()),
                    number(phase.iops),
                ],
            )
            .with("all volumes", sum, "IOPS")
            .with("instance", phase.iops, "IOPS")
        })
    })
}

/// A bucket that lasts no longer is a limiter's own, and no burst that is sold.
const BUCKET: Nanos = Nanos::from_secs(10);

/// The phase that goes on for ever, where it gives clearly less than was delivered.
fn remains<'a>(seen: &'a Seen<'_>) -> Option<&'a Phase> {
    let last = seen.predicted.as_ref()?.sustained();
    (last.iops < seen.iops * (1.0 - 2.0 * NEAR)).then_some(last)
}

/// Rule 9: the test ended before the burst did.
pub(super) fn burst_only(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Plan with what remains, unless the load is as short as the test was.";
    bench.joined("documented-burst", Some(advice), bench.because(&Why::AsExpected), |seen| {
        let (last, phase) = (remains(seen)?, seen.phase()?);
        let ends = seen.window.1 <= last.begins && last.begins > BUCKET;
        ends.then(|| info(
                "this is what {} allows for a while: after {} of this load {} IOPS remain, by {}",
                [
                    fixed(phase.binding.to_string()),
                    time(last.begins),
                    number(last.iops),
                    fixed(last.binding.to_string()),
                ],
            ).with("delivered", seen.iops, "IOPS").with("sustained", last.iops, "IOPS").with("begins after", last.begins.as_secs_f64(), "s"))
    })
}

/// Rule 9, seen afterwards: the burst was over before the test.
pub(super) fn burst_used_up(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "After a rest it bursts again. A rate that must last takes a volume or an instance \
                  whose baseline it is.";
    bench.joined("burst-used-up", Some(advice), bench.because(&Why::AsExpected), |seen| {
        let predicted = seen.predicted.as_ref()?;
        let (rested, last) = (predicted.at(BUCKET), predicted.sustained());
        let is_baseline = matches!(last.binding.kind(), Some(LimitKind::Baseline { .. }));
        let had_burst = last.begins > BUCKET && rested.iops > last.iops * (1.0 + 2.0 * NEAR);
        (is_baseline && had_burst && seen.fits(last.iops, NEAR)).then(|| warning(
                "{} IOPS are what {} leaves once the burst is used up; rested, it allows {} for {} \
                 of this load",
                [
                    number(seen.iops),
                    fixed(last.binding.to_string()),
                    number(rested.iops),
                    time(last.begins),
                ],
            ).with("delivered", seen.iops, "IOPS").with("baseline", last.iops, "IOPS").with("rested", rested.iops, "IOPS"))
    })
}

/// Rule 10: a limiter's bucket, full after rest, is spread over a short test.
pub(super) fn bucket_amortised(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Test for a minute, or leave out the first seconds.";
    bench.joined("bucket-amortised", Some(advice), bench.because(&Why::AsExpected), |seen| {
        let (last, expected) = (remains(seen).or_else(|| over(seen))?, seen.expected()?);
        let granted = grants(&bench.given.resolved.spec, seen.load?).ok()?;
        let by_cap = granted.iter().any(|grant| last.binding.is(&grant.name));
        let short = last.begins <= BUCKET && last.begins > Nanos::ZERO;
        let fits = seen.fits(expected, NEAR) && !seen.fits(last.iops, NEAR);
        (by_cap && short && fits).then(|| info(
                "the rate lies {} above {} because the limiter had saved up for it while idle; a \
                 long test falls to {} IOPS",
                [
                    percent((seen.iops / last.iops - 1.0) * 100.0),
                    fixed(last.binding.to_string()),
                    number(last.iops),
                ],
            ).confidence(Confidence::Medium).with("delivered", seen.iops, "IOPS").with("sustained", last.iops, "IOPS"))
    })
}

/// As [`remains`], for what lies only little above.
fn over<'a>(seen: &'a Seen<'_>) -> Option<&'a Phase> {
    let last = seen.predicted.as_ref()?.sustained();
    (last.iops < seen.iops * (1.0 - NEAR)).then_some(last)
}

/// The cases in the midst of which a burst ended, as was to be expected.
pub(super) fn ended_bursts(bench: &Bench<'_>) -> Vec<String> {
    let ended = bench.because(&Why::AsExpected).filter(|seen| {
        let last = remains(seen);
        last.is_some_and(|last| last.begins > BUCKET && last.begins < seen.window.1)
    });
    ended.map(|seen| seen.case.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{against, rule};
    use crate::testing::{Sketch, record};

    /// The story: fio's JSON of an hour on 30 GiB of gp2, which had its burst for half of it: "as
    /// expected", and a warning of a heavy tail with the advice to look at the device.
    #[test]
    fn what_waits_after_a_burst_is_no_tail() {
        let has_tail = |iops| {
            let mut record = record(&[Sketch {
                seconds: 3600,
                iops: vec![iops],
                depth: 16,
                spread: &[(0.53, 0.97), (16.0, 0.03)],
                ..Sketch::default()
            }]);
            record.measurements[0].series.clear();
            rule(&against(&record, "gp2:30GiB"), "heavy-tail").is_some()
        };
        assert!(!has_tail(1600.0));
        assert!(has_tail(1000.0));
    }
}
