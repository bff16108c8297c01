//! In: the driver's events of a measurement. Out: the same events, completed with what only the runner
//! knows: the case, the counters of disks and the burst credits.

use std::sync::Arc;

use blocklab_device::CreditBalance;
use blocklab_driver::{Backing, Event, Observer, Questions, TargetFile};
use blocklab_record::{Measurement, Record};
use blocklab_targets::Model;
use blocklab_units::Nanos;
use blocklab_verify::KeyMap;
use blocklab_workload::Case;

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

/// Passes on the driver's events of a measurement.
pub(crate) struct Relay<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    /// Adds what only the runner knows to what the driver has measured so far.
    pub(crate) complete: &'a dyn Fn(Measurement) -> Measurement,
    /// The devices that are paced in real time.
    pub(crate) models: Vec<Model>,
}

impl Observer for Relay<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Interval {
                interval, elapsed, ..
            } => {
                let credits = self.credits();
                self.observer.event(Event::Interval {
                    interval,
                    elapsed,
                    credits: &credits,
                });
            }
            Event::Frame {
                so_far, elapsed, ..
            } => {
                let credits = self.credits();
                self.observer.event(Event::Frame {
                    so_far: &(self.complete)(so_far.clone()),
                    elapsed,
                    credits: &credits,
                });
            }
            Event::Status(so_far) => {
                let so_far = (self.complete)(so_far.clone());
                self.observer.event(Event::Status(&so_far));
            }
            other => self.observer.event(other),
        }
    }
}

impl Relay<'_> {
    /// What is left in every burst bucket of the devices.
    fn credits(&self) -> Vec<CreditBalance> {
        self.models.iter().flat_map(Model::credits).collect()
    }
}

impl Questions for Relay<'_> {
    fn interval_length(&self) -> Option<Nanos> {
        self.observer.interval_length()
    }

    fn status_every(&self) -> Option<Nanos> {
        self.observer.status_every()
    }

    fn is_requested(&mut self) -> bool {
        self.observer.is_requested()
    }

    fn keeps_frames(&self) -> bool {
        self.observer.keeps_frames()
    }

    fn keys(&self, storage: &str) -> Option<Arc<KeyMap>> {
        self.observer.keys(storage)
    }

    fn adapt(&mut self, case: &mut Case, so_far: &Record) -> bool {
        self.observer.adapt(case, so_far)
    }
}
