//! In: a plan and its targets. Out: what a run would write and how long it would take. The targets
//! pass the same checks as at the beginning of a run.

use blocklab_record::TargetKind;
use blocklab_units::Nanos;

use crate::Error;
use crate::opened_targets::OpenedTargets;
use crate::planned::{Written, planned_if_timed, planned_run, written};
use crate::system_run::Part;
use crate::target_forecast::TargetForecast;

/// What a run would do. Nothing was created, measured or changed.
#[derive(Debug)]
pub struct Forecast {
    /// The targets, in the order in which the plan names them.
    pub targets: Vec<TargetForecast>,
    /// What its jobs write, in all passes together.
    pub writes: Written,
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
    Ok(Forecast {
        writes: if stores {
            written(plan)
        } else {
            Written::default()
        },
        time: planned_run(plan),
        untimed: untimed.count() * plan.rounds() as usize,
        targets,
    })
}
