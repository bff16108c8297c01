//! In: the folder of a run that goes on. Out: how far it has come, read on from where the last look
//! ended.

use std::io::{self, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::SPOOL;
use super::progress::{Progress, SpoolError};
use super::unfinished::is_held;
use crate::plain;

/// Follows a run while it lasts.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// Device and inode of the file that was read.
    identity: Option<(u64, u64)>,
    /// How many of its bytes were read.
    read: u64,
    progress: Progress,
}

impl Follower {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            path: folder.join(SPOOL),
            identity: None,
            read: 0,
            progress: Progress::default(),
        }
    }

    /// Reads on. Whether there is still a run to follow: a run that has ended has no spool.
    ///
    /// # Errors
    /// As [`Progress::read`].
    pub fn look(&mut self) -> Result<bool, SpoolError> {
        let mut file = match plain::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        let metadata = file.metadata()?;
        let identity = Some((metadata.dev(), metadata.ino()));
        if identity != self.identity || metadata.len() < self.read {
            (self.identity, self.read) = (identity, 0);
            self.progress = Progress::default();
        }
        file.seek(SeekFrom::Start(self.read))?;
        self.read += self.progress.read_on(BufReader::new(file))?;
        Ok(true)
    }

    /// Whether the run that writes it goes on: it holds the lock of the file alone. A file system
    /// without locks shows none.
    pub fn is_held(&self) -> bool {
        let file = plain::open(&self.path);
        file.is_ok_and(|file| is_held(&file))
    }

    /// How far the run has come.
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }
}
