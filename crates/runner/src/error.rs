use std::io;
use std::path::PathBuf;

use blocklab_host::guard::Refusal;
use blocklab_units::Bytes;

/// Why a plan cannot be run on the targets that were named. Nothing was measured or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user did not give up what is stored there.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The engine cannot start.
    #[error(transparent)]
    Engine(#[from] blocklab_driver::Error),
    /// Nothing is there, or it cannot be looked at.
    #[error("cannot use the target {path}: {cause}")]
    Unusable {
        /// The target, as the user named it.
        path: String,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// Nothing is there, and a file that is made in its place would lie on the file system below.
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
        /// The file system of the directory, where it is known.
        file_system: Option<String>,
        /// What would work.
        remedy: String,
    },
    /// The scratch file cannot be made.
    #[error("cannot create the scratch file {}: {cause}", path.display())]
    Scratch {
        /// Where.
        path: PathBuf,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// A region ends beyond its target.
    #[error(
        "{target} has {has}, and the load of `{job}` reaches to {wanted}: a smaller size would work"
    )]
    BeyondEnd {
        /// The target, as the user named it.
        target: String,
        /// Its size.
        has: Bytes,
        /// The job that reaches further.
        job: String,
        /// How far.
        wanted: Bytes,
    },
    /// The scratch file does not fit.
    #[error(
        "the scratch file {} of {wanted} does not fit: {free} are free; {remedy}", path.display()
    )]
    NoSpace {
        /// Where it would be made.
        path: PathBuf,
        /// Its size.
        wanted: Bytes,
        /// What there is.
        free: Bytes,
        /// What would work.
        remedy: String,
    },
    /// A file without content cannot be read, and blocklab did not make it.
    #[error(
        "{} is empty, so there is nothing to read; name its directory to use a scratch file \
         there", .0.display()
    )]
    Empty(PathBuf),
    /// The address of the device model is invalid.
    #[error("cannot use the target {text}:\n{message}")]
    Address {
        /// The target, as the user named it.
        text: String,
        /// What is wrong with it, and what would be possible.
        message: String,
    },
    /// Systems were named, of a study that has none.
    #[error(
        "the study {0} has no systems; --system, --with and the targets sim and emu work only for \
         studies that have some, such as i3-vs-i2"
    )]
    NoSystems(String),
    /// Nobody said which system a target stands for.
    #[error(
        "the study {study} has {count} systems; which one does {targets} stand for? Add --system with \
         one of: {names}"
    )]
    WhichSystem {
        /// What the study is called.
        study: String,
        /// How many systems it measures.
        count: usize,
        /// The targets, as the user named them.
        targets: String,
        /// The systems.
        names: String,
    },
    /// A study measures no system of this name.
    #[error("the study {study} measures no system {name}; {hint}")]
    UnknownSystem {
        /// What the study is called.
        study: String,
        /// What the user named.
        name: String,
        /// What was meant, or which there are.
        hint: String,
    },
    /// Two earlier runs stand for the system of this name.
    #[error("two runs stand for {0}; name one")]
    TwoRuns(String),
    /// Systems and targets cannot be paired.
    #[error(
        "you named {systems} systems and {targets} targets; each --system needs its --target, in the \
         same order"
    )]
    SystemsAndTargets {
        /// How many systems were named.
        systems: usize,
        /// How many targets.
        targets: usize,
    },
    /// The progress of a study cannot be read.
    #[error("the saved progress of the study is damaged; --fresh restarts it")]
    DamagedProgress,
    /// The progress of a study cannot be kept.
    #[error("cannot save the progress of the study: {0}")]
    Progress(io::Error),
    /// The kernel gives no random numbers.
    #[error("the kernel gives no random numbers: {0}")]
    Chance(getrandom::Error),
    /// Nothing of the plan of this name is left to run.
    #[error("nothing is left to run: every case of `{0}` writes, and the run is read-only")]
    NothingLeft(String),
    /// A signal came before the first measurement.
    #[error("interrupted before anything was measured")]
    Interrupted,
}
