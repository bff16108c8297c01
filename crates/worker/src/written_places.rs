//! In: the writes and trims of a job that reads back while it writes, as they are issued. Out: whether
//! the bytes of an earlier write are still known.

use std::collections::BTreeMap;

use blocklab_workload::{Direction, Request};

/// A write, or a trim, that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) target: u32,
    pub(crate) len: u32,
    pub(crate) offset: u64,
    /// The number of a write; for a trim, the number of the write before it.
    pub(crate) generation: u64,
    pub(crate) trimmed: bool,
    /// Its range is being trimmed, or has been; or it is not known what is there.
    pub(crate) gone: bool,
}

impl Written {
    pub(crate) const fn end(&self) -> u64 {
        self.offset + self.len as u64
    }

    /// Whether it shares bytes with a request.
    pub(crate) const fn touches(&self, request: &Request) -> bool {
        let end = request.offset + request.len as u64;
        self.target == request.target && self.offset < end && request.offset < self.end()
    }

    /// Orders by time: a trim follows the write whose number it has.
    pub(crate) const fn age(&self) -> (u64, bool) {
        (self.generation, self.trimmed)
    }

    /// A read or trim of its range.
    pub(crate) const fn request(&self, direction: Direction) -> Request {
        Request {
            target: self.target,
            direction,
            len: self.len,
            offset: self.offset,
        }
    }
}

/// The places of the writes that no later one has replaced in part; no two of them overlap. To look one
/// up takes logarithmic time, as the writes of hours may wait.
#[derive(Debug, Default)]
pub(crate) struct WrittenPlaces {
    by_begin: BTreeMap<(u32, u64), Place>,
}

/// Bytes that only whole writes have changed since the first of them.
#[derive(Debug)]
struct Place {
    end: u64,
    /// The number of the first of these writes.
    since: u64,
}

impl WrittenPlaces {
    /// A write or trim begins.
    pub(crate) fn begins(&mut self, written: &Written) {
        if !written.trimmed && self.place(written).is_some() {
            return;
        }
        let key = (written.target, written.offset);
        // Places are in the order of their ends as well, so the search ends at the first that lies
        // below.
        let below = (written.target, 0)..(written.target, written.end());
        while let Some((begin, place)) = self.by_begin.range(below.clone()).next_back()
            && place.end > written.offset
        {
            let begin = *begin;
            self.by_begin.remove(&begin);
        }
        if !written.trimmed {
            let (end, since) = (written.end(), written.generation);
            self.by_begin.insert(key, Place { end, since });
        }
    }

    /// A write has failed, and may have changed a part of its bytes.
    pub(crate) fn failed(&mut self, written: &Written) {
        if let Some(place) = self.place(written) {
            place.since = place.since.max(written.generation + 1);
        }
    }

    /// Whether the bytes are those of this write, or of a later one at just its place.
    pub(crate) fn has(&self, written: &Written) -> bool {
        let place = self.by_begin.get(&(written.target, written.offset));
        place.is_some_and(|place| place.end == written.end() && place.since <= written.generation)
    }

    /// Everything has been read back.
    pub(crate) fn clear(&mut self) {
        self.by_begin.clear();
    }

    fn place(&mut self, written: &Written) -> Option<&mut Place> {
        let place = self.by_begin.get_mut(&(written.target, written.offset));
        place.filter(|place| place.end == written.end())
    }
}
