//! What a job was asked to reach while it ran: a steady state, or the queue depth that keeps a latency.

use blocklab_record::{JobResult, Measurement, Stopped};
use blocklab_workload::{Job, LatencyTarget};

use crate::Finding;
use crate::hit::{Hit, per_case, warning};
use crate::statement::{fixed, number, sum};
use crate::view::{CaseView, Cases};

/// Whether a job ended as it was to end: what a failure or a signal ended has a finding of its own.
const fn ended(job: &JobResult) -> bool {
    matches!(
        job.stopped,
        Stopped::Runtime | Stopped::Bytes | Stopped::Loops | Stopped::Steady
    )
}

/// The results of the jobs of a pass of a case, each with its request.
fn requested<'c>(
    cases: &'c Cases<'_>,
    case: &'c CaseView<'_>,
    pass: &'c Measurement,
) -> impl Iterator<Item = (&'c JobResult, &'c Job)> {
    let jobs = pass.jobs.iter().filter(|job| ended(job));
    jobs.filter_map(move |job| {
        let mut planned = cases.planned_jobs(case);
        let planned = planned.find(|planned| planned.name == job.name)?;
        Some((job, planned))
    })
}

/// A job was to run until it is steady, and its time or amount was over first.
pub(super) fn not_steady(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Allow more time or condition the device before: these figures are those of a device that \
                  still changes.";
    per_case(cases, "not-steady", Some(advice), |case| {
        // One job of each pass, whatever others of it have missed theirs.
        let missed = case.passes.iter().filter_map(|pass| {
            let mut jobs = requested(cases, case, pass);
            jobs.find(|(job, planned)| {
                planned.stop.steady.is_some() && job.stopped != Stopped::Steady
            })
        });
        let missed: Vec<&JobResult> = missed.map(|(job, _)| job).collect();
        let last = missed.last()?;
        let passes = case.passes.len();
        let hit = warning(
            "the steady state that was asked for was not reached in {}",
            [sum(missed.len() as f64, "pass", "passes")],
        );
        let hit = if passes > 1 {
            hit.alone(" of {}", [number(passes as f64)])
        } else {
            hit
        };
        Some(
            hit.with("passes that did not become steady", missed.len() as f64, "")
                .with(
                    "rounds judged at the end",
                    last.steady_rounds.len() as f64,
                    "",
                )
                .with("spread of their rates", spread(last), "%"),
        )
    })
}

/// The largest less the smallest rate of the last rounds, in per cent of their mean; `None` without
/// rounds.
fn spread(job: &JobResult) -> Option<f64> {
    let rates = job.steady_rounds.iter().map(|round| round.iops);
    let least = rates.clone().reduce(f64::min)?;
    let most = rates.clone().reduce(f64::max)?;
    let mean = rates.sum::<f64>() / job.steady_rounds.len() as f64;
    (mean > 0.0).then(|| (most - least) / mean * 100.0)
}

/// A job was to find the depth that keeps a latency, and no depth does, or the search did not end.
pub(super) fn latency_target(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Look at the latency of the rows at depth 1, and allow what the device can keep; a search \
                  needs a window of its own for each depth that it tries.";
    per_case(cases, "latency-target", Some(advice), |case| {
        let passes = case.passes.iter();
        let with_target = passes
            .flat_map(|pass| requested(cases, case, pass))
            .filter_map(|(job, planned)| Some((job.found_depth, planned.latency_target?)));
        let found: Vec<(Option<u32>, LatencyTarget)> = with_target.collect();
        let of_depth = |depth: Option<u32>| found.iter().find(|(found, _)| *found == depth);
        let (text, target) = match (of_depth(Some(0)), of_depth(None)) {
            (Some((_, target)), _) => (
                "not even one operation at a time keeps {} within {}",
                target,
            ),
            (None, Some((_, target))) => (
                "the search for the queue depth that keeps {} within {} did not end in time",
                target,
            ),
            (None, None) => return None,
        };
        Some(missed(text, target).with("mean latency", case.latency_ns(), "ns"))
    })
}

fn missed(text: &'static str, target: &LatencyTarget) -> Hit {
    let share = fixed(format!("{} % of the operations", target.percentile));
    warning(text, [share, fixed(target.limit.to_string())])
        .with("share asked for", target.percentile, "%")
        .with("latency asked for", target.limit.0 as f64, "ns")
}

#[cfg(test)]
mod tests {
    use blocklab_record::{Record, SteadyRound};
    use blocklab_units::Nanos;
    use blocklab_workload::{Case, Plan, Steady, SteadyVariable, Stop};

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    /// A record of three passes of a job that was requested so.
    fn requested_as(job: Job, change: impl Fn(&mut JobResult)) -> Record {
        let mut record = record(&[Sketch::named("a")]);
        let job = Job {
            name: "load".to_owned(),
            ..job
        };
        let case = Case::new("a", 1, vec![job]);
        record.requested.plan = Some(Plan::once("study", "", vec![case]));
        for pass in &mut record.measurements {
            change(&mut pass.jobs[0]);
        }
        record
    }

    /// The story: a run whose device did not become steady in the time that it had was called sound.
    #[test]
    fn a_steady_state_that_was_not_reached_is_reported() {
        let steady = || Job {
            stop: Stop {
                steady: Some(Steady::Slope {
                    variable: SteadyVariable::Iops,
                    limit: blocklab_workload::Limit::Percent(5.0),
                    rounds: 3,
                    round: Nanos::from_secs(1),
                }),
                ..Stop::default()
            },
            ..Job::new("load")
        };
        let round = |iops| SteadyRound {
            iops,
            bytes_per_s: iops * 4096.0,
            latency_ns: 1e6,
        };
        let missed = requested_as(steady(), |job| {
            job.steady_rounds = [90.0, 100.0, 110.0].map(round).to_vec();
        });
        let finding = the(&missed, "not-steady");
        assert_eq!(
            finding.statement,
            "a: the steady state that was asked for was not reached in 3 passes of 3."
        );
        let spread = finding.evidence.last().expect("figures");
        assert!((spread.value - 20.0).abs() < 1e-9, "{spread:?}");
        let mut once = missed;
        once.measurements.truncate(1);
        let statement = the(&once, "not-steady").statement;
        assert!(statement.ends_with("not reached in 1 pass."), "{statement}");
        let reached = requested_as(steady(), |job| job.stopped = Stopped::Steady);
        silent(&reached, "not-steady");
        let stopped = requested_as(steady(), |job| job.stopped = Stopped::Interrupted);
        silent(&stopped, "not-steady");
        silent(&requested_as(Job::new("load"), |_| ()), "not-steady");
    }

    /// The story: a search for the depth that keeps a millisecond found none, and nothing said so.
    #[test]
    fn a_latency_that_no_depth_keeps_is_reported() {
        let search = || Job {
            latency_target: Some(LatencyTarget {
                limit: Nanos::from_millis(1),
                window: Nanos::from_secs(1),
                percentile: 99.0,
                go_on: false,
            }),
            ..Job::new("load")
        };
        let found = |depth: Option<u32>| requested_as(search(), |job| job.found_depth = depth);
        assert_eq!(
            the(&found(Some(0)), "latency-target").statement,
            "a: not even one operation at a time keeps 99 % of the operations within 1.00 ms."
        );
        let open = the(&found(None), "latency-target").statement;
        assert!(open.contains("did not end in time"), "{open}");
        silent(&found(Some(4)), "latency-target");
        silent(&requested_as(Job::new("load"), |_| ()), "latency-target");
    }
}
