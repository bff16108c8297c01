//! In: a time of day, and the steps of a run. Out: when each step begins, by the run's clock.
//!
//! Several hosts that are given the same time begin each step together, without any communication
//! between them while they measure.

use blocklab_units::Nanos;
use blocklab_workload::Plan;
use jiff::Timestamp;

use crate::Error;
use crate::planned::planned_if_timed;

/// Time between two passes in which each host ends one and sets up the next.
const BETWEEN: Nanos = Nanos::from_secs(1);

/// When each step begins: the first one at `moment`, each other one second after the planned end of
/// the one before it. A step whose length only the target decides is the last one that is planned;
/// those after it begin as soon as they can. `now` is the time of day at `clock_now`.
///
/// # Errors
/// When `moment` is before `now`.
pub(crate) fn starts(
    plan: &Plan,
    moment: Timestamp,
    now: Timestamp,
    clock_now: Nanos,
) -> Result<Vec<Nanos>, Error> {
    let ahead = moment.as_nanosecond() - now.as_nanosecond();
    let ahead = u64::try_from(ahead).map_err(|_| Error::StartIsOver { moment, now })?;
    let mut starts = Vec::new();
    let mut next = Some(clock_now.saturating_add(Nanos(ahead)));
    for (case, _) in plan.steps() {
        let Some(start) = next else { break };
        starts.push(start);
        let length = planned_if_timed(&plan.cases[case]);
        next = length.map(|length| {
            let end = start.saturating_add(length).saturating_add(plan.pause);
            end.saturating_add(BETWEEN)
        });
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use blocklab_workload::{Case, Job, Order, Stop};

    use super::*;

    fn plan(stop: Stop) -> Plan {
        let job = Job {
            ramp: Nanos::from_secs(1),
            stop,
            ..Job::default()
        };
        let case = Case::new("a", 0, vec![job]);
        Plan {
            order: Order::Interleaved,
            passes: 3,
            ..Plan::once("a", "", vec![case])
        }
    }

    #[test]
    fn each_pass_has_its_moment() {
        let timed = plan(Stop::after(Nanos::from_secs(5)));
        let second = |second| Timestamp::from_second(second).expect("a moment");
        let clock = Nanos::from_secs(100);
        let found = starts(&timed, second(1010), second(1000), clock).expect("ahead");
        // Each takes 1 s of ramp and 5 s, and a second lies between two.
        assert_eq!(found, [110, 117, 124].map(Nanos::from_secs));
        let over = starts(&timed, second(999), second(1000), clock);
        assert!(over.is_err(), "{over:?}");
        let by_amount = plan(Stop {
            loops: Some(1),
            ..Stop::default()
        });
        let found = starts(&by_amount, second(1010), second(1000), clock).expect("ahead");
        assert_eq!(found, [Nanos::from_secs(110)], "only the first is known");
    }
}
