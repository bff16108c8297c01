use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use blocklab_units::Bytes;

/// What `statx` reports, most of it in addition to `stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extra {
    /// The mount that the path lies on, as numbered in mountinfo (Linux 5.8 and later).
    pub(crate) mount_id: Option<u64>,
    /// Alignment of memory and of offsets for O_DIRECT, 0 where it is refused; nothing where
    /// the kernel (before 6.1) or the file system does not report it.
    pub(crate) direct: Option<(u32, u32)>,
    /// Its length; 0 where there is no mount either.
    pub(crate) size: Bytes,
}

/// Asks for the mount and the O_DIRECT alignment of what `path` leads to.
///
/// # Errors
/// As `stat`.
pub(crate) fn extra(path: &Path) -> io::Result<Extra> {
    statx(libc::AT_FDCWD, &c_path(path)?, 0)
}

/// The same of an open file, without the way through its path.
///
/// # Errors
/// As `fstat`.
pub(crate) fn extra_of(file: &File) -> io::Result<Extra> {
    statx(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH)
}

fn statx(directory: RawFd, path: &CStr, flags: i32) -> io::Result<Extra> {
    let mut found = MaybeUninit::<libc::statx>::zeroed();
    let mask = libc::STATX_SIZE | libc::STATX_MNT_ID | libc::STATX_DIOALIGN;
    // SAFETY: the path ends in a zero byte, the result has the size that the call fills, and both
    // live until it returns.
    let status = unsafe { libc::statx(directory, path.as_ptr(), flags, mask, found.as_mut_ptr()) };
    if status != 0 {
        let error = io::Error::last_os_error();
        // The call itself never answers so: a container's filter does, in place of the kernel.
        return match error.raw_os_error() {
            Some(libc::ENOSYS | libc::EPERM) => Ok(Extra::default()),
            _ => Err(error),
        };
    }
    // SAFETY: zeroed before the call, and every bit pattern is a valid value of these integers.
    let found = unsafe { found.assume_init() };
    let has = |bit| found.stx_mask & bit != 0;
    let direct = (found.stx_dio_mem_align, found.stx_dio_offset_align);
    Ok(Extra {
        mount_id: has(libc::STATX_MNT_ID).then_some(found.stx_mnt_id),
        direct: has(libc::STATX_DIOALIGN).then_some(direct),
        size: Bytes(found.stx_size),
    })
}

/// Capacity of the file system at `path`, and what this user may still use of it.
///
/// # Errors
/// As `statvfs`.
pub(crate) fn space(path: &Path) -> io::Result<(Bytes, Bytes)> {
    let path = c_path(path)?;
    let mut found = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends in a zero byte, the result has the size that the call fills, and both
    // live until it returns.
    if unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed before the call, and every bit pattern is a valid value of these integers.
    let found = unsafe { found.assume_init() };
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(found.f_frsize));
    Ok((bytes(found.f_blocks), bytes(found.f_bavail)))
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the path holds a zero byte"))
}
