//! `blocklab run --again`: a stored run as a study.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_host::{LARGEST_REPORT, read_input};
use blocklab_native as native;
use blocklab_record::{Origin, Record, TargetKind};
use blocklab_store::Store;
use blocklab_trace as trace;
use blocklab_workload::{Engine, Job, Plan, Replay, TraceFile};

use crate::chosen;
use blocklab_args::RunArgs;

/// The load of a run.
pub struct Again {
    /// Its id.
    pub id: String,
    /// Its plan.
    pub plan: Plan,
    /// Its targets as they were typed.
    pub targets: Vec<String>,
}

/// The plan in the record of a run, if it is complete.
pub fn load(run: &str, args: &RunArgs, store: &Store) -> Result<Again> {
    // Unchanged, because control characters in names are otherwise replaced for display.
    let record = chosen::record_unchanged(run, store)?;
    let id = &record.id;
    if record.origin == Origin::Imported {
        bail!(
            "{id} was imported and cannot be repeated: run the script of the program that measured it"
        );
    }
    let targets = record.targets.iter();
    let targets: Vec<String> = targets
        .filter_map(|target| target.address.clone())
        .collect();
    let mut plan = plan_of(&record)?;
    let jobs = plan.jobs_mut();
    for replay in jobs.filter_map(|job| job.replay.as_mut()) {
        *replay = Arc::new(read_again(id, replay)?);
    }
    let jobs = plan.jobs();
    let unnamed: Vec<&Job> = jobs.filter(|job| job.targets.is_empty()).collect();
    if args.target.is_empty() && targets.is_empty() && !unnamed.is_empty() {
        bail!("the record of {id} does not name its target: add --target");
    }
    if record.requested.plan.is_none()
        && !args.target.is_empty()
        && ran_on_nothing(&record, &unnamed)
    {
        bail!(
            "{id} ran on `null`, and its record names no engine for another target: run the \
             study itself"
        );
    }
    Ok(Again {
        id: id.clone(),
        plan,
        targets,
    })
}

/// The plan in a Record; in an old Record without one, the plan that its native text describes.
pub fn plan_of(record: &Record) -> Result<Plan> {
    if let Some(plan) = &record.requested.plan {
        return Ok(plan.clone());
    }
    let id = &record.id;
    // The note that a run gets when its plan cannot be stored.
    if let Some(note) = record.notes.iter().find(|note| note.subject == "again") {
        bail!(
            "cannot repeat {id}: its record does not contain all settings of its script; run the original \
             script ({})",
            note.text
        );
    }
    let parsed = native::parse(&record.requested.native, id).map_err(|error| anyhow!("{error}"))?;
    Ok(parsed.plan)
}

/// Reads the operations of a trace again, if its file has not changed.
fn read_again(id: &str, replay: &Replay) -> Result<Replay> {
    let named = replay.source.as_ref();
    let source = named.with_context(|| format!("the record of {id} names no trace file"))?;
    let path = &source.path;
    let bytes = read_input(path.as_ref(), LARGEST_REPORT)
        .with_context(|| format!("cannot read {path}, the trace that {id} replays"))?;
    let found = TraceFile::checksum(&bytes);
    if found != source.sha256 {
        bail!(
            "{id} replays the trace {path}, and the file has changed since: its SHA-256 is {found}, \
             and was {}; put the old file back to repeat the run",
            source.sha256
        );
    }
    let trace = trace::read_again(source, &bytes).map_err(|why| anyhow!("{path}: {why}"))?;
    Ok(Replay {
        operations: trace.operations,
        adapted: trace.adapted,
        ..replay.clone()
    })
}

/// Whether the run was on the null target. All jobs had the null engine there, and an old Record does
/// not have the engines of its study.
fn ran_on_nothing(record: &Record, jobs: &[&Job]) -> bool {
    let mut targets = record.targets.iter();
    targets.any(|target| target.kind == TargetKind::Null)
        && jobs.iter().any(|job| job.engine == Engine::Null)
}
