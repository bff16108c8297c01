//! In: the offsets of operations. Out: how many pages they touch and write, and how many operations are
//! sequential or unaligned.

use blocklab_workload::Direction;
use rustc_hash::FxHashMap;

use crate::Operation;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Number of operations whose ends are remembered; one that begins at such an end is sequential.
pub const STREAMS: usize = 32;

/// Pages of a region, whose bits are in 64 words of 64 bits.
const REGION_PAGES: u64 = 4096;
const WORDS: usize = REGION_PAGES as usize / 64;

/// A hash that selects a sample of numbers: it spreads their bits over all 64.
pub(crate) const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ (number >> 32)
}

/// One bit for each page of a region of 16 MiB.
#[derive(Debug)]
struct Region {
    touched: [u64; WORDS],
    written: [u64; WORDS],
}

/// The pages of all devices.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// Index in `regions`, by the number of the region.
    index: FxHashMap<u64, u32>,
    regions: Vec<Region>,
    /// The number and the index of the region that was used last.
    last: Option<(u64, u32)>,
    /// Number of pages that were touched, and that were written.
    pub(crate) touched: u64,
    pub(super) written: u64,
    /// Number of page writes, with repetitions.
    pub(super) page_writes: u64,
    /// Number of operations that are sequential, and that are unaligned.
    pub(super) sequential: u64,
    pub(super) unaligned: u64,
    /// The highest end of an operation.
    pub(super) end: u64,
    streams: Streams,
}

/// The ends of the last [`STREAMS`] operations.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// A ring of device and offset.
    ends: Vec<(u32, u64)>,
    /// Index of the oldest one, which is replaced next.
    oldest: usize,
}

impl Streams {
    /// Whether an operation begins where one of the last [`STREAMS`] ended. Adds its own end to them.
    #[inline]
    pub(crate) fn add(&mut self, operation: &Operation) -> bool {
        let is_sequential = self.ends.contains(&(operation.target, operation.offset));
        let end = (operation.target, operation.end());
        if self.ends.len() < STREAMS {
            self.ends.push(end);
        } else {
            self.ends[self.oldest] = end;
            self.oldest = (self.oldest + 1) % STREAMS;
        }
        is_sequential
    }
}

/// A number for a page that is unique among all devices up to 64 PiB: 44 bits for the page, the others
/// for the device.
pub(crate) const fn page_key(target: u32, page: u64) -> u64 {
    ((target as u64) << 44).wrapping_add(page)
}

impl Space {
    /// Counts an operation and marks its pages.
    #[inline]
    pub(crate) fn add(&mut self, operation: &Operation) {
        let Operation {
            offset,
            len,
            target,
            ..
        } = *operation;
        let end = operation.end();
        self.sequential += u64::from(self.streams.add(operation));
        self.unaligned += u64::from((offset | u64::from(len)) % PAGE > 0);
        self.end = self.end.max(end);
        // A trim moves no data, so it does not touch its pages.
        if operation.direction == Direction::Trim || len == 0 {
            return;
        }
        let writes = operation.direction == Direction::Write;
        let (mut page, last) = (offset / PAGE, (end - 1) / PAGE);
        if writes {
            self.page_writes += last - page + 1;
        }
        // One step for the pages of each word of 64 bits.
        while page <= last {
            let until = (page | 63).min(last);
            self.mark(target, page, until, writes);
            page = until + 1;
        }
    }

    /// Marks the pages `from` to `until`, which must be in one word.
    #[inline]
    fn mark(&mut self, target: u32, from: u64, until: u64, writes: bool) {
        let key = page_key(target, from) / REGION_PAGES;
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => self.region_index(key),
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

    /// The index of a region in `regions`, to which it is added if it is new.
    fn region_index(&mut self, key: u64) -> u32 {
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

    /// Number of page writes to pages that an earlier write had written.
    pub(super) const fn rewrites(&self) -> u64 {
        self.page_writes - self.written
    }
}
