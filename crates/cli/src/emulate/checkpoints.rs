//! What was seen so far is kept while a volume is served, so that a killed server leaves its run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};
use blocklab_record::Record;
use blocklab_results::keeping::Checkpoints;
use blocklab_store::Store;
use blocklab_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Keeps checkpoints in a thread of its own: a flush of the store's disk may take long, and commands
/// for a moment do not wait for it.
pub(super) struct Checkpointer {
    /// `None`: nothing is to be kept.
    records: Option<SyncSender<Record>>,
    writer: Option<JoinHandle<()>>,
    /// Processor time that the last one took.
    cost: Arc<AtomicU64>,
    last: Option<Nanos>,
}

/// How often, so that with the slice that is going on no more than ten seconds are lost.
const EVERY: Nanos = Nanos::from_secs(5);
/// A checkpoint holds all slices so far, so it takes longer from hour to hour. It may take this share
/// of a processor's time: the rest belongs to the clients.
const SHARE: u64 = 200;

impl Checkpointer {
    pub(super) fn start(store: &Store, no_save: bool) -> Result<Self> {
        let cost = Arc::new(AtomicU64::new(0));
        let mut started = Self {
            records: None,
            writer: None,
            cost: Arc::clone(&cost),
            last: None,
        };
        if no_save {
            return Ok(started);
        }
        let (sender, records) = sync_channel(1);
        let store = store.clone();
        let write = move || write(&store, &records, &cost);
        let writer = Builder::new().name("checkpoints".to_owned()).spawn(write);
        started.writer = Some(writer.context("cannot start a thread")?);
        started.records = Some(sender);
        Ok(started)
    }

    pub(super) fn is_due(&mut self, now: Nanos) -> bool {
        let pause = EVERY.max(Nanos(self.cost.load(Ordering::Relaxed) * SHARE));
        let is_due = self.records.is_some() && self.last.is_none_or(|last| now >= last + pause);
        if is_due {
            self.last = Some(now);
        }
        is_due
    }

    /// While an earlier one is still being written, this one is left out.
    pub(super) fn keep(&self, record: Record) {
        if let Some(records) = &self.records {
            let _ = records.try_send(record);
        }
    }
}

/// The run is kept after this: a checkpoint that came later would stay for ever.
impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.records = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write(store: &Store, records: &Receiver<Record>, cost: &AtomicU64) {
    let mut checkpoints = Checkpoints::new(Some(store));
    for record in records {
        let before = processor_time();
        checkpoints.keep(&record);
        let took = processor_time().since(before);
        cost.store(took.0, Ordering::Relaxed);
    }
}

/// Of this thread.
fn processor_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
