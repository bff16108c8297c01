//! In: the recorders of a run. Out: its Measurement.

use std::collections::BTreeMap;

use blocklab_record::{
    Accounting, ByPriority, Carrier, Depths, DirectionDetail, DirectionResult, JobResult, Latency,
    Measurement, Note, NoteLevel, PaceKind, Stopped, ThreadUse, Verified,
};
use blocklab_units::Nanos;
use blocklab_worker::{
    DirectionCounters, JobLog, KeptMiscompare, LatencyHistogram, PriorityTable, Progress, Window,
    latency_sum,
};
use blocklab_workload::{Direction, Job, Rate, Runs};

use super::failures::{errors, miscompares};
use super::fidelity::fidelity;
use super::samples::Sampler;
use super::steady::Rounds;
use super::usage::Usage;
use super::watch::Seen;
use super::workers::{WorkerStatus, Workers, members_of};
use super::{Backing, Outcome, Run};

/// The moments and the usage of the process at both ends of a run.
#[derive(Default)]
pub(crate) struct RunSpan {
    /// When the run was requested, before its set-up.
    pub(crate) called: Nanos,
    /// When its threads began.
    pub(crate) start: Nanos,
    pub(crate) before: Usage,
    pub(crate) after: Usage,
}

/// All that a run returns: its measurement, and what is not part of a Record.
pub(crate) fn outcome(run: Run<'_>, workers: &Workers, span: &RunSpan, seen: Seen) -> Outcome {
    let mut measurement = measurement(run, workers, span, &seen);
    measurement.series = seen.series;
    Outcome {
        measurement,
        notes: notes(run, workers),
        abandoned: seen.abandoned,
        miscompares: kept_miscompares(run, workers),
        logs: logs(run, workers, &seen.windows),
        progress: progress(run, workers),
    }
}

/// The notes of the threads, and those on what a model ignores.
fn notes(run: Run<'_>, workers: &Workers) -> Vec<Note> {
    let mut notes = workers.notes.clone();
    for (job, files) in run.workload.jobs.iter().zip(run.targets) {
        if !job.priority_shares.is_empty()
            && files
                .iter()
                .any(|file| !matches!(file.backing, Backing::File))
        {
            let subject = format!("priorities of job {}", job.name);
            let text = "operations are counted by their priority, and the model serves them in the \
                        order of their arrival";
            notes.push(Note::new(NoteLevel::Approximated, subject, text));
        }
    }
    notes
}

/// The measurement so far, while some of the jobs still run.
pub(crate) fn so_far(run: Run<'_>, workers: &Workers, span: &RunSpan, seen: &Seen) -> Measurement {
    let mut measurement = measurement(run, workers, span, seen);
    for (index, job) in measurement.jobs.iter_mut().enumerate() {
        let mut members = members_of(&workers.members, index);
        if members.any(|member| member.ended.is_none()) {
            // It has not ended, so it is not stalled.
            if job.stopped == Stopped::Stalled {
                job.stopped = Stopped::Runtime;
            }
            account_for_all(&mut job.accounting);
        }
    }
    measurement
}

/// Makes the counts of a running job balance. They are read one after the other, and a fast worker
/// changes them between two reads, so that a run which was killed after a frame appeared to have lost
/// operations. What is neither completed nor failed is in flight.
const fn account_for_all(counts: &mut Accounting) {
    counts.in_flight = counts
        .issued
        .saturating_sub(counts.completed + counts.failed);
    // More were completed than issued where the first count was read earlier.
    counts.issued = counts.completed + counts.failed + counts.in_flight;
}

/// Measured time from which a frame shows figures of a job.
const LEAST_MEASURED: Nanos = Nanos(100_000_000);

/// Counts what was measured for a moment only as ramp. The counters are read a moment after the
/// clock, so right after a ramp a few operations in less than a millisecond would give a rate beyond
/// any limit.
pub(crate) fn omit_moments(measurement: &mut Measurement) {
    for job in &mut measurement.jobs {
        if job.elapsed_ns < LEAST_MEASURED.0 {
            job.directions.clear();
            job.accounting.completed_in_ramp = job.accounting.completed;
        }
    }
}

/// The measurement without its series.
fn measurement(run: Run<'_>, workers: &Workers, span: &RunSpan, seen: &Seen) -> Measurement {
    let members = workers.members.iter();
    let begins = members.map(|member| member.recorder.begun.get());
    let elapsed = seen.end.since(span.start);
    let jobs = run.workload.jobs.iter().enumerate();
    let mut cpu = span.after.since(&span.before);
    cpu.busiest_thread_percent = busiest_thread(workers, elapsed);
    Measurement {
        pass: 1,
        started_ns: span.start.0,
        elapsed_ns: elapsed.0,
        setup_ns: setup_ns(begins, span),
        jobs: jobs
            .map(|(index, job)| job_result(job, index, workers, seen))
            .collect(),
        cpu,
        uring_workers_max: seen.uring_workers_max,
        stood_still_ns: (seen.stood_still > Nanos::ZERO).then_some(seen.stood_still.0),
        ..Measurement::default()
    }
}

/// From the call to the beginning of the first thread, or to the start where none began.
fn setup_ns(begins: impl Iterator<Item = u64>, span: &RunSpan) -> u64 {
    // The initial value: this thread never began.
    let begun = begins.filter(|begun| *begun < u64::MAX);
    let first = begun.min().unwrap_or(span.start.0);
    first.saturating_sub(span.called.0)
}

/// Processor time of the busiest thread, in percent of the run.
fn busiest_thread(workers: &Workers, elapsed: Nanos) -> u32 {
    let busiest = workers
        .members
        .iter()
        .filter_map(|member| member.recorder.thread_use())
        .map(|used| used.user_ns + used.system_ns)
        .max();
    (busiest.unwrap_or(0) * 100 / elapsed.0.max(1)) as u32
}

/// Several operations for each offset of the pattern. Of a skewed pattern that is random in part, the
/// share that goes on in a row is recorded so, as it is one that follows a drawn offset.
fn runs(job: &Job) -> Option<Runs> {
    let percent = job.random_percent.filter(|_| job.pattern.is_skewed());
    job.runs.or_else(|| {
        let percent = percent?;
        let shares = job.mix.shares();
        let drawn = shares
            .map(|(direction, share)| u32::from(share) * u32::from(percent[direction as usize]));
        let drawn = (drawn.sum::<u32>() / 100).clamp(1, 100);
        Some(Runs {
            follow_percent: 100 - drawn as u8,
            ..Runs::default()
        })
    })
}

/// The result of the job at `index`, added up over its workers; `seen` is what the watch observed.
fn job_result(job: &Job, index: usize, workers: &Workers, seen: &Seen) -> JobResult {
    let members: Vec<&WorkerStatus> = members_of(&workers.members, index).collect();
    let stopped = most_severe(&members);
    let unanswered = unanswered(&members, seen);
    let (requested_iops, requested_bytes_per_s) = requested(job);
    JobResult {
        name: job.name.clone(),
        engine: Carrier::Engine(job.engine.kind()),
        pattern: Some(job.pattern.clone()),
        runs: runs(job),
        block_sizes: Some(job.sizes.clone()),
        mix: Some(job.mix),
        access: Some(job.access),
        durability: job.durability,
        pace: match &job.replay {
            Some(replay) if !replay.dependencies.is_empty() => PaceKind::Dependent,
            Some(replay) if replay.keeps_time => PaceKind::Recorded,
            _ => job.pace.into(),
        },
        think: job.think.is_some(),
        threads: job.threads,
        depth: job.depth,
        effective_depth: job.effective_depth(),
        direct: Some(workers.direct[index]),
        requested_iops,
        requested_bytes_per_s,
        elapsed_ns: measured_time(seen.windows[index], &members, seen, stopped).0,
        stopped,
        directions: directions(
            &members,
            seen.samples.iter().find(|samples| samples.is_of(index)),
            &unanswered,
        ),
        errors: {
            let mut errors = errors(&members);
            let slow = seen
                .min_rate
                .iter()
                .filter(|min_rate| min_rate.job == index);
            errors.extend(slow.filter_map(|min_rate| min_rate.missed.clone()));
            errors.extend(miscompares(&members));
            errors
        },
        accounting: Accounting {
            oldest_in_flight_ns: unanswered.iter().map(|(_, age)| age.0).max(),
            ..accounting(&members)
        },
        threads_use: threads_use(&members),
        host: None,
        depths: depths(&members),
        found_depth: found_depth(&members),
        verified: verified(job, &members, seen.windows[index]),
        fidelity: fidelity(job, &members),
        steady_rounds: {
            let rounds = seen.steady.get(index).and_then(Option::as_ref);
            rounds.map_or_else(Vec::new, |rounds| rounds.window().to_vec())
        },
        pool: job.pool.as_ref().map(|pooled| pooled.pool.clone()),
    }
}

/// Operations a second and bytes a second that a job requested, all directions together; `None` for a
/// unit in which it requested no rate.
fn requested(job: &Job) -> (Option<f64>, Option<f64>) {
    let rates = job.rates().unwrap_or_default();
    // Rates of two units have no sum.
    let units = rates.iter().map(|rate| in_its_unit(*rate));
    let (iops, bytes): (Vec<_>, Vec<_>) = units.unzip();
    let sums = [iops, bytes].map(|all| all.into_iter().sum::<Option<f64>>());
    let [iops, bytes] = sums.map(|sum| sum.filter(|sum| *sum > 0.0));
    (iops, bytes)
}

/// A rate as operations a second, or as bytes a second.
const fn in_its_unit(rate: Rate) -> (Option<f64>, Option<f64>) {
    match rate {
        Rate::Iops(iops) => (Some(iops), None),
        Rate::Bytes(bytes) => (None, Some(bytes)),
    }
}

/// How a job ended whose threads ended differently: what needs the user's attention most.
fn most_severe(members: &[&WorkerStatus]) -> Stopped {
    members
        .iter()
        .map(|member| match (member.ended, member.stopper.reason()) {
            // After a signal the wait is short, so operations that miss it are not a hang.
            (None, Some(Stopped::Interrupted)) => Stopped::Interrupted,
            (None, _) => Stopped::Stalled,
            // A worker that was asked to stop reports its own end; why it was asked is known here.
            (Some(stopped), reason) => reason.unwrap_or(stopped),
        })
        .max_by_key(|stopped| match stopped {
            Stopped::Runtime => 0,
            Stopped::Bytes | Stopped::Loops => 1,
            Stopped::Steady => 2,
            Stopped::Interrupted => 3,
            Stopped::Error => 4,
            Stopped::Stalled => 5,
        })
        .unwrap_or(Stopped::Runtime)
}

/// From the end of the ramp to the last completion. A job that its runtime, a signal or its steady
/// state ended has measured until then, even if nothing completed at its end.
fn measured_time(
    window: Window,
    members: &[&WorkerStatus],
    seen: &Seen,
    stopped: Stopped,
) -> Nanos {
    let last = members
        .iter()
        .map(|member| member.recorder.last_completion.get())
        .max();
    let mut until = Nanos(last.unwrap_or(0));
    match stopped {
        Stopped::Runtime => until = until.max(window.deadline.min(seen.end)),
        Stopped::Interrupted => until = until.max(seen.interrupted_at.unwrap_or_default()),
        // The time in which the device gave no answer belongs to what was measured.
        Stopped::Stalled => until = seen.end,
        Stopped::Steady => {
            let rounds = members
                .first()
                .and_then(|member| seen.steady[member.job].as_ref());
            let closed = rounds.map_or(Nanos::ZERO, Rounds::closed);
            until = until.max(window.measure_from.saturating_add(closed));
        }
        // A job that ended with its last operation.
        _ => {}
    }
    until.since(window.measure_from)
}

/// What the threads of a job used together; `None` before one has ended, and in virtual time.
fn threads_use(members: &[&WorkerStatus]) -> Option<ThreadUse> {
    let used = members
        .iter()
        .filter_map(|member| member.recorder.thread_use());
    used.copied().reduce(std::ops::Add::add)
}

/// How many operations were in flight, over all workers; `None`: the job does not count them.
fn depths(members: &[&WorkerStatus]) -> Option<Depths> {
    let counters = members.iter().filter_map(|member| member.recorder.depths());
    counters.fold(None, |sum, counters| {
        let mut sum: Depths = sum.unwrap_or_default();
        counters.add_to(&mut sum);
        Some(sum)
    })
}

/// How the data of a job compared; `None` if it verifies nothing.
fn verified(job: &Job, members: &[&WorkerStatus], window: Window) -> Option<Verified> {
    if job.verify.is_none() && job.validation().is_none() {
        return None;
    }
    let mut verified = Verified::default();
    for recorder in members.iter().map(|member| &*member.recorder) {
        verified.blocks += recorder.verified.get();
        verified.assumed_writes += recorder.assumed_writes.get();
        verified.assumed_bytes += recorder.assumed_bytes.get();
        verified.miscompared += recorder.miscompares().count;
    }
    let began = members
        .iter()
        .map(|member| member.recorder.verify_began.get())
        // 0: it has not begun to read back.
        .filter(|moment| *moment > 0)
        .min();
    verified.began_ns = began.map(|moment| Nanos(moment).since(window.measure_from).0);
    Some(verified)
}

/// The miscompares that are kept one by one, each with the name of its job.
fn kept_miscompares(run: Run<'_>, workers: &Workers) -> Vec<(String, KeptMiscompare)> {
    workers
        .members
        .iter()
        .flat_map(|member| {
            let job = run.workload.jobs[member.job].name.clone();
            let kept = member.recorder.miscompares().kept.into_iter();
            kept.map(move |kept| (job.clone(), kept))
        })
        .collect()
}

/// The log of each worker that keeps one, with the name of its job.
fn logs(run: Run<'_>, workers: &Workers, windows: &[Window]) -> Vec<(String, JobLog)> {
    let kept = workers.members.iter().filter_map(|member| {
        let job = &run.workload.jobs[member.job];
        let from = windows[member.job].measure_from;
        let end = Nanos(member.recorder.last_completion.get()).since(from);
        let mut log = member
            .recorder
            .log
            .as_ref()?
            .lock()
            .expect("no panic under this lock");
        Some((job.name.clone(), log.finish(end)))
    });
    kept.collect()
}

/// How far the writes of each worker came that verifies them, with the name of its job.
fn progress(run: Run<'_>, workers: &Workers) -> Vec<(String, Progress)> {
    workers
        .members
        .iter()
        .filter_map(|member| {
            let progress = member.recorder.progress()?.clone();
            Some((run.workload.jobs[member.job].name.clone(), progress))
        })
        .collect()
}

/// The sum of the depths that the threads found; `None` if none has found one.
fn found_depth(members: &[&WorkerStatus]) -> Option<u32> {
    members
        .iter()
        .filter_map(|member| member.recorder.found_depth())
        .reduce(|sum, depth| sum + depth)
}

/// Direction and age of the operations that were given up; empty while they are still waited for.
fn unanswered(members: &[&WorkerStatus], seen: &Seen) -> Vec<(Direction, Nanos)> {
    members
        .iter()
        .filter(|member| seen.abandoned && member.ended.is_none())
        .flat_map(|member| member.recorder.ages(seen.end))
        .collect()
}

/// The results of each direction in which operations completed.
fn directions(
    members: &[&WorkerStatus],
    samples: Option<&Sampler>,
    unanswered: &[(Direction, Nanos)],
) -> BTreeMap<Direction, Box<DirectionResult>> {
    let mut results = BTreeMap::new();
    for direction in Direction::ALL {
        let by_thread: Vec<&DirectionCounters> = members
            .iter()
            .filter_map(|member| member.recorder.counters(direction))
            .collect();
        let ios = by_thread.iter().map(|counters| counters.ios.get()).sum();
        if ios == 0 {
            continue;
        }
        let ages = unanswered.iter().filter(|(its, _)| *its == direction);
        let age = ages.map(|(_, age)| age.0).max().unwrap_or(0);
        let tables: Vec<_> = by_thread
            .iter()
            .filter_map(|counters| counters.by_priority.as_ref())
            .collect();
        let by_priority = PriorityTable::sum(&tables);
        let completion = measured(&by_thread, |counters| counters.completion.as_ref());
        let service = latency_sum(by_thread.iter().map(|counters| &counters.service));
        let mut result = DirectionResult {
            ios,
            bytes: by_thread.iter().map(|counters| counters.bytes.get()).sum(),
            service: service.to_latency(),
            response: measured(&by_thread, |counters| counters.response.as_ref()),
            submit: measured(&by_thread, |counters| counters.submit.as_ref()),
            detail: detail(completion, by_priority, direction, samples),
        };
        // An operation that was given up has taken at least as long as its age.
        for latency in [&mut result.service]
            .into_iter()
            .chain(&mut result.response)
        {
            latency.max_ns = latency.max_ns.max(age);
        }
        results.insert(direction, Box::new(result));
    }
    results
}

/// A latency that only some jobs measure, of all threads together; `None` if it was not measured.
fn measured(
    by_thread: &[&DirectionCounters],
    of_thread: fn(&DirectionCounters) -> Option<&LatencyHistogram>,
) -> Option<Latency> {
    let sum = latency_sum(by_thread.iter().filter_map(|counters| of_thread(counters)));
    (sum.max > 0).then(|| sum.to_latency())
}

/// What only some jobs measure in a direction; `None` if this one measures none of it.
fn detail(
    completion: Option<Latency>,
    by_priority: Vec<ByPriority>,
    direction: Direction,
    samples: Option<&Sampler>,
) -> Option<Box<DirectionDetail>> {
    if completion.is_none() && samples.is_none() && by_priority.is_empty() {
        return None;
    }
    let sampled = samples.map(|samples| samples.of_direction(direction));
    let (bytes_per_s, iops) = sampled.unwrap_or_default();
    Some(Box::new(DirectionDetail {
        completion,
        bytes_per_s,
        iops,
        by_priority,
    }))
}

/// The count of operations. For threads that have ended none may be missing: that is our promise, not
/// the device's.
fn accounting(members: &[&WorkerStatus]) -> Accounting {
    let mut total = Accounting::default();
    for member in members {
        let counted = member.recorder.accounting();
        assert!(
            member.ended.is_none() || counted.balances(),
            "an operation was lost: {counted:?}"
        );
        total.issued += counted.issued;
        total.completed += counted.completed;
        total.completed_in_ramp += counted.completed_in_ramp;
        total.failed += counted.failed;
        total.in_flight += counted.in_flight;
        total.overdue += counted.overdue;
    }
    total
}

#[cfg(test)]
mod tests {
    use blocklab_stats::Histogram;
    use blocklab_workload::{Mix, Pattern};

    use super::*;

    /// A job with reads in this measured time.
    fn job(elapsed_ns: u64) -> JobResult {
        let service = Latency::new(&Histogram::new(), 100_000, 100_000, 5e5, 5e10);
        let reads = DirectionResult::new(5, 5 * 4096, service);
        JobResult {
            elapsed_ns,
            directions: BTreeMap::from([(Direction::Read, Box::new(reads))]),
            accounting: Accounting {
                completed: 5,
                ..Accounting::default()
            },
            ..JobResult::default()
        }
    }

    /// The story: a job with `random_distribution=zipf:2` and `percentage_random=20` was recorded as zipf
    /// alone, so that it was compared with one that is, and expected to be as fast as random operations.
    #[test]
    fn a_skewed_pattern_that_is_random_in_part_is_recorded_as_such() {
        let mut job = Job::new("a");
        job.pattern = Pattern::Zipf { theta: 2.0 };
        let recorded = |job: &Job| JobResult {
            pattern: Some(job.pattern.clone()),
            runs: runs(job),
            ..JobResult::default()
        };
        assert_eq!(recorded(&job).plain_pattern(), Some(&job.pattern));
        job.mix = Mix::reads(50);
        job.random_percent = Some([40, 0, 100]);
        let partly = recorded(&job);
        assert_eq!(partly.plain_pattern(), None);
        assert_eq!(partly.pattern_name(), format!("20 % {}", job.pattern));
    }

    /// The story: the set-up time of a run that was stopped before its first operation was 2^64 ns less its
    /// start.
    #[test]
    fn a_run_that_issues_nothing_is_set_up_until_its_start() {
        let span = RunSpan {
            called: Nanos(1_000),
            start: Nanos(1_400),
            before: Usage::default(),
            after: Usage::default(),
        };
        assert_eq!(setup_ns([u64::MAX, 1_600, 1_500].into_iter(), &span), 500);
        assert_eq!(setup_ns([u64::MAX, u64::MAX].into_iter(), &span), 400);
        assert_eq!(setup_ns([].into_iter(), &span), 400);
    }

    /// The story: a run whose store filled up left its last frame, and that had "5,768,107 operations
    /// were issued, but 5,768,106 are accounted for", as an error of blocklab.
    #[test]
    fn the_counts_of_a_running_job_balance() {
        for (issued, completed, in_flight) in [(107, 100, 6), (100, 101, 3), (100, 96, 4)] {
            let mut counts = Accounting {
                issued,
                completed,
                in_flight,
                ..Accounting::default()
            };
            account_for_all(&mut counts);
            assert!(counts.balances(), "{counts:?}");
            assert_eq!(counts.completed, completed);
        }
    }

    /// The story: a frame came right after a ramp of a second, and `list` and `show` of the run had
    /// 16,084 IOPS, "536 % of a limit of 3,000 IOPS", until the next frame; for ever, where the run was
    /// killed before it.
    #[test]
    fn a_moment_after_the_ramp_is_no_rate() {
        let mut measurement = Measurement {
            jobs: vec![job(300_000), job(100_000_000)],
            ..Measurement::default()
        };
        omit_moments(&mut measurement);
        let [moment, measured] = &measurement.jobs[..] else {
            panic!("two jobs")
        };
        assert!(moment.directions.is_empty());
        assert_eq!(moment.accounting.completed_in_ramp, 5);
        assert_eq!(measured.directions.len(), 1);
        assert_eq!(measured.accounting.completed_in_ramp, 0);
    }
}
