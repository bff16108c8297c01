//! In: the bytes that jobs transfer. Out: the moment at which a ramp by bytes is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use blocklab_units::Nanos;
use blocklab_workload::Job;

/// A ramp that threads, and jobs of a group, go through together.
#[derive(Debug)]
pub(crate) struct SizedRamp {
    /// The bytes that end it.
    bytes: u64,
    moved: AtomicU64,
    /// The moment of the last byte, in nanoseconds on the run's clock; `u64::MAX` before it.
    over: AtomicU64,
}

/// The ramps of a run by the names of their jobs.
#[derive(Debug, Default)]
pub struct SizedRamps(HashMap<String, Arc<SizedRamp>>);

impl SizedRamps {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        let mut groups: HashMap<u32, Arc<SizedRamp>> = HashMap::new();
        let ramps = jobs.iter().filter_map(|job| {
            let rule = job.sized_ramp?;
            let own = Arc::new(SizedRamp::new(rule.bytes.0));
            let ramp = match rule.group {
                Some(group) => Arc::clone(groups.entry(group).or_insert(own)),
                None => own,
            };
            Some((job.name.clone(), ramp))
        });
        Self(ramps.collect())
    }

    pub(crate) fn share(&self, job: &Job) -> Option<Arc<SizedRamp>> {
        self.0.get(&job.name).cloned()
    }
}

impl SizedRamp {
    const fn new(bytes: u64) -> Self {
        Self {
            bytes,
            moved: AtomicU64::new(0),
            over: AtomicU64::new(u64::MAX),
        }
    }

    /// Counts bytes that completed at this moment. The ramp is not over before `earliest`. Returns
    /// when it was over, if it is.
    pub(crate) fn moved(&self, bytes: u32, now: Nanos, earliest: Nanos) -> Option<Nanos> {
        let moved = self.moved.fetch_add(bytes.into(), Relaxed) + u64::from(bytes);
        if moved >= self.bytes && now >= earliest {
            // The first thread to see it sets the moment for all.
            let _ = self
                .over
                .compare_exchange(u64::MAX, now.0, Relaxed, Relaxed);
        }
        let over = self.over.load(Relaxed);
        (over < u64::MAX).then_some(Nanos(over))
    }
}
