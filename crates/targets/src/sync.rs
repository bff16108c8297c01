use std::os::fd::AsRawFd;

use blocklab_workload::Direction;

use super::flush::{errno, flush_file};
use super::inline::CarryOut;
use super::{OpenFile, trim};
use crate::buffers::BufferAddresses;
use blocklab_workload::Io;

/// Which call moves the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// lseek, then read or write.
    Seek,
    /// pread, pwrite.
    Positioned,
    /// preadv2, pwritev2 with these RWF flags.
    Vectored(i32),
    /// preadv, pwritev.
    PlainVectored,
    /// lseek, then readv or writev.
    SeekVectored,
}

/// The synchronous family: an operation is carried out in the submitting call.
pub struct SyncCall {
    call: Call,
    files: Vec<OpenFile>,
    buffers: BufferAddresses,
}

impl SyncCall {
    /// System calls of one kind on these files.
    pub fn new(call: Call, files: Vec<OpenFile>, buffers: BufferAddresses) -> Self {
        Self {
            call,
            files,
            buffers,
        }
    }
}

impl CarryOut for SyncCall {
    #[inline]
    fn carry_out(&self, io: &Io) -> i32 {
        let file = &self.files[io.file as usize];
        let fd = file.file.as_raw_fd();
        match io.direction {
            Direction::Read | Direction::Write => {
                let buffer = self.buffers.of(io.slot.index());
                transfer(self.call, fd, io, buffer)
            }
            Direction::Trim => trim::trim(file, io.offset, io.len),
            Direction::Sync => flush_file(fd, io.sync),
        }
    }
}

#[inline]
fn transfer(call: Call, fd: i32, io: &Io, buffer: *mut u8) -> i32 {
    loop {
        let result = attempt(call, fd, io, buffer);
        if result != -libc::EINTR {
            return result;
        }
    }
}

#[inline]
fn attempt(call: Call, fd: i32, io: &Io, buffer: *mut u8) -> i32 {
    let (len, offset) = (io.len as usize, io.offset as libc::off_t);
    let reads = io.direction == Direction::Read;
    let data = buffer.cast::<libc::c_void>();
    let piece = libc::iovec {
        iov_base: data,
        iov_len: len,
    };
    let piece = &raw const piece;
    // SAFETY: `data` points to at least `len` bytes that only this thread uses during the call.
    let moved = unsafe {
        match call {
            Call::Positioned if reads => libc::pread(fd, data, len, offset),
            Call::Positioned => libc::pwrite(fd, data, len, offset),
            Call::PlainVectored if reads => libc::preadv(fd, piece, 1, offset),
            Call::PlainVectored => libc::pwritev(fd, piece, 1, offset),
            Call::SeekVectored => {
                if libc::lseek(fd, offset, libc::SEEK_SET) < 0 {
                    -1
                } else if reads {
                    libc::readv(fd, piece, 1)
                } else {
                    libc::writev(fd, piece, 1)
                }
            }
            Call::Vectored(flags) => {
                if reads {
                    libc::preadv2(fd, piece, 1, offset, flags)
                } else {
                    libc::pwritev2(fd, piece, 1, offset, flags)
                }
            }
            Call::Seek => {
                if libc::lseek(fd, offset, libc::SEEK_SET) < 0 {
                    -1
                } else if reads {
                    libc::read(fd, data, len)
                } else {
                    libc::write(fd, data, len)
                }
            }
        }
    };
    if moved < 0 { -errno() } else { moved as i32 }
}
