//! In: a plan and its targets. Out: what a run would write and how long it would take. The targets
//! pass the same checks as at the beginning of a run.

use blocklab_device::most_written;
use blocklab_record::TargetKind;
use blocklab_units::{Bytes, Nanos};

use crate::Error;
use crate::opened_targets::OpenedTargets;
use crate::planned::{Written, planned_if_timed, planned_run, writing_times, written};
use crate::system_run::Part;
use crate::target_forecast::TargetForecast;

/// What a run would do. Nothing was created, measured or changed.
#[derive(Debug)]
pub struct Forecast {
    /// The targets, in the order in which the plan names them.
    pub targets: Vec<TargetForecast>,
    /// What its jobs write, in all passes together.
    pub writes: Written,
    /// Upper bound of what is written by loads that only time ends; `None` if a target that they write to
    /// is no model, or has no limit.
    pub most_by_time: Option<Bytes>,
    /// Ramps, measured time and pauses of all passes, if the targets keep up with the rates. The time
    /// of jobs that end after an amount and have no rate is not in it.
    pub time: Nanos,
    /// Number of measurements with such a job.
    pub untimed: usize,
}

/// Checks the targets of a plan as a run does: it refuses what a run would refuse.
pub(crate) fn forecast(part: &Part<'_>) -> Result<Forecast, Error> {
    let plan = &part.plan;
    let targets = OpenedTargets::foresee(plan, &part.context(0)?)?;
    // The null target stores nothing, so there is nothing to write.
    let stores = targets
        .iter()
        .any(|target| target.facts.kind != TargetKind::Null);
    let untimed = plan
        .cases
        .iter()
        .filter(|case| planned_if_timed(case).is_none());
    let writes = if stores {
        written(plan)
    } else {
        Written::default()
    };
    Ok(Forecast {
        most_by_time: most_by_time(part, &targets, writes),
        writes,
        time: planned_run(plan),
        untimed: untimed.count() * plan.rounds() as usize,
        targets,
    })
}

/// The most that loads which only time ends write, under the limits of modelled targets. Several targets
/// share what a load writes, and each takes at most what its own limits allow.
fn most_by_time(part: &Part<'_>, targets: &[TargetForecast], writes: Written) -> Option<Bytes> {
    if writes.unbounded == Nanos::ZERO {
        return Some(Bytes::ZERO);
    }
    let (times, in_flight) = writing_times(&part.plan);
    let written = targets.iter().filter(|target| target.is_written);
    let under_limits: Option<f64> = written
        .map(|target| most_written(target.model.as_ref()?, &times))
        .sum();
    Some(Bytes((under_limits? + in_flight.as_f64()) as u64))
}
