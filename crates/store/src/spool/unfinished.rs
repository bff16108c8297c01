//! In: a spool. Out: the Record of its run, which goes on or was killed, and whether it goes on.

use std::fs::{File, TryLockError};
use std::io::BufReader;
use std::path::Path;

use blocklab_record::Record;

use super::progress::{Progress, SpoolError};
use crate::plain;

/// The run as it is so far, and whether it goes on. Its status is `Interrupted` in any case.
pub(crate) fn unfinished(spool: &Path) -> Result<(Record, bool), SpoolError> {
    let file = plain::open(spool)?;
    let goes_on = is_held(&file);
    let progress = Progress::read(BufReader::new(&file))?;
    let why = match (goes_on, progress.is_locked()) {
        (true, _) => "the run is still running",
        (false, true) => "the run was killed before its end",
        (false, false) => "the run was killed, or is still running",
    };
    let record = progress.into_record(why).ok_or(SpoolError::NoHead)?;
    Ok((record, goes_on))
}

/// Whether a run that has not ended writes this spool. One without locks counts as left by a killed run.
pub(crate) fn is_running(spool: &Path) -> bool {
    plain::open(spool).is_ok_and(|file| is_held(&file))
}

/// Whether a run has the file open for writing: it holds the lock alone. A file system without locks
/// shows none.
pub(super) fn is_held(spool: &File) -> bool {
    matches!(spool.try_lock_shared(), Err(TryLockError::WouldBlock))
}
