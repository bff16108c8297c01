//! Bytes in memory: pages are given on the first write and freed by a trim.
//!
//! ```text
//!   group 0 ──▶ [ page | - | page | … 256 ]      an empty volume of 1 TiB has no group
//!   group 7 ──▶ [ - | - | page | …       ]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use blocklab_units::Bytes;
use rustc_hash::FxHashMap;

use crate::Failure;
use crate::pages::{GROUP, PAGE, PAGES_PER_GROUP, Page, ZERO_PAGE, new_page, pieces};

/// The memory that all volumes of a server may use together for written data.
#[derive(Debug)]
pub struct MemoryLimit {
    most: u64,
    used: AtomicU64,
}

impl MemoryLimit {
    /// A limit in bytes; memory is used in pages of 4 KiB.
    pub fn new(most: Bytes) -> Arc<Self> {
        let used = AtomicU64::new(0);
        Arc::new(Self { most: most.0, used })
    }

    /// Bytes in use.
    pub fn used(&self) -> Bytes {
        Bytes(self.used.load(Ordering::Relaxed))
    }

    fn take_page(&self) -> Result<(), Failure> {
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                (used + PAGE as u64 <= self.most).then_some(used + PAGE as u64)
            });
        taken.map(drop).map_err(|_| Failure::NoSpace)
    }

    fn give_page(&self) {
        self.used.fetch_sub(PAGE as u64, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Group {
    pages: Box<[Option<Box<Page>>]>,
    /// How many of them are there.
    used: usize,
}

impl Group {
    fn new() -> Self {
        let pages = (0..PAGES_PER_GROUP).map(|_| None).collect();
        Self { pages, used: 0 }
    }

    /// Writes bytes from a place in the group on. Pages that are not there yet are taken from the
    /// limit.
    fn write(&mut self, at: Place, from: &[u8], limit: &MemoryLimit) -> Result<(), Failure> {
        let (mut page, mut byte) = (at.page, at.byte);
        let mut rest = from;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(PAGE - byte));
            let bytes = match &mut self.pages[page] {
                Some(bytes) => bytes,
                empty => {
                    limit.take_page()?;
                    self.used += 1;
                    empty.insert(new_page(&ZERO_PAGE))
                }
            };
            bytes[byte..byte + piece.len()].copy_from_slice(piece);
            (rest, page, byte) = (after, page + 1, 0);
        }
        Ok(())
    }
}

/// The written pages of a stripe.
#[derive(Debug)]
pub(crate) struct Memory {
    /// By their numbers. A client that sought out numbers with equal hashes would slow down its own
    /// volume only.
    groups: FxHashMap<u64, Group>,
    limit: Arc<MemoryLimit>,
}

/// Where an offset lies: in this byte of this page of this group.
#[derive(Debug, Clone, Copy)]
struct Place {
    group: u64,
    page: usize,
    byte: usize,
}

impl Place {
    const fn new(offset: u64) -> Self {
        let within = (offset % GROUP) as usize;
        Self {
            group: offset / GROUP,
            page: within / PAGE,
            byte: within % PAGE,
        }
    }
}

impl Memory {
    pub(crate) fn new(limit: &Arc<MemoryLimit>) -> Self {
        Self {
            groups: FxHashMap::default(),
            limit: Arc::clone(limit),
        }
    }

    /// A page by its number on the volume; `None`: it was never written.
    pub(crate) fn page(&self, number: u64) -> Option<&Page> {
        let at = Place::new(number * PAGE as u64);
        self.groups.get(&at.group)?.pages[at.page].as_deref()
    }

    /// Appends a range within one group; what was never written is zero.
    pub(crate) fn read(&self, offset: u64, len: usize, into: &mut Vec<u8>) {
        let at = Place::new(offset);
        let end = into.len() + len;
        let Some(group) = self.groups.get(&at.group) else {
            into.resize(end, 0);
            return;
        };
        let (mut page, mut byte) = (at.page, at.byte);
        while into.len() < end {
            let piece = (end - into.len()).min(PAGE - byte);
            match &group.pages[page] {
                Some(bytes) => into.extend_from_slice(&bytes[byte..byte + piece]),
                None => into.resize(into.len() + piece, 0),
            }
            (page, byte) = (page + 1, 0);
        }
    }

    /// Writes a range within one group. Without room for all of it, a first part may be written.
    pub(crate) fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), Failure> {
        let at = Place::new(offset);
        let group = self.groups.entry(at.group).or_insert_with(Group::new);
        let written = group.write(at, from, &self.limit);
        if written.is_err() {
            self.remove_if_empty(at.group);
        }
        written
    }

    /// Puts back a page from the undo log. It is in memory already, so the limit does not refuse it,
    /// and can be exceeded until pages are freed.
    pub(crate) fn restore(&mut self, number: u64, bytes: Box<Page>) {
        let at = Place::new(number * PAGE as u64);
        let group = self.groups.entry(at.group).or_insert_with(Group::new);
        if group.pages[at.page].replace(bytes).is_none() {
            group.used += 1;
            self.limit.used.fetch_add(PAGE as u64, Ordering::Relaxed);
        }
    }

    /// Makes a range within one group zero: whole pages are freed.
    pub(crate) fn free(&mut self, offset: u64, len: u64) {
        let number = Place::new(offset).group;
        let Some(group) = self.groups.get_mut(&number) else {
            return;
        };
        for (from, len) in pieces(offset, len, PAGE as u64) {
            let at = Place::new(from);
            match &mut group.pages[at.page] {
                Some(bytes) if len < PAGE as u64 => {
                    bytes[at.byte..at.byte + len as usize].fill(0);
                }
                full @ Some(_) => {
                    *full = None;
                    group.used -= 1;
                    self.limit.give_page();
                }
                None => {}
            }
        }
        self.remove_if_empty(number);
    }

    /// A group without a page is a table that no limit counts.
    fn remove_if_empty(&mut self, group: u64) {
        if self.groups.get(&group).is_some_and(|group| group.used == 0) {
            self.groups.remove(&group);
        }
    }

    /// Whether a whole group was never written.
    pub(crate) fn is_empty_group(&self, offset: u64) -> bool {
        !self.groups.contains_key(&(offset / GROUP))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let pages: usize = self.groups.values().map(|group| group.used).sum();
        let bytes = (pages * PAGE) as u64;
        self.limit.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_only_for_what_was_written() {
        let limit = MemoryLimit::new(Bytes(8192));
        let mut memory = Memory::new(&limit);
        memory.write(100, b"abc").expect("room");
        assert_eq!(limit.used(), Bytes(4096));
        let read = |memory: &Memory| {
            let mut got = Vec::new();
            memory.read(99, 5, &mut got);
            got
        };
        assert_eq!(read(&memory), b"\0abc\0");
        memory.write(4090, &[1; 12]).expect("room");
        assert_eq!(limit.used(), Bytes(8192));
        assert_eq!(memory.write(8192, &[1]), Err(Failure::NoSpace));
        memory.free(0, 4096);
        memory.write(8192, &[1]).expect("room again");
        assert_eq!(read(&memory), [0; 5]);
        drop(memory);
        assert_eq!(limit.used(), Bytes(0));
    }

    /// Each write that found no room in a new group left an empty table of pages behind, which no
    /// limit counted.
    #[test]
    fn a_write_without_room_leaves_nothing() {
        let limit = MemoryLimit::new(Bytes(0));
        let mut memory = Memory::new(&limit);
        for group in 0..3 {
            assert_eq!(memory.write(group * GROUP, &[1]), Err(Failure::NoSpace));
        }
        assert!(memory.groups.is_empty());
    }
}
