//! The part of the report on the steady state: its criterion and the values it was judged by.

use blocklab_workload::{Limit, Steady, SteadyVariable};

use super::amount::{Base, short};
use super::figures::Figures;
use super::tree::{Members, Tree, members};

/// The figures of the last rounds.
struct Verdict {
    word: &'static str,
    is_slope: bool,
    limit: Limit,
    /// Rounds of a full window.
    rounds: u32,
    /// Length of a full window.
    seconds: u64,
    /// Bytes a second.
    bw_mean: u64,
    iops_mean: u64,
    /// Largest deviation from the mean.
    deviation: f64,
    /// Change from one round to the next.
    slope: f64,
    /// What is compared with `limit`: one of the two, or its share of the mean in per cent.
    criterion: f64,
}

/// How steady a job was by its rule; `None` without a rule of fio.
fn verdict(figures: &Figures<'_>) -> Option<Verdict> {
    let (variable, round_length, rounds, limit, is_slope) = match figures.clone.steady? {
        Steady::Slope {
            variable,
            round,
            rounds,
            limit,
        } => (variable, round, rounds, limit, true),
        Steady::Deviation {
            variable,
            round,
            rounds,
            limit,
        } => (variable, round, rounds, limit, false),
        Steady::Snia { .. } => return None,
    };
    let values = figures.rounds.iter().map(|round| match variable {
        SteadyVariable::Iops => round.iops,
        SteadyVariable::Bandwidth => round.bytes_per_s,
        SteadyVariable::Latency => round.latency_ns,
    });
    let values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    // As with fio, the one that is not judged is 0.
    let (mut deviation, mut slope) = (0.0, 0.0);
    if is_slope {
        slope = blocklab_stats::fit(&values).map_or(0.0, |line| line.slope);
    } else {
        let deviations = values.iter().map(|value| (value - mean).abs());
        deviation = deviations.fold(0.0, f64::max);
    }
    let rounds_seen = figures.rounds.len().max(1) as f64;
    let bytes_per_s: f64 = figures.rounds.iter().map(|round| round.bytes_per_s).sum();
    let iops: f64 = figures.rounds.iter().map(|round| round.iops).sum();
    let change = deviation + slope;
    Some(Verdict {
        word: match (variable, is_slope) {
            (SteadyVariable::Bandwidth, true) => "bw_slope",
            (SteadyVariable::Bandwidth, false) => "bw",
            (SteadyVariable::Iops, true) => "iops_slope",
            (SteadyVariable::Iops, false) => "iops",
            (SteadyVariable::Latency, true) => "lat_slope",
            (SteadyVariable::Latency, false) => "lat",
        },
        is_slope,
        limit,
        rounds,
        seconds: u64::from(rounds) * round_length.0 / 1_000_000_000,
        bw_mean: (bytes_per_s / rounds_seen) as u64,
        iops_mean: (iops / rounds_seen) as u64,
        deviation,
        slope,
        criterion: match limit {
            Limit::Percent(_) if mean > 0.0 => change * 100.0 / mean,
            Limit::Percent(_) => 0.0,
            Limit::Absolute(_) => change,
        },
    })
}

impl Verdict {
    fn sign(&self) -> &'static str {
        match self.limit {
            Limit::Percent(_) => "%",
            Limit::Absolute(_) => "",
        }
    }
}

/// The members of `steadystate` in the JSON output.
pub(super) fn members(figures: &Figures<'_>) -> Option<Members> {
    let verdict = verdict(figures)?;
    let (Limit::Percent(limit) | Limit::Absolute(limit)) = verdict.limit;
    let (mut iops, mut bytes): (Vec<Tree>, Vec<Tree>) = figures
        .rounds
        .iter()
        .map(|round| {
            (
                Tree::from(round.iops as u64),
                Tree::from(round.bytes_per_s as u64),
            )
        })
        .unzip();
    // As fio, which prints zeros for the rounds that a window lacks.
    for values in [&mut iops, &mut bytes] {
        values.resize(values.len().max(verdict.rounds as usize), Tree::from(0_u64));
    }
    let sign = verdict.sign();
    Some(members! {
        "ss": format!("{}:{limit:.6}{sign}", verdict.word),
        "duration": verdict.seconds,
        "attained": i32::from(figures.stopped_steady),
        "criterion": format!("{:.6}{sign}", verdict.criterion),
        "max_deviation": verdict.deviation,
        "slope": verdict.slope,
        "data": members! {
            "bw_mean": verdict.bw_mean,
            "iops_mean": verdict.iops_mean,
            "iops": iops,
            "bw": bytes,
        },
    })
}

/// The line of the normal output.
pub(super) fn line(figures: &Figures<'_>) -> Option<String> {
    let verdict = verdict(figures)?;
    let digits = figures.clone.style.figures;
    let [base, other] = figures.clone.style.bases();
    let bytes = verdict.bw_mean as f64;
    Some(format!(
        "  steadystate  : attained={}, bw={}B/s ({}B/s), iops={}, {} {}={:.3}{}\n",
        if figures.stopped_steady { "yes" } else { "no" },
        short(bytes, digits, base),
        short(bytes, digits, other),
        short(verdict.iops_mean as f64, digits, Base::Decimal),
        verdict.word.trim_end_matches("_slope"),
        if verdict.is_slope {
            "slope"
        } else {
            "mean dev"
        },
        verdict.criterion,
        verdict.sign(),
    ))
}
