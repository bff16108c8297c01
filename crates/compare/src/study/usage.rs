//! What a case cost the processor, and what the device below saw, over all its passes.

use blocklab_record::{Measurement, Record, ThreadUse};
use blocklab_workload::publication::Figure;

/// A figure of the counted passes; `None`: nobody counted, as in virtual time.
pub(super) fn figure(record: &Record, case: &str, figure: Figure) -> Option<f64> {
    let measurements = record.measurements.iter();
    let passes: Vec<&Measurement> = measurements
        .filter(|measurement| measurement.case == case && measurement.pass > 0)
        .collect();
    let sum = |of: &dyn Fn(&ThreadUse) -> u64| -> Option<f64> {
        let jobs = passes.iter().flat_map(|pass| &pass.jobs);
        let all = jobs.map(|job| Some(of(job.threads_use.as_ref()?)));
        Some(all.sum::<Option<u64>>()? as f64)
    };
    let running = || sum(&|it| it.running_ns).filter(|it| *it > 0.0);
    let each = |all: f64| all / passes.len() as f64;
    match figure {
        Figure::CpuUserPercent => Some(sum(&|it| it.user_ns)? / running()? * 100.0),
        Figure::CpuSystemPercent => Some(sum(&|it| it.system_ns)? / running()? * 100.0),
        Figure::ContextSwitches => {
            let switches = sum(&|it| it.voluntary_switches + it.involuntary_switches);
            running().and(switches).map(each)
        }
        Figure::DiskIos => {
            let disks = || passes.iter().flat_map(|pass| &pass.disks);
            let ios: u64 = disks().map(|disk| disk.read_ios + disk.write_ios).sum();
            disks().next().map(|_| each(ios as f64))
        }
        Figure::DiskBusyPercent => {
            let of_pass = |it: &&Measurement| {
                let busy = it.disks.iter().map(|disk| disk.busy_ms).max()?;
                Some(busy as f64 * 1e8 / it.elapsed_ns.max(1) as f64)
            };
            let all: Vec<f64> = passes.iter().map(of_pass).collect::<Option<_>>()?;
            (!all.is_empty()).then(|| each(all.iter().sum()))
        }
        _ => None,
    }
}
