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
use crate::sample::sample_file;
use crate::signatures::probe;

/// What speaks against overwriting the content of a file that is not ours.
///
/// A file is empty when its size is 0, or when it is one large hole: no blocks, and no data that
/// the file system would find. Either test alone can be fooled, by data kept in the inode or by
/// data that was not yet given a place.
pub(super) fn content(handle: &Handle, metadata: &Metadata) -> Option<Cause> {
    let size = metadata.len();
    let hole = || metadata.blocks() == 0 && read(handle).is_ok_and(|file| is_hole(&file));
    if size == 0 || hole() {
        return None;
    }
    Some(match is_marked(handle) {
        true => Cause::Changed(Bytes(size)),
        false => Cause::Content(Bytes(size)),
    })
}

fn read(handle: &Handle) -> io::Result<File> {
    handle.reopen(File::options().read(true))
}

/// The extended attribute of a file that blocklab made. It holds the size of the file and the
/// digest of its samples, as the last run left it. A copy does not carry it, unless its maker asks
/// for that.
const OURS: &CStr = c"user.blocklab";

/// Marks a file that was made here, as it is now: a later run may overwrite it. Says nothing where
/// the file system keeps no such marks; the file then counts as anybody's.
pub fn mark(handle: &Handle) {
    let text = read(handle).and_then(|file| marking(&file));
    let (Ok(text), Some(path)) = (text, c_path(&handle.reopen_path())) else {
        return;
    };
    // SAFETY: both names end in a zero byte, and the value is as long as is said.
    unsafe {
        libc::setxattr(
            path.as_ptr(),
            OURS.as_ptr(),
            text.as_ptr().cast(),
            text.len(),
            0,
        )
    };
}

fn marking(file: &File) -> io::Result<String> {
    let size = file.metadata()?.len();
    Ok(format!("{size} {}", sample_file(file)?.digest))
}

/// Whether it was made here and is as the last run left it. Somebody may have copied his own over
/// it, which keeps the mark: the size or the samples show that, and so does anything that is
/// recognised where no sample is taken.
pub(super) fn is_ours(handle: &Handle, metadata: &Metadata) -> bool {
    let Some(marked) = marked(handle) else {
        return false;
    };
    let as_left = || {
        let file = read(handle)?;
        let found = probe(
            |offset, buffer| file.read_exact_at(buffer, offset),
            metadata.len(),
        )?;
        Ok::<_, io::Error>(found.is_empty() && marking(&file)? == marked)
    };
    as_left().unwrap_or(false)
}

/// Whether it was made here, whatever it holds now.
pub(super) fn is_marked(handle: &Handle) -> bool {
    marked(handle).is_some()
}

pub(super) fn marked(handle: &Handle) -> Option<String> {
    let path = c_path(&handle.reopen_path())?;
    let mut text = [0; 128];
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
    Some(std::str::from_utf8(text).ok()?.to_owned())
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

pub(super) fn is_hole(file: &File) -> bool {
    // SAFETY: the descriptor is open as long as `file` lives, and the call only asks for a place.
    let place = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_DATA) };
    place == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO)
}
