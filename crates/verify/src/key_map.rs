//! What is on a storage, as far as is known: a key for each block.
//!
//! A block whose key is not known is not compared. Its key goes up with every write, from 1 to
//! 126 and on with 1. While an operation works on a block nobody else may: so it is always clear
//! which write came last.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use blocklab_workload::KeyPlan;

use crate::miscompare::{Good, WrongBlock};
use crate::saved_keys::{LAST_KEY, MapState, Pending, SavedKeys};
use crate::sector::{SECTOR, Sectors, WrongSector};

/// Nobody uses the block again.
const BAD: u8 = 127;
/// An operation works on it.
const BUSY: u8 = 0x80;

/// The keys of one storage, shared by all who work on it, and kept from run to run.
pub struct KeyMap {
    plan: KeyPlan,
    sectors: Sectors,
    state: Mutex<State>,
    wrongs: Arc<Wrongs>,
}

/// How many blocks came back wrong, of all storage that one command uses.
#[derive(Debug, Default)]
pub struct Wrongs(AtomicU64);

impl Wrongs {
    /// So far.
    pub fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[derive(Default)]
struct State {
    /// One a block: a key, 0 for an unknown one, or [`BAD`]; and [`BUSY`].
    keys: Vec<u8>,
    /// Blocks whose last write may or may not be there, since an earlier run did not end.
    pending: BTreeMap<usize, Pending>,
    settled: Settled,
    /// When a block was last read or written well, where that is kept.
    good: Option<Vec<Good>>,
    /// Names of the runs; the last one is the current one.
    runs: Vec<String>,
    wrong: Vec<WrongBlock>,
}

/// What became of writes that were in flight when an earlier run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settled {
    /// They are there.
    pub arrived: u64,
    /// What was there before them still is.
    pub absent: u64,
    /// Some sectors are new and some old, which no storage promises to avoid.
    pub torn: u64,
    /// Not found, and nothing is known of what was there before them.
    pub unknown: u64,
}

/// Why an operation may not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Another one works there.
    Busy,
    /// A block there came back wrong, and is left as it is.
    Bad,
}

impl KeyMap {
    /// A storage of which nothing is known; `size` in bytes.
    pub fn new(plan: &KeyPlan, size: u64, wrongs: Arc<Wrongs>) -> Self {
        let blocks = (size / plan.block) as usize;
        Self::known(plan, vec![0; blocks], BTreeMap::new(), wrongs)
    }

    /// A storage of which an earlier run left word.
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

    /// How its keys are made.
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

    /// What follows belongs to this run.
    pub fn begin_run(&self, name: &str) {
        self.state().runs.push(name.to_owned());
    }

    /// How many blocks came back wrong, of all storage that the command uses.
    pub fn wrongs(&self) -> u64 {
        self.wrongs.count()
    }

    /// The wrong blocks from the `from`th on, at most [`TOLD`](Self::TOLD) in all.
    pub fn wrong_blocks(&self, from: usize) -> Vec<WrongBlock> {
        self.state().wrong.get(from..).unwrap_or_default().to_vec()
    }

    /// Wrong blocks that are remembered one by one; the others are only counted.
    pub const TOLD: usize = 1000;

    /// What became of writes that were in flight when an earlier run ended, so far.
    pub fn settled(&self) -> Settled {
        self.state().settled
    }

    /// All keys, as a file keeps them. Nothing may be in flight.
    pub fn saved(&self, generation: u64, how: MapState) -> SavedKeys {
        let state = self.state();
        let mut keys: Vec<u8> = state.keys.iter().map(|key| key & !BUSY).collect();
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

    /// So many blocks have a key.
    pub fn known_blocks(&self) -> u64 {
        let state = self.state();
        let known = |(block, key): (usize, &u8)| *key > 0 || state.pending.contains_key(&block);
        state
            .keys
            .iter()
            .enumerate()
            .filter(|one| known(*one))
            .count() as u64
    }

    fn span(&self, offset: u64, len: u64) -> std::ops::Range<usize> {
        (offset / self.block()) as usize..(offset + len).div_ceil(self.block()) as usize
    }

    /// Takes the blocks of an operation. Returns whether anything is known of them.
    ///
    /// # Errors
    /// Why it may not begin.
    pub fn claim(&self, offset: u64, len: u64) -> Result<bool, Taken> {
        let mut state = self.state();
        let span = self.span(offset, len);
        let state = &mut *state;
        let Some(keys) = state.keys.get_mut(span.clone()) else {
            // Behind the last whole block nothing is kept, and nothing is compared.
            return Ok(false);
        };
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

    /// Gives the blocks of an operation back.
    pub fn release(&self, offset: u64, len: u64) {
        let span = self.span(offset, len);
        if let Some(keys) = self.state().keys.get_mut(span) {
            keys.iter_mut().for_each(|key| *key &= !BUSY);
        }
    }

    /// A write of claimed blocks went well: their keys go on, and they stay claimed.
    pub fn written(&self, offset: u64, len: u64, micros: u64) {
        let mut state = self.state();
        for block in self.span(offset, len) {
            let next = state.next(block);
            let Some(key) = state.keys.get_mut(block) else {
                return;
            };
            *key = next | BUSY;
            state.pending.remove(&block);
            state.well(block, micros, true);
        }
    }

    /// A write of claimed blocks failed: nobody knows what is there.
    pub fn lost(&self, offset: u64, len: u64) {
        let mut state = self.state();
        for block in self.span(offset, len) {
            if let Some(key) = state.keys.get_mut(block) {
                *key = BUSY;
            }
            state.pending.remove(&block);
        }
    }

    /// Fills a write of claimed blocks.
    pub fn fill(&self, buffer: &mut [u8], offset: u64, micros: u64) {
        let mut at = offset;
        for block in buffer.chunks_mut(self.block() as usize) {
            let key = self.state().next((at / self.block()) as usize);
            self.sectors.write(block, at, key, micros);
            at += block.len() as u64;
        }
    }

    /// Blocks of a write that was claimed, each with the key that it will bring.
    pub fn coming(&self, offset: u64, len: u64) -> Vec<(u64, u8)> {
        let state = self.state();
        let blocks = self
            .span(offset, len)
            .filter(|block| *block < state.keys.len());
        blocks
            .map(|block| (block as u64, state.next(block)))
            .collect()
    }

    /// Compares claimed blocks with what was written. Wrong ones are remembered, and nobody uses
    /// them again.
    pub fn compare(&self, buffer: &[u8], offset: u64, micros: u64) -> Vec<WrongBlock> {
        let mut found = Vec::new();
        let mut at = offset;
        for bytes in buffer.chunks(self.block() as usize) {
            found.extend(self.compare_one(bytes, at, micros));
            at += bytes.len() as u64;
        }
        found
    }

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
        // Nobody changes a claimed block: others may go on meanwhile.
        drop(state);
        let sectors: Vec<WrongSector> = self.sectors.wrong(bytes, offset, key).collect();
        let mut state = self.state();
        if sectors.is_empty() {
            state.well(block, micros, false);
            return None;
        }
        let keys = (key, None);
        Some(self.remember(&mut state, offset, bytes.len(), keys, sectors, micros))
    }

    /// A write was in flight when its run ended: each sector may be as before it or as after it.
    fn settle(
        &self,
        state: &mut State,
        bytes: &[u8],
        offset: u64,
        pending: Pending,
        micros: u64,
    ) -> Option<WrongBlock> {
        let block = (offset / self.block()) as usize;
        let is =
            |sector: &[u8], at: u64, key: u8| key > 0 && self.sectors.is_right(sector, at, key);
        let (mut new, mut old) = (0, 0);
        let mut wrong = Vec::new();
        for (sector, at) in bytes.chunks_exact(SECTOR).zip((offset..).step_by(SECTOR)) {
            if is(sector, at, pending.after) {
                new += 1;
            } else if is(sector, at, pending.before) {
                old += 1;
            } else {
                wrong.extend(self.sectors.wrong(sector, at, pending.after));
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
            _ if wrong.is_empty() => {
                counters.torn += 1;
                0
            }
            _ if pending.before == 0 => {
                counters.unknown += 1;
                0
            }
            _ => {
                let keys = (pending.before, Some(pending.after));
                return Some(self.remember(state, offset, bytes.len(), keys, wrong, micros));
            }
        };
        state.pending.remove(&block);
        state.keys[block] = key | BUSY;
        if key > 0 {
            state.well(block, micros, false);
        }
        None
    }

    fn remember(
        &self,
        state: &mut State,
        offset: u64,
        len: usize,
        (expected_key, or_key): (u8, Option<u8>),
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
            expected_key,
            or_key,
            sectors,
            good: good
                .filter(|good| good.micros > 0)
                .map(|good| (good, state.run(good.run))),
            run: state.runs.last().cloned().unwrap_or_default(),
            micros,
        };
        if state.wrong.len() < Self::TOLD {
            state.wrong.push(wrong.clone());
        }
        self.wrongs.0.fetch_add(1, Relaxed);
        wrong
    }
}

/// The name of a storage as a file keeps it.
#[must_use]
pub fn saved_name(name: &str) -> [u8; 8] {
    let mut bytes = [0; 8];
    for (place, byte) in bytes.iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    bytes
}

impl State {
    /// The key that the next write of a block brings. A write that may be there counts as there,
    /// so that no two writes bring the same.
    fn next(&self, block: usize) -> u8 {
        let key = match self.pending.get(&block) {
            Some(pending) => pending.after,
            None => self.keys.get(block).map_or(0, |key| key & !BUSY),
        };
        if key >= LAST_KEY { 1 } else { key + 1 }
    }

    fn well(&mut self, block: usize, micros: u64, wrote: bool) {
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

/// The same one, not an equal one.
impl PartialEq for KeyMap {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

#[cfg(test)]
#[path = "key_map_tests.rs"]
mod tests;
