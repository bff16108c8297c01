//! The one load loop in real time.

use std::io;
use std::sync::Arc;

use blocklab_units::Nanos;
use blocklab_workload::{ContentMaker, Direction, KeyMap, Seal};

use super::drop_cache::DropCache;
use blocklab_targets::Buffers;
use blocklab_targets::Clock;
use blocklab_targets::Target;
use blocklab_worker::Action;
use blocklab_worker::Driven;
use blocklab_workload::{Completion, Io};

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
pub(crate) fn drive<L: Driven, T: Target>(
    worker: &mut L,
    target: &mut T,
    filler: &mut BufferFiller,
    grouping: Grouping,
) -> io::Result<()> {
    let mut done: Vec<Completion> = Vec::with_capacity(worker.depth());
    let mut staged = 0;
    let mut now = target.now();
    loop {
        let until = loop {
            match worker.next(now) {
                Action::Issue(io) => {
                    filler.prepare(&io, worker);
                    staged += 1;
                    target.submit(io);
                    if staged >= grouping.submit {
                        now = hand_over(target, worker)?;
                        staged = 0;
                    }
                }
                Action::Wait(until) => break until,
                Action::Spin(until) => now = spin(target, until),
                Action::Done => return Ok(()),
            }
        };
        if staged > 0 {
            if grouping.measure_submit {
                hand_over(target, worker)?;
            } else {
                worker.handed_over(now);
            }
            staged = 0;
        }
        let at_least = worker.depth_in_use().min(grouping.complete as usize);
        target.wait(at_least, until, &mut done)?;
        debug_assert!(
            done.len() <= worker.depth_in_use(),
            "{} came back, and {} were in flight",
            done.len(),
            worker.depth_in_use()
        );
        now = target.now();
        worker.reaped(done.len());
        if filler.seal.is_some() {
            filler.compare(&done, worker, now);
        }
        for completion in done.drain(..) {
            worker.complete(completion, now);
        }
    }
}

/// Burns the processor. Nothing is in flight: a worker spins in its pauses only.
fn spin<T: Target>(target: &T, until: Nanos) -> Nanos {
    loop {
        let now = target.now();
        if now >= until {
            return now;
        }
        std::hint::spin_loop();
    }
}

/// What fills the buffers of writes and looks into those of reads.
pub(crate) struct BufferFiller {
    pub(crate) buffers: Buffers,
    pub(crate) content: ContentMaker,
    /// Where written data is to be recognised.
    pub(crate) seal: Option<Box<DataCheck>>,
    /// Where the page cache is to forget what was moved.
    pub(crate) drop_cache: Option<Box<DropCache>>,
}

/// How written data is recognised.
pub(crate) enum DataCheck {
    /// By what a worker remembers of its writes.
    Seal(Seal),
    /// By the keys of a storage.
    Keys(Keys),
}

/// The keys of a storage, and what time it is.
pub(crate) struct Keys {
    pub(crate) map: Arc<KeyMap>,
    pub(crate) clock: Clock,
    /// Microseconds since 1970 at the zero of the clock.
    pub(crate) epoch_micros: u64,
}

impl Keys {
    fn micros(&self) -> u64 {
        self.epoch_micros + self.clock.now().0 / 1000
    }
}

impl BufferFiller {
    #[inline(always)]
    fn prepare<L: Driven>(&mut self, io: &Io, load: &L) {
        if let Some(drop_cache) = &mut self.drop_cache {
            drop_cache.moves(io.len);
        }
        if io.direction != Direction::Write {
            return;
        }
        let buffer = self.buffers.bytes_mut(&io.slot, io.len as usize);
        match &mut self.seal {
            None => self.content.refresh(buffer),
            Some(seal) => seal.prepare(buffer, &mut self.content, io, load),
        }
    }

    #[inline(never)]
    fn compare<L: Driven>(&mut self, done: &[Completion], load: &mut L, now: Nanos) {
        match self.seal.as_deref_mut() {
            None => {}
            Some(DataCheck::Seal(seal)) => {
                let Some(worker) = load.worker() else { return };
                for completion in done {
                    if let Some((mark, len)) = worker.expected(completion) {
                        let bytes = self.buffers.bytes_mut(&completion.slot, len);
                        let verdict = seal.check(bytes, mark);
                        worker.compared(mark, verdict, bytes, now);
                    }
                }
            }
            Some(DataCheck::Keys(keys)) => {
                let Some(pool) = load.pool() else { return };
                for completion in done {
                    if let Some((offset, len)) = pool.expected(completion) {
                        let bytes = self.buffers.bytes_mut(&completion.slot, len);
                        let wrong = keys.map.compare(bytes, offset, keys.micros());
                        pool.compared(&completion.slot, wrong, now);
                    }
                }
            }
        }
    }
}

impl DataCheck {
    #[inline(never)]
    fn prepare<L: Driven>(
        &mut self,
        buffer: &mut [u8],
        content: &mut ContentMaker,
        io: &Io,
        load: &L,
    ) {
        match self {
            Self::Seal(seal) => {
                content.refresh(buffer);
                if let Some(worker) = load.worker() {
                    seal.seal(buffer, io.file, io.offset, worker.generation(&io.slot));
                }
            }
            Self::Keys(keys) => keys.map.seal(buffer, io.offset, keys.micros()),
        }
    }
}

#[inline]
fn hand_over<L: Driven, T: Target>(target: &mut T, worker: &mut L) -> io::Result<Nanos> {
    target.flush()?;
    let now = target.now();
    worker.handed_over(now);
    Ok(now)
}
