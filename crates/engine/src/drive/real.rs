//! The one load loop in real time.

use std::io;

use blocklab_units::Nanos;
use blocklab_workload::{ContentMaker, Direction};

use crate::buffers::Buffers;
use crate::target::Target;
use crate::worker::{Action, Completion, Io, Worker};

/// How a drive groups its calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grouping {
    /// Hand over after so many submissions.
    pub(crate) submit: u32,
    /// Wait for at least so many completions.
    pub(crate) complete: u32,
    /// Measure the submitting call by itself.
    pub(crate) measure_submit: bool,
}

/// Drives a worker against a target until it is done.
///
/// An operation's submission time is the last moment read before it: of the reap before, or of
/// the hand-over before it in the same round. The latency thus includes our own few nanoseconds
/// of preparation, and never less than what the caller of the kernel saw.
pub(crate) fn drive<T: Target>(
    worker: &mut Worker,
    target: &mut T,
    buffers: &mut Buffers,
    content: &mut ContentMaker,
    grouping: Grouping,
) -> io::Result<()> {
    let mut done: Vec<Completion> = Vec::with_capacity(worker.idle_slots().len());
    let mut staged = Staged::default();
    let mut now = target.now();
    loop {
        let until = loop {
            match worker.next(now) {
                Action::Issue(io) => {
                    prepare(&io, buffers, content);
                    staged.count(&io);
                    target.submit(io);
                    if staged.total >= grouping.submit {
                        now = hand_over(target, worker, &mut staged, grouping)?;
                    }
                }
                Action::Wait(until) => break until,
                Action::Done => return Ok(()),
            }
        };
        if grouping.measure_submit && staged.total > 0 {
            hand_over(target, worker, &mut staged, grouping)?;
        }
        staged = Staged::default();
        let at_least = worker.depth_in_use().min(grouping.complete as usize);
        target.wait(at_least, until, &mut done)?;
        now = target.now();
        for completion in done.drain(..) {
            worker.complete(completion, now);
        }
    }
}

#[inline]
fn prepare(io: &Io, buffers: &mut Buffers, content: &mut ContentMaker) {
    if io.direction == Direction::Write {
        content.refresh(buffers.bytes_mut(&io.slot, io.len as usize));
    }
}

/// Submissions since the last hand-over, by direction.
#[derive(Debug, Clone, Copy, Default)]
struct Staged {
    total: u32,
    by_direction: [u32; 4],
}

impl Staged {
    #[inline]
    fn count(&mut self, io: &Io) {
        self.total += 1;
        self.by_direction[io.direction as usize] += 1;
    }
}

fn hand_over<T: Target>(
    target: &mut T,
    worker: &Worker,
    staged: &mut Staged,
    grouping: Grouping,
) -> io::Result<Nanos> {
    let counted = std::mem::take(staged);
    if !grouping.measure_submit {
        target.flush()?;
        return Ok(target.now());
    }
    let before = target.now();
    target.flush()?;
    let after = target.now();
    for direction in Direction::ALL {
        let operations = counted.by_direction[direction as usize];
        worker.submitted(direction, operations, after.since(before));
    }
    Ok(after)
}
