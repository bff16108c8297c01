//! Whether a replay was what was recorded.

use blocklab_record::{JobResult, PaceKind};

use crate::Finding;
use crate::hit::{per_case, warning};
use crate::statement::{delay, number};
use crate::view::Cases;

/// Later than this in the mean is another load than the recorded one.
const LATE_NS: f64 = 1e6;

/// Operations were issued later than they were recorded: the depth was full, or the machine too slow.
/// Then the device was spared the bursts of the recording.
pub(super) fn late(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Take response latency, which counts from the recorded moment. --max-in-flight lets \
                  more operations in flight; what then still waits is the overload itself.";
    per_case(cases, "replay-late", Some(advice), |case| {
        let jobs = || case.jobs().filter(|job| job.pace == PaceKind::Recorded);
        let late = jobs().filter_map(lateness).reduce(f64::max)?;
        let depth = jobs().map(|job| job.effective_depth).max()?;
        (late > LATE_NS).then(|| {
            warning(
                "the replay was not what was recorded: operations were issued {} late in the mean, \
                 with at most {} in flight",
                [delay(late), number(depth.into())],
            )
            .with("issued late, in the mean", late, "ns")
            .with("most in flight", f64::from(depth), "")
        })
    })
}

/// From the recorded moment to the issue, in the mean of all operations: response less service.
fn lateness(job: &JobResult) -> Option<f64> {
    let (mut sum, mut ios) = (0.0, 0.0);
    for direction in job.directions.values() {
        let response = direction.response.as_ref()?;
        let count = direction.ios as f64;
        sum += (response.mean_ns - direction.service.mean_ns).max(0.0) * count;
        ios += count;
    }
    (ios > 0.0).then(|| sum / ios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    /// The story: a recorded hour that overran its volume was replayed with one operation in flight.
    /// Its pace was called closed, and a finding named the single operation as what limited the rate.
    #[test]
    fn a_replay_that_was_late_says_so_and_blames_no_depth() {
        let replayed = |late_ns: f64| {
            let mut record = record(&[Sketch::default()]);
            let jobs = record.measurements.iter_mut().flat_map(|m| &mut m.jobs);
            for job in jobs {
                job.pace = PaceKind::Recorded;
                for direction in job.directions.values_mut() {
                    let mut response = direction.service.clone();
                    response.mean_ns += late_ns;
                    direction.response = Some(response);
                }
            }
            record
        };
        let finding = the(&replayed(2.5e9), "replay-late");
        assert!(
            finding.statement.contains("issued 2.50 s late"),
            "{finding:?}"
        );
        silent(&replayed(2.5e9), "latency-bound");
        silent(&replayed(5e4), "replay-late");
    }
}
