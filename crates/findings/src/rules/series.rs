//! One pass over its time: steps and drifts.

use blocklab_record::{Interval, Measurement};
use blocklab_stats::{Drift, Step, drift, largest_step, mean};
use blocklab_units::Nanos;

use super::slices::{is_replay, levels, whole};
use super::{episode, limits};
use crate::held::SAVED_S;
use crate::hit::{Hit, per_case};
use crate::requested::reads_back;
use crate::statement::{number, percent as share_of, speed, time};
use crate::view::{CaseView, Cases};
use crate::{Confidence, Finding, Severity};

/// Slices that a judgement on time needs: three thirds of three.
const SLICES: usize = 9;
/// A file system writes its journal every few seconds, and caches fill in some: what happens in less
/// is no trend.
const LONG_ENOUGH: Nanos = Nanos::from_secs(9);
/// Slices on either side of a step.
const SIDE: usize = 3;
/// Share of the scatter that two levels must explain; a straight line reaches 0.75.
const EXPLAINED: f64 = 0.85;
/// A change of level of less than this is of no consequence.
const CHANGE: f64 = 0.15;
/// Neighbouring slices are not independent: the test sees the means of at most this many blocks.
const BLOCKS: usize = 12;
const DRIFT_PERCENT: f64 = 10.0;
const CHANCE: f64 = 0.01;

/// IOPS fell at one moment and stayed down.
pub(super) fn level_fell(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Use the level after the fall as the sustained figure, and run long enough to be \
                  sure that it is the last one.";
    per_case(cases, "level-fell", Some(advice), |case| {
        let text = cases.real_or_simulated(
            "IOPS fell by {} at one moment and stayed down, as when burst credits, a write cache \
             or the cooling are used up",
            "IOPS fell by {} at one moment and stayed down, as when burst credits are used up",
        );
        if limits::fell_by_credits(cases, case) {
            return None;
        }
        stepped(case, text, Severity::Warning, |at, step| {
            step.after < step.before * (1.0 - CHANGE) && !is_saved_up(at, step)
        })
    })
}

/// Whether what came before a fall is no more than a limiter saves up while idle: the end of that
/// is no fall of the target.
fn is_saved_up(fell: Nanos, step: &Step) -> bool {
    let surplus = (step.before - step.after) * fell.as_secs_f64();
    surplus <= 1.1 * SAVED_S * step.after
}

/// IOPS rose at one moment and stayed up.
pub(super) fn level_rose(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Give the case a longer ramp, or look for what ended at that moment.";
    per_case(cases, "level-rose", Some(advice), |case| {
        let text = cases.real_or_simulated(
            "IOPS rose by {} at one moment and stayed up, as when something warms up, or other \
             load ends",
            "IOPS rose by {} at one moment and stayed up, as when a fault ends",
        );
        // Of nothing there is no change in per cent; that nothing completed is a finding of its own.
        stepped(case, text, Severity::Info, |_, step| {
            step.before > 0.0 && step.after * (1.0 - CHANGE) > step.before
        })
    })
}

/// The largest of the steps of all passes that `counts` accepts.
fn stepped(
    case: &CaseView<'_>,
    text: &'static str,
    severity: Severity,
    counts: impl Fn(Nanos, &Step) -> bool,
) -> Option<Hit> {
    let steps = case
        .passes
        .iter()
        .filter_map(|pass| step(pass))
        .filter(|(at, step)| counts(*at, step));
    let (at, step) = steps.max_by(|(_, a), (_, b)| log_change(a).total_cmp(&log_change(b)))?;
    Some(
        Hit::new(
            severity,
            text,
            [share_of((step.after / step.before - 1.0).abs() * 100.0)],
        )
        .alone(
            ": from {} to {} after {}",
            [speed(step.before), speed(step.after), time(at)],
        )
        .graded(log_change(&step))
        .confidence(Confidence::Medium)
        .with("time of the step", at.as_secs_f64(), "s")
        .with("before", step.before, "IOPS")
        .with("after", step.after, "IOPS")
        .with("scatter explained", step.explained * 100.0, "%"),
    )
}

fn log_change(step: &Step) -> f64 {
    (step.after / step.before).ln().abs()
}

/// The clear step of a pass and when it came, since the end of the ramp.
fn step(pass: &Measurement) -> Option<(Nanos, Step)> {
    let slices = slices(pass)?;
    let step = largest_step(&levels(&slices), SIDE).filter(|step| step.explained > EXPLAINED)?;
    let at = slices[..step.at].iter().map(|slice| slice.length_ns).sum();
    Some((Nanos(at), step))
}

const SINKS: &str =
    "IOPS fell by {} from the first third of a pass to its last, in {} of {} passes";
const CLIMBS: &str =
    "IOPS rose by {} from the first third of a pass to its last, in {} of {} passes";

/// IOPS changed little by little.
pub(super) fn drift_within(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Run until it is steady, and take the figure from there.";
    per_case(cases, "drift-within", Some(advice), |case| {
        let drifts = case.passes.iter().filter_map(|pass| clear_drift(pass));
        let (falls, rises): (Vec<Drift>, Vec<Drift>) =
            drifts.partition(|drift| drift.last_over_first < 1.0);
        // The sentence counts the passes that went one way.
        let drifts = if falls.len() >= rises.len() {
            falls
        } else {
            rises
        };
        let judged = case.passes.iter().filter(|p| slices(p).is_some()).count();
        // A single pass of many may have met a neighbour.
        if drifts.len() * 2 < judged {
            return None;
        }
        let log_changes = drifts.iter().map(|drift| drift.last_over_first.ln().abs());
        let (found, most) = drifts
            .iter()
            .zip(log_changes)
            .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let change = found.change_percent();
        let (text, severity) = if change < 0.0 {
            (SINKS, Severity::Warning)
        } else {
            (CLIMBS, Severity::Info)
        };
        Some(
            Hit::new(
                severity,
                text,
                [
                    share_of(change.abs()),
                    number(drifts.len() as f64),
                    number(judged as f64),
                ],
            )
            .graded(most)
            .confidence(Confidence::Medium)
            .with("last third over the first", change, "%")
            .with("chance without a trend", found.chance * 100.0, "%")
            .with("passes that drift", drifts.len() as f64, ""),
        )
    })
}

/// The change from the first third of a pass to its last, if it is a trend and not a step.
fn clear_drift(pass: &Measurement) -> Option<Drift> {
    let slices = slices(pass)?;
    let levels = levels(&slices);
    let chance = drift(&blocks(&levels))?.chance;
    let third = levels.len() / 3;
    let (first, last) = (
        mean(&levels[..third]),
        mean(&levels[levels.len() - third..]),
    );
    let found = Drift {
        last_over_first: last / first,
        chance,
    };
    let real = chance < CHANCE && found.change_percent().abs() > DRIFT_PERCENT;
    // What began and ended within the pass has a time, and is reported with it.
    let is_trend = step(pass).is_none() && !episode::is_disturbed(pass);
    (real && is_trend).then_some(found)
}

/// The slices of a pass, if they are enough to see a trend, and a trend of the target: a recording and
/// the programs on a served volume ask for more at one time and for less at another, and what is read back
/// has a rate of its own.
fn slices(pass: &Measurement) -> Option<Vec<&Interval>> {
    let slices = whole(pass)?;
    let length = slices.iter().map(|slice| slice.length_ns).sum();
    let is_enough = slices.len() >= SLICES && Nanos(length) >= LONG_ENOUGH;
    let changes = is_replay(pass) || pass.observed.is_some() || pass.jobs.iter().any(reads_back);
    (is_enough && !changes).then_some(slices)
}

/// Means of neighbours.
fn blocks(levels: &[f64]) -> Vec<f64> {
    let length = levels.len().div_ceil(BLOCKS);
    levels.chunks_exact(length).map(mean).collect()
}

/// Coefficient of variation over the slices of a pass; `None` where there are too few.
pub(super) fn unevenness(pass: &Measurement) -> Option<f64> {
    Some(blocklab_stats::Summary::new(&levels(&slices(pass)?))?.cv())
}

#[cfg(test)]
mod tests {
    use blocklab_record::{PaceKind, Record};
    use blocklab_workload::Direction;

    use super::*;
    use crate::testing::{Sketch, observed, record, silent, the};

    /// One pass whose seconds have these operations.
    fn over_time(ios: impl Fn(u64) -> u64) -> Record {
        let mut record = record(&[Sketch {
            seconds: 30,
            iops: vec![3000.0],
            ..Sketch::default()
        }]);
        let series = &mut record.measurements[0].series;
        for (slice, second) in series.iter_mut().zip(0..) {
            slice.read.ios = ios(second);
        }
        record
    }

    fn wobble(second: u64) -> u64 {
        [30, 0, 50, 10, 40, 20, 0][second as usize % 7]
    }

    #[test]
    fn the_end_of_a_burst_has_a_time_and_two_levels() {
        let record = over_time(|s| if s < 18 { 3000 + wobble(s) } else { 300 });
        let finding = the(&record, "level-fell");
        assert!(
            finding
                .statement
                .ends_with(": from 3,022 to 300 after 18.0 s."),
            "{finding:?}"
        );
        silent(&record, "drift-within");
        silent(&record, "level-rose");
        silent(&over_time(|s| 3000 + wobble(s)), "level-fell");
    }

    /// The story: a job wrote 500 times a second and then read back at 200: "IOPS fell by 59 % at one moment, as
    /// when burst credits are used up".
    #[test]
    fn what_is_read_back_is_another_load() {
        let mut record = over_time(|s| if s < 18 { 3000 + wobble(s) } else { 300 });
        let job = &mut record.measurements[0].jobs[0];
        let moved = job.directions[&Direction::Read].clone();
        job.directions.insert(Direction::Write, moved);
        the(&record, "level-fell");
        record.measurements[0].jobs[0].verified = Some(Default::default());
        silent(&record, "level-fell");
    }

    /// A replayed recording that asked for less after 20 s: "IOPS fell by 70 % at one moment and stayed
    /// down, as when burst credits are used up".
    #[test]
    fn a_recording_and_a_served_volume_change_by_themselves() {
        let step = over_time(|s| if s < 18 { 3000 + wobble(s) } else { 300 });
        let slope = over_time(|s| 3000 - 30 * s + wobble(s));
        for (record, rule) in [(&step, "level-fell"), (&slope, "drift-within")] {
            the(record, rule);
            let mut replayed = record.clone();
            replayed.measurements[0].jobs[0].pace = PaceKind::Recorded;
            silent(&replayed, rule);
            let mut served = record.clone();
            served.measurements[0].observed = Some(Box::new(observed()));
            silent(&served, rule);
        }
    }

    #[test]
    fn a_late_start_is_no_fall() {
        let record = over_time(|s| if s < 5 { 1000 } else { 3000 + wobble(s) });
        assert_eq!(the(&record, "level-rose").severity, Severity::Info);
        silent(&record, "level-fell");
    }

    /// The story: "IOPS rose by inf % at one moment", of a target that answered nothing for the first
    /// five seconds.
    #[test]
    fn a_pass_that_began_with_nothing_has_no_change_in_per_cent() {
        let record = over_time(|s| if s < 5 { 0 } else { 3000 + wobble(s) });
        silent(&record, "level-rose");
        the(&record, "standstill");
    }

    #[test]
    fn a_slow_fall_is_a_drift() {
        let record = over_time(|s| 3000 - 30 * s + wobble(s));
        let finding = the(&record, "drift-within");
        assert!(finding.statement.contains("IOPS fell by 2"), "{finding:?}");
        silent(&record, "level-fell");
        silent(&over_time(|s| 3000 + wobble(s)), "drift-within");
    }

    /// The story: of three passes one fell, one rose and one did neither: "IOPS fell by 19 % …, in 2 of 3
    /// passes".
    #[test]
    fn passes_that_went_the_other_way_do_not_count() {
        let record = |slopes: [i64; 3]| {
            let mut record = over_time(|_| 0);
            record.measurements = vec![record.measurements[0].clone(); 3];
            for (pass, slope) in record.measurements.iter_mut().zip(slopes) {
                for (slice, second) in pass.series.iter_mut().zip(0_u64..) {
                    let level = 3000 + slope * second as i64;
                    slice.read.ios = level as u64 + wobble(second);
                }
            }
            record
        };
        silent(&record([-30, 30, 0]), "drift-within");
        let most_rose = the(&record([-40, 30, 30]), "drift-within").statement;
        assert!(most_rose.contains("rose by"), "{most_rose}");
        assert!(most_rose.ends_with("in 2 of 3 passes."), "{most_rose}");
    }

    #[test]
    fn a_job_that_ends_early_is_no_fall() {
        let mut record = over_time(|s| if s < 18 { 3000 } else { 300 });
        let mut short = record.measurements[0].jobs[0].clone();
        short.elapsed_ns = 18_000_000_000;
        record.measurements[0].jobs.push(short);
        silent(&record, "level-fell");
    }

    #[test]
    fn the_ramp_does_not_count() {
        let mut record = over_time(|s| if s < 18 { 3000 } else { 300 });
        for slice in &mut record.measurements[0].series[..18] {
            slice.ramp = true;
        }
        silent(&record, "level-fell");
    }
}
