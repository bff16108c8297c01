//! What the options of a command line have said so far.

use super::number::{size, some_size};
use super::spec::{Cache, Format, Target, TimeSpan};
use blocklab_syntax::Mistake;

/// Options as they come in.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub span: TimeSpan,
    pub target: Target,
    pub cache: Option<Cache>,
    pub random: bool,
    pub random_align: Option<u64>,
    pub random_ratio: Option<u32>,
    pub stride: Option<u64>,
    pub usage: bool,
    pub event: Option<String>,
    pub xml: Option<String>,
    pub format: Option<Format>,
    pub progress: u32,
    pub verbose: bool,
    pub profile_only: bool,
    /// Options that a default would not show.
    pub given: Vec<&'static str>,
}

impl Draft {
    pub fn size(&self, option: &str, text: &str) -> Result<u64, Mistake> {
        size(option, text, Some(self.target.block))
    }

    pub fn some_size(&self, option: &str, text: &str) -> Result<u64, Mistake> {
        some_size(option, text, Some(self.target.block))
    }
}
