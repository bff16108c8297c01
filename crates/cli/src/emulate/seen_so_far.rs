//! What was seen so far is kept while a volume is served, so that a killed server leaves its run.

use blocklab_record::Record;
use blocklab_results::Spooling;
use blocklab_store::Store;
use blocklab_units::Nanos;

/// Keeps it every few seconds.
pub(super) struct SeenSoFar {
    spooling: Spooling,
    last: Option<Nanos>,
}

/// How often, so that with the slice that is going on no more than ten seconds are lost.
const EVERY: Nanos = Nanos::from_secs(5);
/// All slices so far are written each time, which takes longer from hour to hour. It may take this
/// share of a processor's time: the rest belongs to the clients.
const SHARE: u64 = 200;

impl SeenSoFar {
    /// Nothing is kept without a store.
    pub(super) fn new(store: Option<&Store>) -> Self {
        Self {
            spooling: Spooling::new(store),
            last: None,
        }
    }

    /// While it is still being written, it is not due again.
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
