//! What somebody wrote about a run, and the tags that he gave it: files next to its record, which
//! stays as it was.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::folder::{flush, remove_if_there};
use crate::plain;

/// A file next to the record: its name, and that of one that is being written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) name: &'static str,
    pub(crate) fresh: &'static str,
}

/// The note.
pub(crate) const NOTE: Beside = Beside {
    name: "blocklab-note.txt",
    fresh: ".blocklab-note.txt.new",
};
/// The tags, one a line.
pub(crate) const TAGS: Beside = Beside {
    name: "blocklab-tags.txt",
    fresh: ".blocklab-tags.txt.new",
};
/// The longest note, in bytes: a page, a file in its place is not read whole.
pub(crate) const LONGEST: u64 = 16 << 10;

/// The note or the tags of a run; `None` where there is none, or where something else has its name.
pub(crate) fn read(folder: &Path, what: Beside) -> Option<String> {
    let path = folder.join(what.name);
    // A link could lead to anything, and a pipe would never end.
    if !fs::symlink_metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = plain::open(&path).ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Writes it, whole or not at all, replacing an older one.
pub(crate) fn write(folder: &Path, what: Beside, text: &str) -> io::Result<()> {
    // Notes written at once take turns, and the last one stays. Where a file system has no locks, they
    // do without.
    let turn = fs::File::open(folder)?;
    let _ = turn.lock();
    let fresh = folder.join(what.fresh);
    remove_if_there(&fresh)?;
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&fresh)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&fresh, folder.join(what.name)));
    if written.is_err() {
        // Half a note is of no use.
        let _ = fs::remove_file(&fresh);
    }
    written?;
    flush(folder)
}

/// Removes it, if there is one.
pub(crate) fn delete(folder: &Path, what: Beside) -> io::Result<()> {
    remove_if_there(&folder.join(what.name))?;
    flush(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: of twenty notes written at once, nineteen failed with "No such file".
    #[test]
    fn notes_at_once_take_turns() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        std::thread::scope(|scope| {
            for number in 0..20 {
                scope.spawn(move || {
                    write(path, NOTE, &format!("note {number}")).expect("it is kept")
                });
            }
        });
        let note = read(path, NOTE).expect("one is there");
        assert!(note.starts_with("note "), "{note}");
        assert!(!path.join(NOTE.fresh).exists());
    }
}
