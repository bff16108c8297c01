//! Writes a spool. Each line is whole or not there, whatever becomes of the process or the disk.
//!
//! A file of its own: the order of lock, write, cut and flush is known here alone.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use blocklab_record::{Measurement, Record};
use serde_json::value::RawValue;

use super::line::{Begun, Frame, Head, Line};
use super::progress::{Progress, SpoolError};
use super::{FORMAT, FRESH_SPOOL, SPOOL};
use crate::folder::{self, flush, remove_if_there};
use crate::plain;
use crate::removal::Removal;

/// The spool of a run that goes on. The run that has it open holds its lock.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    file: File,
    /// The first line of the file.
    head: String,
    /// Whether this file system has locks, which the head states.
    is_locked: bool,
    /// Bytes of whole lines.
    bytes: u64,
    /// How many of them were needed when the file was last made shorter.
    needed: u64,
    /// Whether each line is flushed to the disk. If not, only heads and measurements are.
    pub flushes_each: bool,
}

/// The file is made shorter when it has this many bytes more than twice what is needed. With a frame of
/// two kilobytes each second, that is about every half hour.
const SPARE: u64 = 4 << 20;

impl Spool {
    /// Begins the spool of a run in `folder`, with what it has measured before. A folder that is there
    /// keeps what else is in it.
    pub(crate) fn begin(folder: &Path, record: &Record) -> io::Result<Self> {
        let measured = record.measurements.iter();
        let lines = measured.map(|measured| Line::Measured(Cow::Borrowed(measured)).text());
        let lines: String = lines.collect();
        if !folder.exists() {
            // The folder appears with a spool in it, so that a reader finds one. It is replaced by a locked
            // one below.
            let is_locked = false;
            let text = head(record, is_locked) + &lines;
            let parent = folder::make(folder, |hidden| fs::write(hidden.join(SPOOL), &text))?;
            // Else a loss of power could take the whole folder.
            flush(parent)?;
        }
        let fresh = replace(folder, |is_locked| head(record, is_locked), &lines)?;
        Ok(Self {
            folder: folder.to_owned(),
            file: fresh.file,
            head: fresh.head,
            is_locked: fresh.is_locked,
            bytes: fresh.bytes,
            needed: fresh.bytes,
            flushes_each: true,
        })
    }

    /// Replaces what the spool has of the run besides its measurements: its failure, its notes, its plan.
    ///
    /// # Errors
    /// When the line cannot be written, of which nothing is left then; or when it is written, and a
    /// shorter file cannot be put in place of this one.
    pub fn head(&mut self, record: &Record) -> io::Result<()> {
        self.head = head(record, self.is_locked);
        let line = self.head.clone();
        self.append(&line, true)
    }

    /// A measurement begins.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub fn begins(&mut self, begun: &Begun) -> io::Result<()> {
        self.append(&Line::Begins(Cow::Borrowed(begun)).text(), false)
    }

    /// A second of it has passed.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub fn frame(&mut self, frame: &Frame) -> io::Result<()> {
        self.append(&Line::Frame(Cow::Borrowed(frame)).text(), false)
    }

    /// It has ended.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub fn measured(&mut self, measured: &Measurement) -> io::Result<()> {
        self.append(&Line::Measured(Cow::Borrowed(measured)).text(), true)
    }

    /// Removes the spool, and its folder unless something else is in it.
    ///
    /// # Errors
    /// When its files cannot be removed.
    pub fn discard(self) -> io::Result<()> {
        if let Some(found) = Removal::look(&self.folder)? {
            found.carry_out()?;
        }
        Ok(())
    }

    /// Adds a line; `is_flushed`: it is on the disk when this returns.
    fn append(&mut self, line: &str, is_flushed: bool) -> io::Result<()> {
        let written = self.try_append(line, is_flushed);
        written.map_err(|why| {
            let path = self.folder.join(SPOOL);
            io::Error::new(why.kind(), format!("{}: {why}", path.display()))
        })
    }

    /// Appends a line, and shortens the file when it has grown to more than twice what is needed.
    fn try_append(&mut self, line: &str, is_flushed: bool) -> io::Result<()> {
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Half a line would hide the next one.
            self.file.set_len(self.bytes)?;
            return Err(error);
        }
        self.bytes += line.len() as u64;
        if is_flushed || self.flushes_each {
            self.file.sync_data()?;
        }
        if self.bytes > SPARE.saturating_add(self.needed.saturating_mul(2)) {
            self.shorten()?;
        }
        Ok(())
    }

    /// Leaves out the measurements so far of all frames but the last, and the frames of measurements
    /// that have ended.
    fn shorten(&mut self) -> io::Result<()> {
        // If it fails, it is tried again when the file has doubled, and not with every line.
        self.needed = self.bytes;
        let file = plain::open(&self.folder.join(SPOOL))?;
        let progress = Progress::read(BufReader::new(file)).map_err(|error| match error {
            SpoolError::Io(error) => error,
            other => io::Error::other(other),
        })?;
        let lines: String = progress.needed_lines().map(|line| line.text()).collect();
        // The head stays as it is, whether the new file is locked or not.
        let fresh = replace(&self.folder, |_| self.head.clone(), &lines)?;
        self.file = fresh.file;
        (self.bytes, self.needed) = (fresh.bytes, fresh.bytes);
        Ok(())
    }
}

/// The line of a head: the Record without its measurements.
fn head(record: &Record, is_locked: bool) -> String {
    let without = Record {
        measurements: Vec::new(),
        ..record.clone()
    };
    let json = serde_json::to_string(&without).expect("records hold no exotic keys");
    let record = RawValue::from_string(json).expect("it is JSON");
    let head = Head {
        spool_format: FORMAT,
        is_locked,
        record: Cow::Owned(record),
    };
    Line::Head(head).text()
}

/// Puts a file with these lines in the place of the one that is there. A reader sees one or the other.
/// `head` makes the first line, by whether the file could be locked.
fn replace(folder: &Path, head: impl Fn(bool) -> String, lines: &str) -> io::Result<Fresh> {
    let fresh = folder.join(FRESH_SPOOL);
    let written = write_fresh(&fresh, head, lines).and_then(|written| {
        fs::rename(&fresh, folder.join(SPOOL))?;
        Ok(written)
    });
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    let written = written?;
    flush(folder)?;
    Ok(written)
}

/// A spool that was just written.
struct Fresh {
    file: File,
    /// Its first line.
    head: String,
    is_locked: bool,
    /// Its length.
    bytes: u64,
}

/// Writes a new spool, locks it if the file system can, and leaves it open.
fn write_fresh(path: &Path, head: impl Fn(bool) -> String, lines: &str) -> io::Result<Fresh> {
    remove_if_there(path)?;
    let mut file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(path)?;
    // Some file systems have no locks.
    let is_locked = file.try_lock().is_ok();
    let head = head(is_locked);
    file.write_all(head.as_bytes())?;
    file.write_all(lines.as_bytes())?;
    file.sync_data()?;
    let bytes = (head.len() + lines.len()) as u64;
    Ok(Fresh {
        file,
        head,
        is_locked,
        bytes,
    })
}
