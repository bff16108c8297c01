//! What the command line overrides in a study.

use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Job, Plan, Region, Spread};

/// What replaces a part of a plan; `None` leaves it as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overrides {
    /// Measured time of every job; other ends of a job stay.
    pub runtime: Option<Nanos>,
    /// Time before the measured one of every job.
    pub ramp: Option<Nanos>,
    /// Passes of every case.
    pub passes: Option<u32>,
    /// Seed of every case.
    pub seed: Option<u64>,
    /// Length of the region of every job.
    pub size: Option<Bytes>,
    /// Leave out the cases that write or trim.
    pub read_only: bool,
}

/// Applies them. A Note names every case that is left out; a plan of which nothing is left has
/// no cases.
pub fn apply(plan: &mut Plan, overrides: &Overrides) -> Vec<Note> {
    plan.passes = overrides.passes.unwrap_or(plan.passes);
    for case in &mut plan.cases {
        let workload = &mut case.workload;
        workload.seed = overrides.seed.unwrap_or(workload.seed);
        for job in &mut workload.jobs {
            job.stop.runtime = overrides.runtime.or(job.stop.runtime);
            job.ramp = overrides.ramp.unwrap_or(job.ramp);
            resize(&mut job.region, overrides.size);
        }
    }
    if overrides.read_only {
        drop_writers(plan)
    } else {
        Vec::new()
    }
}

/// Changes the size of a region; regions that were adjacent stay adjacent.
fn resize(region: &mut Region, size: Option<Bytes>) {
    let Some(size) = size else { return };
    if let (Spread::Increment(step), Some(old)) = (region.spread, region.size)
        && step == old
    {
        region.spread = Spread::Increment(size);
    }
    region.size = Some(size);
}

/// Leaves out the cases that write or trim, with a note for each.
fn drop_writers(plan: &mut Plan) -> Vec<Note> {
    let why = "left out: it writes, and the run is read-only";
    let mut notes = Vec::new();
    plan.cases.retain(|case| {
        let writes = case.workload.jobs.iter().any(Job::writes);
        if writes {
            notes.push(Note::new(NoteLevel::Ignored, &*case.name, why));
        }
        !writes
    });
    notes
}
