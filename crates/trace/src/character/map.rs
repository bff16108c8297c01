//! In: operations in order of time. Out: how their sizes and places go over time, in at most 64 slots of
//! one length, for a picture.
//!
//! A file of its own: neither the length of a trace nor its farthest byte is known before its end, so
//! slots and bands double their width whenever the trace goes beyond the last one.

use serde::Serialize;

use crate::Operation;

const MOST_SLOTS: usize = 64;
const MOST_BANDS: usize = 32;
/// Classes of sizes: class 0 up to 512 bytes, each following one up to twice as much, the last one
/// all that is larger.
const CLASSES: usize = 16;
const FIRST_CLASS: u32 = 512;
const FIRST_SLOT_NS: u64 = 1_000_000;
const FIRST_BAND: u64 = 1 << 20;

/// How sizes and places go over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimeMap {
    /// Length of a slot.
    pub slot_ns: u64,
    /// Bytes of a band of places.
    pub band_bytes: u64,
    /// The largest size of each class; the last one holds all that is larger, too.
    pub class_bytes: Vec<u64>,
    /// For each slot the operations of each class that move bytes.
    pub sizes: Vec<Vec<u64>>,
    /// For each slot the operations that begin in each band.
    pub places: Vec<Vec<u64>>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    classes: [u64; CLASSES],
    bands: [u64; MOST_BANDS],
}

impl Held {
    const EMPTY: Self = Self {
        classes: [0; CLASSES],
        bands: [0; MOST_BANDS],
    };

    fn join(&mut self, other: &Self) {
        for (sum, count) in self.classes.iter_mut().zip(other.classes) {
            *sum += count;
        }
        for (sum, count) in self.bands.iter_mut().zip(other.bands) {
            *sum += count;
        }
    }
}

#[derive(Debug)]
pub(super) struct Mapping {
    slot_ns: u64,
    band: u64,
    slots: Vec<Held>,
    /// The slot of the last operation: where it begins, and its index.
    begin: u64,
    index: usize,
    bands: usize,
}

impl Default for Mapping {
    fn default() -> Self {
        Self {
            slot_ns: FIRST_SLOT_NS,
            band: FIRST_BAND,
            slots: vec![Held::EMPTY],
            begin: 0,
            index: 0,
            bands: 1,
        }
    }
}

impl Mapping {
    /// Takes in an operation that has a place.
    #[inline]
    pub(super) fn add(&mut self, operation: &Operation) {
        if operation.at.0 - self.begin >= self.slot_ns {
            self.turn(operation.at.0);
        }
        while operation.offset / self.band >= MOST_BANDS as u64 {
            self.widen_bands();
        }
        let slot = &mut self.slots[self.index];
        let class = operation.len.div_ceil(FIRST_CLASS).max(1);
        let class = (class.next_power_of_two().trailing_zeros() as usize).min(CLASSES - 1);
        slot.classes[class] += 1;
        let band = (operation.offset / self.band) as usize;
        slot.bands[band] += 1;
        self.bands = self.bands.max(band + 1);
    }

    #[cold]
    fn turn(&mut self, at_ns: u64) {
        while at_ns / self.slot_ns >= MOST_SLOTS as u64 {
            let pairs = self.slots.chunks(2);
            let joined = pairs.map(|pair| {
                let mut sum = pair[0];
                pair[1..].iter().for_each(|next| sum.join(next));
                sum
            });
            self.slots = joined.collect();
            self.slot_ns *= 2;
        }
        self.index = (at_ns / self.slot_ns) as usize;
        self.begin = self.index as u64 * self.slot_ns;
        if self.slots.len() <= self.index {
            self.slots.resize(self.index + 1, Held::EMPTY);
        }
    }

    #[cold]
    fn widen_bands(&mut self) {
        for slot in &mut self.slots {
            for band in 0..MOST_BANDS {
                let pair = slot.bands.get(2 * band..2 * band + 2);
                slot.bands[band] = pair.map_or(0, |pair| pair.iter().sum());
            }
        }
        self.bands = self.bands.div_ceil(2);
        self.band *= 2;
    }

    pub(super) fn end(self) -> TimeMap {
        let used = self.slots.iter().filter_map(|slot| {
            let last = slot.classes.iter().rposition(|count| *count > 0);
            last.map(|last| last + 1)
        });
        let classes = used.max().unwrap_or(0);
        let class_bytes = (0..classes).map(|class| u64::from(FIRST_CLASS) << class);
        let slots = self.slots.iter();
        TimeMap {
            slot_ns: self.slot_ns,
            band_bytes: self.band,
            class_bytes: class_bytes.collect(),
            sizes: slots
                .clone()
                .map(|slot| slot.classes[..classes].to_vec())
                .collect(),
            places: slots
                .map(|slot| slot.bands[..self.bands].to_vec())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    /// Nothing is lost while slots and bands widen, and everything stays where it was.
    #[test]
    fn slots_and_bands_widen_as_the_trace_goes_on() {
        let mut mapping = Mapping::default();
        for second in 0..1000_u64 {
            mapping.add(&Operation {
                offset: second << 20,
                len: 4096,
                ..at(second * 1_000_000)
            });
        }
        let map = mapping.end();
        assert!(map.sizes.len() <= MOST_SLOTS && map.sizes.len() > MOST_SLOTS / 2);
        assert_eq!(map.band_bytes, 32 << 20);
        assert_eq!(map.class_bytes, [512, 1024, 2048, 4096]);
        let all: u64 = map.sizes.iter().flatten().sum();
        let placed: u64 = map.places.iter().flatten().sum();
        assert_eq!((all, placed), (1000, 1000));
        for (slot, bands) in map.places.iter().enumerate() {
            // The first whole second in it.
            let from = (slot as u64 * map.slot_ns).div_ceil(1_000_000_000);
            let first = bands.iter().position(|count| *count > 0).expect("busy");
            assert_eq!(first as u64, from / 32, "slot {slot}");
        }
    }

    #[test]
    fn a_whole_disk_and_a_year_fit() {
        let mut mapping = Mapping::default();
        mapping.add(&at(0));
        mapping.add(&Operation {
            offset: 1 << 61,
            len: 1 << 30,
            ..at(31_536_000_000_000)
        });
        let map = mapping.end();
        assert_eq!(map.class_bytes.len(), CLASSES);
        assert_eq!(map.places.iter().flatten().sum::<u64>(), 2);
    }
}
