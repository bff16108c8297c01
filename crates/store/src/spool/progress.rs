//! In: the lines of a spool, in their order. Out: how far its run has come, and its Record.
//!
//! A file of its own: the bytes may be anybody's, so whatever they are, this comes to an end.

use std::io::{self, BufRead, Read};

use blocklab_record::{BadRecord, Measurement, Record, Status, Stopped};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::FORMAT;
use super::line::{Begun, Frame, Head, Line};

/// Why a file is no spool.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// No line of it names its run.
    #[error("no line of it names a run")]
    NoHead,
    /// Written by a newer version, in this format.
    #[error(
        "spool format {0} is newer than this version reads (up to {FORMAT}); a newer blocklab can"
    )]
    Newer(u32),
    /// The run in it is no record.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How far a run has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// The run, with the measurements that have ended.
    record: Option<Record>,
    is_locked: bool,
    /// The measurement that has begun and not ended.
    current: Option<Current>,
}

/// A measurement that has begun and not ended.
#[derive(Debug, Default)]
pub struct Current {
    /// Which one.
    pub begun: Begun,
    /// Its seconds. Only the last one holds the measurement so far.
    pub frames: Vec<Frame>,
    /// The measurement so far by the frame before the last one.
    pub before: Option<Box<Measurement>>,
}

/// Reading ends at a line with more bytes: a record of a hundred thousand cases is shorter.
const LONGEST: u64 = 256 << 20;

impl Progress {
    /// What the lines of a whole file amount to.
    ///
    /// # Errors
    /// [`SpoolError`] when they name no run, or one that only a newer version can read.
    pub fn read(from: impl BufRead) -> Result<Self, SpoolError> {
        let mut progress = Self::default();
        progress.read_on(from)?;
        match progress.record {
            Some(_) => Ok(progress),
            None => Err(SpoolError::NoHead),
        }
    }

    /// Takes all whole lines, and returns how many bytes they have.
    pub(super) fn read_on(&mut self, mut from: impl BufRead) -> Result<u64, SpoolError> {
        let (mut line, mut taken) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = from.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return Ok(taken);
            }
            taken += read as u64;
            self.take(&line)?;
        }
    }

    /// Takes one line. A line that is not one of a spool is left out.
    fn take(&mut self, line: &[u8]) -> Result<(), SpoolError> {
        // The head of a newer version may have another form, and would only be left out.
        if self.record.is_none() {
            check_version(line)?;
        }
        match serde_json::from_slice(line) {
            Ok(Line::Head(head)) => self.take_head(&head)?,
            Ok(Line::Measured(measured)) => {
                self.current = None;
                if let Some(record) = &mut self.record {
                    record.measurements.push(measured.into_owned());
                }
            }
            Ok(Line::Begins(begun)) => {
                self.current = Some(Current {
                    begun: begun.into_owned(),
                    ..Current::default()
                });
            }
            Ok(Line::Frame(frame)) => self.take_frame(frame.into_owned()),
            Err(_) => {}
        }
        Ok(())
    }

    fn take_head(&mut self, head: &Head<'_>) -> Result<(), SpoolError> {
        let mut record = Record::from_json(head.record.get())?;
        if let Some(before) = self.record.take() {
            record.measurements = before.measurements;
        }
        self.record = Some(record);
        self.is_locked = head.is_locked;
        Ok(())
    }

    fn take_frame(&mut self, frame: Frame) {
        let current = self.current.get_or_insert_default();
        if let Some(last) = current.frames.last_mut()
            && frame.so_far.is_some()
        {
            current.before = last.so_far.take();
        }
        current.frames.push(frame);
    }

    /// The run, with the measurements that have ended; `None` before the first line.
    pub const fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// The measurement that has begun and not ended, if there is one.
    pub const fn current(&self) -> Option<&Current> {
        self.current.as_ref()
    }

    /// Whether its run holds a lock on the file while it lasts.
    pub const fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// The run as it is so far: an interrupted Record, with the measurement that is under way if there is
    /// one. `failure`: why it has no end, unless it has a reason already. `None`: no head was read.
    pub fn into_record(self, failure: &str) -> Option<Record> {
        let mut record = self.record?;
        record
            .measurements
            .extend(self.current.and_then(Current::into_measurement));
        if let Some(end) = record.measurements.last().and_then(end_of) {
            record.finished_at = end;
        }
        record.status = Status::Interrupted;
        record.failure.get_or_insert_with(|| failure.to_owned());
        Some(record)
    }

    /// The lines, without the head, from which [`Progress::read`] makes this progress again.
    /// They are shorter than those that were read: only the last frame has the measurement so far.
    pub(super) fn needed_lines(&self) -> impl Iterator<Item = Line<'_>> {
        use std::borrow::Cow::Borrowed;
        let record = self.record.iter().flat_map(|record| &record.measurements);
        let measured = record.map(|measured| Line::Measured(Borrowed(measured)));
        let current = self.current.iter();
        let begins = current
            .clone()
            .map(|current| Line::Begins(Borrowed(&current.begun)));
        let frames = current.flat_map(|current| &current.frames);
        measured
            .chain(begins)
            .chain(frames.map(|frame| Line::Frame(Borrowed(frame))))
    }
}

impl Current {
    /// The measurement so far, without its series; `None` before the first frame.
    pub fn so_far(&self) -> Option<&Measurement> {
        self.frames.last()?.so_far.as_deref()
    }

    /// The measurement as far as it came; `None`: no figures were written.
    fn into_measurement(self) -> Option<Measurement> {
        let mut frames = self.frames;
        let so_far = frames.last_mut()?.so_far.take()?;
        let mut measurement = *so_far;
        measurement.series = frames.into_iter().flat_map(|frame| frame.slices).collect();
        for job in &mut measurement.jobs {
            job.stopped = Stopped::Interrupted;
        }
        Some(measurement)
    }
}

/// Refuses a first line that names a newer format.
fn check_version(line: &[u8]) -> Result<(), SpoolError> {
    #[derive(Deserialize)]
    struct Version {
        spool_format: u32,
        #[serde(rename = "record")]
        _record: IgnoredAny,
    }
    #[derive(Deserialize)]
    struct First {
        head: Version,
    }
    match serde_json::from_slice::<First>(line) {
        Ok(first) if first.head.spool_format > FORMAT => {
            Err(SpoolError::Newer(first.head.spool_format))
        }
        _ => Ok(()),
    }
}

/// The date and time at which a measurement ended, RFC 3339; `None` if it is not known when it began.
fn end_of(measured: &Measurement) -> Option<String> {
    let began = Timestamp::from_microsecond(measured.started_unix_us?.try_into().ok()?).ok()?;
    let lasted = SignedDuration::from_nanos(measured.elapsed_ns.try_into().ok()?);
    let end = began.checked_add(lasted).ok()?;
    Some(end.round(jiff::Unit::Second).ok()?.to_string())
}
