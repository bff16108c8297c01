//! Rates of runs to the paces of their jobs.

use std::collections::BTreeMap;

use blocklab_workload::{Case, Pace, Rate as Speed, Share};

use super::defs::Arrivals;
use super::run::{Rate, Run};

/// What a job of a case is.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// Name of its workload; empty of a job that no workload asks for: formatting, recovery.
    pub wd: String,
    /// Index of its storage definition.
    pub sd: usize,
    /// Its share of the run's rate, in per cent.
    pub skew: f64,
    /// A rate of its own instead.
    pub fixed: Option<f64>,
}

/// Arrivals that wait at most for one storage definition.
const QUEUE: f64 = 2000.0;
/// All jobs of a run belong together.
const GROUP: u32 = 1;

/// The rate with which a run is planned; what depends on an earlier run is set when that is known.
pub(super) fn nominal(run: &Run) -> f64 {
    run.rate.number(10_000.0, 10_000.0)
}

/// Gives every job of a case its part of a rate. A maximum leaves all free, or keeps their shares.
pub fn set_rate(case: &mut Case, run: &Run, lanes: &[Lane], rate: f64) {
    let asked = |lane: &Lane| lane.fixed.unwrap_or(rate * lane.skew / 100.0);
    let mut in_pool: BTreeMap<String, f64> = BTreeMap::new();
    for (job, lane) in case.workload.jobs.iter().zip(lanes) {
        if let Some(pooled) = &job.pool {
            *in_pool.entry(pooled.pool.clone()).or_default() += asked(lane);
        }
    }
    for (job, lane) in case.workload.jobs.iter_mut().zip(lanes) {
        let Some(pooled) = &mut job.pool else {
            continue;
        };
        // The oldest waits equally long in all of them, so that a full queue keeps their shares.
        let part = asked(lane) / in_pool[&pooled.pool].max(1e-9);
        pooled.queue = ((QUEUE * part).round() as u32).max(1);
        pooled.uniform = run.arrivals == Arrivals::Uniform;
        let speed = match lane.fixed {
            Some(fixed) => fixed,
            None if run.rate.is_max() => {
                job.pace = Pace::Closed;
                // The shares of a concatenation stand in the plan.
                if run.controlled {
                    pooled.share = Some(Share {
                        group: GROUP,
                        weight: lane.skew.max(1e-6),
                    });
                }
                continue;
            }
            None => asked(lane),
        };
        // Arrivals keep the shares.
        pooled.share = None;
        let speed = Speed::Iops(speed.max(1e-6));
        job.pace = match run.arrivals {
            Arrivals::Exponential => Pace::OpenPoisson(speed),
            Arrivals::Uniform | Arrivals::Deterministic => Pace::OpenFixed(speed),
        };
        if let Some(bursts) = &run.bursts {
            let part = lane.skew / 100.0;
            let pairs = bursts.rates.chunks(2);
            let turns = pairs.map(|pair| (pair[0] * part, pair.get(1).copied().unwrap_or(1.0)));
            pooled.bursts = turns.collect();
        }
    }
}

/// The shares that workloads had in a run, spread over their storage as they were asked for, for
/// the points of its curve. `ios` are the operations of each job.
#[must_use]
pub fn observed(lanes: &[Lane], ios: &[u64]) -> Vec<Lane> {
    let mut by_wd: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
    for (lane, ios) in lanes
        .iter()
        .zip(ios)
        .filter(|(lane, _)| lane.fixed.is_none())
    {
        let sum = by_wd.entry(&lane.wd).or_default();
        *sum = (sum.0 + ios, sum.1 + lane.skew);
    }
    let all: u64 = by_wd.values().map(|(ios, _)| ios).sum();
    let skew = |lane: &Lane| match by_wd.get(&*lane.wd) {
        Some((ios, skew)) if all > 0 && *skew > 0.0 && lane.fixed.is_none() => {
            *ios as f64 * 100.0 / all as f64 * lane.skew / skew
        }
        _ => lane.skew,
    };
    lanes
        .iter()
        .map(|lane| Lane {
            skew: skew(lane),
            ..lane.clone()
        })
        .collect()
}

impl Rate {
    /// Whether it depends on what an earlier run reached.
    #[must_use]
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::CurvePoint(_) | Self::PercentOfLast(_))
    }
}
