//! Where the bytes of a volume are kept: in memory, or in a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blocklab_host::Cause;
use blocklab_host::guard::{Guard, Refusal, file_use};
use blocklab_units::{Bytes, SECTOR};
use rustix::fs::{FallocateFlags, SeekFrom, XattrFlags, fallocate, fgetxattr, fsetxattr, seek};
use rustix::io::Errno;

use crate::Failure;
use crate::durability::Before;
use crate::memory::{Memory, MemoryLimit};
use crate::pages::{GROUP, PAGE, Page, ZERO_PAGE};

/// A place for the bytes of one volume.
#[derive(Debug, Clone)]
pub enum Backing {
    /// Memory for what was written.
    Memory(Arc<MemoryLimit>),
    /// A sparse file.
    File(Arc<File>),
}

/// Why a file cannot back a volume.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It has other content.
    #[error(
        "{path} holds {found} that no volume of {wanted} wrote; name a new file{}",
        if *is_volume { own_size_advice(*found) } else { read_only_advice(*found, *wanted) }
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: Bytes,
        /// The size of the volume.
        wanted: Bytes,
        /// It is that of a volume of its own size.
        is_volume: bool,
    },
    /// Not a regular file.
    #[error("{0} is no regular file; a volume is kept in memory or in a file")]
    NoFile(PathBuf),
    /// A read-only volume needs a file of its size.
    #[error(
        "{path} has {found}, and the volume has {wanted}; name another file{}",
        read_only_advice(*found, *wanted)
    )]
    Short {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: Bytes,
        /// The size of the volume.
        wanted: Bytes,
    },
    /// A new file that would come to a place that the user did not mean: through a link that leads
    /// nowhere, or in `/dev`.
    #[error(transparent)]
    NoPlace(#[from] Refusal),
    /// Another server has it open.
    #[error("{0} backs a volume that is being served")]
    InUse(PathBuf),
    /// It is a disk to others: behind a loop device, or swap.
    #[error("{0} {1}; name another file, or free it first")]
    Used(PathBuf, Cause),
    /// No file there can be as long as the volume.
    #[error(
        "the file system of {path} has no files of {wanted}; choose a smaller --size, or name a file on \
         another one"
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The size of the volume.
        wanted: Bytes,
    },
    /// The system's refusal of a file.
    #[error("cannot open {0}: {1}")]
    System(PathBuf, io::Error),
}

/// The end of an error: how the file of a volume of another size can be served.
fn own_size_advice(found: Bytes) -> String {
    format!(
        ", or serve this one in its own size with --size {}",
        found.0
    )
}

/// The end of an error: how a file with other content can be served, in whole sectors.
fn read_only_advice(found: Bytes, wanted: Bytes) -> String {
    match found.0 / SECTOR * SECTOR {
        0 => String::new(),
        whole if whole < wanted.0 => format!(", or serve this one with --read-only --size {whole}"),
        _ => ", or serve this one as it is with --read-only".to_owned(),
    }
}

/// Extended attribute of our files: the size of the volume, in bytes.
const MARK: &std::ffi::CStr = c"user.blocklab.volume";

/// Opens the backing file of a volume of `size`; one that is not there or empty is made.
///
/// # Errors
/// If it has content that no volume of this size left there, or cannot be opened.
pub fn open_file(path: &Path, size: Bytes, read_only: bool) -> Result<Backing, FileError> {
    if !read_only && !path.exists() {
        Guard::default().new_path(path)?;
    }
    let system = |error| FileError::System(path.to_owned(), error);
    let mut options = OpenOptions::new();
    options.read(true).write(!read_only).create(!read_only);
    // A pipe without a writer would hold up the opening for ever.
    options.custom_flags(libc::O_NONBLOCK);
    let opened = options.truncate(false).open(path);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => FileError::NoFile(path.to_owned()),
        _ => system(error),
    })?;
    let facts = file.metadata().map_err(system)?;
    if !facts.is_file() {
        return Err(FileError::NoFile(path.to_owned()));
    }
    // Two servers on one file would overwrite each other's data.
    let locked = if read_only {
        file.try_lock_shared()
    } else {
        file.try_lock()
    };
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => FileError::InUse(path.to_owned()),
        TryLockError::Error(error) => system(error),
    })?;
    if let Some(used) = file_use(&facts).filter(|_| !read_only) {
        return Err(FileError::Used(path.to_owned(), used));
    }
    let found = Bytes(facts.len());
    let (path, wanted) = (path.to_owned(), size);
    match (read_only, found.0) {
        (true, len) if len < size.0 => {
            return Err(FileError::Short {
                path,
                found,
                wanted,
            });
        }
        (true, _) => {}
        // Nothing was written yet, so a new file and one made here take any size.
        (false, len) if len == 0 || marked(&file).is_some() && is_hole(&file, len) => {
            // Marked first: a server that is killed in between leaves a file that the next one takes.
            let text = size.0.to_string();
            // A file system without extended attributes: the file cannot be used a second time.
            let _ = fsetxattr(&file, MARK, text.as_bytes(), XattrFlags::empty());
            file.set_len(size.0).map_err(|error| match error.kind() {
                io::ErrorKind::FileTooLarge => FileError::TooLong { path, wanted },
                _ => FileError::System(path, error),
            })?;
        }
        (false, len) if len == size.0 && marked(&file) == Some(size) => {}
        (false, _) => {
            return Err(FileError::Other {
                path,
                found,
                wanted,
                is_volume: marked(&file) == Some(found),
            });
        }
    }
    Ok(Backing::File(Arc::new(file)))
}

/// Whether nothing was ever written to a file of `len` bytes.
fn is_hole(file: &File, len: u64) -> bool {
    file_extent(file, 0, len) == Extent::hole(len)
}

/// The size in the mark of a volume's file; `None`: it has none.
fn marked(file: &File) -> Option<Bytes> {
    let mut text = [0u8; 24];
    let len = fgetxattr(file, MARK, &mut text).ok()?;
    let text = std::str::from_utf8(&text[..len]).ok()?;
    text.parse().ok().map(Bytes)
}

/// Bytes of one kind, from an offset on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Nothing is stored there, and it reads as zeros.
    pub is_hole: bool,
    /// Bytes.
    pub len: u64,
}

impl Extent {
    pub(crate) const fn hole(len: u64) -> Self {
        Self { is_hole: true, len }
    }

    pub(crate) const fn data(len: u64) -> Self {
        Self {
            is_hole: false,
            len,
        }
    }
}

/// The bytes of one stripe.
#[derive(Debug)]
pub(crate) enum Bytestore {
    Memory(Memory),
    File { file: Arc<File>, size: u64 },
}

impl Bytestore {
    pub(crate) fn new(backing: &Backing, size: u64) -> Self {
        match backing {
            Backing::Memory(limit) => Self::Memory(Memory::new(limit)),
            Backing::File(file) => Self::File {
                file: Arc::clone(file),
                size,
            },
        }
    }

    /// Appends the bytes of a range within one group.
    pub(crate) fn read(&self, offset: u64, len: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Memory(memory) => memory.read(offset, len, into),
            Self::File { file, .. } => {
                let begin = into.len();
                into.resize(begin + len, 0);
                file.read_exact_at(&mut into[begin..], offset)?;
            }
        }
        Ok(())
    }

    /// Writes bytes within one group.
    pub(crate) fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Memory(memory) => memory.write(offset, from)?,
            Self::File { file, .. } => file.write_all_at(from, offset)?,
        }
        Ok(())
    }

    /// Makes a range zero and gives its room back.
    pub(crate) fn free(&mut self, offset: u64, len: u64) -> Result<(), Failure> {
        match self {
            Self::Memory(memory) => memory.free(offset, len),
            Self::File { file, .. } => punch(file, offset, len)?,
        }
        Ok(())
    }

    /// A page as it is; `None`: it was never written, which only memory knows.
    pub(crate) fn page(&self, number: u64) -> Result<Option<Page>, Failure> {
        match self {
            Self::Memory(memory) => Ok(memory.page(number).copied()),
            Self::File { file, size } => {
                let mut page = [0; PAGE];
                let offset = number * PAGE as u64;
                file.read_exact_at(&mut page[..page_len(offset, *size)], offset)?;
                Ok(Some(page))
            }
        }
    }

    /// Makes a page what it was before; `None`: it had never been written.
    pub(crate) fn restore(&mut self, number: u64, before: Before) -> Result<(), Failure> {
        let offset = number * PAGE as u64;
        match (self, before) {
            (Self::Memory(memory), Some(image)) => memory.restore(number, image),
            (Self::Memory(memory), None) => memory.free(offset, PAGE as u64),
            (Self::File { file, size }, before) => {
                let image = before.as_deref().unwrap_or(&ZERO_PAGE);
                file.write_all_at(&image[..page_len(offset, *size)], offset)?;
            }
        }
        Ok(())
    }

    /// The first extent of a range within one group.
    pub(crate) fn extent(&self, offset: u64, len: u64) -> Extent {
        match self {
            Self::Memory(memory) if memory.is_empty_group(offset) => Extent::hole(len),
            Self::Memory(memory) => {
                let page = offset / PAGE as u64;
                let is_hole = memory.page(page).is_none();
                let beyond = (offset + len).div_ceil(PAGE as u64);
                let end = (page + 1..beyond)
                    .find(|number| memory.page(*number).is_none() != is_hole)
                    .unwrap_or(beyond.max(page + 1));
                Extent {
                    is_hole,
                    len: (end * PAGE as u64 - offset).min(len),
                }
            }
            Self::File { file, .. } => file_extent(file, offset, len),
        }
    }
}

/// Bytes of the page at an offset: the last page of a volume of `size` can be shorter.
fn page_len(offset: u64, size: u64) -> usize {
    (size - offset).min(PAGE as u64) as usize
}

/// The first extent of a range of `len` bytes, at least one, as the file system reports it; one that has no
/// extents reports everything as data.
fn file_extent(file: &File, offset: u64, len: u64) -> Extent {
    // Every read and write names its offset, so moving the file's position changes nothing.
    match seek(file, SeekFrom::Data(offset)) {
        Ok(data) if data > offset => Extent::hole((data - offset).min(len)),
        Ok(_) => {
            let hole = seek(file, SeekFrom::Hole(offset)).unwrap_or(offset + len);
            // Never 0, also if the file changes between both seeks: callers go on behind the extent.
            Extent::data(hole.saturating_sub(offset).clamp(1, len))
        }
        // No data at or after the offset.
        Err(Errno::NXIO) => Extent::hole(len),
        // What is not known to be a hole may hold data.
        Err(_) => Extent::data(len),
    }
}

/// Frees a range of a file, which then reads as zeros.
fn punch(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    if fallocate(file, mode, offset, len).is_ok() {
        return Ok(());
    }
    // On a file system without holes, zeros are as good.
    let zeros = vec![0; (GROUP as usize).min(len as usize)];
    let mut at = offset;
    while at < offset + len {
        let piece = zeros.len().min((offset + len - at) as usize);
        file.write_all_at(&zeros[..piece], at)?;
        at += piece as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_other_content_is_refused_and_stays_read_only_advice() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("holiday.mp4");
        std::fs::write(&path, b"precious").expect("a file");
        let refused = open_file(&path, Bytes(8), false).expect_err("no mark");
        assert!(matches!(refused, FileError::Other { .. }), "{refused}");
        assert!(
            !refused.to_string().contains("--size"),
            "less than a sector"
        );
        assert_eq!(std::fs::read(&path).expect("there"), b"precious");
        open_file(&path, Bytes(8), true).expect("reading harms nothing");
        let short = open_file(&path, Bytes(9), true).expect_err("too small");
        assert!(matches!(short, FileError::Short { .. }), "{short}");
    }

    #[test]
    fn our_own_file_is_found_again_in_its_size_only() {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let path = folder.path().join("volume");
        let first = open_file(&path, Bytes(1 << 20), false).expect("made");
        let second = open_file(&path, Bytes(1 << 20), false).expect_err("in use");
        assert!(matches!(second, FileError::InUse(_)), "{second}");
        drop(first);
        std::fs::write(&path, vec![1; 1 << 20]).expect("data");
        let marked = marked(&File::open(&path).expect("there"));
        if marked.is_some() {
            open_file(&path, Bytes(1 << 20), false).expect("ours");
        }
        let other = open_file(&path, Bytes(2 << 20), false).expect_err("another size");
        // A volume was to be served for reading only, though its own size would do.
        let advice = if marked.is_some() {
            "with --size 1048576"
        } else {
            "--read-only --size 1048576"
        };
        assert!(other.to_string().contains(advice), "{other}");
    }

    /// A start that was refused later, for a socket in use, left its new file behind, which then
    /// could back no volume of another size.
    #[test]
    fn a_file_of_ours_without_data_takes_another_size() {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let path = folder.path().join("volume");
        open_file(&path, Bytes(1 << 20), false).expect("made");
        let file = File::open(&path).expect("there");
        if marked(&file).is_some() && is_hole(&file, 1 << 20) {
            open_file(&path, Bytes(3 << 20), false).expect("nothing is lost");
            assert_eq!(file.metadata().expect("facts").len(), 3 << 20);
        }
    }

    /// `--read-only --backing` with a pipe waited for a writer, deaf to signals.
    #[test]
    fn a_pipe_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("a pipe");
        let (done, refused) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(open_file(&path, Bytes(512), true)));
        let patience = std::time::Duration::from_secs(60);
        let refused = refused.recv_timeout(patience).expect("it does not wait");
        assert!(matches!(refused, Err(FileError::NoFile(_))), "{refused:?}");
    }
}
