//! `read_iolog` and `replay_*`: which trace a clone replays, and what is changed in it.

use std::sync::Arc;

use blocklab_trace::{Trace, TraceError};
use blocklab_units::{Bytes, Nanos, SECTOR};
use blocklab_workload::{
    BlockSizes, Direction, Job, Replay, Replayed, SizeMix, Stop, Target, TraceChanges, TraceFile,
    errno,
};

use super::context::PlanContext;
use super::fault::Fault;
use super::files::{Layout, Planned, WorkingSet, can_be_made};
use super::options::Options;
use super::spec::Spec;
use blocklab_syntax::{Mistake, Place};

/// The trace of clone `number`, with what `replay_*` changes in it.
pub(super) fn read(
    spec: &Spec,
    number: u32,
    context: &PlanContext<'_>,
) -> Result<Option<Trace>, Fault> {
    if spec.options.read_iolog.is_none() {
        return Ok(None);
    }
    let path = path(&spec.options, number)
        .ok_or_else(|| spec.mistake("read_iolog", "no file is named"))?;
    let unfit = |why| Fault::invalid(spec.mistake("read_iolog", format!("{path}: {why}")));
    // A wrong word stops all, whether there is a trace or not.
    let mut changes = changes(spec)?;
    let bytes = (context.bytes_of)(path).map_err(unfit)?;
    let read = blocklab_trace::read(&bytes, context.device_of);
    let mut trace = read.map_err(|error| match error {
        TraceError::Line(line, why) => {
            let file = Some(path.into());
            Fault::invalid(Mistake::here(&Place { file, line }, why))
        }
        other => unfit(other.to_string()),
    })?;
    if let Some(target) = &spec.options.replay_redirect {
        trace.files = vec![target.clone()];
    }
    changes.to_one_target = trace.files.len() == 1;
    trace.change(&changes);
    if trace.operations.is_empty() {
        return Err(unfit("nothing is left to replay".to_owned()));
    }
    trace.source = Some(TraceFile {
        path: path.to_owned(),
        sha256: TraceFile::checksum(&bytes),
        changes,
    });
    Ok(Some(trace))
}

/// The trace that this clone replays.
pub(super) fn path(options: &Options, number: u32) -> Option<&str> {
    let given = options.read_iolog.as_ref()?;
    let paths: Vec<&str> = given.split(':').filter(|path| !path.is_empty()).collect();
    paths.get(number as usize % paths.len().max(1)).copied()
}

/// A placeholder for a trace that an earlier job will write. It has one operation, because a job with an
/// empty trace is refused; the operation writes if the trace will.
pub(super) fn stand_in(writer: &Job) -> Trace {
    let direction = if writer.writes() {
        Direction::Write
    } else {
        Direction::Read
    };
    Trace {
        files: writer.targets.clone(),
        operations: vec![Replayed::new(Nanos::ZERO, direction, 0, 512)],
        ..Trace::default()
    }
}

/// What `replay_*` changes in the operations.
fn changes(spec: &Spec) -> Result<TraceChanges, Mistake> {
    let options = &spec.options;
    Ok(TraceChanges {
        skip: skipped(spec)?,
        scale: options.replay_scale.max(1),
        align: options.replay_align,
        speed_percent: options.replay_time_scale.max(1).into(),
        to_one_target: false,
    })
}

/// The directions that `replay_skip=` leaves out.
fn skipped(spec: &Spec) -> Result<Vec<Direction>, Mistake> {
    let words = spec.options.replay_skip.split(',');
    let mut skipped = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let mut all = Direction::ALL.into_iter();
        let Some(direction) = all.find(|direction| direction.name() == word.trim()) else {
            let wrong = format!("`{word}` is none of read, write, trim, sync");
            return Err(spec.mistake("replay_skip", wrong));
        };
        skipped.push(direction);
    }
    Ok(skipped)
}

/// What a clone works on that replays: what is written may make a file, and make it longer.
pub(super) fn working_set(
    spec: &Spec,
    trace: &Trace,
    context: &PlanContext<'_>,
) -> Result<WorkingSet, Fault> {
    let needs_files = spec.options.ioengine != "null";
    let mut planned = Vec::new();
    for (path, extent) in trace.files.iter().zip(trace.extents()) {
        let (used, written) = (extent.used, extent.written);
        let there = (context.size_of)(path);
        if needs_files
            && written.is_none()
            && used.is_some()
            && there.is_none()
            && !Target::is_model(path)
        {
            let wrong = format!("{path} is not there, and the trace does not write it");
            return Err(Fault::one_job(
                errno::ENOENT,
                spec.mistake("read_iolog", wrong),
            ));
        }
        if let Some(length) = written.filter(|_| can_be_made(&spec.options, path)) {
            planned.push(Planned {
                path: path.clone(),
                length: Bytes(length),
                layout: Layout::Length,
                is_appended: false,
                cut_to: None,
                is_opened: true,
                unlink: spec.options.unlink,
            });
        }
    }
    let extents = trace.extents().into_iter();
    let end = extents.filter_map(|extent| extent.used).max();
    // A trace of flushes alone has no place, and a region holds a block.
    let space = end.unwrap_or(0).max(4096);
    Ok(WorkingSet {
        targets: trace.files.clone(),
        // No device ends it.
        size: (spec.options.ioengine == "null").then_some(space),
        space,
        planned,
        ..WorkingSet::default()
    })
}

/// Makes the job replay.
pub(super) fn apply(options: &Options, job: &mut Job, trace: Trace) {
    // The sizes of the job decide how large its buffers are. Trims need none, and may be very long.
    let (trims, others): (Vec<&Replayed>, Vec<&Replayed>) = trace
        .operations
        .iter()
        .partition(|operation| operation.direction == Direction::Trim);
    job.sizes = BlockSizes {
        trim: SizeMix::fixed(largest(&trims)),
        ..BlockSizes::fixed(largest(&others))
    };
    // Apart from the runtime, the end of the trace is the end of the job.
    job.stop = Stop {
        runtime: job.stop.runtime,
        ..Stop::default()
    };
    job.replay = Some(Arc::new(Replay {
        operations: trace.operations,
        keeps_time: !options.replay_no_stall,
        source: trace.source,
        adapted: trace.adapted,
        ..Replay::default()
    }));
}

/// The length of the longest operation; that of a sector, where there is none.
fn largest(operations: &[&Replayed]) -> Bytes {
    let lengths = operations.iter().map(|operation| operation.len.into());
    Bytes(lengths.fold(SECTOR, u64::max))
}

#[cfg(test)]
mod tests {
    use crate::tests::planned;

    /// A file below /dev/shm that a trace writes was not made, but a scratch file took its place and
    /// was removed; and with the engine `null`, which opens nothing, files were made or missed.
    #[test]
    fn a_replay_makes_the_files_that_it_writes() {
        let made = |options: &str| {
            let prepared = planned(&format!("[a]\n{options}\n")).expect(options);
            assert_eq!(prepared.unfit, [], "{options}");
            let files = prepared.files.into_iter();
            files.map(|file| file.path).collect::<Vec<_>>()
        };
        assert_eq!(made("read_iolog=write.log"), ["/dev/shm/x"]);
        assert!(made("read_iolog=write.log\nioengine=null").is_empty());
        assert!(made("read_iolog=read.log\nioengine=null").is_empty());
        let missing = planned("[a]\nread_iolog=read.log\n").expect("a plan").unfit;
        assert!(missing[0].to_string().contains("none is not there"));
    }

    /// With the engine `null` a trace of two files did not run, because the operations of the second one
    /// had no target; and a trace that was written of two files had all operations on the first.
    #[test]
    fn a_job_that_opens_no_files_has_a_target_for_each() {
        for options in ["read_iolog=two.log", "size=64k\nfilename=x:y"] {
            let text = format!("[a]\nioengine=null\n{options}\n");
            let prepared = planned(&text).expect("a plan");
            let jobs = &prepared.plan.cases[0].workload.jobs;
            assert_eq!(jobs[0].targets, ["null", "null"]);
            assert_eq!(prepared.clones[0].logs.traced, ["x", "y"]);
        }
    }
}
