//! The bytes of a volume and its undo logs, under enough locks that threads seldom contend.
//!
//! ```text
//!   offset   0        1 MiB     2 MiB            64 MiB
//!   stripe   │   0    │    1    │    2    │ … │    0    │ …        a lock each
//! ```
//!
//! A request over several groups takes one lock after the other: two that overlap and are in flight
//! together may mix there, as on any device.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use blocklab_random::Stream;

use crate::Failure;
use crate::backing::{Backing, Bytestore, Extent};
use crate::durability::{Loss, UndoLog};
use crate::pages::{GROUP, PAGE, ZERO_PAGE, pieces};

/// Enough that two threads seldom need the same lock.
const STRIPES: u64 = 64;

/// Most bytes of before-images, and so of data that a power cut can lose.
const LOG_BYTES: usize = 64 << 20;

#[derive(Debug)]
struct Stripe {
    bytes: Bytestore,
    log: UndoLog,
}

/// All stripes of a volume.
#[derive(Debug)]
pub(crate) struct Stripes {
    stripes: Box<[RwLock<Stripe>]>,
    /// The generation of the writes that come now. Each flush that arrives begins the next one.
    generation: AtomicU64,
    size: u64,
}

impl Stripes {
    pub(crate) fn new(backing: &Backing, size: u64) -> Self {
        let most_pages = LOG_BYTES / PAGE / STRIPES as usize;
        let stripes = (0..STRIPES).map(|_| {
            RwLock::new(Stripe {
                bytes: Bytestore::new(backing, size),
                log: UndoLog::new(most_pages),
            })
        });
        Self {
            stripes: stripes.collect(),
            generation: AtomicU64::new(1),
            size,
        }
    }

    fn stripe(&self, offset: u64) -> &RwLock<Stripe> {
        &self.stripes[(offset / GROUP % STRIPES) as usize]
    }

    fn read_lock(&self, offset: u64) -> RwLockReadGuard<'_, Stripe> {
        let stripe = self.stripe(offset).read();
        stripe.expect("no panic under this lock")
    }

    fn write_lock(&self, offset: u64) -> RwLockWriteGuard<'_, Stripe> {
        let stripe = self.stripe(offset).write();
        stripe.expect("no panic under this lock")
    }

    /// Appends a range. With an error, a first part of it may have been appended.
    pub(crate) fn read(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> Result<(), Failure> {
        for (at, len) in pieces(offset, len, GROUP) {
            self.read_lock(at).bytes.read(at, len as usize, into)?;
        }
        Ok(())
    }

    /// Writes bytes, each group under its own lock, and keeps for a power cut what they replace.
    pub(crate) fn write(&self, offset: u64, from: &[u8]) -> Result<(), Failure> {
        let mut rest = from;
        for (at, len) in pieces(offset, rest.len() as u64, GROUP) {
            let (piece, after) = rest.split_at(len as usize);
            let mut stripe = self.write_lock(at);
            self.log(&mut stripe, at, len)?;
            stripe.bytes.write(at, piece)?;
            rest = after;
        }
        Ok(())
    }

    /// Makes a range zero and gives its room back.
    pub(crate) fn free(&self, offset: u64, len: u64) -> Result<(), Failure> {
        for (at, len) in pieces(offset, len, GROUP) {
            let mut stripe = self.write_lock(at);
            // A hole stays one: it needs no image in the log, which has bounds.
            if stripe.bytes.extent(at, len) != Extent::hole(len) {
                self.log(&mut stripe, at, len)?;
                stripe.bytes.free(at, len)?;
            }
        }
        Ok(())
    }

    /// Makes a range zero and keeps room for it.
    pub(crate) fn zero(&self, offset: u64, len: u64) -> Result<(), Failure> {
        static ZEROS: [u8; GROUP as usize] = [0; GROUP as usize];
        for (at, len) in pieces(offset, len, GROUP) {
            self.write(at, &ZEROS[..len as usize])?;
        }
        Ok(())
    }

    /// Keeps the images of what a write is about to change.
    fn log(&self, stripe: &mut Stripe, offset: u64, len: u64) -> Result<(), Failure> {
        let generation = self.generation.load(Ordering::Acquire);
        let first = offset / PAGE as u64;
        let beyond = (offset + len).div_ceil(PAGE as u64);
        for page in first..beyond {
            if stripe.log.needs(generation, page) {
                let before = stripe.bytes.page(page)?;
                stripe.log.keep(generation, page, before.as_ref());
            }
        }
        Ok(())
    }

    /// A flush has arrived: gives the mark with which it is [`Self::flushed`] when it is done.
    pub(crate) fn flush_arrives(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::AcqRel)
    }

    /// All that was written before the flush of this mark arrived is durable.
    pub(crate) fn flushed(&self, mark: u64) {
        for stripe in &self.stripes {
            let mut stripe = stripe.write().expect("no panic under this lock");
            stripe.log.flushed(mark);
        }
    }

    /// A range is durable as it is.
    pub(crate) fn persist(&self, offset: u64, len: u64) {
        for (at, len) in pieces(offset, len, GROUP) {
            let mut stripe = self.write_lock(at);
            let pages = at / PAGE as u64..(at + len).div_ceil(PAGE as u64);
            for page in pages {
                stripe.log.persist(page);
            }
        }
    }

    /// The first extent of a range.
    pub(crate) fn extent(&self, offset: u64, len: u64) -> Extent {
        let mut run: Option<Extent> = None;
        for (mut at, piece) in pieces(offset, len, GROUP) {
            let end = at + piece;
            while at < end {
                let found = self.read_lock(at).bytes.extent(at, end - at);
                match &mut run {
                    Some(run) if run.is_hole != found.is_hole => return *run,
                    Some(run) => run.len += found.len,
                    None => run = Some(found),
                }
                at += found.len;
            }
        }
        // Only a range without bytes has no piece.
        run.unwrap_or(Extent::data(len))
    }

    /// Erases everything, durably.
    pub(crate) fn wipe(&self, backing: &Backing) -> Result<(), Failure> {
        for (index, stripe) in self.stripes.iter().enumerate() {
            let mut stripe = stripe.write().expect("no panic under this lock");
            // All generations count as durable, so a power cut brings none of the old data back.
            stripe.log.flushed(u64::MAX);
            stripe.bytes = Bytestore::new(backing, self.size);
            // One file serves all stripes.
            if index == 0 && matches!(backing, Backing::File(_)) {
                stripe.bytes.free(0, self.size)?;
            }
        }
        Ok(())
    }

    /// Flips bits of written data within a range, and returns the offsets of their bytes; none if
    /// nothing was written there. A bit that is drawn twice flips back. It ends at the first bit that
    /// cannot be changed, with those before it.
    pub(crate) fn flip(
        &self,
        count: u64,
        range: Range<u64>,
        seed: u64,
    ) -> (Vec<u64>, Result<(), Failure>) {
        let written = self.written(range);
        let bytes: u64 = written.iter().map(|data| data.end - data.start).sum();
        if bytes == 0 {
            return (Vec::new(), Ok(()));
        }
        let mut chance = Stream::new(seed, "bit flips", 0);
        let mut flipped = Vec::new();
        for _ in 0..count {
            let nth = chance.below(bytes) as usize;
            let offset = written.iter().cloned().flatten().nth(nth);
            let offset = offset.expect("less than all bytes");
            if let Err(failure) = self.flip_bit(offset, chance.below(8)) {
                return (flipped, Err(failure));
            }
            flipped.push(offset);
        }
        (flipped, Ok(()))
    }

    /// The parts of a range in which something was written.
    fn written(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut written = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let extent = self.extent(at, range.end - at);
            let end = at + extent.len;
            if !extent.is_hole {
                written.push(at..end);
            }
            at = end;
        }
        written
    }

    /// Not logged: the medium itself changes.
    fn flip_bit(&self, offset: u64, bit: u64) -> Result<(), Failure> {
        let mut stripe = self.write_lock(offset);
        let mut byte = Vec::with_capacity(1);
        stripe.bytes.read(offset, 1, &mut byte)?;
        stripe.bytes.write(offset, &[byte[0] ^ 1 << bit])
    }

    /// A power cut: pages go back to what they were before writes that were not flushed. Returns how
    /// many changed by that. A page that cannot be written stays as it is, and the others go back all
    /// the same; the failure is that of the first one.
    pub(crate) fn cut(&self, loss: Loss, seed: u64) -> (u64, Result<(), Failure>) {
        let (mut changed, mut done) = (0, Ok(()));
        for (index, stripe) in self.stripes.iter().enumerate() {
            let mut stripe = stripe.write().expect("no panic under this lock");
            let mut chance = Stream::new(seed, "power cut", index as u64);
            let Stripe { bytes, log } = &mut *stripe;
            // A page that cannot be read is restored as zeros where it is torn.
            let back = log.cut(loss, &mut chance, |page| bytes.page(page).ok().flatten());
            for (page, before) in back {
                let now = bytes.page(page).ok().flatten();
                let is_same =
                    now.as_ref().unwrap_or(&ZERO_PAGE) == before.as_deref().unwrap_or(&ZERO_PAGE);
                let restored = bytes.restore(page, before);
                changed += u64::from(!is_same && restored.is_ok());
                done = done.and(restored);
            }
        }
        (changed, done)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blocklab_units::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::memory::MemoryLimit;

    const SIZE: u64 = 3 * GROUP + 1024;

    fn in_memory() -> Stripes {
        Stripes::new(&Backing::Memory(MemoryLimit::new(Bytes(1 << 30))), SIZE)
    }

    #[derive(Debug, Clone)]
    enum Step {
        Write(u64, usize, u8),
        Forced(u64, usize, u8),
        Free(u64, u64),
        Flush,
        Cut,
    }

    fn step() -> impl Strategy<Value = Step> {
        let offset = prop_oneof![0..SIZE, (GROUP - 6000)..(GROUP + 6000)];
        let range = (offset, 1..9000usize, any::<u8>());
        prop_oneof![
            4 => range.clone().prop_map(|(at, len, byte)| Step::Write(at, len, byte)),
            1 => range.clone().prop_map(|(at, len, byte)| Step::Forced(at, len, byte)),
            1 => range.prop_map(|(at, len, _)| Step::Free(at, len as u64)),
            1 => Just(Step::Flush),
            1 => Just(Step::Cut),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Against a plain array and its copy of the last flush: a power cut gives the copy back,
        /// with forced writes in it.
        #[test]
        fn reads_see_writes_and_a_cut_gives_back_what_was_flushed(
            steps in prop::collection::vec(step(), 1..40),
        ) {
            let stripes = in_memory();
            let (mut now, mut durable) = (vec![0u8; SIZE as usize], vec![0u8; SIZE as usize]);
            let within = |at: u64, len: usize| at as usize..(at as usize + len).min(SIZE as usize);
            for step in steps {
                match step {
                    Step::Write(at, len, byte) | Step::Forced(at, len, byte) => {
                        let range = within(at, len);
                        now[range.clone()].fill(byte);
                        stripes.write(at, &now[range.clone()]).expect("room");
                        if matches!(step, Step::Forced(..)) {
                            stripes.persist(at, range.len() as u64);
                            // Whole pages become durable.
                            let pages = range.start / PAGE * PAGE
                                ..range.end.next_multiple_of(PAGE).min(SIZE as usize);
                            durable[pages.clone()].copy_from_slice(&now[pages]);
                        }
                    }
                    Step::Free(at, len) => {
                        let range = within(at, len as usize);
                        now[range.clone()].fill(0);
                        stripes.free(at, range.len() as u64).expect("room");
                    }
                    Step::Flush => {
                        stripes.flushed(stripes.flush_arrives());
                        durable.copy_from_slice(&now);
                    }
                    Step::Cut => {
                        stripes.cut(Loss::All, 1).1.expect("room");
                        now.copy_from_slice(&durable);
                    }
                }
                let mut got = Vec::new();
                stripes.read(0, SIZE, &mut got).expect("in memory");
                prop_assert!(got == now, "after {step:?}");
            }
        }
    }

    #[test]
    fn extents_are_pages_that_were_written() {
        let stripes = in_memory();
        stripes.write(GROUP - 4096, &[1; 8192]).expect("room");
        assert_eq!(stripes.extent(0, SIZE), Extent::hole(GROUP - 4096));
        assert_eq!(stripes.extent(GROUP - 4096, GROUP), Extent::data(8192));
        assert_eq!(stripes.extent(GROUP + 4096, GROUP), Extent::hole(GROUP));
    }

    #[test]
    fn a_write_after_a_flush_arrived_is_not_covered_by_it() {
        let stripes = in_memory();
        stripes.write(0, &[1; 4096]).expect("room");
        let mark = stripes.flush_arrives();
        stripes.write(0, &[2; 4096]).expect("room");
        stripes.flushed(mark);
        stripes.cut(Loss::All, 1).1.expect("room");
        let mut got = Vec::new();
        stripes.read(0, 1, &mut got).expect("in memory");
        assert_eq!(got, [1]);
    }

    /// Flushed data was lost: it was trimmed, other data took its room, and at the power cut the
    /// memory limit left no room for what had to come back.
    #[test]
    fn a_cut_brings_back_what_was_flushed_also_without_room() {
        let limit = MemoryLimit::new(Bytes(PAGE as u64));
        let stripes = Stripes::new(&Backing::Memory(Arc::clone(&limit)), SIZE);
        stripes.write(0, &[7; PAGE]).expect("room");
        stripes.flushed(stripes.flush_arrives());
        stripes.free(0, PAGE as u64).expect("in memory");
        stripes.write(PAGE as u64, &[8; PAGE]).expect("room");
        assert_eq!(stripes.cut(Loss::All, 1), (2, Ok(())));
        let mut got = Vec::new();
        stripes
            .read(0, 2 * PAGE as u64, &mut got)
            .expect("in memory");
        assert_eq!(got, [[7; PAGE], [0; PAGE]].concat());
        assert_eq!(limit.used(), Bytes(PAGE as u64));
    }

    #[test]
    fn a_page_that_comes_back_as_it_was_did_not_change() {
        let stripes = in_memory();
        stripes.write(0, &[7; PAGE]).expect("room");
        stripes.flushed(stripes.flush_arrives());
        stripes.write(0, &[7; PAGE]).expect("room");
        stripes.write(PAGE as u64, &[0; PAGE]).expect("room");
        assert_eq!(stripes.cut(Loss::All, 1), (0, Ok(())));
        assert_eq!(stripes.extent(PAGE as u64, 1), Extent::hole(1));
    }
}
