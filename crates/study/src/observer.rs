//! The observer of a run, and its events.

use std::path::Path;
use std::sync::Arc;

use blocklab_driver::{Backing, IntervalData, Outcome, Tap, TargetFile};
use blocklab_record::{DiskUse, Measurement, Record};
use blocklab_targets::Model;
use blocklab_units::{Bytes, Nanos};
use blocklab_verify::KeyMap;
use blocklab_workload::Case;

/// Receives the events of a run, those of each measurement included, and may set what depends on
/// earlier figures.
pub trait Observer: Tap {
    /// The events that follow belong to this part, from 0.
    fn turns_to(&mut self, _part: usize) {}
    /// A scratch file is being written: bytes done, and bytes in all.
    fn laying_out(&mut self, _: &Path, _: Bytes, _: Bytes) {}
    /// A measurement begins: `step` of `steps`, from 0.
    fn begins(&mut self, _: &Case, _pass: u32, _step: usize, _steps: usize) {}
    /// What is left in every burst bucket of the devices that are paced in real time, ahead of the
    /// interval: name, and operations or bytes.
    fn credits(&mut self, _left: &[(String, f64)]) {}
    /// The last chance to change a case by what was measured before it: a rate that is a share of
    /// an earlier maximum. Returns whether it is run at all.
    fn adapt(&mut self, _: &mut Case, _: &Record) -> bool {
        true
    }
    /// Whether a case is measured once more, when all passes of the plan are done.
    fn wants_again(&self, _case: &Case, _record: &Record) -> bool {
        false
    }
    /// What a measurement left in addition to its figures: logs, miscompared blocks, how far writes
    /// came.
    fn left(&mut self, _: &Case, _: &Outcome) {}
    /// A measurement has ended; the record is whole so far.
    fn ended(&mut self, _: &Record) {}
}

/// Runs that nobody watches.
impl Observer for () {}

/// The devices behind targets that are paced in real time, each once.
pub(crate) fn emulated(targets: &[Vec<TargetFile>]) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for target in targets.iter().flatten() {
        if let Backing::Emulated(model) = &target.backing
            && !models.iter().any(|known| known.is(model))
        {
            models.push(model.clone());
        }
    }
    models
}

/// Passes the events of a measurement on from the driver.
pub(crate) struct Relay<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    /// What the devices below the targets did since the measurement began.
    pub(crate) disks: &'a dyn Fn() -> Vec<DiskUse>,
    /// The devices that are paced in real time.
    pub(crate) models: Vec<Model>,
}

impl Tap for Relay<'_> {
    fn interval(&mut self, interval: &blocklab_record::Interval, elapsed: Nanos) {
        let left: Vec<_> = self.models.iter().flat_map(Model::credits).collect();
        if !left.is_empty() {
            self.observer.credits(&left);
        }
        self.observer.interval(interval, elapsed);
    }

    fn interval_length(&self) -> Option<Nanos> {
        self.observer.interval_length()
    }

    fn slice(&mut self, slice: &IntervalData) {
        self.observer.slice(slice);
    }

    fn status_every(&self) -> Option<Nanos> {
        self.observer.status_every()
    }

    fn is_requested(&mut self) -> bool {
        self.observer.is_requested()
    }

    fn keys(&self, storage: &str) -> Option<Arc<KeyMap>> {
        self.observer.keys(storage)
    }

    fn status(&mut self, so_far: &Measurement) {
        self.observer.status(&Measurement {
            disks: (self.disks)(),
            ..so_far.clone()
        });
    }
}
