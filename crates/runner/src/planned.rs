//! In: a plan. Out: how long its passes take and how much they write, as far as the plan alone tells.
//!
//! No target is opened for it, so a dry run and the progress display can use it, too.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Direction, Job, Pace, Plan, Rate, SizeDraw, SizeMix, Spread};

/// What jobs write: an amount for some, a time for others.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Written {
    /// Upper bound of what is written by jobs that end after an amount or have a rate.
    pub bytes: Bytes,
    /// Time in which jobs write as fast as the target can take it, all passes together. Jobs that also
    /// read count with their whole time.
    pub unbounded: Nanos,
}

/// Planned time of one pass: that of its longest job, from its delayed start to the end of the load that
/// follows its measured time.
pub fn planned(case: &Case) -> Nanos {
    let jobs = case.workload.jobs.iter();
    let times = jobs.map(|job| {
        let measured = lasts(job).unwrap_or_default();
        [job.start_delay, job.ramp, measured, job.cool_down]
            .into_iter()
            .fold(Nanos::ZERO, Nanos::saturating_add)
    });
    times.max().unwrap_or_default()
}

/// As [`planned`]; `None` if a job ends after an amount and has no rate, so that only the target
/// decides how long it takes.
pub fn planned_if_timed(case: &Case) -> Option<Nanos> {
    let mut jobs = case.workload.jobs.iter();
    let is_timed = jobs.all(|job| lasts(job).is_some());
    is_timed.then(|| planned(case))
}

/// Planned time of all measurements of a plan, at most [`Nanos::MAX`].
pub fn planned_run(plan: &Plan) -> Nanos {
    let cases = plan.cases.iter();
    let times = cases.map(|case| planned(case).saturating_add(plan.pause));
    let once = times.fold(Nanos::ZERO, Nanos::saturating_add);
    Nanos(once.0.saturating_mul(u64::from(plan.rounds())))
}

/// What all passes of a plan write.
pub(crate) fn written(plan: &Plan) -> Written {
    let rounds = u64::from(plan.rounds());
    let mut all = Written::default();
    for case in &plan.cases {
        let jobs = case.workload.jobs.iter();
        let mut longest = Nanos::ZERO;
        for job in jobs.filter(|job| job.writes() && job.engine.needs_target()) {
            let unmeasured = job.ramp.saturating_add(job.cool_down);
            match amount(job) {
                Some(bytes) => {
                    all.bytes = plus(all.bytes, times(bytes, rounds));
                    // What is written besides the measured time is not part of the amount, and only a rate
                    // limits it.
                    match at_rate(job, unmeasured) {
                        Some(more) => all.bytes = plus(all.bytes, times(more, rounds)),
                        None => longest = longest.max(unmeasured),
                    }
                }
                // Jobs of a case run at the same time and share the target, so the longest counts.
                None => {
                    let measured = job.stop.runtime.unwrap_or_default();
                    longest = longest.max(unmeasured.saturating_add(measured));
                }
            }
        }
        all.unbounded = all
            .unbounded
            .saturating_add(Nanos(longest.0.saturating_mul(rounds)));
    }
    all
}

/// A sum that saturates, because a user may request any amount.
fn plus(bytes: Bytes, more: Bytes) -> Bytes {
    Bytes(bytes.0.saturating_add(more.0))
}

/// A product that saturates, for the same reason.
fn times(bytes: Bytes, factor: u64) -> Bytes {
    Bytes(bytes.0.saturating_mul(factor))
}

/// The amounts that end a job, over all of its threads; `None` if the amount does not end it.
struct Amounts {
    ios: Option<u64>,
    bytes: Option<Bytes>,
    /// Bytes of its passes over the region, if the size of that is known.
    passes: Option<Bytes>,
}

impl Amounts {
    fn new(job: &Job) -> Self {
        let threads = u64::from(job.threads);
        // Either the threads share the region, each with a slice of it, or each covers the whole.
        let regions = match job.region.spread {
            Spread::Sliced => 1,
            _ => threads,
        };
        let passes = job
            .stop
            .loops
            .map(|loops| u64::from(loops).saturating_mul(regions));
        Self {
            ios: job.stop.ios.map(|ios| ios.saturating_mul(threads)),
            bytes: job.stop.bytes.map(|bytes| times(bytes, threads)),
            passes: passes.and_then(|passes| Some(times(job.region.size?, passes))),
        }
    }
}

/// Measured time of a job if it keeps its rate; `None` if only the target decides how long the job's
/// amount takes.
fn lasts(job: &Job) -> Option<Nanos> {
    // A replay at recorded times ends with its last operation, whatever the job's amounts are.
    if let Some(replay) = job.replay.as_ref().filter(|replay| replay.keeps_time) {
        return replay.operations.last().map(|last| last.at);
    }
    let size = mean_size(job);
    let Amounts { ios, bytes, passes } = Amounts::new(job);
    // A range that is trimmed first counts twice: trim and write.
    let passes = passes.map(|bytes| times(bytes, 1 + u64::from(job.trim_first)));
    let moved = [
        ios.map(|ios| ios as f64 * size),
        bytes.map(Bytes::as_f64),
        passes.map(Bytes::as_f64),
    ];
    // The job ends with the first of its amounts that is reached.
    let least = moved.into_iter().flatten().min_by(f64::total_cmp);
    let by_amount = least
        .zip(bytes_per_second(job, size))
        .map(|(bytes, rate)| Nanos::from_secs_f64(bytes / rate));
    job.stop.runtime.into_iter().chain(by_amount).min()
}

/// The rate of all directions together, with operations of a mean size; `None` if one has no rate.
fn bytes_per_second(job: &Job, size: f64) -> Option<f64> {
    let sum = match job.pace {
        Pace::Closed => return None,
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => {
            bytes_of(rate, size)
        }
        Pace::ByDirection { rates, .. } => {
            let shares = [job.mix.read, job.mix.write, job.mix.trim];
            rates
                .into_iter()
                .zip(shares)
                .filter(|(_, share)| *share > 0)
                .map(|(rate, _)| Some(bytes_of(rate?, size)))
                .sum::<Option<f64>>()?
        }
    };
    // Dividing by a rate of 0 would give an endless time.
    (sum > 0.0).then_some(sum)
}

/// Bytes a second of a rate, with operations of this size.
fn bytes_of(rate: Rate, size: f64) -> f64 {
    match rate {
        Rate::Iops(iops) => iops * size,
        Rate::Bytes(bytes) => bytes,
    }
}

/// Mean size of an operation of all directions.
fn mean_size(job: &Job) -> f64 {
    let parts = [
        (&job.sizes.read, job.mix.read),
        (&job.sizes.write, job.mix.write),
        (&job.sizes.trim, job.mix.trim),
    ];
    parts
        .into_iter()
        .filter(|(_, share)| *share > 0)
        .map(|(sizes, share)| mean_of_sizes(sizes, job.size_draw) * f64::from(share) / 100.0)
        .sum()
}

/// The mean size in bytes.
fn mean_of_sizes(sizes: &SizeMix, draw: SizeDraw) -> f64 {
    match draw {
        SizeDraw::Listed => {
            let weights: f64 = sizes.0.iter().map(|(_, weight)| f64::from(*weight)).sum();
            let sum: f64 = sizes
                .0
                .iter()
                .map(|(size, weight)| size.as_f64() * f64::from(*weight))
                .sum();
            sum / weights
        }
        SizeDraw::Multiples | SizeDraw::AnyByte => {
            f64::midpoint(sizes.smallest().as_f64(), sizes.largest().as_f64())
        }
    }
}

/// Bytes that a job writes at most in a pass, without its ramp; `None` if only its time ends it.
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

/// Bytes that a job with a rate writes at most in a time. The rate is that of writes, or of all
/// directions.
fn at_rate(job: &Job, time: Nanos) -> Option<Bytes> {
    let rate = match job.pace {
        Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate) => rate,
        // Rates are in the order read, write, trim.
        Pace::ByDirection { rates, .. } => rates[1]?,
        Pace::Closed => return None,
    };
    let per_second = bytes_of(rate, job.sizes.write.largest().as_f64());
    Some(Bytes((per_second * time.as_secs_f64()).ceil() as u64))
}

#[cfg(test)]
mod tests {
    use blocklab_workload::{Mix, Stop};

    use super::*;

    /// The story: a job that started after 10 s and went on for 30 s after its 20 s took "20 s" in a dry run,
    /// and hosts that began together began its next pass one by one.
    #[test]
    fn a_delayed_start_and_the_load_behind_count() {
        let job = Job {
            mix: Mix::WRITE,
            start_delay: Nanos::from_secs(10),
            cool_down: Nanos::from_secs(30),
            stop: Stop {
                runtime: Some(Nanos::from_secs(20)),
                ..Stop::default()
            },
            ..Job::new("delayed")
        };
        let case = Case::new("delayed", 1, vec![job]);
        assert_eq!(planned(&case), Nanos::from_secs(60));
        let plan = Plan::once("delayed", "", vec![case]);
        assert_eq!(written(&plan).unbounded, Nanos::from_secs(50));
    }
}
