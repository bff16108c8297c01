//! In: a folder and the record of a run. Out: the record in it, whole or not at all, flushed.
//!
//! A file of its own: the names of the files and the order of the flushes are known here alone.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::spool::SPOOL;

/// What follows the id in the folder name of a run that is not finished.
pub(crate) const PARTIAL: &str = ".partial";
/// The file of a run that holds all that it left.
pub(crate) const RECORD: &str = "record.json";
/// The file of the index of a store. Hidden, so that it is taken for no run.
pub(crate) const INDEX: &str = ".blocklab-index";
/// Between the name that a folder or file will have and the process that makes it, until it is whole.
pub(crate) const NEW: &str = ".new-";
/// The beginning of the name of a folder that only tries whether the store can be written to.
pub(crate) const TRIED: &str = ".tried-";
/// Pages for the browser, of the run and of its study.
pub(crate) const PAGES: [&str; 2] = ["report.html", "study.html"];

/// Makes `folder` with the record in it, whole or not at all, even when the power goes: the
/// folder is filled under a hidden name in the same parent, flushed, and renamed.
///
/// # Errors
/// `AlreadyExists` or `DirectoryNotEmpty` when `folder` is there, else the error of the kernel.
pub(crate) fn create(folder: &Path, text: &str) -> io::Result<()> {
    flush(make(folder, |hidden| {
        write(&hidden.join(RECORD), text)?;
        flush(hidden)
    })?)
}

/// Makes `folder` under a hidden name in the same parent, and renames it when it is filled. Gives
/// the parent.
pub(crate) fn make(folder: &Path, fill: impl Fn(&Path) -> io::Result<()>) -> io::Result<&Path> {
    let (parent, name) = split(folder)?;
    fs::create_dir_all(parent)?;
    let (hidden, _locked) = make_hidden(parent, &format!(".{name}{NEW}"))?;
    let made = fill(&hidden).and_then(|()| fs::rename(&hidden, folder));
    if made.is_err() {
        clear(&hidden);
    }
    made.map(|()| parent)
}

/// Makes a hidden folder, whose name is `prefix`, the process and a number, and locks it. The lock, which
/// ends with the process, shows others that the folder is in use.
fn make_hidden(parent: &Path, prefix: &str) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut number = 0;
    let hidden = loop {
        let hidden = parent.join(format!("{prefix}{process}-{number}"));
        match fs::create_dir(&hidden) {
            // Processes of two containers can have one number, and a killed one leaves its folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => {
                made?;
                break hidden;
            }
        }
    };
    let folder = File::open(&hidden)?;
    // Some file systems have no locks.
    let _ = folder.try_lock();
    Ok((hidden, folder))
}

/// Removes a hidden folder that was not filled. The caller reports why; an error of the removal would
/// add nothing.
fn clear(hidden: &Path) {
    // Without room on the disk, the folder may be empty.
    for name in [RECORD, SPOOL] {
        let _ = fs::remove_file(hidden.join(name));
    }
    let _ = fs::remove_dir(hidden);
}

/// Bytes that a run of usual length needs, with its page.
const ROOM: usize = 1 << 20;

/// Makes a folder with a file as large as a run, and removes both again.
pub(crate) fn try_out(root: &Path) -> io::Result<()> {
    match fs::create_dir_all(root) {
        Err(_) if root.exists() && !root.is_dir() => {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                "it is no directory",
            ));
        }
        made => made?,
    }
    let (hidden, _locked) = make_hidden(root, TRIED)?;
    let file = hidden.join(RECORD);
    let tried = fs::write(&file, vec![0; ROOM]);
    // Without room it may not exist; one that cannot be removed keeps the folder, which fails below.
    let _ = fs::remove_file(&file);
    fs::remove_dir(&hidden)?;
    tried
}

/// The parent of a folder, and its name.
fn split(folder: &Path) -> io::Result<(&Path, &str)> {
    let name = folder.file_name().and_then(|name| name.to_str());
    folder.parent().zip(name).ok_or_else(|| {
        let why = format!("{} is no folder with a plain name", folder.display());
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

pub(crate) fn flush(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Removes a file; one that is not there need not be removed.
///
/// # Errors
/// When it is there and cannot be removed.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store without room for a file kept an empty folder of each run that failed there.
    #[test]
    fn what_is_half_made_is_taken_away() {
        let root = tempfile::tempdir().expect("a folder");
        let hidden = root.path().join(".hidden");
        fs::create_dir(&hidden).expect("made");
        clear(&hidden);
        assert!(!hidden.exists());
    }

    /// The story: two containers share a store, and in each the command is process 1. Where both kept a
    /// run of the same id, the second one failed, and removed what the first had written of its own.
    #[test]
    fn the_half_made_run_of_another_process_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let process = std::process::id();
        let theirs =
            ["", "-0"].map(|number| root.path().join(format!(".run{NEW}{process}{number}")));
        for hidden in &theirs {
            fs::create_dir(hidden).expect("made");
            fs::write(hidden.join(RECORD), "half").expect("written");
        }
        create(&root.path().join("run"), "whole").expect("made");
        for hidden in theirs {
            assert_eq!(
                fs::read_to_string(hidden.join(RECORD)).expect("there"),
                "half"
            );
        }
        let own = fs::read_to_string(root.path().join("run").join(RECORD));
        assert_eq!(own.expect("there"), "whole");
    }

    /// The story: in a container, where each command is process 1, one that was killed while it tried the
    /// store let every later one fail: "cannot write to STORE: File exists".
    #[test]
    fn the_trial_of_a_killed_process_is_in_no_way() {
        let root = tempfile::tempdir().expect("a folder");
        let left = root.path().join(format!("{TRIED}{}-0", std::process::id()));
        fs::create_dir(&left).expect("made");
        try_out(root.path()).expect("possible");
        assert_eq!(fs::read_dir(root.path()).expect("read").count(), 1);
    }
}
