//! `concatenatesds=yes`: the storage definitions of a workload are one device.

use blocklab_workload::{Job, Share};

use super::ParameterFile;
use super::defs::{Sd, Seek};
use super::error::{Mistake, Subject};
use super::rates::PlannedJob;
use super::run::{Run, Use};

/// Operations in flight of a concatenation for which no others are requested.
const THREADS: u32 = 8;

/// Operations in flight of a workload whose storage definitions are concatenated into one device;
/// `None` for any other workload.
pub fn concatenated_threads(file: &ParameterFile, run: &Run, workload: &Use) -> Option<u32> {
    let is_concatenated = file.general.concatenate && workload.sds.len() > 1;
    is_concatenated.then(|| run.threads.or(workload.wd.threads).unwrap_or(THREADS))
}

/// What does not depend on where one storage definition ends and the next begins can be run.
///
/// # Errors
/// What does depend on it.
pub(super) fn check(file: &ParameterFile, validates: bool, workload: &Use) -> Result<(), Mistake> {
    let wd = &workload.wd;
    let sds: Vec<&Sd> = workload.sds.iter().map(|index| &file.sds[*index]).collect();
    let flags = sds.first().map(|sd| sd.openflags);
    let refused = [
        (wd.seek != Seek::Percent(100.0), "any seekpct= but 100"),
        (wd.streams > 0, "streams="),
        (wd.stride.is_some(), "stride="),
        (wd.range.is_some(), "range= or hotband="),
        (sds.iter().any(|sd| sd.range.is_some()), "range= of an sd"),
        (wd.rhpct > 0.0 || wd.whpct > 0.0, "rhpct= or whpct="),
        (validates, "data validation"),
        (file.general.data_errors.remove, "data_errors=remove"),
        (
            wd.openflags.is_none() && sds.iter().any(|sd| Some(sd.openflags) != flags),
            "storage opened in different ways",
        ),
    ];
    match refused.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, what)) => Err(wd.error(format_args!(
            "with concatenatesds=yes, {what} is not run; without it, it is"
        ))),
        None => Ok(()),
    }
}

/// Lets the jobs of a workload on each of its storage definitions share their operations in flight. Each
/// does as large a part of the operations as its storage is of the whole. `group` numbers the jobs
/// that keep these shares; each workload has its own.
pub(super) fn concatenate(
    jobs: &mut [Job],
    planned_jobs: &mut [PlannedJob],
    sizes: &[u64],
    threads: u32,
    group: u32,
) {
    let whole: u64 = planned_jobs.iter().map(|job| sizes[job.sd]).sum();
    for (job, planned_job) in jobs.iter_mut().zip(planned_jobs) {
        let part = sizes[planned_job.sd] as f64 / whole.max(1) as f64;
        planned_job.skew *= part;
        planned_job.fixed = planned_job.fixed.map(|rate| rate * part);
        job.depth = threads;
        if let Some(pooled) = &mut job.pool {
            pooled.pool = format!("concat/{}", planned_job.wd);
            pooled.depth = threads;
            pooled.share = Some(Share {
                group,
                weight: part,
            });
        }
    }
}
