//! In: the operations on a storage. Out: the key that each of its blocks should have, and the
//! blocks that came back wrong.
//!
//! A key goes up with every write of its block, from 1 to 126 and then again from 1. A block whose
//! key is not known is not compared. Only one operation at a time may use a block, so it is always
//! clear which write came last.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use blocklab_workload::KeyPlan;

use crate::miscompare::{Good, WrongBlock};
use crate::saved_keys::{LAST_KEY, MapState, Pending, SavedKeys};
use crate::sector::{SECTOR, Sectors, WrongSector};

/// In place of a key: the block came back wrong and is not used again.
const BAD: u8 = 127;
/// Added to a key while an operation uses the block.
const BUSY: u8 = 0x80;

/// The keys of one storage, shared by all workers that use it, and kept from run to run.
pub struct KeyMap {
    plan: KeyPlan,
    sectors: Sectors,
    state: Mutex<State>,
    wrongs: Arc<Wrongs>,
}

/// Number of blocks that came back wrong, of all storages that one command uses.
#[derive(Debug, Default)]
pub struct Wrongs(AtomicU64);

impl Wrongs {
    /// So far.
    pub fn count(&self) -> u64 {
        // Only the number is shared; the blocks themselves are behind each map's lock.
        self.0.load(Relaxed)
    }
}

#[derive(Default)]
struct State {
    /// For each block its key, 0 for an unknown one, or [`BAD`]; plus [`BUSY`].
    keys: Vec<u8>,
    /// Blocks whose last write may or may not be stored, because an earlier run was killed.
    pending: BTreeMap<usize, Pending>,
    settled: Settled,
    /// When each block was last read or written without an error, if the plan asks for it.
    good: Option<Vec<Good>>,
    /// Names of the runs; the last one is the current one.
    runs: Vec<String>,
    wrong: Vec<WrongBlock>,
}

/// What became of writes that were in flight when an earlier run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settled {
    /// The block holds the write.
    pub arrived: u64,
    /// The block holds what was there before the write.
    pub absent: u64,
    /// Some sectors are new and some old, which no storage promises to avoid.
    pub torn: u64,
    /// The write is not there, and the key before it is not known.
    pub unknown: u64,
}

/// Why an operation may not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Another operation uses one of its blocks.
    Busy,
    /// One of its blocks came back wrong and is left as it is.
    Bad,
}

/// The keys that a block may have.
struct ExpectedKeys {
    key: u8,
    /// The key of a write that was in flight when its run ended.
    or_key: Option<u8>,
}

impl KeyMap {
    /// A storage without known keys; `size` in bytes.
    pub fn new(plan: &KeyPlan, size: u64, wrongs: Arc<Wrongs>) -> Self {
        let blocks = (size / plan.block) as usize;
        Self::known(plan, vec![0; blocks], BTreeMap::new(), wrongs)
    }

    /// A storage with the keys that an earlier run saved.
    pub fn known(
        plan: &KeyPlan,
        keys: Vec<u8>,
        pending: BTreeMap<usize, Pending>,
        wrongs: Arc<Wrongs>,
    ) -> Self {
        let good = plan.times.then(|| vec![Good::default(); keys.len()]);
        Self {
            plan: plan.clone(),
            sectors: Sectors::new(&plan.name, plan.compress_percent),
            state: Mutex::new(State {
                keys,
                pending,
                good,
                ..State::default()
            }),
            wrongs,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic under this lock")
    }

    /// The plan from which it was made.
    pub const fn plan(&self) -> &KeyPlan {
        &self.plan
    }

    /// Bytes that share one key.
    pub const fn block(&self) -> u64 {
        self.plan.block
    }

    /// Name of the storage.
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// Attributes all operations from here on to this run.
    pub fn begin_run(&self, name: &str) {
        self.state().runs.push(name.to_owned());
    }

    /// Number of blocks that came back wrong, of all storages that the command uses.
    pub fn wrongs(&self) -> u64 {
        self.wrongs.count()
    }

    /// The wrong blocks from the index `from` on; only the first [`Self::MOST_KEPT`] are kept.
    pub fn wrong_blocks(&self, from: usize) -> Vec<WrongBlock> {
        self.state().wrong.get(from..).unwrap_or_default().to_vec()
    }

    /// Most wrong blocks that are kept; more are only counted.
    pub const MOST_KEPT: usize = 1000;

    /// What became of writes that were in flight when an earlier run ended, so far.
    pub fn settled(&self) -> Settled {
        self.state().settled
    }

    /// All keys in the form of a file. Nothing may be in flight.
    pub fn saved(&self, generation: u64, how: MapState) -> SavedKeys {
        let state = self.state();
        let mut keys: Vec<u8> = state.keys.iter().map(|key| key & !BUSY).collect();
        // A pending block has one of two keys, and a map has no room for both: it is saved as unknown.
        for block in state.pending.keys() {
            keys[*block] = 0;
        }
        SavedKeys {
            generation,
            name: saved_name(self.name()),
            block: self.block(),
            keys,
            state: how,
        }
    }

    fn span(&self, offset: u64, len: u64) -> std::ops::Range<usize> {
        (offset / self.block()) as usize..(offset + len).div_ceil(self.block()) as usize
    }

    /// Takes the blocks of an operation. Returns whether any of their keys is known: then the data can
    /// be compared before it is overwritten.
    ///
    /// # Errors
    /// [`Taken`] when the operation may not begin; then none of its blocks is taken.
    pub fn claim(&self, offset: u64, len: u64) -> Result<bool, Taken> {
        let mut guard = self.state();
        // Borrowed once from the guard, so that its fields can be borrowed separately.
        let state = &mut *guard;
        let span = self.span(offset, len);
        let Some(keys) = state.keys.get_mut(span.clone()) else {
            // It reaches into a partial block at the end, which has no key. The jobs whose data is compared
            // work on whole blocks only, so no block with a key is passed over here.
            return Ok(false);
        };
        // Bad before busy: a caller that finds a block busy tries again, and a bad block stays bad.
        if keys.iter().any(|key| key & !BUSY == BAD) {
            return Err(Taken::Bad);
        }
        if keys.iter().any(|key| key & BUSY > 0) {
            return Err(Taken::Busy);
        }
        let known = keys.iter().any(|key| *key > 0);
        keys.iter_mut().for_each(|key| *key |= BUSY);
        Ok(known || state.pending.range(span).next().is_some())
    }

    /// Gives back the blocks of an operation.
    pub fn release(&self, offset: u64, len: u64) {
        let span = self.span(offset, len);
        if let Some(keys) = self.state().keys.get_mut(span) {
            keys.iter_mut().for_each(|key| *key &= !BUSY);
        }
    }

    /// A write of claimed blocks succeeded: they get their next keys and stay claimed.
    pub fn written(&self, offset: u64, len: u64, micros: u64) {
        let mut state = self.state();
        for block in self.span(offset, len) {
            let next = state.next(block);
            let Some(key) = state.keys.get_mut(block) else {
                return;
            };
            *key = next | BUSY;
            state.pending.remove(&block);
            state.note_good(block, micros, true);
        }
    }

    /// A write of claimed blocks failed: their content is not known any more.
    pub fn lost(&self, offset: u64, len: u64) {
        let mut state = self.state();
        for block in self.span(offset, len) {
            if let Some(key) = state.keys.get_mut(block) {
                *key = BUSY;
            }
            state.pending.remove(&block);
        }
    }

    /// Fills the buffer of a write of claimed blocks.
    pub fn fill(&self, buffer: &mut [u8], offset: u64, micros: u64) {
        let mut at = offset;
        for block in buffer.chunks_mut(self.block() as usize) {
            let key = self.state().next((at / self.block()) as usize);
            self.sectors.write(block, at, key, micros);
            at += block.len() as u64;
        }
    }

    /// The claimed blocks of a write, each with the key that it will get.
    pub fn coming(&self, offset: u64, len: u64) -> Vec<(u64, u8)> {
        let state = self.state();
        self.span(offset, len)
            .filter(|block| *block < state.keys.len())
            .map(|block| (block as u64, state.next(block)))
            .collect()
    }

    /// Compares claimed blocks with what was written. Wrong ones are kept for the report and not
    /// used again.
    pub fn compare(&self, buffer: &[u8], offset: u64, micros: u64) -> Vec<WrongBlock> {
        let mut found = Vec::new();
        let mut at = offset;
        for bytes in buffer.chunks(self.block() as usize) {
            found.extend(self.compare_one(bytes, at, micros));
            at += bytes.len() as u64;
        }
        found
    }

    /// Compares one claimed block; `None` if it is right, or if its content is not known.
    fn compare_one(&self, bytes: &[u8], offset: u64, micros: u64) -> Option<WrongBlock> {
        let block = (offset / self.block()) as usize;
        let mut state = self.state();
        let key = state.keys.get(block).map_or(0, |key| key & !BUSY);
        if let Some(pending) = state.pending.get(&block).copied() {
            return self.settle(&mut state, bytes, offset, pending, micros);
        }
        if key == 0 || key == BAD {
            return None;
        }
        // The block is claimed, so it cannot change while others take the lock.
        drop(state);
        let sectors = self.sectors.wrong(bytes, offset, key);
        let mut state = self.state();
        if sectors.is_empty() {
            state.note_good(block, micros, false);
            return None;
        }
        let keys = ExpectedKeys { key, or_key: None };
        Some(self.keep_wrong(&mut state, offset, bytes.len(), keys, sectors, micros))
    }

    /// Compares a block whose write was in flight when its run ended: each sector may be the one
    /// before the write or the one after it.
    fn settle(
        &self,
        state: &mut State,
        bytes: &[u8],
        offset: u64,
        pending: Pending,
        micros: u64,
    ) -> Option<WrongBlock> {
        // Sector by sector, since a storage keeps a sector whole, but not a block of several.
        let (mut new, mut old) = (0, 0);
        let mut wrong = Vec::new();
        for (sector, at) in bytes.chunks_exact(SECTOR).zip((offset..).step_by(SECTOR)) {
            if self.is_of_write(sector, at, pending.after) {
                new += 1;
            } else if self.is_of_write(sector, at, pending.before) {
                old += 1;
            } else {
                // Damage of the content from before the write is no lost write.
                let key = if pending.before > 0 && sector[16] == pending.before {
                    pending.before
                } else {
                    pending.after
                };
                wrong.extend(self.sectors.wrong(sector, at, key));
            }
        }
        let is_new = old == 0 && wrong.is_empty();
        let is_old = new == 0 && wrong.is_empty();
        let counters = &mut state.settled;
        let key = match (is_new, is_old) {
            (true, _) => {
                counters.arrived += 1;
                pending.after
            }
            (_, true) => {
                counters.absent += 1;
                pending.before
            }
            // Torn: no key fits the whole block, so it is not compared until it is written again.
            _ if wrong.is_empty() => {
                counters.torn += 1;
                0
            }
            // Without a key from before, what is not the write may be right.
            _ if pending.before == 0 => {
                counters.unknown += 1;
                0
            }
            _ => {
                let keys = ExpectedKeys {
                    key: pending.before,
                    or_key: Some(pending.after),
                };
                return Some(self.keep_wrong(state, offset, bytes.len(), keys, wrong, micros));
            }
        };
        let block = (offset / self.block()) as usize;
        state.pending.remove(&block);
        // The operation that has read the block gives it back later.
        state.keys[block] = key | BUSY;
        if key > 0 {
            state.note_good(block, micros, false);
        }
        None
    }

    /// Whether a sector holds what the write with this key left; never for the unknown key 0.
    fn is_of_write(&self, sector: &[u8], offset: u64, key: u8) -> bool {
        key > 0 && self.sectors.is_right(sector, offset, key)
    }

    /// Marks a block as bad and keeps what is wrong with it for the report.
    fn keep_wrong(
        &self,
        state: &mut State,
        offset: u64,
        len: usize,
        expected: ExpectedKeys,
        sectors: Vec<WrongSector>,
        micros: u64,
    ) -> WrongBlock {
        let block = (offset / self.block()) as usize;
        state.keys[block] = BAD | BUSY;
        state.pending.remove(&block);
        let good = state.good.as_ref().map(|good| good[block]);
        let wrong = WrongBlock {
            name: self.plan.name.clone(),
            offset,
            len: len as u32,
            expected_key: expected.key,
            or_key: expected.or_key,
            sectors,
            good: good
                .filter(|good| good.micros > 0)
                .map(|good| (good, state.run(good.run))),
            run: state.runs.last().cloned().unwrap_or_default(),
            micros,
        };
        if state.wrong.len() < Self::MOST_KEPT {
            state.wrong.push(wrong.clone());
        }
        self.wrongs.0.fetch_add(1, Relaxed);
        wrong
    }
}

/// The name of a storage as a file of keys holds it.
#[must_use]
pub fn saved_name(name: &str) -> [u8; 8] {
    let mut bytes = [0; 8];
    for (place, byte) in bytes.iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    bytes
}

impl State {
    /// The key that the next write of a block gets. A pending write counts as stored, so that two
    /// writes never have the same key.
    fn next(&self, block: usize) -> u8 {
        let key = match self.pending.get(&block) {
            Some(pending) => pending.after,
            None => self.keys.get(block).map_or(0, |key| key & !BUSY),
        };
        if key >= LAST_KEY { 1 } else { key + 1 }
    }

    /// Notes that an operation on the block succeeded.
    fn note_good(&mut self, block: usize, micros: u64, wrote: bool) {
        let run = self.runs.len().saturating_sub(1) as u16;
        if let Some(good) = &mut self.good {
            good[block] = Good { micros, run, wrote };
        }
    }

    fn run(&self, number: u16) -> String {
        self.runs
            .get(usize::from(number))
            .cloned()
            .unwrap_or_default()
    }
}

impl fmt::Debug for KeyMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyMap({}, {} a block)", self.name(), self.block())
    }
}

/// By identity: two maps of one storage with equal keys are still two.
impl PartialEq for KeyMap {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

#[cfg(test)]
#[path = "key_map_tests.rs"]
mod tests;
