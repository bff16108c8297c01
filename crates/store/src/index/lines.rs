//! In: the folder of a store. Out: the file of the index in it: read, added to, and written anew
//! when most of its lines are of no use.
//!
//! Lines are only added, each batch in one write, so several programs can add at once without a
//! lock. What they spoil for one another is derived again.

use std::collections::HashMap;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::line;
use crate::folder::{INDEX, NEW};
use crate::listing::Folder;
use crate::plain;

/// Longer lines are not kept: that run is derived every time.
const LONGEST: usize = 1 << 20;
/// Lines of no use are dropped when there are as many, and twice as many as runs.
const STALE: usize = 1000;
/// The permission bit of a folder in which everybody may only remove his own files, as in `/tmp`.
const STICKY: u32 = 0o1000;

/// The file of an index.
#[derive(Debug)]
pub(super) struct Lines {
    root: PathBuf,
    version: &'static str,
    /// `None`: there is none yet, or none that can be used.
    file: Option<File>,
    /// Number of lines that are of no run as it is now, or of another version.
    stale: usize,
    /// A full disk, or a store of somebody else: to add a line would fail again.
    is_refused: bool,
}

/// Where a line is in the file, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    at: u64,
    bytes: usize,
    /// Length of the text at its end.
    text_bytes: usize,
}

/// A line of a run that is as it was when the line was written.
#[derive(Debug)]
pub(super) struct Known {
    /// The run.
    pub(super) id: String,
    /// The first part of the line.
    pub(super) front: String,
    /// Where all of it is.
    pub(super) kept: Kept,
}

/// Lines that are written at once.
#[derive(Debug, Default)]
pub(super) struct Batch {
    text: String,
    /// The place of each line's run among those of the caller, and where the line is in `text`.
    parts: Vec<(usize, Kept)>,
}

impl Batch {
    /// Adds the line of the run at this place of the caller's list. Its last `text_bytes` bytes before
    /// the line end are the text of the run. A line that is too long is left out.
    pub(super) fn add(&mut self, place: usize, line: &str, text_bytes: usize) {
        if line.len() > LONGEST {
            return;
        }
        let kept = Kept {
            at: self.text.len() as u64,
            bytes: line.len(),
            text_bytes,
        };
        self.parts.push((place, kept));
        self.text.push_str(line);
    }
}

impl Lines {
    /// The index in `root`, if there is one that can be used.
    pub(super) fn open(root: &Path, version: &'static str) -> Self {
        Self {
            root: root.to_path_buf(),
            version,
            file: opened(root),
            stale: 0,
            is_refused: false,
        }
    }

    /// The line of each folder's run, if it is as it was when the line was written. The last line of
    /// a run is the one that counts.
    pub(super) fn read(&mut self, folders: &[Folder]) -> Vec<Option<Known>> {
        let mut known: Vec<Option<Known>> = folders.iter().map(|_| None).collect();
        let Some(file) = &self.file else { return known };
        let numbered = folders.iter().enumerate();
        let finished = numbered.filter(|(_, folder)| !folder.partial);
        let places: HashMap<&str, usize> = finished
            .map(|(place, folder)| (&*folder.id, place))
            .collect();
        let mut reader = BufReader::with_capacity(LONGEST, file);
        let (mut copied, mut at, mut lines) = (Vec::new(), 0, 0);
        loop {
            copied.clear();
            // A line is in the buffer as a whole, or is copied if it goes beyond the buffer or has not the
            // length that it names.
            let bytes = match line::first(reader.buffer()) {
                Some(line) => line,
                None => match copy_line(&mut reader, &mut copied) {
                    Ok(1..) => &copied,
                    Ok(0) | Err(_) => break,
                },
            };
            lines += 1;
            if let Some(line) = line::read(self.version, bytes)
                && let Some(place) = places.get(line.id)
                && folders[*place].stamp == line.stamp
            {
                let kept = Kept {
                    at,
                    bytes: bytes.len(),
                    text_bytes: line.text.len(),
                };
                known[*place] = Some(Known {
                    id: line.id.to_owned(),
                    front: line.front.to_owned(),
                    kept,
                });
            }
            at += bytes.len() as u64;
            if copied.is_empty() {
                let bytes = bytes.len();
                reader.consume(bytes);
            }
        }
        self.stale = lines - known.iter().flatten().count();
        known
    }

    /// Writes a new file of the lines in use if most are not, and updates where they are. `runs`: how
    /// many the store has.
    pub(super) fn compact<'k>(&mut self, runs: usize, kept: impl Iterator<Item = &'k mut Kept>) {
        // Two versions of blocklab may use one store: the lines of the other one are in use.
        if self.stale < STALE.max(2 * runs) {
            return;
        }
        let mut kept: Vec<&mut Kept> = kept.collect();
        let fresh = self
            .root
            .join(format!("{INDEX}{NEW}{}", std::process::id()));
        match self.written_anew(&fresh, &kept) {
            Ok(file) => {
                self.file = Some(file);
                self.stale = 0;
                let mut at = 0;
                for kept in &mut kept {
                    kept.at = at;
                    at += kept.bytes as u64;
                }
            }
            // Another thread writes it, or a process of another container that has our number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // The old one is as good as before.
            Err(_) => drop(fs::remove_file(&fresh)),
        }
    }

    /// Writes the lines that are kept to the file `fresh`, and puts it in place of the old one.
    fn written_anew(&self, fresh: &Path, kept: &[&mut Kept]) -> io::Result<File> {
        let old = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut file = created(&self.root, fresh)?;
        for kept in kept {
            let mut line = vec![0; kept.bytes];
            old.read_exact_at(&mut line, kept.at)?;
            file.write_all(&line)?;
        }
        fs::rename(fresh, self.root.join(INDEX))?;
        Ok(file)
    }

    /// The line of a run.
    pub(super) fn line(&self, folder: &Folder, front: &str, text: &str) -> String {
        line::write(self.version, folder, front, text)
    }

    /// Writes lines at the end of the file. Returns the caller's place of each run and where its line
    /// is now; nothing if they could not be written.
    pub(super) fn append(&mut self, batch: &Batch) -> Vec<(usize, Kept)> {
        if batch.parts.is_empty() || self.is_refused {
            return Vec::new();
        }
        let Ok(begins_at) = self.write_at_end(&batch.text) else {
            self.is_refused = true;
            return Vec::new();
        };
        let moved = |(place, kept): &(usize, Kept)| {
            let at = begins_at + kept.at;
            (*place, Kept { at, ..*kept })
        };
        batch.parts.iter().map(moved).collect()
    }

    /// Writes a text at the end of the file, which is created if there is none. Returns the position at
    /// which the text begins.
    fn write_at_end(&mut self, text: &str) -> io::Result<u64> {
        let mut file = match &self.file {
            Some(file) => file,
            None => self
                .file
                .insert(created(&self.root, &self.root.join(INDEX))?),
        };
        file.write_all(text.as_bytes())?;
        // Other programs add to the same file: the end of what was written is known only now.
        Ok(file.stream_position()?.saturating_sub(text.len() as u64))
    }

    /// The text at the end of a line; `None` if the line is not there any more.
    pub(super) fn text(&self, kept: &Kept) -> Option<String> {
        let mut line = vec![0; kept.bytes];
        self.file.as_ref()?.read_exact_at(&mut line, kept.at).ok()?;
        let read = line::read(self.version, &line)?;
        let text = str::from_utf8(read.text).ok()?;
        (text.len() == kept.text_bytes && line::is_visible(text)).then(|| text.to_owned())
    }
}

/// Copies a line, or the part of it that fits: a file without line ends must not fill the memory. Returns the
/// number of bytes.
fn copy_line(reader: &mut BufReader<&File>, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut rest = reader.by_ref().take(LONGEST as u64);
    rest.read_until(b'\n', line)
}

/// The file, to read and to add to, or only to read; `None` if there is none that can be trusted.
fn opened(root: &Path) -> Option<File> {
    let path = root.join(INDEX);
    // A link could lead to anything, and a pipe would never end.
    let facts = fs::symlink_metadata(&path).ok()?;
    if !facts.is_file() || !is_trusted(&fs::metadata(root).ok()?, &facts) {
        return None;
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).append(true).open(&path);
    let file = file.or_else(|_| plain::open(&path)).ok()?;
    let opened = file.metadata().ok()?;
    ((opened.dev(), opened.ino()) == (facts.dev(), facts.ino())).then_some(file)
}

/// Whoever may remove the runs of a store may write what is remembered of them. In a folder that all
/// may write to, but where each removes only his own, that is its owner, root, and ourselves.
fn is_trusted(root: &Metadata, file: &Metadata) -> bool {
    let is_ours = || fs::metadata("/proc/self").is_ok_and(|own| own.uid() == file.uid());
    root.mode() & STICKY == 0 || file.uid() == root.uid() || file.uid() == 0 || is_ours()
}

/// A new file, which those can add to who can add runs.
fn created(root: &Path, path: &Path) -> io::Result<File> {
    let of_root = fs::metadata(root)?.mode();
    let others = if of_root & STICKY == 0 { 0 } else { 0o022 };
    let mode = of_root & 0o666 & !others;
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .append(true)
        .create_new(true)
        .mode(mode & 0o600)
        .open(path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}
