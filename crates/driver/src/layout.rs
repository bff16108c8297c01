//! Fills the file that a run works on.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use blocklab_units::Bytes;
use blocklab_workload::{Content, ContentMaker};

use crate::Error;
use crate::drop_cache::drop_cache;

/// A file to be filled.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// Empty, and open for writing.
    pub file: &'a File,
    /// Its name, for people.
    pub path: &'a Path,
    /// How big.
    pub size: Bytes,
    /// Its content: reads of zeros or holes would not show the device.
    pub content: Content,
    /// Seed of the content.
    pub seed: u64,
}

/// Bytes written between two looks at the outside.
const CHUNK: usize = 4 << 20;

/// Writes the whole file and flushes it to the device. Returns false, and leaves what there is,
/// when it was interrupted. `progress` gets the bytes written so far.
///
/// # Errors
/// When it cannot be written (no space, no permission).
pub fn lay_out(
    layout: Layout<'_>,
    interrupted: &AtomicBool,
    mut progress: impl FnMut(Bytes),
) -> Result<bool, Error> {
    let mut attempt = || -> io::Result<bool> {
        let mut file = layout.file;
        let mut maker = ContentMaker::new(layout.content, layout.seed, "layout", 0);
        let mut chunk = vec![0; layout.size.0.min(CHUNK as u64) as usize];
        maker.prepare(&mut chunk);
        let mut written = 0;
        while written < layout.size.0 {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let len = (layout.size.0 - written).min(CHUNK as u64) as usize;
            maker.refresh(&mut chunk[..len]);
            file.write_all(&chunk[..len])?;
            written += len as u64;
            progress(Bytes(written));
        }
        file.sync_all()?;
        drop_cache(file);
        Ok(true)
    };
    attempt().map_err(|source| Error::LayOut {
        path: layout.path.to_owned(),
        size: layout.size.to_string(),
        cause: source,
    })
}
