//! What is counted of a job.

use blocklab_units::Nanos;
use blocklab_worker::{PriorityTable, Wanted, has_schedule};
use blocklab_workload::{Direction, Job};

pub(super) fn wanted(job: &Job) -> Wanted {
    let flush = job.flush;
    let every = [flush.fsync_every, flush.fdatasync_every, flush.range_every];
    let flushes = flush.at_end || every.iter().any(|every| *every > 0);
    let goes = |direction, share: u8| match &job.replay {
        Some(replay) => replay.goes(direction),
        None => share > 0,
    };
    let submit = job.submit_latency && job.engine.is_asynchronous();
    // What only reads back tells of no priorities.
    let by_priority = |direction, share| match goes(direction, share) {
        true => PriorityTable::for_job(job, direction, submit),
        false => None,
    };
    Wanted {
        directions: [
            goes(Direction::Read, job.mix.read) || job.reads_back(),
            goes(Direction::Write, job.mix.write),
            goes(Direction::Trim, job.mix.trim) || job.trim_first || job.trims_written(),
            goes(Direction::Sync, 0) || flushes,
        ],
        response: has_schedule(job),
        submit,
        depths: job.measure.depths,
        log: job.log,
        ramp: job.ramp > Nanos::ZERO,
        by_priority: [
            by_priority(Direction::Read, job.mix.read),
            by_priority(Direction::Write, job.mix.write),
        ],
    }
}
