//! In: a run and the runs before it. Out: each load of the run compared with the present level of
//! its series, or the reason why it cannot be compared.

use blocklab_record::Origin;
use blocklab_stats::{Ratio, Summary};
use blocklab_workload::Direction;
use serde::Serialize;

use super::LoadDigest;
use super::series::{Conditions, HistoryRun, Point, Series, history};
use crate::compare::{LEVEL_PERCENT, Quantity, Verdict};

/// A run compared with the runs before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstHistory {
    /// Id of the run.
    pub run: String,
    /// Loads that have a history, in the order of the run.
    pub pairs: Vec<HistoryPair>,
    /// Loads that cannot be compared.
    pub refused: Vec<Refused>,
}

/// A load compared with the present level of its series: the runs since its last change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryPair {
    /// The load and its conditions.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The figure that is judged: the rate, or the mean latency where a rate was requested.
    pub quantity: Quantity,
    /// How many runs make the level.
    pub runs: usize,
    /// Ids of the first and the last of them.
    pub of_runs: [String; 2],
    /// Their geometric mean, in the unit of the quantity.
    pub baseline: f64,
    /// The figure of the run itself, in the same unit.
    pub value: f64,
    /// `value` over `baseline`.
    pub ratio: f64,
    /// Lower end of the 95 % interval of the ratio. Its width comes from the scatter between the
    /// runs of the level, which includes what differs from one run to the next.
    pub ci95_low: f64,
    /// Upper end of it.
    pub ci95_high: f64,
    /// Whether the run is faster or slower, by Holm's rule over all loads.
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

/// Fewer runs do not show how much a level scatters.
const FEWEST: usize = 3;
/// The probability that any load is called changed although none is.
const ERROR: f64 = 1.0 - LEVEL_PERCENT / 100.0;

/// Compares a run with the `earlier` ones, which are given from the oldest on. Differences below
/// `at_least_percent` are negligible.
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
        // Of the figures of a load, only the one that it is judged by is compared.
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

/// Sets the verdicts. Loads whose change is not shown for all loads together stay at "no
/// difference".
fn judge(pairs: &mut [HistoryPair], at_least: f64) {
    let p_values: Vec<f64> = pairs.iter().map(HistoryPair::p_value).collect();
    let excluded = holm(&p_values, ERROR);
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

/// Holm's rule: which of several hypotheses are rejected, by their p-values, so that the
/// probability of rejecting any true one is at most `error`.
pub(crate) fn holm(p_values: &[f64], error: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut rejected = vec![false; p_values.len()];
    for (rank, place) in order.iter().enumerate() {
        // Each rejection leaves fewer hypotheses to share the error. After the first one that is not
        // rejected, none with a larger p-value is.
        if p_values[*place] > error / (p_values.len() - rank) as f64 {
            break;
        }
        rejected[*place] = true;
    }
    rejected
}

/// The load compared with its series, or why it cannot be.
fn pair(load: &LoadDigest, series: &Series) -> Result<HistoryPair, String> {
    // What doubts nearly all runs of a series doubts the baseline alike, so it cancels out.
    let mut doubts = load.doubts.iter();
    if let Some(doubt) = doubts.find(|doubt| !series.usual_doubts.contains(doubt)) {
        return Err(format!("a finding doubts this run: {doubt}"));
    }
    let mut figures = load.figures.iter();
    let value = figures
        .find(|figure| figure.quantity == series.quantity.name())
        .map(|figure| figure.value)
        .ok_or("nothing moved")?;
    // Runs before the last change are of another level.
    let from = series.changes.last().map_or(0, |change| change.place);
    let level = series.points[from..]
        .iter()
        .filter(|point| !point.is_left_out);
    let level: Vec<&Point> = level.collect();
    // A simulation gives the same figures each time: one run shows its level.
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
    // The interval is one for a further run: it scatters as the runs of the level do, and their
    // mean is uncertain by its own share.
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
        // Set by `judge`, which needs all loads.
        verdict: Verdict::Unknown,
        estimate,
    })
}

impl HistoryPair {
    /// The two-sided p-value: how probable it is that a run of the level lies at least as far away.
    fn p_value(&self) -> f64 {
        let one_side = self
            .estimate
            .chance_above(1.0)
            .min(self.estimate.chance_below(1.0));
        (2.0 * one_side).min(1.0)
    }
}

/// `none` for an aspect that a run does not have: a simulated run has no machine, a measured one no
/// seed.
fn or_none(aspect: &str) -> &str {
    if aspect.is_empty() { "none" } else { aspect }
}

/// Why no earlier run has the same conditions: how those of the newest run with this case differ.
fn why_none(conditions: &Conditions, earlier: &[HistoryRun]) -> String {
    let newest = earlier.iter().rev().find_map(|run| {
        let mut loads = run.digest.loads.iter();
        let load = loads
            .find(|load| load.case == conditions.case && load.direction == conditions.direction)?;
        Some((run, Conditions::new(&run.digest, load)))
    });
    let Some((run, theirs)) = newest else {
        return "no earlier run has this case".to_owned();
    };
    let seeds = [&theirs, conditions].map(|either| either.seed.clone().unwrap_or_default());
    let aspects = [
        ("study", &*theirs.study, &*conditions.study),
        ("load", &theirs.what, &conditions.what),
        ("target", &theirs.target, &conditions.target),
        ("machine", &theirs.machine, &conditions.machine),
        ("origin", theirs.origin, conditions.origin),
        ("seed", &seeds[0], &seeds[1]),
    ];
    let differing = aspects.iter().filter(|(_, a, b)| a != b);
    let mut differing: Vec<String> = differing
        .map(|(name, a, b)| format!("{name} differs: {} | {}", or_none(a), or_none(b)))
        .collect();
    if theirs.schedule != conditions.schedule && theirs.origin == conditions.origin {
        differing.push("cases, passes or times of the simulation differ".to_owned());
    }
    match &differing[..] {
        [] => format!(
            "the load of {} differs in what its name does not tell",
            run.id
        ),
        differing => format!("of {}, {}", run.id, differing.join(", ")),
    }
}
