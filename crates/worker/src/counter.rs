//! A counter with one writer, which other threads may read at any moment: it costs as much as plain
//! memory, and needs no lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter with one writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

// Relaxed: each counter is exact by itself, and readers who need several to agree read until they do.
impl Counter {
    /// A load and a store instead of one atomic addition, which would lock the cache line: nothing
    /// else writes in between.
    #[inline]
    pub fn add(&self, by: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(by), Relaxed);
    }

    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Adds to a number whose bits it holds.
    #[inline]
    pub(crate) fn add_f64(&self, by: f64) {
        self.set((self.get_f64() + by).to_bits());
    }

    #[inline]
    pub(crate) fn get_f64(&self) -> f64 {
        f64::from_bits(self.get())
    }
}
