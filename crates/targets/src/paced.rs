//! A modelled device as a target in real time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use blocklab_units::Nanos;
use blocklab_workload::{Completion, Io};

use crate::Target;
use crate::clock::{Clock, sleep_until};
use crate::model::{Model, kernel_result};

/// A modelled device in real time: an operation comes back when the model has computed.
pub struct ModelTarget {
    clock: Clock,
    models: Vec<Model>,
    pending: BinaryHeap<Reverse<Pending>>,
    /// Operations submitted so far; each takes its number from here.
    submitted: u64,
    /// How long before a completion the sleep ends and a busy-wait begins. A sleep ends some 50
    /// microseconds late on a virtual machine; a busy-wait costs a processor, so it is zero where none
    /// is to spare.
    busy_wait: Nanos,
}

/// An operation that comes back at a moment. Those of the same moment come in the order of their
/// submission, by which each has its number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    at: Nanos,
    number: u64,
    slot: u32,
    result: i32,
}

/// Longer than nearly all late ends of a sleep that were seen.
pub const BUSY_WAIT: Nanos = Nanos(80_000);

impl ModelTarget {
    /// Completes operations at the models' moments, with a busy-wait of this length before each.
    pub fn new(clock: Clock, models: Vec<Model>, depth: u32, busy_wait: Nanos) -> Self {
        let pending = BinaryHeap::with_capacity(depth as usize);
        Self {
            clock,
            models,
            pending,
            submitted: 0,
            busy_wait,
        }
    }

    /// Moves what is due to `done`. Returns the moment for which that was decided.
    fn collect(&mut self, done: &mut Vec<Completion>) -> Nanos {
        let now = self.clock.now();
        while let Some(Reverse(next)) = self.pending.peek()
            && next.at <= now
        {
            done.push(Completion::new(next.slot, next.result));
            self.pending.pop();
        }
        now
    }

    /// The moment at which the wait is over: the next completion or the caller's own moment; `None` if
    /// there is neither.
    fn next_moment(&self, until: Option<Nanos>) -> Option<Nanos> {
        let next = self.pending.peek().map(|Reverse(next)| next.at);
        [next, until].into_iter().flatten().min()
    }
}

impl Target for ModelTarget {
    fn submit(&mut self, io: &Io) {
        let (arrived, answer) = self.models[io.file as usize].arrive(&self.clock, io);
        debug_assert!(
            answer.at >= arrived,
            "a model completes no operation before it arrives"
        );
        self.submitted += 1;
        let result = kernel_result(answer, io);
        self.pending.push(Reverse(Pending {
            at: answer.at,
            number: self.submitted,
            slot: io.slot.index() as u32,
            result,
        }));
    }

    fn wait(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        loop {
            let now = self.collect(done);
            let enough = done.len() >= at_least && !done.is_empty();
            if enough || until.is_some_and(|until| until <= now) {
                return Ok(());
            }
            let Some(moment) = self.next_moment(until) else {
                return Ok(());
            };
            let wake = Nanos(moment.0.saturating_sub(self.busy_wait.0));
            if wake > now && !sleep_until(now, Some(wake)) {
                // A signal: the worker looks around.
                self.collect(done);
                return Ok(());
            }
            while self.busy_wait > Nanos::ZERO && self.clock.now() < moment {
                std::hint::spin_loop();
            }
        }
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }
}
