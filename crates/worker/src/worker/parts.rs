//! In: jobs and the state of their run. Out: the parts of which workers are made, and their budgets.

use std::collections::HashMap;
use std::sync::Arc;

use blocklab_record::Stopped;
use blocklab_verify::KeyMap;
use blocklab_workload::{Invalid, Job, Pace, Positions, Slot, Spread};

use crate::bounds::{Stopper, pass};
use crate::flows::Flows;
use crate::sized_ramp::SizedRamps;

/// The parts of a worker without its jobs.
pub struct Parts<'a> {
    /// Its number among the threads of the job.
    pub thread: u32,
    /// Root of its random draws.
    pub seed: u64,
    /// Bytes of each target file.
    pub sizes: &'a [u64],
    /// Its slots: each is the right to use one buffer.
    pub slots: Vec<Slot>,
    /// The handle through which its end is requested.
    pub stopper: Arc<Stopper>,
    /// State that all threads of the run share.
    pub shared: &'a Shared,
    /// The keys of its storage, if its data is verified by keys.
    pub keys: Option<Arc<KeyMap>>,
}

/// State that the workers of a run share.
#[derive(Debug, Default)]
pub struct Shared {
    /// The flows of the jobs.
    pub flows: Flows,
    /// The ramps by bytes.
    pub sized_ramps: SizedRamps,
    /// The positions that threads share, by job; jobs on the same part of the same targets have the
    /// same ones.
    pub positions: HashMap<String, Positions>,
    /// Microseconds since 1970 at the zero of the run's clock; 0 in virtual time.
    pub epoch_micros: u64,
}

impl Shared {
    /// `targets` counts the files of each job.
    pub fn new(jobs: &[Job], targets: impl Iterator<Item = usize>) -> Self {
        let mut known: Vec<(&Job, Positions)> = Vec::new();
        for (job, targets) in jobs.iter().zip(targets) {
            if job.region.spread != Spread::Shared {
                continue;
            }
            let same = known
                .iter()
                .find(|(other, _)| other.targets == job.targets && other.region == job.region);
            let positions = match same {
                Some((_, positions)) => positions.clone(),
                None => Positions::new(targets),
            };
            known.push((job, positions));
        }
        Self {
            flows: Flows::new(jobs),
            sized_ramps: SizedRamps::new(jobs),
            positions: known
                .into_iter()
                .map(|(job, positions)| (job.name.clone(), positions))
                .collect(),
            epoch_micros: 0,
        }
    }
}

/// Whether a rate or a replay determines when operations are due.
pub fn has_schedule(job: &Job) -> bool {
    let replay = job.replay.as_ref();
    job.pace != Pace::Closed || replay.is_some_and(|replay| replay.keeps_time)
}

/// What a thread may issue.
pub(super) struct Budget {
    /// Measured bytes; `u64::MAX`: no limit.
    pub(super) bytes: u64,
    /// How the job ends when they are spent.
    pub(super) end: Stopped,
}

/// The budget of a thread whose targets have these sizes.
pub(super) fn budget(job: &Job, thread: u32, sizes: &[u64]) -> Result<Budget, Invalid> {
    let mut budget = Budget {
        bytes: u64::MAX,
        end: Stopped::Runtime,
    };
    if let Some(loops) = job.stop.loops {
        // A range that is trimmed first is counted twice: trim and write.
        let times = u64::from(loops) * (1 + u64::from(job.trim_first));
        budget = Budget {
            // Too many to count are as many as there may be.
            bytes: pass(job, thread, sizes)?.saturating_mul(times),
            end: Stopped::Loops,
        };
    }
    match job.stop.bytes {
        Some(bytes) if bytes.0 < budget.bytes => Ok(Budget {
            bytes: bytes.0,
            end: Stopped::Bytes,
        }),
        _ => Ok(budget),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: 2^24 passes over a TiB are 2^64 bytes, of which 64 bits hold nothing. The job ended
    /// before its first operation, as if all of its passes were over.
    #[test]
    fn more_passes_than_can_be_counted_are_not_none() {
        let mut job = Job::new("looping");
        job.stop.loops = Some(1 << 24);
        let budget = budget(&job, 0, &[1 << 40]).expect("a region that fits");
        assert_eq!(budget.bytes, u64::MAX);
    }
}
