//! What a steady state was judged by.

use blocklab_workload::{Limit, Steady, SteadyVariable};

use super::amount::{Base, short};
use super::figures::Figures;
use super::tree::Tree;

/// The figures of the last rounds.
struct Verdict {
    word: &'static str,
    is_slope: bool,
    limit: Limit,
    rounds: u32,
    bw_mean: u64,
    iops_mean: u64,
    /// Largest deviation from the mean.
    deviation: f64,
    slope: f64,
    criterion: f64,
}

fn verdict(figures: &Figures<'_>) -> Option<Verdict> {
    let (variable, rounds, limit, is_slope) = match figures.clone.steady? {
        Steady::Slope {
            variable,
            rounds,
            limit,
            ..
        } => (variable, rounds, limit, true),
        Steady::Deviation {
            variable,
            rounds,
            limit,
            ..
        } => (variable, rounds, limit, false),
        Steady::Snia { .. } => return None,
    };
    let of_bytes = variable == SteadyVariable::Bandwidth;
    let values: Vec<f64> = figures
        .rounds
        .iter()
        .map(|(ios, bytes)| if of_bytes { *bytes } else { *ios } as f64)
        .collect();
    let count = figures.rounds.len().max(1) as u64;
    let mean = values.iter().sum::<f64>() / count as f64;
    let deviations = values.iter().map(|value| (value - mean).abs());
    let deviation = if is_slope {
        0.0
    } else {
        deviations.fold(0.0, f64::max)
    };
    let slope = match is_slope {
        true => blocklab_stats::fit(&values).map_or(0.0, |line| line.slope),
        false => 0.0,
    };
    let change = if is_slope { slope } else { deviation };
    Some(Verdict {
        word: match (of_bytes, is_slope) {
            (true, true) => "bw_slope",
            (true, false) => "bw",
            (false, true) => "iops_slope",
            (false, false) => "iops",
        },
        is_slope,
        limit,
        rounds,
        bw_mean: figures.rounds.iter().map(|(_, bytes)| bytes).sum::<u64>() / count,
        iops_mean: figures.rounds.iter().map(|(ios, _)| ios).sum::<u64>() / count,
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

/// Of the JSON.
pub(super) fn tree(figures: &Figures<'_>) -> Option<Tree> {
    let verdict = verdict(figures)?;
    let (Limit::Percent(limit) | Limit::Absolute(limit)) = verdict.limit;
    let int = |value: u64| Tree::Int(value as i64);
    let ios = figures.rounds.iter().map(|(ios, _)| int(*ios));
    let bytes = figures.rounds.iter().map(|(_, bytes)| int(*bytes));
    let sign = verdict.sign();
    Some(Tree::object([
        (
            "ss",
            Tree::text(format!("{}:{limit:.6}{sign}", verdict.word)),
        ),
        ("duration", int(verdict.rounds.into())),
        ("attained", Tree::Int(figures.stopped_steady.into())),
        (
            "criterion",
            Tree::text(format!("{:.6}{sign}", verdict.criterion)),
        ),
        ("max_deviation", Tree::Float(verdict.deviation)),
        ("slope", Tree::Float(verdict.slope)),
        (
            "data",
            Tree::object([
                ("bw_mean", int(verdict.bw_mean)),
                ("iops_mean", int(verdict.iops_mean)),
                ("iops", Tree::Array(ios.collect())),
                ("bw", Tree::Array(bytes.collect())),
            ]),
        ),
    ]))
}

/// Of the output for people.
pub(super) fn line(figures: &Figures<'_>) -> Option<String> {
    let verdict = verdict(figures)?;
    let digits = figures.clone.style.figures;
    let bytes = verdict.bw_mean as f64;
    Some(format!(
        "  steadystate  : attained={}, bw={}B/s ({}B/s), iops={}, {} {}={:.3}{}\n",
        if figures.stopped_steady { "yes" } else { "no" },
        short(bytes, digits, Base::Binary),
        short(bytes, digits, Base::Decimal),
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
