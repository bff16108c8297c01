//! Stores what clients have done so far while a volume is served, so that a killed server leaves a run.

use blocklab_record::Record;
use blocklab_results::Spooling;
use blocklab_store::Store;
use blocklab_units::Nanos;

/// Writes the spool of the run every few seconds.
pub(super) struct SeenSoFar {
    spooling: Spooling,
    last: Option<Nanos>,
}

/// Least time between two writes: then at most ten seconds are lost.
const EVERY: Nanos = Nanos::from_secs(5);
/// All intervals so far are written each time, which takes longer from hour to hour. The pause is at
/// least this many times as long as writing took, so that clients have the processor.
const SHARE: u64 = 200;

impl SeenSoFar {
    /// Without a store, nothing is written.
    pub(super) fn new(store: Option<&Store>) -> Self {
        Self {
            spooling: Spooling::new(store),
            last: None,
        }
    }

    /// Whether to write now; not while the writer is still busy.
    pub(super) fn is_due(&mut self, now: Nanos) -> bool {
        let Some(cost) = self.spooling.cost().filter(|_| self.spooling.is_kept()) else {
            return false;
        };
        let pause = EVERY.max(Nanos(cost.0 * SHARE));
        let is_due = self.last.is_none_or(|last| now >= last + pause);
        if is_due {
            self.last = Some(now);
        }
        is_due
    }

    pub(super) fn keep(&mut self, record: &Record) {
        self.spooling.begin(record);
    }
}
