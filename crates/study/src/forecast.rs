//! What a run would do to its targets: the checks with which a run begins, and nothing further.

use blocklab_record::TargetKind;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Job, Pace, Plan, Rate};

use crate::Error;
use crate::opened_target::TargetContext;
use crate::opened_targets::OpenedTargets;
use crate::system_run::Assignment;
use crate::target_forecast::TargetForecast;

/// What a run would do. Nothing was made, measured or changed.
#[derive(Debug)]
pub struct Forecast {
    /// In the order in which the plan names them.
    pub targets: Vec<TargetForecast>,
    /// What its jobs write, all passes together.
    pub writes: Written,
    /// Ramps, measured time and pauses of all passes. Jobs that end after an amount take longer.
    pub time: Nanos,
    /// Measurements that end after an amount and not after a time.
    pub untimed: usize,
}

/// What jobs write: an amount for some, a time for others.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Written {
    /// The most that jobs write which end after an amount or have a rate.
    pub bytes: Bytes,
    /// Time in which jobs write as fast as the target takes it, all passes together; those that
    /// also read are counted whole.
    pub unbounded: Nanos,
}

/// Checks the targets of a plan as a run does: it refuses what a run would refuse.
///
/// # Errors
/// As [`run_plan`](crate::run_plan).
pub fn forecast(assignment: &Assignment<'_>) -> Result<Forecast, Error> {
    let plan = &assignment.plan;
    if plan.cases.is_empty() {
        let plan = plan.name.clone();
        return Err(Error::NothingLeft { plan });
    }
    let context = TargetContext {
        targets: assignment.targets,
        guard: assignment.guard,
        missing: assignment.missing,
        seed: plan.cases[0].workload.seed,
        catalog: assignment.catalog,
        interrupted: assignment.interrupted,
    };
    let targets = OpenedTargets::foresee(plan, &context)?;
    let is_kept = |it: &TargetForecast| it.facts.kind != TargetKind::Null;
    let rounds = u64::from(plan.rounds());
    let once = plan.cases.iter().map(|case| planned(case).0 + plan.pause.0);
    let untimed = |case: &&Case| {
        let mut jobs = case.workload.jobs.iter();
        jobs.any(|job| job.stop.runtime.is_none())
    };
    Ok(Forecast {
        writes: match targets.iter().any(is_kept) {
            true => written(plan),
            false => Written::default(),
        },
        time: Nanos(once.sum::<u64>() * rounds),
        untimed: plan.cases.iter().filter(untimed).count() * rounds as usize,
        targets,
    })
}

/// Planned time of one pass: that of its longest job.
#[must_use]
pub fn planned(case: &Case) -> Nanos {
    let jobs = case.workload.jobs.iter();
    let times = jobs.map(|job| job.ramp + job.stop.runtime.unwrap_or_default());
    times.max().unwrap_or_default()
}

fn written(plan: &Plan) -> Written {
    let rounds = u64::from(plan.rounds());
    let mut all = Written::default();
    for case in &plan.cases {
        let jobs = case.workload.jobs.iter();
        let mut longest = Nanos::ZERO;
        for job in jobs.filter(|job| job.writes() && job.engine.needs_target()) {
            match amount(job) {
                Some(bytes) => {
                    all.bytes = all.bytes + bytes * rounds;
                    // The ramp is not part of the amount, and only a rate limits it.
                    match at_rate(job, job.ramp) {
                        Some(ramp) => all.bytes = all.bytes + ramp * rounds,
                        None => longest = longest.max(job.ramp),
                    }
                }
                // Jobs that run side by side share the target.
                None => longest = longest.max(job.ramp + job.stop.runtime.unwrap_or_default()),
            }
        }
        all.unbounded = all.unbounded + Nanos(longest.0 * rounds);
    }
    all
}

/// Bytes that a job writes at most in a pass, without its ramp; `None` where its time alone ends it.
fn amount(job: &Job) -> Option<Bytes> {
    let threads = u64::from(job.threads);
    let block = job.sizes.write.largest().0;
    let all_of_it = job.region.size.filter(|_| job.stop.runtime.is_none());
    let loops = u64::from(job.stop.loops.unwrap_or(1));
    let by_loops = match job.stop.loops {
        Some(_) => job.region.size,
        None => all_of_it,
    };
    let by_rate = job.stop.runtime.and_then(|runtime| at_rate(job, runtime));
    let bounds = [
        job.stop.bytes.map(|bytes| bytes * threads),
        job.stop.ios.map(|ios| Bytes(ios * block) * threads),
        by_loops.map(|size| size * loops * threads),
        by_rate,
    ];
    bounds.into_iter().flatten().min()
}

/// Bytes that a job with a rate writes at most in a time; the rate of one direction, or of all.
fn at_rate(job: &Job, time: Nanos) -> Option<Bytes> {
    let rate = match job.pace {
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => rate,
        Pace::ByDirection { rates, .. } => rates[1]?,
        Pace::Closed => return None,
    };
    let per_second = match rate {
        Rate::Iops(iops) => iops * job.sizes.write.largest().0 as f64,
        Rate::Bytes(bytes) => bytes,
    };
    Some(Bytes((per_second * time.as_secs_f64()).ceil() as u64))
}
