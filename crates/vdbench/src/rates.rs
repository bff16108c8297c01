//! Rates of runs to the paces of their jobs.

use std::collections::BTreeMap;

use blocklab_workload::{Case, Pace, Rate as Speed, Share};

use super::defs::Arrivals;
use super::run::Run;

/// What a job of a case is.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedJob {
    /// Name of its workload; empty of a job that no workload requests: formatting, recovery.
    pub wd: String,
    /// Index of its storage definition.
    pub sd: usize,
    /// Index of the host that runs it; 0 where there is one.
    pub host: usize,
    /// Its share of the run's rate, in per cent.
    pub skew: f64,
    /// A rate of its own in operations a second, in place of a share.
    pub fixed: Option<f64>,
}

impl PlannedJob {
    /// Its rate when that of the run is `of_run`, in operations a second.
    pub(super) fn rate(&self, of_run: f64) -> f64 {
        self.fixed.unwrap_or(of_run * self.skew / 100.0)
    }
}

/// Arrivals that wait for one storage definition at most, as in the original.
const QUEUE: f64 = 2000.0;
/// The group of all jobs of a controlled run; those of concatenations are numbered from 2.
const GROUP: u32 = 1;
/// What a run may reach at the points of a curve, until the maximum has been measured.
const ASSUMED_MAXIMUM: f64 = 10_000.0;

/// The least rate and the least weight of a job, which must be above 0: a curve may find that a workload
/// had no share of its maximum.
const LEAST: f64 = 1e-6;

/// The rate with which a run is planned; what depends on an earlier run is set when that is known.
pub(super) fn nominal(run: &Run) -> f64 {
    run.rate.number(ASSUMED_MAXIMUM, ASSUMED_MAXIMUM)
}

/// Sets every job of a case to its part of a rate. A maximum leaves all free, or keeps their
/// shares.
pub fn set_rate(case: &mut Case, run: &Run, planned_jobs: &[PlannedJob], rate: f64) {
    let mut in_pool: BTreeMap<(usize, String), f64> = BTreeMap::new();
    for (job, planned_job) in case.workload.jobs.iter().zip(planned_jobs) {
        if let Some(pooled) = &job.pool {
            let key = (planned_job.host, pooled.pool.clone());
            *in_pool.entry(key).or_default() += planned_job.rate(rate);
        }
    }
    for (job, planned_job) in case.workload.jobs.iter_mut().zip(planned_jobs) {
        let Some(pooled) = &mut job.pool else {
            continue;
        };
        // The oldest waits equally long in all of them, so that a full queue keeps their shares.
        let whole = in_pool[&(planned_job.host, pooled.pool.clone())];
        let part = planned_job.rate(rate) / whole.max(1e-9);
        pooled.queue = ((QUEUE * part).round() as u32).max(1);
        pooled.uniform = run.options.arrivals == Arrivals::Uniform;
        let speed = match planned_job.fixed {
            Some(fixed) => fixed,
            None if run.rate.is_max() => {
                job.pace = Pace::Closed;
                // The shares of a concatenation are in the plan.
                if run.controlled {
                    pooled.share = Some(Share {
                        group: GROUP,
                        weight: planned_job.skew.max(LEAST),
                    });
                }
                continue;
            }
            None => planned_job.rate(rate),
        };
        // Arrivals keep the shares.
        pooled.share = None;
        let speed = Speed::Iops(speed.max(LEAST));
        job.pace = match run.options.arrivals {
            Arrivals::Exponential => Pace::OpenPoisson(speed),
            Arrivals::Uniform | Arrivals::Deterministic => Pace::OpenFixed(speed),
        };
        if planned_job.fixed.is_none() {
            let bursts = run.bursts.iter();
            let own = bursts.map(|burst| (planned_job.rate(burst.rate), burst.seconds));
            pooled.bursts = own.collect();
        }
    }
}

/// The shares that workloads had in a run, spread over their storage as they were requested, for
/// the points of its curve. `ios` are the operations of each job.
pub fn observed(planned_jobs: &[PlannedJob], ios: &[u64]) -> Vec<PlannedJob> {
    /// The sums over the jobs of a workload.
    #[derive(Default)]
    struct Sum {
        ios: u64,
        skew: f64,
    }
    let mut by_wd: BTreeMap<&str, Sum> = BTreeMap::new();
    let pairs = planned_jobs.iter().zip(ios);
    for (planned_job, ios) in pairs.filter(|(planned_job, _)| planned_job.fixed.is_none()) {
        let sum = by_wd.entry(&planned_job.wd).or_default();
        sum.ios += ios;
        sum.skew += planned_job.skew;
    }
    let all: u64 = by_wd.values().map(|sum| sum.ios).sum();
    let mut with_skews = planned_jobs.to_vec();
    for planned_job in with_skews
        .iter_mut()
        .filter(|planned_job| planned_job.fixed.is_none())
    {
        if let Some(sum) = by_wd.get(&*planned_job.wd)
            && all > 0
            && sum.skew > 0.0
        {
            planned_job.skew = sum.ios as f64 * 100.0 / all as f64 * planned_job.skew / sum.skew;
        }
    }
    with_skews
}
