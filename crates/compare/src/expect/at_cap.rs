//! Findings on a case that runs at a documented limit: which limit it is, how much load reaches it,
//! whose budget it is, and how long it lasts.

use blocklab_device::{Covers, LimitKind, Load, Phase, grants, predict};
use blocklab_units::{Nanos, count};

use super::explain::{ExplainedCase, ExplainedRun, NEAR, of_instance};
use super::why::Why;
use blocklab_findings::hit::{info, warning};
use blocklab_findings::statement::{fixed, number, percent, time};
use blocklab_findings::{Confidence, Finding};

/// A queue depth of more than this many times the needed one is worth a finding.
const OVER: f64 = 2.0;

/// The phase whose limit binds a case that delivers what is documented; `None` for a case that
/// latency or the peak of a limiter binds, or that is explained otherwise.
fn limited_phase<'a>(case: &'a ExplainedCase<'_>) -> Option<&'a Phase> {
    let phase = case.phase()?;
    let limited = !matches!(phase.binding.kind(), None | Some(LimitKind::Peak { .. }));
    (limited && case.why == Why::AsExpected).then_some(phase)
}

/// Whether the record itself has this limit: the rules on the record alone report it then.
fn is_reported(run: &ExplainedRun<'_>, phase: &Phase) -> bool {
    run.view
        .record
        .targets
        .iter()
        .flat_map(|target| &target.limits)
        .any(|limit| phase.binding.is(&limit.name))
}

/// The rate is that of the smallest documented limit, which is named. A limit that the record itself has
/// is left to the rules on the record alone.
pub(super) fn documented_limit(run: &ExplainedRun<'_>) -> Vec<Finding> {
    run.per_case("at-documented-limit", None, |case| {
        let phase = limited_phase(case)?;
        if is_reported(run, phase) || !case.fits(phase.iops, NEAR) {
            return None;
        }
        Some(
            info(
                "what is {} as {} is delivered: {} of it",
                [
                    fixed(run.how(case, &phase.binding)),
                    fixed(phase.binding.to_string()),
                    percent(case.iops / phase.iops * 100.0),
                ],
            )
            .confidence(Confidence::Medium)
            .with("delivered", case.iops, "IOPS")
            .with("documented", phase.iops, "IOPS"),
        )
    })
}

/// More in flight than the limit takes.
pub(super) fn over_driven(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let spec = &run.given.resolved.spec;
    let advice = "Fewer in flight give the same rate at a lower latency.";
    run.per_case("more-than-the-limit-takes", Some(advice), |case| {
        let (phase, load) = (limited_phase(case)?, case.load?);
        let alone = predict(
            spec,
            Load {
                in_flight: 1,
                ..load
            },
        )
        .ok()?;
        // At time zero every bucket is full, so this is the latency without any limiter.
        let latency = alone.at(Nanos::ZERO).latency_mean.as_secs_f64();
        // Little's law: operations in flight are the rate times the latency of each.
        let needed = (phase.iops * latency).ceil().max(1.0);
        let (given, most) = (f64::from(load.in_flight), needed * OVER);
        (given > most && !is_reported(run, phase)).then(|| {
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

/// Reads and writes have budgets of their own.
pub(super) fn separate_budgets(run: &ExplainedRun<'_>) -> Vec<Finding> {
    run.per_case("separate-budgets", None, |case| {
        let (phase, load) = (limited_phase(case)?, case.load?);
        let share = match phase.binding.kind()?.covers() {
            Covers::Writes => 100 - load.read_percent,
            Covers::Reads => load.read_percent,
            Covers::All => return None,
        };
        ((1..100).contains(&share) && case.fits(phase.iops, NEAR)).then(|| {
            info(
                "reads and writes have budgets of their own: {} binds {} of the operations, and \
                 {} are {} of that kind",
                [
                    fixed(phase.binding.to_string()),
                    percent(f64::from(share)),
                    number(case.iops),
                    number(case.iops * f64::from(share) / 100.0),
                ],
            )
            .with("delivered", case.iops, "IOPS")
            .with("share of them", f64::from(share), "%")
        })
    })
}

/// Volumes add up until the instance binds their sum.
pub(super) fn aggregate(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let spec = &run.given.resolved.spec;
    if spec.volumes.len() < 2 {
        return Vec::new();
    }
    let advice = format!(
        "Of {} volumes fewer would do on this instance, or a larger instance for all of them.",
        count(spec.volumes.len() as f64)
    );
    run.per_case("instance-binds-the-sum", Some(&advice), |case| {
        let (phase, load) = (limited_phase(case)?, case.load?);
        let granted = grants(spec, load).ok()?;
        // A grant counts operations of the whole load, which is striped over all volumes: the
        // smallest one is what the volumes can do together.
        let of_volumes = granted.iter().filter(|grant| grant.name.volumes.is_some());
        let sum = of_volumes.map(|grant| grant.iops).reduce(f64::min)?;
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

/// A bucket that is empty sooner belongs to the limiter's mechanism; a burst that is sold lasts
/// longer.
const BUCKET: Nanos = Nanos::from_secs(10);

/// The sustained phase, if it gives clearly less than was delivered: by twice the tolerance, so
/// that both rates could not be the same one.
fn lower_sustained<'a>(case: &'a ExplainedCase<'_>) -> Option<&'a Phase> {
    let last = case.predicted.as_ref()?.sustained();
    (last.iops < case.iops * (1.0 - 2.0 * NEAR)).then_some(last)
}

/// The test ended before the burst did.
pub(super) fn burst_only(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Plan with what remains, unless the load is as short as the test was.";
    let as_expected = run.because(&Why::AsExpected);
    run.joined("documented-burst", Some(advice), as_expected, |case| {
        let (last, phase) = (lower_sustained(case)?, case.phase()?);
        let ends =
            case.window.until <= last.begins && last.begins > BUCKET && case.short_burst.is_none();
        let hit = info(
            "this is what {} allows for a while: after {} of this load {} IOPS remain, by {}",
            [
                fixed(phase.binding.to_string()),
                time(last.begins),
                number(last.iops),
                fixed(last.binding.to_string()),
            ],
        );
        ends.then(|| {
            hit.with("delivered", case.iops, "IOPS")
                .with("sustained", last.iops, "IOPS")
                .with("begins after", last.begins.as_secs_f64(), "s")
        })
    })
}

/// The burst was over before the test.
pub(super) fn burst_used_up(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "After a rest it bursts again. A rate that must last takes a volume or an instance \
                  whose baseline it is.";
    let as_expected = run.because(&Why::AsExpected);
    run.joined("burst-used-up", Some(advice), as_expected, |case| {
        let predicted = case.predicted.as_ref()?;
        // At `BUCKET` the limiter's own bucket is empty, and a burst that is sold still lasts.
        let (rested, last) = (predicted.at(BUCKET), predicted.sustained());
        let is_baseline = matches!(last.binding.kind(), Some(LimitKind::Baseline { .. }));
        let had_burst = last.begins > BUCKET && rested.iops > last.iops * (1.0 + 2.0 * NEAR);
        let is_found = is_baseline && had_burst && case.fits(last.iops, NEAR);
        let hit = warning(
            "{} IOPS are what {} leaves once the burst is used up; rested, it allows {} for {} \
             of this load",
            [
                number(case.iops),
                fixed(last.binding.to_string()),
                number(rested.iops),
                time(last.begins),
            ],
        );
        is_found.then(|| {
            hit.with("delivered", case.iops, "IOPS")
                .with("baseline", last.iops, "IOPS")
                .with("rested", rested.iops, "IOPS")
        })
    })
}

/// The burst ended sooner than that of a rested device.
pub(super) fn credits_not_full(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "After a rest it bursts for longer. `credits=` in the address of --expect gives the \
                  share that it had.";
    let as_expected = run.because(&Why::AsExpected);
    run.joined("credits-not-full", Some(advice), as_expected, |case| {
        let burst = case.short_burst?;
        let last = case.predicted.as_ref()?.sustained();
        let share = burst.ends.0 as f64 / last.begins.0 as f64 * 100.0;
        let hit = info(
            "the burst lasted {}, and with full credits it lasts {} of this load: about {} of \
             the credits were left at its beginning",
            [time(burst.ends), time(last.begins), percent(share)],
        );
        Some(
            hit.confidence(Confidence::Medium)
                .with("burst ended after", burst.ends.as_secs_f64(), "s")
                .with("with full credits", last.begins.as_secs_f64(), "s"),
        )
    })
}

/// A limiter's bucket, full after rest, is spread over a short test.
pub(super) fn bucket_amortised(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Test for a minute, or leave out the first seconds.";
    let as_expected = run.because(&Why::AsExpected);
    run.joined("bucket-amortised", Some(advice), as_expected, |case| {
        let (last, expected) = (case.predicted.as_ref()?.sustained(), case.expected()?);
        if last.iops >= case.iops * (1.0 - NEAR) {
            return None;
        }
        let granted = grants(&run.given.resolved.spec, case.load?).ok()?;
        let by_cap = granted.iter().any(|grant| last.binding.is(&grant.name));
        let short = last.begins <= BUCKET && last.begins > Nanos::ZERO;
        let fits = case.fits(expected, NEAR) && !case.fits(last.iops, NEAR);
        let is_found = by_cap && short && fits;
        let hit = info(
            "the rate lies {} above {} because the limiter had saved up for it while idle; a \
             long test falls to {} IOPS",
            [
                percent((case.iops / last.iops - 1.0) * 100.0),
                fixed(last.binding.to_string()),
                number(last.iops),
            ],
        );
        is_found.then(|| {
            hit.confidence(Confidence::Medium)
                .with("delivered", case.iops, "IOPS")
                .with("sustained", last.iops, "IOPS")
        })
    })
}

/// The cases during which a burst ended, as expected.
pub(super) fn ended_bursts(run: &ExplainedRun<'_>) -> Vec<String> {
    let ended = run.because(&Why::AsExpected).filter(|case| {
        let last = lower_sustained(case);
        last.is_some_and(|last| last.begins > BUCKET && last.begins < case.window.until)
    });
    ended.map(|case| case.view.name.to_owned()).collect()
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
