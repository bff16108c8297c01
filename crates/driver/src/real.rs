//! In: a worker and a target. Out: the worker driven to its end in real time, by the one load loop.

use std::io;

use blocklab_targets::{Buffers, Clock, Target, TargetVisitor};
use blocklab_units::Nanos;
use blocklab_verify::DataCheck;
use blocklab_worker::{Action, Worker};
use blocklab_workload::{Completion, ContentMaker, Direction, Io};

use super::drop_cache::DropCache;

/// How the loop groups its calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grouping {
    /// Submit after this many operations.
    pub(crate) submit: u32,
    /// Wait for at least this many completions.
    pub(crate) complete: u32,
    /// Handle at most this many of them at a time.
    pub(crate) take: usize,
    /// Measure the submitting call by itself.
    pub(crate) measure_submit: bool,
}

/// A target with a loop compiled for it, so that no operation pays for the choice of its engine.
pub(crate) trait DrivenTarget: Target {
    /// Drives a worker against this target until it is done.
    ///
    /// An operation's submission time is the last time read before it: at the previous reap, or at the
    /// previous hand-over in the same round. The latency thus includes our own few nanoseconds
    /// of preparation, and is never less than what a caller of the kernel sees.
    fn drive(
        &mut self,
        worker: &mut Worker,
        filler: &mut BufferFiller,
        grouping: Grouping,
    ) -> io::Result<()> {
        let mut done: Vec<Completion> = Vec::with_capacity(worker.depth());
        // Whether each completion is followed by the next operation in its slot. With smaller groups all
        // completions are handled first, and the loop above submits group by group.
        let at_once = grouping.submit as usize >= worker.depth() && !grouping.measure_submit;
        let mut staged = 0;
        let mut now = self.now();
        loop {
            let until = loop {
                match worker.next(now) {
                    Action::Issue(ref io) => {
                        filler.prepare(io, worker);
                        staged += 1;
                        self.submit(io);
                        if staged >= grouping.submit {
                            now = hand_over(self, worker)?;
                            staged = 0;
                        }
                    }
                    Action::Wait(until) => break until,
                    Action::Spin(until) => now = spin(self, until),
                    Action::Done => return Ok(()),
                }
            };
            let at_least = worker.depth_in_use().min(grouping.complete as usize);
            // The last wait returned more completions than are handled at a time: the rest needs no wait.
            let has_some = !done.is_empty() && done.len() >= at_least;
            if staged > 0 {
                // `wait` submits what is staged in the same system call. A submission that is measured, or
                // that no wait follows, needs a call of its own.
                if grouping.measure_submit || has_some {
                    hand_over(self, worker)?;
                } else {
                    worker.handed_over(now);
                }
                staged = 0;
            }
            if !has_some {
                self.wait(at_least, until, &mut done)?;
            }
            debug_assert!(
                done.len() <= worker.depth_in_use(),
                "{} came back, and {} were in flight",
                done.len(),
                worker.depth_in_use()
            );
            now = self.now();
            let taken = done.len().min(grouping.take);
            worker.reaped(taken);
            // Before the slots are used again, which overwrites what was read.
            if filler.check.is_some() {
                filler.compare(&done[..taken], worker, now);
            }
            for completion in done.drain(..taken) {
                staged += finish(completion, at_once, worker, self, filler, now);
            }
        }
    }
}

impl<T: Target> DrivenTarget for T {}

/// Ends an operation and, with `at_once`, submits the next one in its slot. Returns how many it submits.
#[inline]
fn finish<T: Target + ?Sized>(
    completion: Completion,
    at_once: bool,
    worker: &mut Worker,
    target: &mut T,
    filler: &mut BufferFiller,
    now: Nanos,
) -> u32 {
    let next = if at_once {
        worker.again(completion, now)
    } else {
        Err(completion)
    };
    match next {
        Ok(ref io) => {
            filler.prepare(io, worker);
            target.submit(io);
            1
        }
        Err(completion) => {
            worker.complete(completion, now);
            0
        }
    }
}

/// Busy-waits. Nothing is in flight: a worker spins in its pauses only.
fn spin<T: Target + ?Sized>(target: &T, until: Nanos) -> Nanos {
    loop {
        let now = target.now();
        if now >= until {
            return now;
        }
        std::hint::spin_loop();
    }
}

/// Makes a [`DrivenTarget`] of any engine.
pub(crate) struct ToDrive;

impl TargetVisitor for ToDrive {
    type Output = Box<dyn DrivenTarget>;

    fn visit<T: Target + 'static>(self, target: T) -> Self::Output {
        Box::new(target)
    }
}

/// Fills the buffers of writes and checks those of reads.
pub(crate) struct BufferFiller {
    pub(crate) buffers: Buffers,
    pub(crate) content: ContentMaker,
    /// How written data is verified, if it is.
    pub(crate) check: Option<Box<DataCheck>>,
    pub(crate) clock: Clock,
    /// Microseconds since 1970 at the zero of the clock.
    pub(crate) epoch_micros: u64,
    /// Drops the targets from the page cache, if the job asks for it.
    pub(crate) drop_cache: Option<Box<DropCache>>,
}

impl BufferFiller {
    /// Prepares an operation that is about to be submitted: fills the buffer of a write, and drops
    /// the page cache if that is due.
    #[inline(always)]
    fn prepare(&mut self, io: &Io, worker: &Worker) {
        if let Some(drop_cache) = &mut self.drop_cache {
            drop_cache.before_transfer(io.len);
        }
        if io.direction != Direction::Write {
            return;
        }
        if self.check.is_some() {
            return self.fill(io, worker);
        }
        let buffer = self.buffers.bytes_mut(&io.slot, io.len as usize);
        self.content.refresh(buffer);
    }

    /// Fills the buffer of a write that is verified. Kept out of line, as [`Self::compare`] is, so that
    /// the loop of a job that verifies nothing stays small.
    #[inline(never)]
    fn fill(&mut self, io: &Io, worker: &Worker) {
        let micros = self.micros();
        let buffer = self.buffers.bytes_mut(&io.slot, io.len as usize);
        let Some(check) = self.check.as_deref_mut() else {
            return;
        };
        if !check.replaces_content() {
            self.content.refresh(buffer);
        }
        let generation = worker.generation(&io.slot);
        check.fill(buffer, io.file, io.offset, generation, micros);
    }

    /// Compares what verified reads have returned, and reports miscompares to the worker.
    #[inline(never)]
    fn compare(&mut self, done: &[Completion], worker: &mut Worker, now: Nanos) {
        for completion in done {
            let micros = self.micros();
            if let Some((expected, len)) = worker.expected(completion)
                && let Some(check) = self.check.as_deref_mut()
            {
                let bytes = self.buffers.bytes_mut(&completion.slot, len);
                let found = check.compare(bytes, expected, micros);
                worker.compared(&completion.slot, expected, found, bytes, now);
            }
        }
    }

    /// Microseconds since 1970.
    fn micros(&self) -> u64 {
        self.epoch_micros + self.clock.now().0 / 1000
    }
}

/// Submits what is staged. Returns when the call came back.
#[inline]
fn hand_over<T: Target + ?Sized>(target: &mut T, worker: &mut Worker) -> io::Result<Nanos> {
    target.flush()?;
    let now = target.now();
    worker.handed_over(now);
    Ok(now)
}
