//! Passes against each other. Credits that ran empty in one of them have a finding of their own, and
//! need no second one on what they left to the passes.

use blocklab_stats::{Drift, Outlier, Summary, drift, outliers};
use blocklab_units::signed;

use super::episode::undisturbed;
use super::limits::fell_by_credits;
use crate::hit::{per_case, warning};
use crate::statement::{Slot, number, percent, speed, word};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding};

/// Standard deviation over mean, in per cent, above which passes scatter.
const SCATTER_PERCENT: f64 = 10.0;
/// Passes that agree within this share of their median count as equal.
const AGREE: f64 = 0.01;
/// A trend that ends nearer than this to where it began is of no consequence.
const DRIFT_PERCENT: f64 = 5.0;
/// Chance of such a drift among passes without one, at most.
const CHANCE: f64 = 0.05;
/// Below this chance the drift is the likeliest explanation.
const SMALL_CHANCE: f64 = 0.01;

/// Nothing disturbs a simulated run: its passes differ by what the ones before them left.
const LEFT_OVER: &str = "A pass begins with the burst credits, or with what an idle limiter saved \
                         up, that the ones before it left: run longer, or leave a longer pause \
                         between passes.";

/// Where it was not the first pass that was the fastest, no credits explain it.
const DRAWN: &str = "A pass begins where the ones before it left the device, and draws offsets of \
                     its own: take longer passes, or more of them.";

/// Credits that are left over make the first pass the fastest.
fn left_over(cases: &Cases<'_>) -> &'static str {
    let began_fast = cases.list.iter().any(|case| {
        // What happened within a pass is reported with its time, and no credits explain it.
        let is_whole = undisturbed(case).is_none();
        let passes = case.pass_iops.split_first().filter(|_| is_whole);
        passes.is_some_and(|(first, later)| {
            !later.is_empty() && later.iter().all(|iops| iops < first)
        })
    });
    if began_fast { LEFT_OVER } else { DRAWN }
}

/// One pass differs from the others.
pub(super) fn outlier_pass(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = cases.real_or_simulated(
        "Look for what else used the machine or the device in that pass, or measure again.",
        left_over(cases),
    );
    per_case(cases, "outlier-pass", Some(advice), |case| {
        let found = outlier(case).filter(|_| !fell_by_credits(cases, case))?;
        let iops = case.pass_iops[found.index];
        let median = Summary::new(&case.pass_iops)?.median;
        Some(
            warning(
                "pass {} delivered {} IOPS, {} against the median of {} passes",
                [
                    word(case.pass_numbers[found.index].to_string()),
                    speed(iops),
                    Slot::Range(found.off_percent, |percent| {
                        format!("{} %", signed(percent, 0))
                    }),
                    number(case.pass_iops.len() as f64),
                ],
            )
            .alone(" ({})", [speed(median)])
            .graded(found.off_percent.abs())
            .confidence(Confidence::Medium)
            .with("pass", f64::from(case.pass_numbers[found.index]), "")
            .with("its IOPS", iops, "IOPS")
            .with("median of the passes", median, "IOPS")
            .with("modified z-score", found.score, ""),
        )
    })
}

fn outlier(case: &CaseView<'_>) -> Option<Outlier> {
    let found = outliers(&case.pass_iops, AGREE).into_iter();
    found.max_by(|a, b| a.score.abs().total_cmp(&b.score.abs()))
}

/// Each pass is faster, or slower, than the one before.
pub(super) fn drift_over_passes(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = cases.real_or_simulated(
        "The target was not settled: precondition it, let it cool or its credits recover, or run \
         until it is steady.",
        left_over(cases),
    );
    per_case(cases, "drift-over-passes", Some(advice), |case| {
        let found = clear_drift(case).filter(|_| !fell_by_credits(cases, case))?;
        let change = found.change_percent();
        let text = if change < 0.0 {
            "IOPS fell by {} over {} passes, from the beginning of their trend to its end"
        } else {
            "IOPS rose by {} over {} passes, from the beginning of their trend to its end"
        };
        Some(
            warning(
                text,
                [percent(change.abs()), number(case.pass_iops.len() as f64)],
            )
            .graded(found.last_over_first.ln().abs())
            .confidence(Confidence::medium_if(found.chance < SMALL_CHANCE))
            .with("first pass", case.pass_iops[0], "IOPS")
            .with("end of the trend over its beginning", change, "%")
            .with("chance without a trend", found.chance * 100.0, "%"),
        )
    })
}

fn clear_drift(case: &CaseView<'_>) -> Option<Drift> {
    let found = drift(&case.pass_iops)?;
    (found.chance < CHANCE && found.change_percent().abs() > DRIFT_PERCENT).then_some(found)
}

/// Passes differ, and neither a single one nor a trend explains it.
pub(super) fn scatter(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = cases.real_or_simulated(
        "Take more or longer passes, and look for other load on the machine or the device.",
        left_over(cases),
    );
    per_case(cases, "scatter", Some(advice), |case| {
        let summary = Summary::new(&case.pass_iops).filter(|summary| summary.count >= 2)?;
        let scatter = summary.cv() * 100.0;
        // Those have findings of their own, with better advice.
        let is_explained = outlier(case).is_some() || clear_drift(case).is_some();
        if scatter <= SCATTER_PERCENT || is_explained || fell_by_credits(cases, case) {
            return None;
        }
        Some(
            warning(
                "the passes scatter by {} (standard deviation over mean)",
                [percent(scatter)],
            )
            .alone(
                ": from {} to {} IOPS in {} passes",
                [
                    speed(summary.min),
                    speed(summary.max),
                    number(summary.count as f64),
                ],
            )
            .graded(scatter)
            .with("coefficient of variation", scatter, "%")
            .with("slowest pass", summary.min, "IOPS")
            .with("fastest pass", summary.max, "IOPS")
            .with("passes", summary.count as f64, ""),
        )
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::Record;

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn passes(iops: &[f64]) -> Record {
        record(&[Sketch::of_rates(iops)])
    }

    /// The story: simulated passes of which the third was the fastest were said to have begun with
    /// credits that earlier ones had left.
    #[test]
    fn credits_are_left_over_only_where_the_first_pass_was_the_fastest() {
        let advice = |iops: &[f64]| {
            let mut record = passes(iops);
            record.origin = blocklab_record::Origin::Simulated;
            the(&record, "scatter").advice
        };
        assert_eq!(advice(&[13_000.0, 9000.0]).as_deref(), Some(LEFT_OVER));
        assert_eq!(advice(&[9000.0, 13_000.0]).as_deref(), Some(DRAWN));
        // The story: a case that had a single pass was taken for one whose first pass was the fastest.
        let single = Sketch {
            iops: vec![5000.0],
            ..Sketch::named("single")
        };
        let scattered = Sketch::of_rates(&[9000.0, 13_000.0]);
        let mut both = record(&[scattered, single]);
        both.origin = blocklab_record::Origin::Simulated;
        assert_eq!(the(&both, "scatter").advice.as_deref(), Some(DRAWN));
    }

    #[test]
    fn passes_that_scatter() {
        let finding = the(&passes(&[10_000.0, 13_000.0, 9000.0]), "scatter");
        assert!(
            finding
                .statement
                .contains("from 9,000 to 13,000 IOPS in 3 passes"),
            "{finding:?}"
        );
        the(&passes(&[10_000.0, 13_000.0]), "scatter");
        silent(&passes(&[10_000.0, 10_500.0, 9500.0]), "scatter");
        silent(&passes(&[10_000.0]), "scatter");
    }

    #[test]
    fn one_pass_apart_is_named_by_its_number() {
        let record = passes(&[10_000.0, 10_050.0, 9980.0, 4000.0, 10_010.0]);
        let finding = the(&record, "outlier-pass");
        assert!(
            finding
                .statement
                .contains("pass 4 delivered 4,000 IOPS, -60 %")
        );
        silent(&record, "scatter");
        silent(&passes(&[10_000.0, 9000.0, 11_000.0]), "outlier-pass");
    }

    #[test]
    fn a_fall_from_pass_to_pass() {
        let record = passes(&[10_000.0, 9200.0, 8450.0, 7600.0, 6900.0]);
        let finding = the(&record, "drift-over-passes");
        assert!(
            finding
                .statement
                .contains("IOPS fell by 31 % over 5 passes"),
            "{finding:?}"
        );
        assert_eq!(finding.confidence, Confidence::Medium);
        silent(&record, "scatter");
        silent(
            &passes(&[10_000.0, 9200.0, 9900.0, 9300.0]),
            "drift-over-passes",
        );
    }

    /// The story: "IOPS fell by 154 % from the first to the last of 3 passes", and +145 % reported as
    /// "rose by 84 %".
    #[test]
    fn a_trend_is_reported_of_where_it_began() {
        let rise = the(&passes(&[1207.0, 2059.0, 2953.0]), "drift-over-passes");
        assert!(rise.statement.contains("rose by 145 %"), "{rise:?}");
        let fall = the(&passes(&[5000.0, 2650.0, 200.0]), "drift-over-passes");
        assert!(fall.statement.contains("fell by 96 %"), "{fall:?}");
    }

    #[test]
    fn of_several_cases_the_worst_is_named() {
        let scattered = |case: &str, iops: &[f64]| Sketch {
            iops: iops.to_vec(),
            ..Sketch::named(case)
        };
        let record = record(&[
            scattered("a", &[10_000.0, 13_000.0, 9000.0]),
            scattered("b", &[10_000.0, 19_000.0, 5000.0]),
        ]);
        let finding = the(&record, "scatter");
        assert!(finding.statement.ends_with("; worst in b."), "{finding:?}");
    }

    #[test]
    fn a_trend_of_no_consequence_is_not_reported() {
        silent(
            &passes(&[10_000.0, 10_010.0, 10_020.0, 10_030.0]),
            "drift-over-passes",
        );
    }
}
