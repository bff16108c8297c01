//! In: the folder of a run. Out: its note and its tags, which users give: files next to the record, which
//! stays as it was.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::folder::{flush, remove_if_there};
use crate::plain;

/// A file next to the record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attachment {
    pub(crate) name: &'static str,
    /// Its name while it is written, until it takes the place of an older one.
    pub(crate) fresh: &'static str,
}

/// The note.
pub(crate) const NOTE: Attachment = Attachment {
    name: "blocklab-note.txt",
    fresh: ".blocklab-note.txt.new",
};
/// The tags, one a line.
pub(crate) const TAGS: Attachment = Attachment {
    name: "blocklab-tags.txt",
    fresh: ".blocklab-tags.txt.new",
};
/// Notes and tags have fewer bytes than this, their line end included: a few pages. If another program put a
/// longer file there, the rest of it is not read.
pub(crate) const LONGEST: u64 = 16 << 10;

/// The text of an attachment; `None` if there is none, or something other than a file has its name.
pub(crate) fn read(folder: &Path, attachment: Attachment) -> Option<String> {
    let path = folder.join(attachment.name);
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

/// Waits until no other command writes to the run of this folder. Commands take turns until the file is
/// dropped.
pub(crate) fn take_turn(folder: &Path) -> io::Result<fs::File> {
    let turn = fs::File::open(folder)?;
    // Some file systems have no locks.
    let _ = turn.lock();
    Ok(turn)
}

/// Writes an attachment, whole or not at all, replacing an older one: of several commands that write at
/// once, the last one stays.
pub(crate) fn write(folder: &Path, attachment: Attachment, text: &str) -> io::Result<()> {
    let _turn = take_turn(folder)?;
    replace(folder, attachment, text)
}

/// As [`write`], in the turn that the caller has taken.
pub(crate) fn replace(folder: &Path, attachment: Attachment, text: &str) -> io::Result<()> {
    let fresh = folder.join(attachment.fresh);
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
        .and_then(|()| fs::rename(&fresh, folder.join(attachment.name)));
    if written.is_err() {
        // Half a note is of no use.
        let _ = fs::remove_file(&fresh);
    }
    written?;
    flush(folder)
}

/// Removes an attachment, if there is one.
pub(crate) fn delete(folder: &Path, attachment: Attachment) -> io::Result<()> {
    remove_if_there(&folder.join(attachment.name))?;
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
