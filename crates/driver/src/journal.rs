//! In: the writes of a job with a journal. Out: their entries on stable storage before they begin.
//!
//! ```text
//!   begin:  map ─▶ PATH.map, empty PATH.jnl
//!   write:  note ─▶ PATH.jnl, synced ─▶ the write goes out
//!   end:    map ─▶ PATH.map, empty PATH.jnl
//! ```
//!
//! A new map replaces the old one atomically, with a higher generation, which makes an older journal
//! obsolete.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use blocklab_targets::Target;
use blocklab_units::Nanos;
use blocklab_verify::{JournalWriter, KeyMap, MapState, SavedKeys};
use blocklab_workload::{Completion, Direction, Io, Job, Journal, Validation};

use crate::{Error, Observer, TargetFile};

/// The file with the keys of a journal at this path.
pub fn map_path(path: &str) -> PathBuf {
    with_ending(path, ".map")
}

/// The file with the writes since its map.
pub fn journal_path(path: &str) -> PathBuf {
    with_ending(path, ".jnl")
}

fn with_ending(path: &str, ending: &str) -> PathBuf {
    let mut path = OsString::from(path);
    path.push(ending);
    PathBuf::from(path)
}

/// The keys of each storage whose data is compared by them, by its name.
pub(crate) struct RunKeys(BTreeMap<String, Arc<KeyMap>>);

impl RunKeys {
    /// Keys that the observer has from earlier runs; those of other storages start unknown.
    pub(crate) fn new(jobs: &[Job], targets: &[Vec<TargetFile>], observer: &dyn Observer) -> Self {
        let mut keys = BTreeMap::new();
        for (job, files) in jobs.iter().zip(targets) {
            if let Some(Validation { keys: plan, .. }) = job.validation() {
                keys.entry(plan.name.clone()).or_insert_with(|| {
                    let size = files.first().map_or(0, |file| file.size);
                    observer
                        .keys(&plan.name)
                        .unwrap_or_else(|| Arc::new(KeyMap::new(plan, size, Arc::default())))
                });
            }
        }
        Self(keys)
    }

    /// The keys of a job, if its data is compared by keys.
    pub(crate) fn of_job(&self, job: &Job) -> Option<Arc<KeyMap>> {
        self.0.get(&job.validation()?.keys.name).map(Arc::clone)
    }
}

/// The journals of a run, by their path.
#[derive(Debug, Default)]
pub(crate) struct Journals(BTreeMap<String, Arc<OpenJournal>>);

/// The journal of one storage during a run.
#[derive(Debug)]
pub(crate) struct OpenJournal {
    how: Journal,
    keys: Arc<KeyMap>,
    generation: u64,
    /// `None` if only maps are kept.
    notes: Option<Mutex<Notes>>,
}

#[derive(Debug)]
struct Notes {
    file: File,
    writer: JournalWriter,
}

impl Journals {
    /// Opens the journals of all jobs that keep one: writes the map of each storage as it is, and
    /// empties its journal.
    pub(crate) fn begin(jobs: &[Job], keys: &RunKeys) -> Result<Self, Error> {
        let mut journals = Self::default();
        for job in jobs {
            let Some((how, keys)) = journal_of(job).zip(keys.of_job(job)) else {
                continue;
            };
            if journals.0.contains_key(&how.path) {
                continue;
            }
            let journal = OpenJournal::begin(how, &keys).map_err(|cause| {
                // Else those before it would be left as after a kill.
                drop(journals.end());
                Error::Journal(map_path(&how.path), cause)
            })?;
            journals.0.insert(how.path.clone(), Arc::new(journal));
        }
        Ok(journals)
    }

    pub(crate) fn journal_for(&self, job: &Job) -> Option<Arc<OpenJournal>> {
        self.0.get(&journal_of(job)?.path).map(Arc::clone)
    }

    /// Writes the maps, once nothing is in flight any more: also the other ones where one cannot be
    /// written, of which the first is the error.
    pub(crate) fn end(&self) -> Result<(), Error> {
        let mut result = Ok(());
        for journal in self.0.values() {
            let path = map_path(&journal.how.path);
            let ended = journal.end().map_err(|cause| Error::Journal(path, cause));
            result = result.and(ended);
        }
        result
    }
}

fn journal_of(job: &Job) -> Option<&Journal> {
    job.validation()?.journal.as_ref()
}

impl OpenJournal {
    /// Writes the map of a storage as it is and empties its journal, so that writes can be entered.
    fn begin(how: &Journal, keys: &Arc<KeyMap>) -> io::Result<Self> {
        let generation = last_generation(&map_path(&how.path)) + 1;
        let state = if how.map_only {
            MapState::Open
        } else {
            MapState::Journalled
        };
        // The map before the journal: killed in between, the old journal is one of an older generation,
        // whose writes the map already has.
        write_map(&how.path, &keys.saved(generation, state))?;
        let file = empty(&journal_path(&how.path)).inspect_err(|_| {
            // Nothing was written yet, and a map that stays open is one of a killed run.
            drop(write_map(
                &how.path,
                &keys.saved(generation + 1, MapState::Closed),
            ));
        })?;
        let notes = (!how.map_only).then(|| {
            Mutex::new(Notes {
                file,
                writer: JournalWriter::new(generation),
            })
        });
        Ok(Self {
            how: how.clone(),
            keys: Arc::clone(keys),
            generation,
            notes,
        })
    }

    fn end(&self) -> io::Result<()> {
        let saved = self.keys.saved(self.generation + 1, MapState::Closed);
        write_map(&self.how.path, &saved)?;
        empty(&journal_path(&self.how.path)).map(drop)
    }

    fn notes(&self) -> Option<MutexGuard<'_, Notes>> {
        let notes = self.notes.as_ref()?;
        Some(notes.lock().expect("no panic under this lock"))
    }
}

impl Notes {
    /// Appends the entries since the last time.
    fn store(&mut self, sync: bool) -> io::Result<()> {
        self.file.write_all(&self.writer.records())?;
        if sync { self.file.sync_data() } else { Ok(()) }
    }
}

/// The generation of the map that is about to be replaced; 0 if there is none that can be read.
fn last_generation(path: &Path) -> u64 {
    let saved = fs::read(path)
        .ok()
        .and_then(|bytes| SavedKeys::from_bytes(&bytes).ok());
    saved.map_or(0, |saved| saved.generation)
}

/// Replaces the map at a path: the new one is on stable storage before it takes the name.
fn write_map(path: &str, saved: &SavedKeys) -> io::Result<()> {
    let (new, map) = (with_ending(path, ".map.new"), map_path(path));
    // A file there is from a killed run, or it is a link to somewhere else.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::create_new(&new)?;
    file.write_all(&saved.to_bytes())?;
    file.sync_all()?;
    fs::rename(&new, &map)?;
    sync_folder(&map)
}

/// Puts the name of a file on stable storage: it is in the file's folder, not in the file.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// The file at a path, emptied on stable storage; it is created if it is not there.
fn empty(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    if !file.metadata()?.is_file() {
        let why = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    file.set_len(0)?;
    file.sync_all()?;
    sync_folder(path)?;
    Ok(file)
}

/// A target whose writes get an entry first: they wait until [`Target::flush`] or [`Target::wait`],
/// are entered together, and are then passed on.
pub(crate) struct Journalled {
    inner: Box<dyn Target>,
    journal: Arc<OpenJournal>,
    held: Vec<Io>,
    /// Offset and length of the write in each slot.
    writes: Vec<Option<(u64, u32)>>,
}

impl Journalled {
    pub(crate) fn new(inner: Box<dyn Target>, journal: Arc<OpenJournal>, depth: u32) -> Self {
        Self {
            inner,
            journal,
            held: Vec::with_capacity(depth as usize),
            writes: vec![None; depth as usize],
        }
    }

    /// Enters the writes that were held back in the journal, and then submits them.
    fn submit_held(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        if let Some(mut notes) = self.journal.notes() {
            for io in &self.held {
                let coming = self.journal.keys.coming(io.offset, u64::from(io.len));
                for (block, key) in coming {
                    notes.writer.begins(block, key);
                }
            }
            notes.store(self.journal.how.sync)?;
        }
        for io in self.held.drain(..) {
            self.inner.submit(&io);
        }
        Ok(())
    }

    /// Enters the writes that succeeded; they are stored with the next ones that begin.
    fn note_ends(&mut self, done: &[Completion]) {
        let Some(mut notes) = self.journal.notes() else {
            return;
        };
        for completion in done {
            let write = self.writes[completion.slot.index()].take();
            let Some((offset, len)) = write.filter(|(_, len)| completion.result == *len as i32)
            else {
                continue;
            };
            for (block, key) in self.journal.keys.coming(offset, u64::from(len)) {
                notes.writer.ended(block, key);
            }
        }
    }
}

impl Target for Journalled {
    fn submit(&mut self, io: &Io) {
        if io.direction != Direction::Write {
            self.inner.submit(io);
            return;
        }
        self.writes[io.slot.index()] = Some((io.offset, io.len));
        self.held.push(io.handed_on());
    }

    fn flush(&mut self) -> io::Result<()> {
        self.submit_held()?;
        self.inner.flush()
    }

    fn wait(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.submit_held()?;
        self.inner.wait(at_least, until, done)?;
        self.note_ends(done);
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use blocklab_targets::Clock;
    use blocklab_workload::{KeyPlan, Mix, Pooled, Slot, Stop, SyncKind, Workload};

    use super::*;
    use crate::{Control, Run, run};

    /// A target that records how long the journal was when each operation came.
    struct Watching {
        path: PathBuf,
        lengths: Arc<Mutex<Vec<u64>>>,
        done: Vec<Completion>,
    }

    impl Target for Watching {
        fn submit(&mut self, io: &Io) {
            let len = fs::metadata(&self.path).expect("it is there").len();
            self.lengths.lock().expect("no panic").push(len);
            self.done.push(io.returned(io.len as i32));
        }

        fn wait(
            &mut self,
            _: usize,
            _: Option<Nanos>,
            done: &mut Vec<Completion>,
        ) -> io::Result<()> {
            done.append(&mut self.done);
            Ok(())
        }

        fn now(&self) -> Nanos {
            Nanos::ZERO
        }
    }

    fn write(slot: u32, offset: u64) -> Io {
        Io {
            slot: Slot::returned(slot),
            direction: Direction::Write,
            sync: SyncKind::Whole,
            file: 0,
            len: 4096,
            offset,
            priority: 0,
        }
    }

    fn map_state(path: &str) -> MapState {
        let map = fs::read(map_path(path)).expect("it is there");
        SavedKeys::from_bytes(&map).expect("it is whole").state
    }

    /// The story: with `-jm`, a run that had no memory for its threads left the map of its storage open. It
    /// had written nothing, and the next run could not use the map: it was that of a killed run.
    #[test]
    fn a_run_that_cannot_begin_leaves_its_maps_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let job = |name: &str, path: &str| {
            let pool = Pooled {
                validation: Some(Validation {
                    keys: KeyPlan {
                        name: name.to_owned(),
                        block: 4096,
                        compress_percent: 0,
                        times: false,
                    },
                    read_before_write: false,
                    read_after_write: false,
                    journal: Some(Journal {
                        path: at(path),
                        map_only: true,
                        sync: true,
                    }),
                    most_wrong: 1,
                }),
                ..Pooled::new(name, 1)
            };
            Job {
                mix: Mix::WRITE,
                pool: Some(pool),
                stop: Stop {
                    loops: Some(1),
                    ..Stop::default()
                },
                ..Job::new(name)
            }
        };
        let refused = |jobs: Vec<Job>| {
            let targets: Vec<_> = (jobs.iter())
                .map(|_| vec![TargetFile::file(at("data").into(), 1 << 20, false)])
                .collect();
            let workload = Workload { seed: 1, jobs };
            let load = Run {
                workload: &workload,
                targets: &targets,
                clock: Clock::start(),
            };
            let never = AtomicBool::new(false);
            run(load, Control::new(&never), &mut ()).expect_err("it cannot begin")
        };
        let error = refused(vec![job("sd1", "sd1")]);
        assert!(matches!(error, Error::NotPermitted(..)), "{error}");
        assert_eq!(map_state(&at("sd1")), MapState::Closed);
        let error = refused(vec![job("sd1", "sd1"), job("sd2", "missing/sd2")]);
        assert!(matches!(error, Error::Journal(..)), "{error}");
        assert_eq!(map_state(&at("sd1")), MapState::Closed);
        // The map could be written, and the journal not.
        fs::create_dir(journal_path(&at("sd3"))).expect("a new folder");
        let error = refused(vec![job("sd3", "sd3")]);
        assert!(matches!(error, Error::Journal(..)), "{error}");
        assert_eq!(map_state(&at("sd3")), MapState::Closed);
    }

    /// Two writes at once are one note; it is there before either, and what is left after a kill
    /// names those in flight.
    #[test]
    fn a_write_is_noted_before_it_begins() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sd1").to_string_lossy().into_owned();
        let plan = KeyPlan {
            name: "sd1".to_owned(),
            block: 4096,
            compress_percent: 0,
            times: false,
        };
        let keys = Arc::new(KeyMap::new(&plan, 1 << 20, Arc::default()));
        let how = Journal {
            path: path.clone(),
            map_only: false,
            sync: true,
        };
        let journal = OpenJournal::begin(&how, &keys).expect("it can be begun");
        let journal = Arc::new(journal);
        let lengths = Arc::new(Mutex::new(Vec::new()));
        let inner = Box::new(Watching {
            path: journal_path(&path),
            lengths: Arc::clone(&lengths),
            done: Vec::new(),
        });
        let mut target = Journalled::new(inner, Arc::clone(&journal), 4);
        let mut done = Vec::new();
        target.submit(&write(0, 4096));
        target.submit(&write(1, 8192));
        target.wait(2, None, &mut done).expect("it works");
        keys.written(4096, 8192, 1);
        target.submit(&write(2, 4096));
        target.flush().expect("it works");
        assert_eq!(*lengths.lock().expect("no panic"), [512, 512, 1024]);
        let map = fs::read(map_path(&path)).expect("it is there");
        let mut saved = SavedKeys::from_bytes(&map).expect("it is whole");
        let left = fs::read(journal_path(&path)).expect("it is there");
        let pending = saved.replay(&left).expect("it is whole");
        assert_eq!(pending.into_keys().collect::<Vec<_>>(), [1]);
        assert_eq!(saved.keys[..4], [0, 1, 1, 0]);
        journal.end().expect("it can be ended");
        let map = fs::read(map_path(&path)).expect("it is there");
        let saved = SavedKeys::from_bytes(&map).expect("it is whole");
        assert_eq!((saved.generation, saved.state), (2, MapState::Closed));
    }
}
