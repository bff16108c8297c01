//! Whether jobs with a rate got it.

use blocklab_record::{JobResult, PaceKind};
use blocklab_workload::Direction;

use crate::view::CaseView;

/// Below this share the rate counts as missed; the last operations of a run cost the rest.
const REACHED: f64 = 0.98;
/// A rate that is met to within this share is met, though operations waited for a limit.
const MET: f64 = 0.995;
/// Share of the operations that may be due and not begun at the end of a run: what the rate may lack. A
/// target that is busy for most of the time leaves as many behind by chance, now more and now less.
const LATE: f64 = 1.0 - MET;

/// Whether every job has a rate, and got it.
pub(crate) fn is_met(case: &CaseView<'_>) -> bool {
    case.jobs().all(|job| {
        let delivered = delivered(job);
        delivered.is_some_and(|delivered| {
            missed(job).is_none() && delivered.share() >= MET - scatter(job, delivered.share())
        })
    })
}

/// Whether a job with a rate did not get it.
pub(crate) fn is_missed(case: &CaseView<'_>) -> bool {
    case.jobs().any(|job| missed(job).is_some())
}

/// Whether every job has a rate, makes no pauses, and did not get its rate.
pub(crate) fn is_missed_by_all(case: &CaseView<'_>) -> bool {
    let mut jobs = case.jobs();
    jobs.all(|job| missed(job).is_some() && !job.think)
}

/// The largest shortfall of a job in a pass; `None` if every job with a rate got it.
pub(crate) fn worst(case: &CaseView<'_>) -> Option<RequestedRate> {
    let missed = case.jobs().filter_map(missed);
    missed.min_by(|a, b| a.share().total_cmp(&b.share()))
}

/// What was requested of a job with a rate, and what it delivered, in one unit a second.
pub(crate) struct RequestedRate {
    pub(crate) requested: f64,
    pub(crate) delivered: f64,
    /// Operations that were due and never began.
    pub(crate) overdue: u64,
    /// Whether the job pauses of its own accord.
    pub(crate) pauses: bool,
    pub(crate) unit: &'static str,
}

impl RequestedRate {
    pub(crate) fn share(&self) -> f64 {
        self.delivered / self.requested
    }
}

/// `None` for a job without a rate.
fn delivered(job: &JobResult) -> Option<RequestedRate> {
    let (requested, delivered, unit) = match (job.requested_iops, job.requested_bytes_per_s) {
        (Some(rate), _) => (rate, job.iops(), "IOPS"),
        (None, Some(rate)) => (rate / 1e6, job.bytes_per_s() / 1e6, "MB/s"),
        (None, None) => return None,
    };
    let found = RequestedRate {
        requested,
        delivered,
        overdue: job.accounting.overdue,
        pauses: job.think,
        unit,
    };
    (requested > 0.0).then_some(found)
}

/// What a rate may lack by chance: the last operation of each thread, which was not due yet, and of random
/// arrivals as many as their number in the measured time scatters by, which is its root. `share`: what the
/// job did of what was due.
fn scatter(job: &JobResult, share: f64) -> f64 {
    let counts = &job.accounting;
    let measured = counts.issued.saturating_sub(counts.completed_in_ramp);
    let measured = measured.max(1) as f64;
    let by_arrival = match job.pace {
        PaceKind::OpenPoisson => 3.0 / measured.sqrt(),
        _ => 0.0,
    };
    let due = measured / share.max(f64::MIN_POSITIVE);
    f64::from(job.threads) / due + by_arrival
}

/// How far a job stayed below the rate that it asked for.
pub(crate) fn missed(job: &JobResult) -> Option<RequestedRate> {
    let found = delivered(job)?;
    // More is missing than the end of a run and chance explain. A job that reads back what it wrote has its
    // rate over the time of both.
    let is_short = !reads_back(job) && found.share() < REACHED - scatter(job, found.share());
    // What was due in the last moments had no time to begin: of a low rate, the last one of each thread.
    let late = found.overdue as f64 / job.accounting.issued.max(1) as f64;
    let is_late = late > LATE && found.overdue > u64::from(job.threads);
    (is_short || is_late).then_some(found)
}

/// Whether a job reads what it wrote when it has written all of it.
pub(crate) fn reads_back(job: &JobResult) -> bool {
    job.verified.is_some() && job.directions.contains_key(&Direction::Write)
}
