//! Jobs that ask for all there is, beside jobs of the same case that got the rate that they asked for. The
//! slots of the latter are empty between two operations, so that the case as a whole does not show that
//! those of the former are full.

use std::collections::BTreeSet;

use blocklab_record::{JobResult, PaceKind};
use blocklab_workload::Direction;

use super::processor;
use crate::held::{FULL, NEAR};
use crate::hit::{Hit, info};
use crate::requested::is_missed;
use crate::statement::{delay, fixed, listed, number, percent as share_of};
use crate::view::{CaseView, Cases, job_latency_sum_ns};

/// The finding that latency bounds the jobs without a rate of a case that no limit of its model holds back;
/// `None` where all jobs have one or none has, where a slot of theirs is empty, or where a job with a
/// rate did not get it, which is a finding of its own.
pub(super) fn beside_rates(cases: &Cases<'_>, case: &CaseView<'_>) -> Option<Hit> {
    let (unpaced, paced): (Vec<&JobResult>, Vec<_>) = case.jobs().partition(|job| is_unpaced(job));
    let waits_otherwise = cases.keeps_shares(case) || cases.holds_operations_back(case);
    let is_full = unpaced.iter().all(|job| is_full(job));
    if unpaced.is_empty() || paced.is_empty() || !is_full || waits_otherwise {
        return None;
    }
    if is_missed(case) || processor::is_limited(cases, case) {
        return None;
    }
    let passes = case.passes.len() as f64;
    let iops = unpaced.iter().map(|job| job.iops()).sum::<f64>() / passes;
    let slots = unpaced.iter().map(|job| slots(job)).sum::<f64>() / passes;
    let names: BTreeSet<&str> = unpaced.iter().map(|job| &*job.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let beside = if unpaced.iter().any(|job| has_flushes(job)) {
        "its flushes and "
    } else {
        ""
    };
    let latency = mean_latency_ns(&unpaced)?;
    let hit = info(
        "latency is the limit of {}: {} in flight, {} each, gives {} IOPS beside {}jobs that got their \
         rate",
        [
            fixed(listed(&names, "and")),
            number(slots),
            delay(latency),
            number(iops),
            fixed(beside),
        ],
    );
    Some(
        hit.with("IOPS", iops, "IOPS")
            .with("mean latency", latency, "ns")
            .with("in flight", slots, ""),
    )
}

/// Share of the time of its threads from which on flushes are what a job waits for.
const MOSTLY: f64 = 0.5;

/// The finding that flushes take most of the time of the jobs without a rate that flush; `None`: they take
/// less.
pub(super) fn by_flushes(case: &CaseView<'_>) -> Option<Hit> {
    let flushing: Vec<&JobResult> = case
        .jobs()
        .filter(|job| is_unpaced(job) && has_flushes(job))
        .collect();
    let (mut flushes, mut flushing_ns, mut thread_ns) = (0.0, 0.0, 0.0);
    for job in &flushing {
        let sync = &job.directions[&Direction::Sync];
        flushes += sync.ios as f64;
        flushing_ns += sync.ios as f64 * sync.service.mean_ns;
        thread_ns += job.elapsed_ns as f64 * f64::from(job.threads);
    }
    let share = flushing_ns / thread_ns;
    if !(MOSTLY..=1.0 + NEAR).contains(&share) {
        return None;
    }
    let names: BTreeSet<&str> = flushing.iter().map(|job| &*job.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let of_jobs = match case.only_job() {
        Some(_) => String::new(),
        None => format!(" of {}", listed(&names, "and")),
    };
    let percent = share * 100.0;
    let hit = info(
        "flushes are the limit{}: they take {} of the time, {} each",
        [
            fixed(of_jobs),
            share_of(percent),
            delay(flushing_ns / flushes),
        ],
    );
    let hit = hit.with("share of the time in flushes", percent, "%");
    Some(hit.with("mean time of a flush", flushing_ns / flushes, "ns"))
}

/// Whether a job begins its next operation as soon as one is done.
fn is_unpaced(job: &JobResult) -> bool {
    let has_rate = job.requested_iops.is_some() || job.requested_bytes_per_s.is_some();
    !has_rate && job.pace == PaceKind::Closed && !job.think
}

fn slots(job: &JobResult) -> f64 {
    f64::from(job.threads) * f64::from(job.effective_depth)
}

/// Whether its slots are full, by Little's law.
fn is_full(job: &JobResult) -> bool {
    let in_flight = job_latency_sum_ns(job) / job.elapsed_ns.max(1) as f64;
    job.iops() > 0.0 && in_flight >= FULL * slots(job)
}

fn has_flushes(job: &JobResult) -> bool {
    job.directions.contains_key(&Direction::Sync)
}

/// Mean latency of what moves data; `None`: nothing did, or no latency is known.
fn mean_latency_ns(jobs: &[&JobResult]) -> Option<f64> {
    let (mut ios, mut ns) = (0.0, 0.0);
    for job in jobs {
        let moved = job
            .directions
            .iter()
            .filter(|(direction, _)| **direction != Direction::Sync);
        for (_, moved) in moved {
            ios += moved.ios as f64;
            ns += moved.ios as f64 * moved.service.mean_ns;
        }
    }
    (ns > 0.0).then(|| ns / ios)
}

#[cfg(test)]
mod tests {
    use blocklab_record::Record;
    use blocklab_workload::Direction;

    use crate::testing::model::{gp3, reads, simulated};
    use crate::testing::{Sketch, record, silent, the};

    /// A job of depth 4 without a rate, beside one of depth 32 with this rate that gets 1,000 IOPS.
    fn log_beside(requested: f64) -> Record {
        let mut record = simulated(&[gp3(0.0, 0.0)], &[reads("a", 3000.0, 4, 4)]);
        for pass in &mut record.measurements {
            let mut other = pass.jobs[0].clone();
            other.name = "others".to_owned();
            (other.depth, other.effective_depth) = (32, 32);
            other.requested_iops = Some(requested);
            for moved in other.directions.values_mut() {
                moved.ios /= 3;
            }
            pass.jobs.push(other);
            pass.jobs[0].name = "log".to_owned();
        }
        record
    }

    /// The story: a log of one write at a time beside a database at a rate got a third more from a disk of two
    /// thirds of the latency, and no finding said that latency was its limit.
    #[test]
    fn a_job_without_a_rate_is_bound_by_latency_beside_one_that_got_its_rate() {
        let met = log_beside(1000.0);
        assert_eq!(
            the(&met, "latency-bound").statement,
            "a: latency is the limit of log: 4 in flight, 1.33 ms each, gives 3,000 IOPS beside jobs \
             that got their rate."
        );
        silent(&log_beside(2000.0), "latency-bound");
        // A slot that is empty for half of the time waits for the program and not for the disk.
        let mut idle = log_beside(1000.0);
        for pass in &mut idle.measurements {
            pass.jobs[0].effective_depth = 8;
        }
        silent(&idle, "latency-bound");
    }

    /// The story: a log that flushed each of its writes through the page cache, the usual test of a disk for etcd,
    /// spent 99 % of its time in flushes, alone and beside readers with a rate, and no finding said so.
    #[test]
    fn a_log_waits_for_its_flushes() {
        let flushed = |flush_us: f64, readers: usize| {
            let mut record = record(&[Sketch {
                engine: "psync",
                direction: "write",
                depth: 1,
                iops: vec![400.0; 3],
                latency_ns: Some(20_000.0),
                direct: false,
                ..Sketch::named("wal")
            }]);
            for pass in &mut record.measurements {
                let log = &mut pass.jobs[0];
                let mut sync = log.directions[&Direction::Write].clone();
                sync.service.mean_ns = flush_us * 1e3;
                log.name = "log".to_owned();
                let mut reader = log.clone();
                log.directions.insert(Direction::Sync, sync);
                reader.requested_iops = Some(400.0);
                pass.jobs.resize(1 + readers, reader);
            }
            record
        };
        let alone = the(&flushed(2400.0, 0), "latency-bound");
        assert_eq!(
            alone.statement,
            "wal: flushes are the limit: they take 96 % of the time, 2.40 ms each."
        );
        assert!(
            alone
                .advice
                .is_some_and(|advice| advice.starts_with("Fewer flushes"))
        );
        let beside = the(&flushed(2400.0, 1), "latency-bound");
        assert!(
            beside
                .statement
                .starts_with("wal: flushes are the limit of log: ")
        );
        // On both sides of [`MOSTLY`].
        the(&flushed(1251.0, 0), "latency-bound");
        silent(&flushed(1249.0, 0), "latency-bound");
    }
}
