//! The slices of a pass that can be compared with each other.

use blocklab_record::{Interval, IntervalDirection, Measurement, PaceKind, Stopped};

/// Slices of the measured time, but for a last one that was cut short; `None` where jobs ended at
/// different times: when one ends early, the sum falls for that reason alone.
pub(super) fn whole(pass: &Measurement) -> Option<Vec<&Interval>> {
    let longest = pass.jobs.iter().map(|job| job.elapsed_ns).max()?;
    let full = pass.series.iter().map(|slice| slice.length_ns).max()? / 2;
    let measured = pass.series.iter().filter(|slice| !slice.ramp);
    let slices = measured.filter(|slice| slice.length_ns > full).collect();
    pass.jobs
        .iter()
        .all(|job| {
            let by_time = [Stopped::Runtime, Stopped::Steady, Stopped::Interrupted];
            // Threads that end by bytes end at different times, and the slices do not show that.
            let together = by_time.contains(&job.stopped) || job.threads == 1;
            together && job.elapsed_ns as f64 > longest as f64 * 0.95
        })
        .then_some(slices)
}

/// Whether a recorded load was replayed: its pauses, bursts and trends are those of the recording.
pub(super) fn is_replay(pass: &Measurement) -> bool {
    use PaceKind::{Dependent, Recorded};
    let mut jobs = pass.jobs.iter();
    jobs.any(|job| matches!(job.pace, Recorded | Dependent))
}

/// What moves data. Flushes are in no slice.
pub(super) fn moving(slice: &Interval) -> [&IntervalDirection; 3] {
    [&slice.read, &slice.write, &slice.trim]
}

pub(super) fn ios(slice: &Interval) -> u64 {
    moving(slice).iter().map(|moving| moving.ios).sum()
}

/// Operations a second of each.
pub(super) fn levels(slices: &[&Interval]) -> Vec<f64> {
    slices
        .iter()
        .map(|slice| ios(slice) as f64 * 1e9 / slice.length_ns as f64)
        .collect()
}
