//! When a job ends.

use blocklab_units::Nanos;
use blocklab_workload::{Limit, Steady, SteadyVariable, Stop};
use proptest::option::of;
use proptest::prelude::*;

use super::values::{block, time};

pub(super) fn steady() -> impl Strategy<Value = Steady> {
    let variable = prop_oneof![
        Just(SteadyVariable::Iops),
        Just(SteadyVariable::Bandwidth),
        Just(SteadyVariable::Latency),
    ];
    prop_oneof![
        (variable.clone(), time()).prop_map(|(variable, round)| Steady::Snia { variable, round }),
        (variable.clone(), time(), 3..=10_000_u32, limit()).prop_map(
            |(variable, round, rounds, limit)| Steady::Slope {
                variable,
                round,
                rounds,
                limit,
            }
        ),
        (variable, time(), 1..=10_000_u32, limit()).prop_map(|(variable, round, rounds, limit)| {
            Steady::Deviation {
                variable,
                round,
                rounds,
                limit,
            }
        }),
    ]
}

pub(super) fn limit() -> impl Strategy<Value = Limit> {
    let number = 0.001..1e6_f64;
    prop_oneof![
        number.clone().prop_map(Limit::Percent),
        number.prop_map(Limit::Absolute),
    ]
}

pub(super) fn stop() -> impl Strategy<Value = Stop> {
    let bytes = of(block());
    let steady = of((steady(), time()));
    (of(time()), bytes, of(1..=u32::MAX), steady).prop_map(|(runtime, bytes, loops, steady)| {
        let endless = runtime.is_none() && bytes.is_none() && loops.is_none();
        Stop {
            runtime: runtime.or(endless.then_some(Nanos::from_secs(10))),
            bytes,
            loops,
            steady: steady.map(|(steady, _)| steady),
            steady_after: steady.map_or(Nanos::ZERO, |(_, after)| after),
            ..Stop::default()
        }
    })
}
