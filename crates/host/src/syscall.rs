//! The calls to the kernel that the standard library does not have: `statx` and `statvfs`.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use blocklab_units::Bytes;
use rustix::fs::{AtFlags, CWD, StatxFlags};
use rustix::io::Errno;

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
    statx(CWD, path, AtFlags::empty())
}

/// The same facts of an open file, without a look-up of its path.
///
/// # Errors
/// As `fstat`.
pub(crate) fn extra_of(file: &File) -> io::Result<Extra> {
    statx(file, Path::new(""), AtFlags::EMPTY_PATH)
}

/// Asks for what `stat` does not have. A kernel that does not know the call gives nothing.
fn statx(directory: impl AsFd, path: &Path, flags: AtFlags) -> io::Result<Extra> {
    let mask = StatxFlags::SIZE | StatxFlags::MNT_ID | StatxFlags::DIOALIGN;
    let found = match rustix::fs::statx(directory, path, flags, mask) {
        // An old kernel, or a container's filter that answers in place of the kernel.
        Err(Errno::NOSYS) => return Ok(Extra::default()),
        found => found?,
    };
    let reported = StatxFlags::from_bits_retain(found.stx_mask);
    let direct = (found.stx_dio_mem_align, found.stx_dio_offset_align);
    Ok(Extra {
        mount_id: reported
            .contains(StatxFlags::MNT_ID)
            .then_some(found.stx_mnt_id),
        direct: reported.contains(StatxFlags::DIOALIGN).then_some(direct),
        size: Bytes(found.stx_size),
    })
}

/// Capacity of the file system at `path`, and what this user may still use of it.
///
/// # Errors
/// As `statvfs`.
pub(crate) fn space(path: &Path) -> io::Result<(Bytes, Bytes)> {
    let found = rustix::fs::statvfs(path)?;
    Ok((
        Bytes(found.f_blocks.saturating_mul(found.f_frsize)),
        Bytes(found.f_bavail.saturating_mul(found.f_frsize)),
    ))
}
