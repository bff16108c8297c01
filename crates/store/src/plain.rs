//! In: the path of a file of the store. Out: the file, if it is a regular one.
//!
//! A file of its own: a store may be a copy of somebody else's, or damaged. A pipe in the place of a
//! record would block its reader for ever, and a device has no end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file to read it. A link is followed.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Without this flag, opening a pipe waits for somebody who writes to it.
    options
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    let why = if kind.is_dir() {
        "it is a directory, and a regular file is expected there"
    } else {
        "it is a pipe or a device, and a regular file is expected there"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// The text of a file of the store, if it is a regular file.
///
/// # Errors
/// As [`std::fs::read_to_string`]; `InvalidInput` when it is a pipe, a device or a directory, which
/// are not waited for.
pub fn read_plain(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: with a pipe as its `record.json`, one folder made `list` wait for ever, and `show`,
    /// `rm` and `note` of any run with it.
    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).expect("made");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("made");
        for (path, expected) in [
            (pipe.as_path(), "a pipe or a device"),
            (link.as_path(), "a pipe or a device"),
            (folder.path(), "a directory"),
        ] {
            let why = read_plain(path).expect_err("refused").to_string();
            assert!(why.contains(expected), "{}: {why}", path.display());
        }
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "text").expect("written");
        assert_eq!(read_plain(&plain).ok().as_deref(), Some("text"));
    }
}
