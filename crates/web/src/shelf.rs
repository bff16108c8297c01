//! In: the store. Out: its runs, as pages show them; nothing that a link leads elsewhere for.
//!
//! A file of its own: ids come from addresses that anybody can type, and folders from anybody who can
//! write into the store.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use blocklab_compare::history::RunHead;
use blocklab_record::Record;
use blocklab_results::history::DERIVATION;
use blocklab_store::spool::Follower;
use blocklab_store::{Index, Store, StoreError, is_id};

/// The runs of a store.
#[derive(Debug, Clone)]
pub struct Shelf {
    store: Store,
    latest: Arc<Mutex<Option<Latest>>>,
}

/// The index as it was read last: a look at the folders of 20,000 runs takes a third of a second.
#[derive(Debug)]
struct Latest {
    index: Arc<Index<RunHead>>,
    /// When the folder of the store was changed last: a run that is new or gone changes it.
    changed: Option<SystemTime>,
    read: Instant,
}

/// A record that somebody has changed by hand is seen after this time.
const FRESH: Duration = Duration::from_secs(10);
/// A run that goes on changes every second, and not the folder of the store.
const FRESH_WHILE_RUNNING: Duration = Duration::from_secs(1);

impl Latest {
    fn is_fresh(&self, changed: Option<SystemTime>) -> bool {
        let goes_on = self.index.runs.iter().any(|indexed| indexed.run.partial);
        let fresh = if goes_on { FRESH_WHILE_RUNNING } else { FRESH };
        changed.is_some() && self.changed == changed && self.read.elapsed() < fresh
    }
}

/// Why there is no page of a run.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    /// The text is no id.
    #[error("`{}` is no id of a run; one looks like 20261120-190142-k3f", .0.escape_debug())]
    NoId(String),
    /// Nothing of that id is in the store, or something that a link leads to.
    #[error("no run {0} is in the store")]
    Unknown(String),
    /// It is there and cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Shelf {
    /// The runs of this store.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            latest: Arc::default(),
        }
    }

    /// Where they are kept.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// All runs with what is derived from them, the oldest first.
    pub fn index(&self) -> Arc<Index<RunHead>> {
        let mut latest = self.latest.lock().expect("no panic under this lock");
        let changed = fs::metadata(self.store.root())
            .and_then(|facts| facts.modified())
            .ok();
        if let Some(known) = latest.as_ref().filter(|known| known.is_fresh(changed)) {
            return Arc::clone(&known.index);
        }
        let index = Arc::new(self.store.index(&DERIVATION));
        *latest = Some(Latest {
            index: Arc::clone(&index),
            changed,
            read: Instant::now(),
        });
        index
    }

    /// The run of this id.
    ///
    /// # Errors
    /// [`NoRun`].
    pub fn load(&self, id: &str) -> Result<Record, NoRun> {
        let folder = self.folder(id)?;
        Ok(self.store.load(&folder)?.record)
    }

    /// Follows a run that goes on; `None`: it has ended.
    ///
    /// # Errors
    /// [`NoRun`].
    pub fn follow(&self, id: &str) -> Result<Option<Follower>, NoRun> {
        let folder = self.folder(id)?;
        if folder.ends_with(".partial") {
            Ok(Some(self.store.follow(id)?))
        } else {
            Ok(None)
        }
    }

    /// The newest run that goes on.
    pub fn going_on(&self) -> Option<Record> {
        let index = self.index();
        let runs = index.runs.iter().rev().map(|indexed| &indexed.run);
        let mut partial = runs.filter(|run| run.partial);
        let held = partial.find(|run| self.is_running(&run.id))?;
        self.load(&held.id).ok()
    }

    /// Whether it goes on, as far as the lock of its spool shows.
    pub fn is_running(&self, id: &str) -> bool {
        let follower = self.follow(id).ok().flatten();
        follower.is_some_and(|follower| follower.is_held())
    }

    /// The path of a run's folder, in which and on the way to which nothing is a link.
    fn folder(&self, id: &str) -> Result<String, NoRun> {
        if !is_id(id) {
            return Err(NoRun::NoId(id.to_owned()));
        }
        let root = self.store.root();
        let found = [("", "record.json"), (".partial", "spool.ndjson")]
            .into_iter()
            .find_map(|(end, file)| {
                let folder = root.join(format!("{id}{end}"));
                let is_folder = fs::symlink_metadata(&folder).is_ok_and(|facts| facts.is_dir());
                let is_file =
                    fs::symlink_metadata(folder.join(file)).is_ok_and(|facts| facts.is_file());
                (is_folder && is_file).then(|| folder.to_string_lossy().into_owned())
            });
        found.ok_or_else(|| NoRun::Unknown(id.to_owned()))
    }
}
