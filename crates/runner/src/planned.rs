//! In: a plan. Out: how long its passes take and how much they write, as far as the plan alone tells.
//!
//! No target is opened for it, so a dry run and the progress display can use it, too.

use blocklab_device::WritingTime;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Case, Direction, Job, Order, Pace, PauseBefore, Plan, Rate, SizeDraw, SizeMix, Spread,
};

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
    let (cases, rounds) = (plan.cases.len() as u64, u64::from(plan.rounds()));
    let times = plan.cases.iter().map(planned);
    let once = times.fold(Nanos::ZERO, Nanos::saturating_add);
    let paused = match (plan.pause_before, plan.order) {
        (PauseBefore::Case, Order::Grouped) => cases,
        (PauseBefore::Case, Order::Interleaved) if cases == 1 => 1,
        _ => cases.saturating_mul(rounds),
    };
    // A run does not pause before its first measurement.
    let pauses = plan.pause.0.saturating_mul(paused.saturating_sub(1));
    Nanos(once.0.saturating_mul(rounds).saturating_add(pauses))
}

/// The pause between two measurements, the second of which follows the first at once.
pub fn pause_between(plan: &Plan, first: &str, second: &str) -> Nanos {
    match plan.pause_before {
        PauseBefore::Case if first == second => Nanos::ZERO,
        PauseBefore::Case | PauseBefore::Measurement => plan.pause,
    }
}

/// What all passes of a plan write.
pub(crate) fn written(plan: &Plan) -> Written {
    let rounds = u64::from(plan.rounds());
    let mut all = Written::default();
    for case in &plan.cases {
        for job in writers(case) {
            let Some(bytes) = amount(job) else {
                continue;
            };
            // What is written outside the measured time is not part of the amount.
            let unmeasured = job.ramp.saturating_add(job.cool_down);
            let more = at_rate(job, unmeasured).unwrap_or_default();
            all.bytes = plus(all.bytes, times(plus(bytes, more), rounds));
        }
        let lasts = unbounded(case).map_or(Nanos::ZERO, |unbounded| unbounded.lasts);
        all.unbounded = all
            .unbounded
            .saturating_add(Nanos(lasts.0.saturating_mul(rounds)));
    }
    all
}

/// The jobs of a case that write to its targets.
fn writers(case: &Case) -> impl Iterator<Item = &Job> {
    let jobs = case.workload.jobs.iter();
    jobs.filter(|job| job.writes() && job.engine.needs_target())
}

/// What a case writes as fast as its targets can take it.
struct Unbounded {
    /// How long.
    lasts: Nanos,
    /// The largest write.
    largest: Bytes,
    /// Written at most behind the end, by operations that are in flight there.
    in_flight: Bytes,
}

/// What a case writes as fast as its targets can take it; `None` if amounts or rates end all it writes.
fn unbounded(case: &Case) -> Option<Unbounded> {
    let mut all: Option<Unbounded> = None;
    for job in writers(case) {
        let unmeasured = job.ramp.saturating_add(job.cool_down);
        let lasts = match amount(job) {
            None => unmeasured.saturating_add(job.stop.runtime.unwrap_or_default()),
            // Neither the ramp nor what follows is part of the amount, and only a rate limits it.
            Some(_) if at_rate(job, unmeasured).is_none() => unmeasured,
            Some(_) => Nanos::ZERO,
        };
        if lasts == Nanos::ZERO {
            continue;
        }
        let (largest, operations) = (
            job.sizes.write.largest(),
            u64::from(job.threads).saturating_mul(job.depth.into()),
        );
        let known = all.get_or_insert(Unbounded {
            lasts: Nanos::ZERO,
            largest: Bytes::ZERO,
            in_flight: Bytes::ZERO,
        });
        // Jobs of a case run at the same time and share the target, so the longest counts.
        known.lasts = known.lasts.max(lasts);
        known.largest = known.largest.max(largest);
        known.in_flight = plus(known.in_flight, times(largest, operations));
    }
    all
}

/// Until the operations in flight are back and the next measurement begins.
const BETWEEN: Nanos = Nanos::from_secs(1);

/// The most time that a case takes: without end where only the target decides it.
fn longest(case: &Case) -> Nanos {
    planned_if_timed(case).unwrap_or(Nanos::MAX)
}

/// The times in which a plan writes as fast as its targets can take it, in one round after the other, and
/// the bytes that are in flight at their ends. Where the first case of a round writes nothing, its time is
/// the rest before the next one that does.
pub(crate) fn writing_times(plan: &Plan) -> (Vec<WritingTime>, Bytes) {
    let rounds = u64::from(plan.rounds());
    let (mut writing, mut in_flight) = (Vec::new(), Bytes::ZERO);
    let between = plan.pause.saturating_add(BETWEEN);
    // Round after round, so that what comes behind the last writing case is before the first one.
    let silent = plan.cases.iter().rev();
    let mut rest = silent
        .take_while(|case| unbounded(case).is_none())
        .map(|case| longest(case).saturating_add(between))
        .fold(Nanos::ZERO, Nanos::saturating_add);
    for case in &plan.cases {
        rest = rest.saturating_add(between);
        let Some(writes) = unbounded(case) else {
            rest = rest.saturating_add(longest(case));
            continue;
        };
        // Other jobs can begin before the writers and go on behind them.
        let idle = longest(case).since(writes.lasts);
        writing.push(WritingTime {
            lasts: writes.lasts,
            largest: writes.largest,
            rest: rest.saturating_add(idle),
            count: plan.rounds(),
        });
        in_flight = plus(in_flight, times(writes.in_flight, rounds));
        rest = Nanos::ZERO;
    }
    (writing, in_flight)
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
    let rates = job.rates()?.into_iter();
    let sum: f64 = rates.map(|rate| bytes_of(rate, size)).sum();
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
            stop: Stop::after(Nanos::from_secs(20)),
            ..Job::new("delayed")
        };
        let case = Case::new("delayed", 1, vec![job]);
        assert_eq!(planned(&case), Nanos::from_secs(60));
        let plan = Plan::once("delayed", "", vec![case]);
        assert_eq!(written(&plan).unbounded, Nanos::from_secs(50));
    }

    /// The story: `pause_before = "case"` counted a pause for each pass, and any plan one before its first
    /// measurement.
    #[test]
    fn a_pause_counts_where_the_run_pauses() {
        let pauses = |names: &[&str], order: Order, pause_before: PauseBefore| {
            let cases = names.iter().map(|name| Case::new(*name, 1, Vec::new()));
            let plan = Plan {
                passes: 3,
                order,
                pause: Nanos::from_secs(1),
                pause_before,
                ..Plan::once("pauses", "", cases.collect())
            };
            let cases: Vec<&str> = plan.steps().map(|(case, _)| names[case]).collect();
            let between = cases.windows(2);
            let between = between.map(|pair| pause_between(&plan, pair[0], pair[1]));
            let sum = between.fold(Nanos::ZERO, Nanos::saturating_add);
            assert_eq!(planned_run(&plan), sum, "{order:?}");
            sum.0 / 1_000_000_000
        };
        let two = ["a", "b"];
        assert_eq!(pauses(&two, Order::Grouped, PauseBefore::Case), 1);
        assert_eq!(pauses(&two, Order::Interleaved, PauseBefore::Case), 5);
        assert_eq!(pauses(&two[..1], Order::Interleaved, PauseBefore::Case), 0);
        assert_eq!(pauses(&two, Order::Grouped, PauseBefore::Measurement), 5);
    }

    /// A case without a write is a rest in which limits save up, also where it is the last one of a round.
    #[test]
    fn cases_that_only_read_are_rests_of_the_device() {
        let job = |name: &str, mix: Mix| Job {
            mix,
            threads: 2,
            stop: Stop::after(Nanos::from_secs(20)),
            ..Job::new(name)
        };
        let cases = [("w1", Mix::WRITE), ("w2", Mix::WRITE), ("r", Mix::READ)];
        let cases = cases.map(|(name, mix)| Case::new(name, 1, vec![job(name, mix)]));
        let plan = Plan {
            passes: 3,
            ..Plan::once("rests", "", cases.to_vec())
        };
        let (times, in_flight) = writing_times(&plan);
        let rests: Vec<Nanos> = times.iter().map(|time| time.rest).collect();
        // A rest also has what lies between the measurements.
        assert_eq!(rests, [22, 1].map(Nanos::from_secs));
        assert_eq!((times[0].lasts, times[0].count), (Nanos::from_secs(20), 3));
        let each = Job::new("w").sizes.write.largest().0 * u64::from(Job::new("w").depth);
        assert_eq!(in_flight.0, 3 * 2 * 2 * each);
    }

    /// The story: what limits save up in a case that ends after an amount counted as nothing: 100 reads with
    /// pauses of 1 s before 10 s of writes to a gp2 volume made 123 MB of "at most 14.9 MB".
    #[test]
    fn a_case_of_unknown_time_is_a_rest_without_end() {
        let job = |name: &str, mix: Mix, stop: Stop| Job {
            mix,
            stop,
            ..Job::new(name)
        };
        let amount = Stop {
            runtime: None,
            ios: Some(100),
            ..Stop::default()
        };
        let time = Stop {
            runtime: Some(Nanos::from_secs(10)),
            ..Stop::default()
        };
        let cases = [
            Case::new("r", 1, vec![job("r", Mix::READ, amount)]),
            Case::new("w", 1, vec![job("w", Mix::WRITE, time)]),
        ];
        let (times, _) = writing_times(&Plan::once("amount", "", cases.to_vec()));
        assert_eq!(times.len(), 1);
        assert_eq!(times[0].rest, Nanos::MAX);
    }
}
