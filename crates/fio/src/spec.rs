//! A job before it is cloned: its options with their types, and where each was given.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::options::{Opt, Options, Since, find};
use super::source::unset_words;
use super::value::Value;
use blocklab_syntax::{Mistake, Place};

/// A job before it is cloned.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// Name of its section, from which its files get their names.
    pub section: String,
    /// Where it begins.
    pub at: Place,
    /// Its own options as they were given, for the report.
    pub own: Vec<(String, String)>,
    pub(super) options: Options,
    /// The options that were given, by name.
    pub(super) given: BTreeMap<&'static str, Given>,
    /// Whether `size` is a share of bytes, of which fio takes whole blocks.
    pub(super) has_share_of_size: bool,
    /// Options with a number of which only a part counts, each with a note on it.
    pub(super) dropped: Vec<(&'static str, String)>,
}

/// An option that was given.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub option: &'static Opt,
    /// Where it was given last.
    pub at: Place,
    pub value: Value,
    /// Variables in its text that are not set.
    pub unset: Vec<String>,
}

impl Spec {
    /// The options of [global], with which each job of a file begins.
    pub(super) fn global() -> Self {
        Self {
            name: "global".to_owned(),
            section: "global".to_owned(),
            at: Place::COMMAND_LINE,
            own: Vec::new(),
            options: Options::new(|_| None),
            given: BTreeMap::new(),
            has_share_of_size: false,
            dropped: Vec::new(),
        }
    }

    /// The options with their types, from what was given so far and the defaults.
    pub(super) fn typed_options(&self) -> Options {
        Options::new(|name| self.value(name))
    }

    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.given.get(name).map(|given| &given.value)
    }

    /// Whether an option was given that fio 3.33 has not got yet.
    pub(super) fn is_of_later_fio(&self) -> bool {
        let mut given = self.given.values();
        given.any(|given| given.option.value.since == Since::Later)
    }

    pub(super) fn mistake(&self, option: &str, message: impl Display) -> Mistake {
        debug_assert!(find(option).is_some(), "{option} is no option");
        let given = self.given.get(option);
        let at = given.map_or(&self.at, |given| &given.at);
        let mut message = format!("job {}: {option}: {message}", self.name);
        if let Some(unset) = given.and_then(|given| unset_words(&given.unset)) {
            message = format!("{message}; {unset}");
        }
        Mistake::here(at, message)
    }
}
