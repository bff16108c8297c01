//! Keeps runs: in the store, and where that fails in another place, so that no run is lost.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, fmt};

use anyhow::{Context, Result, anyhow};
use blocklab_record::Record;
use blocklab_store::Store;

use crate::output::{self, Over};
use blocklab_console::{chance, terminal};

/// The store cannot be written to: the user's mistake, for every command.
#[derive(Debug)]
pub struct NoStore;

impl fmt::Display for NoStore {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(
            "cannot keep runs in the store; use another one with --store DIR or BLOCKLAB_STORE=DIR",
        )
    }
}

/// Tries the store, before anything is measured.
pub fn try_out(store: &Store, no_save: bool) -> Result<()> {
    if no_save {
        Ok(())
    } else {
        store.try_out().context(NoStore)
    }
}

/// Keeps the runs of one command.
pub struct Keeping<'a> {
    store: &'a Store,
    /// Made when the store has failed.
    other: Option<Store>,
    /// Whether everything went where it was to go.
    pub is_well: bool,
}

impl<'a> Keeping<'a> {
    /// Nothing is kept yet.
    pub const fn new(store: &'a Store) -> Self {
        Self {
            store,
            other: None,
            is_well: true,
        }
    }

    /// Keeps a run whose result has been printed. Where it is kept.
    pub fn keep(&mut self, record: &mut Record) -> Option<PathBuf> {
        match self.store.keep(record) {
            Ok(folder) => return Some(folder),
            Err(error) => self.fails(&anyhow!(error).context("the run cannot be kept")),
        }
        let kept = self.other_store().and_then(|other| {
            let folder = other.keep(record)?;
            Ok((other.root().to_path_buf(), folder))
        });
        match kept {
            Ok((root, folder)) => {
                terminal::warn(&format!(
                    "it is kept in another place: blocklab --store {} show {}",
                    root.display(),
                    record.id
                ));
                Some(folder)
            }
            Err(error) => {
                let words = "it is not stored: only what was printed is left";
                terminal::complain(&error.context(words));
                None
            }
        }
    }

    /// Writes a page. `again`: the command that makes it again, where a run is kept.
    pub fn page(&mut self, path: &Path, page: &str, over: Over, again: Option<&str>) -> bool {
        let Err(error) = output::write(path, page, over) else {
            return true;
        };
        self.fails(&error);
        match again {
            Some(again) => terminal::warn(&format!("the run is kept; the page again: {again}")),
            None => self.page_in_temp(page),
        }
        false
    }

    fn page_in_temp(&mut self, page: &str) {
        let written = self.other_store().and_then(|other| {
            let path = Store::page(other.root());
            output::write(&path, page, Over::Ours).map(|()| path)
        });
        match written {
            Ok(path) => terminal::warn(&format!("the page is in {}", path.display())),
            Err(error) => terminal::complain(&error.context("the page is nowhere")),
        }
    }

    /// A result that could not be printed, or a file that could not be written, is reported and
    /// stops nothing: the run is kept.
    pub fn reported(&mut self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.fails(&error);
        }
    }

    fn fails(&mut self, error: &anyhow::Error) {
        self.is_well = false;
        terminal::complain(error);
    }

    /// A store of this command alone, in a folder that nobody else can have prepared.
    fn other_store(&mut self) -> Result<&Store> {
        if self.other.is_none() {
            self.other = Some(Store::open(fresh_folder()?));
        }
        self.other.as_ref().context("it was just made")
    }
}

/// Below the directory for temporary files, else below the current one.
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
                // Where it was not made, there is nothing to remove.
                let _ = fs::remove_dir(&folder);
                failure = error.context(format!("cannot keep it in {}", parent.display()));
            }
        }
    }
    Err(failure)
}
