//! In: a folder of the store. Out: whether it may be removed, and its removal.
//!
//! A file of its own: only what blocklab made is removed, and the check and the act are two steps.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use crate::folder::{PAGES, RECORD, flush};
use crate::note::{NOTE, TAGS};
use crate::spool::{FRESH_SPOOL, SPOOL};

/// A folder of the store that is to be removed, as it was when it was looked at.
///
/// Looking and removing are two steps, so that a command can look at all that it was given before
/// it removes any of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
    /// The files of the run, in the order of their removal.
    files: Vec<&'static str>,
    /// What else is in the folder.
    stays: Vec<OsString>,
}

/// The files of a run, in the order in which they are removed. The record or the spool is last: until then
/// the folder is a run, and the same command can remove it again.
const ORDER: [&str; 9] = [
    PAGES[0],
    PAGES[1],
    NOTE.name,
    NOTE.fresh,
    TAGS.name,
    TAGS.fresh,
    FRESH_SPOOL,
    SPOOL,
    RECORD,
];

impl Removal {
    /// Looks at the folder of a run; `None` where it is a link, or holds no run.
    pub(crate) fn look(path: &Path) -> io::Result<Option<Self>> {
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        if !metadata.is_dir() {
            return Ok(None);
        }
        let mut files = Vec::new();
        let mut stays = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            match ORDER.into_iter().find(|own| name.to_str() == Some(own)) {
                Some(own) if entry.file_type()?.is_file() => files.push(own),
                _ => stays.push(name),
            }
        }
        stays.sort();
        let holds_a_run = files.iter().any(|name| [RECORD, SPOOL].contains(name));
        Ok(holds_a_run.then(|| Self {
            path: path.to_path_buf(),
            identity: (metadata.dev(), metadata.ino()),
            files: ORDER
                .into_iter()
                .filter(|file| files.contains(file))
                .collect(),
            stays,
        }))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in the folder and was not written by a run. It stays, and the folder with it.
    pub fn stays(&self) -> &[OsString] {
        &self.stays
    }

    /// Removes the files of the run, and the folder where nothing else is in it. Whether the
    /// folder is gone.
    pub(crate) fn carry_out(&self) -> io::Result<bool> {
        let folder = File::open(&self.path)?;
        let metadata = folder.metadata()?;
        if (metadata.dev(), metadata.ino()) != self.identity {
            let why = "another folder has taken its place meanwhile";
            return Err(io::Error::other(why));
        }
        // Files are removed through the open folder, so a link that takes its name has no effect.
        for name in &self.files {
            match unlinkat(&folder, *name, AtFlags::empty()) {
                Err(Errno::NOENT) => {}
                removed => removed?,
            }
        }
        match fs::remove_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => return Ok(false),
            removed => removed?,
        }
        self.path.parent().map_or(Ok(()), flush)?;
        Ok(true)
    }
}
