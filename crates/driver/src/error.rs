//! Why a workload cannot begin, as errors with what would work: settings, files, journals, engines,
//! credentials.

use std::io;
use std::path::PathBuf;

use blocklab_workload::Invalid;
use blocklab_workload::errno::remedy;

/// Why a workload could not be run. A failure of the device is not an error but data.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A job's settings do not fit its target.
    #[error("job `{job}`: {invalid}")]
    Job {
        /// Its name.
        job: String,
        /// What does not fit.
        invalid: Invalid,
    },
    /// A target cannot be opened as the job requests.
    #[error("job `{job}`: cannot open {path} ({how}): {cause}{hint}")]
    Open {
        /// Name of the job.
        job: String,
        /// The target.
        path: PathBuf,
        /// Mode: "for direct reads".
        how: String,
        /// The kernel's answer.
        cause: io::Error,
        /// What would work.
        hint: String,
    },
    /// The engine cannot be set up.
    #[error("job `{job}`: the engine {engine} cannot be used here: {cause}{hint}")]
    Engine {
        /// Name of the job.
        job: String,
        /// `io_uring`.
        engine: &'static str,
        /// The kernel's answer.
        cause: io::Error,
        /// What would work.
        hint: String,
    },
    /// A thread cannot take its credentials.
    #[error("job `{job}`: cannot {deed}: {cause}{hint}")]
    Credentials {
        /// Name of the job.
        job: String,
        /// `run as user 5`.
        deed: String,
        /// The kernel's answer.
        cause: io::Error,
        /// What would work.
        hint: &'static str,
    },
    /// A thread cannot be started.
    #[error("cannot start thread {number} of {total}: {cause}; fewer jobs would work")]
    Thread {
        /// Which one.
        number: u32,
        /// How many there are.
        total: u32,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// The limit of the address space leaves no room for the threads.
    #[error(
        "no room for the {threads} threads and their buffers ({needed}): {cause}; the address \
         space is limited to {limit} (`ulimit -v`, or that of a batch system); fewer threads, a \
         smaller depth or block, or a higher limit would work"
    )]
    Memory {
        /// How many threads.
        threads: u32,
        /// What they map, as text.
        needed: String,
        /// The limit, as text.
        limit: String,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// A thread did not reach its first instruction.
    #[error(
        "thread {number} of {total} was made and did not begin; memory that it needs to begin is \
         missing: look at `ulimit -v` and at the free memory"
    )]
    NotBegun {
        /// Which one.
        number: u32,
        /// How many there are.
        total: u32,
    },
    /// The job of this name writes, and may not write to this target.
    #[error("job `{0}` writes, but {1} was not opened for writing")]
    NotPermitted(String, PathBuf),
    /// The job of this name would need two clocks.
    #[error(
        "job `{0}` has simulated targets and others: simulated ones live in virtual time; \
         emu: instead of sim: would work next to real ones, in a job of its own"
    )]
    MixedClocks(String),
    /// A file that is needed cannot be created.
    #[error("cannot lay out {path} ({size}): {cause}{}", remedy(cause))]
    LayOut {
        /// The file.
        path: PathBuf,
        /// Its size as text.
        size: String,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// A file of the journal cannot be written.
    #[error("cannot keep the journal {0}: {1}; another directory would work")]
    Journal(PathBuf, io::Error),
}

impl Error {
    /// The kernel's error, if a target, an engine or credentials caused it.
    pub(crate) const fn cause(&self) -> Option<&io::Error> {
        match self {
            Self::Open { cause, .. }
            | Self::Engine { cause, .. }
            | Self::Credentials { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
