//! What makes a job impossible to run.

use blocklab_units::{Bytes, Nanos};

use crate::{Checksum, Content, HEADER_LEN, PatternPart, Verify, When};

use super::{
    Direction, Engine, Invalid, IoPriority, Job, Pace, Pattern, PriorityShare, Rate, SizeMix,
    Spread, TargetOrder, ThinkStyle, Zone,
};

/// Sampling is done by the thread that looks on, which sleeps in between.
const SHORTEST_SAMPLE: Nanos = Nanos::from_millis(1);

fn rule(holds: bool, field: &'static str, message: &str) -> Result<(), Invalid> {
    match holds {
        true => Ok(()),
        false => Err(Invalid {
            field,
            message: message.to_owned(),
        }),
    }
}

pub(super) fn rules(job: &Job) -> Result<(), Invalid> {
    rule(
        job.threads >= 1 && job.threads <= 4096,
        "threads",
        "threads must be 1 to 4096",
    )?;
    rule(
        job.depth >= 1 && job.depth <= 32768,
        "depth",
        "depth must be 1 to 32768",
    )?;
    rule(
        job.batch.complete >= 1 && job.batch.complete <= job.depth,
        "batch_complete",
        "batch_complete must be at least 1 and at most the depth: a wait for more would never end",
    )?;
    let total = u32::from(job.mix.read) + u32::from(job.mix.write) + u32::from(job.mix.trim);
    rule(
        total == 100,
        "mix",
        "read, write and trim shares must add up to 100",
    )?;
    let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim];
    let sound = |mix: &&SizeMix| {
        !mix.0.is_empty() && mix.0.iter().all(|(size, weight)| size.0 > 0 && *weight > 0)
    };
    rule(
        sizes.iter().all(sound),
        "block_size",
        "block sizes and their weights must be above 0",
    )?;
    rule(
        job.sizes.largest() <= Bytes::GIB,
        "block_size",
        "a block may be at most 1 GiB",
    )?;
    stop_rules(job)?;
    if let Some(think) = job.think {
        rule(
            think.every >= 1,
            "think_every",
            "think_every must be at least 1",
        )?;
    }
    let every = [job.measure.bandwidth_every, job.measure.iops_every];
    rule(
        every
            .iter()
            .flatten()
            .all(|every| *every >= SHORTEST_SAMPLE),
        "sample_every",
        "samples must be at least 1 ms apart",
    )?;
    refinement_rules(job)?;
    restraint_rules(job)?;
    rule(
        job.drop_cache_every != Some(Bytes::ZERO),
        "forget_every",
        "the page cache can forget after so many bytes, but not after none",
    )?;
    rule(
        job.cool_down == Nanos::ZERO || (job.stop.runtime.is_some() && job.pool.is_none()),
        "cool_down",
        "load goes on after the measured time only where a runtime ends it, and not in a pool",
    )?;
    job.verify
        .as_ref()
        .map_or(Ok(()), |verify| verify_rules(job, verify))?;
    pattern_rules(&job.pattern)?;
    pace_rules(job.pace)
}

/// What ends a job.
fn stop_rules(job: &Job) -> Result<(), Invalid> {
    let stop = &job.stop;
    rule(
        stop.runtime.is_some()
            || stop.bytes.is_some()
            || stop.loops.is_some()
            || stop.ios.is_some()
            || job.replay.is_some(),
        "runtime",
        "one of runtime, stop_bytes or loops must be given, else the job never ends",
    )?;
    rule(
        job.engine.counts_bytes() || stop.runtime.is_some() || stop.ios.is_some(),
        "runtime",
        "operations without bytes end by a runtime or their number, and neither is given",
    )?;
    rule(
        stop.runtime != Some(Nanos::ZERO),
        "runtime",
        "runtime must be above 0",
    )?;
    rule(
        stop.bytes != Some(Bytes::ZERO),
        "stop_bytes",
        "stop_bytes must be above 0",
    )?;
    rule(stop.loops != Some(0), "loops", "loops must be above 0")?;
    rule(stop.ios != Some(0), "stop_ios", "stop_ios must be above 0")?;
    rule(
        !matches!(stop.steady, Some(crate::Steady::Slope { rounds, .. }) if rounds < 3),
        "steady_rounds",
        "a slope needs 3 rounds: a line through two always fits",
    )
}

/// What refines offsets, targets and content.
fn refinement_rules(job: &Job) -> Result<(), Invalid> {
    offset_rules(job)?;
    content_rules(job)?;
    rule(
        job.replay
            .as_ref()
            .is_none_or(|replay| !replay.operations.is_empty()),
        "replay",
        "a replay must hold at least one operation",
    )?;
    let spans = job
        .log
        .map_or([None; 2], |log| [log.average, log.histogram]);
    rule(
        spans.iter().flatten().all(|span| *span > Nanos::ZERO),
        "log",
        "the spans of a log must be above 0",
    )?;
    rule(
        job.target_turn >= 1,
        "target_turn",
        "target_turn must be at least 1",
    )?;
    target_order_rules(job.target_order)?;
    let trims = job.verify.as_ref().and_then(|verify| verify.trims);
    rule(
        trims.is_none_or(|it| it.percent <= 100 && it.every >= 1 && it.batch >= 1),
        "verify",
        "trims of what was written: at most 100 per cent, after at least 1 write, at least 1 at a time",
    )?;
    rule(
        !job.trim_first || job.mix.trim == 0,
        "trim_first",
        "trim_first makes the trims itself: the mix may have none",
    )
}

/// Where operations go.
fn offset_rules(job: &Job) -> Result<(), Invalid> {
    let aligned = |align: [Bytes; 3]| align.iter().all(|bytes| bytes.0 > 0);
    rule(
        job.align.is_none_or(aligned),
        "align",
        "alignments must be above 0",
    )?;
    rule(
        job.runs.is_none_or(|runs| runs.length > 0),
        "run_length",
        "a run must have at least 1 operation",
    )?;
    rule(
        job.runs.is_none_or(|runs| runs.follow_percent < 100),
        "run_follow",
        "the chance that a run goes on must be below 100 per cent: it would never end",
    )?;
    rule(
        job.runs.is_none_or(|runs| runs.step != Some(Bytes::ZERO)),
        "run_step",
        "the step of a run must be above 0",
    )?;
    if let Some(window) = job.window {
        rule(
            window.bytes.0 > 0 && window.range >= job.sizes.largest(),
            "window_range",
            "a window must hold the largest block, and some bytes must be moved in it",
        )?;
    }
    let forward = matches!(job.pattern, Pattern::Sequential | Pattern::Strided { .. });
    let sequential = forward && !job.per_direction_position;
    rule(
        job.region.spread != Spread::Shared || sequential,
        "spread",
        "threads can share one position only where the pattern is sequential or strided",
    )
}

/// What is written.
fn content_rules(job: &Job) -> Result<(), Invalid> {
    if let Content::Window { size } = job.content {
        rule(
            size >= job.sizes.write.largest() && size <= Bytes::GIB,
            "content",
            "the window out of which writes are taken must hold the largest of them, and at most \
             1 GiB",
        )?;
    }
    rule(
        job.content_unit.0 >= 512,
        "content_unit",
        "content_unit must be at least 512 bytes",
    )?;
    rule(
        job.fill.as_ref().is_none_or(|fill| !fill.is_empty()),
        "fill",
        "the bytes to fill with must be at least one",
    )
}

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

fn verify_rules(job: &Job, verify: &Verify) -> Result<(), Invalid> {
    let smallest = job.sizes.smallest().0;
    let interval = verify.interval.map_or(smallest, |bytes| bytes.0);
    let header = match verify.checksum.has_header() {
        true => (HEADER_LEN + verify.checksum.room()) as u64,
        false => 0,
    };
    rule(
        interval > 0 && verify.offset.0 + header <= interval,
        "verify_interval",
        "an interval must hold the header and its checksum: at most 168 bytes",
    )?;
    let empty = |part: &PatternPart| matches!(part, PatternPart::Bytes(bytes) if bytes.is_empty());
    let filled = |parts: &[PatternPart]| !parts.is_empty() && !parts.iter().any(empty);
    rule(
        verify.pattern.as_ref().is_none_or(|parts| filled(parts)),
        "verify_pattern",
        "a pattern must hold at least one byte",
    )?;
    let compares = [Checksum::Pattern, Checksum::PatternHeader].contains(&verify.checksum);
    rule(
        !compares || verify.pattern.is_some(),
        "verify_pattern",
        "to compare a pattern, there must be one",
    )?;
    let counts = match verify.when {
        When::Backlog { every, batch } => every > 0 && batch > 0,
        _ => true,
    };
    rule(
        job.pool.is_none(),
        "verify",
        "jobs that share their operations in flight cannot verify what they write",
    )?;
    let ends = job.stop.bytes.is_some() || job.stop.loops.is_some() || job.stop.ios.is_some();
    rule(
        !verify.when.is_only() || ends,
        "verify",
        "to read back only, a number of bytes, operations or loops must say what was written",
    )?;
    rule(
        counts,
        "verify_backlog",
        "a backlog and its batch must be at least 1",
    )
}

/// What holds a job back.
fn restraint_rules(job: &Job) -> Result<(), Invalid> {
    rule(
        job.batch.low < job.depth,
        "batch_low",
        "batch_low must be below the depth: the depth would never be full",
    )?;
    rule(
        job.think_style == ThinkStyle::default() || job.think.is_some(),
        "think",
        "how pauses are spent means nothing without think",
    )?;
    if let Some(flow) = job.flow {
        rule(
            flow.weight >= 1,
            "flow",
            "the weight of a flow must be at least 1",
        )?;
    }
    if let Some(least) = job.min_rate {
        rule(
            least.cycle >= SHORTEST_SAMPLE,
            "least_cycle",
            "rates can be judged over spans of at least 1 ms",
        )?;
        least.rates.into_iter().flatten().try_for_each(rate_rule)?;
    }
    if let Some(target) = job.latency_target {
        let share = target.percentile > 0.0 && target.percentile <= 100.0;
        rule(
            share && target.limit > Nanos::ZERO && target.window > Nanos::ZERO,
            "latency_target",
            "a latency target needs a limit, a window and a percentile above 0, at most 100",
        )?;
    }
    let nice = (-20..=19).contains(&job.priority.nice);
    rule(
        nice && job.priority.io.is_none_or(is_sound),
        "priority",
        "nice must be -20 to 19, an I/O class 1 to 3 and its level 0 to 7",
    )?;
    match job.priority_shares.is_empty() {
        true => Ok(()),
        false => priority_share_rules(job),
    }
}

fn is_sound(priority: IoPriority) -> bool {
    (1..=3).contains(&priority.class) && priority.level <= 7
}

/// Priorities of single operations.
fn priority_share_rules(job: &Job) -> Result<(), Invalid> {
    const FIELD: &str = "io_priority_shares";
    rule(
        matches!(job.engine, Engine::Libaio | Engine::IoUring(_)) && job.pool.is_none(),
        FIELD,
        "operations carry priorities of their own with libaio and io_uring only, and not in a pool",
    )?;
    let shares = &job.priority_shares;
    let goes = |direction| matches!(direction, Direction::Read | Direction::Write);
    rule(
        shares
            .iter()
            .all(|share| goes(share.direction) && is_sound(share.priority)),
        FIELD,
        "reads and writes carry priorities: class 1 to 3, level 0 to 7",
    )?;
    let sum = |one: &PriorityShare| -> u32 {
        let size = one.size.map_or(0, |size| size.0);
        let same = shares
            .iter()
            .filter(|share| share.covers(one.direction, size));
        same.map(|share| u32::from(share.percent)).sum()
    };
    rule(
        shares.iter().all(|share| sum(share) <= 100),
        FIELD,
        "the shares of the same operations may add up to 100 per cent at most",
    )
}

fn pattern_rules(pattern: &Pattern) -> Result<(), Invalid> {
    let invalid = |field, message: &str| {
        Err(Invalid {
            field,
            message: message.to_owned(),
        })
    };
    match pattern {
        Pattern::PercentRandom(percent) if *percent > 100 => {
            invalid("percent_random", "percent_random must be 0 to 100")
        }
        Pattern::Strided { stride } if stride.0 == 0 => invalid("stride", "stride must be above 0"),
        Pattern::Backward { back } if back.0 == 0 => invalid("back", "back must be above 0"),
        Pattern::Zipf { theta } if !(*theta > 0.0 && *theta < 100.0 && *theta != 1.0) => invalid(
            "theta",
            "zipf needs a theta above 0 that is not 1, such as 1.2",
        ),
        Pattern::Pareto { h } if !(*h > 0.0 && *h < 1.0) => {
            invalid("h", "pareto needs h between 0 and 1, such as 0.2")
        }
        Pattern::Normal {
            deviation_percent: d,
        } if !(*d > 0.0 && *d <= 100.0) => invalid(
            "deviation",
            "normal needs a deviation above 0 and at most 100 per cent",
        ),
        Pattern::Zones(zones) if !zones_add_up(zones) => invalid(
            "zones",
            "the access shares of the zones and their space shares must each add up to 100",
        ),
        _ => Ok(()),
    }
}

fn zones_add_up(zones: &[Zone]) -> bool {
    let near_hundred = |sum: f64| (sum - 100.0).abs() < 0.01;
    zones
        .iter()
        .all(|z| z.access_percent >= 0.0 && z.space_percent > 0.0)
        && near_hundred(zones.iter().map(|z| z.access_percent).sum())
        && near_hundred(zones.iter().map(|z| z.space_percent).sum())
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
    rule(
        value.is_finite() && value > 0.0 && value < 1e12,
        "rate",
        "a rate must be above 0 and below 1e12",
    )
}
