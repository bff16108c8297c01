//! In: operations in order of time. Out: the distribution of their sizes and offsets over time, in at
//! most 64 slots of equal length, for a chart.
//!
//! Neither the length of a trace nor its highest offset is known before its end. So slots of time and
//! bands of offsets double their width whenever an operation is beyond the last one, and neighbours
//! are added up.

use blocklab_units::with_defaults;
use serde::Serialize;

use crate::Operation;

const MOST_SLOTS: usize = 64;
const MOST_BANDS: usize = 32;
/// Classes of sizes: class 0 has sizes up to 512 bytes, each following class up to twice as many, and
/// the last one also everything larger.
const CLASSES: usize = 16;
const FIRST_CLASS: u32 = 512;
const FIRST_SLOT_NS: u64 = 1_000_000;
const FIRST_BAND: u64 = 1 << 20;

/// The distribution of sizes and offsets over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimeMap {
    /// Length of a slot of time.
    pub slot_ns: u64,
    /// Width of a band of offsets.
    pub band_bytes: u64,
    /// The largest size of each class; the last one also counts everything larger.
    pub class_bytes: Vec<u64>,
    /// For each slot, the number of operations of each size class.
    pub sizes: Vec<Vec<u64>>,
    /// For each slot, the number of operations that begin in each band.
    pub places: Vec<Vec<u64>>,
}

/// The counts of one slot.
#[derive(Debug, Clone, Copy)]
struct SlotCounts {
    classes: [u64; CLASSES],
    bands: [u64; MOST_BANDS],
}

impl SlotCounts {
    const EMPTY: Self = Self {
        classes: [0; CLASSES],
        bands: [0; MOST_BANDS],
    };

    /// Adds the counts of another slot.
    fn join(&mut self, other: &Self) {
        for (sum, count) in self.classes.iter_mut().zip(other.classes) {
            *sum += count;
        }
        for (sum, count) in self.bands.iter_mut().zip(other.bands) {
            *sum += count;
        }
    }
}

with_defaults! {
    /// Counts the operations of a trace by slot, size class and band.
    #[derive(Debug)]
    pub(super) struct Mapping {
        /// Current length of a slot.
        slot_ns: u64 = FIRST_SLOT_NS,
        /// Current width of a band in bytes.
        band: u64 = FIRST_BAND,
        slots: Vec<SlotCounts> = vec![SlotCounts::EMPTY],
        /// Where the slot of the last operation begins.
        begin: u64 = 0,
        /// The index of that slot.
        index: usize = 0,
        /// Number of bands that are used.
        bands: usize = 1,
    }
}

impl Mapping {
    /// Counts an operation that has an offset.
    #[inline]
    pub(super) fn add(&mut self, operation: &Operation) {
        if operation.at.0 - self.begin >= self.slot_ns {
            self.enter_slot(operation.at.0);
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

    /// Makes the slot of a moment the current one; slots become longer if there would be too many.
    #[cold]
    fn enter_slot(&mut self, at_ns: u64) {
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
            self.slots.resize(self.index + 1, SlotCounts::EMPTY);
        }
    }

    /// Adds up each two neighbouring bands.
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

    /// The result, without classes and bands that are empty in all slots beyond the last used one.
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
