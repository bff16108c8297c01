//! Puts the settings of jobs into words for tables: `io_uring, 4 KiB random read, depth 32`.

use blocklab_record::{JobResult, PaceKind};
use blocklab_units::{Bytes, count};
use blocklab_workload::{Durability, EngineKind};

use crate::OnlyJob;

/// A case in words: `io_uring, 4 KiB random read, depth 32, 1 thread`.
pub(crate) fn what(jobs: &[JobResult]) -> String {
    match jobs {
        [] => "nothing".to_owned(),
        [job] => one(job, job.effective_depth, job.threads),
        jobs => {
            let each: Vec<String> = jobs
                .iter()
                .map(|job| {
                    let words = one(job, job.effective_depth, job.threads);
                    format!("{}: {words}", job.name)
                })
                .collect();
            format!("{} jobs: {}", jobs.len(), each.join("; "))
        }
    }
}

/// The settings of a case with a single job; `None` for several jobs.
pub(crate) fn only_job(jobs: &[JobResult]) -> Option<OnlyJob> {
    let [job] = jobs else { return None };
    Some(OnlyJob {
        depth: job.effective_depth,
        threads: job.threads,
        block_bytes: job.block_bytes().filter(|_| job.fidelity.is_none()),
        other_settings: one(job, 0, 0),
    })
}

/// The load as it was requested, whatever an engine made of it: `4 KiB random read, depth 32, 1 thread`.
pub fn without_engine(jobs: &[JobResult]) -> String {
    let each: Vec<String> = jobs
        .iter()
        .map(|job| load(job, job.depth, job.threads))
        .collect();
    each.join("; ")
}

/// A depth or threads of 0 are unknown. Of a served volume nothing else is known either.
fn load(job: &JobResult, depth: u32, threads: u32) -> String {
    let (size, pattern) = (job.block_size_name(), job.pattern_name());
    let mut text = match (&job.block_sizes, &job.pattern, job.mix) {
        // The settings of a replay are bounds: its largest size, and as many in flight as there may be.
        _ if job.fidelity.is_some() => "recorded load".to_owned(),
        (None, None, None) => "load of other programs".to_owned(),
        _ => format!("{size} {pattern} {}", job.mix_name()),
    };
    // Recorded moments keep as much in flight as they take; only a replay without them fills a depth.
    let fills_depth = !matches!(job.pace, PaceKind::Recorded | PaceKind::Dependent);
    if depth > 0 && fills_depth {
        text += &format!(", depth {depth}");
    }
    match threads {
        0 => {}
        1 => text += ", 1 thread",
        threads => text += &format!(", {threads} threads"),
    }
    text
}

/// Describes a job. A depth or a number of threads of 0 is left out of the text.
fn one(job: &JobResult, depth: u32, threads: u32) -> String {
    let mut text = format!("{}, {}", job.engine, load(job, depth, threads));
    if let Some(rate) = job.requested_iops {
        text += &format!(", {} IOPS requested", count(rate));
    }
    if let Some(rate) = job.requested_bytes_per_s {
        text += &format!(", {}/s requested", Bytes(rate as u64));
    }
    if job.think {
        text += ", with pauses";
    }
    if job.direct == Some(false) && !job.engine.is(EngineKind::Null) {
        text += ", through the page cache";
    }
    match job.durability {
        Durability::Dsync => text + ", O_DSYNC",
        Durability::Sync => text + ", O_SYNC",
        Durability::None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record};

    fn job(edit: impl FnOnce(&mut JobResult)) -> JobResult {
        let mut job = record(&[Sketch::default()]).measurements[0].jobs[0].clone();
        edit(&mut job);
        job
    }

    #[test]
    fn a_job_in_words() {
        let check = |edit: fn(&mut JobResult), expected: &str| {
            assert_eq!(what(&[job(edit)]), expected);
        };
        check(|_| {}, "io_uring, 4 KiB random read, depth 32, 1 thread");
        check(
            |job| (job.direct, job.threads) = (Some(false), 4),
            "io_uring, 4 KiB random read, depth 32, 4 threads, through the page cache",
        );
        // Another program reported none of it.
        check(
            |job| (job.direct, job.threads, job.effective_depth) = (None, 0, 0),
            "io_uring, 4 KiB random read",
        );
        check(
            |job| {
                job.requested_iops = Some(3000.0);
                job.durability = Durability::Dsync;
            },
            "io_uring, 4 KiB random read, depth 32, 1 thread, 3,000 IOPS requested, O_DSYNC",
        );
    }

    /// The writes of a database were compared as "1310720 B random read, depth 19139, 1 thread".
    #[test]
    fn a_replay_is_no_load_of_one_size() {
        let replay = |pace| {
            job(|job| {
                job.fidelity = Some(Box::default());
                job.pace = pace;
            })
        };
        let recorded = replay(PaceKind::Recorded);
        assert_eq!(without_engine(&[recorded]), "recorded load, 1 thread");
        let in_order = [replay(PaceKind::Closed)];
        let words = "io_uring, recorded load, depth 32, 1 thread";
        assert_eq!(what(&in_order), words);
        let only = only_job(&in_order).expect("one job");
        assert_eq!(only.block_bytes, None);
    }

    #[test]
    fn several_jobs_are_named() {
        let text = what(&[job(|_| {}), job(|job| job.name = "log".to_owned())]);
        assert!(text.starts_with("2 jobs: load: io_uring"), "{text}");
        assert!(text.contains("; log: io_uring"), "{text}");
    }
}
