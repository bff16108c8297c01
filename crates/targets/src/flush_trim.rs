//! Flushes, trims and the error number of a failed call.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use blocklab_workload::{Direction, Io, SyncKind};

use super::OpenFile;

/// The result of an operation that asynchronous engines have no form of; `None` of the others.
#[inline]
pub(super) fn at_once(io: &Io, files: &[OpenFile]) -> Option<i32> {
    let file = &files[io.file as usize];
    match (io.direction, io.sync) {
        (Direction::Trim, _) => Some(trim(file, io.offset, io.len)),
        (Direction::Sync, SyncKind::Range(_)) => Some(flush_file(file.file.as_raw_fd(), io.sync)),
        _ => None,
    }
}

/// Gives a range back to the device or the file system. Returns `len` or a negated errno.
///
/// Block devices get BLKDISCARD, files a punched hole. Neither has an asynchronous form that every
/// kernel offers, so all engines trim in the submitting call.
pub(super) fn trim(file: &OpenFile, offset: u64, len: u32) -> i32 {
    let fd = file.file.as_raw_fd();
    let result = if file.is_block {
        discard(fd, offset, len)
    } else {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: no memory is passed.
        unsafe { libc::fallocate(fd, mode, offset as libc::off_t, libc::off_t::from(len)) }
    };
    if result == 0 { len as i32 } else { -errno() }
}

/// Discards a range of a block device.
///
/// On a claimed device, the kernel drops the cached pages of the range only where they are clean:
/// dirty ones make it return EBUSY. They are written then, and the call is repeated. With
/// direct access no page is cached.
fn discard(fd: RawFd, offset: u64, len: u32) -> libc::c_int {
    let range = [offset, u64::from(len)];
    // SAFETY: BLKDISCARD reads two 64-bit numbers from the pointer.
    let discard = || unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) };
    let result = discard();
    if result == 0 || errno() != libc::EBUSY {
        return result;
    }
    let how = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: no memory is passed.
    let written = unsafe { libc::sync_file_range(fd, offset as i64, i64::from(len), how) };
    match written {
        0 => discard(),
        failed => failed,
    }
}

/// `_IO(0x12, 119)` of linux/fs.h.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// 0 or a negated errno.
pub(super) fn flush_file(fd: i32, kind: SyncKind) -> i32 {
    // SAFETY: no memory is passed.
    let result = unsafe {
        match kind {
            SyncKind::Whole => libc::fsync(fd),
            SyncKind::DataOnly => libc::fdatasync(fd),
            SyncKind::Range(flags) => libc::sync_file_range(fd, 0, 0, flags),
        }
    };
    if result == 0 { 0 } else { -errno() }
}

/// errno of the last failed call of this thread.
pub(super) fn errno() -> i32 {
    io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}
