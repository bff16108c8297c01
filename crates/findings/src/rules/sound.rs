//! What was established, when nothing speaks against it.

use blocklab_record::Status;

use super::length::{directions_that_matter, percentile};
use super::sibling::level;
use crate::hit::{Hit, of_run};
use crate::statement::word;
use crate::view::{CaseView, Cases};
use crate::{Finding, Severity};

/// A sentence on a complete run; `None` for a run without figures.
pub(super) fn established(cases: &Cases<'_>) -> Option<Finding> {
    let measured = !cases.list.is_empty() && cases.list.iter().all(|case| case.ios() > 0);
    if cases.record.status != Status::Complete || !measured {
        return None;
    }
    let done = cases.record.origin.name();
    let subject = match cases.list.len() {
        1 => format!("The case was {done}"),
        2 => format!("Both cases were {done}"),
        n => format!("All {n} cases were {done}"),
    };
    let (repeated, spread) = agreement(&cases.list);
    let (supported, highest) = support(&cases.list);
    // Another pass of a simulation is another draw of the same chances: one shows as much.
    let once = cases.is_simulated() && cases.list.iter().all(|case| case.passes.len() == 1);
    let known = match (once, supported) {
        (true, Some(supported)) => supported,
        (false, Some(supported)) => format!("{repeated}, and {supported}"),
        (_, None) => repeated,
    };
    let text = "{} without a failure; {}";
    let hit = Hit::new(Severity::Good, text, [word(subject), word(known)])
        .with("largest spread of the passes", spread, "%")
        .with("supported up to", highest, "p");
    Some(of_run("sound", None, hit))
}

/// How well the passes of each case agree, in words, and the largest spread in per cent: the largest
/// less the smallest, of their mean. With one pass, no spread is known.
fn agreement(list: &[CaseView<'_>]) -> (String, Option<f64>) {
    let passes = list.iter().map(|case| case.pass_iops.len());
    let (fewest, most) = (passes.clone().min(), passes.max());
    let widest = list
        .iter()
        .map(|case| level(&case.pass_iops).1)
        .fold(0.0, f64::max);
    let passes = match (fewest, most) {
        // Flushes are not counted as operations of a rate.
        (Some(0), _) => return ("it has no rate that could repeat".to_owned(), None),
        (Some(1), _) => return ("one pass does not show how far it repeats".to_owned(), None),
        (Some(2), Some(2)) => "both passes".to_owned(),
        (Some(fewest), Some(most)) if fewest == most => format!("the {most} passes"),
        _ => "the passes".to_owned(),
    };
    let of_each = if list.len() == 1 { "" } else { " of each" };
    let words = format!(
        "{passes}{of_each} agree within {} %",
        widest.ceil().max(1.0)
    );
    (words, Some(widest))
}

/// Up to which percentile every case and direction has operations enough; nothing where another
/// program reported none for some. A direction of a few operations among many counts for nothing.
fn support(list: &[CaseView<'_>]) -> (Option<String>, Option<f64>) {
    let mut moved = list.iter().flat_map(|case| case.row.moved());
    // A case of flushes, or of hardly anything else, has no percentile, either.
    let mut all = list.iter();
    let has_none = all.any(|case| directions_that_matter(case).next().is_none());
    if has_none || moved.any(|direction| !direction.knows(0.5)) {
        return (None, None);
    }
    let counted = list.iter().flat_map(directions_that_matter);
    let highest = counted.map(|direction| direction.highest_quantile().unwrap_or(0.0));
    let lowest = percentile(highest.reduce(f64::min).unwrap_or(0.0));
    let every = if list.len() == 1 {
        ""
    } else {
        " in every case"
    };
    let words = format!("percentiles up to p{lowest} are supported{every}");
    (Some(words), Some(lowest))
}

#[cfg(test)]
mod tests {
    use blocklab_record::{DirectionResult, Origin, Record, Statistic, Unknown};
    use blocklab_workload::Direction;

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn passes(case: &str, iops: &[f64]) -> Sketch {
        Sketch {
            iops: iops.to_vec(),
            ..Sketch::named(case)
        }
    }

    #[track_caller]
    fn check(sketches: &[Sketch], expected: &str) {
        let finding = the(&record(sketches), "sound");
        assert_eq!(finding.statement, expected);
        assert_eq!(finding.severity, Severity::Good);
    }

    #[test]
    fn a_sound_run_says_what_is_known() {
        check(
            &[
                passes("a", &[10_000.0, 10_200.0, 9_850.0]),
                passes("b", &[10_000.0; 3]),
            ],
            "Both cases were measured without a failure; the 3 passes of each agree within 4 %, \
             and percentiles up to p99.99 are supported in every case.",
        );
        check(
            &[passes("a", &[10_000.0; 2])],
            "The case was measured without a failure; both passes agree within 1 %, and \
             percentiles up to p99.99 are supported.",
        );
        check(
            &[passes("a", &[900.0])],
            "The case was measured without a failure; one pass does not show how far it repeats, \
             and percentiles up to p99 are supported.",
        );
    }

    #[test]
    fn a_simulated_run_was_not_measured_and_needs_no_second_pass() {
        let mut record = record(&[passes("a", &[10_000.0])]);
        record.origin = blocklab_record::Origin::Simulated;
        assert_eq!(
            the(&record, "sound").statement,
            "The case was simulated without a failure; percentiles up to p99.99 are supported."
        );
    }

    /// A report without a single percentile had the finding "percentiles up to p99 are supported
    /// in every case", within 0.78 %.
    #[test]
    fn percentiles_that_nobody_reported_are_not_supported() {
        let mut record = record(&[passes("a", &[900.0])]);
        record.origin = Origin::Imported;
        let jobs = record.measurements.iter_mut().flat_map(|m| &mut m.jobs);
        for direction in jobs.flat_map(|job| job.directions.values_mut()) {
            direction.service.unknown = Unknown::from_iter([
                Statistic::P50,
                Statistic::P90,
                Statistic::P99,
                Statistic::P999,
                Statistic::P9999,
            ]);
        }
        assert_eq!(
            the(&record, "sound").statement,
            "The case was imported without a failure; one pass does not show how far it repeats."
        );
        silent(&record, "few-samples");
        let assessment = crate::assess(&record);
        assert_eq!(assessment.quantile_error_percent, None);
        assert!(!assessment.rows[0].directions[0].knows(0.95));
    }

    /// Three passes of reads, with operations of another direction that are like them but for `change`.
    fn beside_reads(direction: Direction, change: fn(&mut DirectionResult)) -> Record {
        let mut record = record(&[passes("a", &[10_000.0; 3])]);
        for pass in &mut record.measurements {
            let directions = &mut pass.jobs[0].directions;
            let mut others = directions[&Direction::Read].clone();
            change(&mut others);
            directions.insert(direction, others);
        }
        record
    }

    /// The story: "percentiles up to p0 are supported", since five trims among thousands of reads are
    /// too few for any percentile. They are too few to doubt the reads, too.
    #[test]
    fn a_few_operations_of_another_direction_take_nothing_from_the_others() {
        let record = beside_reads(Direction::Trim, |trims| {
            (trims.ios, trims.bytes) = (5, 20_480)
        });
        assert_eq!(
            the(&record, "sound").statement,
            "The case was measured without a failure; the 3 passes agree within 1 %, and \
             percentiles up to p99.99 are supported."
        );
    }

    /// The story: "percentiles up to p0 are supported" of some reads among ten thousand times as many flushes.
    #[test]
    fn hardly_anything_but_flushes_supports_no_percentile() {
        let record = beside_reads(Direction::Sync, |flushes| {
            (flushes.ios, flushes.bytes) = (flushes.ios * 10_000, 0);
            flushes.service.mean_ns = 0.0;
        });
        assert_eq!(
            the(&record, "sound").statement,
            "The case was measured without a failure; the 3 passes agree within 1 %."
        );
    }

    #[test]
    fn a_warning_silences_it() {
        silent(
            &record(&[passes("a", &[10_000.0, 15_000.0, 9_000.0])]),
            "sound",
        );
        silent(&record(&[]), "sound");
    }
}
