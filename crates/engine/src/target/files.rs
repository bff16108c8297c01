use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use blocklab_workload::Durability;

/// An open file of a worker. Each worker opens its own: threads that share one contend for its
/// reference count.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) file: File,
    pub(crate) is_block: bool,
    pub(crate) size: u64,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) write: bool,
    /// O_RDWR although only writes are asked for: mappings need it.
    pub(crate) read_too: bool,
    pub(crate) direct: bool,
    pub(crate) durability: Durability,
}

pub(crate) fn open(path: &Path, opening: Opening, size: u64) -> io::Result<OpenFile> {
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
    let is_block = file.metadata()?.file_type().is_block_device();
    Ok(OpenFile {
        file,
        is_block,
        size,
    })
}

impl OpenFile {
    /// Tells the page cache what to expect; it is advice, so failure does not matter.
    pub(crate) fn advise(&self, random: bool) {
        let advice = if random {
            libc::POSIX_FADV_RANDOM
        } else {
            libc::POSIX_FADV_SEQUENTIAL
        };
        // SAFETY: no memory is passed.
        unsafe { libc::posix_fadvise(self.file.as_raw_fd(), 0, 0, advice) };
    }
}

/// Whether reads by O_DIRECT work: some file systems accept the flag and refuse the first read.
pub(crate) fn probe_direct(opened: &OpenFile) -> io::Result<()> {
    let (buffers, _) = crate::buffers::Buffers::new(1, 4096)?;
    let fd = opened.file.as_raw_fd();
    // SAFETY: the buffer holds 4096 bytes and lives through the call.
    let read = unsafe { libc::pread(fd, buffers.address(0).cast(), 4096, 0) };
    if read >= 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    // A file open for writing only cannot be read; a device that fails does so again, as data.
    if error.raw_os_error() == Some(libc::EINVAL) {
        Err(error)
    } else {
        Ok(())
    }
}
