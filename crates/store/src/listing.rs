//! In: the folders of a store. Out: a line for each run, oldest first, and what is damaged.
//!
//! A file of its own: it reads only the few fields that a list shows, so that a large store is listed quickly.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::{fs, io};

use blocklab_record::{BadRecord, Record, Status, check_format, study_of};
use blocklab_units::visible;
use jiff::{SignedDuration, Timestamp};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};

use crate::each;
use crate::folder::{PARTIAL, RECORD};
use crate::id::{self, is_id};
use crate::plain::read_plain;
use crate::spool::{SPOOL, SpoolError, unfinished};
use crate::visible::as_visible;

/// A run as one line of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Name of the study, and of its system where it has several.
    pub name: String,
    /// The name of the study alone.
    #[serde(skip)]
    pub study: String,
    /// Paths of its targets.
    pub targets: Vec<String>,
    /// How it ended; a run without an end counts as interrupted, or as running where it is known to go
    /// on.
    pub status: Status,
    /// It has no end: it was killed, or is still running.
    pub partial: bool,
    /// Measurements that it left.
    pub measurements: usize,
}

impl Listed {
    /// The line of a run that was read whole, by the id of its folder.
    pub(crate) fn from_record(id: &str, partial: bool, record: &Record) -> Self {
        Self {
            id: id.to_owned(),
            started_at: record.started_at.clone(),
            name: record.requested.name.clone(),
            study: record.requested.study().to_owned(),
            targets: (record.targets.iter())
                .map(|target| target.path.clone())
                .collect(),
            status: record.status,
            partial,
            measurements: record.measurements.len(),
        }
    }
}

/// A folder in the store that is no readable run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damaged {
    /// The folder.
    #[serde(serialize_with = "as_shown")]
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// A path as people see it. JSON has no other way to write one that is not UTF-8.
fn as_shown<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

impl Damaged {
    fn new(path: &Path, why: &dyn ToString) -> Self {
        Self {
            path: path.to_path_buf(),
            why: why.to_string(),
        }
    }
}

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The oldest first.
    pub runs: Vec<Listed>,
    /// What was left out of `runs`.
    pub damaged: Vec<Damaged>,
}

/// A folder of the store that is a run: it has the name of one, and a record is in it. Other
/// folders are somebody's own.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) id: String,
    pub(crate) partial: bool,
    pub(crate) stamp: Stamp,
}

/// What shows, without reading it, that a record is as it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// When it was written last: seconds since 1970, and nanoseconds.
    pub(crate) modified: (i64, i64),
    pub(crate) bytes: u64,
}

impl Folder {
    pub(crate) fn name(&self) -> String {
        folder_name(&self.id, self.partial)
    }
}

/// The name of the folder of a run; `partial`: the run has no end.
pub(crate) fn folder_name(id: &str, partial: bool) -> String {
    let suffix = if partial { PARTIAL } else { "" };
    format!("{id}{suffix}")
}

/// The folders of a store.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    /// The runs, the oldest first; a finished run hides its own spool.
    pub(crate) runs: Vec<Folder>,
    /// The names of other folders.
    pub(crate) others: Vec<String>,
}

/// The runs of the store, the oldest first. None when there is no store yet.
pub(crate) fn folders(root: &Path) -> io::Result<Vec<Folder>> {
    Ok(all_folders(root)?.runs)
}

/// All folders of the store, which is read once: a large one takes its time.
fn all_folders(root: &Path) -> io::Result<Folders> {
    let (runs, others) = names(root)?
        .into_iter()
        .partition(|name| is_id(name.strip_suffix(PARTIAL).unwrap_or(name)));
    let mut runs = by_id(root, runs);
    oldest_first(&mut runs, Timestamp::now());
    Ok(Folders { runs, others })
}

/// By how much the clocks of machines that share a store may differ: more than NTP leaves.
const SKEW: SignedDuration = SignedDuration::from_secs(60);

/// Sorts by the moment in the id, which is the order of a list and of `latest`. A run of the future was
/// started under a wrong clock, at an unknown time. It comes before all others, or it would be the
/// latest one for ever.
fn oldest_first(folders: &mut [Folder], now: Timestamp) {
    let last_known = id::compose(now.saturating_add(SKEW).unwrap_or(now), u64::MAX);
    folders.sort_by(|a, b| {
        let [a, b] = [a, b].map(|folder| (folder.id <= last_known, &folder.id));
        a.cmp(&b)
    });
}

/// The runs in the folders of these names. The names are sorted, so that of a finished run comes before
/// that of its spool, which is left out.
fn by_id(root: &Path, names: Vec<String>) -> Vec<Folder> {
    // Relative to an open folder, the kernel need not walk the path to it for each of thousands of runs.
    let Ok(store) = rustix::fs::open(root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        return Vec::new();
    };
    let mut found: Vec<Folder> = Vec::with_capacity(names.len());
    for folder in each(&names, |name| look(&store, name))
        .into_iter()
        .flatten()
    {
        if found.last().is_none_or(|last| last.id != folder.id) {
            found.push(folder);
        }
    }
    found
}

/// The run in the folder of this name; `None` where there is none.
fn look(store: &OwnedFd, name: &str) -> Option<Folder> {
    let id = name.strip_suffix(PARTIAL);
    let (partial, stamp) = match (stamp(store, name), id) {
        (Some(stamp), _) => (id.is_some(), stamp),
        // The run has ended since the name was read.
        (None, Some(id)) => (false, stamp(store, id)?),
        (None, None) => return None,
    };
    Some(Folder {
        id: id.unwrap_or(name).to_owned(),
        partial,
        stamp,
    })
}

/// Reads a run. One that ended since its folder was found is read from the folder that it has now.
/// `None` where it was removed.
pub(crate) fn read_again<T, E>(
    root: &Path,
    folder: &Folder,
    read: impl Fn(&Folder) -> Result<T, E>,
) -> Option<Result<T, E>> {
    let error = match read(folder) {
        Ok(run) => return Some(Ok(run)),
        Err(error) => error,
    };
    let Ok(store) = rustix::fs::open(root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        return Some(Err(error));
    };
    let now = look(&store, &folder.name())?;
    Some(if now.partial == folder.partial {
        Err(error)
    } else {
        read(&now)
    })
}

/// The names of all folders in the store, hidden ones aside: those are being made or removed.
fn names(root: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && is_folder(&entry)? {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The stamp of the record, or of the spool of an unfinished run; `None` where there is neither.
fn stamp(store: &OwnedFd, folder: &str) -> Option<Stamp> {
    [RECORD, SPOOL].iter().find_map(|name| {
        let path = format!("{folder}/{name}");
        let facts = match rustix::fs::statat(store, path, AtFlags::empty()) {
            // A folder without permission counts as a run: reading it then reports the reason, and it is
            // not hidden.
            Err(Errno::ACCESS) => return Some(Stamp::default()),
            facts => facts.ok()?,
        };
        let is_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
        is_file.then_some(Stamp {
            modified: (facts.st_mtime, facts.st_mtime_nsec as i64),
            bytes: facts.st_size as u64,
        })
    })
}

/// The kind in the directory entry saves a stat of each of thousands of runs; only a link has to be
/// followed.
fn is_folder(entry: &fs::DirEntry) -> io::Result<bool> {
    let kind = entry.file_type()?;
    Ok(kind.is_dir() || kind.is_symlink() && entry.path().is_dir())
}

/// The name of a run, where its record can be read.
pub(crate) fn name(root: &Path, folder: &Folder) -> Option<String> {
    let listed = read_listed(&root.join(folder.name()), folder).ok()?;
    Some(listed.name)
}

/// All runs of a store, and the folders that cannot be read.
pub(crate) fn list(root: &Path) -> Listing {
    let mut damaged = Vec::new();
    let folders = folders_or(root, &mut damaged);
    let mut runs = Vec::new();
    for folder in &folders.runs {
        match read_again(root, folder, |folder| listed(root, folder)) {
            Some(Ok(run)) => runs.push(run),
            Some(Err(why)) => damaged.push(why),
            None => {}
        }
    }
    damaged.extend(renamed(root, &folders.others));
    Listing { runs, damaged }
}

/// All folders of the store; a store that cannot be read is damaged as a whole.
pub(crate) fn folders_or(root: &Path, damaged: &mut Vec<Damaged>) -> Folders {
    all_folders(root).unwrap_or_else(|error| {
        damaged.push(Damaged::new(root, &error));
        Folders::default()
    })
}

/// The line of a run, by the fields of its record that make it.
pub(crate) fn listed(root: &Path, folder: &Folder) -> Result<Listed, Damaged> {
    let path = root.join(folder.name());
    read_listed(&path, folder).map_err(|why| Damaged::new(&path, &why))
}

/// Other folders that hold runs, which can be named by their paths only.
pub(crate) fn renamed(root: &Path, others: &[String]) -> Vec<Damaged> {
    let renamed = others.iter().filter_map(|name| renamed_run(root, name));
    renamed.collect()
}

/// A run that somebody gave another name: it is one by its path only.
fn renamed_run(root: &Path, name: &str) -> Option<Damaged> {
    let path = root.join(name);
    let text = read_plain(&path.join(RECORD)).ok()?;
    head(&text).ok()?;
    let why = "it holds a run, but its name is no id: its path names it".to_owned();
    Some(Damaged { path, why })
}

#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("{RECORD}: {0}")]
    File(#[from] io::Error),
    #[error("{RECORD}: {0}")]
    Record(#[from] BadRecord),
    #[error("{SPOOL}: {0}")]
    Spool(#[from] SpoolError),
}

/// The few fields that a list shows; the rest of the text is skipped unread, so that a store with
/// hundreds of long runs lists quickly.
#[derive(Deserialize)]
struct Head {
    format: u32,
    started_at: String,
    status: Status,
    #[serde(alias = "asked")]
    requested: Requested,
    targets: Vec<Target>,
    measurements: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Requested {
    name: String,
    #[serde(default)]
    system: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    path: String,
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Reads the text once. Only one that does not fit is read again for its format, which may be another one.
fn head(text: &str) -> Result<Head, BadRecord> {
    let read = serde_json::from_str::<Head>(text);
    let found = match &read {
        Ok(head) => head.format,
        Err(_) => serde_json::from_str::<Version>(text)?.format,
    };
    check_format(found)?;
    Ok(read?)
}

/// The line of a run: of an unfinished one from its spool, of any other from the head of its Record.
fn read_listed(path: &Path, folder: &Folder) -> Result<Listed, Unreadable> {
    let spool = path.join(SPOOL);
    if folder.partial && spool.is_file() {
        // Unfinished runs are few, so their records are read whole.
        let (record, goes_on) = unfinished(&spool)?;
        let mut record = as_visible(record);
        if goes_on {
            record.status = Status::Running;
        }
        return Ok(Listed::from_record(&folder.id, true, &record));
    }
    let head = head(&read_plain(&path.join(RECORD))?)?;
    let status = if folder.partial {
        Status::Interrupted
    } else {
        head.status
    };
    let name = &head.requested.name;
    let study = study_of(name, head.requested.system.as_deref());
    Ok(Listed {
        // The folder's name, by which a user names the run, even when somebody renamed it.
        id: folder.id.clone(),
        started_at: visible(&head.started_at).into_owned(),
        study: visible(study).into_owned(),
        name: visible(name).into_owned(),
        targets: head
            .targets
            .iter()
            .map(|target| visible(&target.path).into_owned())
            .collect(),
        status,
        partial: folder.partial,
        measurements: head.measurements.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: one run under a clock of the year 2200 was `latest` for ever, and `rm latest` meant it.
    #[test]
    fn a_run_of_the_future_is_no_latest_one() {
        let folder = |id: &str| Folder {
            id: id.to_owned(),
            partial: false,
            stamp: Stamp::default(),
        };
        let now: Timestamp = "2026-11-20T19:01:42Z".parse().expect("a time");
        let mut folders = [
            "22000101-000000-k3f",
            "20261120-190142-zzz",
            "20261120-190201-k3f",
            "20261119-080000-a00",
        ]
        .map(folder);
        oldest_first(&mut folders, now);
        let ids = folders.map(|folder| folder.id);
        let expected = [
            "22000101-000000-k3f",
            "20261119-080000-a00",
            "20261120-190142-zzz",
            "20261120-190201-k3f",
        ];
        assert_eq!(ids, expected);
    }
}
