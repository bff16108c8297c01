//! Conducts plans: case by case, pass by pass, one Record each.

use blocklab_host::guard::Guard;
use blocklab_publication::System;
use blocklab_record::Record;
use blocklab_workload::Plan;

use crate::Error;
use crate::observer::Observer;
use crate::parallel;
use crate::system_run::{Assignment, Part, SystemRun};

/// Runs the whole plan. Whatever happens after the first operation is in the Record, its status
/// included.
///
/// # Errors
/// When nothing can be measured at all: see [`Error`].
pub fn run_plan(assignment: Assignment<'_>, observer: &mut dyn Observer) -> Result<Record, Error> {
    let mut records = run_plans(vec![Part::from(assignment)], observer)?;
    Ok(records.pop().expect("a record for every part"))
}

/// Runs a study on several systems, one Record each. They take turns, measurement by measurement,
/// so that what changes with time helps none of them more. Where all are simulated, they are at work
/// at once: the figures are the same, and the observer is told of one after the other.
///
/// # Errors
/// When nothing can be measured at all on one of them: see [`Error`].
pub fn run_plans(parts: Vec<Part<'_>>, observer: &mut dyn Observer) -> Result<Vec<Record>, Error> {
    let guards: Vec<&Guard> = parts.iter().map(|part| part.assignment.guard).collect();
    let open = |part| SystemRun::open(part, observer);
    let mut sessions: Vec<_> = parts.into_iter().map(open).collect::<Result<_, _>>()?;
    let parallel = parallel::can_be(&sessions);
    // An observer may add steps to a run.
    for step in 0.. {
        if !sessions.iter().any(|session| session.has(step)) {
            break;
        }
        if parallel {
            parallel::step(&mut sessions, step, observer)?;
            continue;
        }
        for (number, session) in sessions.iter_mut().enumerate() {
            if session.has(step) {
                observer.turns_to(number);
                session.step(step, observer)?;
                session.tell_of_writes(step, guards[number]);
            }
        }
    }
    Ok(sessions.into_iter().map(SystemRun::close).collect())
}

/// The load of a study on one of its systems: the name tells which, every device has the threads of
/// a job, and what the system says of passes and time holds.
#[must_use]
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
