//! A plan as text that means the same plan again.

use blocklab_workload::{Case, Job, Plan};

use super::keys::{self, CASE, Key, STUDY, quoted};

/// Writes a plan in the native format. What all jobs have in common stands in `[defaults]`,
/// spelled out even where it is a default of this version; the rest stands with its case. Sweeps
/// are written as the cases that they made.
///
/// [`parse`](super::parse) of the text is the same plan again.
#[must_use]
pub fn render(plan: &Plan) -> String {
    let seed = common_seed(plan);
    let mut text = head(plan, seed);
    let rows: Vec<Vec<Vec<Option<String>>>> = plan
        .cases
        .iter()
        .map(|case| case.workload.jobs.iter().map(shown).collect())
        .collect();
    let common = common(rows.iter().flatten());
    text.push_str("\n[defaults]\n");
    write_keys(&mut text, &common, &[]);
    for (case, rows) in plan.cases.iter().zip(&rows) {
        write_case(&mut text, case, rows, &common, seed);
    }
    text
}

/// The value of every key of a job, in the order of the table.
fn shown(job: &Job) -> Vec<Option<String>> {
    keys::job_keys().map(|key| (key.show)(job)).collect()
}

/// The values that all jobs share.
fn common<'r>(mut jobs: impl Iterator<Item = &'r Vec<Option<String>>>) -> Vec<Option<String>> {
    let mut common = jobs.next().cloned().unwrap_or_default();
    for job in jobs {
        for (shared, own) in common.iter_mut().zip(job) {
            if shared != own {
                *shared = None;
            }
        }
    }
    common
}

fn common_seed(plan: &Plan) -> Option<u64> {
    let mut seeds = plan.cases.iter().map(|case| case.workload.seed);
    let first = seeds.next()?;
    seeds.all(|seed| seed == first).then_some(first)
}

fn head(plan: &Plan, seed: Option<u64>) -> String {
    let study = keys::Study {
        name: Some(plan.name.clone()),
        description: plan.description.clone(),
        seed,
        passes: plan.passes,
        discard: plan.discard,
        aggregate: plan.aggregate,
        order: plan.order,
        pause: plan.pause,
        pause_before: plan.pause_before,
    };
    lines(&STUDY, &study)
}

fn lines<T>(keys: &[Key<T>], of: &T) -> String {
    keys.iter()
        .filter_map(|key| Some(format!("{} = {}\n", key.name, (key.show)(of)?)))
        .collect()
}

fn write_case(
    text: &mut String,
    case: &Case,
    rows: &[Vec<Option<String>>],
    common: &[Option<String>],
    seed: Option<u64>,
) {
    let own_seed = Some(case.workload.seed).filter(|_| seed.is_none());
    let head = keys::Case {
        rate_percent: Vec::new(),
        rate_ramp: None,
        name: case.name.clone(),
        settings: case.settings.clone(),
        seed: own_seed,
    };
    text.push_str("\n[[case]]\n");
    text.push_str(&lines(&CASE, &head));
    let jobs = &case.workload.jobs;
    if let [only] = &jobs[..]
        && only.name == case.name
    {
        return write_keys(text, &rows[0], common);
    }
    for (job, row) in jobs.iter().zip(rows) {
        text.push_str("\n[[case.job]]\n");
        text.push_str(&format!("name = {}\n", quoted(&job.name)));
        write_keys(text, row, common);
    }
}

/// The keys whose values are not inherited.
fn write_keys(text: &mut String, own: &[Option<String>], inherited: &[Option<String>]) {
    for (index, (key, own)) in keys::job_keys().zip(own).enumerate() {
        let inherited = inherited.get(index).unwrap_or(&None);
        if let Some(value) = own
            && own != inherited
        {
            text.push_str(&format!("{} = {value}\n", key.name));
        }
    }
}
