//! In: the folder of a store. Out: what killed processes left half made in it, removed.
//!
//! A file of its own: only what no process can still be working on may be removed, and that is decided here.
//!
//! ```text
//!  ROOT/.20261120-190142-k3f.new-4711-0/record.json  a run that was being kept
//!  ROOT/.tried-4711-0/record.json                    a trial whether the store can be written to
//!  ROOT/.blocklab-index.new-4711                     an index that was being written anew
//! ```
//!
//! 4711 is a process, but it does not show whether that is gone: another process may have the number now,
//! and a store can be shared by containers and machines that count their processes separately. So
//! whoever makes such a folder holds its lock, and what is young stays, too: a folder is made before
//! it is locked, and not every file system has locks that all machines see.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::folder::{INDEX, NEW, RECORD, TRIED};
use crate::id::is_id;
use crate::spool::SPOOL;

/// A run is kept in seconds, on an overloaded disk in a minute or two.
const YOUNG: Duration = Duration::from_secs(10 * 60);
/// Where a file system has no locks, the age alone decides.
const YOUNG_WITHOUT_LOCKS: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what killed processes left half made. It only takes room, so a failure to remove it is not
/// reported.
pub(crate) fn sweep(root: &Path, now: SystemTime) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        if let Some(kind) = name.to_str().and_then(half_made) {
            let _ = remove(&root.join(&name), kind, now);
        }
    }
}

/// What is half made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HalfMade {
    Run,
    Index,
}

/// What has a name of this form.
fn half_made(name: &str) -> Option<HalfMade> {
    if let Some(maker) = name.strip_prefix(TRIED) {
        return is_maker(maker).then_some(HalfMade::Run);
    }
    let (made, maker) = name.split_once(NEW)?;
    if !is_maker(maker) {
        None
    } else if made == INDEX {
        Some(HalfMade::Index)
    } else {
        let run = made.strip_prefix('.')?;
        let id = run.strip_suffix(crate::folder::PARTIAL).unwrap_or(run);
        is_id(id).then_some(HalfMade::Run)
    }
}

/// Whether a text is a process, or a process, a hyphen and a number.
fn is_maker(text: &str) -> bool {
    let (process, number) = text.split_once('-').unwrap_or((text, "0"));
    [process, number]
        .iter()
        .all(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Removes what is half made, if it is old enough and no process holds its lock.
fn remove(path: &Path, kind: HalfMade, now: SystemTime) -> io::Result<()> {
    // A link could lead to a run, or out of the store.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = opened.metadata()?;
    let age = now.duration_since(metadata.modified()?).unwrap_or_default();
    let young = match opened.try_lock() {
        Ok(()) => YOUNG,
        Err(fs::TryLockError::WouldBlock) => return Ok(()),
        Err(fs::TryLockError::Error(_)) => YOUNG_WITHOUT_LOCKS,
    };
    if age < young {
        return Ok(());
    }
    match kind {
        HalfMade::Index if metadata.is_file() => fs::remove_file(path),
        HalfMade::Run if metadata.is_dir() => {
            for name in [RECORD, SPOOL] {
                let facts = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW);
                let is_file = facts.is_ok_and(|facts| {
                    FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile
                });
                if is_file {
                    rustix::fs::unlinkat(&opened, name, AtFlags::empty())?;
                }
            }
            // Fails where something else is in it.
            fs::remove_dir(path)
        }
        HalfMade::Index | HalfMade::Run => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "20261120-190142-k3f";

    fn begun(root: &Path, name: &str) -> std::path::PathBuf {
        let folder = root.join(name);
        fs::create_dir(&folder).expect("made");
        fs::write(folder.join(RECORD), "{").expect("written");
        folder
    }

    /// The story: a process that was killed while it kept a run left a hidden folder as large as the run,
    /// and no command ever removed it.
    #[test]
    fn what_killed_processes_left_is_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let gone = [
            format!(".{ID}.new-4711"),
            format!(".{ID}.new-4711-2"),
            format!(".{ID}.partial.new-1"),
            ".tried-1".to_owned(),
            ".tried-1-3".to_owned(),
        ];
        let gone = gone.map(|name| begun(root.path(), &name));
        let index = root.path().join(".blocklab-index.new-1");
        fs::write(&index, "").expect("written");
        let now = SystemTime::now();
        sweep(root.path(), now);
        assert!(gone.iter().all(|folder| folder.exists()) && index.exists());
        sweep(root.path(), now + 2 * YOUNG);
        assert!(!gone.iter().any(|folder| folder.exists()) && !index.exists());
    }

    #[test]
    fn what_somebody_makes_or_owns_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        let run = begun(outside.path(), ID);
        let link = root.path().join(format!(".{ID}.new-2"));
        std::os::unix::fs::symlink(&run, &link).expect("made");
        let foreign = [
            ".mine.new-1",
            ".tried-mine",
            ".tried-1-",
            ".blocklab-index",
            "a.new-1",
        ];
        let foreign = foreign.map(|name| begun(root.path(), name));
        let held = begun(root.path(), &format!(".{ID}.new-1"));
        let maker = File::open(&held).expect("opened");
        maker.lock().expect("locked");
        let with_more = begun(root.path(), &format!(".{ID}.new-3"));
        fs::write(with_more.join("mine"), "").expect("written");

        sweep(root.path(), SystemTime::now() + 2 * YOUNG);
        assert!(run.join(RECORD).exists() && link.exists());
        assert!(foreign.iter().all(|folder| folder.join(RECORD).exists()));
        assert!(held.join(RECORD).exists() && with_more.join("mine").exists());

        drop(maker);
        sweep(root.path(), SystemTime::now() + 2 * YOUNG);
        assert!(!held.exists());
    }
}
