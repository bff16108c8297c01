//! What a pool remembers of the operations whose data is compared: where each stands on its way.
//!
//! ```text
//!   read:   read ─▶ compared
//!   write:  [read ─▶ compared ─▶] write [─▶ read ─▶ compared]
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Job, KeyMap, Validation};

use blocklab_workload::Slot;

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A read that was asked for.
    Read,
    /// The block of a write, before it.
    ReadBefore,
    /// The write.
    Write,
    /// The block of a write, after it.
    ReadAfter,
}

impl Step {
    pub(crate) const fn direction(self) -> Direction {
        match self {
            Self::Write => Direction::Write,
            Self::Read | Self::ReadBefore | Self::ReadAfter => Direction::Read,
        }
    }
}

/// The memory of one pool.
#[derive(Debug)]
pub(crate) struct Validator {
    pub(crate) keys: Arc<KeyMap>,
    read_before_write: bool,
    read_after_write: bool,
    most_wrong: u64,
    /// By slot.
    steps: Vec<Step>,
    /// By slot: its data came back wrong.
    wrong: Vec<bool>,
    /// Slots whose next step can begin.
    pub(crate) ready: VecDeque<Slot>,
    /// From the run's clock to microseconds since 1970.
    epoch_micros: u64,
}

impl Validator {
    pub(crate) fn of(job: &Job, depth: usize, epoch_micros: u64) -> Option<Box<Self>> {
        let validation = job.pool.as_ref()?.validation.as_ref()?;
        let Validation {
            keys,
            read_before_write,
            read_after_write,
            most_wrong,
            ..
        } = validation;
        Some(Box::new(Self {
            keys: Arc::clone(keys),
            read_before_write: *read_before_write,
            read_after_write: *read_after_write,
            most_wrong: *most_wrong,
            steps: vec![Step::Read; depth],
            wrong: vec![false; depth],
            ready: VecDeque::with_capacity(depth),
            epoch_micros,
        }))
    }

    /// Microseconds since 1970.
    pub(crate) const fn micros(&self, now: Nanos) -> u64 {
        self.epoch_micros + now.0 / 1000
    }

    /// Whether so many blocks came back wrong that all ends.
    pub(crate) fn is_full(&self) -> bool {
        self.keys.wrongs() >= self.most_wrong
    }

    /// An operation on claimed blocks begins, of which something is known or not.
    pub(crate) fn begin(&mut self, slot: &Slot, direction: Direction, known: bool) -> Step {
        let step = match direction {
            Direction::Write if known && self.read_before_write => Step::ReadBefore,
            Direction::Write => Step::Write,
            _ => Step::Read,
        };
        self.wrong[slot.index()] = false;
        self.steps[slot.index()] = step;
        step
    }

    pub(crate) fn step(&self, slot: &Slot) -> Step {
        self.steps[slot.index()]
    }

    /// What it read is not what was written.
    pub(crate) fn found_wrong(&mut self, slot: &Slot) {
        self.wrong[slot.index()] = true;
    }

    /// A step went well, or did not. Returns whether another one follows.
    pub(crate) fn goes_on(&mut self, slot: &Slot, went_well: bool) -> bool {
        let next = match self.steps[slot.index()] {
            Step::ReadBefore => Step::Write,
            Step::Write if self.read_after_write => Step::ReadAfter,
            _ => return false,
        };
        if !went_well || self.wrong[slot.index()] {
            return false;
        }
        self.steps[slot.index()] = next;
        true
    }
}
