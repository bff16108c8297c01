//! Kinds that occur in a result and not in a workload: the engine or program, the pace without its
//! rates, what went wrong.

use std::fmt;

use blocklab_workload::{EngineKind, Pace, errno};
use serde::{Deserialize, Serialize};

/// What carried the operations to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Carrier {
    /// One of our engines, or the same one of fio's.
    Engine(EngineKind),
    /// Another program, or an engine that only another program has, by its name.
    Program(String),
}

impl Default for Carrier {
    fn default() -> Self {
        Self::Program(String::new())
    }
}

impl Carrier {
    /// The engine or program of this name.
    pub fn named(name: &str) -> Self {
        let named = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(name);
        let engine = EngineKind::deserialize(named);
        engine.map_or_else(|_| Self::Program(name.to_owned()), Self::Engine)
    }

    /// Whether it is this engine.
    pub fn is(&self, engine: EngineKind) -> bool {
        *self == Self::Engine(engine)
    }
}

/// `io_uring`, `diskspd`.
impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Engine(engine) => engine.name(),
            Self::Program(name) => name,
        })
    }
}

/// When operations begin, without the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaceKind {
    /// [`Pace::Closed`].
    #[default]
    Closed,
    /// [`Pace::Capped`].
    Capped,
    /// [`Pace::OpenFixed`], also by direction.
    OpenFixed,
    /// [`Pace::OpenPoisson`], also by direction.
    OpenPoisson,
    /// At the moments of a recorded load.
    Recorded,
    /// After the completions that the operations of a recorded load followed.
    Dependent,
}

impl PaceKind {
    /// `closed`, `capped`, `open_fixed`, `open_poisson`, `recorded`, `dependent`.
    pub const fn name(self) -> &'static str {
        [
            "closed",
            "capped",
            "open_fixed",
            "open_poisson",
            "recorded",
            "dependent",
        ][self as usize]
    }
}

impl From<Pace> for PaceKind {
    fn from(pace: Pace) -> Self {
        match pace {
            Pace::Closed => Self::Closed,
            Pace::Capped(_) => Self::Capped,
            Pace::OpenFixed(_) | Pace::ByDirection { poisson: false, .. } => Self::OpenFixed,
            Pace::OpenPoisson(_) | Pace::ByDirection { poisson: true, .. } => Self::OpenPoisson,
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(into = "String", try_from = "String")]
pub enum ErrorKind {
    /// The kernel's number for it.
    #[error("{}", errno_text(*.0))]
    Errno(i32),
    /// Fewer bytes were moved than requested.
    #[error("short")]
    Short,
    /// A minimum rate was not reached. No operation failed, so no count holds it.
    #[error("rate")]
    Rate,
    /// Data came back different from what was written; no operation failed either.
    #[error("verify")]
    Verify,
}

/// `EIO`, `errno 133`.
fn errno_text(number: i32) -> String {
    errno::name(number).map_or_else(|| format!("errno {number}"), str::to_owned)
}

impl From<ErrorKind> for String {
    fn from(kind: ErrorKind) -> Self {
        kind.to_string()
    }
}

impl TryFrom<String> for ErrorKind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let known = [Self::Short, Self::Rate, Self::Verify];
        let number = match name.strip_prefix("errno ").map(str::parse) {
            Some(Ok(number)) => Some(number),
            _ => errno::number(&name),
        };
        known
            .into_iter()
            .find(|kind| kind.to_string() == name)
            .or_else(|| number.map(Self::Errno))
            .ok_or_else(|| format!("`{name}` is no kind of error"))
    }
}
