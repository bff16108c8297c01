//! A plan written as text is the same plan again, whatever it holds.

use blocklab_dialect::native::{parse, render};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Advice, Aggregate, Batch, BlockSizes, CallFlags, Case, Checksum, Content, Direction,
    Durability, EndsOthers, Engine, ErrorPolicy, Flow, Flush, Hints, Hits, IoPriority, Job,
    LatencyTarget, Least, Lifetime, Limit, Log, Measure, Mix, MovingWindow, Order, Pace, Pattern,
    PatternPart, PauseBefore, Plan, Pooled, Priority, PriorityShare, Rate, Region, Runs, Share,
    SizeDraw, SizeMix, Spread, Standing, Steady, SteadyVariable, Stop, TargetOrder, Think,
    ThinkStyle, Trims, UringOptions, Verify, When, Workload, Zone,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        (0..1_u64 << 53).prop_map(Bytes),
        (0..1_u64 << 20).prop_map(|kib| Bytes(kib << 10)),
    ]
}

fn block() -> impl Strategy<Value = Bytes> {
    (1..=Bytes::GIB.0).prop_map(Bytes)
}

/// Below 104 days: beyond, a float of nanoseconds is not exact.
fn time() -> impl Strategy<Value = Nanos> {
    prop_oneof![
        (1..1_u64 << 53).prop_map(Nanos),
        (1..100_000_u64).prop_map(Nanos::from_millis),
    ]
}

fn name() -> impl Strategy<Value = String> {
    "[^\\p{C}\\p{Z}][^\\p{C}]{0,12}"
}

fn engine() -> impl Strategy<Value = Engine> {
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

fn spread() -> impl Strategy<Value = Spread> {
    prop_oneof![
        Just(Spread::Staggered),
        Just(Spread::Same),
        Just(Spread::Sliced),
        bytes().prop_map(Spread::Increment),
    ]
}

fn zones() -> impl Strategy<Value = Vec<Zone>> {
    (0.0..=100.0_f64, 0.1..=99.9_f64).prop_map(|(access, space)| {
        let zone = |access_percent, space_percent| Zone {
            access_percent,
            space_percent,
        };
        vec![zone(access, space), zone(100.0 - access, 100.0 - space)]
    })
}

fn pattern() -> impl Strategy<Value = Pattern> {
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

fn mix() -> impl Strategy<Value = Mix> {
    (0..=100_u8, 0..=100_u8).prop_map(|(a, b)| {
        let (low, high) = (a.min(b), a.max(b));
        Mix {
            read: low,
            write: high - low,
            trim: 100 - high,
        }
    })
}

fn size_mix() -> impl Strategy<Value = SizeMix> {
    vec((block(), 1..=u32::MAX), 1..4).prop_map(SizeMix)
}

fn sizes() -> impl Strategy<Value = BlockSizes> {
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

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        Just(Content::Zero),
        Just(Content::Random),
        Just(Content::Fresh),
        Just(Content::Window { size: Bytes::GIB }),
        (0..=100_u8, 0..=100_u8).prop_map(|(compress_percent, dedupe_percent)| Content::Shaped {
            compress_percent,
            dedupe_percent,
        }),
    ]
}

fn pace() -> impl Strategy<Value = Pace> {
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

/// Of one kind, and one at least.
fn rates() -> impl Strategy<Value = [Option<Rate>; 3]> {
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

fn target_order() -> impl Strategy<Value = TargetOrder> {
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

fn on_error() -> impl Strategy<Value = ErrorPolicy> {
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

prop_compose! {
    fn verify()(
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
    fn pool()(
        name in name(),
        counts in any::<[u32; 3]>(),
        share in of((any::<u32>(), 0.0..1e9_f64)),
        uniform in any::<bool>(),
        hits in of((0.0..100.0_f64, 0.0..100.0_f64, bytes(), bytes())),
        bursts in vec((0.0..1e9_f64, 0.0..1e9_f64), 0..3),
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
            ..Pooled::new(&name, depth)
        }
    }
}

fn hints(advice: usize, lifetime: usize) -> Hints {
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
    fn finer()(
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
            draws,
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
            positions_apart: apart,
            trim_first: trim_first && job.mix.trim == 0,
            no_overlap,
            fill: fill.map(Into::into),
            content_unit: Bytes(unit),
            least: least.map(|(rates, cycle)| Least {
                rates,
                cycle: Nanos(cycle.0.max(1_000_000)),
            }),
            flow: flow.map(|(group, weight, pause)| Flow { group, weight, pause }),
            batch: Batch { low: if low { job.depth - 1 } else { 0 }, ..job.batch },
            pattern,
            region: Region { spread, ..job.region },
            ..job
        }
    }
}

fn io_priority() -> impl Strategy<Value = IoPriority> {
    (1..=3_u8, 0..=7_u8).prop_map(|(class, level)| IoPriority { class, level })
}

/// Four of them are at most all of the operations.
fn priority_share() -> impl Strategy<Value = PriorityShare> {
    let share = (any::<bool>(), of(block()), 0..=25_u8, io_priority());
    share.prop_map(|(reads, size, percent, priority)| PriorityShare {
        direction: if reads {
            Direction::Read
        } else {
            Direction::Write
        },
        size,
        percent,
        priority,
    })
}

prop_compose! {
    fn any_job()(
        job in finer(),
        target in of((time(), time(), 0.001..=100.0_f64, any::<bool>())),
        style in (time(), any::<bool>(), of(time())),
        delay in time(),
        ios in of(1..1_u64 << 60),
        range in (any::<u32>(), 0..8_u32),
        on_error in on_error(),
        ignored in vec((0..4_usize, any::<i32>()), 0..3),
        until_full in any::<bool>(),
        priority in (-20..=19_i32, of(io_priority())),
        shares in vec(priority_share(), 0..4),
        standing in (any::<Option<u32>>(), any::<Option<u32>>(), of(name())),
        measure in (any::<bool>(), of(time()), of(time())),
        log in of((any::<bool>(), of(time()), of(time()))),
        seal in (of(verify()), of(pool())),
        plain in any::<bool>(),
        of_bytes in of(block()),
        ending in 0..3_usize,
    ) -> Job {
        if plain {
            return job;
        }
        let long = |span: Nanos| Nanos(span.0.max(1_000_000));

        let (seal, pool) = seal;
        let pool = pool.filter(|_| job.stop.runtime.is_none());
        Job {
            forget_every: of_bytes,
            max_latency: of_bytes.map(|bytes| Nanos(bytes.0)),
            ends_others: [EndsOthers::Never, EndsOthers::OnError, EndsOthers::Always][ending],
            cool_down: if job.stop.runtime.is_some() { delay } else { Nanos::ZERO },
            latency_target: target.map(|(limit, window, percentile, go_on)| LatencyTarget {
                limit, window, percentile, go_on,
            }),
            think_style: match job.think {
                Some(_) => ThinkStyle { spin: style.0, on_completion: style.1, work: style.2 },
                None => ThinkStyle::default(),
            },
            start_delay: delay,
            stop: Stop { ios: Some(ios.unwrap_or(1)), ..job.stop },
            flush: Flush {
                after_reads: range.0 % 2 == 1,
                range_every: range.0,
                range_flags: if range.0 > 0 { range.1 } else { 0 },
                ..job.flush
            },
            on_error,
            until_full,
            ignored_errors:
                ignored.into_iter().map(|(way, errno)| (Direction::ALL[way], errno)).collect(),
            priority: Priority {
                nice: priority.0,
                io: priority.1,
            },
            priority_shares: match job.engine {
                Engine::Libaio | Engine::IoUring(_) if pool.is_none() => shares,
                _ => Vec::new(),
            },
            standing: Standing {
                user: standing.0,
                group: standing.1,
                control_group: standing.2,
            },
            measure: Measure {
                depths: measure.0,
                bandwidth_every: measure.1.map(long),
                iops_every: measure.2.map(long),
            },
            log: log.map(|(entries, average, histogram)| Log { entries, average, histogram }),
            pool: pool.filter(|_| seal.is_none()),
            // Small blocks may not hold a header.
            verify: seal.filter(|seal| seal.interval.is_some() || job.sizes.smallest().0 > 512),
            ..job
        }
    }
}

fn steady() -> impl Strategy<Value = Steady> {
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

fn limit() -> impl Strategy<Value = Limit> {
    let number = 0.001..1e6_f64;
    prop_oneof![
        number.clone().prop_map(Limit::Percent),
        number.prop_map(Limit::Absolute),
    ]
}

fn stop() -> impl Strategy<Value = Stop> {
    let bytes = of(block());
    (of(time()), bytes, of(1..=u32::MAX), of(steady())).prop_map(
        |(runtime, bytes, loops, steady)| {
            let endless = runtime.is_none() && bytes.is_none() && loops.is_none();
            Stop {
                runtime: runtime.or(endless.then_some(Nanos::from_secs(10))),
                bytes,
                loops,
                steady,
                ..Stop::default()
            }
        },
    )
}

prop_compose! {
    fn placed()(
        name in name(),
        targets in vec(name(), 0..3),
        engine in engine(),
        access in 0..3_usize,
        durability in 0..3_usize,
        threads in 1..=4096_u32,
        depth in 1..=32_768_u32,
        submit in any::<u32>(),
        pin in vec(any::<u32>(), 0..4),
        offset in bytes(),
        size in of(bytes()),
        spread in spread(),
    ) -> Job {
        Job {
            targets,
            engine,
            access: [Access::Buffered, Access::Direct, Access::DirectIfPossible][access],
            durability: [Durability::None, Durability::Dsync, Durability::Sync][durability],
            threads,
            depth,
            batch: Batch { submit, complete: depth.div_ceil(3), ..Batch::default() },
            pin,
            region: Region { offset, size, spread },
            ..Job::new(&name)
        }
    }
}

prop_compose! {
    fn job()(
        placed in placed(),
        pattern in pattern(),
        mix in mix(),
        sizes in sizes(),
        content in content(),
        pace in pace(),
        think in of((time(), 1..=u32::MAX)),
        stop in stop(),
        ramp in time(),
        flush in any::<(u32, u32, bool)>(),
        go_on in any::<bool>(),
        submit_latency in any::<bool>(),
    ) -> Job {
        Job {
            pattern,
            mix,
            sizes,
            content,
            pace,
            think: think.map(|(pause, every)| Think { pause, every }),
            stop,
            ramp,
            flush: Flush { fsync_every: flush.0, fdatasync_every: flush.1, at_end: flush.2, ..Flush::default() },
            on_error: if go_on { ErrorPolicy::Continue } else { ErrorPolicy::Stop },
            submit_latency,
            ..placed
        }
    }
}

/// Names that are unique in their list.
fn number_names<'n>(names: impl Iterator<Item = &'n mut String>) {
    for (index, name) in names.enumerate() {
        name.push_str(&format!("-{index}"));
    }
}

prop_compose! {
    fn case()(
        name in name(),
        settings in vec((any::<String>(), any::<String>()), 0..3),
        seed in prop_oneof![Just(7_u64), any::<u64>()],
        mut jobs in vec(any_job(), 1..3),
        bears_name in any::<bool>(),
    ) -> Case {
        number_names(jobs.iter_mut().map(|job| &mut job.name));
        if bears_name {
            jobs[0].name = name.clone();
        }
        Case { name, settings, workload: Workload { seed, jobs } }
    }
}

prop_compose! {
    fn plan()(
        name in name(),
        description in any::<String>(),
        mut cases in vec(case(), 1..4),
        same_seed in any::<bool>(),
        passes in 1..=100_000_u32,
        discard in 0..=1000_u32,
        by_case in any::<bool>(),
        aggregate in 0..3_usize,
        grouped in any::<bool>(),
        pause in time(),
    ) -> Plan {
        number_names(cases.iter_mut().map(|case| &mut case.name));
        for case in cases.iter_mut().filter(|_| same_seed) {
            case.workload.seed = 7;
        }
        Plan {
            name,
            description,
            cases,
            passes,
            discard,
            aggregate: [Aggregate::Mean, Aggregate::Median, Aggregate::Best][aggregate],
            order: if grouped { Order::Grouped } else { Order::Interleaved },
            pause,
            pause_before: if by_case { PauseBefore::Case } else { PauseBefore::Measurement },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_rendered_parses_to_the_same(plan in plan()) {
        let text = render(&plan);
        let parsed = parse(&text, "rendered.toml");
        let parsed = parsed.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&parsed.plan, &plan, "{}", text);
        prop_assert!(parsed.seed_given);
        prop_assert!(parsed.notes.is_empty());
    }
}
