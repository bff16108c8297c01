//! The engines that change the space and the names of files: falloc, ftruncate, create, stat, delete.

use std::cell::RefCell;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use blocklab_workload::{Direction, Io};
use rustix::fs::{self, FallocateFlags, Mode, OFlags, fallocate, ftruncate};
use rustix::io::Errno;

use crate::OpenFile;
use crate::flush_trim::{flush_file, result, trim};
use crate::inline::CarryOut;

/// Operations on the space of files instead of their data.
pub enum SpaceCall {
    /// fallocate: a read keeps the size of the file, a write may extend it, a trim frees.
    Allocate,
    /// ftruncate to the offset of each write.
    Truncate,
}

impl CarryOut for SpaceCall {
    fn carry_out(&self, io: &Io, files: &[OpenFile]) -> i32 {
        let file = &files[io.file as usize];
        let (offset, len) = (io.offset, u64::from(io.len));
        let done = match (self, io.direction) {
            (_, Direction::Sync) => return flush_file(&file.file, io),
            (Self::Truncate, Direction::Write) => ftruncate(&file.file, io.offset),
            (Self::Truncate, _) => Err(Errno::INVAL),
            (Self::Allocate, Direction::Trim) => return trim(file, io.offset, io.len),
            (Self::Allocate, Direction::Read) => {
                fallocate(&file.file, FallocateFlags::KEEP_SIZE, offset, len)
            }
            (Self::Allocate, Direction::Write) => {
                fallocate(&file.file, FallocateFlags::empty(), offset, len)
            }
        };
        result(done.map(|()| io.len))
    }
}

/// An operation on the name of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOperation {
    /// Makes the file.
    Create,
    /// Asks for its facts.
    Stat,
    /// Removes it.
    Delete,
    /// Makes a directory.
    CreateDirectory,
    /// Removes it, where it is empty.
    DeleteDirectory,
}

/// Operations on names: each is a call with the path of its file, whatever its offset.
pub struct NamesCall {
    call: NameOperation,
    paths: Vec<CString>,
    /// The files that were made or removed: an operation on a later block has nothing left to do.
    done: RefCell<Vec<bool>>,
}

impl NamesCall {
    /// # Errors
    /// When a path holds a zero byte.
    pub fn new<'a>(call: NameOperation, paths: impl Iterator<Item = &'a Path>) -> io::Result<Self> {
        let paths = paths
            .map(|path| CString::new(path.as_os_str().as_bytes()))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            call,
            done: RefCell::new(vec![false; paths.len()]),
            paths,
        })
    }
}

impl CarryOut for NamesCall {
    fn carry_out(&self, io: &Io, _: &[OpenFile]) -> i32 {
        let index = io.file as usize;
        // A second call of these fails, as the name is there or gone by the first. A pass has an operation
        // for each block of a file, and the first of them has done it.
        let is_once = !matches!(self.call, NameOperation::Create | NameOperation::Stat);
        if is_once && self.done.borrow()[index] {
            return io.len as i32;
        }
        let path = &self.paths[index];
        let done = match self.call {
            NameOperation::Create => {
                // A link that leads nowhere must not become a file somewhere else.
                let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                fs::open(path, flags, Mode::from(0o644)).map(drop)
            }
            NameOperation::Stat => fs::stat(path).map(drop),
            NameOperation::Delete => fs::unlink(path),
            NameOperation::CreateDirectory => fs::mkdir(path, Mode::from(0o755)),
            NameOperation::DeleteDirectory => fs::rmdir(path),
        };
        self.done.borrow_mut()[index] |= done.is_ok();
        result(done.map(|()| io.len))
    }
}
