//! In: a job. Out: the first rule that it breaks, with what would work, so that no worker has to
//! expect an impossible job.

use blocklab_units::{Bytes, Nanos};

use crate::{Checksum, Content, HEADER_LEN, PatternPart, Verify, When};

use super::{
    Direction, Engine, Invalid, IoPriority, Job, Pace, Pattern, PriorityShare, Rate, SizeMix,
    Spread, Steady, TargetOrder, ThinkStyle, Zone,
};

/// The supervising thread takes the samples and sleeps in between.
const SHORTEST_SAMPLE: Nanos = Nanos::from_millis(1);

/// Rows of rules: the native name of the key, the condition, and what would work. Returns the first
/// broken one.
macro_rules! rules {
    ($($field:literal: $holds:expr, $message:literal;)*) => {
        $(rule($holds, $field, $message)?;)*
    };
}

fn rule(holds: bool, field: &'static str, message: &str) -> Result<(), Invalid> {
    if holds {
        Ok(())
    } else {
        Err(Invalid {
            field,
            message: message.to_owned(),
        })
    }
}

/// Checks all that makes a job invalid by itself, whatever its target is.
pub(super) fn rules(job: &Job) -> Result<(), Invalid> {
    shape_rules(job)?;
    stop_rules(job)?;
    let every = [job.measure.bandwidth_every, job.measure.iops_every];
    rules! {
        "think_every": job.think.is_none_or(|think| think.every >= 1),
            "think_every must be at least 1";
        "sample_every": every.iter().flatten().all(|every| *every >= SHORTEST_SAMPLE),
            "the interval of samples must be at least 1 ms";
    }
    refinement_rules(job)?;
    issue_rules(job)?;
    rules! {
        "random_percent": job.random_percent.is_none_or(|shares| shares.iter().all(|share| *share <= 100)),
            "random shares must be 0 to 100";
        "drop_cache_every": job.drop_cache_every != Some(Bytes::ZERO),
            "the page cache can be dropped after a number of bytes above 0 only";
        "cool_down":
            job.cool_down == Nanos::ZERO || (job.stop.runtime.is_some() && job.pool.is_none()),
            "load goes on after the measured time only where a runtime ends it, and not in a pool";
    }
    if let Some(verify) = &job.verify {
        verify_rules(job, verify)?;
    }
    pattern_rules(&job.pattern)?;
    pace_rules(job.pace)
}

/// Rules on the number of operations at a time, their kind and size.
fn shape_rules(job: &Job) -> Result<(), Invalid> {
    let total = u32::from(job.mix.read) + u32::from(job.mix.write) + u32::from(job.mix.trim);
    rules! {
        "threads": (1..=4096).contains(&job.threads), "threads must be 1 to 4096";
        // A replay in virtual time may have every operation in flight.
        "depth": job.depth > 0 && (job.depth <= 32768 || job.replay.is_some()),
            "depth must be 1 to 32768";
        "batch_complete": (1..=job.depth).contains(&job.batch.complete),
            "batch_complete must be at least 1 and at most the depth: a wait for more would never end";
        "operation_flags": job.operation_flags.is_none() || takes_flags(job.engine),
            "only pvsync2, libaio and io_uring pass RWF_ATOMIC and RWF_NOWAIT to the kernel";
        "mix": total == 100, "read, write and trim shares must add up to 100";
        "block_size": job.sizes.all().into_iter().all(has_sizes), "block sizes and their weights must be above 0";
        "block_size": job.sizes.largest_moved() <= Bytes::GIB, "a block may be at most 1 GiB";
        "block_size": job.sizes.trim.largest().0 <= u32::MAX.into(), "a trim may be at most 4 GiB";
    }
    Ok(())
}

fn has_sizes(mix: &SizeMix) -> bool {
    !mix.0.is_empty() && mix.0.iter().all(|(size, weight)| size.0 > 0 && *weight > 0)
}

const fn takes_flags(engine: Engine) -> bool {
    matches!(
        engine,
        Engine::Pvsync2(_) | Engine::Libaio | Engine::IoUring(_)
    )
}

/// Rules on the end of a job.
fn stop_rules(job: &Job) -> Result<(), Invalid> {
    let stop = &job.stop;
    let counted = stop.bytes.is_some() || stop.loops.is_some() || stop.ios.is_some();
    rules! {
        "runtime": stop.runtime.is_some() || counted || job.replay.is_some(),
            "one of runtime, stop_bytes or loops must be given, else the job never ends";
        "runtime": job.engine.counts_bytes() || stop.runtime.is_some() || stop.ios.is_some(),
            "operations without bytes need a runtime or stop_ios, else the job never ends";
        "runtime": stop.runtime != Some(Nanos::ZERO), "runtime must be above 0";
        "stop_bytes": stop.bytes != Some(Bytes::ZERO), "stop_bytes must be above 0";
        "loops": stop.loops != Some(0), "loops must be above 0";
        "stop_ios": stop.ios != Some(0), "stop_ios must be above 0";
        "steady_rounds": !matches!(stop.steady, Some(Steady::Slope { rounds, .. }) if rounds < 3),
            "a slope needs 3 rounds: a line through two always fits";
    }
    Ok(())
}

/// Rules on offsets, content, targets, replays, logs and trims.
fn refinement_rules(job: &Job) -> Result<(), Invalid> {
    offset_rules(job)?;
    content_rules(job)?;
    let replay = job.replay.as_ref();
    let spans = job
        .log
        .map_or([None; 2], |log| [log.average, log.histogram]);
    rules! {
        "replay": replay.is_none_or(|replay| !replay.operations.is_empty()),
            "a replay must hold at least one operation";
        "log": spans.iter().flatten().all(|span| *span > Nanos::ZERO),
            "the spans of a log must be above 0";
        "target_turn": job.target_turn >= 1, "target_turn must be at least 1";
        "open_targets": job.open_targets != Some(0), "at least one target must be open at a time";
        "open_targets": job.open_targets.is_none() || !has_fixed_files(job.engine),
            "all files that are registered with io_uring stay open: leave out fixed_files (fio: \
             registerfiles) or open_targets (fio: openfiles)";
    }
    target_order_rules(job.target_order)?;
    center_rules(job)?;
    let trims = job.verify.as_ref().and_then(|verify| verify.trims);
    rules! {
        "verify": trims.is_none_or(|trim| trim.percent <= 100 && trim.every >= 1 && trim.batch >= 1),
            "trims of what was written: at most 100 per cent, after at least 1 write, at least 1 at a time";
        "trim_first": !job.trim_first || job.mix.trim == 0,
            "trim_first makes the trims itself: the mix may have none";
    }
    Ok(())
}

const fn has_fixed_files(engine: Engine) -> bool {
    matches!(engine, Engine::IoUring(options) if options.fixed_files)
}

/// Rules on the offsets of operations.
fn offset_rules(job: &Job) -> Result<(), Invalid> {
    let has_zero = job.align.is_some_and(|align| align.contains(&Bytes::ZERO));
    let (_, largest) = job.occurring_blocks();
    let forward = matches!(job.pattern, Pattern::Sequential | Pattern::Strided { .. });
    let sequential = forward && !job.per_direction_position;
    rules! {
        "align": !has_zero, "alignments must be above 0";
        "run_length": job.runs.is_none_or(|runs| runs.length > 0),
            "a run must have at least 1 operation";
        "run_follow": job.runs.is_none_or(|runs| runs.follow_percent < 100),
            "the chance that a run goes on must be below 100 per cent: it would never end";
        "run_step": job.runs.is_none_or(|runs| runs.step != Some(Bytes::ZERO)),
            "the step of a run must be above 0";
        "window_range": job.window.is_none_or(|window| window.bytes.0 > 0 && window.range >= largest),
            "a window must hold the largest block, and its bytes must be above 0";
        "spread": job.region.spread != Spread::Shared || sequential,
            "threads can share one position only where the pattern is sequential or strided";
    }
    Ok(())
}

/// Rules on the content of writes.
fn content_rules(job: &Job) -> Result<(), Invalid> {
    let fits = match job.content {
        Content::Window { size } => (job.sizes.write.largest()..=Bytes::GIB).contains(&size),
        _ => true,
    };
    rules! {
        "content": fits,
            "the window from which writes are taken must be at least as large as the largest of \
             them, and at most 1 GiB";
        "content_unit": job.content_unit.0 >= 512, "content_unit must be at least 512 bytes";
        "fill": job.fill.as_ref().is_none_or(|fill| !fill.is_empty()),
            "fill needs at least one byte";
    }
    Ok(())
}

/// Checks the figures of a distribution over targets, by the rules for patterns.
fn target_order_rules(order: TargetOrder) -> Result<(), Invalid> {
    match order {
        TargetOrder::Zipf { theta } => pattern_rules(&Pattern::Zipf { theta }),
        TargetOrder::Pareto { h } => pattern_rules(&Pattern::Pareto { h }),
        TargetOrder::Normal { deviation_percent } => {
            pattern_rules(&Pattern::Normal { deviation_percent })
        }
        _ => Ok(()),
    }
}

/// Checks how written data is verified. The longest header, with a SHA-512, has 168 bytes.
fn verify_rules(job: &Job, verify: &Verify) -> Result<(), Invalid> {
    let smallest = job.sizes.smallest().0;
    let interval = verify.interval.map_or(smallest, |bytes| bytes.0);
    let header = if verify.checksum.has_header() {
        (HEADER_LEN + verify.checksum.room()) as u64
    } else {
        0
    };
    let compares = [Checksum::Pattern, Checksum::PatternHeader].contains(&verify.checksum);
    let counts = match verify.when {
        When::Backlog { every, batch } => every > 0 && batch > 0,
        _ => true,
    };
    let ends = job.stop.bytes.is_some() || job.stop.loops.is_some() || job.stop.ios.is_some();
    rules! {
        "verify_interval": interval > 0 && verify.offset.0 + header <= interval,
            "an interval must hold the header and its checksum: at most 168 bytes";
        "verify_pattern": verify.pattern.as_deref().is_none_or(has_bytes),
            "a pattern must hold at least one byte";
        "verify_pattern": !compares || verify.pattern.is_some(),
            "to compare a pattern, the job must have one";
        "verify": job.pool.is_none(),
            "jobs that share their operations in flight cannot verify what they write";
        "cool_down": job.cool_down == Nanos::ZERO,
            "load after the measured time counts nowhere, so a job that verifies its data cannot have any";
        "verify": !verify.when.is_only() || ends,
            "to only read back, the job needs stop_bytes, stop_ios or loops, which give how much was \
             written";
        "verify_backlog": counts, "a backlog and its batch must be at least 1";
    }
    Ok(())
}

fn has_bytes(pattern: &[PatternPart]) -> bool {
    !pattern.is_empty()
        && !pattern
            .iter()
            .any(|part| matches!(part, PatternPart::Bytes(bytes) if bytes.is_empty()))
}

fn center_rules(job: &Job) -> Result<(), Invalid> {
    rules! {
        "pattern": job.center.is_none_or(is_share), "a centre must be between 0 and 1";
        "target_order": job.target_center.is_none_or(is_share), "a centre must be between 0 and 1";
    }
    Ok(())
}

fn is_share(center: f64) -> bool {
    (0.0..=1.0).contains(&center)
}

/// Rules on what delays operations, and on priorities.
fn issue_rules(job: &Job) -> Result<(), Invalid> {
    rules! {
        "batch_low": job.batch.low < job.depth,
            "batch_low must be below the depth: the depth would never be full";
        "think": job.think_style == ThinkStyle::default() || job.think.is_some(),
            "a style of pauses needs pauses: think is missing";
        "flow": job.flow.is_none_or(|flow| flow.weight >= 1),
            "the weight of a flow must be at least 1";
    }
    if let Some(min_rate) = job.min_rate {
        rules! {
            "min_rate": min_rate.cycle >= SHORTEST_SAMPLE,
                "rates can be judged over spans of at least 1 ms";
        }
        min_rate
            .rates
            .into_iter()
            .flatten()
            .try_for_each(rate_rule)?;
    }
    let reachable = job.latency_target.is_none_or(|target| {
        let share = target.percentile > 0.0 && target.percentile <= 100.0;
        share && target.limit > Nanos::ZERO && target.window > Nanos::ZERO
    });
    let nice = (-20..=19).contains(&job.priority.nice);
    rules! {
        "latency_target": reachable,
            "a latency target needs a limit, a window and a percentile above 0, at most 100";
        "priority": nice && job.priority.io.is_none_or(is_sound),
            "nice must be -20 to 19, an I/O class 1 to 3 and its level 0 to 7";
    }
    if job.priority_shares.is_empty() {
        Ok(())
    } else {
        priority_share_rules(job)
    }
}

fn is_sound(priority: IoPriority) -> bool {
    (1..=3).contains(&priority.class) && priority.level <= 7
}

/// Rules on the priorities of single operations.
fn priority_share_rules(job: &Job) -> Result<(), Invalid> {
    let carries = matches!(job.engine, Engine::Libaio | Engine::IoUring(_));
    let shares = &job.priority_shares;
    rules! {
        "io_priority_shares": carries && job.pool.is_none(),
            "operations can have priorities of their own with libaio and io_uring only, and not in a pool";
        "io_priority_shares": shares.iter().all(is_priority_share),
            "reads and writes can have priorities, of class 1 to 3 and level 0 to 7";
        "io_priority_shares": shares.iter().all(|share| percent_of_same(shares, share) <= 100),
            "the shares of the same operations may add up to 100 per cent at most";
    }
    Ok(())
}

fn is_priority_share(share: &PriorityShare) -> bool {
    matches!(share.direction, Direction::Read | Direction::Write) && is_sound(share.priority)
}

/// The sum of all shares of the operations of one share.
fn percent_of_same(shares: &[PriorityShare], one: &PriorityShare) -> u32 {
    // A share of all sizes is compared with others of all sizes alone: no operation has 0 bytes.
    let size = one.size.map_or(0, |size| size.0);
    shares
        .iter()
        .filter(|share| share.covers(one.direction, size))
        .map(|share| u32::from(share.percent))
        .sum()
}

/// Rules on the numbers of a pattern.
fn pattern_rules(pattern: &Pattern) -> Result<(), Invalid> {
    let (holds, field, message) = match pattern {
        Pattern::Sequential | Pattern::Random { .. } => return Ok(()),
        Pattern::PercentRandom(percent) => (
            *percent <= 100,
            "percent_random",
            "percent_random must be 0 to 100",
        ),
        Pattern::Strided { stride } => (stride.0 > 0, "stride", "stride must be above 0"),
        Pattern::Backward { back } => (back.0 > 0, "back", "back must be above 0"),
        Pattern::Zipf { theta } => (
            *theta > 0.0 && *theta < 100.0 && *theta != 1.0,
            "theta",
            "zipf needs a theta above 0 that is not 1, such as 1.2",
        ),
        Pattern::Pareto { h } => (
            *h > 0.0 && *h < 1.0,
            "h",
            "pareto needs h between 0 and 1, such as 0.2",
        ),
        Pattern::Normal {
            deviation_percent: d,
        } => (
            *d > 0.0 && *d <= 100.0,
            "deviation",
            "normal needs a deviation above 0 and at most 100 per cent",
        ),
        Pattern::Listed { blocks, .. } => (
            !blocks.is_empty(),
            "pattern",
            "at least one block must be listed",
        ),
        Pattern::Preconditioning {
            over_provisioning: over,
            regions,
        } => (
            *over > 0.0 && *over < 1.0 && *regions > 1,
            "pattern",
            "preconditioning needs an over-provisioning between 0 and 1 and at least 2 regions",
        ),
        Pattern::Zones(zones) => (
            zones_add_up(zones),
            "zones",
            "the access shares of the zones and their space shares must each add up to 100",
        ),
    };
    rule(holds, field, message)
}

fn zones_add_up(zones: &[Zone]) -> bool {
    let access: f64 = zones.iter().map(|zone| zone.access_percent).sum();
    let space: f64 = zones.iter().map(|zone| zone.space_percent).sum();
    zones
        .iter()
        .all(|zone| zone.access_percent >= 0.0 && zone.space_percent > 0.0)
        && is_hundred(access)
        && is_hundred(space)
}

/// Shares in a text are rounded, so their sum is, too.
fn is_hundred(sum: f64) -> bool {
    (sum - 100.0).abs() < 0.01
}

fn pace_rules(pace: Pace) -> Result<(), Invalid> {
    match pace {
        Pace::Closed => Ok(()),
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => rate_rule(rate),
        Pace::ByDirection { rates, .. } => rates.into_iter().flatten().try_for_each(rate_rule),
    }
}

fn rate_rule(rate: Rate) -> Result<(), Invalid> {
    let (Rate::Iops(value) | Rate::Bytes(value)) = rate;
    let sound = value.is_finite() && value > 0.0 && value < 1e12;
    rule(sound, "rate", "a rate must be above 0 and below 1e12")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockSizes, Limit, MinRate, MovingWindow, SteadyVariable};

    type Change = fn(&mut Job, u64);

    fn zones(job: &mut Job, thousandths: u64) {
        job.pattern = Pattern::Zones(vec![Zone {
            access_percent: thousandths as f64 / 1000.0,
            space_percent: 100.0,
        }]);
    }

    fn interval(job: &mut Job, checksum: Checksum, bytes: u64) {
        job.verify = Some(Verify {
            interval: Some(Bytes(bytes)),
            ..Verify::new(checksum)
        });
    }

    /// The field that a rule is about, the last value that it lets pass, and the first that it does not.
    const LIMITS: [(&str, Change, u64, u64); 15] = [
        // fio's header of 40 bytes, and the room after it.
        (
            "verify_interval",
            |job, value| interval(job, Checksum::Header, value),
            40,
            39,
        ),
        (
            "verify_interval",
            |job, value| interval(job, Checksum::Sha512, value),
            168,
            167,
        ),
        // What was read back after a cool-down was compared, and its miscompares were counted nowhere.
        (
            "cool_down",
            |job, value| {
                interval(job, Checksum::Header, 4096);
                job.cool_down = Nanos(value);
            },
            0,
            1,
        ),
        (
            "threads",
            |job, value| job.threads = value as u32,
            4096,
            4097,
        ),
        // IORING_MAX_ENTRIES of Linux.
        (
            "depth",
            |job, value| job.depth = value as u32,
            32_768,
            32_769,
        ),
        (
            "block_size",
            |job, value| job.sizes = BlockSizes::fixed(Bytes(value)),
            1 << 30,
            (1 << 30) + 1,
        ),
        (
            "block_size",
            |job, value| job.sizes.trim = SizeMix(vec![(Bytes(value), 1)]),
            (1 << 32) - 1,
            1 << 32,
        ),
        (
            "content_unit",
            |job, value| job.content_unit = Bytes(value),
            512,
            511,
        ),
        (
            "content",
            |job, value| job.content = Content::Window { size: Bytes(value) },
            1 << 30,
            (1 << 30) + 1,
        ),
        // The thread that samples checks a thousand times a second at most.
        (
            "sample_every",
            |job, value| job.measure.iops_every = Some(Nanos(value)),
            1_000_000,
            999_999,
        ),
        (
            "min_rate",
            |job, value| {
                job.min_rate = Some(MinRate {
                    rates: [None; 3],
                    cycle: Nanos(value),
                    settle: Nanos::ZERO,
                });
            },
            1_000_000,
            999_999,
        ),
        (
            "steady_rounds",
            |job, value| {
                job.stop.steady = Some(Steady::Slope {
                    variable: SteadyVariable::Iops,
                    round: Nanos::from_secs(1),
                    rounds: value as u32,
                    limit: Limit::Percent(1.0),
                });
            },
            3,
            2,
        ),
        (
            "rate",
            |job, value| job.pace = Pace::Capped(Rate::Iops(value as f64)),
            999_999_999_999,
            1_000_000_000_000,
        ),
        // Three thirds written with three digits, 33.333, add up to 99.999.
        ("zones", zones, 99_991, 99_989),
        ("zones", zones, 100_009, 100_011),
    ];

    #[test]
    fn each_limit_lets_its_last_value_pass_and_no_further_one() {
        for (field, change, last, first) in LIMITS {
            let with = |value| {
                let mut job = Job::new("limits");
                change(&mut job, value);
                rules(&job).map_err(|error| error.field)
            };
            assert_eq!(with(last), Ok(()), "{field}: {last}");
            assert_eq!(with(first), Err(field), "{field}: {first}");
        }
    }

    /// The story: reads of 4 KiB in a window of 64 KiB were refused, as writes of 1 MiB, which the job did
    /// not make, had no room in it.
    #[test]
    fn a_window_need_not_hold_blocks_that_do_not_occur() {
        let job = Job {
            sizes: BlockSizes {
                read: SizeMix::fixed(Bytes(4096)),
                ..BlockSizes::fixed(Bytes::MIB)
            },
            window: Some(MovingWindow {
                bytes: Bytes(65_536),
                range: Bytes(65_536),
                skip: Bytes::ZERO,
            }),
            ..Job::new("window")
        };
        assert_eq!(job.check(), Ok(()));
    }
}
