//! Which documented limits a run reached, and how the others could be tested.

use blocklab_device::{Binding, Limit, LimitKind, LimitUnit, Load, Phase, grants, predict};
use blocklab_stats::{Summary, confidence};
use blocklab_units::{Bytes, Nanos};
use serde::Serialize;

use crate::compare::LEVEL_PERCENT;

use super::explain::{ABOVE, ExplainedCase, ExplainedRun, NEAR, lasting};
use super::why::Why;

/// How a documented limit compares with what was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Delivered within 2.5 %.
    Met,
    /// More than documented was delivered, and no burst explains it.
    Exceeded,
    /// A case reached it, apart from a pause or an episode of slow operations.
    Interrupted,
    /// A case should have reached it and did not.
    Missed,
    /// The passes do not show whether it was reached: the interval of their mean holds both
    /// answers, or a real device was measured in one pass, which has no interval.
    Undecided,
    /// No case of this run could reach it.
    NotTested,
}

/// A documented limit and what was delivered of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitCheck {
    /// The limit itself; the fields below have its printed form.
    #[serde(skip)]
    pub documented: Limit,
    /// `gp3: volume IOPS`.
    pub limit: String,
    /// The target, where several have addresses of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// In `unit`.
    pub value: f64,
    /// `IOPS`, `MiB/s`, `MB/s`.
    pub unit: &'static str,
    /// Source and date of the documented value.
    pub origin: String,
    /// Met, exceeded, missed, undecided or not tested: the judgement that tables, pages and gates
    /// share.
    pub state: State,
    /// The case that came nearest to it, or went furthest beyond.
    pub case: Option<String>,
    /// What that case delivered, in `unit`.
    pub delivered: Option<f64>,
    /// Where the true figure lies with 95 % probability, in `unit`; `None` with one pass.
    pub delivered_ci95_low: Option<f64>,
    /// Upper end of it.
    pub delivered_ci95_high: Option<f64>,
    /// Variance of the rates of that case's passes, by the square of their mean; `None` with one pass.
    #[serde(skip)]
    pub scatter: Option<f64>,
    /// Set for a limit that was not tested.
    pub how_to_test: Option<HowToTest>,
}

/// How a limit could be tested, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HowToTest {
    /// By this load.
    By(String),
    /// No load can test it; this is why.
    Not(String),
}

/// Every documented rate of the device, compared with what the run delivered.
pub(super) fn check(run: &ExplainedRun<'_>) -> Vec<LimitCheck> {
    let limits = run.given.resolved.spec.limits();
    // The physical maximum of a medium and the peak of a limiter are no promises.
    let promised = limits.iter().filter(|limit| {
        use LimitKind::{Baseline, Burst, Rate};
        matches!(
            limit.name.kind,
            Rate { .. } | Baseline { .. } | Burst { .. }
        )
    });
    promised.map(|limit| check_limit(run, limit)).collect()
}

/// How much of a limit a case delivered.
struct Share<'a> {
    case: &'a ExplainedCase<'a>,
    /// The delivered rate over the limit.
    value: f64,
    /// Whether the limit was expected to bind this case.
    tested: bool,
    /// Whether it is more than any burst or bucket gives.
    beyond: bool,
}

/// A state, and the test whether a case puts the limit into it.
type StateTest = (State, fn(&Share<'_>) -> bool);

/// Compares a limit with the case that came nearest to it.
fn check_limit(run: &ExplainedRun<'_>, limit: &Limit) -> LimitCheck {
    let shares: Vec<Share<'_>> = run
        .cases
        .iter()
        .filter_map(|case| share(run, case, limit))
        .collect();
    // The strongest state comes first: one case that reached the limit shows that it can be
    // reached, whatever the others did. Of the cases in that state, the one with the largest share
    // is shown.
    let states: [StateTest; 5] = [
        (State::Exceeded, |share| share.beyond),
        (State::Met, |share| {
            (share.value - 1.0).abs() <= NEAR || (share.tested && share.value > 1.0 - NEAR)
        }),
        (State::Interrupted, |share| {
            share.tested && share.case.why == Why::Interrupted
        }),
        (State::Missed, |share| share.tested),
        (State::NotTested, |_| true),
    ];
    let found = states.into_iter().find_map(|(state, is_in_state)| {
        let in_state = shares.iter().filter(|share| is_in_state(share));
        Some((state, in_state.max_by(|a, b| a.value.total_cmp(&b.value))?))
    });
    let state = found.map_or(State::NotTested, |(state, _)| state);
    let which = found.map(|(_, share)| share);
    let passes = which.map_or_else(Vec::new, |share| share.case.pass_iops());
    let interval = confidence(&passes, LEVEL_PERCENT / 100.0);
    let in_shares = interval.zip(which).map(|(interval, share)| {
        // From operations per second of the case to shares of the limit.
        let ends = [interval.low, interval.high];
        // Few passes far apart have an interval that reaches below 0, which no rate does.
        ends.map(|iops| iops.max(0.0) / share.case.iops * share.value)
    });
    // One pass of a simulation is enough: its scatter is a setting of the model, not an unknown.
    let state = decided(
        state,
        in_shares,
        run.view.is_simulated() && passes.len() == 1,
    );
    LimitCheck {
        documented: limit.clone(),
        limit: limit.name.to_string(),
        target: run.target(),
        value: limit.value,
        unit: limit.unit.text(),
        origin: limit.origin.to_string(),
        state,
        case: which.map(|share| share.case.view.name.to_owned()),
        delivered: which.map(|share| share.value * limit.value),
        delivered_ci95_low: in_shares.map(|[low, _]| low * limit.value),
        delivered_ci95_high: in_shares.map(|[_, high]| high * limit.value),
        scatter: Summary::new(&passes)
            .filter(|summary| summary.count >= 2)
            .map(|summary| summary.cv().powi(2)),
        how_to_test: (state == State::NotTested).then(|| how_to_test(run, limit)),
    }
}

/// The state after the 95 % interval has been considered. `interval` is given in shares of the
/// limit; `one_pass_decides`: without an interval the state stays as it is.
fn decided(state: State, interval: Option<[f64; 2]>, one_pass_decides: bool) -> State {
    if !matches!(state, State::Met | State::Missed) {
        return state;
    }
    match interval {
        Some([_, high]) if high < 1.0 - NEAR => State::Missed,
        Some([low, _]) if low >= 1.0 - NEAR => State::Met,
        Some(_) => State::Undecided,
        None if one_pass_decides => state,
        None => State::Undecided,
    }
}

/// How much of a limit a case delivered; `None` where the limit does not count its operations, and
/// where no rate of the case can be predicted.
fn share<'a>(
    run: &'a ExplainedRun<'_>,
    case: &'a ExplainedCase<'a>,
    limit: &Limit,
) -> Option<Share<'a>> {
    let allowed = allowed(run, case.load?, limit)?;
    let level = case.level(&limit.name);
    // Limits of volumes name how many volumes have them; those of an instance do not.
    let of_instance = limit.name.volumes.is_none();
    // A limit of the instance holds for all of its volumes together. Another limit may bind for a
    // part of the time only, and is compared with the rate of that part.
    let delivered_iops = if of_instance {
        case.together_iops
    } else {
        level.unwrap_or(case.iops)
    };
    let value = delivered_iops / allowed.iops;
    let expected = case.expected()?;
    let binds = case
        .binding()
        .is_some_and(|binding| binding.is(&limit.name));
    let tested = if case.is_shared {
        // All targets together run at some limit of their instance: at the one that they come near.
        of_instance && (value - 1.0).abs() <= NEAR
    } else {
        // A healthy device of this type may be too slow to reach the limit at this queue depth.
        (binds && case.why != Why::Latency) || level.is_some()
    };
    // A rate above the limit that binds first is above others as well, if no burst of theirs lets it
    // pass. What targets deliver together is compared with the limit that binds first alone.
    let is_above = if binds {
        value > 1.0 + ABOVE
    } else {
        !case.is_shared && delivered_iops > allowed.burst_iops * (1.0 + ABOVE)
    };
    Some(Share {
        case,
        value,
        tested,
        // The expected rate includes what a full bucket or a burst lets pass beyond the limit.
        beyond: is_above && case.iops > expected * (1.0 + ABOVE),
    })
}

/// What a limit lets pass, in operations of a load per second.
struct Allowed {
    /// For ever, or during a burst if the limit is that of a burst.
    iops: f64,
    /// For a short time, at most.
    burst_iops: f64,
}

/// What a limit lets pass of a load; `None` where it does not count the load's operations.
fn allowed(run: &ExplainedRun<'_>, load: Load, limit: &Limit) -> Option<Allowed> {
    let granted = grants(&run.given.resolved.spec, load).ok()?;
    granted.iter().find_map(|grant| {
        let iops = if grant.name == limit.name {
            grant.iops
        } else if grant.burst_name == limit.name {
            grant.burst_iops
        } else {
            return None;
        };
        // Without a burst rate, what a limiter has saved up in a second at most doubles its rate
        // over a second.
        let burst_iops = if grant.burst_iops.is_finite() {
            grant.burst_iops
        } else {
            2.0 * grant.iops
        };
        Some(Allowed { iops, burst_iops })
    })
}

/// Block sizes, in KiB, among which a test is looked for.
const KIB: [u64; 7] = [4, 16, 32, 64, 128, 256, 1024];
/// Operations in flight on each volume, from the smallest load on.
const IN_FLIGHT: [u32; 6] = [1, 4, 16, 32, 64, 256];
/// A limit that binds after this time needs a longer test than usual.
const SOON: Nanos = Nanos::from_secs(30);

/// A load that runs into a limit: the smallest that does at once, else the one that does soonest; if
/// none does, what binds before it.
fn how_to_test(run: &ExplainedRun<'_>, limit: &Limit) -> HowToTest {
    let spec = &run.given.resolved.spec;
    let volumes = u32::try_from(spec.volumes.len()).unwrap_or(1);
    // The block size that comes nearest to this kind of limit: what binds it is worth naming.
    let is_of_operations = limit.unit == LimitUnit::Iops;
    let own_kib = if is_of_operations { 4 } else { 1024 };
    // What remains after a burst is not there before its credits are spent; any other limit is met by
    // a device at rest.
    let is_baseline = matches!(limit.name.kind, LimitKind::Baseline { .. });
    let mut soonest: Option<(Load, Phase)> = None;
    let mut binds_first = None;
    // Random operations, and as many sequential streams as there are volumes.
    for streams in [0, volumes] {
        for read_percent in [100, 0] {
            for (kib, depth) in KIB.iter().flat_map(|kib| IN_FLIGHT.map(|n| (*kib, n))) {
                let load = Load {
                    read_percent,
                    block: Bytes(kib << 10),
                    streams,
                    in_flight: depth * volumes,
                };
                let Ok(predicted) = predict(spec, load) else {
                    let why = "nothing is promised that could be tested";
                    return HowToTest::Not(why.to_owned());
                };
                let found = lasting(&predicted).find(|phase| phase.binding.is(&limit.name));
                match found {
                    Some(phase) if phase.begins <= SOON => {
                        return HowToTest::By(described(load, phase));
                    }
                    Some(phase) if is_much_sooner(phase, soonest.as_ref()) => {
                        soonest = Some((load, phase.clone()));
                    }
                    _ => {}
                }
                let first = if is_baseline {
                    Some(predicted.sustained())
                } else {
                    lasting(&predicted).next()
                };
                let binding = &first.unwrap_or(predicted.sustained()).binding;
                if binds_first.is_none() && kib == own_kib && *binding != Binding::Latency {
                    binds_first = Some(binding.clone());
                }
            }
        }
    }
    if let Some((load, phase)) = soonest {
        return HowToTest::By(described(load, &phase));
    }
    HowToTest::Not(match binds_first {
        Some(binding) => format!("no load can: {binding} binds first"),
        None => "no load of usual size can: latency binds first".to_owned(),
    })
}

/// Whether the limit is reached so much sooner that more load is worth it: by a tenth of the time.
fn is_much_sooner(phase: &Phase, soonest: Option<&(Load, Phase)>) -> bool {
    soonest
        .is_none_or(|(_, earlier)| phase.begins.as_secs_f64() < 0.9 * earlier.begins.as_secs_f64())
}

/// `random reads of 4 KiB, 64 in flight, for longer than 33 min`; the load is of one direction.
fn described(load: Load, phase: &Phase) -> String {
    let pattern = match load.streams {
        0 => "random",
        _ => "sequential",
    };
    let direction = match load.read_percent {
        0 => "writes",
        _ => "reads",
    };
    let long = if phase.begins > SOON {
        format!(", for longer than {}", phase.begins)
    } else {
        String::new()
    };
    format!(
        "{pattern} {direction} of {}, {} in flight{long}",
        load.block, load.in_flight
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: the table of a diagnosis said "missed" where its gate said "undecided", because
    /// only the gate looked at the interval of the passes.
    #[test]
    fn a_limit_is_missed_only_beyond_the_scatter() {
        use State::{Exceeded, Met, Missed, Undecided};
        for (state, interval, expected) in [
            (Missed, Some([0.80, 0.86]), Missed),
            (Missed, Some([0.80, 1.00]), Undecided),
            (Met, Some([0.98, 1.02]), Met),
            (Met, Some([0.90, 1.10]), Undecided),
            (Exceeded, Some([1.1, 1.2]), Exceeded),
            (Missed, None, Undecided),
            (Met, None, Undecided),
        ] {
            assert_eq!(
                decided(state, interval, false),
                expected,
                "{state:?} {interval:?}"
            );
        }
        assert_eq!(decided(Missed, None, true), Missed);
        assert_eq!(decided(Met, None, true), Met);
    }
}
