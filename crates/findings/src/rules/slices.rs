//! The slices of a pass that can be compared with each other.

use blocklab_record::{Interval, IntervalDirection, Measurement, PaceKind, Stopped};

use crate::view::Cases;

/// Slices of the measured time, but for a last one that was cut short; `None` where jobs began or ended
/// at different times: the sum falls and rises for that reason alone.
pub(super) fn whole(pass: &Measurement) -> Option<Vec<&Interval>> {
    let mut longest = pass.jobs.iter().map(|job| job.elapsed_ns).max()?;
    let slices = uncut(&pass.series);
    // Of several jobs, one may have begun when another one had ended.
    if pass.jobs.len() > 1 {
        longest = longest.max(slices.iter().map(|slice| slice.length_ns).sum());
    }
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

/// Slices of the measured time without those that were cut short, which hold no rate of their own:
/// less than half as long as a neighbour. The lengths of a long run grow from one to the next.
pub(crate) fn uncut(series: &[Interval]) -> Vec<&Interval> {
    let measured: Vec<&Interval> = series.iter().filter(|slice| !slice.ramp).collect();
    let lengths: Vec<u64> = measured.iter().map(|slice| slice.length_ns).collect();
    let whole = (0..measured.len()).filter(|place| {
        let (before, after) = (place.saturating_sub(1), lengths.len().min(place + 2));
        let longest = lengths[before..after].iter().max();
        longest.is_some_and(|longest| lengths[*place] >= longest / 2)
    });
    whole.map(|place| measured[place]).collect()
}

/// Whether a recorded load was replayed: its pauses, bursts and trends are those of the recording.
pub(super) fn is_replay(pass: &Measurement) -> bool {
    use PaceKind::{Dependent, Recorded};
    let mut jobs = pass.jobs.iter();
    jobs.any(|job| matches!(job.pace, Recorded | Dependent))
}

/// The advice about passes that were too short. A replay is as long as its trace, and no option makes it
/// longer.
pub(super) fn advice_to_measure_longer(cases: &Cases<'_>, otherwise: &'static str) -> &'static str {
    let mut passes = cases.list.iter().flat_map(|case| &case.passes);
    if passes.all(|pass| is_replay(pass)) {
        "A replay is as long as its trace: replay more of it. `blocklab trace fit` tells whether a volume \
         carries it, by how long its operations wait."
    } else {
        otherwise
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: only slices longer than half of the longest counted, and of a load that lasts for
    /// days, whose slices grow with it, the whole first half was judged by no rule.
    #[test]
    fn growing_slices_are_whole_and_a_cut_one_is_not() {
        let lengths = |all: &[u64]| {
            let slice = |length_ns: &u64| Interval {
                length_ns: *length_ns,
                ..Interval::default()
            };
            let series: Vec<Interval> = all.iter().map(slice).collect();
            let whole = uncut(&series);
            whole
                .iter()
                .map(|slice| slice.length_ns)
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[1, 1, 2, 2, 3, 4, 5, 1]), [1, 1, 2, 2, 3, 4, 5]);
        assert_eq!(lengths(&[10, 10, 6]), [10, 10, 6]);
        assert_eq!(lengths(&[10, 10, 4]), [10, 10]);
        assert_eq!(lengths(&[3, 10, 10]), [10, 10]);
        // The first slice was compared with the third one, too, and was called cut short.
        assert_eq!(lengths(&[4, 8, 10]), [4, 8, 10]);
        assert_eq!(lengths(&[7]), [7]);
        assert!(lengths(&[]).is_empty());
    }
}
