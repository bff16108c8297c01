//! In: nothing; these are the words in which a run reports.
//! Out: one stream of [`Event`]s. The live screen, checkpoints, logs and reports are made from it,
//! and none of them is asked for anything: what a run has to ask is in [`Questions`].
//!
//! ```text
//!   runner   Turn · LayingOut · Begins ────────────────────────── Left · Ended   per measurement
//!   driver                             Interval · Slice · Status                 while it lasts
//! ```

use std::path::Path;
use std::sync::Arc;

use blocklab_record::{Interval, Measurement, Record, Served};
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
        /// So much of it is written.
        done: Bytes,
        /// Its size.
        total: Bytes,
    },
    /// A measurement begins.
    Begins {
        /// What is run, as it was adapted.
        case: &'a Case,
        /// Which pass, from 1.
        pass: u32,
        /// Which measurement of its plan, from 0.
        step: usize,
        /// How many measurements the plan has so far.
        steps: usize,
    },
    /// What was done since the last one, about twice a second.
    Interval {
        /// Its figures.
        interval: &'a Interval,
        /// Since the start of the measurement, the ramp included.
        elapsed: Nanos,
        /// What is left in every burst bucket of the devices that are paced in real time: its name,
        /// and operations or bytes.
        credits: &'a [(String, f64)],
    },
    /// A slice of the length that was requested by [`Questions::interval_length`].
    Slice(&'a IntervalData),
    /// Everything that was measured so far, as often as [`Questions`] has it.
    Status(&'a Measurement),
    /// What a measurement left in addition to its figures: logs, miscompared blocks, how far writes
    /// came.
    Left {
        /// What was run.
        case: &'a Case,
        /// What it left.
        outcome: &'a Outcome,
    },
    /// A measurement has ended; the record is whole so far.
    Ended(&'a Record),
}

/// One slice of a run, job by job.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalData {
    /// From 1.
    pub number: u32,
    /// When it ended, since the start of the run.
    pub end: Nanos,
    /// How long it was.
    pub length: Nanos,
    /// Reads and writes of each job, in the order of the workload.
    pub jobs: Vec<[Served; 2]>,
}

/// What a run asks: the language of its job may want another answer than the usual one.
pub trait Questions {
    /// The length of the slices that are wanted; `None`: none.
    fn interval_length(&self) -> Option<Nanos> {
        None
    }

    /// How often everything that was measured so far is wanted; `None`: never. Simulated runs, which
    /// take no time, do not report it.
    fn status_every(&self) -> Option<Nanos> {
        None
    }

    /// Whether that is also wanted now.
    fn is_requested(&mut self) -> bool {
        false
    }

    /// The keys of a storage that earlier runs left, where its data is compared by them.
    fn keys(&self, _storage: &str) -> Option<Arc<KeyMap>> {
        None
    }

    /// The last chance to change a case by what was measured before it, or by what its files are by
    /// then. Returns whether it is run at all.
    fn adapt(&mut self, _case: &mut Case, _so_far: &Record) -> bool {
        true
    }
}

/// Who follows a run. It does not change what is measured.
pub trait Observer: Questions {
    /// The next event.
    fn event(&mut self, event: Event<'_>);
}

/// Nobody follows the run, and nothing unusual is wanted.
impl Questions for () {}

impl Observer for () {
    fn event(&mut self, _: Event<'_>) {}
}
