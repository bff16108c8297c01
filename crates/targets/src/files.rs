//! How files of targets are opened, with the hints and advice that a job gives.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use blocklab_workload::{Advice, Durability, Hints, Lifetime};
use rustix::fs;

/// An open file of a worker. Each worker opens its own: threads that share one contend for its
/// reference count.
#[derive(Debug)]
pub struct OpenFile {
    pub(crate) file: File,
    pub(crate) is_block: bool,
    pub(crate) size: u64,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// Opened for writing.
    pub write: bool,
    /// Opened for reading as well as for writing (O_RDWR), which mappings need even for writes alone.
    pub read_too: bool,
    /// Past the page cache, with O_DIRECT.
    pub direct: bool,
    /// Whether a completed write is durable.
    pub durability: Durability,
}

/// Opens a file or device as requested.
///
/// # Errors
/// The kernel's answer.
pub fn open(path: &Path, opening: Opening, size: u64) -> io::Result<OpenFile> {
    let mut flags = libc::O_CLOEXEC | libc::O_NOATIME;
    if opening.direct {
        flags |= libc::O_DIRECT;
    }
    flags |= match opening.durability {
        Durability::None => 0,
        Durability::Dsync => libc::O_DSYNC,
        Durability::Sync => libc::O_SYNC,
    };
    let mut options = OpenOptions::new();
    options
        .read(!opening.write || opening.read_too)
        .write(opening.write);
    let file = options
        .custom_flags(flags)
        .open(path)
        .or_else(|error| match error.kind() {
            // O_NOATIME is a privilege of the owner, and only a courtesy here.
            io::ErrorKind::PermissionDenied => {
                options.custom_flags(flags & !libc::O_NOATIME).open(path)
            }
            _ => Err(error),
        })?;
    let metadata = file.metadata()?;
    Ok(OpenFile {
        file,
        is_block: metadata.file_type().is_block_device(),
        size,
    })
}

impl OpenFile {
    /// What takes the place of a file that is closed: every operation on it fails.
    ///
    /// # Errors
    /// As `open`.
    pub fn vacant() -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_PATH);
        Ok(Self {
            file: options.open("/")?,
            is_block: false,
            size: 0,
        })
    }

    /// Tells the page cache in which order the file will be read, and file system and device how long
    /// the written data will live.
    ///
    /// # Errors
    /// When the kernel takes no lifetime. The order is advice, whose failure does not matter.
    pub fn hint(&self, hints: Hints, random: bool, direct: bool) -> io::Result<()> {
        let advice = match hints.advice {
            // Direct reads pass the page cache by.
            _ if direct => None,
            Advice::None => None,
            Advice::ByPattern if random => Some(fs::Advice::Random),
            Advice::Random => Some(fs::Advice::Random),
            Advice::NoReuse => Some(fs::Advice::NoReuse),
            Advice::ByPattern | Advice::Sequential => Some(fs::Advice::Sequential),
        };
        if let Some(advice) = advice {
            let _ = fs::fadvise(&self.file, 0, None, advice);
        }
        let Some(lifetime) = hints.lifetime else {
            return Ok(());
        };
        let value: u64 = match lifetime {
            Lifetime::None => 1,
            Lifetime::Short => 2,
            Lifetime::Medium => 3,
            Lifetime::Long => 4,
            Lifetime::Extreme => 5,
        };
        // SAFETY: the kernel reads a number of 64 bits that lives through the call.
        let result = unsafe { libc::fcntl(self.file.as_raw_fd(), SET_RW_HINT, &raw const value) };
        match result {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// F_SET_RW_HINT of linux/fcntl.h.
const SET_RW_HINT: libc::c_int = 1024 + 12;

/// Whether reads by O_DIRECT work: some file systems accept the flag and refuse the first read.
pub fn probe_direct(opened: &OpenFile) -> io::Result<()> {
    let (mut buffers, slots) = crate::buffers::Buffers::new(1, 4096)?;
    let read = opened.file.read_at(buffers.bytes_mut(&slots[0], 4096), 0);
    match read {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Err(error),
        // A file open for writing only cannot be read; a device that fails does so again, as data.
        _ => Ok(()),
    }
}
