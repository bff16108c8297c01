//! A plan as text that means the same plan again.

use std::collections::BTreeSet;

use blocklab_units::visible;
use blocklab_workload::{Case, Job, Plan};

use super::keys::{self, CASE, Key, STUDY, Study, job_keys, quoted};
use super::left_out::{differences, in_words, json};
use super::parse;

/// Writes a plan in the native format. What all jobs have in common is in `[defaults]`,
/// spelled out even where it is a default of this version; the rest is with its case. Sweeps
/// are written as the cases that they made. What the format has no key for is named in comments
/// above all.
///
/// [`parse`](super::parse) of the text is the same plan again where nothing is left out.
pub fn render(plan: &Plan) -> String {
    let left_out = left_out(plan);
    let mut head = String::new();
    if !left_out.is_empty() {
        head.push_str("# The native format has no key for some of this plan:\n");
    }
    for (job, what) in left_out {
        head.push_str(&format!("#   {}: {what}\n", visible(&job)));
    }
    head + &text(plan)
}

/// The plan as a file of the native format: the keys that all jobs share first, as its defaults, and
/// each case with the rest. What the format has no key for is missing, without a word.
fn text(plan: &Plan) -> String {
    let seed = common_seed(plan);
    let study = Study {
        plan: plan.clone(),
        seed,
    };
    let mut text = lines(STUDY, &study);
    let plain = shown(&Job::new(""), &[]);
    let mut rows: Vec<Vec<Row>> = Vec::new();
    for case in &plan.cases {
        let jobs = case.workload.jobs.iter();
        rows.push(jobs.map(|job| shown(job, &plain)).collect());
    }
    let common = common(rows.iter().flatten());
    text.push_str("\n[defaults]\n");
    write_keys(&mut text, &common, &[]);
    for (case, rows) in plan.cases.iter().zip(&rows) {
        write_case(&mut text, case, rows, &common, seed);
    }
    text
}

/// The values of a job in the order of the table, as they are written.
type Row = Vec<Option<String>>;

/// The value of every key of a job; of a rare one only where it is not as in a plain job.
fn shown(job: &Job, plain: &[Option<String>]) -> Row {
    let keys = job_keys().enumerate();
    keys.map(|(index, key)| {
        let value = (key.show)(job);
        if key.rare && plain.get(index) == Some(&value) {
            None
        } else {
            value
        }
    })
    .collect()
}

/// The values that all jobs share.
fn common<'r>(mut jobs: impl Iterator<Item = &'r Row>) -> Row {
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

fn lines<T>(keys: &[Key<T>], settings: &T) -> String {
    keys.iter()
        .filter_map(|key| Some(format!("{} = {}\n", key.name, (key.show)(settings)?)))
        .collect()
}

/// Writes a case. `rows`: the values of each job; `common`: those that the defaults have; `seed`:
/// the one of all cases, which then is not repeated.
fn write_case(
    text: &mut String,
    case: &Case,
    rows: &[Row],
    common: &[Option<String>],
    seed: Option<u64>,
) {
    let own_seed = Some(case.workload.seed).filter(|_| seed.is_none());
    let head = keys::Case {
        rate_percent: Vec::new(),
        rate_ramp: None,
        trace: None,
        name: case.name.clone(),
        settings: case.settings.clone(),
        seed: own_seed,
    };
    text.push_str("\n[[case]]\n");
    text.push_str(&lines(CASE, &head));
    // A single job of the case's name is what a case without [[case.job]] means.
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

/// What the native text of a plan leaves out: the job, and in words what of it. If the text cannot be read
/// back, the name of the plan is in the place of a job.
pub fn left_out(plan: &Plan) -> Vec<(String, String)> {
    // Names of targets are all written alike, and some jobs have 30,000: a few of each are read back.
    let mut plan = plan.clone();
    plan.jobs_mut().for_each(|job| job.targets.truncate(100));
    let Ok(read) = parse(&text(&plan), "") else {
        return vec![(plan.name, "a combination of its settings".to_owned())];
    };
    let [jobs, read] = [plan, read.plan].map(|plan| {
        let cases = plan.cases.into_iter();
        cases.flat_map(|case| case.workload.jobs)
    });
    let mut found = Vec::new();
    for (job, read) in jobs.zip(read) {
        if job == read {
            continue;
        }
        let mut fields = BTreeSet::new();
        differences("", &json(&job), &json(&read), &mut fields);
        found.extend(
            fields
                .iter()
                .map(|field| (job.name.clone(), in_words(field))),
        );
    }
    // Jobs of several cases may share a name and lack the same.
    let mut seen = BTreeSet::new();
    found.retain(|left_out| seen.insert(left_out.clone()));
    found
}
