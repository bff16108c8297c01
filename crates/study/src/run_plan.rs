//! Conducts plans: case by case, pass by pass, one Record each.

use blocklab_host::guard::Guard;
use blocklab_record::Record;

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
    let longest = sessions.iter().map(SystemRun::steps).max();
    let parallel = parallel::can_be(&sessions);
    for step in 0..longest.unwrap_or(0) {
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
