//! Stores runs: in the store that the user chose and, if that fails, in a new folder for temporary
//! files, so that hours of measuring are not lost.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, fmt};

use anyhow::{Context, Result, anyhow};
use blocklab_record::Record;
use blocklab_store::Store;

use crate::output::{self, Over};
use blocklab_console::{chance, place, terminal};

/// The context of the error that the store cannot be written. Commands recognize it by this type and
/// report it as the user's mistake.
#[derive(Debug)]
pub struct NoStore;

impl fmt::Display for NoStore {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(
            "cannot keep runs in the store; use another one with --store DIR or BLOCKLAB_STORE=DIR",
        )
    }
}

/// Tries to write to the store, unless runs are not stored at all.
pub fn try_out(store: &Store, no_save: bool) -> Result<()> {
    if no_save {
        Ok(())
    } else {
        store.try_out().context(NoStore)
    }
}

/// Stores the runs and pages of one command, and remembers whether anything failed.
pub struct Keeping<'a> {
    store: &'a Store,
    /// The replacement, which is made when the store has failed.
    other: Option<Store>,
    /// Whether everything so far is printed and stored where it should be.
    pub is_well: bool,
}

impl<'a> Keeping<'a> {
    /// Nothing is stored yet.
    pub const fn new(store: &'a Store) -> Self {
        Self {
            store,
            other: None,
            is_well: true,
        }
    }

    /// Stores a run whose result has been printed and gives its folder; `None`: it could be stored
    /// nowhere. What fails is reported on standard error.
    pub fn keep(&mut self, record: &mut Record) -> Option<PathBuf> {
        match self.store.keep(record) {
            Ok(folder) => return Some(folder),
            Err(error) => self.fails(&anyhow!(error).context("the run cannot be kept")),
        }
        // The other store gives the record another id if it has a run with this one. The spool is
        // under the old one.
        let id = record.id.clone();
        let kept = self.other_store().and_then(|other| {
            let folder = other.keep(record)?;
            Ok((other.root().to_path_buf(), folder))
        });
        match kept {
            Ok((root, folder)) => {
                self.store.discard_spool(&id);
                terminal::warn(&format!(
                    "it is kept in another place: blocklab --store {} show {}",
                    place::shell_word(&root.display().to_string()),
                    record.id
                ));
                Some(folder)
            }
            Err(error) => {
                let words = "it is not stored: only what was printed is left";
                terminal::complain(&error.context(words));
                self.discard_other();
                None
            }
        }
    }

    /// Writes a page to `path`; false, when that fails. `again`: the command that writes it again from
    /// the stored run; without one, the page goes to the replacement store.
    pub fn write_page(&mut self, path: &Path, page: &str, over: Over, again: Option<&str>) -> bool {
        let Err(error) = output::write(path, page, over) else {
            return true;
        };
        self.fails(&error);
        match again {
            Some(again) => terminal::warn(&format!("the run is kept; the page again: {again}")),
            None => self.write_page_in_temp(page),
        }
        false
    }

    /// Writes the page into the replacement store, and says where it is.
    fn write_page_in_temp(&mut self, page: &str) {
        let written = self.other_store().and_then(|other| {
            let path = Store::page(other.root());
            output::write(&path, page, Over::Ours).map(|()| path)
        });
        match written {
            Ok(path) => terminal::warn(&format!("the page is in {}", path.display())),
            Err(error) => {
                terminal::complain(&error.context("the page is nowhere"));
                self.discard_other();
            }
        }
    }

    /// Removes the replacement store if nothing is in it.
    fn discard_other(&mut self) {
        if let Some(other) = self.other.take() {
            // One that holds a run is not empty, so that it stays.
            let _ = fs::remove_dir(other.root());
        }
    }

    /// Reports an error, if `outcome` is one, and goes on: it must not keep the run from being stored.
    pub fn report(&mut self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.fails(&error);
        }
    }

    fn fails(&mut self, error: &anyhow::Error) {
        self.is_well = false;
        terminal::complain(error);
    }

    /// The replacement store of this command.
    fn other_store(&mut self) -> Result<&Store> {
        let other = match self.other.take() {
            Some(other) => other,
            None => Store::open(fresh_folder()?),
        };
        Ok(self.other.insert(other))
    }
}

/// Makes a folder below the directory for temporary files or, if that fails, below the current one.
///
/// Its random name, mode 0700 and exclusive creation keep another user from preparing the folder, or
/// a link in its place, in a directory that everybody can write to.
fn fresh_folder() -> Result<PathBuf> {
    let name = format!("blocklab-{:016x}", chance()?);
    let mut failure = anyhow!("there is no other place");
    for parent in [env::temp_dir(), env::current_dir().unwrap_or_default()] {
        let folder = parent.join(&name);
        let made = DirBuilder::new().mode(0o700).create(&folder);
        let tried = made.map_err(anyhow::Error::from).and_then(|()| {
            let tried = Store::open(&folder).try_out();
            tried.map_err(anyhow::Error::from)
        });
        match tried {
            Ok(()) => return Ok(folder),
            Err(error) => {
                // It may not exist, when it was the making that failed.
                let _ = fs::remove_dir(&folder);
                failure = error.context(format!("cannot keep it in {}", parent.display()));
            }
        }
    }
    Err(failure)
}
