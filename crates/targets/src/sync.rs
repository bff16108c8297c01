//! The engines that move data by one system call an operation: sync, psync, vsync, pvsync.

use std::os::fd::AsRawFd;

use blocklab_workload::{Direction, Io};

use crate::OpenFile;
use crate::buffers::BufferAddresses;
use crate::flush_trim::{errno, flush_file, trim};
use crate::inline::CarryOut;

/// Which call moves the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// lseek, then read or write.
    Seek,
    /// pread, pwrite.
    Positioned,
    /// preadv2, pwritev2, each with these RWF flags.
    Vectored([i32; 2]),
    /// preadv, pwritev.
    PlainVectored,
    /// lseek, then readv or writev.
    SeekVectored,
}

/// The synchronous family: an operation is carried out in the submitting call.
pub struct SyncCall {
    call: Call,
    buffers: BufferAddresses,
}

impl SyncCall {
    /// System calls of one kind.
    pub const fn new(call: Call, buffers: BufferAddresses) -> Self {
        Self { call, buffers }
    }
}

impl CarryOut for SyncCall {
    #[inline]
    fn carry_out(&self, io: &Io, files: &[OpenFile]) -> i32 {
        let file = &files[io.file as usize];
        let fd = file.file.as_raw_fd();
        match io.direction {
            Direction::Read | Direction::Write => {
                let buffer = self.buffers.start_of(io.slot.index());
                transfer(self.call, fd, io, buffer)
            }
            Direction::Trim => trim(file, io.offset, io.len),
            Direction::Sync => flush_file(&file.file, io),
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

/// Makes one system call; returns the bytes that it moved, or a negated errno.
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
    let seeks = matches!(call, Call::Seek | Call::SeekVectored);
    // SAFETY: `data` points to at least `len` bytes that only this thread uses during the call.
    let moved = unsafe {
        match (call, reads) {
            _ if seeks && libc::lseek(fd, offset, libc::SEEK_SET) < 0 => -1,
            (Call::Seek, true) => libc::read(fd, data, len),
            (Call::Seek, false) => libc::write(fd, data, len),
            (Call::SeekVectored, true) => libc::readv(fd, piece, 1),
            (Call::SeekVectored, false) => libc::writev(fd, piece, 1),
            (Call::Positioned, true) => libc::pread(fd, data, len, offset),
            (Call::Positioned, false) => libc::pwrite(fd, data, len, offset),
            (Call::PlainVectored, true) => libc::preadv(fd, piece, 1, offset),
            (Call::PlainVectored, false) => libc::pwritev(fd, piece, 1, offset),
            (Call::Vectored([flags, _]), true) => libc::preadv2(fd, piece, 1, offset, flags),
            (Call::Vectored([_, flags]), false) => libc::pwritev2(fd, piece, 1, offset, flags),
        }
    };
    if moved < 0 { -errno() } else { moved as i32 }
}
