//! In: the store. Out: its runs, as the pages need them.
//!
//! Ids come from URLs, which anybody can type, and folders from anybody who can write into the store.
//! So every id is checked, and symbolic links are not followed: a page never shows a file that is
//! outside the store.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use blocklab_compare::history::RunHead;
use blocklab_record::Record;
use blocklab_results::history::DERIVATION;
use blocklab_store::spool::Follower;
use blocklab_store::{Index, Store, StoreError, is_id};

/// The runs of a store, with a cache of its index.
#[derive(Debug, Clone)]
pub struct StoredRuns {
    store: Store,
    cache: Arc<Mutex<Option<CachedIndex>>>,
}

/// The index as it was read last. It is kept because looking at the folders of 20,000 runs takes a
/// third of a second.
#[derive(Debug)]
struct CachedIndex {
    index: Arc<Index<RunHead>>,
    /// Modification time of the store's folder, which changes when a run is added or removed; `None`:
    /// unknown.
    modified: Option<SystemTime>,
    read: Instant,
}

/// A Record that was edited in place leaves the folder's time as it is; it is read again after this
/// time.
const FRESH: Duration = Duration::from_secs(10);
/// The same while a run is going on: its spool grows every second, and the folder's time stays.
const FRESH_WHILE_RUNNING: Duration = Duration::from_secs(1);

impl CachedIndex {
    fn is_fresh(&self, modified: Option<SystemTime>) -> bool {
        let goes_on = self.index.runs.iter().any(|indexed| indexed.run.partial);
        let fresh = if goes_on { FRESH_WHILE_RUNNING } else { FRESH };
        modified.is_some() && self.modified == modified && self.read.elapsed() < fresh
    }
}

/// Why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// The text has not the form of an id.
    #[error("`{}` is no id of a run; one looks like 20261120-190142-k3f", .0.escape_debug())]
    InvalidId(String),
    /// The store has no run of this id, or only a symbolic link of this name.
    #[error("no run {0} is in the store")]
    Unknown(String),
    /// The run is there, but cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StoredRuns {
    /// The runs of this store; nothing is read yet.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            cache: Arc::default(),
        }
    }

    /// The store they are in.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// All runs with what is derived from them, the oldest first.
    pub fn index(&self) -> Arc<Index<RunHead>> {
        // The lock is kept while the index is read: pages that ask meanwhile wait for this reading
        // instead of starting one each.
        let mut cache = self.cache.lock().expect("no panic under this lock");
        // The time is taken before the reading: a run that is added meanwhile makes the cache stale.
        let modified = fs::metadata(self.store.root())
            .and_then(|metadata| metadata.modified())
            .ok();
        if let Some(cached) = cache.as_ref().filter(|cached| cached.is_fresh(modified)) {
            return Arc::clone(&cached.index);
        }
        let index = Arc::new(self.store.index(&DERIVATION));
        *cache = Some(CachedIndex {
            index: Arc::clone(&index),
            modified,
            read: Instant::now(),
        });
        index
    }

    /// The Record of a run, finished or not.
    ///
    /// # Errors
    /// [`LookupError`] when the id is malformed or unknown, or the run cannot be read.
    pub fn load(&self, id: &str) -> Result<Record, LookupError> {
        let folder = self.folder(id)?;
        Ok(self.store.load(&folder)?.record)
    }

    /// Opens the spool of an unfinished run; `None`: the run is finished and has a Record.
    ///
    /// # Errors
    /// [`LookupError`] when the id is malformed or unknown, or the spool cannot be read.
    pub fn follow(&self, id: &str) -> Result<Option<Follower>, LookupError> {
        let folder = self.folder(id)?;
        let is_partial = folder.ends_with(".partial");
        Ok(is_partial.then(|| self.store.follow(id)).transpose()?)
    }

    /// The newest run that is going on, with what it has measured so far.
    pub fn newest_running(&self) -> Option<Record> {
        let index = self.index();
        let runs = index.runs.iter().rev().map(|indexed| &indexed.run);
        let mut partial = runs.filter(|run| run.partial);
        let held = partial.find(|run| self.is_running(&run.id))?;
        self.load(&held.id).ok()
    }

    /// Whether a process still holds the lock of the run's spool. Without it, an unfinished run was
    /// killed.
    pub fn is_running(&self, id: &str) -> bool {
        let follower = self.follow(id).ok().flatten();
        follower.is_some_and(|follower| follower.is_held())
    }

    /// The path of a run's folder below the store. Neither the folder nor the file in it that is read
    /// may be a symbolic link.
    fn folder(&self, id: &str) -> Result<String, LookupError> {
        if !is_id(id) {
            return Err(LookupError::InvalidId(id.to_owned()));
        }
        let root = self.store.root();
        // Between the end of a run and the removal of its spool both exist: the Record goes first.
        let found = [("", "record.json"), (".partial", "spool.ndjson")]
            .into_iter()
            .find_map(|(end, file)| {
                let folder = root.join(format!("{id}{end}"));
                let is_folder = fs::symlink_metadata(&folder).is_ok_and(|facts| facts.is_dir());
                let is_file =
                    fs::symlink_metadata(folder.join(file)).is_ok_and(|facts| facts.is_file());
                (is_folder && is_file).then(|| folder.to_string_lossy().into_owned())
            });
        found.ok_or_else(|| LookupError::Unknown(id.to_owned()))
    }
}
