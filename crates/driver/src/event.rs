//! The events in which a run reports, as one stream. The live screen, the spool, logs and reports
//! are made from it and give no answers: what a run has to ask is in [`Questions`].
//!
//! ```text
//!   runner   Turn · LayingOut · Begins ────────────────────────── Left · Ended   per measurement
//!   driver                         Interval · Slice · Status · Frame             while it lasts
//! ```

use std::path::Path;
use std::sync::Arc;

use blocklab_device::CreditBalance;
use blocklab_record::{Interval, IntervalData, Measurement, Record};
use blocklab_units::{Bytes, Nanos};
use blocklab_verify::KeyMap;
use blocklab_workload::Case;

use crate::Outcome;

/// Something that happens in a run.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The events that follow belong to this part of the request, from 0.
    Turn(usize),
    /// A scratch file is being written.
    LayingOut {
        /// The file.
        path: &'a Path,
        /// Bytes written so far.
        done: Bytes,
        /// Its size.
        total: Bytes,
    },
    /// A measurement begins.
    Begins {
        /// The case as it is run, after its adaptation.
        case: &'a Case,
        /// Number of the pass, from 1.
        pass: u32,
        /// Index of the measurement in its plan, from 0.
        step: usize,
        /// Number of measurements of the plan so far.
        steps: usize,
        /// The record of the run so far. It has this measurement already if several systems were
        /// simulated in parallel.
        so_far: &'a Record,
    },
    /// What was done since the last one, about twice a second.
    Interval {
        /// Its figures.
        interval: &'a Interval,
        /// Since the start of the measurement, the ramp included.
        elapsed: Nanos,
        /// What is left in every burst bucket of the devices that are paced in real time. The driver
        /// leaves it empty, and the runner, which knows the devices, fills it in.
        credits: &'a [CreditBalance],
    },
    /// A slice of the length that was requested by [`Questions::interval_length`].
    Slice(&'a IntervalData),
    /// The measurement so far, as often as [`Questions`] asks for it.
    Status(&'a Measurement),
    /// What was measured by the end of a second of real time, for those who keep it.
    Frame {
        /// The measurement so far. Its series are the slices that ended since the last frame.
        so_far: &'a Measurement,
        /// Since the start of the measurement, the ramp included.
        elapsed: Nanos,
        /// As in [`Event::Interval`].
        credits: &'a [CreditBalance],
    },
    /// The results of a measurement in addition to its figures: logs, miscompared blocks, progress of
    /// writes.
    Left {
        /// The case that was run.
        case: &'a Case,
        /// Its results.
        outcome: &'a Outcome,
    },
    /// A measurement has ended; the record is whole so far.
    Ended(&'a Record),
}

/// What a run asks its observer. The defaults suit most; the languages of other tools have answers of
/// their own.
pub trait Questions {
    /// The length of the slices to report; `None`: no slices.
    fn interval_length(&self) -> Option<Nanos> {
        None
    }

    /// How often to report the measurement so far; `None`: never. Simulated runs, which take no time,
    /// do not report it.
    fn status_every(&self) -> Option<Nanos> {
        None
    }

    /// Whether to report the measurement so far now, in addition.
    fn is_requested(&mut self) -> bool {
        false
    }

    /// Whether to report a [`Event::Frame`] each second.
    fn keeps_frames(&self) -> bool {
        false
    }

    /// The keys of a storage from earlier runs, if its data is compared by keys.
    fn keys(&self, _storage: &str) -> Option<Arc<KeyMap>> {
        None
    }

    /// Called once everything is checked and laid out. Returns how long from now the first pass begins,
    /// if other hosts begin at the same moment; `None`: at once. The run waits for the answer.
    fn start_in(&mut self) -> Option<Nanos> {
        None
    }

    /// Called before each case, to change it because of earlier measurements or of the state of its
    /// files. Returns whether to run it at all.
    fn adapt(&mut self, _case: &mut Case, _so_far: &Record) -> bool {
        true
    }
}

/// Follows a run without changing what is measured.
pub trait Observer: Questions {
    /// The next event.
    fn event(&mut self, event: Event<'_>);
}

/// An observer that ignores all events and has the default answers.
impl Questions for () {}

impl Observer for () {
    fn event(&mut self, _: Event<'_>) {}
}
