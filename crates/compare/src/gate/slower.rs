//! The gate on loads that are slower than the baseline by more than is allowed.

use blocklab_record::Record;

use super::lost::{Change, verdicts};
use super::{Answer, Judged, Loads};
use crate::compare::{Against, Comparison, Contrast, Pair};

/// Whether runs lost more than `percent` against the baseline, load by load: by the rate, or where
/// a rate was requested, by the mean latency.
///
/// A load that only the baseline has and a run that did not end as planned are undecided.
///
/// # Panics
/// When the comparison is not of these records.
pub(super) fn slower(
    records: &[&Record],
    comparison: &Comparison,
    percent: f64,
    loads: &Loads,
) -> Vec<Judged> {
    let mut judged: Vec<Judged> = records
        .iter()
        .enumerate()
        .filter_map(|(run, record)| Judged::unfinished(run, record))
        .collect();
    for against in &comparison.against {
        let pairs: Vec<&Pair> = against
            .pairs
            .iter()
            .filter(|pair| loads.has(&pair.case, pair.direction))
            .collect();
        judged.extend(in_run(against.run, &pairs, percent));
        judged.extend(missing(comparison, against, loads));
    }
    judged
}

/// Loads that only the baseline has. Those that only the other run has are new, and lost nothing.
fn missing<'a>(
    comparison: &'a Comparison,
    against: &'a Against,
    loads: &'a Loads,
) -> impl Iterator<Item = Judged> + 'a {
    let unmatched = against.unmatched.iter();
    let lost = unmatched
        .filter(|lost| lost.run == comparison.baseline)
        .filter(|lost| loads.has(&lost.case, lost.direction));
    lost.map(|lost| {
        let why = lost.why.to_string();
        Judged::not_compared(against.run, &lost.case, lost.direction, &why)
    })
}

/// Judges the loads of one run. Holm's rule needs all of them at once.
fn in_run(run: usize, pairs: &[&Pair], percent: f64) -> Vec<Judged> {
    let changes: Vec<Change> = pairs.iter().filter_map(|pair| change(pair)).collect();
    let verdicts = verdicts(&changes, percent);
    // A pair without an estimate has no change, so each pair with one takes the next.
    let mut known = changes.iter().zip(verdicts);
    let judged = pairs.iter().map(|pair| {
        let subject = format!("{} {}", pair.case, pair.direction);
        let undecided = |why: &str| Judged::new(run, &*subject, Answer::Undecided, why.to_owned());
        let Some(contrast) = pair.headline() else {
            return undecided("neither its rate nor its latency is known");
        };
        let known = contrast.estimate.and_then(|_| known.next());
        let Some((change, (answer, why))) = known else {
            return if contrast.passes.contains(&1) {
                undecided("one pass on a side shows no scatter; 3 or more on each side would")
            } else {
                undecided("a figure of 0 has no ratio")
            };
        };
        let passes = passes(contrast, change.deciding_intervals(percent, changes.len()));
        Judged::new(run, &*subject, answer, why).decided_by(passes)
    });
    judged.collect()
}

/// The change of a load; `None` with one pass on a side, which has no error, or with a figure of 0.
fn change(pair: &Pair) -> Option<Change> {
    let contrast = pair.headline()?;
    Some(Change {
        quantity: contrast.quantity,
        ratio: contrast.estimate?,
        baseline: "the baseline".to_owned(),
    })
}

/// Passes on each side after which the interval is narrow enough for all of these.
fn passes(contrast: &Contrast, deciding: Vec<(f64, f64)>) -> Option<u32> {
    let all = deciding
        .into_iter()
        .map(|(half, level)| contrast.passes_for(half, level));
    let all: Option<Vec<u32>> = all.collect();
    all?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use blocklab_record::Status;

    use super::*;
    use crate::compare::{Margins, compare};
    use crate::gate::{Check, Condition};
    use crate::testing::{Sketch, record, run};

    fn gated(base: &Record, other: &Record, percent: f64) -> Check {
        let records = [base, other];
        let found = compare(&records, 0, Margins::default());
        let judged = slower(&records, &found, percent, &Loads::default());
        let percent = Some(percent);
        Check::new(&Condition::Slower { percent }.into(), judged)
    }

    #[track_caller]
    fn answered(base: &[f64], other: &[f64], percent: f64, expected: Answer) -> Judged {
        let mut found = gated(&run(base), &run(other), percent);
        assert_eq!(found.answer, expected, "{found:#?}");
        found.judged.remove(0)
    }

    const STEADY: [f64; 3] = [10_000.0, 10_010.0, 9_990.0];

    #[test]
    fn a_loss_is_shown_excluded_or_open() {
        answered(&STEADY, &[9_000.0, 9_010.0, 8_990.0], 5.0, Answer::Fail);
        answered(&STEADY, &[9_700.0, 9_710.0, 9_690.0], 5.0, Answer::Pass);
        answered(&STEADY, &[9_700.0, 9_710.0, 9_690.0], 2.0, Answer::Fail);
        answered(&STEADY, &[12_000.0, 12_500.0, 11_500.0], 0.0, Answer::Pass);
        answered(
            &STEADY,
            &[9_300.0, 9_600.0, 9_900.0],
            5.0,
            Answer::Undecided,
        );
    }

    /// The story: a job compared two runs of three noisy passes with the rule "slower", read
    /// "no difference shown", and let through a driver that had lost a tenth of its rate.
    #[test]
    fn what_the_passes_cannot_show_is_not_passed() {
        let base = [10_000.0, 11_000.0, 9_000.0];
        let lost = [9_000.0, 9_900.0, 8_100.0];
        let judged = answered(&base, &lost, 5.0, Answer::Undecided);
        let passes = judged.passes_to_decide.expect("a number of passes");
        // 2 · 1.96² · 0.1² / ln(0.9 / 0.95)² = 26.3, and a little more for Student's t.
        assert!((26..=30).contains(&passes), "{passes}");
        let again = |of: &[f64]| -> Vec<f64> {
            let passes = usize::try_from(passes).expect("few") / 3 + 1;
            of.repeat(passes)
        };
        answered(&again(&base), &again(&lost), 5.0, Answer::Fail);
    }

    #[test]
    fn one_pass_decides_nothing_and_equal_ones_need_no_scatter() {
        let judged = answered(&[100.0], &[10.0], 5.0, Answer::Undecided);
        assert_eq!(judged.passes_to_decide, None);
        answered(&[500.0; 3], &[500.0; 3], 0.0, Answer::Pass);
        answered(&[500.0; 3], &[400.0; 3], 5.0, Answer::Fail);
    }

    /// Under a given rate the device can only show in latencies: more of it is a loss.
    #[test]
    fn of_a_paced_load_the_latency_counts() {
        let paced = |ns: f64| {
            let mut run = record(&[Sketch {
                latency_ns: Some(ns),
                ..Sketch::default()
            }]);
            run.measurements
                .iter_mut()
                .flat_map(|measurement| &mut measurement.jobs)
                .for_each(|job| job.pace = blocklab_record::PaceKind::OpenFixed);
            run
        };
        let (base, other) = (paced(1e6), paced(1.2e6));
        assert_eq!(gated(&base, &other, 5.0).answer, Answer::Fail);
        assert_eq!(gated(&base, &other, 25.0).answer, Answer::Pass);
        assert_eq!(gated(&other, &base, 5.0).answer, Answer::Pass);
        // The story: three passes of a device without latency were said to be one pass.
        let without = paced(0.0);
        let judged = &gated(&without, &other, 5.0).judged[0];
        assert_eq!(judged.answer, Answer::Undecided);
        assert_eq!(judged.why, "a figure of 0 has no ratio");
    }

    /// The story: the case that was slow had been dropped from the study, and everything passed.
    #[test]
    fn a_load_that_is_gone_does_not_pass() {
        let both = record(&[Sketch::named("a"), Sketch::named("b")]);
        let found = gated(&both, &record(&[Sketch::named("a")]), 5.0);
        assert_eq!(found.answer, Answer::Undecided, "{found:#?}");
        assert_eq!(found.judged[1].subject, "b read");
        let more = gated(&record(&[Sketch::named("a")]), &both, 5.0);
        assert_eq!(more.answer, Answer::Pass, "a new load is no loss");
    }

    #[test]
    fn a_run_that_did_not_end_does_not_pass() {
        let base = run(&STEADY);
        let mut other = base.clone();
        other.status = Status::Interrupted;
        assert_eq!(gated(&base, &other, 5.0).answer, Answer::Undecided);
        other.measurements.clear();
        let found = gated(&other, &other, 5.0);
        assert_eq!(found.answer, Answer::Undecided, "nothing was measured");
    }
}
