//! Files that blocklab made itself: how they are marked, and whether one is still as it was left.

use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use blocklab_units::Bytes;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use crate::claim;
use crate::handle::Handle;
use crate::reason::Cause;
use crate::sample::sample_file;
use crate::signatures::probe;
use crate::xattr::{set_xattr, xattr};

/// The reason against overwriting the content of a file that is not ours.
///
/// A file is empty when its size is 0, or when it is one large hole: no blocks, and no data that
/// the file system would find. Either test alone can be fooled, by data kept in the inode or by
/// data that was not yet given a place.
pub(super) fn content(handle: &Handle, metadata: &Metadata) -> Option<Cause> {
    let size = metadata.len();
    if size == 0 || metadata.blocks() == 0 && read(handle).is_ok_and(|file| is_hole(&file)) {
        return None;
    }
    Some(if is_marked(handle) {
        Cause::Changed(Bytes(size))
    } else {
        Cause::Content(Bytes(size))
    })
}

/// Whether another program has locked it for itself.
pub(super) fn is_locked(handle: &Handle) -> bool {
    read(handle).is_ok_and(|file| claim::is_locked(&file))
}

pub(super) fn read(handle: &Handle) -> io::Result<File> {
    handle.reopen(File::options().read(true))
}

/// The extended attribute of a file that blocklab made. It holds the size of the file and the
/// digest of its samples, as the last run left it. A copy does not carry it, unless it is
/// requested.
const OURS: &CStr = c"user.blocklab";

/// Marks a file that was made here, as it is now: a later run may overwrite it. Where the file
/// system keeps no such marks, the file counts as anybody's.
pub fn mark(handle: &Handle) {
    if let Ok(text) = read(handle).and_then(|file| marking(&file)) {
        set_xattr(&handle.reopen_path(), OURS, &text);
    }
}

fn marking(file: &File) -> io::Result<String> {
    let size = file.metadata()?.len();
    Ok(format!("{size} {}", sample_file(file)?.digest))
}

/// Whether it was made here and is as the last run left it. Somebody may have copied his own over
/// it, which keeps the mark: the size or the samples show that, and so does anything that is
/// recognised where no sample is taken.
pub(super) fn is_ours(handle: &Handle, metadata: &Metadata) -> bool {
    marked(handle).is_some_and(|marked| is_as_left(handle, metadata, marked).unwrap_or(false))
}

fn is_as_left(handle: &Handle, metadata: &Metadata, marked: String) -> io::Result<bool> {
    let file = read(handle)?;
    let found = probe(
        |offset, buffer| file.read_exact_at(buffer, offset),
        metadata.len(),
    )?;
    Ok(found.is_empty() && marking(&file)? == marked)
}

/// Whether it was made here, regardless of its content now.
pub(super) fn is_marked(handle: &Handle) -> bool {
    marked(handle).is_some()
}

pub(super) fn marked(handle: &Handle) -> Option<String> {
    xattr(&handle.reopen_path(), OURS)
}

pub(super) fn is_hole(file: &File) -> bool {
    seek(file, SeekFrom::Data(0)) == Err(Errno::NXIO)
}
