//! In: the plans of one or several systems. Out: one Record each, measured case by case and pass by
//! pass.

use blocklab_driver::{Event, Observer};
use blocklab_host::guard::Guard;
use blocklab_record::Record;
use blocklab_workload::Plan;
use blocklab_workload::publication::System;

use crate::system_run::{Part, SystemRun};
use crate::{Error, parallel};

/// Runs a study on several systems, one Record each, which contains everything from the first
/// operation on, and how the run ended. The systems take turns, measurement by measurement, so that
/// drift affects all of them alike. If all are simulated, they run in parallel: the figures are the
/// same, and the observer gets their events one after the other.
///
/// # Errors
/// When nothing can be measured at all on one of them: see [`Error`].
pub(crate) fn run_parts(
    parts: Vec<Part<'_>>,
    guard: &Guard,
    observer: &mut dyn Observer,
) -> Result<Vec<Record>, Error> {
    let mut runs = Vec::new();
    for part in parts {
        runs.push(SystemRun::open(part, observer)?);
    }
    let parallel = parallel::can_be(&runs);
    // There is no fixed number of steps, because the last one may add a pass.
    for step in 0.. {
        if !runs.iter().any(|run| run.has(step)) {
            break;
        }
        if parallel {
            // All are simulated, so there is nothing to report to the guard.
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

/// The load of a study on one of its systems: named after the system, with the threads of a job for
/// every device, and with the passes and times of the system.
pub fn plan_of(plan: &Plan, system: &System, seed: u64) -> Plan {
    let mut cases = plan.cases.clone();
    for case in &mut cases {
        case.workload.seed = seed;
        for job in &mut case.workload.jobs {
            job.threads = job.threads.saturating_mul(system.devices);
            // A job that ends after an amount keeps its end.
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
