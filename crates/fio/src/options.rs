//! The option table: one option, one row of `options/table.rs`. Parsing, help, the typed options of a
//! job and `docs/dialects/fio.md` are derived from it.

mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) use table::Options;
use table::TABLE;

/// How well an option is honoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// As fio does: a case of `proof/data/exact/fio.txt` compares the two.
    Exact,
    /// As fio's manual says; no case compares the two.
    Documented,
    /// As fio does, except in what `here` says.
    Mostly,
    /// Nearly: a Note says in what it differs.
    Nearly,
    /// Not at all, and harmless: a Note says so.
    Ignored,
    /// A job that asks for it is not run.
    Refused,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text; its meaning is checked where it is used.
    Text,
    /// Text that may be left out.
    Name,
    /// Nothing, 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// A whole number, from and to.
    Int(i64, i64),
    /// Bytes.
    Size,
    /// Bytes, or per cent of the file.
    Share,
    /// Up to three of them: of reads, writes and trims.
    Sizes,
    /// Up to three ranges of bytes.
    Ranges,
    /// Numbers with `:` between them.
    Floats,
    /// Numbers from 0 to 100 with `:` between them.
    Percents,
    /// A time; bare numbers are seconds.
    Seconds,
    /// A time; bare numbers are microseconds.
    Micros,
    /// One of these words.
    Word(&'static str),
}

/// One option.
#[derive(Debug)]
pub struct Opt {
    /// As fio's manual writes it.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// What it takes.
    pub kind: Kind,
    /// Without it; `-`: nothing.
    pub default: &'static str,
    /// How well it is honoured.
    pub support: Support,
    /// What it asks for, in one sentence.
    pub meaning: &'static str,
    /// What is done here where that differs, what is not compared with fio, or what would work in
    /// its place.
    pub here: &'static str,
    /// The heading under which it stands.
    pub chapter: &'static str,
}

impl Opt {
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether only some engines have it.
    #[must_use]
    pub fn is_of_engines(&self) -> bool {
        self.chapter == OF_ENGINES
    }

    /// Whether it may be given without a value.
    #[must_use]
    pub const fn stands_alone(&self) -> bool {
        matches!(self.kind, Kind::Flag)
    }

    /// How well it is honoured, in words.
    #[must_use]
    pub fn honoured(&self) -> String {
        let word = match self.support {
            Support::Exact => return "exact".to_owned(),
            Support::Documented => "as documented",
            Support::Mostly => "differs",
            Support::Nearly => "approximated",
            Support::Ignored => "ignored",
            Support::Refused => "refused",
        };
        format!("{word}: {}", self.here)
    }
}

/// The chapter of what only some engines have.
const OF_ENGINES: &str = "Options of single engines";

/// All options, in the order of the page.
#[must_use]
pub const fn options() -> &'static [Opt] {
    TABLE
}

/// The option of this name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Opt> {
    static INDEX: LazyLock<HashMap<&str, &Opt>> = LazyLock::new(|| {
        let names = |option: &'static Opt| option.names().map(move |name| (name, option));
        options().iter().flat_map(names).collect()
    });
    INDEX.get(name).copied()
}

/// For a name that there is not: the nearest one, as a question.
#[must_use]
pub fn hint(name: &str) -> String {
    match blocklab_units::nearest(name, options().iter().flat_map(Opt::names)) {
        Some(near) => format!("; did you mean {near}?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Scale;
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
            let text = match option.kind {
                Kind::Word(words) => words.split(' ').next().expect("a word").to_owned(),
                Kind::Ranges => "4k-8k".to_owned(),
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
        assert!(find("cmdprio").is_some_and(Opt::is_of_engines));
        assert!(!find("ioengine").is_some_and(Opt::is_of_engines));
        assert!(find("nonsense").is_none());
        assert_eq!(hint("ioengin"), "; did you mean ioengine?");
    }
}
