//! What single values of a job can be.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    BlockSizes, CallFlags, Content, Engine, ErrorPolicy, IoPriority, Mix, Pace, Pattern, Rate,
    SizeMix, Spread, TargetOrder, UringOptions, Zone,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

pub(super) fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        (0..1_u64 << 53).prop_map(Bytes),
        (0..1_u64 << 20).prop_map(|kib| Bytes(kib << 10)),
    ]
}

pub(super) fn block() -> impl Strategy<Value = Bytes> {
    (1..=Bytes::GIB.0).prop_map(Bytes)
}

/// Below 104 days: beyond, a float of nanoseconds is not exact.
pub(super) fn time() -> impl Strategy<Value = Nanos> {
    prop_oneof![
        (1..1_u64 << 53).prop_map(Nanos),
        (1..100_000_u64).prop_map(Nanos::from_millis),
    ]
}

pub(super) fn name() -> impl Strategy<Value = String> {
    "[^\\p{C}\\p{Z}][^\\p{C}]{0,12}"
}

pub(super) fn engine() -> impl Strategy<Value = Engine> {
    prop_oneof![
        Just(Engine::Sync),
        Just(Engine::Psync),
        any::<[bool; 3]>().prop_map(|[hipri, nowait, uncached]| {
            Engine::Pvsync2(CallFlags {
                hipri,
                nowait,
                uncached,
            })
        }),
        Just(Engine::Libaio),
        any::<[bool; 4]>().prop_map(|[sqpoll, iopoll, fixed_buffers, fixed_files]| {
            Engine::IoUring(UringOptions {
                sqpoll,
                iopoll,
                fixed_buffers,
                fixed_files,
            })
        }),
        Just(Engine::Mmap),
        Just(Engine::Null),
    ]
}

pub(super) fn spread() -> impl Strategy<Value = Spread> {
    prop_oneof![
        Just(Spread::Staggered),
        Just(Spread::Same),
        Just(Spread::Sliced),
        bytes().prop_map(Spread::Increment),
    ]
}

pub(super) fn zones() -> impl Strategy<Value = Vec<Zone>> {
    (0.0..=100.0_f64, 0.1..=99.9_f64).prop_map(|(access, space)| {
        let zone = |access_percent, space_percent| Zone {
            access_percent,
            space_percent,
        };
        vec![zone(access, space), zone(100.0 - access, 100.0 - space)]
    })
}

pub(super) fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Sequential),
        block().prop_map(|stride| Pattern::Strided { stride }),
        block().prop_map(|back| Pattern::Backward { back }),
        any::<bool>().prop_map(|every_block_once| Pattern::Random { every_block_once }),
        (0..=100_u8).prop_map(Pattern::PercentRandom),
        (1.001..99.0_f64).prop_map(|theta| Pattern::Zipf { theta }),
        (0.001..0.999_f64).prop_map(|h| Pattern::Pareto { h }),
        (0.001..=100.0_f64).prop_map(|deviation_percent| Pattern::Normal { deviation_percent }),
        zones().prop_map(Pattern::Zones),
    ]
}

pub(super) fn mix() -> impl Strategy<Value = Mix> {
    (0..=100_u8, 0..=100_u8).prop_map(|(a, b)| {
        let (low, high) = (a.min(b), a.max(b));
        Mix {
            read: low,
            write: high - low,
            trim: 100 - high,
        }
    })
}

pub(super) fn size_mix() -> impl Strategy<Value = SizeMix> {
    vec((block(), 1..=u32::MAX), 1..4).prop_map(SizeMix)
}

pub(super) fn sizes() -> impl Strategy<Value = BlockSizes> {
    prop_oneof![
        block().prop_map(BlockSizes::fixed),
        (size_mix(), size_mix(), size_mix()).prop_map(|(read, write, trim)| BlockSizes {
            read,
            write,
            trim
        }),
        (size_mix(), size_mix()).prop_map(|(read, write)| BlockSizes {
            read,
            trim: write.clone(),
            write,
        }),
    ]
}

pub(super) fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        Just(Content::Zero),
        Just(Content::Random),
        Just(Content::Same),
        Just(Content::Fresh),
        (0..=100_u8, 0..=100_u8).prop_map(|(compress_percent, dedupe_percent)| Content::Shaped {
            compress_percent,
            dedupe_percent,
        }),
    ]
}

pub(super) fn pace() -> impl Strategy<Value = Pace> {
    let rate = prop_oneof![
        (0.001..9e11_f64).prop_map(Rate::Iops),
        (0.001..9e11_f64).prop_map(Rate::Bytes),
    ];
    prop_oneof![
        Just(Pace::Closed),
        rate.clone().prop_map(Pace::Capped),
        rate.clone().prop_map(Pace::OpenFixed),
        rate.prop_map(Pace::OpenPoisson),
        (rates(), any::<bool>()).prop_map(|(rates, poisson)| Pace::ByDirection { rates, poisson }),
    ]
}

/// Values of one kind, at least one.
pub(super) fn rates() -> impl Strategy<Value = [Option<Rate>; 3]> {
    let numbers = [
        of(0.001..9e11_f64),
        of(0.001..9e11_f64),
        of(0.001..9e11_f64),
    ];
    (numbers, any::<bool>()).prop_map(|([read, write, trim], iops)| {
        let read = read.or((write.is_none() && trim.is_none()).then_some(1.0));
        let kind = if iops { Rate::Iops } else { Rate::Bytes };
        [read, write, trim].map(|rate| rate.map(kind))
    })
}

pub(super) fn target_order() -> impl Strategy<Value = TargetOrder> {
    prop_oneof![
        Just(TargetOrder::RoundRobin),
        Just(TargetOrder::Random),
        Just(TargetOrder::PerThread),
        Just(TargetOrder::OneByOne),
        (1.001..99.0_f64).prop_map(|theta| TargetOrder::Zipf { theta }),
        (0.001..0.999_f64).prop_map(|h| TargetOrder::Pareto { h }),
        (0.001..=100.0_f64).prop_map(|deviation_percent| TargetOrder::Normal { deviation_percent }),
    ]
}

pub(super) fn on_error() -> impl Strategy<Value = ErrorPolicy> {
    prop_oneof![
        Just(ErrorPolicy::Stop),
        Just(ErrorPolicy::Continue),
        any::<[bool; 3]>().prop_map(|[read, write, verify]| ErrorPolicy::ContinueOn {
            read,
            write,
            verify,
        }),
    ]
}

pub(super) fn io_priority() -> impl Strategy<Value = IoPriority> {
    (1..=3_u8, 0..=7_u8).prop_map(|(class, level)| IoPriority { class, level })
}
