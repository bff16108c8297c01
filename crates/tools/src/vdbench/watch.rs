//! Data validation: the keys of all storage, kept through all runs.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use blocklab_driver::{journal_path, map_path};
use blocklab_record::{Record, Status};
use blocklab_vdbench::{Prepared, Script, Sd, Terms, Validation, Watched, key_plans};
use blocklab_verify::{KeyMap, SavedKeys, Wrongs, saved_name};
use blocklab_workload::{Journal, KeyPlan};

use super::folder::Folder;
use super::{about, context};
use crate::output;

/// What the command line and the parameter files ask for together, and where journals go that no
/// storage definition has a directory for.
pub fn asked(of_command: Validation, script: &Script, folder: &Folder) -> (Validation, PathBuf) {
    let mut validation = of_command;
    let general = &script.general;
    if let Some(words) = &general.validate {
        validation.of_words(words);
    }
    let directory = general.journal.as_deref();
    let directory = directory.and_then(|words| validation.of_journal_words(words));
    let directory = directory.map_or(folder.path().to_owned(), PathBuf::from);
    (validation, directory)
}

/// The keys of every storage definition; none where nothing is validated. `directory` is that of
/// the journals.
pub fn watch(
    script: &Script,
    prepared: &Prepared,
    terms: &Terms,
    directory: &Path,
) -> Result<Watch> {
    if !terms.validation.validate {
        return Ok(Watch {
            watched: script.sds.iter().map(|_| None).collect(),
            _locks: Vec::new(),
        });
    }
    let mut watcher = Watcher {
        asked: terms.validation,
        directory,
        wrongs: Arc::default(),
        locks: Vec::new(),
    };
    let plans = key_plans(prepared, script, terms)?;
    let sizes = terms.sizes.iter().zip(&script.sds);
    let pairs = plans.into_iter().zip(sizes);
    let watched = pairs
        .map(|(plan, (size, sd))| plan.map(|plan| watcher.watch(sd, &plan, *size)).transpose())
        .collect::<Result<_>>()?;
    Ok(Watch {
        watched,
        _locks: watcher.locks,
    })
}

/// What is watched.
pub struct Watch {
    /// By storage definition.
    pub watched: Vec<Option<Watched>>,
    /// Held until the end, so that nobody else uses the journals.
    _locks: Vec<File>,
}

struct Watcher<'a> {
    asked: Validation,
    directory: &'a Path,
    wrongs: Arc<Wrongs>,
    locks: Vec<File>,
}

impl Watcher<'_> {
    fn watch(&mut self, sd: &Sd, plan: &KeyPlan, size: u64) -> Result<Watched> {
        if sd.lun.starts_with("sim:") || sd.lun.starts_with("emu:") {
            return Err(about(
                sd,
                format!(
                    "{} is a model and keeps no data, so none can be validated; a file or a \
                     device would work",
                    sd.lun
                ),
            ));
        }
        let journal = self.journal(sd)?;
        let wrongs = Arc::clone(&self.wrongs);
        let keys = match &journal {
            Some(journal) if self.asked.recover => self.recover(sd, plan, size, journal)?,
            _ => KeyMap::new(plan, size, wrongs),
        };
        Ok(Watched {
            keys: Arc::new(keys),
            journal,
        })
    }

    fn journal(&mut self, sd: &Sd) -> Result<Option<Journal>> {
        if !self.asked.journal {
            return Ok(None);
        }
        let directory = sd.journal.as_deref().map_or(self.directory, Path::new);
        context(
            fs::create_dir_all(directory),
            "make the directory",
            directory,
        )?;
        let path = directory.join(sd.name.replace('/', "_"));
        let path = path.to_string_lossy().into_owned();
        let notes = journal_path(&path);
        if !self.asked.recover || notes.exists() {
            self.locks.push(lock(sd, &notes)?);
        }
        Ok(Some(Journal {
            path,
            map_only: self.asked.map_only,
            sync: !self.asked.no_flush,
        }))
    }

    /// What an earlier run left word of.
    fn recover(&self, sd: &Sd, plan: &KeyPlan, size: u64, journal: &Journal) -> Result<KeyMap> {
        let map = map_path(&journal.path);
        let notes = journal_path(&journal.path);
        let mut saved = SavedKeys::from_bytes(&read(sd, &map)?)
            .map_err(|fault| cannot_use(sd, &map, &fault.to_string()))?;
        let blocks = size / plan.block;
        let same = (saved.name, saved.block, saved.keys.len() as u64)
            == (saved_name(&plan.name), plan.block, blocks);
        if !same {
            let fault = format!(
                "it is of {} blocks of {} bytes of sd={}, and {blocks} blocks of {} of sd={} are \
                 to be validated",
                saved.keys.len(),
                saved.block,
                String::from_utf8_lossy(&saved.name).trim_end_matches('\0'),
                plan.block,
                plan.name
            );
            return Err(cannot_use(sd, &map, &fault));
        }
        let mut pending = saved
            .replay(&read(sd, &notes)?)
            .map_err(|fault| cannot_use(sd, &notes, &fault.to_string()))?;
        if self.asked.ignore_pending {
            for block in pending.keys() {
                saved.keys[*block] = 0;
            }
            pending.clear();
        }
        let wrongs = Arc::clone(&self.wrongs);
        Ok(KeyMap::known(plan, saved.keys, pending, wrongs))
    }
}

/// A run that was killed may take this long to be gone.
const GONE_AFTER: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// One process at a time uses a journal.
fn lock(sd: &Sd, path: &Path) -> Result<File> {
    let file = output::append(path)?;
    let begun = Instant::now();
    while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        if begun.elapsed() > GONE_AFTER {
            return Err(about(
                sd,
                format!(
                    "its journal {} is in use by another run; -o or journal= with another \
                     directory would work",
                    path.display()
                ),
            ));
        }
        sleep(LOOK_AGAIN);
    }
    Ok(file)
}

fn read(sd: &Sd, path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| cannot_use(sd, path, &error.to_string()))
}

fn cannot_use(sd: &Sd, path: &Path, fault: &str) -> anyhow::Error {
    about(
        sd,
        format!(
            "its journal {} cannot be used: {fault}. -j without r begins a new one",
            path.display()
        ),
    )
}

/// A run with wrong blocks has failed, even where it went on to its end.
pub fn judge(record: &mut Record, watched: &[Option<Watched>]) {
    let mut keys = watched.iter().flatten().map(|watched| &watched.keys);
    let wrong = keys.next().map_or(0, |keys| keys.wrongs());
    if wrong > 0 {
        let blocks = if wrong == 1 { "block" } else { "blocks" };
        record.failure = Some(format!("data validation: {wrong} {blocks} came back wrong"));
        if record.status == Status::Complete {
            record.status = Status::Failed;
        }
    }
}
