//! Why a Request cannot be run, as errors of the user, the kernel or the engine, with what would work.
//! All of them come before anything was measured or changed.

use std::io;
use std::path::PathBuf;

use blocklab_host::guard::Refusal;
use blocklab_units::Bytes;

/// Why a plan cannot be run on its targets. Nothing was measured or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The guard protects what is stored there, and the user did not allow to overwrite it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The engine cannot start.
    #[error(transparent)]
    Engine(#[from] blocklab_driver::Error),
    /// The target cannot be opened or examined.
    #[error("cannot use the target {path}: {cause}")]
    Unusable {
        /// The target, as the user named it.
        path: String,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// The target does not exist. A file created in its place might be on the wrong file system.
    #[error(
        "cannot use the target {}: it does not exist. Is a mount missing? The nearest existing directory \
         is {}{}. {remedy}",
        path.display(),
        nearest.display(),
        file_system.as_ref().map(|file_system| format!(", on {file_system}")).unwrap_or_default()
    )]
    Missing {
        /// The target, as the user named it.
        path: PathBuf,
        /// The directory.
        nearest: PathBuf,
        /// The file system of the directory, if it is known.
        file_system: Option<String>,
        /// What would work.
        remedy: String,
    },
    /// The scratch file cannot be created.
    #[error("cannot create the scratch file {}: {cause}", path.display())]
    Scratch {
        /// Its path.
        path: PathBuf,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// The moment at which the run was to begin is over.
    #[error(
        "the run was to begin at {moment}, and it is {now}: give a later moment; what has to be laid \
         out first takes its time, too"
    )]
    StartIsOver {
        /// When it was to begin.
        moment: jiff::Timestamp,
        /// The time of day.
        now: jiff::Timestamp,
    },
    /// A region ends beyond its target, or begins there.
    #[error(
        "{target} has {has}, and the load of `{job}` {extent}: a smaller {to_reduce} would work"
    )]
    BeyondEnd {
        /// The target, as the user named it.
        target: String,
        /// Its size.
        has: Bytes,
        /// The job with the region.
        job: String,
        /// Where the region ends or begins, or that of the last thread if each has one.
        extent: String,
        /// The keys of the job that would have to be smaller, such as `size`.
        to_reduce: &'static str,
    },
    /// The scratch file does not fit.
    #[error(
        "the scratch file {} of {wanted} does not fit: {free} are free; {remedy}", path.display()
    )]
    NoSpace {
        /// Its path.
        path: PathBuf,
        /// Its size.
        wanted: Bytes,
        /// Free space.
        free: Bytes,
        /// What would work.
        remedy: String,
    },
    /// An empty file that blocklab did not create: a run reads and writes within the size of its target.
    #[error(
        "{} is empty, so there is nothing to read or overwrite; name its directory to use a scratch \
         file there, or give it a size first (truncate --size=1GiB)", .0.display()
    )]
    Empty(PathBuf),
    /// The address of the device model is invalid.
    #[error("cannot use the target {text}:\n{message}")]
    Address {
        /// The target, as the user named it.
        text: String,
        /// What is wrong with it, and what would work.
        message: String,
    },
    /// The request names systems, and the study has none.
    #[error(
        "the study {0} has no systems; --system, --with and the targets sim and emu work only for \
         studies that have some, such as i3-vs-i2"
    )]
    NoSystems(String),
    /// The request does not say which system a target stands for.
    #[error(
        "the study {study} has {count} systems; which one does {targets} stand for? Add --system with \
         one of: {names}"
    )]
    WhichSystem {
        /// Name of the study.
        study: String,
        /// Number of systems that it measures.
        count: usize,
        /// The targets, as the user named them.
        targets: String,
        /// The systems.
        names: String,
    },
    /// The study has no system of this name.
    #[error("the study {study} measures no system {name}; {hint}")]
    UnknownSystem {
        /// Name of the study.
        study: String,
        /// The name in the request.
        name: String,
        /// The system that was probably meant, or all of them.
        hint: String,
    },
    /// Two earlier runs are assigned to the system of this name.
    #[error("two runs are given for the system {0}; name one")]
    TwoRuns(String),
    /// Systems and targets cannot be paired.
    #[error(
        "you named {systems} systems and {targets} targets; each --system needs its --target, in the \
         same order"
    )]
    SystemsAndTargets {
        /// Number of systems in the request.
        systems: usize,
        /// Number of targets in the request.
        targets: usize,
    },
    /// The progress of a study cannot be read.
    #[error("the saved progress of the study is damaged; --fresh restarts it")]
    DamagedProgress,
    /// Another process measures the study now, and would lose the run that it writes.
    #[error(
        "this study is being measured by another process, as run {id}: wait for its end, or use \
         --fresh to start another one beside it"
    )]
    StudyRuns {
        /// The run that goes on.
        id: String,
    },
    /// The progress of a study cannot be saved.
    #[error("cannot save the progress of the study: {0}")]
    Progress(io::Error),
    /// The kernel gives no random numbers.
    #[error("the kernel gives no random numbers: {0}")]
    Chance(getrandom::Error),
    /// No case of the plan with this name is left to run.
    #[error("nothing is left to run: every case of `{0}` writes, and the run is read-only")]
    NothingLeft(String),
    /// A signal came before the first measurement.
    #[error("interrupted before anything was measured")]
    Interrupted,
}
