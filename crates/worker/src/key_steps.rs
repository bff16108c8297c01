//! In: an operation whose data is verified by keys. Out: its steps, one after the other:
//!
//! ```text
//!   read:   read ─▶ compared
//!   write:  [read ─▶ compared ─▶] write [─▶ read ─▶ compared]
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use blocklab_units::Nanos;
use blocklab_verify::{KeyMap, Taken};
use blocklab_workload::{Direction, Request, Slot, Validation};

use crate::in_flight::InFlight;

/// The step that an operation is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Step {
    /// A read of the job.
    #[default]
    Read,
    /// The read of a block before its write.
    ReadBefore,
    /// The write.
    Write,
    /// The read of a block after its write.
    ReadAfter,
}

impl Step {
    const fn direction(self) -> Direction {
        match self {
            Self::Write => Direction::Write,
            Self::Read | Self::ReadBefore | Self::ReadAfter => Direction::Read,
        }
    }
}

/// How far the operation in a slot has come.
#[derive(Debug, Clone, Copy, Default)]
struct Operation {
    step: Step,
    /// The block that it read is a miscompare.
    is_wrong: bool,
}

/// The steps of one worker's operations.
#[derive(Debug)]
pub(crate) struct KeySteps {
    keys: Arc<KeyMap>,
    read_before_write: bool,
    read_after_write: bool,
    most_wrong: u64,
    /// By slot.
    operations: Vec<Operation>,
    /// Slots whose next step can begin.
    ready: VecDeque<Slot>,
    /// Microseconds since 1970 at the zero of the run's clock.
    epoch_micros: u64,
}

impl KeySteps {
    pub(crate) fn new(
        rule: &Validation,
        keys: Arc<KeyMap>,
        depth: usize,
        epoch_micros: u64,
    ) -> Self {
        Self {
            keys,
            read_before_write: rule.read_before_write,
            read_after_write: rule.read_after_write,
            most_wrong: rule.most_wrong,
            operations: vec![Operation::default(); depth],
            ready: VecDeque::with_capacity(depth),
            epoch_micros,
        }
    }

    /// Whether the miscompares have reached the number that ends the run.
    pub(crate) fn has_reached_most_wrong(&self) -> bool {
        self.keys.wrongs() >= self.most_wrong
    }

    /// Claims the blocks of a request. Returns whether their content is known.
    pub(crate) fn claim(&self, request: &Request) -> Result<bool, Taken> {
        self.keys.claim(request.offset, u64::from(request.len))
    }

    /// An operation on claimed blocks begins. Returns the direction of its first step.
    pub(crate) fn begin(&mut self, slot: &Slot, direction: Direction, known: bool) -> Direction {
        let step = match direction {
            Direction::Write if known && self.read_before_write => Step::ReadBefore,
            Direction::Write => Step::Write,
            _ => Step::Read,
        };
        self.operations[slot.index()] = Operation {
            step,
            is_wrong: false,
        };
        step.direction()
    }

    /// The slot whose next step begins, and the direction of that step; `None` if none is ready.
    pub(crate) fn next(&mut self) -> Option<(Slot, Direction)> {
        let slot = self.ready.pop_front()?;
        let direction = self.operations[slot.index()].step.direction();
        Some((slot, direction))
    }

    /// The block that this slot read is a miscompare.
    pub(crate) fn found_wrong(&mut self, slot: &Slot) {
        self.operations[slot.index()].is_wrong = true;
    }

    /// A step has completed; `went_well`: all its bytes were moved; `goes_on`: the worker has not
    /// ended, so another step may follow. Returns the slot unless one does.
    pub(crate) fn ended(
        &mut self,
        slot: Slot,
        io: &InFlight,
        went_well: bool,
        goes_on: bool,
        now: Nanos,
    ) -> Option<Slot> {
        let Operation { step, is_wrong } = self.operations[slot.index()];
        let (offset, len) = (io.offset, u64::from(io.len));
        match (step, went_well) {
            (Step::Write, true) => {
                let micros = self.epoch_micros + now.0 / 1000;
                self.keys.written(offset, len, micros);
            }
            (Step::Write, false) => self.keys.lost(offset, len),
            _ => {}
        }
        let next = match step {
            Step::ReadBefore => Some(Step::Write),
            Step::Write if self.read_after_write => Some(Step::ReadAfter),
            _ => None,
        };
        // A block found wrong is not written: it stays as it is for whoever looks into it.
        if let Some(next) = next.filter(|_| goes_on && went_well && !is_wrong) {
            self.operations[slot.index()].step = next;
            self.ready.push_back(slot);
            return None;
        }
        self.keys.release(offset, len);
        Some(slot)
    }

    /// Gives up one operation whose next step has not begun, and returns its slot; `None` if there is
    /// none.
    pub(crate) fn abandon(&mut self, in_flight: &[InFlight]) -> Option<Slot> {
        let slot = self.ready.pop_front()?;
        let io = in_flight[slot.index()];
        self.keys.release(io.offset, u64::from(io.len));
        Some(slot)
    }
}
