//! In: a run, and those before it. Out: the run load by load against the present level of its
//! series, or why that cannot be.

use blocklab_record::Origin;
use blocklab_stats::{Ratio, Summary};
use blocklab_workload::Direction;
use serde::Serialize;

use super::LoadDigest;
use super::series::{Conditions, HistoryRun, Point, Series, history};
use crate::compare::{LEVEL_PERCENT, Quantity, Verdict};

/// A run against those before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstHistory {
    /// Its id.
    pub run: String,
    /// Loads that have a history, in the order of the run.
    pub pairs: Vec<HistoryPair>,
    /// Loads that cannot be compared.
    pub refused: Vec<Refused>,
}

/// A load against the present level of its series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryPair {
    /// The load and its conditions.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The figure that is judged: the rate, and of a given rate the mean latency.
    pub quantity: Quantity,
    /// Runs of the level.
    pub runs: usize,
    /// The first and the last of them.
    pub of_runs: [String; 2],
    /// Their geometric mean, in the unit of the quantity.
    pub baseline: f64,
    /// The run's own figure.
    pub value: f64,
    /// That over the baseline.
    pub ratio: f64,
    /// Where the ratio of a run like this would lie with 95 % probability around it: the scatter is
    /// that between the runs of the level.
    pub ci95_low: f64,
    /// Upper end of it.
    pub ci95_high: f64,
    /// Whether it is faster or slower; with several loads, by Holm's rule.
    pub verdict: Verdict,
    /// The ratio with its error.
    #[serde(skip)]
    pub(crate) estimate: Ratio,
}

/// A load that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Name of the case.
    pub case: String,
    /// What the operations did.
    pub direction: Direction,
    /// `2 of the 3 earlier runs that are needed`, `target differs: nvme1n1 | nvme0n1`.
    pub why: String,
}

/// Fewer runs of a level show no scatter worth the name.
const FEWEST: usize = 3;
/// The error that all loads together are allowed.
const ERROR: f64 = 1.0 - LEVEL_PERCENT / 100.0;

/// The run against those `earlier`, the oldest first. Differences below `at_least_percent` are
/// negligible.
pub fn against_history(
    run: &HistoryRun,
    earlier: &[HistoryRun],
    at_least_percent: f64,
) -> AgainstHistory {
    let found = history(earlier);
    let mut against = AgainstHistory {
        run: run.id.clone(),
        pairs: Vec::new(),
        refused: Vec::new(),
    };
    for load in &run.digest.loads {
        let conditions = Conditions::new(&run.digest, load);
        let series = found.series.iter().find(|series| {
            series.conditions == conditions && series.quantity.name() == load.headline()
        });
        let pair = series
            .ok_or_else(|| why_none(&conditions, earlier))
            .and_then(|series| pair(load, series));
        match pair {
            Ok(pair) => against.pairs.push(pair),
            Err(why) => against.refused.push(Refused {
                case: load.case.clone(),
                direction: load.direction,
                why,
            }),
        }
    }
    judge(&mut against.pairs, at_least_percent / 100.0);
    against
}

/// Calls those faster or slower of which chance is excluded for all together.
fn judge(pairs: &mut [HistoryPair], at_least: f64) {
    let chances: Vec<f64> = pairs.iter().map(HistoryPair::chance_of_equal).collect();
    let excluded = holm(&chances, ERROR);
    for (pair, is_excluded) in pairs.iter_mut().zip(excluded) {
        let is_better = (pair.ratio < 1.0) == pair.quantity.is_latency();
        let away = (pair.ratio - 1.0).abs();
        pair.verdict = if !is_excluded || away < pair.quantity.resolution() {
            Verdict::NoDifference
        } else if away < at_least {
            Verdict::Negligible
        } else if is_better {
            Verdict::Faster
        } else {
            Verdict::Slower
        };
    }
}

/// Which of several statements can be made so that any of them is wrong with this probability only,
/// by the probability of each to be wrong (Holm's rule).
pub(crate) fn holm(chances: &[f64], error: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut made = vec![false; chances.len()];
    for (rank, place) in order.iter().enumerate() {
        if chances[*place] > error / (chances.len() - rank) as f64 {
            break;
        }
        made[*place] = true;
    }
    made
}

fn pair(load: &LoadDigest, series: &Series) -> Result<HistoryPair, String> {
    let mut doubts = load.doubts.iter();
    if let Some(doubt) = doubts.find(|doubt| !series.usual_doubts.contains(doubt)) {
        return Err(format!("a finding doubts this run: {doubt}"));
    }
    let figures = load.figures.iter();
    let value = figures
        .filter(|figure| figure.quantity == series.quantity.name())
        .map(|figure| figure.value)
        .next()
        .ok_or("nothing moved")?;
    let from = series.changes.last().map_or(0, |change| change.place);
    let level = series.points[from..]
        .iter()
        .filter(|point| !point.is_left_out);
    let level: Vec<&Point> = level.collect();
    let is_exact = series.conditions.origin == Origin::Simulated.name();
    let needed = if is_exact { 1 } else { FEWEST };
    let (Some(first), Some(last), true) = (level.first(), level.last(), level.len() >= needed)
    else {
        let runs = level.len();
        return Err(format!(
            "{runs} of the {needed} earlier runs that are needed"
        ));
    };
    let logs: Vec<f64> = level.iter().map(|point| point.value.ln()).collect();
    let summary = Summary::new(&logs).ok_or("no earlier run")?;
    let away = value.ln() - summary.mean;
    let count = logs.len();
    let error = summary.stddev * (1.0 + 1.0 / count as f64).sqrt();
    let freedom = u32::try_from(count - 1).unwrap_or(u32::MAX);
    let estimate = Ratio::new(away, error, freedom, LEVEL_PERCENT / 100.0);
    Ok(HistoryPair {
        conditions: series.conditions.clone(),
        quantity: series.quantity,
        runs: count,
        of_runs: [first.run.clone(), last.run.clone()],
        baseline: summary.mean.exp(),
        value,
        ratio: estimate.value,
        ci95_low: estimate.interval.low,
        ci95_high: estimate.interval.high,
        verdict: Verdict::Unknown,
        estimate,
    })
}

impl HistoryPair {
    /// How probable it is that a run of the level lies as far away, on either side.
    fn chance_of_equal(&self) -> f64 {
        let one_side = self
            .estimate
            .chance_above(1.0)
            .min(self.estimate.chance_below(1.0));
        (2.0 * one_side).min(1.0)
    }
}

/// A simulated run has no machine, and a measured one no seed.
fn or_none(aspect: &str) -> &str {
    if aspect.is_empty() { "none" } else { aspect }
}

/// Why no earlier run is a neighbour: what differs at the newest one of the same case.
fn why_none(of: &Conditions, earlier: &[HistoryRun]) -> String {
    let newest = earlier.iter().rev().find_map(|run| {
        let mut loads = run.digest.loads.iter();
        let load = loads.find(|load| load.case == of.case && load.direction == of.direction)?;
        Some((run, Conditions::new(&run.digest, load)))
    });
    let Some((run, theirs)) = newest else {
        return "no earlier run has this case".to_owned();
    };
    let seeds = [&theirs, of].map(|of| of.seed.clone().unwrap_or_default());
    let aspects = [
        ("study", &*theirs.study, &*of.study),
        ("load", &theirs.what, &of.what),
        ("target", &theirs.target, &of.target),
        ("machine", &theirs.machine, &of.machine),
        ("origin", theirs.origin, of.origin),
        ("seed", &seeds[0], &seeds[1]),
    ];
    let differing = aspects.iter().filter(|(_, a, b)| a != b);
    let differing: Vec<String> = differing
        .map(|(name, a, b)| format!("{name} differs: {} | {}", or_none(a), or_none(b)))
        .collect();
    match &differing[..] {
        [] => format!(
            "the load of {} differs in what its name does not tell",
            run.id
        ),
        differing => format!("of {}, {}", run.id, differing.join(", ")),
    }
}
