//! In: two or more Records, one of them the baseline.
//! Out: which loads they share, how each figure of a shared load differs, whether that difference
//! is more than the scatter between passes, and what else differs between the runs.

mod contrast;
mod differences;
mod pairs;

use std::fmt;

use blocklab_record::Record;
use blocklab_workload::Direction;
use serde::{Serialize, Serializer};

pub use contrast::{Clocked, Contrast, Quantity, Verdict};
pub use differences::Difference;

pub(crate) use contrast::{clocked, latencies, supports, values};
pub(crate) use differences::{aspects, each as each_target, lasting_path};
pub(crate) use pairs::{Load, loads};

use contrast::contrasts;
use pairs::{Side, matched};

/// Confidence level of every interval of a comparison, in per cent.
pub const LEVEL_PERCENT: f64 = 95.0;

/// Which differences count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margins {
    /// The smallest difference that matters: anything below it is called negligible, however
    /// certain it is.
    pub at_least_percent: f64,
    /// The difference that a plan for more passes aims at: [`Contrast::passes_to_show`] is the
    /// number of passes that would show it.
    pub show_percent: f64,
}

impl Margins {
    /// Rates and means that differ by less than this count as equal, so no smaller difference can
    /// be shown.
    pub const SAME_PERCENT: f64 = contrast::SAME * 100.0;
}

impl Default for Margins {
    fn default() -> Self {
        Self {
            at_least_percent: 0.0,
            show_percent: 5.0,
        }
    }
}

/// Two or more runs, load by load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Place of the run that the others are compared with, among the runs given.
    pub baseline: usize,
    /// Smaller differences are called negligible.
    pub at_least_percent: f64,
    /// The difference that [`Contrast::passes_to_show`] is computed for.
    pub show_percent: f64,
    /// Places of the runs that completed no operation outside their ramps.
    #[serde(skip)]
    pub without_completion: Vec<usize>,
    /// What differs between the runs besides their figures; what can explain a difference of the
    /// figures comes first.
    pub differences: Vec<Difference>,
    /// One entry for each run except the baseline, in the order given.
    pub against: Vec<Against>,
}

/// One run against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Against {
    /// Place among the runs given.
    pub run: usize,
    /// Loads that both have, in the order of the baseline.
    pub pairs: Vec<Pair>,
    /// Loads that only one has.
    pub unmatched: Vec<Unmatched>,
}

impl Against {
    /// How many pairs have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let pairs = self.pairs.iter();
        pairs.filter(|pair| pair.verdict == verdict).count()
    }

    /// How many times as fast as the baseline the loads with this verdict are: the geometric mean
    /// of their ratios, with the ratio of a latency inverted. `None` where no load has a ratio.
    pub fn mean_speed(&self, verdict: Verdict) -> Option<f64> {
        let pairs = self.pairs.iter().filter(|pair| pair.verdict == verdict);
        let speeds = pairs.filter_map(|pair| {
            let headline = pair.headline()?;
            let ratio = headline.ratio.filter(|ratio| *ratio > 0.0)?;
            let log = ratio.ln();
            // Half the latency is twice the speed.
            Some(if headline.quantity.is_latency() {
                -log
            } else {
                log
            })
        });
        let speeds: Vec<f64> = speeds.collect();
        (!speeds.is_empty()).then(|| (speeds.iter().sum::<f64>() / speeds.len() as f64).exp())
    }
}

/// The same load on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Name of the case at the baseline.
    pub case: String,
    /// Name at the other run, where it has another name there.
    pub other_case: Option<String>,
    /// What the operations did.
    pub direction: Direction,
    /// What the sweep set.
    pub settings: Vec<(String, String)>,
    /// `4 KiB random read, depth 32, 1 thread`: what both did.
    pub what: String,
    /// Settings that differ although the load counts as the same: `engine: psync | io_uring`.
    pub differs: Vec<String>,
    /// Whether a rate was requested. Both sides then deliver that rate, and only latencies can show
    /// a difference.
    #[serde(skip)]
    pub is_paced: bool,
    /// The verdict on the rate; where a rate was requested, on the mean latency.
    pub verdict: Verdict,
    /// The rate first, then latencies.
    pub contrasts: Vec<Contrast>,
}

impl Pair {
    /// The figure that decides the verdict: the rate, or the mean latency where a rate was
    /// requested.
    pub fn headline(&self) -> Option<&Contrast> {
        if self.is_paced {
            self.contrasts.iter().find(|c| c.quantity.is_mean_latency())
        } else {
            self.contrasts.first()
        }
    }
}

/// A load that only one side has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unmatched {
    /// Place of its run among those given.
    pub run: usize,
    /// Name of the case.
    pub case: String,
    /// What the operations did.
    pub direction: Direction,
    /// Why the other side has none that is the same.
    pub why: Lone,
}

/// Why a load of one run has no partner in another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lone {
    /// The other run has no load of this kind.
    Absent,
    /// The other run had it to do, or nothing at all, and completed no operation of it.
    NothingCompleted,
    /// The load of the same name is another one: its settings that differ, the baseline's first.
    Differs(String),
}

impl fmt::Display for Lone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => write!(f, "only this run has this load"),
            Self::NothingCompleted => write!(f, "the other run completed nothing of it"),
            Self::Differs(settings) => write!(f, "{settings}"),
        }
    }
}

/// In JSON, the reason is its text.
impl Serialize for Lone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Compares every run with the baseline, load by load.
///
/// Two loads are the same if they agree in direction, block size, pattern, mix, depth, threads,
/// pace and durability. Loads of the same name and settings are paired first. A load that remains
/// is paired by what it does, whatever its name, if exactly one candidate is left on each side.
/// Then the same is done again, and whether random operations may hit a block twice is no matter. A
/// single pass on a side never gives a verdict of faster or slower.
///
/// # Panics
/// When `baseline` is not an index of `records`.
pub fn compare(records: &[&Record], baseline: usize, margins: Margins) -> Comparison {
    let loads: Vec<Vec<Load<'_>>> = records.iter().map(|record| loads(record)).collect();
    let side = |run: usize| Side {
        run,
        record: records[run],
        loads: &loads[run],
    };
    let others = (0..records.len()).filter(|run| *run != baseline);
    Comparison {
        baseline,
        at_least_percent: margins.at_least_percent,
        show_percent: margins.show_percent,
        against: others
            .map(|run| {
                let found = matched(side(baseline), side(run));
                Against {
                    run,
                    pairs: found
                        .pairs
                        .into_iter()
                        .map(|(a, b)| pair(&a, &b, margins))
                        .collect(),
                    unmatched: found.unmatched,
                }
            })
            .collect(),
        without_completion: (0..records.len())
            .filter(|run| loads[*run].is_empty())
            .collect(),
        differences: differences::all(records),
    }
}

/// A load of both runs, with the contrast of each of its figures.
fn pair(base: &Load<'_>, other: &Load<'_>, margins: Margins) -> Pair {
    let mut pair = Pair {
        case: base.case.to_owned(),
        other_case: (base.case != other.case).then(|| other.case.to_owned()),
        direction: base.direction,
        settings: base.settings.to_vec(),
        what: base.what(),
        differs: base.differs(other),
        is_paced: base.is_paced(),
        verdict: Verdict::Unknown,
        contrasts: contrasts(base, other, margins),
    };
    pair.verdict = pair
        .headline()
        .map_or(Verdict::Unknown, |contrast| contrast.verdict);
    pair
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record, run};
    use blocklab_units::Bytes;
    use blocklab_workload::{BlockSizes, Durability, Mix, Pattern};

    fn only(base: &Record, other: &Record) -> Pair {
        let mut found = compare(&[base, other], 0, Margins::default());
        assert_eq!(found.against[0].pairs.len(), 1, "{found:?}");
        found.against[0].pairs.remove(0)
    }

    #[track_caller]
    fn check(base: &[f64], other: &[f64], expected: Verdict) -> Pair {
        let pair = only(&run(base), &run(other));
        assert_eq!(pair.verdict, expected, "{pair:?}");
        pair
    }

    #[test]
    fn a_difference_beyond_the_scatter_is_called() {
        let pair = check(
            &[10_000.0, 10_100.0, 9_900.0],
            &[20_000.0, 20_200.0, 19_800.0],
            Verdict::Faster,
        );
        let rate = &pair.contrasts[0];
        assert!((rate.ratio.expect("a ratio") - 2.0).abs() < 1e-3);
        assert!(rate.ci95_low.expect("a bound") > 1.9);
        // Twice the rate at the same depth is half the latency, by Little's law.
        let mean = &pair.contrasts[1];
        assert!(mean.quantity.is_mean_latency());
        assert!((mean.ratio.expect("a ratio") - 0.5).abs() < 1e-3);
        assert_eq!(mean.verdict, Verdict::Faster, "less latency is faster");
        check(
            &[200.0, 201.0, 199.0],
            &[100.0, 101.0, 99.0],
            Verdict::Slower,
        );
    }

    #[test]
    fn a_difference_within_the_scatter_is_not() {
        check(
            &[10_000.0, 12_000.0, 9_000.0],
            &[11_000.0, 12_500.0, 9_500.0],
            Verdict::NoDifference,
        );
        check(&[500.0; 3], &[500.2; 3], Verdict::NoDifference);
    }

    /// The story: a comparison showed 11,105 and 11,099 IOPS, the medians of the passes, and beside
    /// them a ratio of 1.158, that of their geometric means. What is divided is what is shown.
    #[test]
    fn the_ratio_is_the_quotient_of_the_figures_beside_it() {
        let (base, other) = (
            run(&[7_000.0, 11_105.0, 11_200.0]),
            run(&[11_000.0, 11_099.0, 40_000.0]),
        );
        let pair = only(&base, &other);
        assert!(pair.contrasts.len() > 2, "{pair:?}");
        for contrast in &pair.contrasts {
            let quotient = contrast.other / contrast.baseline;
            let ratio = contrast.ratio.expect("a ratio");
            assert!((ratio / quotient - 1.0).abs() < 1e-12, "{contrast:?}");
        }
        let rate = &pair.contrasts[0];
        let mean = (7_000.0_f64 * 11_105.0 * 11_200.0).cbrt();
        assert!((rate.baseline / mean - 1.0).abs() < 1e-3, "{rate:?}");
    }

    /// The story: a volume was simulated twice, and the second run was "slower" at 0.998: certain,
    /// and of no interest to anybody.
    #[test]
    fn a_difference_that_does_not_matter_is_not_called() {
        let (base, other) = (run(&[1000.0, 1000.1, 999.9]), run(&[990.0, 990.1, 989.9]));
        let judged = |at_least_percent: f64| {
            let margins = Margins {
                at_least_percent,
                ..Margins::default()
            };
            compare(&[&base, &other], 0, margins).against[0].pairs[0].verdict
        };
        assert_eq!(judged(0.0), Verdict::Slower);
        assert_eq!(judged(0.9), Verdict::Slower);
        assert_eq!(judged(2.0), Verdict::Negligible);
    }

    /// The story: two runs of three passes were reported as "no difference shown", and their owner read
    /// "the same"; the passes could not have shown a difference of a third.
    #[test]
    fn what_could_have_been_shown_is_reported() {
        let pair = check(
            &[10_000.0, 12_000.0, 9_000.0],
            &[11_000.0, 12_500.0, 9_500.0],
            Verdict::NoDifference,
        );
        let rate = &pair.contrasts[0];
        let could = rate.could_show_percent.expect("three passes");
        let (low, high) = (rate.ci95_low.expect("low"), rate.ci95_high.expect("high"));
        let ratio = rate.ratio.expect("a ratio");
        assert!(
            (high / ratio - 1.0 - could / 100.0).abs() < 1e-9,
            "{rate:?}"
        );
        assert!((ratio / low - 1.0 - could / 100.0).abs() < 1e-9, "{rate:?}");
        // 2 · 1.96² · 0.15² / ln(1.05)²: of 13 to 15 % scatter, about 65 passes.
        let passes = rate.passes_to_show.expect("a number");
        assert!((50..90).contains(&passes), "{passes}");
        let single = check(&[10_000.0], &[13_000.0], Verdict::Unknown);
        let contrast = &single.contrasts[0];
        assert_eq!(
            (contrast.could_show_percent, contrast.passes_to_show),
            (None, None)
        );
    }

    /// The story: two single runs differ by a third, and a table calls one of them the winner.
    #[test]
    fn one_pass_is_never_called_better() {
        let pair = check(&[10_000.0], &[13_000.0], Verdict::Unknown);
        let rate = &pair.contrasts[0];
        assert!((rate.ratio.expect("a ratio") - 1.3).abs() < 1e-9);
        assert_eq!((rate.ci95_low, rate.passes), (None, [1, 1]));
        check(&[10_000.0; 3], &[13_000.0], Verdict::Unknown);
    }

    #[test]
    fn a_run_against_itself_shows_no_difference() {
        let sketches = [Sketch::named("a"), Sketch::named("b")];
        let one = record(&sketches);
        let found = compare(&[&one, &one, &one], 1, Margins::default());
        let places: Vec<_> = found.against.iter().map(|against| against.run).collect();
        assert_eq!(places, [0, 2]);
        assert!(found.differences.is_empty(), "{:?}", found.differences);
        for against in &found.against {
            assert_eq!(against.count(Verdict::NoDifference), 2);
            assert!(against.unmatched.is_empty());
        }
    }

    #[test]
    fn only_what_matches_is_compared_and_the_rest_is_reported() {
        let small = Sketch::named("scan");
        let large = Sketch {
            block: 8192,
            ..small.clone()
        };
        let found = compare(
            &[&record(&[small, Sketch::named("log")]), &record(&[large])],
            0,
            Margins::default(),
        );
        assert!(found.against[0].pairs.is_empty());
        let unmatched: Vec<_> = found.against[0].unmatched.iter().collect();
        assert_eq!(unmatched.len(), 3);
        let differs = Lone::Differs("block size differs: 4 KiB | 8 KiB".to_owned());
        assert_eq!(unmatched[0].why, differs);
        assert_eq!(unmatched[1].why, Lone::Absent);
        assert!(found.without_completion.is_empty());
    }

    /// The story: a run that was stopped in its ramp had "no load in common" with a run of the same
    /// study, of which "only this run has this load". It had completed nothing.
    #[test]
    fn a_load_of_which_nothing_was_completed_is_not_absent() {
        let whole = record(&[Sketch::named("a"), Sketch::named("b")]);
        let mut stopped = whole.clone();
        for measurement in stopped
            .measurements
            .iter_mut()
            .filter(|one| one.case == "b")
        {
            measurement.jobs[0].directions.clear();
        }
        let found = compare(&[&whole, &stopped], 0, Margins::default());
        assert_eq!(found.against[0].unmatched[0].why, Lone::NothingCompleted);
        assert!(found.without_completion.is_empty());
        stopped.measurements.clear();
        let found = compare(&[&whole, &stopped], 0, Margins::default());
        for load in &found.against[0].unmatched {
            assert_eq!(load.why, Lone::NothingCompleted);
        }
        assert_eq!(found.without_completion, [1]);
    }

    /// A random load by blocklab's flags and the same one by fio, whose random operations hit no
    /// block twice, had "no load in common"; so had one by DiskSpd, which opens for durable writes.
    #[test]
    fn what_changes_no_figure_of_a_device_does_not_part_two_loads() {
        let mut ours = record(&[Sketch::named("rand4k-q32-read")]);
        let mut fio = record(&[Sketch::named("1-a")]);
        for pass in &mut fio.measurements {
            let every_block_once = true;
            pass.jobs[0].pattern = Some(Pattern::Random { every_block_once });
            pass.jobs[0].durability = Durability::Dsync;
        }
        let pair = only(&ours, &fio);
        assert_eq!(pair.other_case.as_deref(), Some("1-a"));
        assert_eq!(pair.differs, ["pattern: random | random, every block once"]);
        // Writes that must be durable are another load.
        for pass in ours.measurements.iter_mut().chain(&mut fio.measurements) {
            pass.jobs[0].mix = Some(Mix::WRITE);
        }
        let found = compare(&[&ours, &fio], 0, Margins::default());
        assert!(found.against[0].pairs.is_empty());
    }

    /// Each of two runs had one load, and was told that only it had this load.
    #[test]
    fn the_only_other_load_is_told_apart_by_its_settings() {
        let deep = Sketch {
            depth: 64,
            ..Sketch::named("deep")
        };
        let runs = [record(&[Sketch::named("flat")]), record(&[deep])];
        let found = compare(&[&runs[0], &runs[1]], 0, Margins::default());
        let why: Vec<_> = (found.against[0].unmatched.iter())
            .map(|lone| lone.why.to_string())
            .collect();
        let expected =
            ["deep", "flat"].map(|of| format!("not the same as {of}: depth differs: 32 | 64"));
        assert_eq!(why, expected);
    }

    #[test]
    fn another_name_for_the_same_load_is_no_obstacle() {
        let (one, other) = (Sketch::named("r4k"), Sketch::named("rand4k-q32-read"));
        let pair = only(&record(&[one]), &record(&[other]));
        assert_eq!(pair.other_case.as_deref(), Some("rand4k-q32-read"));
    }

    /// The story: two jobs that a study named in another order made another load, and "block size differs: 4
    /// KiB | 64 KiB, …, block size differs: 64 KiB | 4 KiB".
    #[test]
    fn jobs_in_another_order_are_the_same_load() {
        let mut base = run(&[10_000.0, 10_100.0]);
        for measurement in &mut base.measurements {
            let mut second = measurement.jobs[0].clone();
            (second.depth, second.effective_depth) = (1, 1);
            measurement.jobs.push(second);
        }
        let mut other = base.clone();
        for measurement in &mut other.measurements {
            measurement.jobs.reverse();
        }
        assert_eq!(only(&base, &other).differs, Vec::<String>::new());
    }

    /// The story: sorted by their texts, "16 KiB" and "4 KiB" stood across from "4 KiB" and "64 KiB", and
    /// both block sizes of a load differed where one of them did.
    #[test]
    fn a_job_that_differs_leaves_the_others_their_counterparts() {
        let mut base = run(&[10_000.0, 10_100.0]);
        for measurement in &mut base.measurements {
            let mut second = measurement.jobs[0].clone();
            second.block_sizes = Some(BlockSizes::fixed(Bytes(16 << 10)));
            measurement.jobs.push(second);
        }
        let mut other = base.clone();
        for measurement in &mut other.measurements {
            measurement.jobs[1].block_sizes = Some(BlockSizes::fixed(Bytes(64 << 10)));
        }
        let found = compare(&[&base, &other], 0, Margins::default());
        let differs = Lone::Differs("block size differs: 16 KiB | 64 KiB".to_owned());
        assert_eq!(found.against[0].unmatched[0].why, differs);
    }

    #[test]
    fn another_engine_is_compared_and_reported() {
        let other = Sketch {
            engine: "psync",
            ..Sketch::default()
        };
        let pair = only(&record(&[Sketch::default()]), &record(&[other]));
        assert_eq!(
            pair.differs,
            ["engine: io_uring | psync", "really in flight: 32 | 1"]
        );
    }

    #[test]
    fn quantiles_need_operations_beyond_them() {
        let few = Sketch::of_rates(&[20.0; 3]);
        let pair = only(&record(&[Sketch::default()]), &record(&[few]));
        let quantities: Vec<_> = pair.contrasts.iter().map(|c| c.quantity.name()).collect();
        assert_eq!(quantities, ["iops", "service_mean_ns", "service_p50_ns"]);
    }
}
