use std::ffi::{CStr, CString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use blocklab_units::Bytes;

use crate::handle::Handle;
use crate::reason::Cause;
use crate::signatures::probe;

/// What speaks against overwriting the content of a file.
///
/// A file is empty when its size is 0, or when it is one large hole: no blocks, and no data that
/// the file system would find. Either test alone can be fooled, by data kept in the inode or by
/// data that was not yet given a place.
pub(super) fn content(handle: &Handle, metadata: &Metadata) -> Option<Cause> {
    let size = metadata.len();
    let hole = || metadata.blocks() == 0 && read(handle).is_ok_and(|file| is_hole(&file));
    (size > 0 && !hole() && !is_ours(handle, size)).then_some(Cause::Content(Bytes(size)))
}

fn read(handle: &Handle) -> io::Result<File> {
    handle.reopen(File::options().read(true))
}

/// The extended attribute of a file that blocklab made; it holds the size that the file was given.
/// A copy does not carry it, unless its maker asks for that.
const OURS: &CStr = c"user.blocklab";

/// Marks a file that was made here, and has its size: a later run may overwrite it. Says nothing
/// where the file system keeps no such marks; the file then counts as anybody's.
pub fn mark(handle: &Handle) {
    let size = handle.metadata().map(|metadata| metadata.len().to_string());
    let (Ok(size), Some(path)) = (size, c_path(&handle.reopen_path())) else {
        return;
    };
    // SAFETY: both names end in a zero byte, and the value is as long as is said.
    unsafe {
        libc::setxattr(
            path.as_ptr(),
            OURS.as_ptr(),
            size.as_ptr().cast(),
            size.len(),
            0,
        )
    };
}

/// Whether it was made here and still holds nobody's data. Somebody may have copied his own over
/// it, which keeps the mark: another size shows that, and so does anything that is recognised.
fn is_ours(handle: &Handle, size: u64) -> bool {
    let recognised = || {
        let file = read(handle)?;
        probe(|offset, buffer| file.read_exact_at(buffer, offset), size)
    };
    marked_size(handle) == Some(size) && recognised().is_ok_and(|found| found.is_empty())
}

pub(super) fn marked_size(handle: &Handle) -> Option<u64> {
    let path = c_path(&handle.reopen_path())?;
    let mut text = [0; 20];
    // SAFETY: both names end in a zero byte, and the buffer is as long as is said.
    let len = unsafe {
        libc::getxattr(
            path.as_ptr(),
            OURS.as_ptr(),
            text.as_mut_ptr().cast(),
            text.len(),
        )
    };
    let text = text.get(..usize::try_from(len).ok()?)?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

pub(super) fn is_hole(file: &File) -> bool {
    // SAFETY: the descriptor is open as long as `file` lives, and the call only asks for a place.
    let place = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_DATA) };
    place == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO)
}
