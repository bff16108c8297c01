//! In: where operations go. Out: the pages that they touch and write, and how many go on where
//! another ended.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use blocklab_workload::Direction;

use crate::Operation;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Ends of operations that are remembered: one that begins at one of them is sequential.
pub const STREAMS: usize = 32;

/// Pages of a region: 64 words of 64 bits.
const REGION_PAGES: u64 = 4096;
const WORDS: usize = REGION_PAGES as usize / 64;

/// A number as its own hash, well mixed.
#[derive(Debug, Default)]
pub(crate) struct Mixed(u64);

/// Spreads the bits of a number over all 64.
pub(crate) const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ (number >> 32)
}

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mixed(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mixed(number);
    }
}

/// A map from numbers.
pub(crate) type Numbers<T> = HashMap<u64, T, BuildHasherDefault<Mixed>>;

#[derive(Debug)]
struct Region {
    touched: [u64; WORDS],
    written: [u64; WORDS],
}

#[derive(Debug, Default)]
pub(crate) struct Space {
    /// Index in `regions` by device and place.
    index: Numbers<u32>,
    regions: Vec<Region>,
    last: Option<(u64, u32)>,
    touched: u64,
    written: u64,
    page_writes: u64,
    sequential: u64,
    unaligned: u64,
    end: u64,
    streams: Streams,
}

/// The ends of the last [`STREAMS`] operations.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    ends: Vec<(u32, u64)>,
    oldest: usize,
}

impl Streams {
    /// Whether an operation goes on where one of them ended; it is one of them from now on.
    #[inline]
    pub(crate) fn goes_on(&mut self, operation: &Operation) -> bool {
        let goes_on = self.ends.contains(&(operation.target, operation.offset));
        let end = (operation.target, operation.end());
        if self.ends.len() < STREAMS {
            self.ends.push(end);
        } else {
            self.ends[self.oldest] = end;
            self.oldest = (self.oldest + 1) % STREAMS;
        }
        goes_on
    }
}

/// Where a page stands among those of all devices.
pub(crate) const fn page_key(target: u32, page: u64) -> u64 {
    ((target as u64) << 44).wrapping_add(page)
}

impl Space {
    #[inline]
    pub(crate) fn add(&mut self, operation: &Operation) {
        let Operation {
            offset,
            len,
            target,
            ..
        } = *operation;
        let end = operation.end();
        self.sequential += u64::from(self.streams.goes_on(operation));
        self.unaligned += u64::from((offset | u64::from(len)) % PAGE > 0);
        self.end = self.end.max(end);
        if operation.direction == Direction::Trim || len == 0 {
            return;
        }
        let writes = operation.direction == Direction::Write;
        let (mut page, last) = (offset / PAGE, (end - 1) / PAGE);
        if writes {
            self.page_writes += last - page + 1;
        }
        while page <= last {
            let until = (page | 63).min(last);
            self.mark(target, page, until, writes);
            page = until + 1;
        }
    }

    /// Marks pages of one word.
    #[inline]
    fn mark(&mut self, target: u32, from: u64, until: u64, writes: bool) {
        let key = page_key(target, from) / REGION_PAGES;
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => self.place(key),
        };
        let region = &mut self.regions[place as usize];
        let word = (from % REGION_PAGES / 64) as usize;
        let count = until - from + 1;
        let mask = (u64::MAX >> (64 - count)) << (from % 64);
        self.touched += u64::from((mask & !region.touched[word]).count_ones());
        region.touched[word] |= mask;
        if writes {
            self.written += u64::from((mask & !region.written[word]).count_ones());
            region.written[word] |= mask;
        }
    }

    fn place(&mut self, key: u64) -> u32 {
        let regions = &mut self.regions;
        let place = *self.index.entry(key).or_insert_with(|| {
            regions.push(Region {
                touched: [0; WORDS],
                written: [0; WORDS],
            });
            regions.len() as u32 - 1
        });
        self.last = Some((key, place));
        place
    }

    pub(crate) const fn touched(&self) -> u64 {
        self.touched
    }

    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    pub(super) const fn page_writes(&self) -> u64 {
        self.page_writes
    }

    pub(super) const fn rewrites(&self) -> u64 {
        self.page_writes - self.written
    }

    pub(super) const fn sequential(&self) -> u64 {
        self.sequential
    }

    pub(super) const fn unaligned(&self) -> u64 {
        self.unaligned
    }

    pub(super) const fn end(&self) -> u64 {
        self.end
    }
}
