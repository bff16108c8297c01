//! What a container, or a kernel that forbids much, makes of a measurement.

use std::collections::BTreeMap;

use blocklab_record::{Carrier, Record, TargetKind};
use blocklab_workload::EngineKind;

use crate::Finding;
use crate::hit::{info, per_case, per_run, warning};
use crate::statement::{percent as share_of, word};
use crate::view::Cases;

/// Where files of a container that are on no volume lie.
const LAYERED: [&str; 3] = ["overlay", "aufs", "fuse-overlayfs"];
/// Less than this share of the time changes no figure that is shown.
const THROTTLED_PERCENT: f64 = 1.0;

/// io_uring was requested, and another engine carried the operations.
pub(super) fn engine_replaced(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Compare with runs by the same engine only; or allow io_uring (a container's \
                  seccomp profile, the sysctl kernel.io_uring_disabled) and measure again.";
    per_run("engine-replaced", Some(advice), || {
        let engine = carried_by_another(cases.record)?;
        Some(warning(
            "The kernel gave no io_uring to this process, so {} carried the operations: each costs \
             more processor time, and deep queues may be less deep at the device",
            [word(engine)],
        ))
    })
}

/// The engine that carried operations for which io_uring was requested.
fn carried_by_another(record: &Record) -> Option<&'static str> {
    let cases = &record.requested.plan.as_ref()?.cases;
    let planned: BTreeMap<_, _> = cases.iter().map(|case| (&case.name, case)).collect();
    record.measurements.iter().find_map(|measurement| {
        let case = planned.get(&measurement.case)?;
        let jobs = case.workload.jobs.iter().zip(&measurement.jobs);
        let mut of_uring = jobs.filter(|(planned, _)| planned.engine.kind() == EngineKind::IoUring);
        of_uring.find_map(|(_, got)| match &got.engine {
            Carrier::Engine(EngineKind::IoUring | EngineKind::Null) => None,
            Carrier::Engine(other) => Some(other.name()),
            _ => None,
        })
    })
}

/// The target lies on the layers of a container's image.
pub(super) fn layered_file_system(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Mount the volume that is meant into the container, and name a folder on it as the \
                  target.";
    per_run("layered-file-system", Some(advice), || {
        let targets = cases.record.targets.iter();
        let files =
            targets.filter(|target| matches!(target.kind, TargetKind::File | TargetKind::Scratch));
        let mut systems = files.filter_map(|file| file.file_system.as_ref());
        let system = systems.find(|system| LAYERED.contains(&&*system.kind))?;
        Some(warning(
            "The target lies on {} at {}, the file system of a container's own layers, not on a volume",
            [word(&system.kind), word(&system.mount_point)],
        ))
    })
}

/// The control group's quota stopped this process while it was due.
pub(super) fn throttled(cases: &Cases<'_>) -> Vec<Finding> {
    let quota = cases.record.environment.processor_quota;
    let advice = "Give the container a larger limit of processors (or none) and measure again.";
    per_case(cases, "quota-throttled", Some(advice), |case| {
        let passes = case.passes.iter();
        let throttled_ns: u64 = passes.clone().filter_map(|pass| pass.throttled_ns).sum();
        let elapsed_ns: u64 = passes.map(|pass| pass.elapsed_ns).sum();
        let percent = throttled_ns as f64 * 100.0 / elapsed_ns.max(1) as f64;
        (percent >= THROTTLED_PERCENT).then(|| {
            warning(
                "the container's processor quota held blocklab back, for {} of one processor's time: \
                 latencies include these waits, and rates are those of the quota",
                [share_of(percent)],
            )
            .graded(percent)
            .with("held back, all processors together", throttled_ns as f64, "ns")
            .with("processors by quota", quota, "")
        })
    })
}

/// The page cache of a container with little memory is not that of the machine.
pub(super) fn memory_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let Some(limit) = cases.record.environment.memory_limit_bytes else {
        return Vec::new();
    };
    let advice = "Compare with runs under the same limit only, or measure with direct access.";
    per_case(cases, "memory-limit", Some(advice), |case| {
        let buffered = cases.on_storage() && case.jobs().any(|job| job.direct == Some(false));
        buffered.then(|| {
            info(
                "the page cache that this load uses has the container's limit of memory, {}",
                [word(limit.to_string())],
            )
            .with("limit of memory", limit.as_f64(), "bytes")
        })
    })
}

#[cfg(test)]
mod tests {
    use blocklab_units::Bytes;
    use blocklab_workload::{Case, Job, Plan};

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    /// Only a note among others reported it, and figures of two engines were compared.
    #[test]
    fn another_engine_than_the_requested_one_has_a_finding() {
        let mut record = record(&[Sketch::default()]);
        let case = record.measurements[0].case.clone();
        let case = Case::new(case, 0, vec![Job::default()]);
        record.requested.plan = Some(Plan::once("study", "", vec![case]));
        record.measurements[0].jobs[0].engine = Carrier::Engine(EngineKind::Libaio);
        let finding = the(&record, "engine-replaced");
        assert!(finding.statement.contains("libaio carried"), "{finding:?}");
        record.measurements[0].jobs[0].engine = Carrier::Engine(EngineKind::IoUring);
        silent(&record, "engine-replaced");
    }

    /// A pod with half a processor measured half of what its volume delivers, and its user read that the
    /// volume is slow.
    #[test]
    fn a_quota_that_held_us_back_has_a_finding() {
        let mut record = record(&[Sketch::default()]);
        record.environment.processor_quota = Some(0.5);
        for pass in &mut record.measurements {
            pass.throttled_ns = Some(pass.elapsed_ns / 200);
        }
        silent(&record, "quota-throttled");
        for pass in &mut record.measurements {
            pass.throttled_ns = Some(pass.elapsed_ns / 4);
        }
        let finding = the(&record, "quota-throttled");
        assert!(finding.statement.contains("25 %"), "{finding:?}");
        // The kernel counts each processor: two that waited made 100 % of the time, whatever ran.
        for pass in &mut record.measurements {
            pass.throttled_ns = Some(pass.elapsed_ns * 3 / 2);
        }
        let finding = the(&record, "quota-throttled");
        assert!(finding.statement.contains("150 %"), "{finding:?}");
    }

    #[test]
    fn a_limit_of_memory_matters_to_the_page_cache() {
        let mut record = record(&[Sketch::default()]);
        record.environment.memory_limit_bytes = Some(Bytes(512 << 20));
        silent(&record, "memory-limit");
        record.measurements[0].jobs[0].direct = Some(false);
        let finding = the(&record, "memory-limit");
        assert!(finding.statement.contains("512 MiB"), "{finding:?}");
    }

    #[test]
    fn the_layers_of_a_container_are_no_volume() {
        let mut record = record(&[Sketch::default()]);
        silent(&record, "layered-file-system");
        let system = record.targets[0].file_system.get_or_insert_default();
        system.kind = "overlay".to_owned();
        the(&record, "layered-file-system");
    }
}
