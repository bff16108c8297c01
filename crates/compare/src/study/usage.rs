//! In: a run and a case. Out: the processor time that it took and what the device below it did,
//! over all of its passes.

use blocklab_record::{Measurement, Record, ThreadUse};
use blocklab_workload::publication::Figure;

/// A figure over the passes that count; `None` where nothing counted it, as in virtual time.
pub(super) fn figure(record: &Record, case: &str, figure: Figure) -> Option<f64> {
    let measurements = record.measurements.iter();
    let passes: Vec<&Measurement> = measurements
        .filter(|measurement| measurement.case == case && measurement.pass > 0)
        .collect();
    match figure {
        Figure::CpuUserPercent => {
            Some(threads_sum(&passes, |used| used.user_ns)? / running_ns(&passes)? * 100.0)
        }
        Figure::CpuSystemPercent => {
            Some(threads_sum(&passes, |used| used.system_ns)? / running_ns(&passes)? * 100.0)
        }
        Figure::ContextSwitches => {
            // Threads without running time were not counted, and their zeros are no switches.
            running_ns(&passes)?;
            let switches = threads_sum(&passes, |used| {
                used.voluntary_switches + used.involuntary_switches
            })?;
            Some(switches / passes.len() as f64)
        }
        Figure::DiskIos => mean(&passes, |pass| {
            let ios = pass.disks.iter().map(|disk| disk.read_ios + disk.write_ios);
            ios.reduce(u64::saturating_add).map(|ios| ios as f64)
        }),
        Figure::DiskBusyPercent => mean(&passes, |pass| {
            // Of several disks the busiest is the one that can hold the load back.
            let busy_ms = pass.disks.iter().map(|disk| disk.busy_ms).max()? as f64;
            Some(busy_ms * 1e6 / pass.elapsed_ns.max(1) as f64 * 100.0)
        }),
        _ => None,
    }
}

/// The mean of a figure of a pass; `None` if a pass has none.
fn mean(passes: &[&Measurement], figure: fn(&Measurement) -> Option<f64>) -> Option<f64> {
    let figures: Option<Vec<f64>> = passes.iter().map(|pass| figure(pass)).collect();
    figures
        .filter(|figures| !figures.is_empty())
        .map(|figures| blocklab_stats::mean(&figures))
}

/// The sum over all jobs of these passes; `None` if a job was not counted.
fn threads_sum(passes: &[&Measurement], counted: fn(&ThreadUse) -> u64) -> Option<f64> {
    let jobs = passes.iter().flat_map(|pass| &pass.jobs);
    let each = jobs.map(|job| Some(counted(job.threads_use.as_ref()?)));
    Some(each.sum::<Option<u64>>()? as f64)
}

/// Running time of all threads; `None` where it was not counted.
fn running_ns(passes: &[&Measurement]) -> Option<f64> {
    threads_sum(passes, |used| used.running_ns).filter(|ns| *ns > 0.0)
}
