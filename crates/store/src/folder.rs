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
/// What is between the name of what is made and the process that makes it, until it is whole.
pub(crate) const NEW: &str = ".new-";
/// The beginning of the name of a trial.
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
    let hidden = parent.join(format!(".{name}{NEW}{}", std::process::id()));
    let made = make_locked(&hidden).and_then(|_locked| {
        fill(&hidden)?;
        fs::rename(&hidden, folder)
    });
    if made.is_err() {
        clear(&hidden);
    }
    made.map(|()| parent)
}

/// Makes a hidden folder. The lock shows others that somebody works in it; it goes with the process.
fn make_locked(hidden: &Path) -> io::Result<File> {
    fs::create_dir(hidden)?;
    let folder = File::open(hidden)?;
    // Some file systems have no locks.
    let _ = folder.try_lock();
    Ok(folder)
}

/// Removes what was half made. The caller reports the first error; a failure to remove it is
/// ignored.
fn clear(hidden: &Path) {
    // Where there was no room for a file, there is only the folder.
    for name in [RECORD, SPOOL] {
        let _ = fs::remove_file(hidden.join(name));
    }
    let _ = fs::remove_dir(hidden);
}

/// Room that a run needs, with its page.
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
    let (hidden, _locked) = trial(root)?;
    let file = hidden.join(RECORD);
    let tried = fs::write(&file, vec![0; ROOM]);
    // If it was not made or cannot be removed, removing the folder fails.
    let _ = fs::remove_file(&file);
    fs::remove_dir(&hidden)?;
    tried
}

/// Makes the folder of a trial.
fn trial(root: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut number = 0;
    loop {
        let hidden = root.join(format!("{TRIED}{process}-{number}"));
        match make_locked(&hidden) {
            // Processes of two containers can have one number, and a killed one leaves its folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return Ok((hidden, made?)),
        }
    }
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
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
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
