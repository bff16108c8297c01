use std::fmt;
use std::sync::Arc;

/// Where something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the file; nothing: the command line.
    pub file: Option<Arc<str>>,
    /// From 1.
    pub line: usize,
}

impl Place {
    /// On the command line.
    pub const COMMAND_LINE: Self = Self {
        file: None,
        line: 0,
    };
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}:{}", self.line),
            None => f.write_str("command line"),
        }
    }
}

/// Something in a job file or command line that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct Mistake {
    /// Where.
    pub at: Place,
    /// What is wrong, and what would work.
    pub message: String,
}

impl Mistake {
    /// A mistake there.
    #[must_use]
    pub fn new(at: &Place, message: impl Into<String>) -> Self {
        Self {
            at: at.clone(),
            message: message.into(),
        }
    }
}
