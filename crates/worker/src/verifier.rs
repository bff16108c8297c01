//! In: the writes and trims of a worker. Out: those to read back, and the content that each read
//! should return.

use std::collections::{BTreeMap, VecDeque};

use blocklab_units::Nanos;
use blocklab_verify::{ExpectedBlock, Generation};
use blocklab_workload::{Direction, Job, Request, SyncKind, When};

use crate::recorder::Progress;
use crate::trimmer::Trimmer;
use crate::written_places::{Written, WrittenPlaces};

/// What the operation in a slot means for verification.
#[derive(Debug, Clone, Copy)]
enum Tag {
    Nothing,
    /// A write or trim that is in flight, or that failed.
    Write(Written),
    VerifiedRead(ExpectedBlock),
    Flush(FileFlush),
}

/// A flush of a file, which makes durable what had completed there when it was submitted.
#[derive(Debug, Clone, Copy)]
struct FileFlush {
    target: u32,
    /// The first of these writes; `None`: there are none.
    first: Option<u64>,
}

/// The verification state of one worker.
#[derive(Debug)]
pub(crate) struct Verifier {
    when: When,
    /// The first miscompare ends the job; the data of `keep` miscompares is saved.
    pub(crate) fatal: bool,
    pub(crate) keep: u32,
    /// Nothing is read back once the time is over.
    pub(crate) in_time: bool,
    /// Only this many writes are verified, the first ones; `None`: all.
    most_writes: Option<u64>,
    /// Trimmed ranges are read back, and must be zeros.
    trimmed_zero: bool,
    /// Each write is preceded by a trim of its range.
    trims_first: bool,
    /// Those trims whose write has not succeeded: what was there before them is gone.
    bare_trims: Vec<Request>,
    trimmer: Option<Trimmer>,
    /// A write whose trim waits for what is in flight at its place.
    held_trim: Option<Written>,
    /// The job does not write, and each of its reads is verified.
    checks_reads: bool,
    /// How many writes a run of the job makes is not known: in its ramp, it makes as many as there is time
    /// for.
    has_ramp: bool,
    generation: u64,
    /// Writes that a flush has made durable, from the first on.
    durable: u64,
    /// The first write that failed: from it on, no flush makes writes durable.
    first_failed: Option<u64>,
    /// The first completed write of each target that no flush has covered.
    unflushed: BTreeMap<u32, u64>,
    tags: Vec<Tag>,
    /// In the order of completion; in the last pass sorted by place where writes overlapped.
    written: Vec<Written>,
    /// Writes read back so far.
    next: usize,
    /// Writes since the last batch of reads.
    since_batch: u64,
    /// Reads that are left of the current batch.
    batch_left: u64,
    pass_ends: Option<Nanos>,
    /// The pass that is under way; `None`: the job is read back at its end only.
    pass: Option<BytePass>,
    recent: Recent,
    /// `None` for a job that does not read back while it writes.
    places: Option<WrittenPlaces>,
}

/// Bytes that a job moves before it reads back what it wrote, and how many of them are left.
#[derive(Debug)]
struct BytePass {
    bytes: u64,
    left: u64,
}

/// The offsets of the last completed writes of each target, newest last.
#[derive(Debug)]
struct Recent {
    /// Offsets that are kept of each target.
    kept: usize,
    offsets: Vec<VecDeque<u64>>,
}

impl Recent {
    /// Adds a write, and forgets the oldest one of its target beyond `kept`.
    fn add(&mut self, target: u32, offset: u64) {
        let target = target as usize;
        if self.offsets.len() <= target {
            self.offsets.resize_with(target + 1, VecDeque::new);
        }
        let offsets = &mut self.offsets[target];
        if offsets.len() == self.kept {
            offsets.pop_front();
        }
        offsets.push_back(offset);
    }
}

impl Verifier {
    /// The verification of a job; `None` if it verifies nothing.
    pub(crate) fn for_job(job: &Job, depth: usize, seed: u64, thread: u32) -> Option<Box<Self>> {
        let verify = job.verify.as_ref()?;
        Some(Box::new(Self {
            when: verify.when,
            fatal: verify.fatal,
            keep: verify.keep,
            in_time: verify.in_time,
            most_writes: verify.first,
            trimmed_zero: verify.trimmed_zero,
            trims_first: job.trim_first,
            bare_trims: Vec::new(),
            trimmer: Trimmer::for_job(job, seed, thread),
            held_trim: None,
            checks_reads: !job.writes(),
            has_ramp: job.has_ramp(),
            generation: 0,
            durable: 0,
            first_failed: None,
            unflushed: BTreeMap::new(),
            tags: vec![Tag::Nothing; depth],
            written: Vec::new(),
            next: 0,
            since_batch: 0,
            batch_left: 0,
            pass_ends: None,
            pass: verify.pass.map(|bytes| BytePass {
                bytes: bytes.0,
                left: bytes.0,
            }),
            recent: Recent {
                kept: depth,
                offsets: Vec::new(),
            },
            places: matches!(verify.when, When::Backlog { .. }).then(WrittenPlaces::default),
        }))
    }

    /// Whether operations in flight must not overlap, so that the order of writes is known. Any job can
    /// return to a place: a sequential one in its next pass, and with strides shorter than its blocks, or
    /// backwards, at once.
    pub(crate) fn needs_order(job: &Job) -> bool {
        job.verify.is_some() && job.writes() && job.effective_depth() > 1
    }

    /// Whether a job's writes are drawn and remembered, but not carried out.
    pub(crate) fn only_reads_back(&self) -> bool {
        self.when.is_only() && !self.checks_reads
    }

    /// Remembers in its slot what an operation that is issued means for verification.
    pub(crate) fn issued(&mut self, slot: usize, request: &Request) {
        if let Some(pass) = &mut self.pass {
            pass.left = pass.left.saturating_sub(request.len.into());
        }
        let tag = match request.direction {
            // Only the write that follows it can be verified.
            Direction::Trim if self.trims_first => {
                self.bare_trims.push(*request);
                Tag::Nothing
            }
            Direction::Write | Direction::Trim => {
                let trimmed = request.direction == Direction::Trim;
                self.generation += u64::from(!trimmed);
                return self.write_issued(slot, request, trimmed);
            }
            Direction::Read if self.checks_reads => {
                Tag::VerifiedRead(ExpectedBlock::any(request.target, request.offset))
            }
            _ => Tag::Nothing,
        };
        self.tag(slot, tag);
    }

    /// A write, or a trim of what was written, is issued.
    fn write_issued(&mut self, slot: usize, request: &Request, trimmed: bool) {
        let written = Written {
            target: request.target,
            len: request.len,
            offset: request.offset,
            generation: self.generation,
            trimmed,
            gone: false,
        };
        self.tag(slot, Tag::Write(written));
        if let Some(places) = &mut self.places {
            places.begins(&written);
        }
    }

    /// Tags the next operation in a slot.
    fn tag(&mut self, slot: usize, tag: Tag) {
        // A write or flush that has succeeded left no tag: this one failed.
        match self.tags[slot] {
            Tag::Write(failed) => self.failed(failed),
            Tag::Flush(FileFlush {
                target,
                first: Some(first),
            }) => self.leave_unflushed(target, first),
            _ => {}
        }
        self.tags[slot] = tag;
    }

    /// A write or trim has failed: it is not durable, and what it has left at its place is unknown.
    fn failed(&mut self, failed: Written) {
        let first = self.first_failed.unwrap_or(failed.generation);
        self.first_failed = Some(first.min(failed.generation));
        if let Some(places) = &mut self.places {
            places.failed(&failed);
        }
        if !self.is_forgotten(&failed) {
            // As a trim that is gone it hides what was there before, and is not read back itself.
            self.written.push(Written {
                trimmed: true,
                gone: true,
                ..failed
            });
        }
    }

    /// The trim of the range of a write is issued.
    pub(crate) fn trim_issued(&mut self, slot: usize, written: &Written) {
        self.write_issued(slot, &written.request(Direction::Trim), true);
    }

    /// A flush of a file is issued.
    pub(crate) fn flush_issued(&mut self, slot: usize, target: u32, kind: SyncKind) {
        // First, because an earlier flush that failed in this slot leaves its writes to this one.
        self.tag(slot, Tag::Nothing);
        // A flush of a range leaves the data in the cache of the device.
        if !matches!(kind, SyncKind::Range(_)) {
            let first = self.unflushed.remove(&target);
            self.tags[slot] = Tag::Flush(FileFlush { target, first });
        }
    }

    fn leave_unflushed(&mut self, target: u32, generation: u64) {
        let first = self.unflushed.entry(target).or_insert(generation);
        *first = generation.min(*first);
    }

    /// How many writes are durable, from the first on: those before the first that is in flight, has failed,
    /// or was covered by no successful flush of its file.
    fn durable_writes(&self) -> u64 {
        let open = self.tags.iter().filter_map(|tag| match tag {
            Tag::Write(written) => Some(written.generation),
            Tag::Flush(flush) => flush.first,
            _ => None,
        });
        let unflushed = self.unflushed.values().copied();
        let first = open.chain(self.first_failed).chain(unflushed).min();
        // Writes are numbered from 1, and a trim has the number of the write before it, or 0.
        first.map_or(self.generation, |first| first.saturating_sub(1))
    }

    /// Remembers a write that is assumed and not made.
    pub(crate) fn assumed(&mut self, request: &Request) {
        let is_write = request.direction == Direction::Write;
        let is_trim = request.direction == Direction::Trim;
        if is_trim && self.trims_first {
            return self.bare_trims.push(*request);
        }
        self.generation += u64::from(is_write);
        if is_write || is_trim {
            self.remember(Written {
                target: request.target,
                len: request.len,
                offset: request.offset,
                generation: self.generation,
                trimmed: is_trim,
                gone: false,
            });
        }
    }

    /// Remembers a trim that is assumed and not made.
    pub(crate) fn assumed_trim(&mut self, written: &Written) {
        self.remember(Written {
            generation: self.generation,
            trimmed: true,
            gone: false,
            ..*written
        });
    }

    /// The number of the write in a slot, counted by thread.
    pub(crate) fn generation(&self, slot: usize) -> u64 {
        match self.tags[slot] {
            Tag::Write(written) => written.generation,
            _ => 0,
        }
    }

    /// The content that the read in a slot should return; `None` if it is not verified.
    pub(crate) fn expected(&self, slot: usize) -> Option<ExpectedBlock> {
        match self.tags[slot] {
            Tag::VerifiedRead(block) => Some(block),
            _ => None,
        }
    }

    /// An operation has succeeded.
    pub(crate) fn completed(&mut self, slot: usize) {
        match self.tags[slot] {
            Tag::Write(written) => {
                // It is open no more: the next flush makes it durable. One that failed keeps its tag.
                self.tags[slot] = Tag::Nothing;
                self.leave_unflushed(written.target, written.generation);
                self.remember(written);
            }
            Tag::Flush(_) => {
                self.tags[slot] = Tag::Nothing;
                self.durable = self.durable.max(self.durable_writes());
            }
            _ => {}
        }
    }

    /// How far the writes have come; `None` for a job that only reads.
    pub(crate) fn progress(&self) -> Option<Progress> {
        let recent = self.recent.offsets.iter();
        (!self.checks_reads).then(|| Progress {
            writes: self.generation,
            durable: self.durable,
            recent: recent
                .map(|newest_last| newest_last.iter().rev().copied().collect())
                .collect(),
        })
    }

    /// Remembers a write or trim that has succeeded, or is assumed, to be read back or trimmed
    /// later.
    fn remember(&mut self, written: Written) {
        if !written.trimmed {
            self.recent.add(written.target, written.offset);
            let trim = written.request(Direction::Trim);
            self.bare_trims.retain(|bare| *bare != trim);
        }
        if self.is_forgotten(&written) {
            return;
        }
        self.written.push(written);
        if let Some(trimmer) = self.trimmer.as_mut().filter(|_| !written.trimmed) {
            trimmer.written(self.written.len() as u64 - 1);
        }
        if let When::Backlog { every, batch } = self.when {
            self.since_batch += 1;
            if self.since_batch >= every {
                self.since_batch = 0;
                self.batch_left += batch;
            }
        }
    }

    /// Whether a write or trim is neither read back nor trimmed.
    fn is_forgotten(&self, written: &Written) -> bool {
        let keeps_none = self.when == When::Never && self.trimmer.is_none();
        keeps_none
            || self
                .most_writes
                .is_some_and(|most| written.generation > most)
    }

    /// The next write of a batch to read back, while the job runs; `None` if no batch is due.
    pub(crate) fn next_of_batch(&mut self) -> Option<Written> {
        if self.batch_left == 0 {
            return None;
        }
        self.batch_left -= 1;
        self.next_written()
    }

    /// The trim of a write has to wait; it is the next one.
    pub(crate) const fn hold_trim(&mut self, written: Written) {
        self.held_trim = Some(written);
    }

    /// The write whose trim was held, or the next write of a batch to trim before the batch is read back;
    /// `None` if none was chosen.
    pub(crate) fn trim_of_batch(&mut self) -> Option<Written> {
        if self.held_trim.is_some() {
            return self.held_trim.take();
        }
        if self.batch_left == 0 {
            return None;
        }
        let first = self.next as u64;
        let number = self
            .trimmer
            .as_mut()?
            .take_between(first, first + self.batch_left)?;
        self.trimmed(number)
    }

    /// The next write to trim, while the job runs; `None` if none is due.
    pub(crate) fn next_trim(&mut self) -> Option<Written> {
        let number = self.trimmer.as_mut()?.next(self.next as u64)?;
        self.trimmed(number)
    }

    /// The next write to trim after the last write; `None` if all have been trimmed.
    pub(crate) fn last_trim(&mut self) -> Option<Written> {
        if self.held_trim.is_some() {
            return self.held_trim.take();
        }
        let number = self
            .trimmer
            .as_mut()?
            .take_between(self.next as u64, u64::MAX)?;
        self.trimmed(number)
    }

    fn trimmed(&mut self, number: u64) -> Option<Written> {
        let written = self.written.get_mut(usize::try_from(number).ok()?)?;
        written.gone = true;
        Some(*written)
    }

    /// Whether the last pass has begun.
    pub(crate) const fn has_begun(&self) -> bool {
        self.pass_ends.is_some()
    }

    /// Whether all bytes of a pass were moved.
    pub(crate) fn pass_is_over(&self) -> bool {
        self.pass.as_ref().is_some_and(|pass| pass.left == 0)
    }

    /// All writes of a pass have been read back; the next pass begins.
    pub(crate) fn end_pass(&mut self) {
        self.written.clear();
        self.next = 0;
        if let Some(trimmer) = &mut self.trimmer {
            trimmer.clear();
        }
        if let Some(places) = &mut self.places {
            places.clear();
        }
        self.pass_ends = None;
        if let Some(pass) = &mut self.pass {
            pass.left = pass.bytes;
        }
    }

    /// All writes are done. The rest of them is read back until `ends`, or nothing if `is_stopped`.
    pub(crate) fn begin_pass(&mut self, ends: Nanos, is_stopped: impl Fn() -> bool) {
        // Nothing is in flight: what is still open has failed.
        for slot in 0..self.tags.len() {
            self.tag(slot, Tag::Nothing);
        }
        self.pass_ends = Some(ends);
        self.written.drain(..self.next);
        self.next = 0;
        if !forget_overwritten(&mut self.written, is_stopped) {
            self.written.clear();
        }
    }

    /// The next write to read back in the last pass; `None` if the time of the pass is over or all have
    /// been read back.
    pub(crate) fn next_of_pass(&mut self, now: Nanos) -> Option<Written> {
        match self.pass_ends {
            Some(ends) if now < ends => self.next_written(),
            _ => None,
        }
    }

    /// The next write or trim to read back: one that is still there, and that no later one has
    /// replaced.
    fn next_written(&mut self) -> Option<Written> {
        // With `When::Never`, remembered writes are only trimmed.
        while self.when != When::Never {
            let written = *self.written.get(self.next)?;
            self.next += 1;
            if let Some(trimmer) = self.trimmer.as_mut().filter(|_| !written.trimmed) {
                trimmer.checked();
            }
            let is_wanted = !written.trimmed || self.trimmed_zero;
            let is_gone = written.gone || self.bare_trims.iter().any(|trim| written.touches(trim));
            if is_wanted && !is_gone && !self.is_hidden(&written) {
                return Some(written);
            }
        }
        None
    }

    /// Whether a later write or trim has replaced this one, so that what is there is unknown.
    fn is_hidden(&self, written: &Written) -> bool {
        // In the last pass, nothing that was overwritten is left.
        if self.pass_ends.is_some() {
            return false;
        }
        let request = written.request(Direction::Trim);
        let is_open = self.tags.iter().any(|tag| match tag {
            Tag::Write(open) => open.age() > written.age() && open.touches(&request),
            _ => false,
        });
        if is_open {
            return true;
        }
        if written.trimmed {
            let mut later = self.written[self.next..].iter();
            return later.any(|later| later.touches(&request));
        }
        // Data that another write replaced as a whole is compared by its number, which may be a later
        // one. What is left of data that was replaced in part, or trimmed, tells nothing.
        self.places
            .as_ref()
            .is_some_and(|places| !places.has(written))
    }

    /// The read that reads a write back is issued.
    pub(crate) fn read_back_issued(&mut self, slot: usize, written: &Written) {
        let generation = match (written.trimmed, self.pass_ends) {
            (true, _) => Generation::Zeros,
            _ if self.when == When::OnlyPlaces => Generation::Any,
            _ if self.when == When::Only && self.has_ramp => {
                Generation::EarlierAtLeast(written.generation)
            }
            _ if self.when == When::Only => Generation::Earlier(written.generation),
            (false, Some(_)) => Generation::Exactly(written.generation),
            // The job still writes, so it may have been overwritten.
            (false, None) => Generation::AtLeast(written.generation),
        };
        let expected = ExpectedBlock {
            target: written.target,
            offset: written.offset,
            generation,
        };
        self.tag(slot, Tag::VerifiedRead(expected));
    }
}

/// Writes that are gone through between two checks whether the job was stopped: a few milliseconds.
const BETWEEN_CHECKS: usize = 4096;

/// Drops writes that a later one overwrote, even in part, and sorts the others by place. Where none was
/// overwritten, all stay in the order of their writes: a job that writes at random reads back at
/// random, too, as with fio.
///
/// Of a hundred million writes this takes minutes, so `is_stopped` is called between two sorts and again
/// and again in the slowest part. Returns whether it came to the end; else what is left means nothing.
fn forget_overwritten(written: &mut Vec<Written>, is_stopped: impl Fn() -> bool) -> bool {
    written.sort_unstable_by_key(|w| (w.target, w.offset, w.age()));
    let is_disjoint = written
        .windows(2)
        .all(|pair| pair[0].target != pair[1].target || pair[0].end() <= pair[1].offset);
    if is_stopped() {
        return false;
    }
    if is_disjoint {
        written.sort_unstable_by_key(Written::age);
        return true;
    }
    // From the newest to the oldest: each is dropped if a newer one touches it.
    written.sort_unstable_by_key(|w| std::cmp::Reverse(w.age()));
    // Disjoint ranges that newer writes cover: (target, begin) to end.
    let mut covered: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let (mut seen, mut stopped) = (0usize, false);
    written.retain(|w| {
        seen += 1;
        stopped = stopped || (seen.is_multiple_of(BETWEEN_CHECKS) && is_stopped());
        if stopped {
            return false;
        }
        let below = (w.target, 0)..(w.target, w.end());
        // Disjoint ranges are in the order of their ends as well, so the search ends at the first
        // that lies below.
        let touched: Vec<_> = covered
            .range(below)
            .rev()
            .take_while(|(_, end)| **end > w.offset)
            .map(|(range, end)| (*range, *end))
            .collect();
        let (mut begin, mut end) = (w.offset, w.end());
        for ((target, from), to) in &touched {
            // They and the new range become one, which keeps the ranges disjoint.
            covered.remove(&(*target, *from));
            (begin, end) = (begin.min(*from), end.max(*to));
        }
        covered.insert((w.target, begin), end);
        touched.is_empty()
    });
    if stopped || is_stopped() {
        return false;
    }
    written.sort_unstable_by_key(|w| (w.target, w.offset));
    true
}

#[cfg(test)]
#[path = "verifier_tests.rs"]
mod tests;
