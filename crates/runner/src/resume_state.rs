//! In: a study that was interrupted. Out: what is needed to resume it, its runs and its seed, as a
//! file.
//!
//! ```text
//!  STORE/.studies/9c1d….json    one file for each unfinished study, named after a hash of its request
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use blocklab_store::{read_plain, remove_if_there};
use serde::{Deserialize, Serialize};

/// A study that is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeState {
    /// Everything that identifies the study: its text, and the options that override it.
    #[serde(alias = "asked")]
    pub requested: String,
    /// The root seed, as a string: JSON readers lose the low bits of large numbers.
    pub seed: String,
    /// The run of each system.
    pub runs: BTreeMap<String, String>,
}

/// The folder of these files in a store. It is hidden, so that no list of runs shows it.
const FOLDER: &str = ".studies";

impl ResumeState {
    /// The unfinished study with the same request; `None` if there is none that can be read.
    pub fn find(store: &Path, requested: &str) -> Option<Self> {
        let text = read_plain(&file(store, requested)).ok()?;
        let resume_state: Self = serde_json::from_str(&text).ok()?;
        (resume_state.requested == requested).then_some(resume_state)
    }

    /// Writes the file, as a whole or not at all.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn write(&self, store: &Path) -> io::Result<()> {
        let file = file(store, &self.requested);
        fs::create_dir_all(store.join(FOLDER))?;
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        let fresh = file.with_extension("new");
        // A leftover of a killed process, or anything else that has the name, is replaced and not
        // written to: opening a pipe would block.
        remove_if_there(&fresh)?;
        File::create_new(&fresh)?.write_all(text.as_bytes())?;
        fs::rename(fresh, file)
    }

    /// Removes the file, because the study is finished or starts again.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove(&self, store: &Path) -> io::Result<()> {
        remove_if_there(&file(store, &self.requested))
    }
}

fn file(store: &Path, requested: &str) -> PathBuf {
    // FNV-1a is enough for a handful of studies; the request in the file decides.
    let hash = requested
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    store.join(FOLDER).join(format!("{hash:016x}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_is_found_again() {
        let store = tempfile::tempdir().expect("a folder");
        let resume_state = ResumeState {
            requested: "two systems".to_owned(),
            seed: u64::MAX.to_string(),
            runs: BTreeMap::from([("a".to_owned(), "20261120-190142-k3f".to_owned())]),
        };
        assert_eq!(
            ResumeState::find(store.path(), &resume_state.requested),
            None
        );
        resume_state.write(store.path()).expect("written");
        assert_eq!(
            ResumeState::find(store.path(), &resume_state.requested),
            Some(resume_state.clone())
        );
        assert_eq!(ResumeState::find(store.path(), "another"), None);
        resume_state.remove(store.path()).expect("removed");
        resume_state.remove(store.path()).expect("gone already");
        assert_eq!(
            ResumeState::find(store.path(), &resume_state.requested),
            None
        );
    }

    /// The story: a pipe in the place of the progress of a study made the command wait for ever.
    #[test]
    fn a_pipe_in_its_place_holds_no_command() {
        let store = tempfile::tempdir().expect("a folder");
        let resume_state = ResumeState {
            requested: "two systems".to_owned(),
            seed: "1".to_owned(),
            runs: BTreeMap::new(),
        };
        fs::create_dir(store.path().join(FOLDER)).expect("made");
        let place = file(store.path(), &resume_state.requested);
        for pipe in [&place, &place.with_extension("new")] {
            let path = std::ffi::CString::new(pipe.to_str().expect("text")).expect("no zero");
            // SAFETY: the path is a string that ends in zero.
            assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        }
        let requested = &*resume_state.requested;
        assert_eq!(ResumeState::find(store.path(), requested), None);
        resume_state.write(store.path()).expect("written");
        assert_eq!(
            ResumeState::find(store.path(), requested),
            Some(resume_state.clone())
        );
    }
}
