//! In: a case of a Record. Out: its load as the closed form of the device model takes it, or why it
//! has none.

use blocklab_device::{DeviceSpec, Load, predict};
use blocklab_findings::view::{CaseView, Cases};
use blocklab_findings::{Obstacle, obstacle};
use blocklab_units::Bytes;
use blocklab_workload::{Direction, Pattern};

/// The load of a case whose rate is the target's: one pattern, with reads and writes of about the
/// same size. The closed form knows sequential streams and random operations; what is
/// neither is taken for random where the device gives the same in any order.
pub(super) fn load(
    run: &Cases<'_>,
    case: &CaseView<'_>,
    spec: &DeviceSpec,
) -> Result<Load, Obstacle> {
    match obstacle(run, case) {
        Some(obstacle) => Err(obstacle),
        None => paced_load(case, spec),
    }
}

/// As [`load`], of a case that may have been asked for less than the target gives.
pub(super) fn paced_load(case: &CaseView<'_>, spec: &DeviceSpec) -> Result<Load, Obstacle> {
    // Neither is in the closed form.
    if ios(case, Direction::Trim) + ios(case, Direction::Sync) > 0 {
        return Err(Obstacle::OtherOperations);
    }
    let first = case.passes.first().and_then(|pass| pass.jobs.first());
    let (reads, writes) = (ios(case, Direction::Read), ios(case, Direction::Write));
    let Some(job) = first.filter(|_| reads + writes > 0 && case.iops() > 0.0) else {
        return Err(Obstacle::Nothing);
    };
    let mut jobs = case.jobs();
    if !jobs.all(|other| (&other.pattern, other.runs) == (&job.pattern, job.runs)) {
        return Err(Obstacle::SeveralPatterns);
    }
    let random = Load::random(
        (reads as f64 / (reads + writes) as f64 * 100.0).round() as u8,
        Bytes(case.bytes_per_io().round() as u64),
        count(case.slots()),
    );
    let sequential = Load {
        streams: count(case.threads()),
        ..random
    };
    if job.is_sequential() {
        return Ok(sequential);
    }
    let is_skewed = job.plain_pattern().is_some_and(Pattern::is_skewed);
    let is_as_random = is_skewed || predict(spec, random) == predict(spec, sequential);
    // Of several volumes, any other pattern may prefer one.
    if job.is_random() || (is_as_random && spec.volumes.len() == 1) {
        Ok(random)
    } else {
        Err(Obstacle::Pattern)
    }
}

/// Operations a second that were requested of all jobs of a case; `None`: of one of them none were.
pub(super) fn requested_iops(case: &CaseView<'_>) -> Option<f64> {
    let jobs = case.passes.first()?.jobs.iter();
    let requested = jobs.map(|job| {
        let by_bytes = job.requested_bytes_per_s;
        job.requested_iops
            .or_else(|| Some(by_bytes? / case.bytes_per_io()))
    });
    requested.sum()
}

/// Threads or slots; no machine has more of them than the number holds.
fn count(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Completed operations of this direction, of all passes.
fn ios(case: &CaseView<'_>, direction: Direction) -> u64 {
    let results = case.jobs().filter_map(|job| job.directions.get(&direction));
    results.map(|result| result.ios).sum()
}
