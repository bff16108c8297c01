//! A counter with one writer, which other threads may read at any moment: it costs as much as plain
//! memory, and needs no lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter with one writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
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
}
