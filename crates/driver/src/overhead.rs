//! In: a clock. Out: our own cost for an operation, from a short run on the null target.

use std::sync::atomic::AtomicBool;

use blocklab_record::{ClockFacts, Overhead};
use blocklab_targets::Clock;
use blocklab_units::Bytes;
use blocklab_workload::{Engine, Job, Stop, Workload};

use crate::{Control, Error, Run, TargetFile, run};

/// Operations of each probe: some milliseconds.
const OPERATIONS: u64 = 200_000;

/// Measures the processor time of one 4 KiB random read without any I/O, at depth 1 and 32.
///
/// # Errors
/// When not even a thread can be started.
pub fn measure(clock: Clock) -> Result<Overhead, Error> {
    Ok(Overhead {
        depth1_ns: probe(clock, 1)?,
        depth32_ns: probe(clock, 32)?,
        clock: ClockFacts {
            source: clock.source().to_owned(),
            read_ns: clock.read_cost_ns(),
            error_ppm: clock.error_ppm(),
        },
    })
}

/// Processor time of an operation on the null target at this depth, in nanoseconds.
fn probe(clock: Clock, depth: u32) -> Result<f64, Error> {
    let mut job = Job::new("overhead");
    job.engine = Engine::Null;
    job.depth = depth;
    job.stop = Stop::after_bytes(Bytes(4096 * OPERATIONS));
    let workload = Workload {
        seed: 1,
        jobs: vec![job],
    };
    let targets = [vec![TargetFile::file("null".into(), 1 << 30, false)]];
    let never = AtomicBool::new(false);
    let outcome = run(
        Run {
            workload: &workload,
            targets: &targets,
            clock: clock.restarted(),
        },
        Control::new(&never),
        &mut (),
    )?;
    let result = &outcome.measurement.jobs[0];
    let operations = result.accounting.completed.max(1);
    // Not the elapsed time, which on a busy machine includes that of other processes.
    let used = result.threads_use.unwrap_or_default();
    Ok((used.user_ns + used.system_ns) as f64 / operations as f64)
}
