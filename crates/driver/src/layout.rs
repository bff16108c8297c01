//! In: a file and a size. Out: the file filled with random bytes, or with those that its job writes,
//! ready to be measured.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use blocklab_units::Bytes;
use blocklab_workload::{Content, ContentMaker, Job};

use crate::Error;
use crate::drop_cache::drop_cache;

/// A file to fill.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// Open for writing, at the start of the content.
    pub file: &'a File,
    /// Its name for messages.
    pub path: &'a Path,
    /// Bytes to write.
    pub size: Bytes,
}

/// Fills files with random bytes, because reads of zeros or holes would not reach the device. All
/// sectors that one filler writes are different, so that no device can deduplicate them.
#[derive(Debug)]
pub struct FileFiller {
    maker: ContentMaker,
    chunk: Vec<u8>,
}

/// Bytes between two checks for an interruption.
const CHUNK: usize = 4 << 20;

impl FileFiller {
    /// A filler with content from this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            maker: ContentMaker::new(Content::Random, seed, "layout", 0),
            chunk: Vec::new(),
        }
    }

    /// A filler with the content of a job that writes zeros, a pattern, or what compresses or repeats.
    /// `None`: it writes random bytes.
    #[must_use]
    pub fn for_job(job: &Job, seed: u64) -> Option<Self> {
        let content = match job.content {
            Content::Random | Content::Same | Content::Fresh if job.fill.is_none() => return None,
            // Whole writes repeat there, and here a chunk is one: of most files there is only one.
            Content::Repeating {
                compress_percent,
                repeat_percent,
            } => Content::Shaped {
                compress_percent,
                dedupe_percent: repeat_percent,
            },
            content => content,
        };
        let job = Job {
            content,
            ..job.clone()
        };
        Some(Self {
            maker: ContentMaker::for_job(&job, seed, 0),
            chunk: Vec::new(),
        })
    }

    /// Writes the content and flushes it to the device. Returns false if it was interrupted, and
    /// leaves the file as it is then. `progress` gets the bytes written so far.
    ///
    /// # Errors
    /// When it cannot be written (no space, no permission).
    pub fn fill(
        &mut self,
        layout: Layout<'_>,
        interrupted: &AtomicBool,
        progress: impl FnMut(Bytes),
    ) -> Result<bool, Error> {
        let written = self.write(layout, interrupted, progress);
        written.map_err(|cause| Error::LayOut {
            path: layout.path.to_owned(),
            size: layout.size.to_string(),
            cause,
        })
    }

    /// [`FileFiller::fill`] without the words of its error.
    fn write(
        &mut self,
        layout: Layout<'_>,
        interrupted: &AtomicBool,
        mut progress: impl FnMut(Bytes),
    ) -> io::Result<bool> {
        let (mut file, size) = (layout.file, layout.size.0);
        // The chunk serves all files, and grows to the largest that was needed so far.
        let (prepared, needed) = (self.chunk.len(), size.min(CHUNK as u64) as usize);
        if prepared < needed {
            self.chunk.resize(needed, 0);
            self.maker.prepare(&mut self.chunk[prepared..]);
        }
        let mut written = 0;
        while written < size {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let len = (size - written).min(CHUNK as u64) as usize;
            let chunk = &mut self.chunk[..len];
            self.maker.refresh(chunk);
            file.write_all(chunk)?;
            written += len as u64;
            progress(Bytes(written));
        }
        file.sync_all()?;
        drop_cache(file);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use super::*;

    /// A job that reads what compresses was measured on files of random bytes, which a file system that
    /// compresses stores as they are.
    #[test]
    fn files_have_the_content_of_their_job() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let filled = |job: &Job| {
            let layout = Layout {
                file: &File::create(&path).unwrap(),
                path: &path,
                size: Bytes(10_000),
            };
            let mut filler = FileFiller::for_job(job, 0).expect("no random bytes");
            assert!(
                filler
                    .fill(layout, &AtomicBool::new(false), |_| {})
                    .unwrap()
            );
            fs::read(&path).unwrap()
        };
        let mut job = Job::new("a");
        job.content = Content::Random;
        assert!(FileFiller::for_job(&job, 0).is_none());
        job.content = Content::Zero;
        assert_eq!(filled(&job), [0; 10_000]);
        job.content = Content::Random;
        job.fill = Some([7].into());
        assert_eq!(filled(&job), [7; 10_000]);
        job.fill = None;
        job.content = Content::Repeating {
            compress_percent: 75,
            repeat_percent: 0,
        };
        let shaped = filled(&job);
        let zeros = shaped.iter().filter(|byte| **byte == 0).count();
        assert!((7_400..7_700).contains(&zeros), "three quarters: {zeros}");
    }

    /// Every file of a job had the same content: a device that deduplicates kept one of 10,000.
    #[test]
    fn no_two_sectors_of_the_files_are_equal() {
        let folder = tempfile::tempdir().unwrap();
        let mut filler = FileFiller::new(0);
        let mut seen = HashSet::new();
        for (name, size) in [("small", 4096), ("large", 40_960), ("third", 8192)] {
            let path = folder.path().join(name);
            let layout = Layout {
                file: &File::create(&path).unwrap(),
                path: &path,
                size: Bytes(size),
            };
            assert!(
                filler
                    .fill(layout, &AtomicBool::new(false), |_| {})
                    .unwrap()
            );
            let content = fs::read(&path).unwrap();
            assert_eq!(content.len() as u64, size);
            for sector in content.chunks(4096) {
                assert!(seen.insert(sector.to_owned()), "{name}");
            }
        }
    }
}
