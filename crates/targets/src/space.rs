use std::cell::RefCell;
use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use blocklab_workload::{Direction, Io};

use crate::OpenFile;
use crate::flush_trim::{errno, flush_file, trim};
use crate::inline::CarryOut;

/// Operations on the space of files instead of their data.
pub struct SpaceCall {
    files: Vec<OpenFile>,
    /// ftruncate to the offset of each write; otherwise fallocate.
    truncates: bool,
}

impl SpaceCall {
    /// Allocates and frees space in these files; `truncates` sets their length instead.
    pub const fn new(files: Vec<OpenFile>, truncates: bool) -> Self {
        Self { files, truncates }
    }
}

impl CarryOut for SpaceCall {
    fn carry_out(&self, io: &Io) -> i32 {
        let file = &self.files[io.file as usize];
        let fd = file.file.as_raw_fd();
        let (offset, len) = (io.offset as libc::off_t, libc::off_t::from(io.len));
        // SAFETY: no memory is passed.
        let result = unsafe {
            match (self.truncates, io.direction) {
                (_, Direction::Sync) => return flush_file(fd, io.sync),
                (true, Direction::Write) => libc::ftruncate(fd, offset),
                (true, _) => return -libc::EINVAL,
                (false, Direction::Trim) => return trim(file, io.offset, io.len),
                // Space without a change of the file's size, and with it.
                (false, Direction::Read) => {
                    libc::fallocate(fd, libc::FALLOC_FL_KEEP_SIZE, offset, len)
                }
                (false, Direction::Write) => libc::fallocate(fd, 0, offset, len),
            }
        };
        if result == 0 { io.len as i32 } else { -errno() }
    }
}

/// What is done with the names of files and directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameCall {
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

/// Operations on names: each is one on the file that the order gives.
pub struct NamesCall {
    call: NameCall,
    paths: Vec<CString>,
    /// Those that were made or removed: an operation on a later block has nothing left to do.
    done: RefCell<Vec<bool>>,
}

impl NamesCall {
    /// # Errors
    /// When a path holds a zero byte.
    pub fn new<'a>(call: NameCall, paths: impl Iterator<Item = &'a Path>) -> io::Result<Self> {
        let paths = paths.map(|path| CString::new(path.as_os_str().as_bytes()));
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            call,
            done: RefCell::new(vec![false; paths.len()]),
            paths,
        })
    }
}

impl CarryOut for NamesCall {
    fn carry_out(&self, io: &Io) -> i32 {
        let index = io.file as usize;
        let once = !matches!(self.call, NameCall::Create | NameCall::Stat);
        if once && self.done.borrow()[index] {
            return io.len as i32;
        }
        let path = self.paths[index].as_ptr();
        // SAFETY: the path ends with a zero byte; the structure is filled by the kernel; the file
        // number is closed once.
        let result = unsafe {
            match self.call {
                NameCall::Create => {
                    // A link that leads nowhere must not become a file somewhere else.
                    let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW;
                    match libc::open(path, flags, 0o644) {
                        -1 => -1,
                        fd => libc::close(fd),
                    }
                }
                NameCall::Stat => {
                    let mut facts: libc::stat = std::mem::zeroed();
                    libc::stat(path, &raw mut facts)
                }
                NameCall::Delete => libc::unlink(path),
                NameCall::CreateDirectory => libc::mkdir(path, 0o755),
                NameCall::DeleteDirectory => libc::rmdir(path),
            }
        };
        if result != 0 {
            return -errno();
        }
        self.done.borrow_mut()[index] = true;
        io.len as i32
    }
}
