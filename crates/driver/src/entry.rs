//! In: the targets of a job. Out: how they are opened, which is decided once, by trying.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::{fs, io};

use blocklab_record::{Note, NoteLevel};
use blocklab_targets::{Model, Opening, probe_direct};
use blocklab_workload::{Access, Engine, Job};

use super::{Backing, TargetFile};
use crate::Error;

/// How the files of a job are opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) direct: bool,
    write: bool,
}

/// Refuses a job that changes targets which it may not write to.
pub(super) fn permitted(job: &Job, files: &[TargetFile]) -> Result<(), Error> {
    let changes = job.changes();
    match files.iter().find(|file| changes && !file.may_write) {
        None => Ok(()),
        Some(file) => Err(Error::NotPermitted(job.name.clone(), file.path.clone())),
    }
}

impl Entry {
    /// How the files of a job are opened, and a note if that is not what the job prefers. Files are
    /// opened to try, and closed again.
    pub(super) fn decide(job: &Job, files: &[TargetFile]) -> Result<(Self, Option<Note>), Error> {
        let write = writes(job);
        let is_model = emulated(job, files)?.is_some();
        // In a pool, a target may be for jobs that only read, so its jobs are checked one by one.
        if !is_model && job.engine.needs_target() && job.pool.is_none() {
            permitted(job, files)?;
        }
        // Nothing is opened. A model has no page cache, so its operations count as direct ones.
        if is_model || !job.engine.opens_files() {
            let entry = Self {
                direct: is_model,
                write,
            };
            return Ok((entry, None));
        }
        let attempt = Self::requested(job);
        // Buffered access has no fallback, so there is nothing to try: the threads see whether it works.
        if !attempt.direct {
            return Ok((attempt, None));
        }
        match attempt.try_all(job, files) {
            Ok(()) => Ok((attempt, None)),
            Err(Error::Open { cause, path, .. })
                if job.access == Access::DirectIfPossible && is_refusal(&cause) =>
            {
                let buffered = Self {
                    direct: false,
                    write,
                };
                let note = buffered_note(job, &path.to_string_lossy(), &cause);
                Ok((buffered, Some(note)))
            }
            Err(error) => Err(error),
        }
    }

    /// What the job requests, whether it works or not.
    pub(super) fn requested(job: &Job) -> Self {
        Self {
            // A mapping always goes through the page cache.
            direct: job.access != Access::Buffered && job.engine != Engine::Mmap,
            write: writes(job),
        }
    }

    fn try_all(self, job: &Job, files: &[TargetFile]) -> Result<(), Error> {
        for file in files {
            let opened = file.open(self.opening(job, file));
            let attempt = opened.and_then(|opened| probe_direct(&opened));
            attempt.map_err(|source| self.cannot_open(job, file, source))?;
        }
        Ok(())
    }

    /// How a file is opened for a job, without trying it.
    pub(super) fn opening(self, job: &Job, file: &TargetFile) -> Opening {
        // The jobs of a pool share their files, and those that one only reads stay read-only.
        let write = self.write && (job.pool.is_none() || file.may_write);
        Opening {
            write,
            read_too: job.mix.read > 0
                || job.replay.is_some()
                || job.reads_back()
                || job.engine == Engine::Mmap,
            direct: self.direct,
            durability: job.durability,
        }
    }

    /// The error of a file that cannot be opened, with what would work.
    pub(super) fn cannot_open(self, job: &Job, file: &TargetFile, source: io::Error) -> Error {
        let direct = if self.direct { "direct " } else { "" };
        let kind = if self.write { "writes" } else { "reads" };
        let hint = match source.kind() {
            _ if self.direct && is_refusal(&source) => {
                "; it has no O_DIRECT: access = \"auto\" or \"buffered\" would work"
            }
            _ if source.raw_os_error() == Some(libc::EMFILE) => {
                "; each thread keeps the files of its job open: a larger hard limit \
                 (`ulimit -Hn`), fewer files, or fewer that are open at a time (fio: `openfiles`) \
                 would work"
            }
            io::ErrorKind::PermissionDenied if is_device(&file.path) => {
                "; a device is open to root and to members of the group that owns it (usually \
                 `disk`)"
            }
            _ => "",
        };
        Error::Open {
            job: job.name.clone(),
            path: file.path.clone(),
            how: format!("for {direct}{kind}"),
            cause: source,
            hint: hint.to_owned(),
        }
    }
}

/// Whether files are opened for writing: even a read of the fallocate engine allocates.
fn writes(job: &Job) -> bool {
    job.writes() || job.engine == Engine::Falloc
}

/// The devices of a job that works on the model in real time; `None` for a job that works on this
/// machine's files.
pub(super) fn emulated(job: &Job, files: &[TargetFile]) -> Result<Option<Vec<Model>>, Error> {
    let models: Vec<Model> = files
        .iter()
        .filter_map(|file| match &file.backing {
            Backing::Emulated(model) => Some(model.clone()),
            _ => None,
        })
        .collect();
    let simulated = files
        .iter()
        .any(|file| matches!(file.backing, Backing::Simulated(_)));
    match models.len() {
        0 if !simulated => Ok(None),
        len if len == files.len() && !simulated => Ok(Some(models)),
        _ => Err(Error::MixedClocks(job.name.clone())),
    }
}

fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// The error of file systems and devices without O_DIRECT.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

fn buffered_note(job: &Job, path: &str, error: &io::Error) -> Note {
    let subject = format!("access of job {}", job.name);
    let text =
        format!("{path} offers no O_DIRECT ({error}); its operations went through the page cache");
    Note::new(NoteLevel::Approximated, subject, text)
}
