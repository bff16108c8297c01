//! What holds for any device and any load.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::{
    Accounting, Answer, Cap, Covers, Credit, Device, DeviceSpec, Direction, Io, Origin, Rate,
};
use blocklab_units::{Bytes, Nanos};
use drive::{cap, constant, device, volume};
use proptest::prelude::*;

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![
        4 => Just(Direction::Read),
        4 => Just(Direction::Write),
        1 => Just(Direction::Trim),
        1 => Just(Direction::Flush),
    ]
}

/// Gaps before operations, and the operations: somewhere on 1 GiB, or right after the last one.
fn arrivals() -> impl Strategy<Value = Vec<(Nanos, Io)>> {
    let one = (
        0u64..3_000_000,
        direction(),
        0u64..2000,
        1u32..600,
        any::<bool>(),
    );
    proptest::collection::vec(one, 1..300).prop_map(|list| {
        let (mut now, mut end) = (0, 0);
        let arrivals = list
            .into_iter()
            .map(|(gap, direction, at, sectors, follows)| {
                now += gap * u64::from(gap % 3 != 0);
                let offset = if follows { end } else { at * 262_144 };
                let len = match direction {
                    Direction::Flush => 0,
                    _ => sectors * 512,
                };
                end = (offset + u64::from(len)) % (1 << 29);
                let io = Io {
                    direction,
                    offset,
                    len,
                };
                (Nanos(now), io)
            });
        arrivals.collect()
    })
}

fn answers(spec: &DeviceSpec, arrivals: &[(Nanos, Io)]) -> Vec<Answer> {
    let mut device = Device::new(spec, 7).expect("sound");
    let all = arrivals.iter().map(|(now, io)| device.admit(*now, *io));
    all.collect()
}

/// The most that was answered in any window beyond what bucket and rate allow.
fn excess(cap: &Cap, arrivals: &[(Nanos, Io)], answers: &[Answer]) -> f64 {
    let units = |io: &Io| match (io.direction, cap.rate.counts_bytes()) {
        (Direction::Flush, _) | (Direction::Trim, true) => 0.0,
        (_, true) => f64::from(io.len),
        (_, false) => 1.0,
    };
    let covered = |io: &Io| match cap.covers {
        Covers::All => true,
        Covers::Reads => io.direction == Direction::Read,
        Covers::Writes => io.direction != Direction::Read,
    };
    let counted = arrivals
        .iter()
        .zip(answers)
        .filter(|((_, io), _)| covered(io));
    let mut served: Vec<_> = counted.map(|((_, io), it)| (it.at, units(io))).collect();
    served.retain(|(_, units)| *units > 0.0);
    served.sort_by_key(|(at, _)| *at);
    let rate = cap.rate.per_second();
    let bucket = rate * cap.bucket.as_secs_f64();
    let mut worst = f64::MIN;
    for first in 0..served.len() {
        let mut sum = 0.0;
        for (at, units) in &served[first..] {
            // Paid after admission: the window's last operation is still to be paid for.
            let window = at.since(served[first].0).as_secs_f64() + 2e-9;
            worst = f64::max(worst, sum - bucket - rate * window);
            sum += units;
        }
    }
    worst
}

fn any_cap() -> impl Strategy<Value = Cap> {
    let rate = prop_oneof![
        (100.0..20_000.0).prop_map(Rate::Iops),
        (1.0..500.0).prop_map(Rate::MibPerS),
        (1.0..500.0).prop_map(Rate::MbPerS),
    ];
    let covers = prop_oneof![Just(Covers::All), Just(Covers::Reads), Just(Covers::Writes)];
    (rate, covers, 0u64..50).prop_map(|(rate, covers, millis)| Cap {
        covers,
        bucket: Nanos::from_millis(millis),
        ..cap(rate)
    })
}

fn with_caps(caps: Vec<Cap>) -> DeviceSpec {
    let mut limited = volume(1, constant(1));
    limited.caps = caps;
    device(vec![limited])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_window_gets_more_than_bucket_and_rate(cap in any_cap(), arrivals in arrivals()) {
        let answers = answers(&with_caps(vec![cap.clone()]), &arrivals);
        let excess = excess(&cap, &arrivals, &answers);
        prop_assert!(excess <= 1e-3, "{excess} too many");
    }

    #[test]
    fn the_narrowest_of_several_holds(caps in proptest::collection::vec(any_cap(), 1..5), arrivals in arrivals()) {
        let answers = answers(&with_caps(caps.clone()), &arrivals);
        // One that sees everything has already counted what a budget of one direction keeps
        // back, and is exact only without such a budget.
        let directed = caps.iter().any(|cap| cap.covers != Covers::All);
        let last = caps.iter().rev().filter(|cap| cap.covers != Covers::All);
        let exact: Vec<_> = if directed { last.take(1).collect() } else { caps.iter().rev().take(1).collect() };
        for cap in exact {
            let excess = excess(cap, &arrivals, &answers);
            prop_assert!(excess <= 1e-3, "{excess} too many for {cap:?}");
        }
    }

    #[test]
    fn a_higher_limit_makes_nothing_later(cap in any_cap(), factor in 1.0..10.0f64, arrivals in arrivals()) {
        let raised = Cap {
            rate: match cap.rate {
                Rate::Iops(it) => Rate::Iops(it * factor),
                Rate::MibPerS(it) => Rate::MibPerS(it * factor),
                Rate::MbPerS(it) => Rate::MbPerS(it * factor),
            },
            ..cap.clone()
        };
        let slow = answers(&with_caps(vec![cap]), &arrivals);
        let fast = answers(&with_caps(vec![raised]), &arrivals);
        for (slow, fast) in slow.iter().zip(&fast) {
            // A bucket in time is larger at a higher rate, up to the rounding of one unit.
            prop_assert!(fast.at.0 <= slow.at.0 + 1, "{fast:?} after {slow:?}");
        }
    }

    #[test]
    fn balances_stay_within_their_buckets(initial_share in 0.0..=1.0f64, arrivals in arrivals()) {
        let mut bursting = volume(1, constant(100_000));
        bursting.accounting = Accounting::WholeUnits { unit: Bytes::MIB };
        bursting.credits = vec![Credit {
            name: "credits".to_owned(),
            baseline: Rate::MibPerS(10.0),
            burst: Rate::MibPerS(100.0),
            capacity: 1e8,
            initial_share,
            full_again: None,
            origin: Origin::Given,
        }];
        let mut device = Device::new(&device(vec![bursting]), 1).expect("sound");
        for (now, io) in arrivals {
            device.admit(now, io);
            let balance = device.balances(now)[0].left;
            prop_assert!((0.0..=1e8).contains(&balance), "{balance}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_answers(volumes in 1usize..5, arrivals in arrivals()) {
        let service = blocklab_device::class::Class::I2Sata.service();
        let service = service.saturating_at(45_000.0, 39_000.0, Origin::Given);
        let spec = device(vec![volume(1, service); volumes]);
        let first = answers(&spec, &arrivals);
        prop_assert_eq!(&first, &answers(&spec, &arrivals));
        for ((now, _), answer) in arrivals.iter().zip(&first) {
            prop_assert!(answer.at > *now);
        }
    }
}

#[test]
#[should_panic(expected = "order of time")]
fn an_arrival_in_the_past_is_a_broken_promise() {
    let mut device = Device::new(&with_caps(Vec::new()), 1).expect("sound");
    let io = Io {
        direction: Direction::Read,
        offset: 0,
        len: 512,
    };
    device.admit(Nanos(10), io);
    device.admit(Nanos(9), io);
}
