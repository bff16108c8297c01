//! How an engine submits operations, one by one or many at a time, and takes their completions.

use blocklab_record::JobResult;
use blocklab_workload::EngineKind;

use crate::Finding;
use crate::held::target_latency_ns;
use crate::hit::{info, per_case, warning};
use crate::statement::{delay, fixed, number, percent as share, word};
use crate::view::Cases;

/// An engine kept fewer operations in flight than requested.
pub(super) fn useless_depth(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Use io_uring, or libaio with direct access, for depth; or more threads.";
    per_case(cases, "useless-depth", Some(advice), |case| {
        let depths = |job| (job, depth_in_force(cases, job));
        let (job, in_force) = case
            .jobs()
            .map(depths)
            .find(|(job, in_force)| *in_force < job.depth)?;
        let buffered = if blocks_on_submission(cases, job) {
            " without direct access"
        } else {
            ""
        };
        Some(
            warning(
                "{}{} keeps {} operation in flight per thread: the depth of {} had no effect",
                [
                    word(job.engine.to_string()),
                    fixed(buffered),
                    number(f64::from(in_force)),
                    number(f64::from(job.depth)),
                ],
            )
            .with("requested depth", f64::from(job.depth), "")
            .with("depth in force", f64::from(in_force), ""),
        )
    })
}

fn depth_in_force(cases: &Cases<'_>, job: &JobResult) -> u32 {
    if blocks_on_submission(cases, job) {
        job.effective_depth.min(1)
    } else {
        job.effective_depth
    }
}

/// Whether an operation is done before the call that submits it returns: libaio is asynchronous with direct
/// access alone.
pub(super) fn blocks_on_submission(cases: &Cases<'_>, job: &JobResult) -> bool {
    let is_modelled = cases.is_simulated() || cases.is_emulated();
    job.engine.is(EngineKind::Libaio) && job.direct == Some(false) && !is_modelled
}

/// Share of the latency from which the wait for a batch is worth a figure.
const BATCH_PERCENT: f64 = 5.0;

/// A completion is handled with the others of its batch, and its latency lasts until then. The model
/// knows when its target was done; of a real one it is only certain that the wait is in the figure.
pub(super) fn batched(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Compare latencies only with those of the same batch; with completions taken one \
                  by one (batch_complete = 1) they are the target's.";
    per_case(cases, "batched-completions", Some(advice), |case| {
        let at_a_time = cases.completions_at_a_time(case);
        if at_a_time < 2 || case.is_null() || case.latency_ns() <= 0.0 {
            return None;
        }
        let (taken, latency) = (number(f64::from(at_a_time)), case.latency_ns());
        let Some(target) = target_latency_ns(case) else {
            let hit = info(
                "completions are taken {} at a time: the latency of each, {} on average, lasts \
                 until the others of its batch are there",
                [taken, delay(latency)],
            );
            return Some(hit.with("completions at a time", f64::from(at_a_time), ""));
        };
        let waited = latency - target;
        let percent = waited / latency * 100.0;
        (percent >= BATCH_PERCENT).then(|| {
            info(
                "completions are taken {} at a time: {} of the mean latency is the wait for the \
                 others of a batch, {} of {}",
                [taken, share(percent), delay(waited), delay(latency)],
            )
            .with("completions at a time", f64::from(at_a_time), "")
            .with("mean latency", latency, "ns")
            .with("mean latency of the target", target, "ns")
        })
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::{ModelUse, Record, TargetUse};
    use blocklab_workload::{Case, Job, Plan};

    use crate::testing::{Sketch, record, silent, the};

    #[test]
    fn depth_does_nothing_for_a_synchronous_engine() {
        let sketch = |engine, depth| {
            record(&[Sketch {
                engine,
                depth,
                ..Sketch::default()
            }])
        };
        let finding = the(&sketch("psync", 16), "useless-depth");
        assert_eq!(
            finding.statement,
            "rand4k-q32-read: psync keeps 1 operation in flight per thread: the depth of 16 had \
             no effect."
        );
        silent(&sketch("psync", 1), "useless-depth");
        silent(&sketch("libaio", 16), "useless-depth");
    }

    /// The story: 16 reads in flight by libaio through the page cache were done one by one: "IOPS x latency is
    /// 50 % below the queue depth: measure again on a quiet machine".
    #[test]
    fn libaio_has_no_depth_without_direct_access() {
        let sketch = |engine, direct| {
            record(&[Sketch {
                engine,
                direct,
                latency_ns: Some(1.6e6),
                ..Sketch::default()
            }])
        };
        let buffered = sketch("libaio", false);
        assert_eq!(
            the(&buffered, "useless-depth").statement,
            "rand4k-q32-read: libaio without direct access keeps 1 operation in flight per thread: the \
             depth of 32 had no effect."
        );
        silent(&buffered, "littles-law");
        for other in [sketch("libaio", true), sketch("io_uring", false)] {
            silent(&other, "useless-depth");
            the(&other, "littles-law");
        }
    }

    /// The story: a load that took its completions 16 at a time had twice the latency of its volume,
    /// and the only finding was that latency is the limit.
    #[test]
    fn the_wait_for_a_batch_is_told_from_the_latency_of_the_target() {
        let batched = |at_a_time: u32, mut record: Record| {
            let mut job = Job {
                depth: 32,
                ..Job::default()
            };
            job.batch.complete = at_a_time;
            let name = record.measurements[0].case.clone();
            let case = Case::new(name, 0, vec![job]);
            record.requested.plan = Some(Plan::once("study", "", vec![case]));
            record
        };
        let real = the(
            &batched(16, record(&[Sketch::default()])),
            "batched-completions",
        );
        assert_eq!(
            real.statement,
            "rand4k-q32-read: completions are taken 16 at a time: the latency of each, 3.20 ms on \
             average, lasts until the others of its batch are there."
        );
        silent(
            &batched(1, record(&[Sketch::default()])),
            "batched-completions",
        );
        let modelled = |share_in_target: f64| {
            let mut record = batched(16, record(&[Sketch::default()]));
            for pass in &mut record.measurements {
                let in_target = TargetUse {
                    target: 0,
                    ios: 1000,
                    bytes: 4_096_000,
                    in_device_ns: (3_200_000_000.0 * share_in_target) as u64,
                };
                pass.model = Some(Box::new(ModelUse {
                    targets: vec![in_target],
                    limits: Vec::new(),
                }));
            }
            record
        };
        let waits = the(&modelled(0.5), "batched-completions");
        assert_eq!(
            waits.statement,
            "rand4k-q32-read: completions are taken 16 at a time: 50 % of the mean latency is the \
             wait for the others of a batch, 1.60 ms of 3.20 ms."
        );
        silent(&modelled(0.98), "batched-completions");
    }
}
