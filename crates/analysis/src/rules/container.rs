//! What a container, or a kernel that forbids much, makes of a measurement.

use std::collections::BTreeMap;

use blocklab_record::{Carrier, TargetKind};
use blocklab_workload::EngineKind;

use super::hit::{of_run, warning};
use super::says::word;
use crate::Finding;
use crate::view::Cases;

/// Where files of a container that are on no volume lie.
const LAYERED: [&str; 3] = ["overlay", "aufs", "fuse-overlayfs"];

/// Another engine carried the operations than the one that was asked for.
pub(super) fn engine_replaced(cases: &Cases<'_>) -> Vec<Finding> {
    let Some(plan) = &cases.record.asked.plan else {
        return Vec::new();
    };
    let planned: BTreeMap<_, _> = plan.cases.iter().map(|case| (&case.name, case)).collect();
    let replaced = cases.record.measurements.iter().find_map(|measurement| {
        let case = planned.get(&measurement.case)?;
        let mut jobs = case.workload.jobs.iter().zip(&measurement.jobs);
        jobs.find_map(|(asked, got)| match (asked.engine.kind(), &got.engine) {
            (EngineKind::IoUring, Carrier::Engine(EngineKind::IoUring | EngineKind::Null)) => None,
            (EngineKind::IoUring, Carrier::Engine(other)) => Some(other.name()),
            _ => None,
        })
    });
    let Some(engine) = replaced else {
        return Vec::new();
    };
    let advice = "Compare with runs by the same engine only; or allow io_uring (a container's \
                  seccomp profile, the sysctl kernel.io_uring_disabled) and measure again.";
    let hit = warning(
        "The kernel gave no io_uring to this process, so {} carried the operations: each costs \
         more processor time, and deep queues may be less deep at the device",
        [word(engine)],
    );
    vec![of_run("engine-replaced", Some(advice), hit)]
}

/// The target lies on the layers of a container's image.
pub(super) fn layered_file_system(cases: &Cases<'_>) -> Vec<Finding> {
    let is_layered = |kind: &str| LAYERED.contains(&kind);
    let targets = cases.record.targets.iter();
    let files = targets.filter(|it| matches!(it.kind, TargetKind::File | TargetKind::Scratch));
    let mut systems = files.filter_map(|it| it.file_system.as_ref());
    let Some(system) = systems.find(|system| is_layered(&system.kind)) else {
        return Vec::new();
    };
    let advice = "Mount the volume that is meant into the container and name a folder on it with \
                  --target.";
    let hit = warning(
        "The target lies on {} at {}, the file system of a container's own layers, not on a volume",
        [word(&system.kind), word(&system.mount_point)],
    );
    vec![of_run("layered-file-system", Some(advice), hit)]
}

#[cfg(test)]
mod tests {
    use blocklab_workload::{Case, Job, Plan};

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    /// Only a note among others told it, and figures of two engines were compared.
    #[test]
    fn another_engine_than_the_one_that_was_asked_for_is_told() {
        let mut record = record(&[Sketch::default()]);
        let case = record.measurements[0].case.clone();
        let case = Case::new(case, 0, vec![Job::default()]);
        record.asked.plan = Some(Plan::once("study", "", vec![case]));
        record.measurements[0].jobs[0].engine = Carrier::Engine(EngineKind::Libaio);
        let finding = the(&record, "engine-replaced");
        assert!(finding.statement.contains("libaio carried"), "{finding:?}");
        record.measurements[0].jobs[0].engine = Carrier::Engine(EngineKind::IoUring);
        silent(&record, "engine-replaced");
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
