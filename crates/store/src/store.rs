//! In: a folder. Out: the store in it: runs are begun, kept, found, noted, listed and removed.
//!
//! A file of its own: what other crates call; each step is in a file of its name.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use blocklab_record::{BadRecord, Record, Status};
use blocklab_units::visible_lines;
use blocklab_workload::errno::remedy;
use jiff::Timestamp;

use crate::find::{self, Choice, FindError, Found, TAG_PREFIX};
use crate::folder::{self, PAGES, PARTIAL, RECORD};
use crate::leftovers;
use crate::note::{self, NOTE, TAGS};
use crate::plain::read_plain;
use crate::spool::{Follower, SPOOL, Spool, SpoolError, is_running, unfinished};
use crate::visible::made_visible;
use crate::{Listing, Removal, id, listing};

/// The runs in one folder of the file system.
///
/// ```text
///  ROOT/20261120-190142-k3f/record.json            finished: never written again
///  ROOT/20261120-191530-c07.partial/spool.ndjson   running, or killed while it ran
/// ```
///
/// The folders are the truth, and they can be copied, mailed or deleted; [`crate::Index`] is only
/// remembered.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A Record and where it came from.
#[derive(Debug)]
pub struct Stored {
    /// The record of the run. One that did not end counts as interrupted, or as running where it is
    /// known to go on.
    pub record: Record,
    /// The file it was read from.
    pub file: PathBuf,
    /// The run was killed, or is still running: this is what it had measured until then.
    pub partial: bool,
    /// How many runs have the name by which it was found; it is the newest of them.
    pub runs_of_name: usize,
}

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The text names no run, or several.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The file is there and cannot be understood.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: BadRecord,
    },
    /// What a run without an end has left cannot be understood.
    #[error("{}: {why}", path.display())]
    BadSpool {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: SpoolError,
    },
    /// A finished run has this id already, and finished runs are never rewritten.
    #[error("run {id} is already in {}, and a finished run is never rewritten", root.display())]
    Exists {
        /// The id.
        id: String,
        /// The store.
        root: PathBuf,
    },
    /// The id does not have the form of one, and could lead out of the store.
    #[error("`{}` is no id of a run; one looks like 20261120-190142-k3f", .0.escape_debug())]
    BadId(String),
    /// The run to remove is not in the store.
    #[error(
        "{} is not the folder of a run in the store {}; only runs of the store are removed",
        path.display(), root.display()
    )]
    Outside {
        /// What was named.
        path: PathBuf,
        /// The store.
        root: PathBuf,
    },
    /// The run to remove is still running.
    #[error(
        "run {id} is still running, so it is not removed: stop it first with Ctrl-C, or with the \
         signal TERM to its process; what it measured until then is kept, and can be removed"
    )]
    Running {
        /// The id.
        id: String,
    },
    /// The id in the record does not have the form of one.
    #[error("{}: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with its id.
        why: Box<StoreError>,
    },
    /// The note has this many bytes, more than a note may have.
    #[error(
        "the note has {0} bytes, and fewer than {longest} are kept; keep the text in a file, and \
         name that in the note", longest = note::LONGEST
    )]
    LongNote(usize),
    /// The tags of a run would have this many bytes together, more than they may have.
    #[error(
        "the tags of this run would have {0} bytes, and fewer than {longest} are kept; \
         `blocklab note RUN --untag TAG` takes one away", longest = note::LONGEST
    )]
    LongTags(usize),
    /// The word is none to choose runs by.
    #[error(
        "`{}` cannot be a tag: a tag has up to 64 letters, digits and - _ . , such as baseline",
        .0.escape_debug()
    )]
    BadTag(String),
    /// The file system refused.
    #[error("cannot {doing} {}: {why}{}", path.display(), remedy(why))]
    Io {
        /// `read`, `write`, `remove`.
        doing: &'static str,
        /// What with.
        path: PathBuf,
        /// The error of the kernel.
        why: io::Error,
    },
}

impl StoreError {
    /// Whether the file was not there.
    fn is_not_found(&self) -> bool {
        match self {
            Self::Io { why, .. }
            | Self::BadSpool {
                why: SpoolError::Io(why),
                ..
            } => why.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

/// Runs that can begin in the same 1/32 s: the ten bits of salt in an id.
const SALTS: u64 = 1024;

impl Store {
    /// The store in `root`. Nothing is touched until something is saved, so the folder need not
    /// exist.
    pub fn open(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder that holds the runs.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// An id for a run that starts at `now`: short, sorted by time, not taken in this store, and
    /// behind those that began in the same moment before it. `salt` is a random number, so that another
    /// process draws another id.
    pub fn new_id(&self, now: Timestamp, salt: u64) -> String {
        let drawn = id::compose(now, salt);
        if let Some(last) = self
            .last_of_moment(&drawn)
            .filter(|last_of_moment| *last_of_moment >= drawn)
        {
            let next = id::next(&last);
            if next > last {
                return next;
            }
        }
        if self.is_taken(&drawn) {
            self.next_free(&drawn)
        } else {
            drawn
        }
    }

    /// Whether the store has a run of this id: kept, running or killed.
    fn is_taken(&self, id: &str) -> bool {
        self.finished(id).exists() || self.partial(id).exists()
    }

    /// The next id of the same moment that is not taken.
    fn next_free(&self, id: &str) -> String {
        let mut next = id::next(id);
        // If 1,024 runs began in the same 1/32 s, the last one is taken, and `save` fails.
        for _ in 1..SALTS {
            if !self.is_taken(&next) {
                break;
            }
            next = id::next(&next);
        }
        next
    }

    /// An id for a run of the same command behind `last`. It does not look at all runs of the
    /// store, for a command can keep thousands; where it is taken, [`Store::keep`] gives another.
    pub fn id_after(last: &str, now: Timestamp, salt: u64) -> String {
        let drawn = id::compose(now, salt);
        let moment = drawn.len() - 2;
        if last.get(..moment) == drawn.get(..moment) {
            id::next(last)
        } else {
            drawn
        }
    }

    /// The last id in the store that is of the same 1/32 s; `None` if none is.
    fn last_of_moment(&self, id: &str) -> Option<String> {
        let moment = &id[..id.len() - 2];
        let folders = fs::read_dir(&self.root).ok()?.flatten();
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        // The folder of a run that goes on begins with the id, too.
        let ids = names.filter_map(|name| Some(name.get(..id.len())?.to_owned()));
        ids.filter(|id| id.starts_with(moment) && id::is_id(id))
            .max()
    }

    /// Keeps a finished run, and removes its spool. Whole or not at all, even when the power
    /// goes.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when the run is there, [`StoreError::BadId`],
    /// [`StoreError::Io`].
    pub fn save(&self, record: &Record) -> Result<PathBuf, StoreError> {
        let folder = self.finished(checked(&record.id)?);
        let taken = || StoreError::Exists {
            id: record.id.clone(),
            root: self.root.clone(),
        };
        if folder.exists() {
            return Err(taken());
        }
        folder::create(&folder, &record.to_json()).map_err(|error| {
            if folder.exists() {
                taken()
            } else {
                io_error("write", &folder)(error)
            }
        })?;
        // A note that was written while the run lasted goes with it. That the note cannot be copied must not
        // fail a run that is kept.
        for attachment in [NOTE, TAGS] {
            if let Some(text) = note::read(&self.partial(&record.id), attachment) {
                let _ = note::write(&folder, attachment, &text);
            }
        }
        self.discard_spool(&record.id);
        Ok(folder)
    }

    /// Removes the spool of a run that has ended and is kept, here or in another store. Without its
    /// run, it would be listed as one that was killed.
    pub fn discard_spool(&self, id: &str) {
        if let Ok(Some(spool)) = Removal::look(&self.partial(id)) {
            // A finished run hides a spool that cannot be removed.
            let _ = spool.carry_out();
        }
    }

    /// As [`Store::save`]; but where a run that began in the same moment, in another process, took
    /// the id meanwhile, the record gets the next one that is free.
    ///
    /// # Errors
    /// As [`Store::save`].
    pub fn keep(&self, record: &mut Record) -> Result<PathBuf, StoreError> {
        checked(&record.id)?;
        for _ in 1..SALTS {
            match self.save(record) {
                Err(StoreError::Exists { id, .. }) => record.id = self.next_free(&id),
                saved => return saved,
            }
        }
        self.save(record)
    }

    /// Gives the record another id where a run that began in the same moment, in another process,
    /// took its own meanwhile.
    pub fn settle(&self, record: &mut Record) {
        for _ in 1..SALTS {
            if !self.finished(&record.id).exists() {
                return;
            }
            record.id = self.next_free(&record.id);
        }
    }

    /// Checks that a run could be kept now: makes the files of one and removes them again. The
    /// folder of the store stays. What killed processes left half made is removed before.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn try_out(&self) -> Result<(), StoreError> {
        self.sweep();
        folder::try_out(&self.root).map_err(io_error("write to", &self.root))
    }

    /// Removes what killed processes left half made.
    pub fn sweep(&self) {
        leftovers::sweep(&self.root, SystemTime::now());
    }

    /// Begins the spool of a run, in the place of an older one: what it has measured so far, so that a
    /// killed run leaves it. Flushes the disk.
    ///
    /// # Errors
    /// [`StoreError::BadId`], [`StoreError::Io`].
    pub fn begin(&self, record: &Record) -> Result<Spool, StoreError> {
        let folder = self.partial(checked(&record.id)?);
        Spool::begin(&folder, record).map_err(io_error("write", &folder))
    }

    /// Follows a run that goes on.
    ///
    /// # Errors
    /// [`StoreError::BadId`].
    pub fn follow(&self, id: &str) -> Result<Follower, StoreError> {
        Ok(Follower::new(&self.partial(checked(id)?)))
    }

    /// The run that `spec` names: an id, the beginning of one, the last part of one, the name of a
    /// run (of several the newest; what changes or removes a run refuses that), `tag:` and a tag (the
    /// newest finished run that has it), the path of a run's folder or record, or `latest`.
    ///
    /// # Errors
    /// [`StoreError::Find`] when it names none or several, [`StoreError::Damaged`] when its
    /// record is no record or newer than this version, [`StoreError::Io`].
    pub fn load(&self, spec: &str) -> Result<Stored, StoreError> {
        self.find_and_read(spec, Choice::Newest, load_found)
    }

    /// The run that `spec` names, to change it: a name that several runs have is refused.
    pub(crate) fn load_to_change(&self, spec: &str) -> Result<Stored, StoreError> {
        self.find_and_read(spec, Choice::None, load_found)
    }

    /// As [`Store::load`], but with all texts as they are stored, for other programs.
    /// [`Store::load`] escapes the characters that control a terminal. A run that goes on counts as
    /// interrupted: what is stored again must not be running for ever.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_unchanged(&self, spec: &str) -> Result<Stored, StoreError> {
        let found = self.find_and_read(spec, Choice::Newest, read_found);
        found.map(|read| read.stored)
    }

    /// Finds a run and reads it. One that ended or was removed between these two is searched again;
    /// a path that leads nowhere stays that, so it is not tried for ever.
    fn find_and_read<T>(
        &self,
        spec: &str,
        choice: Choice,
        read: impl Fn(Found) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        for _ in 0..3 {
            match read(self.resolve(spec, choice)?) {
                Err(error) if error.is_not_found() => {}
                done => return done,
            }
        }
        read(self.resolve(spec, choice)?)
    }

    /// Keeps a note with the run that `spec` names, replacing an older one; `None` removes that. The
    /// record stays as it is. Returns the run as it is shown now.
    ///
    /// # Errors
    /// As [`Store::load`]; [`StoreError::LongNote`].
    pub fn annotate(&self, spec: &str, text: Option<&str>) -> Result<Stored, StoreError> {
        text.map_or(Ok(()), Self::check_note)?;
        let mut stored = self.load_to_change(spec)?;
        let folder = stored.file.parent().unwrap_or(Path::new("."));
        let file = folder.join(NOTE.name);
        match text {
            Some(text) => note::write(folder, NOTE, text).map_err(io_error("write", &file))?,
            None => note::delete(folder, NOTE).map_err(io_error("remove", &file))?,
        }
        stored.record.note = text.map(|text| visible_lines(text).into_owned());
        Ok(stored)
    }

    /// Refuses a note that is too long to be kept.
    ///
    /// # Errors
    /// [`StoreError::LongNote`].
    pub fn check_note(text: &str) -> Result<(), StoreError> {
        if text.len() as u64 >= note::LONGEST {
            return Err(StoreError::LongNote(text.len()));
        }
        Ok(())
    }

    /// All runs, the oldest first. Never fails: what cannot be read is listed separately.
    pub fn list(&self) -> Listing {
        listing::list(&self.root)
    }

    /// What removing the runs that `specs` name would remove, each folder once. Nothing is removed
    /// yet: [`Store::remove`] does that, when all of them are known.
    ///
    /// # Errors
    /// As [`Store::load`]; [`StoreError::Outside`] when one is not in this store,
    /// [`StoreError::Running`] when one has not ended. A damaged run can be removed by its id.
    pub fn removals(&self, specs: &[impl AsRef<str>]) -> Result<Vec<Removal>, StoreError> {
        let mut all: Vec<Removal> = Vec::new();
        for spec in specs {
            for removal in self.removals_of(spec.as_ref())? {
                if !all.contains(&removal) {
                    all.push(removal);
                }
            }
        }
        Ok(all)
    }

    /// The folders of the run that `spec` names: that of the finished run, and that of its spool.
    fn removals_of(&self, spec: &str) -> Result<Vec<Removal>, StoreError> {
        let found = self.resolve(spec, Choice::None)?.path;
        let run = if found.ends_with(RECORD) || found.ends_with(SPOOL) {
            found.parent().unwrap_or(&found)
        } else {
            found.as_path()
        };
        let mut removals = Vec::new();
        if let Some(id) = self.own_id(run) {
            let partial = self.partial(&id);
            if is_running(&partial.join(SPOOL)) {
                return Err(StoreError::Running { id });
            }
            for folder in [self.finished(&id), partial] {
                removals.extend(Removal::look(&folder).map_err(io_error("read", &folder))?);
            }
        }
        if removals.is_empty() {
            return Err(StoreError::Outside {
                path: run.to_path_buf(),
                root: self.root.clone(),
            });
        }
        Ok(removals)
    }

    /// Removes what a run wrote. Whether the folder is gone: what else is in it stays.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove(&self, removal: &Removal) -> Result<bool, StoreError> {
        removal
            .carry_out()
            .map_err(io_error("remove", removal.path()))
    }

    /// The id of a run by its folder; `None` if that is not directly in this store.
    fn own_id(&self, run: &Path) -> Option<String> {
        let root = self.root.canonicalize().ok()?;
        // A link in the store keeps its name here, so that what it leads to is not taken for it.
        let run = if run.parent() == Some(&self.root) {
            root.join(run.file_name()?)
        } else {
            run.canonicalize().ok()?
        };
        let name = run.file_name()?.to_str()?;
        let id = name.strip_suffix(PARTIAL).unwrap_or(name);
        (run.parent() == Some(&root) && checked(id).is_ok()).then(|| id.to_owned())
    }

    /// The run that `spec` names, without reading it.
    fn resolve(&self, spec: &str, choice: Choice) -> Result<Found, StoreError> {
        // A whole id needs no look at all the others.
        if checked(spec).is_ok() && self.finished(spec).join(RECORD).is_file() {
            return Ok(Found::of_run(&self.root, spec, false));
        }
        if let Some(tag) = spec.strip_prefix(TAG_PREFIX) {
            return Ok(Found::of_run(&self.root, &self.newest_of_tag(tag)?, false));
        }
        // An id has no slash: a text with one names none of them.
        if spec.contains('/')
            && let Some(found) = find::by_path(spec)
        {
            return Ok(found);
        }
        let ids = listing::folders(&self.root).map_err(io_error("read", &self.root))?;
        Ok(find::find(&self.root, &ids, spec, choice, |folder| {
            listing::name(&self.root, folder)
        })?)
    }

    /// Where the page of a run lies.
    pub fn page(folder: &Path) -> PathBuf {
        folder.join(PAGES[0])
    }

    /// Where the page of the study lies to which a run belongs.
    pub fn study_page(folder: &Path) -> PathBuf {
        folder.join(PAGES[1])
    }

    fn finished(&self, id: &str) -> PathBuf {
        assert!(id::is_id(id), "`{id}` may lead out of the store");
        self.root.join(id)
    }

    fn partial(&self, id: &str) -> PathBuf {
        assert!(id::is_id(id), "`{id}` may lead out of the store");
        self.root.join(format!("{id}{PARTIAL}"))
    }
}

/// As [`read_found`], with the texts as a terminal may show them.
pub(crate) fn load_found(found: Found) -> Result<Stored, StoreError> {
    let mut read = read_found(found)?;
    let record = &mut read.stored.record;
    let note = record.note.take();
    if let Some(visible) = made_visible(record, &read.json) {
        *record = visible;
    }
    record.note = note.map(|note| visible_lines(&note).into_owned());
    // Last, as no record with this status can be read from JSON.
    if read.goes_on {
        record.status = Status::Running;
    }
    Ok(read.stored)
}

/// A run as it was read.
struct ReadRun {
    stored: Stored,
    /// The text of its file.
    json: String,
    /// It is known to go on.
    goes_on: bool,
}

/// Reads the run that was found.
fn read_found(found: Found) -> Result<ReadRun, StoreError> {
    let file = run_file(found.path);
    let (mut record, json, goes_on) = if file.ends_with(SPOOL) {
        let (record, goes_on) = unfinished(&file).map_err(|why| StoreError::BadSpool {
            path: file.clone(),
            why,
        })?;
        let json = record.to_json();
        (record, json, goes_on)
    } else {
        let text = read_plain(&file).map_err(io_error("read", &file))?;
        let record = Record::from_json(&text).map_err(|why| StoreError::Damaged {
            path: file.clone(),
            why,
        })?;
        (record, text, false)
    };
    checked(&record.id).map_err(|why| StoreError::Foreign {
        path: file.clone(),
        why: Box::new(why),
    })?;
    if found.partial {
        mark_interrupted(&mut record);
    }
    // An exported record may hold the note that it had in its store.
    let note = file.parent().and_then(|folder| note::read(folder, NOTE));
    record.note = note.or(record.note);
    let stored = Stored {
        record,
        file,
        partial: found.partial,
        runs_of_name: found.runs_of_name,
    };
    Ok(ReadRun {
        stored,
        json,
        goes_on,
    })
}

/// The file that holds the run, where `found` is that or its folder.
fn run_file(found: PathBuf) -> PathBuf {
    let spool = found.join(SPOOL);
    if spool.is_file() {
        spool
    } else if found.is_dir() {
        found.join(RECORD)
    } else {
        found
    }
}

/// Marks a run without an end as interrupted: what it wrote last does not show it.
fn mark_interrupted(record: &mut Record) {
    record.status = Status::Interrupted;
    record
        .failure
        .get_or_insert_with(|| "the run was killed, or is still running".to_owned());
}

/// The id, if it has the form of one, so that it cannot lead out of the store.
fn checked(id: &str) -> Result<&str, StoreError> {
    if id::is_id(id) {
        Ok(id)
    } else {
        Err(StoreError::BadId(id.to_owned()))
    }
}

/// Adds to an error of the kernel what was being done, and with which file.
pub(crate) fn io_error<'a>(
    doing: &'static str,
    path: &'a Path,
) -> impl Fn(io::Error) -> StoreError + 'a {
    move |why| StoreError::Io {
        doing,
        path: path.to_path_buf(),
        why,
    }
}
