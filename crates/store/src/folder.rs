use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The file of a run that holds all that it left.
pub(crate) const RECORD: &str = "record.json";
/// A record that is being written.
pub(crate) const FRESH: &str = ".record.json.new";
/// Pages for the browser, of the run and of its study.
pub(crate) const PAGES: [&str; 2] = ["report.html", "study.html"];

/// Makes `folder` with the record in it, whole or not at all, even when the power goes: the
/// folder is filled under a hidden name in the same parent, flushed, and renamed.
///
/// # Errors
/// `AlreadyExists` or `DirectoryNotEmpty` when `folder` is there, else what the kernel says.
pub(crate) fn create(folder: &Path, text: &str) -> io::Result<()> {
    let (parent, name) = split(folder)?;
    fs::create_dir_all(parent)?;
    let hidden = parent.join(format!(".{name}.new-{}", std::process::id()));
    fs::create_dir(&hidden)?;
    let made = fill(&hidden, text).and_then(|()| fs::rename(&hidden, folder));
    if made.is_err() {
        // The first error is the one to tell; what cannot be removed either is only litter.
        let _ = fs::remove_file(hidden.join(RECORD)).and_then(|()| fs::remove_dir(&hidden));
    }
    made?;
    flush(parent)
}

fn fill(hidden: &Path, text: &str) -> io::Result<()> {
    write(&hidden.join(RECORD), text)?;
    flush(hidden)
}

/// Puts the record into `folder`, in the place of an older one where there is one. A reader sees
/// the older or the newer, never half of one.
pub(crate) fn replace(folder: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let fresh = folder.join(FRESH);
    write(&fresh, text)?;
    fs::rename(&fresh, folder.join(RECORD))?;
    flush(folder)
}

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
