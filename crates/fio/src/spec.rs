//! A job as it is meant.

use super::mistake::{Mistake, Place};
use super::value::Values;

/// A job as meant, before its clones.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// Name of its section, which its files are called after.
    pub section: String,
    /// Where it begins.
    pub at: Place,
    /// Its own options as they were given, for the report.
    pub own: Vec<(String, String)>,
    pub(super) values: Values,
    /// Where each option that is not exact was given.
    pub(super) given: Vec<(&'static str, Place)>,
    /// Options of whose numbers only a part counts, and in words which.
    pub(super) dropped: Vec<(&'static str, String)>,
}

impl Spec {
    pub(super) fn mistake(&self, option: &str, message: impl std::fmt::Display) -> Mistake {
        let at = self.given.iter().rev().find(|(name, _)| *name == option);
        let at = at.map_or(&self.at, |(_, at)| at);
        Mistake::new(at, format!("job {}: {option}: {message}", self.name))
    }

    /// A number that counts something; what is not given or below 0 is 0.
    pub(super) fn count(&self, name: &str) -> u32 {
        let number = self.values.number(name).unwrap_or(0);
        number.clamp(0, u32::MAX.into()) as u32
    }
}
