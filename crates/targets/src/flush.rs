//! Flushing a file, and why a call failed.

use std::io;

use blocklab_workload::SyncKind;

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
