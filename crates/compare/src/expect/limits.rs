//! Which documented limits a run reached, and how the others could be tested.

use blocklab_device::{Binding, Limit, LimitKind, LimitUnit, Load, Phase, grants, predict};
use blocklab_stats::{confidence, log_variance};
use blocklab_units::{Bytes, Nanos};
use serde::Serialize;

use crate::compare::LEVEL_PERCENT;

use super::bench::{ABOVE, Bench, NEAR, Seen, lasting};
use super::why::Why;

/// How a documented limit compares with what was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Delivered within 2.5 %.
    Met,
    /// More than documented was delivered, and no burst explains it.
    Exceeded,
    /// A case reached it, but for a pause or an episode of slow operations.
    Interrupted,
    /// A case should have reached it and did not.
    Missed,
    /// The passes do not show whether it was reached: their interval lies on both sides, or a real
    /// device was measured in one pass.
    Undecided,
    /// No case of this run could reach it.
    NotTested,
}

/// A documented limit and what was delivered of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitCheck {
    /// The limit itself; the fields below have what of it is printed.
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
    /// Source and date.
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
    /// Variance of the logarithms of its passes.
    #[serde(skip)]
    pub scatter: Option<f64>,
    /// Only for a limit that was not tested.
    pub how_to_test: Option<HowToTest>,
}

/// How a limit could be tested, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HowToTest {
    /// By this load.
    By(String),
    /// By none, and why.
    Not(String),
}

/// Every documented rate of the device.
pub(super) fn check(bench: &Bench<'_>) -> Vec<LimitCheck> {
    let limits = bench.given.resolved.spec.limits();
    // What the medium can do, or lets pass for a moment, is no promise.
    let promised = limits.iter().filter(|limit| {
        use LimitKind::{Baseline, Burst, Rate};
        matches!(
            limit.name.kind,
            Rate { .. } | Baseline { .. } | Burst { .. }
        )
    });
    promised.map(|limit| one(bench, limit)).collect()
}

/// What a case delivered of a limit, as a share of it.
struct Share<'a> {
    seen: &'a Seen<'a>,
    value: f64,
    /// Whether it was to bind this case.
    tested: bool,
    /// More than any burst or bucket gives.
    beyond: bool,
}

/// A state, and whether a share is in it.
type StateTest = (State, fn(&Share<'_>) -> bool);

fn one(bench: &Bench<'_>, limit: &Limit) -> LimitCheck {
    let shares: Vec<Share<'_>> = bench
        .seen
        .iter()
        .filter_map(|seen| share(bench, seen, limit))
        .collect();
    // From the strongest state on: the first that any share is in, with the largest of these.
    let states: [StateTest; 5] = [
        (State::Exceeded, |share| share.beyond),
        (State::Met, |share| {
            (share.value - 1.0).abs() <= NEAR || (share.tested && share.value > 1.0 - NEAR)
        }),
        (State::Interrupted, |share| {
            share.tested && share.seen.why == Why::Interrupted
        }),
        (State::Missed, |share| share.tested),
        (State::NotTested, |_| true),
    ];
    let found = states.into_iter().find_map(|(state, wanted)| {
        let wanted = shares.iter().filter(|share| wanted(share));
        Some((state, wanted.max_by(|a, b| a.value.total_cmp(&b.value))?))
    });
    let state = found.map_or(State::NotTested, |(state, _)| state);
    let which = found.map(|(_, share)| share);
    let passes = which.map_or_else(Vec::new, |share| share.seen.pass_iops());
    let interval = confidence(&passes, LEVEL_PERCENT / 100.0);
    let in_shares = interval.zip(which).map(|(interval, share)| {
        let ends = [interval.low, interval.high];
        ends.map(|iops| iops / share.seen.iops * share.value)
    });
    // Another pass of a simulation is another draw of the same chances.
    let state = decided(
        state,
        in_shares,
        bench.cases.is_simulated() && passes.len() == 1,
    );
    LimitCheck {
        documented: limit.clone(),
        limit: limit.name.to_string(),
        target: bench.target(),
        value: limit.value,
        unit: limit.unit.text(),
        origin: limit.origin.to_string(),
        state,
        case: which.map(|share| share.seen.case.name.to_owned()),
        delivered: which.map(|share| share.value * limit.value),
        delivered_ci95_low: in_shares.map(|[low, _]| low * limit.value),
        delivered_ci95_high: in_shares.map(|[_, high]| high * limit.value),
        scatter: log_variance(&passes),
        how_to_test: (state == State::NotTested).then(|| how(bench, limit)),
    }
}

/// The state that the passes show: where the 95 % interval lies on both sides of what counts as
/// reached, they show none.
fn decided(state: State, interval: Option<[f64; 2]>, by_one_pass: bool) -> State {
    if !matches!(state, State::Met | State::Missed) {
        return state;
    }
    match interval {
        Some([_, high]) if high < 1.0 - NEAR => State::Missed,
        Some([low, _]) if low >= 1.0 - NEAR => State::Met,
        Some(_) => State::Undecided,
        None if by_one_pass => state,
        None => State::Undecided,
    }
}

fn share<'a>(bench: &'a Bench<'_>, seen: &'a Seen<'a>, limit: &Limit) -> Option<Share<'a>> {
    let granted = grants(&bench.given.resolved.spec, seen.load?).ok()?;
    let rate = granted.iter().find_map(|grant| {
        let names = [
            (&grant.name, grant.iops),
            (&grant.burst_name, grant.burst_iops),
        ];
        let found = names.into_iter().find(|(name, _)| *name == &limit.name);
        found.map(|(_, rate)| rate)
    })?;
    let level = seen.level(&limit.name);
    let of_instance = limit.name.volumes.is_none();
    // What an instance lets pass it lets pass for all of its volumes together.
    let counted = if of_instance {
        seen.together_iops
    } else {
        level.unwrap_or(seen.iops)
    };
    let value = counted / rate;
    // A full bucket, or a burst, lets more pass: what is beyond must be beyond that too.
    let most = seen.expected()?;
    let binds = seen
        .binding()
        .is_some_and(|binding| binding.is(&limit.name));
    Some(Share {
        seen,
        value,
        tested: if seen.is_shared {
            of_instance && (value - 1.0).abs() <= NEAR
        } else {
            // A healthy device of this type may be too slow to reach it with so few in flight.
            (binds && seen.why != Why::Latency) || level.is_some()
        },
        beyond: binds && value > 1.0 + ABOVE && seen.iops > most * (1.0 + ABOVE),
    })
}

/// Sizes to look for a test among.
const KIB: [u64; 7] = [4, 16, 32, 64, 128, 256, 1024];
const IN_FLIGHT: [u32; 6] = [1, 4, 16, 32, 64, 256];
/// A phase that begins earlier needs no long test.
const SOON: Nanos = Nanos::from_secs(30);

/// The smallest load that runs into a limit, or what binds before it.
fn how(bench: &Bench<'_>, limit: &Limit) -> HowToTest {
    let spec = &bench.given.resolved.spec;
    let volumes = u32::try_from(spec.volumes.len()).unwrap_or(1);
    // Small operations load the IOPS, and of the others the largest load the bytes.
    let is_of_operations = limit.unit == LimitUnit::Iops;
    let own_kib = if is_of_operations { 4 } else { 1024 };
    let mut first = None;
    for (streams, pattern) in [(0, "random"), (volumes, "sequential")] {
        for (read_percent, direction) in [(100, "reads"), (0, "writes")] {
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
                if let Some(phase) = found {
                    return HowToTest::By(words(pattern, direction, load, phase));
                }
                let binding = &predicted.sustained().binding;
                if first.is_none() && kib == own_kib && *binding != Binding::Latency {
                    first = Some(binding.clone());
                }
            }
        }
    }
    HowToTest::Not(match first {
        Some(binding) => format!("no load can: {binding} binds first"),
        None => "no load of usual size can: latency binds first".to_owned(),
    })
}

fn words(pattern: &str, direction: &str, load: Load, phase: &Phase) -> String {
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
