//! How much of the time a case kept its own rate.

use blocklab_record::{Interval, IntervalDirection, Record};
use blocklab_stats::median;
use blocklab_workload::Direction;

use crate::rules::uncut;

/// How far from its median a rate may lie, in per cent.
pub const NEAR_PERCENT: f64 = 10.0;
/// With fewer slices of time a share would be a guess.
const FEWEST: usize = 10;

/// The share of the time, in per cent, in which a case moved within [`NEAR_PERCENT`] of its median
/// rate, over all passes that count and without their ramps; `None`: too few slices were kept.
pub fn share_near_median(record: &Record, case: &str, direction: Direction) -> Option<f64> {
    let measured = record
        .measurements
        .iter()
        .filter(|measurement| measurement.case == case && measurement.pass > 0);
    let slices = measured.flat_map(|measurement| uncut(&measurement.series));
    let rates: Vec<f64> = slices
        .filter_map(|slice| Some(operations(slice, direction)? as f64 / slice.length_ns as f64))
        .collect();
    if rates.len() < FEWEST {
        return None;
    }
    let median = median(&rates);
    let near = rates
        .iter()
        .filter(|rate| (**rate - median).abs() <= median * NEAR_PERCENT / 100.0);
    (median > 0.0).then(|| near.count() as f64 / rates.len() as f64 * 100.0)
}

/// Operations of a direction in an interval; `None` for syncs, which a series does not count.
fn operations(interval: &Interval, direction: Direction) -> Option<u64> {
    let in_direction: &IntervalDirection = match direction {
        Direction::Read => &interval.read,
        Direction::Write => &interval.write,
        Direction::Trim => &interval.trim,
        Direction::Sync => return None,
    };
    Some(in_direction.ios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record};

    /// A case whose slices of one second have these numbers of reads.
    fn share(reads: &[u64]) -> Option<f64> {
        let mut run = record(&[Sketch::default()]);
        run.measurements.truncate(1);
        let measurement = &mut run.measurements[0];
        let slice = |ios: &u64| {
            let mut slice = Interval {
                length_ns: 1_000_000_000,
                ..Interval::default()
            };
            slice.read.ios = *ios;
            slice
        };
        measurement.series = reads.iter().map(slice).collect();
        let case = measurement.case.clone();
        share_near_median(&run, &case, Direction::Read)
    }

    #[test]
    fn a_stall_takes_its_share_of_the_time() {
        let mut reads = vec![100, 105, 95, 109, 91, 100, 100, 100, 100, 100];
        assert_eq!(share(&reads), Some(100.0));
        reads[3] = 0;
        reads[4] = 300;
        assert_eq!(share(&reads), Some(80.0));
        assert_eq!(share(&reads[..9]), None, "nine seconds show nothing");
        assert_eq!(share(&[0; 20]), None, "nothing moved");
    }
}
