//! Whole jobs.

use blocklab_units::Nanos;
use blocklab_workload::{
    Access, Batch, Direction, Durability, EndsOthers, ErrorPolicy, Flush, Job, LatencyTarget,
    Measure, Priority, Region, Stop, Think,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::ending::stop;
use super::finer::{finer, verify};
use super::values::{
    block, bytes, content, engine, io_priority, mix, name, on_error, pace, pattern, sizes, spread,
    time,
};

prop_compose! {
    pub(super) fn placed()(
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
    pub(super) fn job()(
        placed in placed(),
        pattern in pattern(),
        mix in mix(),
        sizes in sizes(),
        content in content(),
        pace in pace(),
        think in of((time(), 1..=u32::MAX)),
        stop in stop(),
        ramp in time(),
        flush in any::<(u32, u32, bool, bool)>(),
        range in of((1..=u32::MAX, 1..8u32)),
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
            flush: Flush {
                fsync_every: flush.0,
                fdatasync_every: flush.1,
                after_reads: flush.2,
                at_end: flush.3,
                range_every: range.map_or(0, |(every, _)| every),
                range_flags: range.map_or(0, |(_, flags)| flags),
            },
            on_error: if go_on { ErrorPolicy::Continue } else { ErrorPolicy::Stop },
            submit_latency,
            ..placed
        }
    }
}

prop_compose! {
    pub(super) fn any_job()(
        job in finer(),
        target in of((time(), time(), 0.001..=100.0_f64, any::<bool>())),
        delay in time(),
        ios in of(1..1_u64 << 60),
        on_error in on_error(),
        ignored in vec((0..4_usize, any::<i32>()), 0..3),
        stop_on_enospc in any::<bool>(),
        priority in (-20..=19_i32, of(io_priority())),
        measure in (any::<bool>(), of(time()), of(time())),
        seal in of(verify()),
        plain in any::<bool>(),
        of_bytes in of(block()),
        ending in 0..3_usize,
    ) -> Job {
        if plain {
            return job;
        }
        let long = |span: Nanos| Nanos(span.0.max(1_000_000));

        Job {
            drop_cache_every: of_bytes,
            max_latency: of_bytes.map(|bytes| Nanos(bytes.0)),
            ends_others: [EndsOthers::Never, EndsOthers::OnError, EndsOthers::Always][ending],
            cool_down: if job.stop.runtime.is_some() && seal.is_none() { delay } else { Nanos::ZERO },
            latency_target: target.map(|(limit, window, percentile, go_on)| LatencyTarget {
                limit, window, percentile, go_on,
            }),
            start_delay: delay,
            stop: Stop { ios: Some(ios.unwrap_or(1)), ..job.stop },
            on_error,
            stop_on_enospc,
            ignored_errors:
                ignored.into_iter().map(|(way, errno)| (Direction::ALL[way], errno)).collect(),
            priority: Priority {
                nice: priority.0,
                io: priority.1,
            },
            measure: Measure {
                depths: measure.0,
                bandwidth_every: measure.1.map(long),
                iops_every: measure.2.map(long),
            },
            // Small blocks may not hold a header.
            verify: seal.filter(|seal| seal.interval.is_some() || job.sizes.smallest().0 > 512),
            ..job
        }
    }
}
