//! Runs plans: case by case, pass by pass, one Record each.

use blocklab_driver::{Event, Observer};
use blocklab_host::guard::Guard;
use blocklab_record::Record;
use blocklab_workload::Plan;
use blocklab_workload::publication::System;

use crate::parallel;
use crate::system_run::{Part, SystemRun};
use crate::{Error, Until};

/// Runs a study on several systems, one Record each, which holds everything that happens after the
/// first operation, and how the run ended. They take turns, measurement by measurement, so that what
/// changes with time helps none of them more. Where all are simulated, they run in parallel: the
/// figures are the same, and the observer gets their events one after the other.
///
/// # Errors
/// When nothing can be measured at all on one of them: see [`Error`].
pub(crate) fn run_parts(
    parts: Vec<Part<'_>>,
    guard: &Guard,
    until: Option<Until>,
    observer: &mut dyn Observer,
) -> Result<Vec<Record>, Error> {
    let mut runs = Vec::new();
    for part in parts {
        runs.push(SystemRun::open(part, until, observer)?);
    }
    let parallel = parallel::can_be(&runs);
    // The last step may add more to a run.
    for step in 0.. {
        if !runs.iter().any(|run| run.has(step)) {
            break;
        }
        if parallel {
            parallel::step(&mut runs, step, observer)?;
            continue;
        }
        for (number, run) in runs.iter_mut().enumerate() {
            if run.has(step) {
                observer.event(Event::Turn(number));
                run.step(step, observer)?;
                run.report_writes(step, guard);
            }
        }
    }
    Ok(runs.into_iter().map(SystemRun::close).collect())
}

/// The load of a study on one of its systems. It is named after the system, every device has the
/// threads of a job, and the passes and times of the system apply.
pub fn plan_of(plan: &Plan, system: &System, seed: u64) -> Plan {
    let mut cases = plan.cases.clone();
    for case in &mut cases {
        case.workload.seed = seed;
        for job in &mut case.workload.jobs {
            job.threads = job.threads.saturating_mul(system.devices);
            if job.stop.runtime.is_some() && system.runtime.is_some() {
                job.stop.runtime = system.runtime;
            }
        }
    }
    let plan = Plan {
        cases,
        passes: system.passes.unwrap_or(plan.passes),
        ..plan.clone()
    };
    plan.on_system(&system.name)
}

#[cfg(test)]
#[path = "run_plan_tests.rs"]
mod tests;
