//! Keys that few jobs use.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Advice, Batch, Checksum, Flow, Hints, Job, Lifetime, MinRate, MovingWindow, Pattern, Region,
    SizeDraw, Spread, Verify, When,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::job::job;
use super::values::{block, bytes, rates, target_order, time};

prop_compose! {
    pub(super) fn verify()(
        checksum in prop_oneof![
            Just(Checksum::Crc32c), Just(Checksum::Sha3_512), Just(Checksum::Header),
            Just(Checksum::Xxhash),
        ],
        interval in of(512..1_u64 << 30),
        when in prop_oneof![
            Just(When::AfterWrites), Just(When::Never), Just(When::Only),
            (1..1_u64 << 60, 1..1_u64 << 60).prop_map(|(every, batch)| When::Backlog { every, batch }),
        ],
        fatal in any::<bool>(),
    ) -> Verify {
        Verify { interval: interval.map(Bytes), when, fatal, ..Verify::new(checksum) }
    }
}

pub(super) fn hints(advice: usize, lifetime: usize) -> Hints {
    use Lifetime::{Extreme, Long, Medium, None as Unknown, Short};
    Hints {
        advice: [
            Advice::ByPattern,
            Advice::None,
            Advice::Random,
            Advice::Sequential,
        ][advice],
        lifetime: [Unknown, Short, Medium, Long, Extreme]
            .get(lifetime)
            .copied(),
    }
}

prop_compose! {
    /// Whatever the everyday settings leave alone.
    pub(super) fn finer()(
        job in job(),
        target_order in target_order(),
        draw in 0..3_usize,
        align in of(block()),
        window in of((block(), bytes(), bytes())),
        flags in any::<[bool; 5]>(),
        fill in of(vec(any::<u8>(), 1..20)),
        unit in 512..1_u64 << 30,
        least in of((rates(), time())),
        flow in of((any::<u32>(), 1..=u32::MAX, time())),
        advice in 0..4_usize,
        lifetime in 0..6_usize,
    ) -> Job {
        let [own_position, trim_first, no_overlap, shared, low] = flags;
        let largest = job.sizes.largest();
        let (pattern, spread) = if shared && !own_position { (Pattern::Sequential, Spread::Shared) } else { (job.pattern.clone(), job.region.spread) };
        Job {
            target_order,
            size_draw: [SizeDraw::Listed, SizeDraw::Multiples, SizeDraw::AnyByte][draw],
            align: align.map(|align| [align; 3]),
            hints: hints(advice, lifetime),
            window: window.map(|(bytes, range, skip)| MovingWindow {
                bytes,
                range: Bytes(range.0.max(largest.0)),
                skip,
            }),
            per_direction_position: own_position,
            trim_first: trim_first && job.mix.trim == 0,
            no_overlap,
            fill: fill.map(Into::into),
            content_unit: Bytes(unit),
            min_rate: least.map(|(rates, cycle)| MinRate {
                rates,
                cycle: Nanos(cycle.0.max(1_000_000)),
                settle: Nanos(cycle.0 / 2),
            }),
            flow: flow.map(|(group, weight, pause)| Flow { group, weight, pause }),
            batch: Batch { low: if low { job.depth - 1 } else { 0 }, ..job.batch },
            pattern,
            region: Region { spread, ..job.region },
            ..job
        }
    }
}
