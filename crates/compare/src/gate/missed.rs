//! The gate on documented limits that a run did not reach.

use blocklab_stats::passes_for;
use blocklab_units::significant;

use super::{Answer, Judged};
use crate::compare::LEVEL_PERCENT;
use crate::expect::{Compared, LimitCheck, NEAR, State};

/// Significant figures of a rate: enough to tell one that missed a limit of any size from what was
/// needed.
const FIGURES: i32 = 4;

/// Whether documented limits were reached to within 2.5 %.
///
/// Limits that no load of the run tests are left out; if none is tested, nothing is decided.
pub(super) fn missed(run: usize, compared: &Compared) -> Vec<Judged> {
    let limits = compared.limits.iter();
    let mut judged: Vec<Judged> = limits
        .filter(|tested| tested.state != State::NotTested)
        .map(|tested| judge(run, tested))
        .collect();
    if judged.is_empty() {
        let why = "no load of this run tests a documented limit".to_owned();
        let subject = compared.address.clone();
        judged.push(Judged::new(run, subject, Answer::Undecided, why));
    }
    judged
}

/// Judges a limit by its state, which has considered the interval already.
fn judge(run: usize, check: &LimitCheck) -> Judged {
    // The share that counts as reached in tables and pages, too.
    let bound = check.value * (1.0 - NEAR);
    let ends = check.delivered_ci95_low.zip(check.delivered_ci95_high);
    let answer = match check.state {
        State::Exceeded | State::Met => Answer::Pass,
        State::Missed => Answer::Fail,
        // A pause says nothing of the limit: another run may reach it.
        State::Interrupted | State::Undecided | State::NotTested => Answer::Undecided,
    };
    let shown = |rate| significant(rate, FIGURES);
    let range = match ends {
        Some((low, high)) => format!("({} to {})", shown(low), shown(high)),
        None => "in one pass".to_owned(),
    };
    let delivered = check.delivered.unwrap_or_default();
    let case = check.case.as_deref().unwrap_or_default();
    let delivered = format!("{} {}", shown(delivered), check.unit);
    let needed = shown(bound);
    let why = format!("{case} delivered {delivered} {range}; {needed} are needed");
    let subject = match &check.target {
        Some(target) => format!("{} of {target}", check.limit),
        None => check.limit.clone(),
    };
    Judged::new(run, subject, answer, why).decided_by(passes_to_decide(check, bound))
}

/// How many passes would bring the interval clear of the bound. A limit has no scatter of its own.
/// `None` where passes do not decide: after a pause the interval may be clear already.
fn passes_to_decide(check: &LimitCheck, bound: f64) -> Option<u32> {
    if check.state == State::Interrupted {
        return None;
    }
    // The interval is Student's of the rates, so both are shares of the delivered rate.
    let away = (bound / check.delivered? - 1.0).abs();
    passes_for([check.scatter?, 0.0], away, LEVEL_PERCENT / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_device::{Covers, Limit, LimitKind, LimitName, LimitUnit, Origin};

    fn documented() -> Limit {
        let limiter = "volume IOPS".to_owned();
        let covers = Covers::All;
        Limit {
            name: LimitName {
                owner: "gp3".to_owned(),
                volumes: Some(1),
                kind: LimitKind::Rate { limiter, covers },
            },
            value: 6000.0,
            unit: LimitUnit::Iops,
            origin: Origin::Given,
        }
    }

    fn compared(state: State, delivered: f64, half: Option<f64>) -> Compared {
        let limit = LimitCheck {
            documented: documented(),
            limit: "gp3: volume IOPS".to_owned(),
            target: None,
            value: 6000.0,
            unit: "IOPS",
            origin: "a page".to_owned(),
            state,
            case: Some("small".to_owned()),
            delivered: Some(delivered),
            delivered_ci95_low: half.map(|half| delivered - half),
            delivered_ci95_high: half.map(|half| delivered + half),
            scatter: half.map(|half| (half / delivered / 4.303).powi(2) * 3.0),
            how_to_test: None,
        };
        Compared {
            address: "gp3:1TiB".to_owned(),
            cases: Vec::new(),
            limits: vec![limit],
        }
    }

    #[test]
    fn the_answer_is_the_state_of_the_table() {
        for (state, delivered, half, expected) in [
            (State::Missed, 5000.0, Some(100.0), Answer::Fail),
            (State::Undecided, 5000.0, Some(1000.0), Answer::Undecided),
            (State::Undecided, 5000.0, None, Answer::Undecided),
            (State::Interrupted, 5000.0, Some(100.0), Answer::Undecided),
            (State::Met, 6000.0, Some(100.0), Answer::Pass),
            (State::Exceeded, 9000.0, None, Answer::Pass),
            (State::NotTested, 100.0, Some(1.0), Answer::Undecided),
        ] {
            let found = missed(0, &compared(state, delivered, half));
            assert_eq!(found[0].answer, expected, "{state:?}: {found:#?}");
        }
    }

    /// The story: rates were rounded to whole units, and a volume of 1.4 MiB/s failed with "delivered 1
    /// MiB/s (1 to 1); 1 are needed".
    #[test]
    fn a_rate_below_its_limit_does_not_look_like_it() {
        let mut small = compared(State::Missed, 1.1, Some(0.001));
        small.limits[0].value = 1.4;
        let why = missed(0, &small).remove(0).why;
        assert_eq!(
            why,
            "small delivered 1.1 IOPS (1.099 to 1.101); 1.365 are needed"
        );
        let why = missed(0, &compared(State::Missed, 5000.4, Some(100.0)))
            .remove(0)
            .why;
        assert_eq!(
            why,
            "small delivered 5,000 IOPS (4,900 to 5,100); 5,850 are needed"
        );
    }

    /// The story: a run of three passes with a pause in each was told that "about 2 passes would decide".
    #[test]
    fn more_passes_do_not_decide_what_a_pause_left_open() {
        let found = missed(0, &compared(State::Interrupted, 5000.0, Some(100.0)));
        assert_eq!(found[0].answer, Answer::Undecided);
        assert_eq!(found[0].passes_to_decide, None);
    }

    /// The story: of three passes with 9,000 ± 3,200 where 5,850 are needed, "about 3 passes would decide".
    #[test]
    fn an_open_limit_takes_more_passes_than_there_are() {
        let found = missed(0, &compared(State::Undecided, 9000.0, Some(3200.0)));
        assert_eq!(found[0].passes_to_decide, Some(4));
    }

    /// Three passes with ± 1,000 have a variance of 402² / 5000²: a fourth brings the interval
    /// to ± 640, below the 850 that lie between 5,000 and 5,850.
    #[test]
    fn undecided_says_how_many_passes_would_decide() {
        let found = missed(0, &compared(State::Undecided, 5000.0, Some(1000.0)));
        assert_eq!(found[0].passes_to_decide, Some(4));
    }
}
