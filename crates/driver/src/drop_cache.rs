//! In: the bytes that a thread transfers. Out: its targets dropped from the page cache at intervals.

use std::fs::File;

use rustix::fs::{Advice, fadvise};

use super::TargetFile;

/// Drops the targets of a thread from the page cache whenever it has transferred a number of bytes.
pub(crate) struct DropCache {
    files: Vec<TargetFile>,
    /// That number.
    every: u64,
    left: u64,
}

impl DropCache {
    pub(crate) fn new(files: &[TargetFile], every: u64) -> Self {
        Self {
            files: files.to_vec(),
            every,
            left: every,
        }
    }

    /// An operation of `len` bytes is about to begin.
    #[inline]
    pub(crate) fn before_transfer(&mut self, len: u32) {
        if self.left == 0 {
            self.drop_cache();
        }
        self.left = self.left.saturating_sub(u64::from(len));
    }

    #[cold]
    fn drop_cache(&mut self) {
        self.left = self.every;
        // A target that cannot be opened is skipped: its operations fail too.
        let opened = self
            .files
            .iter()
            .map(|file| file.with_safe_path(|path| File::open(path)));
        opened.flatten().for_each(|file| drop_cache(&file));
    }
}

/// Asks the page cache to drop a file, so that a buffered read comes from the device.
pub(crate) fn drop_cache(file: &File) {
    // It is advice: a cache that keeps the pages shows in the device's own counters.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
}
