/// A profile that cannot be run, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{about}: {message}")]
pub struct Mistake {
    /// The option, element or target that it is about.
    pub about: String,
    /// What is wrong, and what would work.
    pub message: String,
}

impl Mistake {
    /// About this, with these words.
    #[must_use]
    pub fn new(about: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            message: message.into(),
        }
    }
}
