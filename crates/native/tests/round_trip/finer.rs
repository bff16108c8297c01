//! What only few jobs ask for.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Advice, Batch, Checksum, Flow, Hints, Hits, Job, Lifetime, MinRate, MostErrors, MovingWindow,
    Pattern, PatternPart, Pooled, Region, Runs, Share, SizeDraw, Spread, Trims, Verify, When,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::job::job;
use super::values::{block, bytes, name, rates, target_order, time};

prop_compose! {
    pub(super) fn verify()(
        checksum in prop_oneof![
            Just(Checksum::Crc32c), Just(Checksum::Sha3_512), Just(Checksum::PatternHeader),
            Just(Checksum::Null), Just(Checksum::Header), Just(Checksum::Xxhash),
        ],
        interval in of(512..1_u64 << 30),
        offset in 0..400_u64,
        pattern in vec(prop_oneof![
            vec(any::<u8>(), 1..9).prop_map(PatternPart::Bytes),
            Just(PatternPart::Offset),
        ], 1..4),
        when in prop_oneof![
            Just(When::AfterWrites), Just(When::Never), Just(When::Only), Just(When::OnlyPlaces),
            (1..1_u64 << 60, 1..1_u64 << 60).prop_map(|(every, batch)| When::Backlog { every, batch }),
        ],
        pass in of(1..1_u64 << 60),
        flags in any::<[bool; 3]>(),
        keep in any::<u32>(),
        first in of(0..1_u64 << 60),
        trims in of((0..=100_u8, 1..1_u64 << 60, 1..1_u64 << 60)
            .prop_map(|(percent, every, batch)| Trims { percent, every, batch })),
        plain in any::<bool>(),
    ) -> Verify {
        if plain && checksum != Checksum::PatternHeader {
            return Verify::new(checksum);
        }
        Verify {
            checksum,
            interval: Some(Bytes(interval.unwrap_or(4096))),
            offset: Bytes(offset),
            pattern: Some(pattern.into()),
            when,
            pass: pass.map(Bytes),
            fatal: flags[0],
            keep,
            first,
            trimmed_zero: flags[1],
            in_time: flags[2],
            trims,
        }
    }
}

prop_compose! {
    pub(super) fn pool()(
        name in name(),
        counts in any::<[u32; 3]>(),
        share in of((any::<u32>(), 0.0..1e9_f64)),
        uniform in any::<bool>(),
        hits in of((0.0..100.0_f64, 0.0..100.0_f64, bytes(), bytes())),
        bursts in vec((0.0..1e9_f64, 0.0..1e9_f64), 0..3),
        errors in of(1..u32::MAX),
    ) -> Pooled {
        let [depth, rank, queue] = counts;
        Pooled {
            rank,
            queue,
            share: share.map(|(group, weight)| Share { group, weight }),
            uniform,
            hits: hits.map(|(read_percent, write_percent, offset, len)| Hits {
                read_percent,
                write_percent,
                offset: offset.0,
                len: len.0,
            }),
            bursts,
            most_errors: errors.map(MostErrors::new),
            ..Pooled::new(&name, depth)
        }
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
        order in (target_order(), 1..=u32::MAX),
        draw in 0..3_usize,
        align in of([block(), block(), block()]),
        runs in of((1..=u32::MAX, any::<bool>(), 0..100_u8, of(block()), any::<bool>())),
        window in of((block(), bytes(), bytes())),
        flags in any::<[bool; 5]>(),
        fill in of(vec(any::<u8>(), 1..20)),
        unit in 512..1_u64 << 30,
        least in of((rates(), time())),
        flow in of((any::<u32>(), 1..=u32::MAX, time())),
        draws in of("[a-z0-9.]{1,8}"),
        advice in 0..4_usize,
        lifetime in 0..6_usize,
    ) -> Job {
        let [apart, trim_first, no_overlap, shared, low] = flags;
        let largest = job.sizes.largest();
        let (pattern, spread) = match shared && !apart {
            true => (Pattern::Sequential, Spread::Shared),
            false => (job.pattern.clone(), job.region.spread),
        };
        Job {
            target_order: order.0,
            target_turn: order.1,
            size_draw: [SizeDraw::Listed, SizeDraw::Multiples, SizeDraw::AnyByte][draw],
            align,
            rng_label: draws,
            hints: hints(advice, lifetime),
            runs: runs.map(|(length, same, follow_percent, step, one_way)| Runs {
                length,
                same,
                follow_percent,
                step,
                one_way,
            }),
            window: window.map(|(bytes, range, skip)| MovingWindow {
                bytes,
                range: Bytes(range.0.max(largest.0)),
                skip,
            }),
            per_direction_position: apart,
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
