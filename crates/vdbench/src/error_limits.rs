//! How many errors the jobs of a plan take.

use blocklab_workload::{Case, EndsOthers, MostErrors};

use super::Script;
use super::prepared::Planned;

/// Gives the jobs of all runs their limit. All runs count together, and with
/// `remove` each storage definition by itself.
pub(super) fn limit_errors(script: &Script, cases: &mut [Case], runs: &[Planned]) {
    let asked = &script.general.data_errors;
    let all = MostErrors::new(asked.most, 0);
    let each: Vec<MostErrors> = script
        .sds
        .iter()
        .zip(1..)
        .map(|(_, counter)| MostErrors::new(asked.most, counter))
        .collect();
    for (case, planned) in cases.iter_mut().zip(runs) {
        for (job, planned_job) in case.workload.jobs.iter_mut().zip(&planned.planned_jobs) {
            let limit = if asked.remove {
                &each[planned_job.sd]
            } else {
                &all
            };
            if let Some(pool) = &mut job.pool {
                pool.most_errors = Some(limit.clone());
            }
            if !asked.remove {
                job.ends_others = EndsOthers::OnError;
            }
        }
    }
}
