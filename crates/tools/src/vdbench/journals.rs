//! Data validation: the keys of each storage definition, which live through all runs, and the journals
//! in which they are saved.

use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use blocklab_driver::{journal_path, map_path};
use blocklab_record::{Record, Status};
use blocklab_units::plural;
use blocklab_vdbench::{
    Inputs, Mistake, ParameterFile, Prepared, Sd, Subject, Validated, Validation, key_plans,
};
use blocklab_verify::{KeyMap, SavedKeys, Wrongs, saved_name};
use blocklab_workload::{Journal, KeyPlan, Target};

use super::context;
use super::folder::Folder;
use blocklab_results::output;

/// What the command line and the parameter files request together, and the directory of the journals
/// of storage definitions that name none.
pub fn requested(
    of_command: Validation,
    file: &ParameterFile,
    folder: &Folder,
) -> (Validation, PathBuf) {
    let mut validation = of_command;
    validation.add_words(&file.general.validate);
    let given = validation.add_journal_words(&file.general.journal);
    let directory = given.map_or(folder.path.clone(), PathBuf::from);
    (validation, directory)
}

/// The keys and journals of all storage definitions.
pub struct Journals<'a> {
    requested: Validation,
    directory: &'a Path,
    /// The wrong blocks of all storage definitions together.
    wrongs: Arc<Wrongs>,
    /// The keys of each storage definition; `None` if it is not validated.
    pub validated: Vec<Option<Validated>>,
    /// Locked files, kept open until the end so that no other run uses the journals.
    locks: Vec<File>,
}

impl<'a> Journals<'a> {
    /// Opens the journals of all storage definitions, and reads their keys if that is requested.
    pub fn open(
        file: &ParameterFile,
        prepared: &Prepared,
        inputs: &Inputs,
        directory: &'a Path,
    ) -> Result<Self> {
        let mut journals = Self {
            requested: inputs.validation,
            directory,
            wrongs: Arc::default(),
            validated: Vec::new(),
            locks: Vec::new(),
        };
        let plans = if inputs.validation.validate {
            key_plans(prepared, file, inputs)?
        } else {
            vec![None; file.sds.len()]
        };
        for (plan, (sd, size)) in plans.into_iter().zip(file.sds.iter().zip(&inputs.sizes)) {
            let validated = plan
                .map(|plan| journals.open_storage(sd, &plan, *size))
                .transpose()?;
            journals.validated.push(validated);
        }
        Ok(journals)
    }

    /// The keys and the journal of a storage definition. `size`: bytes that the runs use of it.
    fn open_storage(&mut self, sd: &Sd, plan: &KeyPlan, size: u64) -> Result<Validated> {
        let message = format_args!(
            "{} is a model and keeps no data, so none can be validated; a file or a device would \
             work",
            sd.lun
        );
        sd.check(!Target::is_model(&sd.lun), message)?;
        let journal = self.journal(sd)?;
        let keys = match &journal {
            Some(journal) if self.requested.recover => self.recover(sd, plan, size, journal)?,
            _ => KeyMap::new(plan, size, Arc::clone(&self.wrongs)),
        };
        Ok(Validated {
            keys: Arc::new(keys),
            journal,
        })
    }

    /// The journal of a storage definition, locked; `None` if journals are not requested.
    fn journal(&mut self, sd: &Sd) -> Result<Option<Journal>> {
        if !self.requested.journal {
            return Ok(None);
        }
        let directory = sd.journal.as_deref().map_or(self.directory, Path::new);
        let made = fs::create_dir_all(directory);
        context(made, "make the directory", directory)?;
        let file = directory.join(sd.name.replace('/', "_"));
        let path = file.to_string_lossy().into_owned();
        let journal_file = journal_path(&path);
        // Locking creates the file. A missing one must stay missing, so that its recovery fails.
        if !self.requested.recover || journal_file.exists() {
            self.locks.push(lock(sd, &journal_file)?);
        }
        Ok(Some(Journal {
            path,
            map_only: self.requested.map_only,
            sync: !self.requested.no_flush,
        }))
    }

    /// Reads the keys that an earlier run has saved in its journal.
    fn recover(
        &self,
        sd: &Sd,
        plan: &KeyPlan,
        size: u64,
        journal: &Journal,
    ) -> Result<KeyMap, Mistake> {
        let map = map_path(&journal.path);
        let journal_file = journal_path(&journal.path);
        let mut saved =
            SavedKeys::from_bytes(&read(sd, &map)?).map_err(|fault| cannot_use(sd, &map, fault))?;
        let blocks = size / plan.block;
        // Keys of another storage or block size would report every block as wrong.
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
            return Err(cannot_use(sd, &map, fault));
        }
        let message = format_args!(
            "{} does not exist, so nothing of it can be recovered; -j without r begins anew",
            sd.lun
        );
        sd.check(Path::new(&sd.lun).exists(), message)?;
        let mut pending = saved
            .replay(&read(sd, &journal_file)?)
            .map_err(|fault| cannot_use(sd, &journal_file, fault))?;
        if self.requested.ignore_pending {
            // Key 0: what the block contains is unknown, so it is not checked.
            for block in pending.keys() {
                saved.keys[*block] = 0;
            }
            pending.clear();
        }
        Ok(KeyMap::known(
            plan,
            saved.keys,
            pending,
            Arc::clone(&self.wrongs),
        ))
    }
}

/// How long a lock is waited for: a run that was just killed keeps it until its process has ended.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// How often it is tried again.
const LOCK_RETRY: Duration = Duration::from_millis(50);

/// Locks a journal, which only one process at a time may use.
fn lock(sd: &Sd, path: &Path) -> Result<File> {
    let file = output::append(path)?;
    let begun = Instant::now();
    while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        if begun.elapsed() > LOCK_TIMEOUT {
            let message = format_args!(
                "its journal {} is in use by another run; -o or journal= with another directory \
                 would work",
                path.display()
            );
            return Err(sd.error(message).into());
        }
        sleep(LOCK_RETRY);
    }
    Ok(file)
}

/// The bytes of a file of a journal.
fn read(sd: &Sd, path: &Path) -> Result<Vec<u8>, Mistake> {
    fs::read(path).map_err(|error| cannot_use(sd, path, error))
}

/// The mistake for a journal that cannot be read or does not fit.
fn cannot_use(sd: &Sd, path: &Path, fault: impl Display) -> Mistake {
    let path = path.display();
    sd.error(format_args!(
        "its journal {path} cannot be used: {fault}. -j without r begins a new one"
    ))
}

/// Marks a run with wrong blocks as failed, even if it went on to its end.
pub fn fail_on_miscompares(record: &mut Record, validated: &[Option<Validated>]) {
    // All storage definitions share one counter, so any of them gives the sum.
    let first = validated.iter().flatten().next();
    let wrong = first.map_or(0, |validated| validated.keys.wrongs());
    if wrong > 0 {
        let blocks = plural(wrong as usize, "block");
        let wrong = format!("data validation: {blocks} came back wrong");
        // A target that does not answer, for one, has ended the run with a reason of its own.
        record.failure = Some(match record.failure.take() {
            Some(known) => format!("{known}; {wrong}"),
            None => wrong,
        });
        if record.status == Status::Complete {
            record.status = Status::Failed;
        }
    }
}
