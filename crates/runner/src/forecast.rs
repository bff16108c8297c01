//! What a run would do to its targets: the checks with which a run begins, and nothing further.

use blocklab_record::TargetKind;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Direction, Job, Pace, Plan, Rate, SizeDraw, SizeMix, Spread};

use crate::Error;
use crate::opened_targets::OpenedTargets;
use crate::system_run::Assignment;
use crate::target_forecast::TargetForecast;

/// What a run would do. Nothing was made, measured or changed.
#[derive(Debug)]
pub struct Forecast {
    /// In the order in which the plan names them.
    pub targets: Vec<TargetForecast>,
    /// What its jobs write, all passes together.
    pub writes: Written,
    /// Ramps, measured time and pauses of all passes, where targets keep up with the rates. Jobs that
    /// end after an amount without a rate take longer.
    pub time: Nanos,
    /// Measurements with such a job.
    pub untimed: usize,
}

/// What jobs write: an amount for some, a time for others.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Written {
    /// The most that jobs write which end after an amount or have a rate.
    pub bytes: Bytes,
    /// Time in which jobs write as fast as the target takes it, all passes together; those that
    /// also read are counted whole.
    pub unbounded: Nanos,
}

/// Checks the targets of a plan as a run does: it refuses what a run would refuse.
pub(crate) fn forecast(assignment: &Assignment<'_>) -> Result<Forecast, Error> {
    let plan = &assignment.plan;
    let targets = OpenedTargets::foresee(plan, &assignment.context(0)?)?;
    let is_kept = |it: &TargetForecast| it.facts.kind != TargetKind::Null;
    let rounds = u64::from(plan.rounds());
    let untimed = |case: &&Case| {
        let mut jobs = case.workload.jobs.iter();
        jobs.any(|job| lasts(job).is_none())
    };
    Ok(Forecast {
        writes: if targets.iter().any(is_kept) {
            written(plan)
        } else {
            Written::default()
        },
        time: planned_run(plan),
        untimed: plan.cases.iter().filter(untimed).count() * rounds as usize,
        targets,
    })
}

/// Planned time of one pass: that of its longest job.
pub fn planned(case: &Case) -> Nanos {
    let jobs = case.workload.jobs.iter();
    let times = jobs.map(|job| job.ramp.saturating_add(lasts(job).unwrap_or_default()));
    times.max().unwrap_or_default()
}

/// Planned time of all measurements of a plan, at most [`Nanos::MAX`].
pub fn planned_run(plan: &Plan) -> Nanos {
    let cases = plan.cases.iter();
    let times = cases.map(|case| planned(case).saturating_add(plan.pause));
    let once = times.fold(Nanos::ZERO, Nanos::saturating_add);
    Nanos(once.0.saturating_mul(u64::from(plan.rounds())))
}

fn written(plan: &Plan) -> Written {
    let rounds = u64::from(plan.rounds());
    let mut all = Written::default();
    // Nothing bounds what a user may write: a sum that no disk holds stays the largest number.
    let sum = |all: Bytes, once: Bytes| Bytes(all.0.saturating_add(once.0.saturating_mul(rounds)));
    for case in &plan.cases {
        let jobs = case.workload.jobs.iter();
        let mut longest = Nanos::ZERO;
        for job in jobs.filter(|job| job.writes() && job.engine.needs_target()) {
            match amount(job) {
                Some(bytes) => {
                    all.bytes = sum(all.bytes, bytes);
                    // The ramp is not part of the amount, and only a rate limits it.
                    match at_rate(job, job.ramp) {
                        Some(ramp) => all.bytes = sum(all.bytes, ramp),
                        None => longest = longest.max(job.ramp),
                    }
                }
                // Jobs that run side by side share the target.
                None => {
                    longest = longest.max(
                        job.ramp
                            .saturating_add(job.stop.runtime.unwrap_or_default()),
                    )
                }
            }
        }
        all.unbounded = all
            .unbounded
            .saturating_add(Nanos(longest.0.saturating_mul(rounds)));
    }
    all
}

fn times(bytes: Bytes, factor: u64) -> Bytes {
    Bytes(bytes.0.saturating_mul(factor))
}

/// What ends a job, counted over all of its threads; `None`: something else ends it.
struct Amounts {
    ios: Option<u64>,
    bytes: Option<Bytes>,
    /// By passes over the region, where its size is known.
    passes: Option<Bytes>,
}

impl Amounts {
    fn new(job: &Job) -> Self {
        let threads = u64::from(job.threads);
        let slices = match job.region.spread {
            Spread::Sliced => 1,
            _ => threads,
        };
        let passes = job
            .stop
            .loops
            .map(|loops| u64::from(loops).saturating_mul(slices));
        Self {
            ios: job.stop.ios.map(|ios| ios.saturating_mul(threads)),
            bytes: job.stop.bytes.map(|bytes| times(bytes, threads)),
            passes: passes.and_then(|passes| Some(times(job.region.size?, passes))),
        }
    }
}

/// Measured time of a job that keeps its rate; `None`: only the target decides how long its amount
/// takes.
fn lasts(job: &Job) -> Option<Nanos> {
    if let Some(replay) = job.replay.as_ref().filter(|replay| replay.keeps_time) {
        return replay.operations.last().map(|last| last.at);
    }
    let size = mean_size(job);
    let Amounts { ios, bytes, passes } = Amounts::new(job);
    // A range that is trimmed first is moved twice.
    let passes = passes.map(|bytes| times(bytes, 1 + u64::from(job.trim_first)));
    let moved = [
        ios.map(|ios| ios as f64 * size),
        bytes.map(Bytes::as_f64),
        passes.map(Bytes::as_f64),
    ];
    let least = moved.into_iter().flatten().min_by(f64::total_cmp);
    let by_amount = least.zip(bytes_per_second(job, size));
    let by_amount = by_amount.map(|(bytes, rate)| Nanos::from_secs_f64(bytes / rate));
    job.stop.runtime.into_iter().chain(by_amount).min()
}

/// The rate of all directions together, where each has one, with operations of a mean size.
fn bytes_per_second(job: &Job, size: f64) -> Option<f64> {
    let per_second = |rate| match rate {
        Rate::Iops(iops) => iops * size,
        Rate::Bytes(bytes) => bytes,
    };
    let sum = match job.pace {
        Pace::Closed => return None,
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => per_second(rate),
        Pace::ByDirection { rates, .. } => {
            let shares = [job.mix.read, job.mix.write, job.mix.trim];
            let occurring = rates
                .into_iter()
                .zip(shares)
                .filter(|(_, share)| *share > 0);
            let each = occurring.map(|(rate, _)| rate.map(per_second));
            each.sum::<Option<f64>>()?
        }
    };
    (sum > 0.0).then_some(sum)
}

/// Bytes of an operation in the mean.
fn mean_size(job: &Job) -> f64 {
    let mean = |sizes: &SizeMix| match job.size_draw {
        SizeDraw::Listed => {
            let weights: f64 = sizes.0.iter().map(|(_, weight)| f64::from(*weight)).sum();
            let sizes = sizes.0.iter();
            let sum: f64 = sizes
                .map(|(size, weight)| size.as_f64() * f64::from(*weight))
                .sum();
            sum / weights
        }
        SizeDraw::Multiples | SizeDraw::AnyByte => {
            f64::midpoint(sizes.smallest().as_f64(), sizes.largest().as_f64())
        }
    };
    let parts = [
        (&job.sizes.read, job.mix.read),
        (&job.sizes.write, job.mix.write),
        (&job.sizes.trim, job.mix.trim),
    ];
    let parts = parts.into_iter().filter(|(_, share)| *share > 0);
    parts
        .map(|(sizes, share)| mean(sizes) * f64::from(share) / 100.0)
        .sum()
}

/// Bytes that a job writes at most in a pass, without its ramp; `None` where its time alone ends it.
fn amount(job: &Job) -> Option<Bytes> {
    if let Some(replay) = &job.replay {
        let writes = replay
            .operations
            .iter()
            .filter(|operation| operation.direction == Direction::Write);
        return Some(Bytes(writes.map(|write| u64::from(write.len)).sum()));
    }
    let Amounts { ios, bytes, passes } = Amounts::new(job);
    let by_ios = ios.map(|ios| times(job.sizes.write.largest(), ios));
    let by_rate = job.stop.runtime.and_then(|runtime| at_rate(job, runtime));
    [by_ios, bytes, passes, by_rate].into_iter().flatten().min()
}

/// Bytes that a job with a rate writes at most in a time; the rate of one direction, or of all.
fn at_rate(job: &Job, time: Nanos) -> Option<Bytes> {
    let rate = match job.pace {
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => rate,
        Pace::ByDirection { rates, .. } => rates[1]?,
        Pace::Closed => return None,
    };
    let per_second = match rate {
        Rate::Iops(iops) => iops * job.sizes.write.largest().0 as f64,
        Rate::Bytes(bytes) => bytes,
    };
    Some(Bytes((per_second * time.as_secs_f64()).ceil() as u64))
}
