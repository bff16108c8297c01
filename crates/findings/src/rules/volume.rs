//! The own statistics of an EBS volume: for how long more was requested than a limit allows.

use blocklab_record::Exceeded;

use crate::Finding;
use crate::hit::{info, per_case};
use crate::statement::{fixed, listed, percent};
use crate::view::{CaseView, Cases};

/// Share of the measured time from which a limit counts as the one that binds.
const MOST: f64 = 0.5;

/// A limit in the statistics: its name, and for how many microseconds it was exceeded.
type Statistic = (&'static str, fn(&Exceeded) -> u64);

const LIMITS: [Statistic; 4] = [
    ("the volume's IOPS", |exceeded| exceeded.volume_iops_us),
    ("the volume's bytes a second", |exceeded| {
        exceeded.volume_throughput_us
    }),
    ("the instance's IOPS for its volumes", |exceeded| {
        exceeded.instance_iops_us
    }),
    (
        "the instance's bytes a second for its volumes",
        |exceeded| exceeded.instance_throughput_us,
    ),
];

/// The limit that was exceeded for most of the measured time, or all that were exceeded for as much of
/// it. The volume counts the requests, so this is no inference.
pub(super) fn volume_statistics(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "More load only adds latency. A limit of the volume can be raised by itself; one \
                  of the instance needs a larger instance.";
    per_case(cases, "volume-statistics", Some(advice), |case| {
        let shares = LIMITS.map(|(name, exceeded_us)| (name, share(case, exceeded_us)));
        let most = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        let longest = shares.iter().filter(|(_, share)| *share == most);
        let names: Vec<&str> = longest.map(|(name, _)| *name).collect();
        let hit = info(
            "{} are the limit: by the volume's own statistics, more was requested in {} of the time",
            [fixed(listed(&names, "and")), percent(most * 100.0)],
        );
        (most >= MOST).then(|| {
            shares.into_iter().fold(hit, |hit, (name, share)| {
                hit.with(name, share * 100.0, "% of the time")
            })
        })
    })
}

/// Share of a case's time, of the volume that exceeded it longest.
fn share(case: &CaseView<'_>, exceeded_us_of: fn(&Exceeded) -> u64) -> f64 {
    let time: u64 = case.passes.iter().map(|pass| pass.elapsed_ns).sum();
    let mut exceeded_us = 0;
    for pass in &case.passes {
        let disks = pass.disks.iter().filter_map(|disk| disk.exceeded.as_ref());
        exceeded_us += disks.map(exceeded_us_of).max().unwrap_or(0);
    }
    (exceeded_us as f64 * 1e3 / time.max(1) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;
    use crate::testing::{Sketch, record, silent, the};

    #[test]
    fn the_limit_that_was_exceeded_longest() {
        let mut record = record(&[Sketch::default()]);
        silent(&record, "volume-statistics");
        for measurement in &mut record.measurements {
            let us = measurement.elapsed_ns / 1000;
            measurement.disks[0].exceeded = Some(Exceeded {
                volume_iops_us: us / 10,
                instance_throughput_us: us * 9 / 10,
                ..Exceeded::default()
            });
        }
        let finding = the(&record, "volume-statistics");
        assert!(
            finding
                .statement
                .contains("the instance's bytes a second for its volumes are the limit"),
            "{}",
            finding.statement
        );
        assert!(finding.statement.contains("90 %"), "{}", finding.statement);
        assert_eq!(finding.confidence, Confidence::High);
    }

    /// The story: a volume that exceeded its own limit and that of its instance all the time was said to
    /// be at the limit of the instance alone, as the last one that was looked at.
    #[test]
    fn limits_that_were_exceeded_all_the_time_are_all_named() {
        let mut record = record(&[Sketch::default()]);
        for measurement in &mut record.measurements {
            measurement.disks[0].exceeded = Some(Exceeded {
                volume_iops_us: measurement.elapsed_ns / 1000,
                instance_iops_us: measurement.elapsed_ns / 1000,
                ..Exceeded::default()
            });
        }
        let statement = the(&record, "volume-statistics").statement;
        let both = "the volume's IOPS and the instance's IOPS for its volumes are the limit";
        assert!(statement.contains(both), "{statement}");
    }

    #[test]
    fn a_moment_at_a_limit_says_nothing() {
        let mut record = record(&[Sketch::default()]);
        for measurement in &mut record.measurements {
            measurement.disks[0].exceeded = Some(Exceeded {
                volume_iops_us: measurement.elapsed_ns / 1000 / 5,
                ..Exceeded::default()
            });
        }
        silent(&record, "volume-statistics");
    }
}
