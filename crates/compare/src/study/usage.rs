//! What a case cost the processor, and what the device below saw, over all its passes.

use blocklab_record::{Measurement, Record, ThreadUse};
use blocklab_workload::publication::Figure;

/// A figure of the counted passes; `None` where it was not counted, as in virtual time.
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
            running_ns(&passes)?;
            let switches = threads_sum(&passes, |used| {
                used.voluntary_switches + used.involuntary_switches
            })?;
            Some(switches / passes.len() as f64)
        }
        Figure::DiskIos => {
            let disks: Vec<_> = passes.iter().flat_map(|pass| &pass.disks).collect();
            let ios: u64 = disks
                .iter()
                .map(|disk| disk.read_ios + disk.write_ios)
                .sum();
            (!disks.is_empty()).then(|| ios as f64 / passes.len() as f64)
        }
        Figure::DiskBusyPercent => {
            let mut sum = 0.0;
            for pass in &passes {
                let busy = pass.disks.iter().map(|disk| disk.busy_ms).max()?;
                sum += busy as f64 * 1e8 / pass.elapsed_ns.max(1) as f64;
            }
            (!passes.is_empty()).then(|| sum / passes.len() as f64)
        }
        _ => None,
    }
}

/// Over all jobs of these passes; `None` where the use of one was not counted.
fn threads_sum(passes: &[&Measurement], of: fn(&ThreadUse) -> u64) -> Option<f64> {
    let jobs = passes.iter().flat_map(|pass| &pass.jobs);
    let each = jobs.map(|job| Some(of(job.threads_use.as_ref()?)));
    Some(each.sum::<Option<u64>>()? as f64)
}

fn running_ns(passes: &[&Measurement]) -> Option<f64> {
    threads_sum(passes, |used| used.running_ns).filter(|ns| *ns > 0.0)
}
