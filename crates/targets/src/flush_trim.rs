//! Flushes, trims and the error number of a failed call.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use blocklab_workload::{Direction, Io, SyncKind};
use rustix::fs::{FallocateFlags, fallocate, fdatasync, fsync};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl};

use super::OpenFile;

/// Carries out an operation that asynchronous engines have no form of, and returns its result; `None`
/// for all others, which are left alone.
#[inline]
pub(super) fn carry_out_inline(io: &Io, files: &[OpenFile]) -> Option<i32> {
    let file = &files[io.file as usize];
    match (io.direction, io.sync) {
        (Direction::Trim, _) => Some(trim(file, io.offset, io.len)),
        (Direction::Sync, SyncKind::Range(_)) => Some(flush_file(&file.file, io)),
        _ => None,
    }
}

/// Gives a range back to the device or the file system. Returns `len` or a negated errno.
///
/// Block devices get BLKDISCARD, files a punched hole. Neither has an asynchronous form that every
/// kernel offers, so all engines trim in the submitting call.
pub(super) fn trim(file: &OpenFile, offset: u64, len: u32) -> i32 {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let done = if file.is_block {
        discard(&file.file, offset, len)
    } else {
        fallocate(&file.file, hole, offset, u64::from(len))
    };
    result(done.map(|()| len))
}

/// Discards a range of a block device.
///
/// On a claimed device, the kernel drops the cached pages of the range only where they are clean:
/// dirty ones make it return EBUSY. They are written then, and the call is repeated. With
/// direct access no page is cached.
fn discard(file: &File, offset: u64, len: u32) -> Result<(), Errno> {
    match discard_once(file, offset, len) {
        Err(Errno::BUSY) => {
            let how = libc::SYNC_FILE_RANGE_WAIT_BEFORE
                | libc::SYNC_FILE_RANGE_WRITE
                | libc::SYNC_FILE_RANGE_WAIT_AFTER;
            sync_range(file, offset, len, how)?;
            discard_once(file, offset, len)
        }
        done => done,
    }
}

fn discard_once(file: &File, offset: u64, len: u32) -> Result<(), Errno> {
    let range = [offset, u64::from(len)];
    // SAFETY: BLKDISCARD reads two 64-bit numbers from the pointer.
    unsafe { ioctl(file, Setter::<BLKDISCARD, _>::new(range)) }
}

/// `_IO(0x12, 119)` of linux/fs.h.
const BLKDISCARD: Opcode = 0x1277;

/// Flushes a file as the operation says. Returns 0 or a negated errno.
pub(super) fn flush_file(file: &File, io: &Io) -> i32 {
    let done = match io.sync {
        SyncKind::Whole => fsync(file),
        SyncKind::DataOnly => fdatasync(file),
        SyncKind::Range(flags) => sync_range(file, io.offset, io.len, flags),
    };
    result(done.map(|()| 0))
}

fn sync_range(file: &File, offset: u64, len: u32, flags: u32) -> Result<(), Errno> {
    let (fd, offset) = (file.as_raw_fd(), offset as libc::off64_t);
    // SAFETY: no memory is passed.
    match unsafe { libc::sync_file_range(fd, offset, len.into(), flags) } {
        0 => Ok(()),
        _ => Err(Errno::from_raw_os_error(errno())),
    }
}

/// How many bytes were done, or a negated errno, as the asynchronous engines report it.
pub(super) fn result(done: Result<u32, Errno>) -> i32 {
    match done {
        Ok(len) => len as i32,
        Err(error) => -error.raw_os_error(),
    }
}

/// errno of the last failed call of this thread.
pub(super) fn errno() -> i32 {
    io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}
