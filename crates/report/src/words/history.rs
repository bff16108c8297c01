//! In: the series of a history. Out: the words for each: what changed, since which run, by how
//! much, and what else changed then; and a sparkline of it.

use std::collections::{BTreeSet, HashMap};

use blocklab_compare::compare::Quantity;
use blocklab_compare::history::{
    ByHand, ChangePoint, Changed, Conditions, History, Point, Series, SeriesVerdict, Suspected,
};
use blocklab_record::Origin;
use blocklab_units::{Ink, agreeing, count, latency, plural, significant};

use crate::words::answer::Tone;
use crate::words::facts::{iops, word};

/// The part of a history that is shown to people; JSON has all of it.
pub struct Shown<'h> {
    /// The loads that were measured often enough. Each has the figure that is judged, and others if
    /// they changed.
    pub loads: Vec<Vec<&'h Series>>,
    /// Sentences on what is left out.
    pub left: Vec<String>,
}

/// The most loads that are shown.
const LOADS: usize = 40;

/// Chooses what is shown of a history.
pub fn shown(history: &History) -> Shown<'_> {
    // The series of a load follow each other.
    let all: Vec<&Series> = history.series.iter().collect();
    let loads = all.chunk_by(|a, b| a.conditions == b.conditions);
    let (too_few, loads): (Vec<_>, Vec<_>) = loads.partition(|load| has_too_few_runs(load));
    let more = loads.len().saturating_sub(LOADS);
    let mut left = Vec::new();
    if more > 0 {
        left.push(format!("{} more (--json shows all)", plural(more, "load")));
    }
    left.extend(not_comparable(&too_few));
    // Every run draws a seed, so repeated simulations share no condition until one is given.
    if (too_few.iter()).any(|load| load[0].conditions.seed.is_some()) {
        let why = "simulated runs are compared where seed, cases, passes and times are the same: `blocklab run --seed 1`";
        left.push(why.to_owned());
    }
    let differing = differing_in_name_alone(too_few.iter().map(|load| &load[0].conditions));
    if differing > 0 {
        left.push(format!(
            "{} of these loads differ from others in the name of the run alone: give all runs of one load \
             the same --name, or none",
            count(differing as f64)
        ));
    }
    let loads = loads.into_iter().take(LOADS);
    Shown {
        loads: loads
            .map(|load| {
                load.iter()
                    .copied()
                    .filter(|series| series.is_headline || !is_quiet(series.verdict))
                    .collect()
            })
            .collect(),
        left,
    }
}

/// Two names of one load may be a pair such as before and after. From this number on, the name changes
/// with the runs.
const CHANGING_NAMES: usize = 3;

/// How many loads would be the same as others but for the name of their study, which `--name` gives.
fn differing_in_name_alone<'c>(loads: impl Iterator<Item = &'c Conditions>) -> usize {
    let mut counts: HashMap<Conditions, usize> = HashMap::new();
    for conditions in loads {
        let nameless = Conditions {
            study: String::new(),
            ..conditions.clone()
        };
        *counts.entry(nameless).or_default() += 1;
    }
    counts
        .into_values()
        .filter(|many| *many >= CHANGING_NAMES)
        .sum()
}

/// The most loads of which each is told why it is not comparable.
const FEW_LOADS: usize = 3;

/// Sentences on the loads with too few runs: for a few loads, what each lacks; else how many they are.
fn not_comparable(loads: &[&[&Series]]) -> Vec<String> {
    match loads.len() {
        0 => Vec::new(),
        1..=FEW_LOADS => {
            // Each load is a part of `chunk_by`, which gives no empty ones.
            let firsts = loads.iter().map(|load| load[0]);
            let sentences = firsts.map(|series| {
                let conditions = &series.conditions;
                format!(
                    "not comparable: {} {} has, under the same conditions, {}",
                    conditions.case, conditions.direction, series.why
                )
            });
            let mut sentences: Vec<String> = sentences.collect();
            // Loads that differ in their seed alone have the same sentence.
            sentences.dedup();
            sentences
        }
        many => vec![format!(
            "not comparable: {} with too few runs under the same conditions (--json shows them)",
            plural(many, "load")
        )],
    }
}

fn has_too_few_runs(load: &[&Series]) -> bool {
    let mut verdicts = load.iter().map(|series| series.verdict);
    verdicts.all(|verdict| verdict == SeriesVerdict::NotComparable)
}

const fn is_quiet(verdict: SeriesVerdict) -> bool {
    matches!(
        verdict,
        SeriesVerdict::NoChangeShown | SeriesVerdict::NotComparable
    )
}

/// The changes of a series, each followed by what else changed then, and what is suspected.
pub fn items(series: &Series) -> Vec<String> {
    let quantity = series.quantity;
    let changes = series.changes.iter().flat_map(|point| {
        let around = match &point.changed[..] {
            [] => "nothing else that is known changed there".to_owned(),
            all => format!("changed there: {}", changed(all)),
        };
        [change(quantity, point), around]
    });
    let suspicion = series.suspicion.iter();
    changes
        .chain(suspicion.map(|suspected| suspicion_of(quantity, suspected)))
        .collect()
}

/// The legend: first `signs`, which says what the marks of a chart mean, then when a change is shown.
pub fn legend(history: &History, signs: &str) -> String {
    let mut series = history.series.iter();
    let is_simulated = series.any(|series| series.conditions.origin == Origin::Simulated.name());
    // Chance has no part in them, so that neither the test nor the 2 % are about them.
    let simulated = if is_simulated {
        " Simulated runs are compared exactly: every difference is a change, however small it is."
    } else {
        ""
    };
    format!(
        "{signs} A change is shown if chance alone does not explain it (exact rank test, at most 1 % \
         of those shown are false) and the medians differ by 2 % or more; its interval is the \
         Hodges-Lehmann one of 95 %.{simulated}"
    )
}

/// A value of a quantity with its unit: `12,345 IOPS`, `1.20 ms`.
pub fn value(quantity: Quantity, value: f64) -> String {
    if quantity.is_latency() {
        latency(value)
    } else {
        format!("{} {}", iops(value), quantity.label())
    }
}

/// The load of a series: `rand4k-q32-read read on nvme0n1`. Imported results may name no target.
pub fn title(conditions: &Conditions) -> String {
    let on = if conditions.target.is_empty() {
        ""
    } else {
        " on "
    };
    format!(
        "{} {}{on}{}",
        conditions.case, conditions.direction, conditions.target
    )
}

/// The conditions of a series: study, load, origin and machine.
pub fn conditions(conditions: &Conditions) -> String {
    let mut parts = vec![
        &*conditions.study,
        &*conditions.what,
        conditions.origin,
        &*conditions.machine,
    ];
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// The verdict on a series: `IOPS: regressed`, `p99: not comparable, 3 of the 6 runs that are
/// needed`.
pub fn verdict(series: &Series) -> String {
    let why = match &*series.why {
        "" => String::new(),
        why => format!(", {why}"),
    };
    format!("{}: {}{why}", series.quantity.label(), word(series.verdict))
}

/// The colour of a verdict on a terminal. Most loads of a store do not change, so theirs is faint.
pub const fn ink(verdict: SeriesVerdict) -> Ink {
    match Tone::of_series(verdict) {
        Tone::Plain => Ink::Dim,
        tone => tone.ink(),
    }
}

/// `regressed, −12.5 % (−12.9 % to −12.1 %), since 20261120-190142-k3f (12 runs): from 798 IOPS to
/// 700 IOPS in the median; chance does that once in 5,000 tries`.
fn change(quantity: Quantity, point: &ChangePoint) -> String {
    let chance = match point.probability {
        Some(probability) => format!("chance does that once in {}", tries(probability)),
        None => "simulated, so chance has no part in it".to_owned(),
    };
    format!(
        "{}, {}, since {} ({}): from {} to {} in the median; {chance}",
        word(point.verdict),
        size(point),
        point.run,
        plural(point.runs[1], "run"),
        value(quantity, point.before),
        value(quantity, point.after),
    )
}

/// The size of a change, with its interval: `−12.5 % (−12.9 % to −12.1 %)`.
pub fn size(point: &ChangePoint) -> String {
    let interval = point
        .ci95_low_percent
        .zip(point.ci95_high_percent)
        .map_or_else(String::new, |(low, high)| {
            format!(" ({} to {})", percent(low), percent(high))
        });
    format!("{}{interval}", percent(point.change_percent))
}

/// A change in per cent, with a proper minus sign: `−12.5 %`; a tiny one has a digit that is not 0:
/// `+0.003 %`.
pub fn percent(value: f64) -> String {
    let sign = if value < 0.0 { '−' } else { '+' };
    match value.abs() {
        tiny if tiny > 0.0 && tiny < 0.05 => format!("{sign}{} %", significant(tiny, 1)),
        other => format!("{sign}{other:.1} %"),
    }
}

/// In how many tries chance does this once: `5,000 tries`, `2 million tries`.
fn tries(probability: f64) -> String {
    match 1.0 / probability.max(1e-15) {
        few if few < 1e6 => format!("{} tries", count(few.round())),
        many if many < 1e9 => format!("{} million tries", count((many / 1e6).round())),
        _ => "more than a billion tries".to_owned(),
    }
}

/// What changed around a load: `kernel: 6.1 → 6.8; scheduler: none → mq-deadline`.
pub fn changed(all: &[Changed]) -> String {
    let each = all.iter().map(|one| {
        let [before, after] = [&one.before, &one.after].map(|value| match value.as_str() {
            "" => "unknown",
            known => known,
        });
        format!("{}: {before} → {after}", one.what)
    });
    each.collect::<Vec<_>>().join("; ")
}

/// `suspected, regressed since 20261120-190142-k3f: from 798 IOPS to 700 IOPS in the median; two
/// more runs will tell`.
fn suspicion_of(quantity: Quantity, suspected: &Suspected) -> String {
    format!(
        "suspected, {} since {}: from {} to {} in the median; two more runs will tell",
        word(suspected.verdict),
        suspected.run,
        value(quantity, suspected.before),
        value(quantity, suspected.after),
    )
}

/// Why a run is left out of the test: `left out: machine-busy`.
pub fn why_left_out(point: &Point) -> String {
    match point.by_hand {
        Some(_) => "left out by hand".to_owned(),
        None => format!("left out: {}", point.doubts.join(", ")),
    }
}

/// Why a run is left out, and what changed since the run before it.
pub fn remarks(point: &Point) -> String {
    let left_out = point.is_left_out.then(|| why_left_out(point));
    let changed = (!point.changed.is_empty()).then(|| changed(&point.changed));
    left_out
        .into_iter()
        .chain(changed)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Sentences on the runs that are left out or kept: how many and why, and what doubts nearly all
/// runs.
pub fn left_out(series: &Series) -> Vec<String> {
    let by_hand = [
        (
            ByHand::Out,
            "left out of the test by hand, by the tag history-out",
        ),
        (
            ByHand::In,
            "tested whatever findings say, by the tag history-in",
        ),
    ];
    let by_hand = by_hand.into_iter().filter_map(|(which, words)| {
        let decided = series
            .points
            .iter()
            .filter(|point| point.by_hand == Some(which));
        let number = decided.count();
        (number > 0).then(|| format!("{}: {words}", plural(number, "run")))
    });
    // A run that the user decided on is counted by its tag above.
    let left_out = series
        .points
        .iter()
        .filter(|point| point.is_left_out && point.by_hand.is_none());
    let doubts = left_out.clone().flat_map(|point| &point.doubts);
    let rules: BTreeSet<&str> = doubts
        .filter(|doubt| !series.usual_doubts.contains(doubt))
        .map(|doubt| &**doubt)
        .collect();
    let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
    let number = left_out.count();
    let runs = plural(series.points.len(), "run");
    let left_out = (number > 0).then(|| doubted(number, &runs, &rules));
    let usual = (!series.usual_doubts.is_empty()).then(|| {
        let rules = series.usual_doubts.join(", ");
        format!("findings doubt nearly all of the {runs} alike, so they are compared all the same: {rules}")
    });
    left_out.into_iter().chain(by_hand).chain(usual).collect()
}

/// `3 of 40 runs are left out of the test, as findings doubt them: disk-shared`.
fn doubted(number: usize, runs: &str, rules: &str) -> String {
    let (verb, whom) = (
        agreeing(number, "is", "are"),
        agreeing(number, "it", "them"),
    );
    format!("{number} of {runs} {verb} left out of the test, as findings doubt {whom}: {rules}")
}

/// The most runs that a sparkline shows: the last ones.
const BLOCKS: usize = 60;
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The least range of a sparkline, as a share of its middle: scatter of a few per mille must not
/// fill its whole height.
const LEAST_RANGE: f64 = 0.1;

/// A line of blocks, one for each run: `·` for one that is left out, and `|` before the first run
/// of a new level.
pub fn sparkline(series: &Series) -> String {
    let skipped = series.points.len().saturating_sub(BLOCKS);
    let shown = &series.points[skipped..];
    // A run that is left out may be wild, and would flatten all others.
    let (mut least, mut most) = (f64::MAX, f64::MIN);
    for point in shown.iter().filter(|point| !point.is_left_out) {
        least = least.min(point.value);
        most = most.max(point.value);
    }
    let middle = f64::midpoint(least, most);
    let range = (most - least)
        .max(LEAST_RANGE * middle.abs())
        .max(f64::MIN_POSITIVE);
    let mut line = String::new();
    for (place, point) in (skipped..).zip(shown) {
        if series.changes.iter().any(|change| change.place == place) {
            line.push('|');
        }
        let height = (point.value - middle) / range + 0.5;
        // The cast clamps a height below 0, as of a run that is left out, to the lowest block.
        let step = (height * HEIGHTS.len() as f64) as usize;
        line.push(if point.is_left_out {
            '·'
        } else {
            HEIGHTS[step.min(HEIGHTS.len() - 1)]
        });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_and_shares_in_words() {
        assert_eq!(percent(-12.54), "−12.5 %");
        assert_eq!(percent(3.0), "+3.0 %");
        assert_eq!(percent(0.0), "+0.0 %");
        assert_eq!(tries(2e-4), "5,000 tries");
        assert_eq!(tries(5e-7), "2 million tries");
        assert_eq!(tries(0.0), "more than a billion tries");
    }

    /// The story: a simulation, whose figures are compared exactly, was "improved, −0.0 %".
    #[test]
    fn a_tiny_change_is_not_zero() {
        assert_eq!(percent(0.003_08), "+0.003 %");
        assert_eq!(percent(-0.003_08), "−0.003 %");
        assert_eq!(percent(-0.049), "−0.05 %");
        assert_eq!(percent(0.05), "+0.1 %");
    }

    /// The story: `history` said "1 of 32 runs are left out of the test, as findings doubt them".
    #[test]
    fn one_run_is_left_out_in_the_singular() {
        assert_eq!(
            doubted(1, "32 runs", "disk-shared"),
            "1 of 32 runs is left out of the test, as findings doubt it: disk-shared"
        );
    }

    /// Conditions of the reads of the case `a`.
    fn reads_on(study: &str, target: &str) -> Conditions {
        Conditions {
            study: study.to_owned(),
            case: "a".to_owned(),
            direction: blocklab_workload::Direction::Read,
            what: String::new(),
            kind: String::new(),
            target: target.to_owned(),
            machine: String::new(),
            origin: Origin::Measured.name(),
            seed: None,
            schedule: None,
        }
    }

    /// The story: a pipeline gave each run a name of its own, so no run was comparable with another, and
    /// nothing said that the names were the reason.
    #[test]
    fn loads_that_names_alone_keep_apart_are_counted() {
        let differing = |loads: &[Conditions]| differing_in_name_alone(loads.iter());
        let builds = ["1", "2", "3"].map(|study| reads_on(study, "vda"));
        assert_eq!(differing(&builds), 3);
        assert_eq!(differing(&builds[..2]), 0);
        let disks = ["vda", "vdb", "vdc"].map(|target| reads_on("1", target));
        assert_eq!(differing(&disks), 0);
    }

    /// The story: a load of 0.7 operations per second had "1 IOPS", before and after.
    #[test]
    fn less_than_an_operation_per_second_is_not_one() {
        assert_eq!(value(Quantity::Iops, 0.66), "0.7 IOPS");
        assert_eq!(value(Quantity::Iops, 12_345.4), "12,345 IOPS");
    }

    /// The story: the heading of results of fio without a file name was "a read on ".
    #[test]
    fn a_load_without_a_target_is_on_nothing() {
        let on = |target: &str| {
            title(&Conditions {
                origin: "imported",
                ..reads_on("fio", target)
            })
        };
        assert_eq!(
            (on(""), on("sda")),
            ("a read".into(), "a read on sda".into())
        );
    }

    #[test]
    fn what_is_not_known_is_called_so() {
        let kernel = Changed {
            what: "kernel".to_owned(),
            before: String::new(),
            after: "6.8".to_owned(),
        };
        assert_eq!(changed(&[kernel]), "kernel: unknown → 6.8");
    }
}
