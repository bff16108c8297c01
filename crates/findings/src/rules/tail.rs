//! A share of the operations that takes many times as long as the others, all the time.

use blocklab_device::Covers;
use blocklab_record::{IntervalDirection, Measurement, Origin};
use blocklab_stats::{Summary, mean, median};
use blocklab_workload::{Direction, Pattern};

use super::group;
use super::length::percentile;
use super::slices::{ios, levels, moving, whole};
use super::{episode, processor};
use crate::held::{used_limits, waits};
use crate::hit::{per_case, warning};
use crate::statement::{Slot, delay, word};
use crate::view::{CaseView, Cases};
use crate::{Finding, RowDirection};

/// A quantile by which a tail is judged.
struct TailQuantile {
    name: &'static str,
    quantile: f64,
    /// How many times the median it must be for a heavy tail.
    times_median: f64,
}

/// One operation in a hundred.
const P99: TailQuantile = TailQuantile {
    name: "p99",
    quantile: 0.99,
    times_median: 10.0,
};
/// One operation in a thousand.
const P999: TailQuantile = TailQuantile {
    name: "p999",
    quantile: 0.999,
    times_median: 30.0,
};
/// On a real machine a thread may wait that long for its processor.
const SCHEDULED_NS: f64 = 1e6;
/// Where other programs keep all processors busy, it waits until some of them had their turn, each for a
/// few milliseconds.
const SCHEDULED_BUSY_NS: f64 = 1e7;
/// A slice needs this many operations for its own 99th percentile.
const IN_SLICE: u64 = 200;
/// Fewer slices do not show whether the tail is there all the time.
const SLICES: usize = 5;
/// How many times its median the p99 of a slice must be. Half of what the whole case needs: it rests
/// on few operations, and the slices of an even tail lie on both sides of the case's ratio.
const TIMES_MEDIAN_IN_SLICE: f64 = P99.times_median / 2.0;
/// Chance makes the rate of a second scatter at least by this share of what independent waits
/// would; what is more even is released at a pace.
const PACED: f64 = 0.5;

/// One operation in a hundred, or in a thousand, takes very much longer than the others.
pub(super) fn heavy_tail(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Plan with this percentile: a request that needs several operations waits for the slowest. \
                  Check whether a lower queue depth shortens the tail; if not, look at the device.";
    per_case(cases, "heavy-tail", Some(advice), |case| {
        if !can_tell(cases, case) {
            return None;
        }
        let mut tails = case.row.directions.iter().filter_map(|direction| {
            let (quantile, ns) = tail(cases, case, direction)?;
            lasts(case, direction).then_some((direction, quantile, ns))
        });
        // One finding a case: of the first direction that has a tail.
        let (direction, quantile, ns) = tails.next()?;
        let usual = direction.service_ns.at("p50") as f64;
        Some(
            warning(
                "the {} latency has a heavy tail: {} is {}, {} times the median of {}",
                [
                    word(direction.direction.name()),
                    word(format!("p{}", percentile(quantile))),
                    delay(ns),
                    Slot::Range(ns / usual, |times| format!("{times:.0}")),
                    delay(usual),
                ],
            )
            .graded(ns / usual)
            .with("median", usual, "ns")
            .with(&format!("p{}", percentile(quantile)), ns, "ns"),
        )
    })
}

/// Whether the latencies of a case are those of one medium: operations of one size that go past all
/// caches, none of which waits for a limiter or a processor.
fn can_tell(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let one_size = case.only_job().is_some_and(|job| {
        job.block_sizes
            .as_ref()
            .zip(job.mix)
            .is_some_and(|(sizes, mix)| {
                let mut own = mix
                    .shares()
                    .filter_map(|(direction, _)| sizes.for_direction(direction));
                own.all(|size| size.smallest() == size.largest())
            })
    });
    let served = case.passes[0].observed.is_some();
    one_size
        && !served
        && !cases.has_hits_and_misses()
        && !some_pass_by(cases, case)
        && case.is_direct()
        && !case.is_null()
        && !processor::is_limited(cases, case)
        && !waits(cases, case)
        && group::reached(cases, case).is_none()
        // In a closed loop, an even rate shows a limiter. A requested rate is even without one.
        && !(case.is_saturating() && case.passes.iter().any(|pass| is_paced(pass, case)))
}

/// Less than this share of the operations, or all but as little, is a mixture of two kinds.
const OF_ONE_KIND: f64 = 0.02;

/// Whether some of the random operations of a case come to a limit of their model and others pass it by, as
/// those do that a cache of the host answers, or those on another of unlike volumes.
fn some_pass_by(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    // Operations in sequence are merged, and count for less.
    let in_sequence = case
        .jobs()
        .any(|job| job.pattern == Some(Pattern::Sequential));
    if cases.record.targets.len() > 1 || in_sequence {
        return false;
    }
    let used = used_limits(cases.record, case).into_iter();
    let mut shares = used
        .filter(|limit| limit.counts_operations() && limit.limit.name.kind.covers() == Covers::All)
        .map(|limit| limit.rate / case.iops().max(f64::MIN_POSITIVE));
    shares.any(|share| (OF_ONE_KIND..1.0 - OF_ONE_KIND).contains(&share))
}

/// The first quantile that lies so far from the median, and its latency.
fn tail(cases: &Cases<'_>, case: &CaseView<'_>, direction: &RowDirection) -> Option<(f64, f64)> {
    let moves = [Direction::Read, Direction::Write].contains(&direction.direction);
    let usual = direction.service_ns.at("p50") as f64;
    let least = match cases.record.origin {
        Origin::Simulated => 0.0,
        _ if processor::is_busy_by_others(cases, case) => SCHEDULED_BUSY_NS,
        _ => SCHEDULED_NS,
    };
    // The first that the operations support decides.
    let mut heavy = [P99, P999].into_iter().filter_map(|tail| {
        let ns = direction.service_ns.at(tail.name) as f64;
        let far = ns >= usual * tail.times_median && ns >= least;
        (direction.supports(tail.quantile) && far).then_some((tail.quantile, ns))
    });
    // Only reads and writes: `lasts` looks for the tail of one of these in the slices.
    heavy.next().filter(|_| moves && usual > 0.0)
}

/// Whether the tail is there all the time and not a matter of one moment: in most slices that have
/// operations enough. Where fewer than [`SLICES`] have, the passes must show no episode and no change
/// of their rate, to which the slow operations could belong.
fn lasts(case: &CaseView<'_>, direction: &RowDirection) -> bool {
    let slices: Vec<IntervalDirection> = case
        .passes
        .iter()
        .filter_map(|pass| whole(pass))
        .flatten()
        .map(|slice| match direction.direction {
            Direction::Read => slice.read,
            _ => slice.write,
        })
        .collect();
    let ratios: Vec<f64> = slices
        .iter()
        .filter(|moved| moved.ios >= IN_SLICE && moved.p50_ns > 0)
        .map(|moved| moved.p99_ns as f64 / moved.p50_ns as f64)
        .collect();
    if ratios.len() >= SLICES {
        let heavy = ratios
            .iter()
            .filter(|ratio| **ratio >= TIMES_MEDIAN_IN_SLICE)
            .count();
        // A tail of one in a thousand shows in the longest of a slice, not in its p99.
        heavy * 2 > ratios.len() || is_in_most(&slices, direction)
    } else {
        episode::undisturbed(case).is_none() && case.passes.iter().all(|pass| is_level(pass))
    }
}

/// Whether most slices have an operation as slow as the tail of all.
fn is_in_most(slices: &[IntervalDirection], direction: &RowDirection) -> bool {
    let longest: Vec<f64> = slices.iter().map(|moved| moved.max_ns as f64).collect();
    median(&longest) >= P999.times_median * direction.service_ns.at("p50") as f64
}

/// Whether the rate of a pass has one level, as far as its slices show.
fn is_level(pass: &Measurement) -> bool {
    let Some(slices) = whole(pass) else {
        return true;
    };
    let levels = levels(&slices);
    let half = levels.len() / 2;
    // Halves that differ by a factor below 1.6 are one level.
    half == 0 || (mean(&levels[..half]) / mean(&levels[half..])).ln().abs() < 0.5
}

/// Whether the rate is more even than independent waits of this scatter could make it: the number
/// of operations in a slice then scatters by the root of how many there are, times the coefficient
/// of variation of one. A limiter that lets a budget pass at once makes such waits, too, and no
/// tail of the medium.
fn is_paced(pass: &Measurement, case: &CaseView<'_>) -> bool {
    let slices = whole(pass).unwrap_or_default();
    if slices.len() < SLICES || moving(slices[0]).iter().all(|moved| moved.p50_ns == 0) {
        return false;
    }
    let Some(rate) = Summary::new(&levels(&slices)) else {
        return false;
    };
    let each = slices.iter().map(|slice| ios(slice) as f64).sum::<f64>() / slices.len() as f64;
    let chance = latency_variation(case) / each.max(1.0).sqrt();
    rate.cv() < PACED * chance
}

/// Coefficient of variation of a single latency, over all directions.
fn latency_variation(case: &CaseView<'_>) -> f64 {
    let bins: Vec<(f64, f64)> = case
        .row
        .directions
        .iter()
        .flat_map(|direction| &direction.bins)
        .map(|(low, high, n)| ((*low as f64 + *high as f64) / 2.0, *n as f64))
        .collect();
    let count: f64 = bins.iter().map(|(_, n)| n).sum();
    let mean = bins.iter().map(|(ns, n)| ns * n).sum::<f64>() / count.max(1.0);
    let squares: f64 = bins.iter().map(|(ns, n)| n * (ns - mean).powi(2)).sum();
    (squares / count.max(1.0)).sqrt() / mean.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use crate::testing::model::{gp3, simulated};
    use crate::testing::{Sketch, found, record, silent, the};

    const HEAVY_TAIL: &[(f64, f64)] = &[(0.5, 0.6), (0.6, 0.38), (25.0, 0.02)];

    fn sketch() -> Sketch {
        Sketch {
            depth: 1,
            spread: HEAVY_TAIL,
            ..Sketch::default()
        }
    }

    /// One read in fifty took sixty times as long, without a finding.
    #[test]
    fn two_in_a_hundred_take_fifty_times_as_long() {
        let slow = Sketch {
            iops: vec![700.0; 2],
            ..sketch()
        };
        let finding = the(&record(&[slow]), "heavy-tail");
        assert!(
            finding
                .statement
                .contains("the read latency has a heavy tail: p99 is 35.7 ms"),
            "{}",
            finding.statement
        );
        silent(&record(&[Sketch::default()]), "heavy-tail");
    }

    /// A thread that waits for its processor is late by as much.
    #[test]
    fn a_processor_makes_tails_of_microseconds() {
        let quick = Sketch {
            iops: vec![100_000.0; 2],
            ..sketch()
        };
        silent(&record(&[quick]), "heavy-tail");
    }

    /// The story: reads at a rate of 300 on a disk that answers in 0.3 ms, next to a build that kept all
    /// processors busy: "a heavy tail: p99 is 5.34 ms", and the advice was to look at the device.
    #[test]
    fn a_busy_machine_makes_tails_of_milliseconds() {
        let tails = |iops: f64, busy: u32| {
            let mut record = record(&[Sketch {
                iops: vec![iops; 2],
                ..sketch()
            }]);
            record.environment.processor.count = 2;
            for pass in &mut record.measurements {
                pass.cpu.machine_busy_percent = busy;
                (pass.cpu.user_ns, pass.cpu.system_ns) = (0, 0);
            }
            found(&record, "heavy-tail").len()
        };
        // A p99 of 8 ms, which is a few turns of others, and one of 25 ms, which is more.
        assert_eq!((tails(3000.0, 99), tails(3000.0, 50)), (0, 1));
        assert_eq!((tails(1000.0, 99), tails(1000.0, 50)), (1, 1));
    }

    #[test]
    fn what_is_not_one_kind_of_operation_of_the_device_has_no_tail() {
        let slow = Sketch {
            iops: vec![700.0; 2],
            ..sketch()
        };
        silent(
            &record(&[Sketch {
                direct: false,
                ..slow.clone()
            }]),
            "heavy-tail",
        );
        let mut sizes = record(&[slow]);
        for job in sizes
            .measurements
            .iter_mut()
            .flat_map(|measurement| &mut measurement.jobs)
        {
            job.block_sizes = None;
        }
        silent(&sizes, "heavy-tail");
    }

    /// Four in five reads of an Azure disk behind its host's cache were hits, and the misses "a heavy
    /// tail", with the advice to look at the device.
    #[test]
    fn hits_and_misses_of_a_cache_are_no_tail() {
        let behind = |address: &str| {
            let mut record = record(&[Sketch {
                iops: vec![700.0; 2],
                ..sketch()
            }]);
            record.targets[0].path = address.to_owned();
            record
        };
        let partly = behind("sim:azure/P30,cache=readonly,hits=80%@D8s_v3");
        silent(&partly, "heavy-tail");
        let always = behind("sim:azure/P30,cache=readonly,hits=100%@D8s_v3");
        the(&always, "heavy-tail");
    }

    /// The story: behind the cache of a device file, of which no address says how many reads it holds, one read
    /// in five missed, and that was "a heavy tail" of a load that got its rate.
    #[test]
    fn operations_that_pass_a_limit_by_are_another_kind_and_no_tail() {
        let counted = |share: f64| {
            let slow = Sketch {
                iops: vec![700.0; 2],
                ..sketch()
            };
            let mut record = simulated(&[gp3(0.0, 0.0)], &[slow]);
            for pass in &mut record.measurements {
                let used = &mut pass.model.as_mut().expect("simulated").limits[0];
                used.units = (used.units as f64 * share) as u64;
            }
            found(&record, "heavy-tail").len()
        };
        assert_eq!((counted(1.0), counted(0.2)), (1, 0));
        // On both sides of [`OF_ONE_KIND`](super::OF_ONE_KIND).
        assert_eq!((counted(0.985), counted(0.975)), (1, 0));
        assert_eq!((counted(0.015), counted(0.025)), (1, 0));
    }

    /// A limiter that grants a budget ten times a second lets most pass at once and makes the rest
    /// wait for the next: its seconds are all alike. Seconds of chance are not.
    #[test]
    fn a_limiter_makes_waits_and_no_tail() {
        let seconds = |wobble: [u64; 3]| {
            let mut record = record(&[Sketch {
                iops: vec![700.0; 2],
                ..sketch()
            }]);
            for measurement in &mut record.measurements {
                for (second, slice) in measurement.series.iter_mut().enumerate() {
                    slice.read.ios = 700 + wobble[second % 3];
                    (slice.read.p50_ns, slice.read.p99_ns) = (700_000, 35_000_000);
                }
            }
            record
        };
        silent(&seconds([0, 1, 0]), "heavy-tail");
        assert_eq!(found(&seconds([90, 0, 200]), "heavy-tail").len(), 1);
    }

    /// The story: arrivals by chance at the rate of a limit, and an instance whose credits had run out:
    /// "a heavy tail", and the advice to look at the device, where operations waited for the limit.
    #[test]
    fn waits_for_a_limit_are_no_tail() {
        let of_share = |share| {
            let slow = Sketch {
                iops: vec![700.0; 2],
                ..sketch()
            };
            simulated(&[gp3(share, 0.0)], &[slow])
        };
        silent(&of_share(0.5), "heavy-tail");
        the(&of_share(0.0), "heavy-tail");
    }
}
