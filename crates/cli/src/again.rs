//! `blocklab run --again`: a kept run as a study.

use anyhow::{Result, anyhow, bail};
use blocklab_native as native;
use blocklab_record::{Origin, Record, TargetKind};
use blocklab_store::Store;
use blocklab_workload::{Engine, Job};

use crate::args::RunArgs;

/// What a run asked for.
pub struct Again {
    /// Its id.
    pub id: String,
    /// The text of its plan.
    pub text: String,
    /// What its targets were called on the command line.
    pub targets: Vec<String>,
}

/// What the Record of a run says, if that is all of it.
pub fn of(run: &str, args: &RunArgs, store: &Store) -> Result<Again> {
    let record = store.load(run)?.record;
    let id = &record.id;
    if record.origin == Origin::Imported {
        bail!("{id} was imported: run the script of the program that measured it");
    }
    if record.notes.iter().any(|note| note.subject == "again") {
        bail!(
            "the record of {id} does not hold all that its script asked for, so the run cannot be \
             repeated from it: run the original script"
        );
    }
    let typed = record.targets.iter().filter_map(|it| it.asked.clone());
    let targets: Vec<String> = typed.collect();
    let plan = native::parse(&record.asked.native, id).map_err(|error| anyhow!("{error}"))?;
    let jobs = plan.plan.cases.iter().flat_map(|it| &it.workload.jobs);
    let unnamed: Vec<&Job> = jobs.filter(|job| job.targets.is_empty()).collect();
    if args.target.is_empty() && targets.is_empty() && !unnamed.is_empty() {
        bail!("the record of {id} does not say which target was asked for: name it with --target");
    }
    if !args.target.is_empty() && !unnamed.is_empty() && ran_on_nothing(&record, &unnamed) {
        bail!(
            "{id} ran on `null`, and its record does not say by which engine another target is \
             reached: run the study itself"
        );
    }
    Ok(Again {
        id: id.clone(),
        text: record.asked.native,
        targets,
    })
}

/// On the null target every job has the null engine, whatever its study said.
fn ran_on_nothing(record: &Record, jobs: &[&Job]) -> bool {
    let is_null = |job: &&Job| job.engine == Engine::Null;
    let mut kinds = record.targets.iter().map(|it| it.kind);
    kinds.any(|kind| kind == TargetKind::Null) && jobs.iter().any(is_null)
}
