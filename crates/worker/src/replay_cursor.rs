//! In: a recorded trace, the time, and which of its operations complete. Out: its operations one by
//! one, when each is due.
//!
//! ```text
//!   by moments      ─────────────▶ the next one in order ──┐
//!   by completions  ─▶ ready: those whose time has come    ├─▶ the one that was due first
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Invalid, Job, Replay, Request};

use crate::pace::Due;

/// The next operation of a replay.
#[derive(Debug)]
pub(crate) struct ReplayCursor {
    replay: Arc<Replay>,
    next: usize,
    issued: usize,
    /// The operation that was drawn last.
    drawn: u32,
    start: Nanos,
    followers: Option<Followers>,
}

/// Operations that wait for others.
#[derive(Debug)]
struct Followers {
    /// A linked list for each operation, of those that wait for it: `head` is by the operation that is
    /// waited for, `link` by the one that waits. 0 ends a list: operation 0 waits for nothing.
    head: Vec<u32>,
    link: Vec<u32>,
    /// When operations are due whose completion has come.
    ready: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// The operation in each slot.
    in_slots: Vec<u32>,
}

/// No operation of the trace: a flush between them, or nothing any more.
const NONE: u32 = u32::MAX;

impl Followers {
    /// Finds for each operation of a trace those that wait for it.
    fn new(replay: &Replay) -> Self {
        let count = replay.dependencies.len();
        let (mut head, mut link) = (vec![0; count], vec![0; count]);
        for (number, dependency) in replay.dependencies.iter().enumerate() {
            if dependency.back > 0 {
                let followed = number - dependency.back as usize;
                link[number] = std::mem::replace(&mut head[followed], number as u32);
            }
        }
        Self {
            head,
            link,
            ready: BinaryHeap::new(),
            in_slots: Vec::new(),
        }
    }

    /// The operation in a slot has completed: those that wait for it are ready once their think
    /// time is over.
    fn completed(&mut self, replay: &Replay, slot: usize, now: Nanos) {
        let Some(in_slot) = self.in_slots.get_mut(slot) else {
            return;
        };
        let done = std::mem::replace(in_slot, NONE);
        if done == NONE {
            return;
        }
        let mut follower = self.head[done as usize];
        while follower > 0 {
            let think = Nanos(replay.dependencies[follower as usize].think_ns.into());
            self.ready
                .push(Reverse((now.saturating_add(think), follower)));
            follower = self.link[follower as usize];
        }
    }
}

impl ReplayCursor {
    /// The cursor of the trace that a job replays; `None`: it replays none. `sizes` are those of the targets
    /// in bytes.
    ///
    /// # Errors
    /// [`Invalid`] when an operation lies outside its target or is larger than the job's blocks.
    pub(crate) fn for_job(job: &Job, sizes: &[u64]) -> Result<Option<Self>, Invalid> {
        let Some(replay) = &job.replay else {
            return Ok(None);
        };
        let largest = job.sizes.largest().0;
        let outside = replay.operations.iter().find(|op| {
            let end = op.offset.checked_add(u64::from(op.len));
            let size = sizes.get(op.target as usize).copied();
            let fits = end.zip(size).is_some_and(|(end, size)| end <= size);
            // A flush is of the whole file, so its place and length say nothing.
            op.direction != Direction::Sync && (u64::from(op.len) > largest || !fits)
        });
        if let Some(op) = outside {
            return Err(Invalid {
                field: "replay",
                message: format!(
                    "the replayed {} of {} bytes at offset {} does not fit target {} or the \
                     largest block of {largest} bytes",
                    op.direction.name(),
                    op.len,
                    op.offset,
                    op.target
                ),
            });
        }
        Ok(Some(Self {
            followers: (!replay.dependencies.is_empty()).then(|| Followers::new(replay)),
            replay: Arc::clone(replay),
            next: 0,
            issued: 0,
            drawn: 0,
            start: Nanos::ZERO,
        }))
    }

    pub(crate) const fn begin(&mut self, start: Nanos) {
        self.start = start;
    }

    /// When the next operation is due; after what is in flight, where it waits for that.
    pub(crate) fn due(&mut self, now: Nanos) -> Due {
        if !self.replay.keeps_time {
            return Due::Now(now);
        }
        match self.first().map(|(moment, _)| moment) {
            Some(moment) if now < moment => Due::At(moment),
            Some(moment) => Due::Now(moment),
            None => Due::AfterDrain,
        }
    }

    /// The operation that is due first, and when.
    fn first(&mut self) -> Option<(Nanos, u32)> {
        if let Some(followers) = &self.followers {
            // Operations that wait for another one come from `ready`, so the order skips them.
            let dependencies = &self.replay.dependencies[self.next..];
            let free = dependencies
                .iter()
                .position(|dependency| dependency.back == 0);
            self.next += free.unwrap_or(dependencies.len());
            let ready = followers.ready.peek().map(|ready| ready.0);
            return self.in_order().into_iter().chain(ready).min();
        }
        self.in_order()
    }

    /// The next operation in the order of the trace: its moment and its number.
    fn in_order(&self) -> Option<(Nanos, u32)> {
        let operation = self.replay.operations.get(self.next)?;
        Some((self.start.saturating_add(operation.at), self.next as u32))
    }

    /// The request of the operation that is due first; `None` if all that are left wait for others.
    pub(crate) fn draw(&mut self) -> Option<Request> {
        let (_, number) = self.first()?;
        // `first` is the next of the recording or the top of those whose predecessors have completed.
        if number as usize == self.next {
            self.next += 1;
        } else if let Some(followers) = &mut self.followers {
            followers.ready.pop();
        }
        self.issued += 1;
        self.drawn = number;
        let op = &self.replay.operations[number as usize];
        Some(Request {
            target: op.target,
            direction: op.direction,
            len: if op.direction == Direction::Sync {
                0
            } else {
                op.len
            },
            offset: op.offset,
        })
    }

    /// The operation that was drawn last has gone out in this slot.
    pub(crate) fn went_out(&mut self, slot: usize) {
        if let Some(followers) = &mut self.followers {
            if followers.in_slots.len() <= slot {
                followers.in_slots.resize(slot + 1, NONE);
            }
            followers.in_slots[slot] = self.drawn;
        }
    }

    /// The operation in a slot has completed: those that follow it will be due.
    pub(crate) fn completed(&mut self, slot: usize, now: Nanos) {
        if let Some(followers) = &mut self.followers {
            followers.completed(&self.replay, slot, now);
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.issued >= self.replay.operations.len()
    }
}
