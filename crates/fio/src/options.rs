//! The option table: one option, one row of `options/table.rs`. Parsing, help, the typed options of a
//! job and `docs/dialects/fio.md` are derived from it.

mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::number::Scale;
pub use crate::option::{Kind, Opt, Since, is_of_engines};
pub use blocklab_syntax::option::Support;
pub(super) use table::Options;
use table::TABLE;

impl Options {
    /// What `k` means in a text of several sizes. fio reads `kb_base` before them in a job file.
    pub(super) fn scale(&self) -> Scale {
        match self.kb_base {
            "1000" => Scale { kilo: 1000 },
            _ => Scale::default(),
        }
    }

    /// Which latencies are taken: that of submission, that of completion, and the whole. `gtod_reduce`
    /// takes none; an option of a single one that follows it holds for that one.
    pub(super) fn taken_latencies(&self) -> [bool; 3] {
        [self.disable_slat, self.disable_clat, self.disable_lat]
            .map(|disabled| !disabled.unwrap_or(self.gtod_reduce))
    }
}

/// All options, in the order of the page.
pub const fn options() -> &'static [Opt] {
    TABLE
}

/// The option of this name or alias.
pub fn find(name: &str) -> Option<&'static Opt> {
    static INDEX: LazyLock<HashMap<&str, &Opt>> = LazyLock::new(|| {
        let options = options().iter();
        options
            .flat_map(|option| option.names().map(move |name| (name, option)))
            .collect()
    });
    INDEX.get(name).copied()
}

/// A question with the nearest name, for an unknown one.
pub fn hint(name: &str) -> String {
    match blocklab_units::nearest(name, options().iter().flat_map(Opt::names)) {
        Some(near) => format!("; did you mean {near}?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use std::collections::HashSet;

    #[test]
    fn every_row_is_sound() {
        let mut seen = HashSet::new();
        for option in options() {
            let is_exact = option.support == Support::Exact;
            assert_eq!(option.here.is_empty(), is_exact, "{}", option.name);
            assert!(option.meaning.ends_with('.'), "{}", option.name);
            assert!(!option.here.ends_with('.'), "{}", option.name);
            for name in option.names() {
                assert!(seen.insert(name), "{name} stands there twice");
            }
        }
        assert!(
            options().len() > 217,
            "fio 3.33 has 217 options besides those of engines"
        );
    }

    /// Of every option, a value of its kind becomes the type of its field.
    #[test]
    fn every_row_has_a_type_that_fits_its_kind() {
        Options::new(|_| None);
        for option in options() {
            let text = match option.value.kind {
                Kind::Word(words) => words.split(' ').next().expect("a word").to_owned(),
                Kind::Ranges(_) => "4k-8k".to_owned(),
                Kind::Int(low, _) => low.max(1).to_string(),
                _ => "1".to_owned(),
            };
            let value = Value::read(option, Some(&text), Scale::default());
            let value = value.expect(option.name);
            Options::new(|name| (name == option.name).then_some(&value));
        }
    }

    #[test]
    fn names_and_aliases_are_found() {
        assert_eq!(find("blocksize").map(|option| option.name), Some("bs"));
        assert!(find("cmdprio").is_some_and(is_of_engines));
        assert!(!find("ioengine").is_some_and(is_of_engines));
        assert!(find("nonsense").is_none());
        assert_eq!(hint("ioengin"), "; did you mean ioengine?");
    }
}
